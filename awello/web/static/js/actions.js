/** The commands on the game on the board: every shortcut and button calls one of these actions. */
import { boardElement, byId, focusBoard } from "./dom.js";
import { Game, HUMAN } from "./game.js";
import * as gameplay from "./gameplay.js";
import { isBoardPlayable, isPlayingInClub } from "./gameplay.js";
import { showHelp } from "./help.js";
import { t } from "./i18n.js";
import { parseClock } from "./link.js";
import { openGame, startGame } from "./navigation.js";
import { announce, hideNotice, showError, showNotice } from "./notices.js";
import { MARKS } from "./reviewer.js";
import { reviewer } from "./services.js";
import { saveSetting, settings } from "./settings.js";
import { playSound } from "./sounds.js";
import { setState, state } from "./store.js";
import { showTab } from "./tabs.js";

/** The only commands available while the user plays in the club. */
const ALLOWED_IN_CLUB_GAME = ["goBack", "goForward", "goToStart", "goToEnd", "flipBoard", "focusBoard", "focusMoveInput", "clearMarks", "openHelp"];
/** Commands that are not available in any live club game, even to spectators. */
const DISABLED_IN_CLUB_GAME = ["swapSides", "togglePause", "resign", "setPlayer"];

const commands = {
  goBack: () => state.game.current.parent && goToNode(state.game.current.parent),
  goForward: () => state.game.current.children.length && goToNode(state.game.current.children[0]),
  goToStart: () => goToNode(state.game.root),
  goToEnd: () => goToNode(state.game.current.tip),
  undo: () => goToNode(state.game.findUndoTarget()),
  redo: () => goToNode(findRedoTarget(state.game)),
  startNewGame: () => startGame(state.game.variant),
  startRematch: () => startGame(state.game.variant, { players: state.game.players.toReversed() }),
  swapSides,
  togglePause: () => gameplay.setPaused(!state.paused),
  resign,
  flipBoard: () => setState({ flipped: !state.flipped }),
  toggleEngine: () => saveSetting("engine", !settings.engine),
  toggleHints: () => saveSetting("hints", !settings.hints),
  toggleEngineMark: () => saveSetting("engineMark", !settings.engineMark),
  playBestMove,
  reviewGame: () => {
    showTab("analysis");
    reviewer.start(state.game);
  },
  openExplorer: () => showTab("games"),
  openArchiveSettings: () => {
    showTab("settings");
    byId("setting-saveGames").focus();
  },
  goToBlunder: () => goToNextMark(MARKS.blunder),
  goToMistake: () => goToNextMark(MARKS.mistake),
  goToInaccuracy: () => goToNextMark(MARKS.inaccuracy),
  focusBoard,
  focusMoveInput: () => {
    showTab("play");
    byId("typed-move").focus();
  },
  clearMarks: () => setState({ marks: [] }),
  openHelp: () => showHelp(state.game.family),
  setPlayer,
  setClock: (/** @type {string} */ text) => startGame(state.game.variant, { clock: parseClock(text) }),
};

/** @param {string} name */
function isAllowed(name) {
  if (!isPlayingInClub()) return !(state.game.live && DISABLED_IN_CLUB_GAME.includes(name));
  if (!ALLOWED_IN_CLUB_GAME.includes(name)) showNotice(t(state.game.clubGame.state.rated ? "club.analysis.off" : "club.analysis.off.unrated"), false);
  return ALLOWED_IN_CLUB_GAME.includes(name);
}

/** The commands by name; they do nothing until a game is loaded. @type {typeof commands} */
export const actions = Object.assign({}, ...Object.entries(commands).map(([name, command]) => ({
  [name]: (/** @type {[any, any]} */ ...values) => state.game && isAllowed(name) && /** @type {Function} */ (command)(...values),
})));

// ---- moves ----------------------------------------------------------------------------------------------------------
/** Play the user's move: on the board, in the club game, or as the attempt of a retry. @param {string} move */
export async function playMove(move) {
  setState({ preview: null });
  if (!isBoardPlayable()) return showError({ code: "wait" });
  if (reviewer.retry) return submitRetry(move);
  hideNotice();
  if (state.game.live) return state.game.clubGame.play(move);
  setState({ suspended: false });
  await gameplay.playHumanMove(move);
}

/** Play several moves in a row. @param {string[]} moves */
export async function playLine(moves) {
  const { game } = state;
  if (!isBoardPlayable()) return showError({ code: "wait" });
  for (const move of moves) if (state.game === game) await gameplay.playHumanMove(move);
}

/** Play a typed move; returns whether it was accepted. @param {string} text */
export function typeMove(text) {
  const moves = Object.keys(state.game.current.position.moves);
  const move = moves.find((name) => name.toLowerCase() === text.toLowerCase());
  if (move && isBoardPlayable()) {
    playMove(move);
    return true;
  }
  showNotice(t(move ? "error.wait" : "error.move", { move: text, moves: moves.join(" ") || "–" }));
  return false;
}

