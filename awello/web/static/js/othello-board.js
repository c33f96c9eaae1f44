/**
 * <othello-board>: a board of any size.
 *
 * Each square is a group of nodes; classes control which of them are visible. The style sheet thus defines the
 * appearance, and a new configuration only changes classes and texts.
 */
import { Board, buildHint, describeHint, drawHint, isMotionEnabled } from "./board.js";
import { appendSvg, setAttribute, setText } from "./dom.js";
import { t } from "./i18n.js";

const CELL = 100;
const FRAME = 32; // space for the coordinates, left and above
const BORDER = 8; // frame on the other two sides
const FLIP_MS = 150; // to flip one disc
const FLIP_DELAY_MS = 25; // per square of distance: the sixth disc ends after 275 ms
const LETTERS = "abcdefgh";
const STARS = [[2, 2], [2, 6], [6, 2], [6, 6]]; // the dots of a board of 8
/** @type {Record<string, string>} */
const COLOURS = { X: "black", O: "white" };

class OthelloBoard extends Board {
  static title = "othello.board";
  static defaults = { size: 8, side: 0, moves: {}, flipped: [], hints: null, preview: null, marks: [], last: null };

  /** @type {{ group: Element, disc: Element, number: Element, hint: HintNodes }[]} */
  squares = [];

  layoutKey() {
    return `${this.config.size} ${Boolean(this.config.rotated)}`;
  }

