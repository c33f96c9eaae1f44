/** The board with its clocks, caption, banner, graph and controls, drawn from the state. */
import "./othello-board.js";
import "./awale-board.js";
import "./value-graph.js";
import "./game-clock.js";
import { actions } from "./actions.js";
import { toHints } from "./analyst.js";
import { boardElement, byId, h, reducedMotion, replaceContent } from "./dom.js";
import { findOpening, findWinner, formatEvaluation, formatResult, nodeValues, playerLabel, sideName, sideSubject, sideTurn } from "./game-text.js";
import { isBoardPlayable, isClockRunning, isPlayingInClub } from "./gameplay.js";
import { currentLanguage, t } from "./i18n.js";
import { canShowHints } from "./reviewer.js";
import { reviewer } from "./services.js";
import { settings } from "./settings.js";
import { state } from "./store.js";

/** Changes after which the board area is redrawn. @type {Topic[]} */
export const BOARD_AREA_TOPICS = [
  "game", "paused", "suspended", "thinking", "replyReady", "turnStart", "editor", "flipped", "marks", "preview", "analysis",
  "review", "settings", "archive", "club",
];

/** @type {GameNode | null} */
let shownNode = null; // the node on the board in the previous drawing

/** Draw the board with everything around it. */
export function drawBoardArea() {
  const { game } = state;
  if (!game?.current.position) return;
  drawBoard(game);
  drawClocks(game);
  drawCaption(game);
  drawBanner(game);
  drawGraph(game);
  drawControls(game);
}

/** The board element of the game's family, created when the family changes. @param {Game} game */
function ensureBoard({ family }) {
  const tag = `${family}-board`;
  if (boardElement()?.localName !== tag) {
    byId("board-box").replaceChildren(document.createElement(tag));
    /** @type {HTMLElement} */ (document.querySelector(".page")).dataset.family = family;
  }
  return /** @type {Configured} */ (boardElement());
}

/** @param {Game} game */
function drawBoard(game) {
  const board = ensureBoard(game);
  const { current } = game;
  const { editor, preview } = state;
  const common = { rotated: state.flipped, label: t(`game.${game.variant}`), variant: game.variant, sowingDelayMs: settings.sowingDelayMs };
  if (editor) {
    board.config = { ...common, ...editor.board, side: editor.side, moves: {}, editing: true, playable: false };
    return;
  }
  const isNew = current !== shownNode && current.parent === shownNode && !reducedMotion();
  board.config = {
    ...common, ...current.position.board, ...lastMove(current), preview: preview && { ...preview.position.board, moves: preview.moves },
    hints: areHintsVisible() ? toHints(current.analysis) : null, side: current.position.side, moves: current.position.moves,
    illegalPits: current.position.illegal_pits,
    playable: isBoardPlayable(), marks: allMarks(current), animate: isNew,
  };
  shownNode = current;
}

/** Whether engine values are visible. */
const areHintsVisible = () => settings.engine && canShowHints(reviewer);

/** The user's marks and the engine's mark. @param {GameNode} current */
function allMarks(current) {
  const line = areHintsVisible() && settings.engineMark ? current.analysis?.pv ?? [] : [];
  const best = line.find((move) => move !== "pass");
  return best ? [...state.marks, { from: best, to: null, by: "engine" }] : state.marks;
}

/** @param {Game} game */
function drawClocks(game) {
  const { current, family, clubGame } = game;
  const bottom = state.flipped ? 1 : 0;
  for (const side of [0, 1]) {
    const moving = current.position.side === side && !current.over;
    byId(side === bottom ? "clock-bottom" : "clock-top").config = {
      side, family, name: sideName(family, side), player: playerLabel(game, side),
      seconds: current.clocks ? current.clocks[side] : null, running: moving && isClockRunning(), startedAt: state.turnStart, used: timeUsed(current, side), .../** @type {Partial<ClockConfig> | undefined} */ (clubGame?.clock(side)),
      count: current.position.counts[side], unit: game.rules.unit, thinking: moving && state.thinking, winner: findWinner(current) === side,
    };
  }
}

