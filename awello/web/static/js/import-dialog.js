/** Games that come from outside: pasted, dropped, from a file, from a link, from a contest, from the archive. */
import { boardElement, elementOf } from "./dom.js";
import { Game, GAMES } from "./game.js";
import { parseLink } from "./link.js";
import { complain, note } from "./notices.js";
import { useGame } from "./open-game.js";
import { api } from "./server.js";
import { panelOf, showTab } from "./tabs.js";
import { t } from "./words.js";

const LARGEST_TEXT = 1 << 16; // bytes of a file that may hold one game
const COLLECTION = /\.(wtb|jou|trn|gam|gz)$/i; // files that are read as a whole
let latest = 0; // what was pasted last counts, whatever the server answers first

/**
 * Read a text and put its game on the board; `several` is called instead if it holds several games.
 * @param {string} text
 * @param {(() => void) | null} [several]
 */
export async function importText(text, several = null) {
  const turn = ++latest;
  const link = /#(\w+)(\?\S*)?$/.exec(text.trim());
  if (link && Object.hasOwn(GAMES, link[1])) return importLink(link[0]);
  try {
    const found = await api("POST", "/api/read", { text });
    if (turn !== latest) return;
    if (several && found.games > 1) return several();
    const game = gameOf(found.game, found.start, found.moves);
    if (await useGame(game)) note(t(`import.${found.kind}`, { moves: found.moves.length }), false);
  } catch (error) {
    if (turn === latest) complain(error);
  }
}

/** @param {string} link */
async function importLink(link) {
  const game = parseLink(link);
  if (game) await useGame(game);
  else complain({ code: "link" });
}

/** Read files: a single game goes onto the board, several go into the archive. @param {File[]} files */
export async function importFiles(files) {
  const toArchive = () => {
    showTab("games");
    panelOf("games").files.importFiles(files);
  };
  const [file, ...others] = files;
  if (others.length || file.size > LARGEST_TEXT || COLLECTION.test(file.name)) return toArchive();
  return importText(await file.text(), toArchive);
}

/** Show a game of a contest from its start. @param {{ game: string, moves: string }} given */
export async function replay({ game: name, moves }) {
  try {
    const found = moves ? await api("POST", "/api/read", { text: moves, game: name }) : { moves: [] };
    const game = gameOf(name, null, found.moves);
    game.at = game.root;
    await useGame(game);
  } catch (error) {
    complain(error);
  }
}

/** Show a game of the archive as it ended. @param {number} number */
export async function openArchived(number) {
  try {
    const found = await api("GET", `/api/games/${number}`);
    const game = gameOf(found.game, found.start, found.moves);
    game.names = found.players;
    game.kept = { number, moves: found.moves.join(" "), tags: found.tags };
    game.at.path.slice(1).forEach((node, place) => (node.seconds = found.seconds[place] ?? null));
    game.at.result = found.result;
    if (await useGame(game)) boardElement()?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    complain(error);
  }
}

/** @param {string} name @param {string | null} start @param {string[]} moves */
function gameOf(name, start, moves) {
  const game = new Game({ game: name, start });
  for (const move of moves) game.play(move);
  return game;
}

/** Take what is pasted or dropped anywhere on the page. */
export function listenForGames() {
  document.addEventListener("paste", (event) => {
    if (elementOf(event).closest("input, textarea")) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.trim()) importText(text);
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    const text = event.dataTransfer?.getData("text/plain");
    if (files.length && elementOf(event).closest("#panel-games")) panelOf("games").files.importFiles(files);
    else if (files.length) importFiles(files);
    else if (text) importText(text);
  });
}
