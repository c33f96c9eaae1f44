/** What a person can do with the game on the board: every key and every button calls an action. */
import { boardElement, byId, focusBoard } from "./dom.js";
import { Game, PERSON } from "./game.js";
import { showHelp } from "./help.js";
import { parseClock } from "./link.js";
import { complain, hideNotice, note, say } from "./notices.js";
import { newGame, useGame } from "./open-game.js";
import { MARKS } from "./reviewer.js";
import { reviewer } from "./services.js";
import { saveSetting, settings } from "./settings.js";
import { play as playSound } from "./sounds.js";
import { set, state } from "./store.js";
import * as table from "./table.js";
import { inRatedGame, playable } from "./table.js";
import { showTab } from "./tabs.js";
import { t } from "./words.js";

/** What can be done while we play in the club, where analysis is off; and what cannot be done to a game there. */
const IN_PLAY = ["back", "forward", "first", "last", "flip", "focusBoard", "typeMove", "clearMarks", "help"];
const NOT_THERE = ["changeSides", "pause", "resign", "setSeat"];

const commands = {
  back: () => state.game.at.parent && step(state.game.at.parent),
  forward: () => state.game.at.children.length && step(state.game.at.children[0]),
  first: () => step(state.game.root),
  last: () => step(state.game.at.tip),
  undo: () => step(state.game.beforeLastTurn()),
  redo: () => step(afterTurn(state.game)),
  newGame: () => newGame(state.game.game),
  rematch: () => newGame(state.game.game, { seats: state.game.seats.toReversed() }),
  changeSides,
  pause: () => table.pause(!state.paused),
  resign,
  flip: () => set({ flipped: !state.flipped }),
  engine: () => saveSetting("engine", !settings.engine),
  hints: () => saveSetting("hints", !settings.hints),
  arrows: () => saveSetting("arrows", !settings.arrows),
  best: playBest,
  review: () => {
    showTab("analysis");
    reviewer.begin(state.game);
  },
  explore: () => showTab("games"),
  chooseKeeping: () => {
    showTab("settings");
    byId("setting-archive").focus();
  },
  blunder: () => goToMark(MARKS.blunder),
  mistake: () => goToMark(MARKS.mistake),
  inaccuracy: () => goToMark(MARKS.inaccuracy),
  focusBoard,
  typeMove: () => {
    showTab("play");
    byId("typed-move").focus();
  },
  clearMarks: () => set({ marks: [] }),
  help: () => showHelp(state.game.family),
  setSeat,
  setClock: (/** @type {string} */ text) => newGame(state.game.game, { clock: parseClock(text) }),
};

/** @param {string} name */
function allowed(name) {
  if (!inRatedGame()) return !(state.game.live && NOT_THERE.includes(name));
  if (!IN_PLAY.includes(name)) note(t("club.alone"), false);
  return IN_PLAY.includes(name);
}

/** The commands by name; none does anything before there is a game. @type {typeof commands} */
export const actions = Object.assign({}, ...Object.entries(commands).map(([name, command]) => ({
  [name]: (/** @type {[any, any]} */ ...values) => state.game && allowed(name) && /** @type {Function} */ (command)(...values),
})));

// ---- moves ----------------------------------------------------------------------------------------------------------
/** Play a move on the board. @param {string} move */
export async function playMove(move) {
  set({ preview: null });
  if (!playable()) return complain({ code: "wait" });
  if (reviewer.trial) return tryMove(move);
  hideNotice();
  if (state.game.live) return state.game.club.play(move);
  set({ waiting: false });
  await table.play(move);
}

/** Play several moves, one after the other. @param {string[]} moves */
export async function playLine(moves) {
  const { game } = state;
  if (!playable()) return complain({ code: "wait" });
  for (const move of moves) if (state.game === game) await table.play(move);
}

/** Play a move that was typed; whether it was one. @param {string} text */
export function typeMove(text) {
  const moves = Object.keys(state.game.at.view.moves);
  const found = moves.find((move) => move.toLowerCase() === text.toLowerCase());
  if (found && playable()) {
    playMove(found);
    return true;
  }
  complain({ message: t(found ? "problem.wait" : "problem.move", { move: text, moves: moves.join(" ") || "–" }) });
  return false;
}

/** Say why a move cannot be played. @param {{ move: string, reason: string }} refusal */
export function refuseMove({ move, reason }) {
  const words = t(`refused.${reason}`, { move });
  playSound("wrong");
  say(words);
  note(words);
}