/** @param {Game} game */
function drawCaption(game) {
  const evaluation = areHintsVisible() && !game.current.over && formatEvaluation(game);
  const more = state.editor ? [] : [findOpening(game)?.[currentLanguage()], evaluation];
  byId("caption").replaceChildren(...[formatCaption(game), ...more].filter(Boolean).map((text) => h("span", {}, text)));
}

/** @param {Game} game */
function formatCaption(game) {
  const { current, family } = game;
  const { side } = current.position;
  const subject = { side: sideSubject(family, side) };
  if (state.editor) return t("caption.editing");
  if (reviewer.retry) return t("caption.retry", { side: sideName(family, side) });
  if (current.over) return formatResult(game);
  if ("pass" in current.position.moves) return t(`caption.pass.${family}`, subject);
  if (game.clubGame?.mayMove(current)) return t("club.turn", { side: sideName(family, side) });
  return state.thinking ? t(`caption.thinking.${family}`, subject) : sideTurn(family, side);
}

/** @param {Game} game */
function drawBanner(game) {
  const { current, clubGame, started, family } = game;
  const banner = byId("banner");
  const shown = current.over && !state.editor && !current.children.length;
  banner.hidden = !shown;
  const saved = formatSaveStatus(game);
  const ended = clubGame?.endNode === current ? state.club?.bar.prepareBanner(clubGame) : null;
  const drawn = current.id + currentLanguage() + saved + (ended?.key ?? "");
  if (!shown || banner.dataset.state === drawn) return;
  banner.dataset.state = drawn;
  const parts = ended?.render() ?? [
    h("button", { id: "banner-review", class: "primary", onclick: () => actions.reviewGame() }, t("review.begin")),
    h("button", { id: "banner-new", onclick: () => actions.startNewGame() }, t("control.new")),
    h("button", { id: "banner-rematch", onclick: () => actions.startRematch() }, t(`control.rematch.${family}`)),
    saved && h("small", { id: "save-status" }, saved),
    saved && started && h("button", { id: "open-archive-settings", class: "plain", onclick: () => actions.openArchiveSettings() }, t("tab.settings")),
  ];
  replaceContent(banner, h("strong", {}, formatResult(game)), ...parts);
}

/** @param {Game} game */
function drawGraph({ rules, family, line, current }) {
  const points = line.map((node) => ({ ply: node.ply, ...nodeValues(node), side: node.parent?.position?.side ?? 0, name: node.move }));
  byId("graph").config = {
    points, current: current.ply, length: family === "othello" ? rules.max_score - 4 : 60, maxValue: rules.max_score,
    sides: [0, 1].map((side) => sideName(family, side)), unit: rules.unit,
  };
}

/** @param {Game} game */
function drawControls({ variant, current }) {
  for (const id of ["to-first", "to-back", "undo"]) byId(id).disabled = !current.parent;
  for (const id of ["to-forward", "to-last", "redo"]) byId(id).disabled = !current.children.length;
  byId("engine").ariaPressed = String(settings.engine);
  byId("hints").ariaPressed = String(settings.hints);
  byId("game-picker").value = variant;
  for (const id of ["new-game", "game-picker"]) byId(id).disabled = isPlayingInClub();
}

/** The effect of the last move on the board. @param {GameNode} node */
function lastMove(node) {
  const effect = node.parent?.position?.moves[node.move];
  if (!node.parent || !effect || node.move === "pass") return { last: null, flipped: [], sowing: null };
  if (effect.flips) return { last: node.move, flipped: effect.flips };
  const { pits, captured } = /** @type {AwalePosition} */ (node.parent.position.board);
  return { last: node.move, sowing: { from: node.move, ...effect }, before: pits, capturedBefore: captured };
}

/** @param {GameNode} node @param {number} side */
function timeUsed(node, side) {
  return node.path.reduce((sum, each) => sum + (each.parent?.position?.side === side ? each.seconds ?? 0 : 0), 0);
}

/** Whether the finished game was saved, as text. @param {Game} game */
function formatSaveStatus({ saved, current }) {
  if (!saved || saved.moves !== current.moves.join(" ")) return "";
  if (saved.number) return t("archive.saved", { number: saved.number });
  return saved.error ? t("archive.unsaved", { error: saved.error }) : "";
}