/** Explain why a move cannot be played. @param {{ move: string, reason: string }} refusal */
export function refuseMove({ move, reason }) {
  const message = t(`illegal.${reason}`, { move });
  playSound("wrong");
  announce(message);
  showNotice(message);
}

function playBestMove() {
  const best = state.game.current.analysis?.pv[0];
  if (best && settings.engine && isBoardPlayable() && !reviewer.retry) playMove(best);
  else if (!settings.engine) actions.toggleEngine();
}

// ---- the tree of moves ----------------------------------------------------------------------------------------------
/** Go to a position of the game. @param {GameNode} node */
export async function goToNode(node) {
  boardElement()?.finishAnimation();
  reviewer.retry = null;
  setState({ preview: null, suspended: Boolean(state.editor) });
  await gameplay.goTo(node);
}

/** @param {string} id of a node */
export function goToNodeId(id) {
  const node = state.game.find(id);
  if (node) goToNode(node);
}

/** Make a variation the main line. @param {string} id */
export function promoteVariation(id) {
  const { game } = state;
  game.promote(/** @type {GameNode} */ (game.find(id)));
  setState({ game });
}

/** Delete a variation, and go to where no bot replays it immediately. @param {string} id */
export function deleteVariation(id) {
  const { game } = state;
  const people = game.players.includes(HUMAN);
  game.remove(/** @type {GameNode} */ (game.find(id)));
  if (!people) setState({ paused: true });
  goToNode(game.botToMove && people ? game.findUndoTarget() : game.current);
}

/** The next position in which a human player is to choose a move, or the end of the line. @param {Game} game */
function findRedoTarget(game) {
  let node = game.current;
  while (node.children.length) {
    [node] = node.children;
    const mine = game.players[node.position?.side ?? 0] === HUMAN || !game.players.includes(HUMAN);
    if (mine && node.position && !("pass" in node.position.moves)) break;
  }
  return node;
}

// ---- players --------------------------------------------------------------------------------------------------------
/** @param {number} side @param {string} spec */
function setPlayer(side, spec) {
  const { game } = state;
  Object.assign(game, { keepPlayers: true, playerNames: null, players: game.players.with(side, spec) });
  setState({ paused: false });
  hideNotice();
  goToNode(game.current);
}

function swapSides() {
  const { game } = state;
  Object.assign(game, { playerNames: null, players: game.players.toReversed() });
  setState({ flipped: game.players[0] !== HUMAN && game.players[1] === HUMAN });
  goToNode(game.current);
}

function resign() {
  const { game } = state;
  const people = game.players.map((player) => player === HUMAN);
  const side = people[0] && people[1] ? game.side : people.indexOf(true);
  if (side >= 0 && !game.current.over && !game.current.children.length) gameplay.endGame(side, "resigned");
}

// ---- the review -----------------------------------------------------------------------------------------------------
/** @param {string} mark */
function goToNextMark(mark) {
  const node = reviewer.findNextWithMark(mark, state.game.current.ply);
  if (node) goToNode(node);
  else showNotice(t("review.no-other"), false);
}

/** Let the user retry the move of a mistake. @param {GameNode} node */
export async function retryMistake(node) {
  await goToNode(/** @type {GameNode} */ (node.parent));
  setState({ suspended: true });
  reviewer.startRetry(node);
  showTab("analysis");
  focusBoard();
}

/** @param {string} move */
async function submitRetry(move) {
  const before = reviewer.retry?.node.parent;
  if (state.game.current !== before || !(move in before.position.moves)) return;
  const evaluated = reviewer.evaluateRetry(state.game, move);
  await gameplay.playHumanMove(move);
  await evaluated.catch(showError);
}

/** Play the best move instead of the mistake. @param {GameNode} node */
export async function showAnswer(node) {
  reviewer.leaveRetry();
  await gameplay.goTo(/** @type {GameNode} */ (node.parent));
  await playLine(node.review?.pv.slice(0, 1) ?? []);
}

/** Leave the retry. */
export const leaveRetry = () => reviewer.retry && goToNode(reviewer.retry.node);

// ---- setting up a position ------------------------------------------------------------------------------------------
/** Open or close the position editor. @param {State["editor"]} editor */
export function setEditor(editor) {
  setState({ editor, suspended: Boolean(editor) });
  gameplay.enterPosition(false);
}

/** Start a game from the edited position. */
export async function finishEditing() {
  if (state.editor) await openGame(new Game({ variant: state.game.variant, start: state.editor.format(), players: [HUMAN, HUMAN] }));
}

/** Draw a mark, or erase it if it exists. @param {{ from: string, to: string | null }} mark */
export function toggleMark({ from, to }) {
  const others = state.marks.filter((mark) => mark.from !== from || mark.to !== to);
  setState({ marks: others.length < state.marks.length ? others : [...state.marks, { from, to, by: "user" }] });
}
