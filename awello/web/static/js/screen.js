/** The middle of the page: the board and what stands round it, drawn from the state of the app. */
import "./othello-board.js";
import "./awale-board.js";
import "./value-graph.js";
import "./game-clock.js";
import { PERSON } from "./game.js";
import { hintsOf } from "./analyst.js";
import { mayShowHints } from "./reviewer.js";
import { h, redraw, still } from "./dom.js";
import { levelsOf } from "./levels.js";
import { settings } from "./settings.js";
import { currentLanguage, t } from "./words.js";

const byId = (id) => document.getElementById(id);

/** The board with its clocks, caption and graph. */
export class Screen {
  constructor(app) {
    this.app = app;
    this.turned = false;
    this.marks = [];
    this.preview = null; // { view, moves } of a line that is looked at
    this.shownNode = null;
  }

  /** The board element of the game's family, made when the family changes. */
  get board() {
    const tag = `${this.app.table.game.family}-board`;
    const box = byId("board-box");
    if (box.firstElementChild?.localName !== tag) {
      const board = document.createElement(tag);
      this.app.hearBoard(board);
      box.replaceChildren(board);
      document.querySelector(".page").dataset.family = this.app.table.game.family;
    }
    return box.firstElementChild;
  }

  draw() {
    const { table, editor } = this.app;
    if (!table.game?.at.view) return;
    this.drawBoard(editor);
    this.drawClocks();
    this.drawCaption();
    this.drawBanner();
    this.drawGraph();
    this.drawControls();
    this.app.club?.bar.draw();
  }

  drawBoard(editor) {
    const { board } = this;
    const { game } = this.app.table;
    const { at } = game;
    const common = { turned: this.turned, label: t(`game.${game.game}`), variant: game.game, speed: settings.speed };
    if (editor) {
      board.config = { ...common, ...editor.board, side: editor.side, moves: {}, editing: true, playable: false };
      return;
    }
    const fresh = at !== this.shownNode && at.parent === this.shownNode && !still();
    const hints = settings.engine && mayShowHints(this.app.reviewer) ? hintsOf(at.analysis) : null;
    board.config = {
      ...common, ...at.view.board, ...lastMove(at), ...this.ghost(), hints, side: at.view.side, moves: at.view.moves,
      refused: at.view.refused, playable: this.app.playable, marks: this.allMarks(at), animate: fresh,
    };
    this.shownNode = at;
  }

  ghost() {
    if (!this.preview) return { preview: null };
    return { preview: { ...this.preview.view.board, moves: this.preview.moves } };
  }

  allMarks(at) {
    const line = settings.engine && settings.arrows && mayShowHints(this.app.reviewer) ? at.analysis?.line ?? [] : [];
    const best = line.find((move) => move !== "pass");
    return [...this.marks, ...(best ? [{ from: best, to: null, by: "engine" }] : [])];
  }

  drawClocks() {
    const { table } = this.app;
    const { game } = table;
    const { at } = game;
    const bottom = this.turned ? 1 : 0;
    for (const [id, side] of [["clock-bottom", bottom], ["clock-top", 1 - bottom]]) {
      const moving = at.view.side === side && !at.over;
      const running = moving && table.clockRuns();
      byId(id).config = {
        side, family: game.family, name: t(`side.${game.family}.${side}`), player: game.names?.[side] ?? playerName(game.seats[side], game.family),
        seconds: at.left ? at.left[side] : null, running, since: table.since, used: timeUsed(at, side), ...game.club?.clock(side),
        holding: at.view.holdings[side], unit: game.rules.unit,
        thinking: moving && table.thinking, winner: winnerOf(at) === side,
      };
    }
  }

  drawCaption() {
    const { game } = this.app.table;
    const more = this.app.editor ? [] : [openingOf(game)?.[currentLanguage()], this.worthWords()];
    const words = [this.turnWords(), ...more];
    byId("caption").replaceChildren(...words.filter(Boolean).map((word) => h("span", {}, word)));
  }

  turnWords() {
    const { table, editor, reviewer } = this.app;
    const { game } = table;
    const { at } = game;
    const mover = t(`side.${game.family}.${at.view.side}`);
    if (editor) return t("caption.editing");
    if (reviewer.trial) return t("caption.trial", { side: mover });
    if (at.over) return resultWords(game);
    if ("pass" in at.view.moves) return t("caption.pass", { side: mover });
    if (game.club?.mayMove(at)) return t("club.turn", { side: mover });
    return t(table.thinking ? "caption.thinking" : "caption.turn", { side: mover });
  }

  worthWords() {
    const { game } = this.app.table;
    const { at } = game;
    if (!settings.engine || !mayShowHints(this.app.reviewer) || at.over || !at.analysis) return "";
    return this.app.valueWords(at.worth, at.analysis.depth);
  }

