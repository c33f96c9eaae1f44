/** Taking turns: people and programs move, clocks run, passes are made. */
import { reducedMotion } from "./dom.js";
import { predictMove } from "./effects.js";
import { PERSON } from "./game.js";
import { announceEnd, announceMove } from "./game-words.js";
import { complain } from "./notices.js";
import { loadLine } from "./positions.js";
import { live, reviewer } from "./services.js";
import { settings } from "./settings.js";
import { changed, set, state } from "./store.js";

const PASS_AFTER = 900; // milliseconds in which a pass can be noticed
const WATCHING = 700; // milliseconds between the moves of two programs

const IDLE = { thinking: false, answered: false };

let cancel = () => {}; // ends what is under way

/** Whether we play in the club on this board, where analysis is off. */
export const inRatedGame = () => Boolean(state.game?.club?.playing);

/** Whether the board takes moves now. */
export function playable() {
  const { game, editor, thinking, paused, waiting } = state;
  if (game.live) return !editor && game.club.mayMove(game.at);
  if (editor || game.at.over || thinking || reviewer.trial?.tried) return false;
  return !game.programToMove || game.at.children.length > 0 || paused || waiting;
}

/** Put a game on the board whose positions are loaded. @param {Game} game @param {boolean} flipped */
export function begin(game, flipped) {
  set({ game, flipped, paused: false, waiting: false, editor: null, marks: [], preview: null, ...IDLE });
  arrive(false);
}

/** Go to a position that has been played. @param {GameNode} node */
export async function go(node) {
  rest();
  state.game.at = node;
  if (!node.view || node.view.provisional) await load(node);
  arrive(false);
}

/** Load the present position if the server was away when it was reached. */
export async function loadAgain() {
  if (state.game?.at.view.provisional) await go(state.game.at);
}

/** Play a person's move; its effect is shown at once. @param {string} move */
export async function play(move) {
  const { game } = state;
  const before = game.at;
  if (before.view?.provisional) await load(before); // until then its moves are not known
  if (game !== state.game || game.at !== before || !before.view || before.over || !(move in before.view.moves)) return;
  rest();
  const seconds = (performance.now() - state.since) / 1000;
  await make(move, game.programToMove ? null : seconds); // a move made for a program is only tried out
}

/**
 * Make a move that is known to be legal.
 * @param {string} move
 * @param {number | null} seconds that it took, if they count
 * @param {View | null} [view] the position after it, if the server has told it
 */
export async function make(move, seconds, view = null) {
  const { game } = state;
  const before = game.at;
  const running = clockIsOn();
  const known = before.children.some((child) => child.move === move);
  if (!game.root.children.length && !game.club) game.begun = Math.floor(Date.now() / 1000);
  const node = game.play(move);
  node.view = view ?? node.view ?? predictMove(before.view, move);
  if (!known) {
    node.seconds = seconds;
    node.left = running && move !== "pass" ? spend(game, before, seconds ?? 0) : before.left;
  }
  announceMove(game, node);
  set({ game, since: performance.now(), ...IDLE });
  if (node.view.provisional && !asksNext(node)) await load(node);
  if (game === state.game && game.at === node) arrive(true);
}

/** @param {GameNode} node */
async function load(node) {
  try {
    await loadLine(state.game, node);
  } catch (error) {
    complain(error);
  }
}

/** Whether a program is asked for the next move: its answer tells the position too. @param {GameNode} node */
function asksNext({ children }) {
  const { game, paused, waiting } = state;
  return live.online && game.programToMove && !children.length && !game.live && !paused && !waiting;
}

/** A position is on the board: ask whoever has to move. @param {boolean} moved whether a move led here just now */
export function arrive(moved) {
  const { game } = state;
  const { at } = game;
  rest();
  set({ game, since: performance.now(), ...IDLE });
  if (moved && at.over) announceEnd(game);
  if (at.over || game.live || state.paused || state.waiting || !at.view || (at.view.provisional && !asksNext(at))) return;
  if (at.children.length) {
    if (moved) repeatAnswer(at);
  } else if ("pass" in at.view.moves) later(PASS_AFTER, () => make("pass", 0));
  else if (game.programToMove) askProgram(moved ? showing(at) : 0);
}