function playBest() {
  const best = state.game.at.analysis?.pv[0];
  if (best && settings.engine && playable() && !reviewer.trial) playMove(best);
  else if (!settings.engine) actions.engine();
}

// ---- the tree of moves ----------------------------------------------------------------------------------------------
/** Go to a position of the game. @param {GameNode} node */
export async function step(node) {
  boardElement()?.finish();
  reviewer.trial = null;
  set({ preview: null, waiting: Boolean(state.editor) });
  await table.go(node);
}

/** @param {string} id of a node */
export function jump(id) {
  const node = state.game.find(id);
  if (node) step(node);
}

/** Make a variation the main line. @param {string} id */
export function promote(id) {
  const { game } = state;
  game.promote(/** @type {GameNode} */ (game.find(id)));
  set({ game });
}

/** Delete a variation; a program is not to play it again at once. @param {string} id */
export function remove(id) {
  const { game } = state;
  const people = game.seats.includes(PERSON);
  game.remove(/** @type {GameNode} */ (game.find(id)));
  if (!people) set({ paused: true });
  step(game.programToMove && people ? game.beforeLastTurn() : game.at);
}

/** The next position at which a person has a choice, or the end. @param {Game} game */
function afterTurn(game) {
  let node = game.at;
  while (node.children.length) {
    [node] = node.children;
    const mine = game.seats[node.view?.side ?? 0] === PERSON || !game.seats.includes(PERSON);
    if (mine && node.view && !("pass" in node.view.moves)) break;
  }
  return node;
}

// ---- players --------------------------------------------------------------------------------------------------------
/** @param {number} side @param {string} spec */
function setSeat(side, spec) {
  const { game } = state;
  Object.assign(game, { chosen: true, names: null, seats: game.seats.with(side, spec) });
  set({ paused: false });
  hideNotice();
  step(game.at);
}

function changeSides() {
  const { game } = state;
  Object.assign(game, { names: null, seats: game.seats.toReversed() });
  set({ flipped: game.seats[0] !== PERSON && game.seats[1] === PERSON });
  step(game.at);
}

function resign() {
  const { game } = state;
  const people = game.seats.map((seat) => seat === PERSON);
  const side = people[0] && people[1] ? game.side : people.indexOf(true);
  if (side >= 0 && !game.at.over && !game.at.children.length) table.lose(side, "resigned");
}

// ---- the review -----------------------------------------------------------------------------------------------------
/** @param {string} mark */
function goToMark(mark) {
  const found = reviewer.next(mark, state.game.at.ply);
  if (found) step(found);
  else note(t("review.nomore"), false);
}

/** Let the person try the move of a mistake again. @param {GameNode} node */
export async function tryAgain(node) {
  await step(/** @type {GameNode} */ (node.parent));
  set({ waiting: true });
  reviewer.tryAgain(node);
  showTab("analysis");
  focusBoard();
}

/** @param {string} move */
async function tryMove(move) {
  const before = reviewer.trial?.node.parent;
  if (state.game.at !== before || !(move in before.view.moves)) return;
  const judged = reviewer.judge(state.game, move);
  await table.play(move);
  await judged.catch(complain);
}

/** Play the best move instead of a mistake. @param {GameNode} node */
export async function showAnswer(node) {
  reviewer.giveUp();
  await table.go(/** @type {GameNode} */ (node.parent));
  await playLine(node.judgement?.pv.slice(0, 1) ?? []);
}

/** Leave the second try. */
export const leaveTrial = () => reviewer.trial && step(reviewer.trial.node);

// ---- setting up a position ------------------------------------------------------------------------------------------
/** Open the editor, or close it. @param {State["editor"]} editor */
export function setEditor(editor) {
  set({ editor, waiting: Boolean(editor) });
  table.arrive(false);
}

/** Begin a game from the position in the editor. */
export async function finishEditing() {
  if (state.editor) await useGame(new Game({ game: state.game.game, start: state.editor.format(), seats: [PERSON, PERSON] }));
}

/** Draw a mark, or erase it if it is there. @param {{ from: string, to: string | null }} mark */
export function toggleMark({ from, to }) {
  const others = state.marks.filter((mark) => mark.from !== from || mark.to !== to);
  set({ marks: others.length < state.marks.length ? others : [...state.marks, { from, to, by: "user" }] });
}
