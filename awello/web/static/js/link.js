/**
 * A whole game in a link: #othello?moves=f5d6(f6e6*)c3&second=champion%40level%3D4
 *
 * Variations stand in parentheses behind the move they could have replaced, as in the notation of chess;
 * a star stands behind the move that is shown.  A pass is --.
 */
import { GAMES, Game, Node, PERSON } from "./game.js";

const LONGEST = 20000; // letters of a link that is read
const LONGEST_CLOCK = 86400; // seconds, as the server has it
const LONGEST_INCREMENT = 3600;
const MOST_PLIES = 2000;

/** The link of a game, from the # on. @param {Game} game */
export function formatLink(game) {
  const query = new URLSearchParams();
  if (game.start) query.set("start", game.start);
  const moves = formatMoves(game.root, game.at);
  if (moves) query.set("moves", moves);
  if (game.seats[0] !== PERSON) query.set("first", game.seats[0]);
  if (game.seats[1] !== PERSON) query.set("second", game.seats[1]);
  if (game.clock) query.set("clock", `${game.clock.seconds}+${game.clock.increment}`);
  const lost = game.at.tip.result;
  if (lost && lost.loser !== null) query.set("lost", `${lost.loser} ${lost.reason}`);
  const text = query.toString();
  return `#${game.game}${text ? `?${text}` : ""}`;
}

/** @param {GameNode} node @param {GameNode} at */
const name = (node, at) => (node.move === "pass" ? "--" : node.move) + (node === at ? "*" : "");

/** @param {GameNode} node @param {GameNode} at */
function formatMoves(node, at) {
  let text = "";
  while (node.children.length) {
    const [main, ...others] = node.children;
    text += name(main, at);
    for (const other of others) text += `(${name(other, at)}${formatMoves(other, at)})`;
    node = main;
  }
  return text;
}

/** The game of a link, or null if it is none. @param {string} hash */
export function parseLink(hash) {
  const [head, query = ""] = hash.replace(/^#/, "").split("?", 2);
  if (!Object.hasOwn(GAMES, head) || hash.length > LONGEST) return null;
  const values = new URLSearchParams(query);
  const game = new Game({
    game: head,
    start: values.get("start"),
    seats: [values.get("first") ?? PERSON, values.get("second") ?? PERSON],
    chosen: values.has("first") || values.has("second"),
    clock: parseClock(values.get("clock") ?? ""),
  });
  if (!parseMoves(game, values.get("moves") ?? "")) return null;
  const lost = /^([01]) (resigned|time|forfeit)$/.exec(values.get("lost") ?? "");
  if (lost) game.at.tip.result = { loser: Number(lost[1]), reason: lost[2] };
  return game;
}

/** The clock of a text such as 300+5, in seconds. @param {string} text */
export function parseClock(text) {
  const match = /^(\d{1,5}(?:\.\d+)?)(?:\+(\d{1,4}(?:\.\d+)?))?$/.exec(text);
  const clock = match && { seconds: Number(match[1]), increment: Number(match[2] ?? 0) };
  return clock && clock.seconds > 0 && clock.seconds <= LONGEST_CLOCK && clock.increment <= LONGEST_INCREMENT ? clock : null;
}

/** @param {Game} game @param {string} text */
function parseMoves(game, text) {
  const token = /([a-h][1-8]|[a-fA-F](?![1-8])|--)(\*?)|\(|\)/gy;
  const open = [];
  let node = game.root;
  let shown = null;
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    if (!match) return false;
    if (match[0] === "(") {
      if (!node.parent) return false;
      open.push(node);
      node = node.parent;
    } else if (match[0] === ")") {
      if (!open.length) return false;
      node = /** @type {Node} */ (open.pop());
    } else {
      const next = new Node(node, match[1] === "--" ? "pass" : match[1]);
      node.children.push(next);
      node = next;
      if (match[2]) shown = node;
      if (node.ply > MOST_PLIES) return false;
    }
  }
  game.at = shown ?? game.root;
  return open.length === 0;
}
