/** The middle of the page: the board and what stands round it, drawn from the state. */
import "./othello-board.js";
import "./awale-board.js";
import "./value-graph.js";
import "./game-clock.js";
import { actions } from "./actions.js";
import { hintsOf } from "./analyst.js";
import { boardElement, byId, h, redraw, reducedMotion } from "./dom.js";
import { openingOf, playerName, resultWords, sideName, valuesOf, valueWords, winnerOf } from "./game-words.js";
import { mayShowHints } from "./reviewer.js";
import { reviewer } from "./services.js";
import { settings } from "./settings.js";
import { state } from "./store.js";
import { clockRuns, inRatedGame, playable } from "./table.js";
import { currentLanguage, t } from "./words.js";

/** What the board and its surroundings show. @type {Topic[]} */
export const SHOWS = [
  "game", "paused", "waiting", "thinking", "answered", "since", "editor", "flipped", "marks", "preview", "analysis",
  "review", "settings", "archive", "club",
];

/** @type {GameNode | null} */
let shownNode = null; // on the board before

/** Draw the board with its clocks, caption, banner and graph. */
export function drawScreen() {
  const { game } = state;
  if (!game?.at.view) return;
  drawBoard(game);
  drawClocks(game);
  drawCaption(game);
  drawBanner(game);
  drawGraph(game);
  drawControls(game);
}

/** The board of the game's family, made when the family changes. @param {Game} game */
function boardOf({ family }) {
  const tag = `${family}-board`;
  if (boardElement()?.localName !== tag) {
    byId("board-box").replaceChildren(document.createElement(tag));
    /** @type {HTMLElement} */ (document.querySelector(".page")).dataset.family = family;
  }
  return /** @type {Configured} */ (boardElement());
}

/** @param {Game} game */
function drawBoard(game) {
  const board = boardOf(game);
  const { at } = game;
  const { editor, preview } = state;
  const common = { turned: state.flipped, label: t(`game.${game.game}`), variant: game.game, speed: settings.speed };
  if (editor) {
    board.config = { ...common, ...editor.board, side: editor.side, moves: {}, editing: true, playable: false };
    return;
  }
  const fresh = at !== shownNode && at.parent === shownNode && !reducedMotion();
  board.config = {
    ...common, ...at.view.board, ...lastMove(at), preview: preview && { ...preview.view.board, moves: preview.moves },
    hints: showsValues() ? hintsOf(at.analysis) : null, side: at.view.side, moves: at.view.moves, refused: at.view.refused,
    playable: playable(), marks: allMarks(at), animate: fresh,
  };
  shownNode = at;
}

/** Whether values of the engine are shown. */
const showsValues = () => settings.engine && mayShowHints(reviewer);

/** The marks of the user, and that of the engine. @param {GameNode} at */
function allMarks(at) {
  const line = showsValues() && settings.arrows ? at.analysis?.pv ?? [] : [];
  const best = line.find((move) => move !== "pass");
  return best ? [...state.marks, { from: best, to: null, by: "engine" }] : state.marks;
}

/** @param {Game} game */
function drawClocks(game) {
  const { at, family, seats, names, club } = game;
  const bottom = state.flipped ? 1 : 0;
  for (const side of [0, 1]) {
    const moving = at.view.side === side && !at.over;
    byId(side === bottom ? "clock-bottom" : "clock-top").config = {
      side, family, name: sideName(family, side), player: names?.[side] ?? playerName(seats[side], game.rules),
      seconds: at.left ? at.left[side] : null, running: moving && clockRuns(), since: state.since, used: timeUsed(at, side), .../** @type {Partial<ClockConfig> | undefined} */ (club?.clock(side)),
      holding: at.view.counts[side], unit: game.rules.unit, thinking: moving && state.thinking, winner: winnerOf(at) === side,
    };
  }
}

