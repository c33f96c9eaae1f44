/** Games come on the board: new ones, those of links, and those that the browser goes back to; the address follows. */
import { Game, GAMES, PERSON } from "./game.js";
import { playerName, sideName } from "./game-words.js";
import { friendly } from "./levels.js";
import { formatLink, parseLink } from "./link.js";
import { complain } from "./notices.js";
import { loadGame } from "./positions.js";
import { reviewer } from "./services.js";
import { recentGames, rememberGame, saveSetting, settings } from "./settings.js";
import { changed, state } from "./store.js";
import { begin } from "./table.js";
import { t } from "./words.js";

let key = ""; // under which the game on the board is remembered
let link = ""; // the address as it was last written
/** @type {Game | null} */
let coming = null; // the game that was last asked for

/** The game last played here, by name. */
export const usualGame = () => (Object.hasOwn(GAMES, settings.game) ? settings.game : "othello");

/**
 * Begin a game against a friendly program, or with the players of the game before.
 * @param {string} name
 * @param {Partial<Game>} choices
 */
export async function newGame(name, choices = {}) {
  const before = state.game;
  const same = before?.chosen && before.family === GAMES[name].family;
  const seats = same ? before.seats : [PERSON, friendly(GAMES[name])];
  if (await useGame(new Game({ game: name, seats, chosen: true, clock: before?.clock ?? null, ...choices }))) saveSetting("game", name);
}

/**
 * Put a game on the board; false if the server does not understand it, or if another was asked for meanwhile.
 * @param {Game} game
 * @param {{ key?: string, back?: boolean }} options `back` if the browser has its address already
 */
export async function useGame(game, options = {}) {
  coming = game;
  try {
    await loadGame(game);
  } catch (error) {
    complain(error);
    return false;
  }
  if (coming !== game) return false;
  if (!options.back && link && link !== linkOf(game)) history.pushState(null, "", location.href);
  key = options.key ?? String(Date.now());
  reviewer.forget();
  const flipped = game.club ? game.club.mine === 1 : game.seats[0] !== PERSON && game.seats[1] === PERSON;
  begin(game, flipped);
  return true;
}

/** Open the link in the address; false if it holds no game. @param {string} hash */
export async function openLink(hash) {
  if (hash.startsWith("#club")) await state.clubReady;
  if (hash.startsWith("#club") && state.club) return state.club.open(hash);
  const kept = history.state?.link === hash ? history.state : recentGames().find((entry) => entry.link === hash);
  const game = parseLink(hash);
  if (!game) {
    complain({ code: "link" });
    return false;
  }
  if (kept) restore(game, kept);
  return useGame(game, { key: kept?.key, back: true });
}

/** Follow an address that was typed, or to which the browser went back. */
export async function followAddress() {
  if (location.hash !== link && !(await openLink(location.hash))) changed("game");
}

/** Write the game to the address, and with its times to the history, so that a reload loses nothing. */
export function keepAddress() {
  const { game } = state;
  if (!game?.at.view || game.at.view.provisional) return;
  const turn = game.club?.mayMove(game.at);
  document.title = `${turn ? t("club.turn", { side: sideName(game.family, game.side) }) : t(`game.${game.game}`)} – Awello`;
  const address = linkOf(game);
  const { begun, kept, names } = game;
  if (address === link && history.state?.link === address && history.state.kept?.number === kept?.number) return;
  link = address;
  const memory = { link, key, times: timesOf(game), begun, kept: kept?.number ? kept : null, names };
  history.replaceState(memory, "", link);
  if (game.root.children.length && !link.startsWith("#club")) rememberGame(memory, labelOf(game));
}

/** @param {Game} game */
function labelOf(game) {
  const players = game.seats.map((seat, side) => game.names?.[side] ?? playerName(seat, game.rules)).join(" – ");
  const progress = game.at.tip.over ? "" : ` · ${t("play.recent.moves", { moves: game.line.length - 1 })}`;
  return `${t(`game.${game.game}`)}: ${players}${progress}`;
}

/** The address of a game. @param {Game} game */
const linkOf = (game) => (game.club && !game.club.left(game) ? game.club.link : formatLink(game));

/** The times of each move of the main line, for a reload. @param {Game} game */
const timesOf = (game) => game.line.map(({ move, seconds, left }) => ({ move, seconds, left }));

/** Give a game back what its link does not hold. @param {Game} game @param {Partial<GameMemory>} memory */
function restore(game, { times = [], begun = null, kept = null, names = null }) {
  Object.assign(game, { begun, kept, names });
  /** @type {GameNode | undefined} */
  let node = game.root;
  for (const { move, seconds, left } of times) {
    if (move !== null) node = node?.children.find((child) => child.move === move);
    if (!node) return;
    Object.assign(node, { seconds, left });
  }
}