  drawBanner() {
    const { table } = this.app;
    const banner = byId("banner");
    const shown = table.game.at.over && !this.app.editor && !table.game.at.children.length;
    banner.hidden = !shown;
    const kept = keptWords(table.game);
    const ended = table.game.club?.end === table.game.at ? this.app.club.bar.ending(table.game.club) : null;
    const state = table.game.at.id + currentLanguage() + kept + (ended?.state ?? "");
    if (!shown || banner.dataset.state === state) return;
    banner.dataset.state = state;
    if (ended) return redraw(banner, h("strong", {}, resultWords(table.game)), ...ended.parts());
    redraw(
      banner,
      h("strong", {}, resultWords(table.game)),
      h("button", { id: "banner-review", class: "primary", onclick: () => this.app.actions.review() }, t("review.begin")),
      h("button", { id: "banner-new", onclick: () => this.app.actions.newGame() }, t("control.new")),
      h("button", { id: "banner-again", onclick: () => this.app.actions.rematch() }, t("control.rematch")),
      kept && h("small", { id: "kept" }, kept),
      kept && table.game.begun && h("button", { id: "choose-keeping", class: "plain", onclick: () => this.app.actions.chooseKeeping() }, t("tab.settings")),
    );
  }

  drawGraph() {
    const { game } = this.app.table;
    const points = game.line.map((node) => ({
      ply: node.ply, ...valuesOf(node), side: node.parent?.view?.side ?? 0, name: node.move,
    }));
    byId("graph").config = {
      points, at: game.at.ply, length: game.family === "othello" ? game.rules.points - 4 : 60, most: game.rules.points,
      sides: [0, 1].map((side) => t(`side.${game.family}.${side}`)), unit: game.rules.unit,
    };
  }

  drawControls() {
    const { table } = this.app;
    const { at } = table.game;
    for (const id of ["to-first", "to-back", "undo"]) byId(id).disabled = !at.parent;
    for (const id of ["to-forward", "to-last", "redo"]) byId(id).disabled = !at.children.length;
    byId("engine").ariaPressed = String(settings.engine);
    byId("hints").ariaPressed = String(settings.hints);
    for (const id of ["new-game", "game-picker"]) byId(id).disabled = this.app.helpless;
  }
}

/** What the engine says of a node and of the move that led there, unless all values are hidden. */
export function valuesOf(node) {
  if (!settings.hints) return { value: null, exact: false, loss: null, mark: "" };
  return { value: node.worth?.value ?? null, exact: node.worth?.exact ?? false, loss: node.loss, mark: node.judgement?.mark ?? "" };
}

/** What the move that led to a node did to the board. */
function lastMove(node) {
  const effect = node.parent?.view?.moves[node.move];
  if (!effect || node.move === "pass") return { last: null, flipped: [], sowing: null };
  if (effect.flips) return { last: node.move, flipped: effect.flips };
  const { pits, taken } = node.parent.view.board;
  return { last: node.move, sowing: { from: node.move, ...effect }, before: pits, takenBefore: taken };
}

function timeUsed(node, side) {
  return node.path.reduce((sum, here) => sum + (here.parent?.view?.side === side ? here.seconds ?? 0 : 0), 0);
}

/** The side that has won at a node, or null. */
function winnerOf(node) {
  if (node.result) return node.result.loser === null ? null : 1 - node.result.loser;
  return node.view?.over ? node.view.winner : null;
}

/** The name of the opening: that of the last position that has one. */
export const openingOf = (game) => game.at.path.findLast((node) => node.view?.opening)?.view.opening;

/** Whether the game that ended here is in the archive, in a line. */
function keptWords({ kept, at }) {
  if (!kept || kept.moves !== at.moves.join(" ")) return "";
  if (kept.number) return t("archive.kept", { number: kept.number });
  return kept.problem ? t("archive.notkept", { problem: kept.problem }) : "";
}

/** How the game ended, in a line. */
export function resultWords(game) {
  const { at } = game;
  const name = (side) => t(`side.${game.family}.${side}`);
  const winner = winnerOf(at);
  if (at.result?.loser === null) return t(`result.${at.result.reason}`);
  if (at.result) return t(`result.${at.result.reason}`, { winner: name(winner), loser: name(at.result.loser) });
  const [first, second] = at.view.score;
  const scores = { most: Math.max(first, second), least: Math.min(first, second) };
  const why = at.view.ending ? ` (${t(`ending.${at.view.ending}`, { mover: name(at.view.side) })})` : "";
  return (winner === null ? t("result.draw", scores) : t("result.win", { winner: name(winner), ...scores })) + why;
}

/** A player as people call them. */
export function playerName(seat, family) {
  if (seat === PERSON) return t("player.person");
  const level = levelsOf(family).indexOf(seat);
  return level < 0 ? seat : t(`level.${level + 1}`);
}
