/** Opens games (new, from links, from the browser's history) and keeps the address up to date. */
import { playerLabel, sideName } from "./game-text.js";
import { Game, HUMAN, RULES } from "./game.js";
import { showGame } from "./gameplay.js";
import { t, withColon } from "./i18n.js";
import { formatLink, parseLink } from "./link.js";
import { showError } from "./notices.js";
import { defaultOpponent } from "./opponents.js";
import { loadGamePositions } from "./position-loader.js";
import { reviewer } from "./services.js";
import { loadRecentGames, saveRecentGame, saveSetting, settings } from "./settings.js";
import { notifyChange, state } from "./store.js";

let key = ""; // key of the game in the list of recent games
let link = ""; // the address last written or followed
/** @type {Game | null} */
let pendingGame = null; // the latest game to open

/** The rule set played last in this browser, by name. */
export const preferredVariant = () => (Object.hasOwn(RULES, settings.variant) ? settings.variant : "othello");

/**
 * Start a game against the default opponent, or with the players of the previous game if the user chose them.
 * @param {string} variant
 * @param {Partial<Game>} choices
 */
export async function startGame(variant, choices = {}) {
  const before = state.game;
  const same = before?.keepPlayers && before.family === RULES[variant].family;
  const players = same ? before.players : [HUMAN, defaultOpponent(RULES[variant])];
  if (await openGame(new Game({ variant, players, keepPlayers: true, clock: before?.clock ?? null, ...choices }))) saveSetting("variant", variant);
}

/**
 * Open a game; returns false if the server refuses it, or if another one was requested meanwhile.
 * @param {Game} game
 * @param {{ key?: string, back?: boolean }} options `back` is set if the address bar already has its link
 */
export async function openGame(game, options = {}) {
  pendingGame = game;
  try {
    await loadGamePositions(game);
  } catch (error) {
    showError(error);
    return false;
  }
  if (pendingGame !== game) return false;
  if (!options.back && link && link !== linkTo(game)) history.pushState(null, "", location.href);
  key = options.key ?? String(Date.now());
  reviewer.reset();
  const flipped = game.clubGame ? game.clubGame.ownSide === 1 : game.players[0] !== HUMAN && game.players[1] === HUMAN;
  showGame(game, flipped);
  return true;
}

/** Open a link; returns false if it does not contain a game. @param {string} hash */
export async function openLink(hash) {
  if (hash.startsWith("#club")) await state.clubReady;
  if (hash.startsWith("#club") && state.club) return state.club.openLink(hash);
  const saved = history.state?.link === hash ? history.state : loadRecentGames().find((entry) => entry.link === hash);
  const game = parseLink(hash);
  if (!game) {
    showError({ code: "link" });
    return false;
  }
  if (saved) restoreSnapshot(game, saved);
  return openGame(game, { key: saved?.key, back: true });
}

/** Follow a typed address, or the browser's history. */
export async function handleAddressChange() {
  if (location.hash === link) return;
  link = location.hash;
  if (!(await openLink(link))) notifyChange("game");
}

/**
 * Write the game to the address and its times to the history, so that they survive a reload.
 * An address that the user has just typed is not overwritten: `handleAddressChange` will be called for it.
 */
export function updateAddress() {
  const { game } = state;
  if (!game?.current.position || game.current.position.provisional || (link && location.hash !== link)) return;
  const turn = game.clubGame?.mayMove(game.current);
  document.title = `${turn ? t("club.turn", { side: sideName(game.family, game.side) }) : t(`game.${game.variant}`)} – Awello`;
  const address = linkTo(game);
  const { started, saved, playerNames } = game;
  if (address === link && history.state?.link === address && history.state.saved?.number === saved?.number) return;
  link = address;
  const snapshot = { link, key, times: collectTimes(game), started, saved: saved?.number ? saved : null, playerNames };
  history.replaceState(snapshot, "", link);
  if (game.root.children.length && !link.startsWith("#club")) saveRecentGame(snapshot, formatRecentLabel(game));
}

/** @param {Game} game */
function formatRecentLabel(game) {
  const players = [0, 1].map((side) => playerLabel(game, side)).join(" – ");
  const progress = game.current.tip.over ? "" : ` · ${t("play.recent.moves", { moves: game.line.length - 1 })}`;
  return withColon(t(`game.${game.variant}`), players + progress);
}

/** The address of a game. @param {Game} game */
const linkTo = (game) => (game.clubGame && !game.clubGame.hasDiverged(game) ? game.clubGame.link : formatLink(game));

/** The times of the main line, for a reload. @param {Game} game */
const collectTimes = (game) => game.line.map(({ move, seconds, clocks }) => ({ move, seconds, clocks }));

/** Restore the parts of a game that its link does not contain. @param {Game} game @param {Partial<GameSnapshot>} snapshot */
function restoreSnapshot(game, { times = [], started = null, saved = null, playerNames = null }) {
  Object.assign(game, { started, saved, playerNames });
  /** @type {GameNode | undefined} */
  let node = game.root;
  for (const { move, seconds, clocks } of times) {
    if (move !== null) node = node?.children.find((child) => child.move === move);
    if (!node) return;
    Object.assign(node, { seconds, clocks });
  }
}