/** @param {Game} game */
function drawCaption(game) {
  const worth = showsValues() && !game.at.over && valueWords(game);
  const more = state.editor ? [] : [openingOf(game)?.[currentLanguage()], worth];
  byId("caption").replaceChildren(...[turnWords(game), ...more].filter(Boolean).map((words) => h("span", {}, words)));
}

/** @param {Game} game */
function turnWords(game) {
  const { at } = game;
  const side = sideName(game.family, at.view.side);
  if (state.editor) return t("caption.editing");
  if (reviewer.trial) return t("caption.trial", { side });
  if (at.over) return resultWords(game);
  if ("pass" in at.view.moves) return t("caption.pass", { side });
  if (game.club?.mayMove(at)) return t("club.turn", { side });
  return t(state.thinking ? "caption.thinking" : "caption.turn", { side });
}

/** @param {Game} game */
function drawBanner(game) {
  const { at, club, begun } = game;
  const banner = byId("banner");
  const shown = at.over && !state.editor && !at.children.length;
  banner.hidden = !shown;
  const kept = keptWords(game);
  const ended = club?.end === at ? state.club?.bar.ending(club) : null;
  const drawn = at.id + currentLanguage() + kept + (ended?.state ?? "");
  if (!shown || banner.dataset.state === drawn) return;
  banner.dataset.state = drawn;
  const parts = ended?.parts() ?? [
    h("button", { id: "banner-review", class: "primary", onclick: () => actions.review() }, t("review.begin")),
    h("button", { id: "banner-new", onclick: () => actions.newGame() }, t("control.new")),
    h("button", { id: "banner-again", onclick: () => actions.rematch() }, t("control.rematch")),
    kept && h("small", { id: "kept" }, kept),
    kept && begun && h("button", { id: "choose-keeping", class: "plain", onclick: () => actions.chooseKeeping() }, t("tab.settings")),
  ];
  redraw(banner, h("strong", {}, resultWords(game)), ...parts);
}

/** @param {Game} game */
function drawGraph({ rules, family, line, at }) {
  const points = line.map((node) => ({ ply: node.ply, ...valuesOf(node), side: node.parent?.view?.side ?? 0, name: node.move }));
  byId("graph").config = {
    points, at: at.ply, length: family === "othello" ? rules.points - 4 : 60, most: rules.points,
    sides: [0, 1].map((side) => sideName(family, side)), unit: rules.unit,
  };
}

/** @param {Game} game */
function drawControls({ game, at }) {
  for (const id of ["to-first", "to-back", "undo"]) byId(id).disabled = !at.parent;
  for (const id of ["to-forward", "to-last", "redo"]) byId(id).disabled = !at.children.length;
  byId("engine").ariaPressed = String(settings.engine);
  byId("hints").ariaPressed = String(settings.hints);
  byId("game-picker").value = game;
  for (const id of ["new-game", "game-picker"]) byId(id).disabled = inRatedGame();
}

/** What the move that led to a node did to the board. @param {GameNode} node */
function lastMove(node) {
  const effect = node.parent?.view?.moves[node.move];
  if (!node.parent || !effect || node.move === "pass") return { last: null, flipped: [], sowing: null };
  if (effect.flips) return { last: node.move, flipped: effect.flips };
  const { pits, taken } = /** @type {AwalePosition} */ (node.parent.view.board);
  return { last: node.move, sowing: { from: node.move, ...effect }, before: pits, takenBefore: taken };
}

/** @param {GameNode} node @param {number} side */
function timeUsed(node, side) {
  return node.path.reduce((sum, here) => sum + (here.parent?.view?.side === side ? here.seconds ?? 0 : 0), 0);
}

/** Whether the game that ended here is in the archive, in a line. @param {Game} game */
function keptWords({ kept, at }) {
  if (!kept || kept.moves !== at.moves.join(" ")) return "";
  if (kept.number) return t("archive.kept", { number: kept.number });
  return kept.problem ? t("archive.notkept", { problem: kept.problem }) : "";
}
