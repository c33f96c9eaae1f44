/** Imports games: pasted, dropped, from a file, a link, a contest or the archive. */
import { boardElement, eventElement } from "./dom.js";
import { Game, RULES } from "./game.js";
import { pluralKey, t } from "./i18n.js";
import { parseLink } from "./link.js";
import { openGame } from "./navigation.js";
import { showError, showNotice } from "./notices.js";
import { api } from "./server.js";
import { getPanel, showTab } from "./tabs.js";

const MAX_TEXT_BYTES = 1 << 16; // largest file that may hold a single game
const COLLECTION_FILE = /\.(wtb|jou|trn|gam|gz)$/i; // always imported into the archive
let latestRequest = 0; // responses to earlier imports are ignored

/**
 * Read a text and show its game, or call `several` if it contains several games.
 * @param {string} text
 * @param {(() => void) | null} [several]
 */
export async function importText(text, several = null) {
  const request = ++latestRequest;
  const link = /#(\w+)(\?\S*)?$/.exec(text.trim());
  if (link && Object.hasOwn(RULES, link[1])) return importLink(link[0]);
  try {
    const response = await api("POST", "/api/detect", { text });
    if (request !== latestRequest) return;
    if (several && response.games > 1) return several();
    const game = buildGame(response.game, response.start, response.moves);
    const count = response.moves.length;
    const moves = t(`moves.count.${pluralKey(count)}`, { count });
    if (await openGame(game)) showNotice(t(`import.${response.format}`, { moves }), false);
  } catch (error) {
    if (request === latestRequest) showError(error);
  }
}

/** @param {string} link */
async function importLink(link) {
  const game = parseLink(link);
  if (game) await openGame(game);
  else showError({ code: "link" });
}

/** Read files: a single game is shown on the board, several are imported into the archive. @param {File[]} files */
export async function importFiles(files) {
  const toArchive = () => {
    showTab("games");
    getPanel("games").files.importFiles(files);
  };
  const [file, ...others] = files;
  if (others.length || file.size > MAX_TEXT_BYTES || COLLECTION_FILE.test(file.name)) return toArchive();
  return importText(await file.text(), toArchive);
}

/** Show a contest game from its start. @param {{ variant: string, moves: string }} given */
export async function openContestGame({ variant, moves }) {
  try {
    const response = moves ? await api("POST", "/api/detect", { text: moves, game: variant }) : { moves: [] };
    const game = buildGame(variant, null, response.moves);
    game.current = game.root;
    await openGame(game);
  } catch (error) {
    showError(error);
  }
}

/** Show an archived game at its end. @param {number} number */
export async function openArchivedGame(number) {
  try {
    const response = await api("GET", `/api/games/${number}`);
    const game = buildGame(response.game, response.start, response.moves);
    game.playerNames = response.players;
    game.saved = { number, moves: response.moves.join(" "), tags: response.tags };
    game.current.path.slice(1).forEach((node, index) => (node.seconds = response.seconds[index] ?? null));
    game.current.result = response.loss;
    if (await openGame(game)) boardElement()?.scrollIntoView({ block: "nearest" });
  } catch (error) {
    showError(error);
  }
}

/** @param {string} variant @param {string | null} start @param {string[]} moves */
function buildGame(variant, start, moves) {
  const game = new Game({ variant, start });
  for (const move of moves) game.play(move);
  return game;
}

/** Import text and files that are pasted or dropped anywhere on the page. */
export function listenForPastedGames() {
  document.addEventListener("paste", (event) => {
    if (eventElement(event).closest("input, textarea")) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.trim()) importText(text);
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    const text = event.dataTransfer?.getData("text/plain");
    if (files.length && eventElement(event).closest("#panel-games")) getPanel("games").files.importFiles(files);
    else if (files.length) importFiles(files);
    else if (text) importText(text);
  });
}
