/** Texts of a game: players, results, openings and values; and announcements of moves. */
import { HUMAN, RULES } from "./game.js";
import { formatSigned, t } from "./i18n.js";
import { announce } from "./notices.js";
import { settings } from "./settings.js";
import { playSound } from "./sounds.js";

/** The name of a side. @param {Family} family @param {number} side */
export const sideName = (family, side) => t(`side.${family}.${side}`);

/** A side as the subject of a sentence. @param {Family} family @param {number} side */
export const sideSubject = (family, side) => t(`side.subject.${family}.${side}`);

/** Whose turn it is, such as "Black to move". @param {Family} family @param {number} side */
export const sideTurn = (family, side) => t(`side.turn.${family}.${side}`);

/** The games as options of a list. @returns {[value: string, label: string][]} */
export const variantOptions = () => Object.keys(RULES).map((name) => [name, t(`game.${name}`)]);

/** The display name of a player: a level instead of its spec. @param {string} player @param {Rules} rules */
export function playerName(player, rules) {
  const level = rules.opponents.indexOf(player);
  return level < 0 ? player : t(`level.${level + 1}`);
}

/** The name of a player of a game; two people at one board are not both "You". @param {Game} game @param {number} side */
export function playerLabel({ players, playerNames, rules }, side) {
  if (playerNames?.[side]) return playerName(playerNames[side], rules);
  if (players[side] === HUMAN) return t(players[1 - side] === HUMAN ? "player.human" : "player.you");
  return playerName(players[side], rules);
}

/** The engine's values of a node and of its move, unless values are hidden. @param {GameNode} node */
export function nodeValues(node) {
  if (!settings.hints) return { value: null, exact: false, loss: null, mark: "" };
  return { value: node.evaluation?.value ?? null, exact: node.evaluation?.exact ?? false, loss: node.loss, mark: node.review?.mark ?? "" };
}

/** The value of a position, such as "Black +4 at depth 12". @param {Game} game */
export function formatEvaluation({ family, current: { evaluation, analysis } }) {
  if (!evaluation || !analysis) return "";
  const side = sideName(family, evaluation.value < 0 ? 1 : 0);
  const text = evaluation.value === 0 ? t("value.even") : `${side} ${formatSigned(Math.abs(evaluation.value), evaluation.exact ? 0 : 1)}`;
  return evaluation.exact ? t("value.exact", { text }) : t("value.depth", { text, depth: analysis.depth });
}

/** The most specific opening of the game up to the current position. @param {Game} game */
export const findOpening = (game) => game.current.path.findLast((node) => node.position?.opening)?.position.opening;

/** The winner at a node, or null. @param {GameNode} node */
export function findWinner(node) {
  if (node.result) return node.result.loser === null ? null : 1 - node.result.loser;
  return node.position?.over ? node.position.winner : null;
}

/** The result of a game in one line. @param {Game} game */
export function formatResult({ current, family }) {
  const winner = findWinner(current);
  if (current.result) return winner === null ? t(`result.${current.result.reason}`) : t(`result.${current.result.reason}.${family}`, { winner: sideSubject(family, winner) });
  const [first, second] = current.position.score ?? [0, 0];
  const scores = { most: Math.max(first, second), least: Math.min(first, second) };
  const { end_reason: reason, side } = current.position;
  const ending = reason ? ` (${t(`end.${reason}`, { mover: sideName(family, side) })})` : "";
  return (winner === null ? t("result.draw", scores) : t(`result.win.${family}`, { winner: sideSubject(family, winner), ...scores })) + ending;
}

/** Announce a move, with its sound. @param {Game} game @param {GameNode} node */
export function announceMove({ family }, { move, parent }) {
  if (!parent || !move) return;
  const effect = parent.position.moves[move];
  const gain = effect.flips?.length ?? effect.captured.reduce((sum, [, seeds]) => sum + seeds, 0);
  const key = move === "pass" ? `pass.${family}` : family;
  announce(t(`announce.${key}`, { side: sideSubject(family, parent.position.side), move, gain }));
  playSound(family === "othello" ? "disc" : gain ? "capture" : "seed");
}

/** Announce the end of a game, with its sound. @param {Game} game */
export function announceEnd(game) {
  announce(formatResult(game));
  playSound("end");
}
