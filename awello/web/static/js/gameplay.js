/** The course of a game: moves of humans and bots, clocks and passes. */
import { reducedMotion } from "./dom.js";
import { announceEnd, announceMove } from "./game-text.js";
import { HUMAN } from "./game.js";
import { predictMove } from "./move-prediction.js";
import { showError } from "./notices.js";
import { loadLinePositions } from "./position-loader.js";
import { engineConnection, reviewer } from "./services.js";
import { settings } from "./settings.js";
import { notifyChange, setState, state } from "./store.js";

const PASS_DELAY_MS = 900; // keeps a pass visible
const BOT_GAME_DELAY_MS = 700; // between the moves of two bots

const IDLE = { thinking: false, replyReady: false };

let cancelTask = () => {}; // cancels the pending request or timer

/** Whether the game on the board is a club game in which the user plays; analysis is then off. */
export const isPlayingInClub = () => Boolean(state.game?.clubGame?.playing);

/** Whether the board accepts moves. */
export function isBoardPlayable() {
  const { game, editor, thinking, paused, suspended } = state;
  if (game.live) return !editor && game.clubGame.mayMove(game.current);
  if (editor || game.current.over || thinking || reviewer.retry?.tried) return false;
  return !game.botToMove || game.current.children.length > 0 || paused || suspended;
}

/** Show a game whose positions are loaded. @param {Game} game @param {boolean} flipped */
export function showGame(game, flipped) {
  setState({ game, flipped, paused: false, suspended: false, editor: null, marks: [], preview: null, ...IDLE });
  enterPosition(false);
}

/** Go to a node of the game. @param {GameNode} node */
export async function goTo(node) {
  cancelPending();
  state.game.current = node;
  if (!node.position || node.position.provisional) await loadCurrentLine(node);
  enterPosition(false);
}

/** Load the current position if the server was offline when it was reached. */
export async function reloadPosition() {
  if (state.game?.current.position.provisional) await goTo(state.game.current);
}

/** Play the user's move; its effect is shown immediately. @param {string} move */
export async function playHumanMove(move) {
  const { game } = state;
  const before = game.current;
  if (before.position?.provisional) await loadCurrentLine(before); // the legal moves are known only afterwards
  if (game !== state.game || game.current !== before || !before.position || before.over || !(move in before.position.moves)) return;
  cancelPending();
  const seconds = (performance.now() - state.turnStart) / 1000;
  await applyMove(move, game.botToMove ? null : seconds); // moves played in place of a bot have no time
}

/**
 * Apply a legal move.
 * @param {string} move
 * @param {number | null} seconds the time used, or null if it does not count
 * @param {Position | null} [position] the position after it, if the server has sent it
 */
export async function applyMove(move, seconds, position = null) {
  const { game } = state;
  const before = game.current;
  const running = isClockOn();
  const known = before.children.some((child) => child.move === move);
  if (!game.root.children.length && !game.clubGame) game.started = Math.floor(Date.now() / 1000);
  const node = game.play(move);
  node.position = position ?? node.position ?? predictMove(before.position, move);
  if (!known) {
    node.seconds = seconds;
    node.clocks = running && move !== "pass" ? chargeClock(game, before, seconds ?? 0) : before.clocks;
  }
  announceMove(game, node);
  setState({ game, turnStart: performance.now(), ...IDLE });
  if (node.position.provisional && !willRequestMove(node)) await loadCurrentLine(node);
  if (game === state.game && game.current === node) enterPosition(true);
}

/** @param {GameNode} node */
async function loadCurrentLine(node) {
  try {
    await loadLinePositions(state.game, node);
  } catch (error) {
    showError(error);
  }
}

/** Whether a bot will be asked for the next move; its answer includes the current position. @param {GameNode} node */
function willRequestMove({ children }) {
  const { game, paused, suspended } = state;
  return engineConnection.online && game.botToMove && !children.length && !game.live && !paused && !suspended;
}

/** Continue from the position on the board: request the bot's move, or play a pass. @param {boolean} moved whether a move has just been played */
export function enterPosition(moved) {
  const { game } = state;
  const { current } = game;
  cancelPending();
  setState({ game, turnStart: performance.now(), ...IDLE });
  if (moved && current.over) announceEnd(game);
  if (current.over || game.live || state.paused || state.suspended || !current.position || (current.position.provisional && !willRequestMove(current))) return;
  if (current.children.length) {
    if (moved) replayReply(current);
  } else if ("pass" in current.position.moves) schedule(PASS_DELAY_MS, () => applyMove("pass", 0));
  else if (game.botToMove) requestBotMove(moved ? animationTime(current) : 0);
}

