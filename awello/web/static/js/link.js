/**
 * A whole game in a link: #othello?moves=f5d6(f6e6*)c3&second=champion%40level%3D4
 *
 * Variations follow the move they replace, in parentheses, as in chess notation; a star follows the current move.
 * A pass is written as --.
 */
import { Game, GameNode, HUMAN, RULES } from "./game.js";

const MAX_LINK_CHARS = 20000;
const MAX_CLOCK_SECONDS = 86400; // as on the server
const MAX_INCREMENT_SECONDS = 3600;
const MAX_PLIES = 2000;

/** The link of a game, starting with #. @param {Game} game */
export function formatLink(game) {
  const query = new URLSearchParams();
  if (game.start) query.set("start", game.start);
  const moves = formatMoves(game.root, game.current);
  if (moves) query.set("moves", moves);
  if (game.players[0] !== HUMAN) query.set("first", game.players[0]);
  if (game.players[1] !== HUMAN) query.set("second", game.players[1]);
  if (game.clock) query.set("clock", `${game.clock.seconds}+${game.clock.increment}`);
  const lost = game.current.tip.result;
  if (lost && lost.loser !== null) query.set("lost", `${lost.loser} ${lost.reason}`);
  const text = query.toString();
  return `#${game.variant}${text ? `?${text}` : ""}`;
}

/** @param {GameNode} node @param {GameNode} current */
const formatMove = (node, current) => (node.move === "pass" ? "--" : node.move) + (node === current ? "*" : "");

/** @param {GameNode} node @param {GameNode} current */
function formatMoves(node, current) {
  let text = "";
  while (node.children.length) {
    const [main, ...others] = node.children;
    text += formatMove(main, current);
    for (const other of others) text += `(${formatMove(other, current)}${formatMoves(other, current)})`;
    node = main;
  }
  return text;
}

/** The game of a link, or null if it is invalid. @param {string} hash */
export function parseLink(hash) {
  const [head, query = ""] = hash.replace(/^#/, "").split("?", 2);
  if (!Object.hasOwn(RULES, head) || hash.length > MAX_LINK_CHARS) return null;
  const values = new URLSearchParams(query);
  const game = new Game({
    variant: head,
    start: values.get("start"),
    players: [values.get("first") ?? HUMAN, values.get("second") ?? HUMAN],
    keepPlayers: values.has("first") || values.has("second"),
    clock: parseClock(values.get("clock") ?? ""),
  });
  if (!parseMoves(game, values.get("moves") ?? "")) return null;
  const lost = /^([01]) (resigned|time|forfeit)$/.exec(values.get("lost") ?? "");
  if (lost) game.current.tip.result = { loser: Number(lost[1]), reason: lost[2] };
  return game;
}

/** Parse a clock such as 300+5, in seconds. @param {string} text */
export function parseClock(text) {
  const match = /^(\d{1,5}(?:\.\d+)?)(?:\+(\d{1,4}(?:\.\d+)?))?$/.exec(text);
  const clock = match && { seconds: Number(match[1]), increment: Number(match[2] ?? 0) };
  return clock && clock.seconds > 0 && clock.seconds <= MAX_CLOCK_SECONDS && clock.increment <= MAX_INCREMENT_SECONDS ? clock : null;
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
      node = /** @type {GameNode} */ (open.pop());
    } else {
      const next = new GameNode(node, match[1] === "--" ? "pass" : match[1]);
      node.children.push(next);
      node = next;
      if (match[2]) shown = node;
      if (node.ply > MAX_PLIES) return false;
    }
  }
  game.current = shown ?? game.root;
  return open.length === 0;
}
