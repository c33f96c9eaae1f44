/** A game in words: players, results, openings and values; and what is said and heard while it is played. */
import { GAMES, PERSON } from "./game.js";
import { say } from "./notices.js";
import { settings } from "./settings.js";
import { play as playSound } from "./sounds.js";
import { signed, t } from "./words.js";

/** The name of a side. @param {Family} family @param {number} side */
export const sideName = (family, side) => t(`side.${family}.${side}`);

/** The games to choose from, by name. @returns {[value: string, words: string][]} */
export const gameChoices = () => Object.keys(GAMES).map((name) => [name, t(`game.${name}`)]);

/** A player as people call them. @param {string} seat @param {Rules} rules */
export function playerName(seat, rules) {
  if (seat === PERSON) return t("player.person");
  const level = rules.opponents.indexOf(seat);
  return level < 0 ? seat : t(`level.${level + 1}`);
}

/** The engine's judgement of a node and of the move that led there, unless all values are hidden. @param {GameNode} node */
export function valuesOf(node) {
  if (!settings.hints) return { value: null, exact: false, loss: null, mark: "" };
  return { value: node.worth?.value ?? null, exact: node.worth?.exact ?? false, loss: node.loss, mark: node.judgement?.mark ?? "" };
}

/** The value of a position, such as "Black +4 at depth 12". @param {Game} game */
export function valueWords({ family, at: { worth, analysis } }) {
  if (!worth || !analysis) return "";
  const side = sideName(family, worth.value < 0 ? 1 : 0);
  const words = worth.value === 0 ? t("value.even") : `${side} ${signed(Math.abs(worth.value), worth.exact ? 0 : 1)}`;
  return worth.exact ? t("value.exact", { words }) : t("value.depth", { words, depth: analysis.depth });
}

/** The opening of a game: that of the last position that has one. @param {Game} game */
export const openingOf = (game) => game.at.path.findLast((node) => node.view?.opening)?.view.opening;

/** The side that has won at a node, or null. @param {GameNode} node */
export function winnerOf(node) {
  if (node.result) return node.result.loser === null ? null : 1 - node.result.loser;
  return node.view?.over ? node.view.winner : null;
}

/** The result of a game, in a line. @param {Game} game */
export function resultWords({ at, family }) {
  const name = (/** @type {number} */ side) => sideName(family, side);
  const winner = winnerOf(at);
  if (at.result?.loser === null) return t(`result.${at.result.reason}`);
  if (at.result) return t(`result.${at.result.reason}`, { winner: name(1 - at.result.loser), loser: name(at.result.loser) });
  const [first, second] = at.view.score ?? [0, 0];
  const scores = { most: Math.max(first, second), least: Math.min(first, second) };
  const why = at.view.ending ? ` (${t(`ending.${at.view.ending}`, { mover: name(at.view.side) })})` : "";
  return (winner === null ? t("result.draw", scores) : t("result.win", { winner: name(winner), ...scores })) + why;
}

/** Say and sound a move that has been made. @param {Game} game @param {GameNode} node */
export function announceMove({ family }, { move, parent }) {
  if (!parent || !move) return;
  const effect = parent.view.moves[move];
  const gain = effect.flips?.length ?? effect.captured.reduce((sum, [, seeds]) => sum + seeds, 0);
  say(t(`spoken.${move === "pass" ? "pass" : family}`, { side: sideName(family, parent.view.side), move, gain }));
  playSound(family === "othello" ? "disc" : gain ? "capture" : "seed");
}

/** Say and sound the end of a game. @param {Game} game */
export function announceEnd(game) {
  say(resultWords(game));
  playSound("end");
}
