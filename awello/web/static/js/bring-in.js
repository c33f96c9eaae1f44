/** Games that come from outside: pasted, dropped, from a file, from a link, from a contest, from the archive. */
import { FAMILY, Game } from "./game.js";
import { parseLink } from "./link.js";
import { complain, note } from "./notices.js";
import { api } from "./server.js";
import { t } from "./words.js";

const LARGEST_FILE = 1 << 16;
let latest = 0; // what was pasted last counts, whatever the server answers first

/** Read whatever was pasted, and put it on the table. */
export async function bringIn(app, text) {
  const turn = ++latest;
  const link = /#(\w+)(\?\S*)?$/.exec(text.trim());
  if (link && Object.hasOwn(FAMILY, link[1])) return bringInLink(app, link[0]);
  try {
    const found = await api("POST", "/api/read", { text });
    if (turn !== latest) return;
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

/** Read a file, if it is not too large. */
export async function bringInFile(app, file) {
  if (file.size > LARGEST_FILE) return complain({ code: "large" });
  return bringIn(app, await file.text());
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
    game.kept = { number, moves: found.moves.join(" ") };
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
    const [file] = event.dataTransfer.files;
    const text = event.dataTransfer.getData("text/plain");
    if (file) bringInFile(app, file);
    else if (text) bringIn(app, text);
  });
}