/** Repeat the reply that is already in the game: a bot's move or a pass. @param {GameNode} current */
function replayReply(current) {
  const [reply] = current.children;
  if (reply.move !== "pass" && !state.game.botToMove) return;
  schedule(animationTime(current), () => applyMove(reply.move, reply.seconds));
}

/** How long the last move is still being animated, in milliseconds. @param {GameNode} node */
function animationTime(node) {
  if (reducedMotion() || !node.parent) return 0;
  const people = state.game.players.includes(HUMAN);
  const effect = node.parent.position.moves[node.move];
  const seeds = effect?.sown ? effect.sown.length + 2 * effect.captured.length + 1 : 0;
  return Math.max(seeds * settings.sowingDelayMs, people ? 320 : BOT_GAME_DELAY_MS);
}

/** @param {number} wait milliseconds for which the last move is still being shown */
function requestBotMove(wait) {
  const { game } = state;
  const { current } = game;
  const ready = performance.now() + wait;
  const { side } = current.position;
  const time = current.clocks && game.clock ? { clock: Math.max(0, current.clocks[side]), increment: game.clock.increment } : {};
  const question = { ...game.toRequest(), player: game.players[side], seed: (game.seed + current.ply) % 2 ** 32, ...time };
  cancelTask = engineConnection.stream("choose", question, (/** @type {any} */ response) => {
    if (response.type === "position") replacePrediction(current, response);
    if (response.type === "error") handleError(response);
    if (response.type !== "choice" || state.replyReady || game.current !== current) return; // after reconnecting, the same answer can arrive twice
    setState({ replyReady: true });
    const left = response.move === "pass" ? PASS_DELAY_MS : ready - performance.now();
    schedule(Math.max(0, left), () => applyMove(response.move, response.seconds, response.after));
  });
  setState({ thinking: true, turnStart: ready }); // the bot's clock starts after the animation
}

/** Replace a predicted position by the server's. @param {GameNode} node @param {Position} position */
function replacePrediction(node, position) {
  if (!node.position.provisional) return;
  node.position = position;
  if (position.over) enterPosition(true);
  else notifyChange("game");
}

/** @param {ErrorInfo} error */
async function handleError(error) {
  const { current } = state.game;
  cancelPending();
  showError(error);
  setState({ paused: true, ...IDLE });
  if (!current.position.provisional) return;
  await loadCurrentLine(current); // the bot's answer would have included the position
  notifyChange("game");
}

/** Run an action after a delay, unless it is cancelled. @param {number} milliseconds @param {() => void} action */
function schedule(milliseconds, action) {
  const timer = setTimeout(action, milliseconds);
  cancelTask = () => clearTimeout(timer);
}

/** Cancel the pending request or timer. */
function cancelPending() {
  cancelTask();
  cancelTask = () => {};
}

/** Pause or resume the bots. @param {boolean} paused */
export function setPaused(paused) {
  setState({ paused });
  enterPosition(false);
}

/** End the game: a side has resigned or run out of time. @param {number} side @param {string} reason */
export function endGame(side, reason) {
  const { game } = state;
  cancelPending();
  if (reason === "time") game.current.clocks = game.current.clocks?.with(side, 0) ?? null;
  game.current.result = { loser: side, reason };
  setState({ game, ...IDLE });
  announceEnd(game);
}

/** Whether the mover's clock runs. */
export const isClockRunning = () => isClockOn() && !state.replyReady;

function isClockOn() {
  const { game, paused, suspended } = state;
  const { current } = game;
  return Boolean(game.clock && current.ply > 0 && !current.over && !current.children.length && !paused && !suspended);
}

/** Both clocks after a move. @param {Game} game @param {GameNode} before @param {number} seconds */
function chargeClock({ clock }, before, seconds) {
  if (!before.clocks || !clock) return before.clocks;
  const mover = before.position.side;
  return before.clocks.with(mover, before.clocks[mover] + clock.increment - seconds);
}