/** Answer a move that was played here before with the same move as then. @param {GameNode} at */
function repeatAnswer(at) {
  const [answer] = at.children;
  if (answer.move !== "pass" && !state.game.programToMove) return;
  later(showing(at), () => make(answer.move, answer.seconds));
}

/** The milliseconds for which the last move is still being shown. @param {GameNode} node */
function showing(node) {
  if (reducedMotion() || !node.parent) return 0;
  const people = state.game.seats.includes(PERSON);
  const effect = node.parent.view.moves[node.move];
  const seeds = effect?.sown ? effect.sown.length + 2 * effect.captured.length + 1 : 0;
  return Math.max(seeds * settings.speed, people ? 320 : WATCHING);
}

/** @param {number} wait milliseconds for which the last move is still being shown */
function askProgram(wait) {
  const { game } = state;
  const { at } = game;
  const ready = performance.now() + wait;
  const { side } = at.view;
  const clock = at.left && game.clock ? { seconds: Math.max(0, at.left[side]), increment: game.clock.increment } : {};
  const question = { ...game.question(), player: game.seats[side], seed: (game.seed + at.ply) % 2 ** 32, ...clock };
  cancel = live.follow("choose", question, (/** @type {any} */ answer) => {
    if (answer.type === "position") learn(at, answer);
    if (answer.type === "error") failed(answer);
    if (answer.type !== "choice" || state.answered || game.at !== at) return; // a broken connection may tell it twice
    set({ answered: true });
    const left = answer.move === "pass" ? PASS_AFTER : ready - performance.now();
    later(Math.max(0, left), () => make(answer.move, answer.seconds, answer.after));
  });
  set({ thinking: true, since: ready }); // its clock does not pay for what is being shown
}

/** Take a position from the server in place of a predicted one. @param {GameNode} node @param {View} view */
function learn(node, view) {
  if (!node.view.provisional) return;
  node.view = view;
  if (view.over) arrive(true);
  else changed("game");
}

/** @param {Problem} problem */
async function failed(problem) {
  const { at } = state.game;
  rest();
  complain(problem);
  set({ paused: true, ...IDLE });
  if (!at.view.provisional) return;
  await load(at); // the answer would have told it
  changed("game");
}

/** Do something after a while, unless the person does something else before. @param {number} milliseconds @param {() => void} action */
function later(milliseconds, action) {
  const timer = setTimeout(action, milliseconds);
  cancel = () => clearTimeout(timer);
}

/** Cancel what is under way. */
function rest() {
  cancel();
  cancel = () => {};
}

/** Pause the programs, or let them continue. @param {boolean} paused */
export function pause(paused) {
  set({ paused });
  arrive(false);
}

/** End the game: a side has resigned, or has no time left. @param {number} side @param {string} reason */
export function lose(side, reason) {
  const { game } = state;
  rest();
  if (reason === "time") game.at.left = game.at.left?.with(side, 0) ?? null;
  game.at.result = { loser: side, reason };
  set({ game, ...IDLE });
  announceEnd(game);
}

/** Whether the clock of the present mover is running. */
export const clockRuns = () => clockIsOn() && !state.answered;

function clockIsOn() {
  const { game, paused, waiting } = state;
  const { at } = game;
  return Boolean(game.clock && at.ply > 0 && !at.over && !at.children.length && !paused && !waiting);
}

/** Both clocks after a move. @param {Game} game @param {GameNode} before @param {number} seconds */
function spend({ clock }, before, seconds) {
  if (!before.left || !clock) return before.left;
  const mover = before.view.side;
  return before.left.with(mover, before.left[mover] + clock.increment - seconds);
}
