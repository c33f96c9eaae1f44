/** Games that come from outside: pasted, dropped, from a file, from a link, from a contest, from the archive. */
import { GAMES, Game } from "./game.js";
import { parseLink } from "./link.js";
import { complain, note } from "./notices.js";
import { api } from "./server.js";
import { t } from "./words.js";

const LARGEST_TEXT = 1 << 16; // bytes of a file that may hold one game
const COLLECTION = /\.(wtb|jou|trn|gam|gz)$/i; // files that are read as a whole
let latest = 0; // what was pasted last counts, whatever the server answers first

/** Read whatever was pasted, and put it on the table; `several` is called instead if it holds several games. */
export async function bringIn(app, text, several = null) {
  const turn = ++latest;
  const link = /#(\w+)(\?\S*)?$/.exec(text.trim());
  if (link && Object.hasOwn(GAMES, link[1])) return bringInLink(app, link[0]);
  try {
    const found = await api("POST", "/api/read", { text });
    if (turn !== latest) return;
    if (several && found.games > 1) return several();
    const game = gameOf(found.game, found.start, found.moves);
    if (await app.use(game)) note(t(`import.${found.kind}`, { moves: found.moves.length }), false);
  } catch (error) {
    if (turn === latest) complain(error);
  }
}

async function bringInLink(app, link) {
  const game = parseLink(link);
  if (game) await app.use(game);
  else complain({ code: "link" });
}

/** Read files: a single game goes onto the board, several go into the archive. */
export async function bringInFiles(app, files) {
  const toArchive = () => {
    app.showTab("games");
    app.panels.games.files.bringIn(files);
  };
  const [file, ...others] = files;
  if (others.length || file.size > LARGEST_TEXT || COLLECTION.test(file.name)) return toArchive();
  return bringIn(app, await file.text(), toArchive);
}

/** Show a game of a contest from its start. */
export async function replay(app, { game: name, moves }) {
  try {
    const found = moves ? await api("POST", "/api/read", { text: moves, game: name }) : { moves: [] };
    const game = gameOf(name, null, found.moves);
    game.at = game.root;
    await app.use(game);
  } catch (error) {
    complain(error);
  }
}

/** Show a game of the archive as it ended. */
export async function bringInArchived(app, number) {
  try {
    const found = await api("GET", `/api/games/${number}`);
    const game = gameOf(found.game, found.start, found.moves);
    game.names = found.players;
    game.kept = { number, moves: found.moves.join(" "), tags: found.tags };
    game.at.path.slice(1).forEach((node, place) => (node.seconds = found.seconds[place] ?? null));
    game.at.result = found.result;
    if (await app.use(game)) app.screen.board.scrollIntoView({ block: "nearest" });
  } catch (error) {
    complain(error);
  }
}

function gameOf(name, start, moves) {
  const game = new Game({ game: name, start });
  for (const move of moves) game.play(move);
  return game;
}

/** Take what is pasted or dropped anywhere on the page. */
export function listenForGames(app) {
  document.addEventListener("paste", (event) => {
    if (event.target.closest?.("input, textarea")) return;
    const text = event.clipboardData.getData("text/plain");
    if (text.trim()) bringIn(app, text);
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    const files = [...event.dataTransfer.files];
    const text = event.dataTransfer.getData("text/plain");
    if (files.length && event.target.closest?.("#panel-games")) app.panels.games.files.bringIn(files);
    else if (files.length) bringInFiles(app, files);
    else if (text) bringIn(app, text);
  });
}