  /** The column and row of a square as displayed; a rotated board counts from the other corner. @param {number} index */
  #place(index) {
    const { size, rotated } = this.config;
    const seen = rotated ? size * size - 1 - index : index;
    return [seen % size, Math.floor(seen / size)];
  }

  /** @param {number} index */
  #name(index) {
    const { size } = this.config;
    return LETTERS[index % size] + (Math.floor(index / size) + 1);
  }

  /** @param {string} name */
  #index(name) {
    return LETTERS.indexOf(name[0]) + (Number(name.slice(1)) - 1) * this.config.size;
  }

  /** @param {string} name */
  centre(name) {
    const [x, y] = this.#place(this.#index(name));
    return [FRAME + (x + 0.5) * CELL, FRAME + (y + 0.5) * CELL];
  }

  layout() {
    const { size, rotated } = this.config;
    const side = FRAME + size * CELL + BORDER;
    const all = [...Array(size * size).keys()].map((index) => this.#name(index));
    if (rotated) all.reverse();
    /** @param {string} name @param {number} x */
    const cell = (name, x) => ({ name, left: FRAME + x * CELL, size: CELL });
    /** @param {number} y */
    const row = (y) => ({ top: FRAME + y * CELL, size: CELL, cells: all.slice(y * size, (y + 1) * size).map(cell) });
    const rows = [...Array(size).keys()].map(row);
    return { width: side, height: side, rows };
  }

  /** @param {Element} svg */
  build(svg) {
    const { size } = this.config;
    const side = FRAME + size * CELL + BORDER;
    appendSvg(svg, "rect", { class: "othello-frame", width: side, height: side, rx: 14 });
    appendSvg(svg, "rect", { class: "othello-felt", x: FRAME, y: FRAME, width: size * CELL, height: size * CELL });
    this.#buildLines(svg, size);
    this.squares = [...Array(size * size).keys()].map((index) => this.#buildSquare(svg, index));
  }

  /** @param {Element} svg @param {number} size */
  #buildLines(svg, size) {
    const end = FRAME + size * CELL;
    const steps = [...Array(size + 1).keys()].map((step) => FRAME + step * CELL);
    const lines = steps.map((at) => `M${at} ${FRAME}V${end}M${FRAME} ${at}H${end}`);
    appendSvg(svg, "path", { class: "othello-lines", d: lines.join("") });
    for (const [x, y] of size === 8 ? STARS : []) {
      appendSvg(svg, "circle", { class: "othello-star", cx: steps[x], cy: steps[y], r: 6 });
    }
    for (let line = 0; line < size; line += 1) {
      const seen = this.config.rotated ? size - 1 - line : line;
      const at = FRAME + (seen + 0.5) * CELL;
      appendSvg(svg, "text", { class: "othello-coordinate", x: at, y: FRAME / 2 }).textContent = LETTERS[line];
      appendSvg(svg, "text", { class: "othello-coordinate", x: FRAME / 2, y: at }).textContent = String(line + 1);
    }
  }

  /** @param {Element} svg @param {number} index */
  #buildSquare(svg, index) {
    const [x, y] = this.centre(this.#name(index));
    const group = appendSvg(svg, "g", { class: "othello-square", transform: `translate(${x} ${y})` });
    appendSvg(group, "circle", { class: "othello-dot", r: 9 });
    const disc = appendSvg(group, "g", { class: "othello-disc" });
    appendSvg(disc, "circle", { class: "othello-shadow", cx: 1, cy: 4, r: 43 });
    appendSvg(disc, "circle", { class: "othello-face", r: 42 });
    appendSvg(disc, "circle", { class: "othello-inset", r: 33 });
    appendSvg(group, "circle", { class: "othello-would-flip", r: 15 });
    appendSvg(group, "circle", { class: "othello-last", r: 13 });
    const number = appendSvg(group, "text", { class: "othello-number", y: 1 });
    return { group, disc, number, hint: buildHint(group, 92) };
  }

  /** @param {BoardConfig | null} before */
  update(before) {
    const now = this.config;
    if (!before || (before.cells === now.cells && before.size === now.size && before.rotated === now.rotated)) return;
    this.finishAnimation();
    const played = now.animate && now.last && before.size === now.size && before.cells[this.#index(now.last)] === "-";
    /** @param {string} name */
    const changed = (name) => before.cells[this.#index(name)] !== now.cells[this.#index(name)];
    if (played) this.#animateFlips(now.flipped.filter(changed));
  }

  /** Flip discs outward from the played square, nearest first. @param {string[]} names */
  #animateFlips(names) {
    const moving = isMotionEnabled() ? names : [];
    const animations = moving.map((name) => this.#flipDisc(this.#index(name)));
    const timer = setTimeout(() => this.finishAnimation(), moving.length ? FLIP_MS + FLIP_DELAY_MS * 5 : 0);
    this.startAnimation(() => {
      clearTimeout(timer);
      for (const animation of animations) animation.cancel();
    });
  }

  /** @param {number} index */
  #flipDisc(index) {
    const [x, y] = this.#place(index);
    const [fromX, fromY] = this.#place(this.#index(this.config.last ?? ""));
    const distance = Math.max(Math.abs(x - fromX), Math.abs(y - fromY));
    const after = COLOURS[this.config.cells[index]];
    /** @param {string} colour @param {number} scale @param {number} offset */
    const look = (colour, scale, offset) => ({
      offset,
      transform: `scaleX(${scale})`,
      "--disc": `var(--disc-${colour})`,
      "--disc-edge": `var(--disc-${colour}-edge)`,
    });
    const other = after === "black" ? "white" : "black";
    const frames = [look(other, 1, 0), look(other, 0.04, 0.499), look(after, 0.04, 0.501), look(after, 1, 1)];
    const timing = { duration: FLIP_MS, delay: (distance - 1) * FLIP_DELAY_MS, fill: /** @type {const} */ ("backwards") };
    return this.squares[index].disc.animate(frames, timing);
  }

  paint() {
    if (!this.config) return;
    const { cells, preview, side } = this.config;
    const shown = preview?.cells ?? cells;
    const target = this.target;
    const flips = new Set(target ? this.config.moves[target].flips : []);
    setAttribute(this.drawing, "class", `board-drawing is-${side ? "white" : "black"}-to-move${preview ? " is-preview" : ""}`);
    this.squares.forEach((square, index) => this.#paintSquare(square, index, shown[index], target, flips));
  }

  /**
   * @param {OthelloBoard["squares"][0]} square
   * @param {number} index
   * @param {string} letter
   * @param {string | null} target
   * @param {Set<string>} flips
   */
  #paintSquare(square, index, letter, target, flips) {
    const { cells, preview, moves, editing, hints, last, flipped } = this.config;
    const name = this.#name(index);
    const open = !preview && !editing && letter === "-" && name in moves;
    const hint = open ? hints?.[name] : null;
    const number = preview ? preview.moves.lastIndexOf(name) + 1 : 0;
    /** @type {Record<string, boolean>} */
    const states = {
      "is-black": letter === "X",
      "is-white": letter === "O",
      "is-legal": open && !hint,
      "is-target": name === target,
      "is-hinted": Boolean(hint),
      "would-flip": flips.has(name),
      "is-last": !preview && name === last,
      "is-flipped": !preview && flipped.includes(name),
      "is-ghost": Boolean(preview) && letter !== cells[index],
    };
    setAttribute(square.group, "class", ["othello-square", ...Object.keys(states).filter((state) => states[state])].join(" "));
    setText(square.number, number ? String(number) : "");
    drawHint(square.hint, hint);
  }

  /** @param {string} name */
  describe(name) {
    const { cells, moves, hints, last } = this.config;
    const colour = COLOURS[cells[this.#index(name)]];
    const parts = [name, t(colour ? `othello.${colour}` : "othello.empty")];
    if (name === last) parts.push(t("board.last"));
    if (name in moves) parts.push(t("board.legal"), t("othello.flips", { count: moves[name].flips.length }));
    if (name in moves && hints?.[name]) parts.push(...describeHint(hints[name]));
    return parts;
  }

  /** @param {string} name */
  refusalReason(name) {
    return this.config.cells[this.#index(name)] === "-" ? "illegal" : null;
  }
}

customElements.define("othello-board", OthelloBoard);
