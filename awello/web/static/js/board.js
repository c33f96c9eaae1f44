/**
 * The base class of both boards, which show a configuration and fire events: a grid of cells over one drawing.
 *
 * The drawing is an SVG that handles no events. Labelled cells lie over it; they serve the pointer, the keyboard and
 * screen readers.
 * A board positions and draws its cells; it has no knowledge of the rules.
 */
import { appendSvg, eventElement, reducedMotion, setAttribute, setText, SVG } from "./dom.js";
import { formatSigned, t } from "./i18n.js";

/** @type {Record<string, number[]>} */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const FAIR_LOSS = 1; // loss from which a move is only fair
const BAD_LOSS = 4; // loss from which a move is bad

/** Whether to animate: the user has not reduced motion, and the page is visible. */
export function isMotionEnabled() {
  return !document.hidden && !reducedMotion();
}

/**
 * The nodes of a hint around (0, 0): a plate, the value, a double line below exact values, the badge.
 * @param {Element} parent
 * @param {number} width
 */
export function buildHint(parent, width) {
  const group = appendSvg(parent, "g", { class: "board-hint" });
  appendSvg(group, "rect", { class: "board-hint-plate", x: -width / 2, y: -32, width, height: 64, rx: 14 });
  appendSvg(group, "path", { class: "board-hint-exact", d: "M-20 4H20M-20 8H20" });
  const value = appendSvg(group, "text", { class: "board-hint-value" });
  const badge = appendSvg(group, "text", { class: "board-hint-badge", y: 21 });
  return { group, value, badge };
}

/**
 * Fill the nodes of a hint, or hide them.
 * @param {HintNodes} nodes
 * @param {Hint | null | undefined} hint
 */
export function drawHint(nodes, hint) {
  setAttribute(nodes.group, "class", hint ? hintClass(hint) : "board-hint is-hidden");
  if (!hint) return;
  setText(nodes.value, formatSigned(hint.value, hint.exact ? 0 : 1));
  setText(nodes.badge, hint.badge ?? "");
}

/** @param {Hint} hint */
function hintClass(hint) {
  const grade = hint.loss >= BAD_LOSS ? "bad" : hint.loss >= FAIR_LOSS ? "fair" : "good";
  const signs = [hint.best && "is-best", hint.exact && "is-exact", (hint.exact || hint.badge) && "has-badge"];
  return ["board-hint", `is-${grade}`, ...signs.filter(Boolean)].join(" ");
}

/** A hint for screen readers, in pieces such as "plus 4", "exact", "best". @param {Hint} hint */
export function describeHint(hint) {
  const text = formatSigned(hint.value, hint.exact ? 0 : 1);
  const sign = text.startsWith("+") ? "board.plus" : text.startsWith("−") ? "board.minus" : "board.even";
  const parts = [t(sign, { value: text.replace(/^[+−]/, "") })];
  if (hint.exact) parts.push(t("board.exact"));
  if (hint.best) parts.push(t("board.best"));
  if (hint.badge) parts.push(t("board.depth", { value: hint.badge }));
  return parts;
}

/** Base class of both boards. */
export class Board extends HTMLElement {
  /** Default configuration, and translation key of the label. */
  static defaults = {};
  static title = "";

  #config = /** @type {BoardConfig} */ (/** @type {unknown} */ (null));
  #layoutKey = "";
  /** @type {{ node: HTMLElement, label?: () => string, cells: Cell[] }[]} */
  #rows = [];
  /** @type {string | null} */
  #tabStop = null; // the cell in the tab order: the last one with focus
  #focusedByPointer = false; // the focus came from the pointer, so that the page handles the keys
  /** @type {{ from: string, to: string | null } | null} */
  #draft = null; // the arrow being drawn
  /** @type {(() => void) | null} */
  #cancelAnimation = null; // ends the running animation
  drawing = document.createElementNS(SVG, "svg");
  marks = document.createElementNS(SVG, "g");
  grid = document.createElement("div");
  /** @type {string | null} */
  hovered = null;
  /** @type {string | null} */
  focused = null;

  constructor() {
    super();
    /** @type {Record<string, (event: any) => void>} */
    const handlers = {
      click: (event) => this.#activate(event, 0),
      contextmenu: (event) => this.#onContextMenu(event),
      keydown: (event) => this.#onKey(event),
      focusin: (event) => this.#onFocusIn(event),
      focusout: (event) => this.#onFocusOut(event),
      pointerdown: (event) => this.#onPointerDown(event),
      pointerup: (event) => this.#onPointerUp(event),
      pointerover: (event) => this.#onPointerOver(event),
      pointerleave: () => this.#onPointerLeave(),
    };
    for (const [name, handler] of Object.entries(handlers)) this.addEventListener(name, handler);
  }

  // Overridden by each board

  /** A key: the nodes are rebuilt when it changes. @returns {string} */
  layoutKey() {
    return "";
  }

  /** The size and the rows of cells. @returns {{ width: number, height: number, rows: RowLayout[] }} */
  layout() {
    return { width: 0, height: 0, rows: [] };
  }

  /** Create the nodes of the drawing. @param {Element} _svg */
  build(_svg) {}

  /** React to a new configuration. @param {BoardConfig | null} _before */
  update(_before) {}

  /** Draw the position. */
  paint() {}

  /** The centre of a cell. @param {string} _name @returns {number[]} */
  centre(_name) {
    return [0, 0];
  }

  /** The parts of the label of a cell. @param {string} _name @returns {string[]} */
  describe(_name) {
    return [];
  }

  /** Why a cell cannot be played, or null. @param {string} _name @returns {string | null} */
  refusalReason(_name) {
    return null;
  }

  // Common to both boards

  disconnectedCallback() {
    this.finishAnimation();
  }

  /** The configuration; setting it redraws the board. */
  get config() {
    return this.#config;
  }

  set config(next) {
    const before = this.#config;
    this.#config = { .../** @type {typeof Board} */ (this.constructor).defaults, ...next };
    if (this.layoutKey() !== this.#layoutKey) this.#rebuild();
    this.update(before);
    this.refresh();
  }

  /** Redraw, for example in another language. */
  refresh() {
    if (!this.#config) return;
    this.classList.toggle("is-editing", Boolean(this.config.editing));
    setAttribute(this.grid, "aria-label", this.config.label ?? t(/** @type {typeof Board} */ (this.constructor).title));
    for (const { node, label } of this.#rows) if (label) setAttribute(node, "aria-label", label());
    for (const { name, node } of this.#cells) {
      setAttribute(node, "aria-label", this.describe(name).join(", "));
      setAttribute(node, "class", this.#cellClass(name));
    }
    this.#placeTabStop();
    this.#drawMarks();
    this.paint();
  }

  /** End the running animation. */
  finishAnimation() {
    this.#cancelAnimation?.();
  }

  /**
   * Register a function that ends the animation; `settled` is fired when the animation ends or is interrupted.
   * @param {() => void} end
   */
  startAnimation(end) {
    this.finishAnimation();
    this.#cancelAnimation = () => {
      this.#cancelAnimation = null;
      end();
      queueMicrotask(() => this.emit("settled"));
    };
  }

  /** The legal move under the pointer or the focus. */
  get target() {
    const { playable, editing, preview, moves } = this.config;
    const name = this.hovered ?? this.focused;
    return playable && !editing && !preview && name && moves[name] ? name : null;
  }

  /** Fire a bubbling event. @param {string} name @param {object} [detail] */
  emit(name, detail = {}) {
    this.dispatchEvent(new CustomEvent(name, { bubbles: true, detail }));
  }

  // Construction

  #rebuild() {
    this.#layoutKey = this.layoutKey();
    const name = this.contains(document.activeElement) ? this.#tabStop : null;
    const clicked = this.#focusedByPointer;
    const { width, height, rows } = this.layout();
    this.replaceChildren();
    const view = { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" };
    this.drawing = appendSvg(this, "svg", { class: "board-drawing", ...view });
    this.build(this.drawing);
    this.marks = appendSvg(this.drawing, "g", { class: "board-marks" });
    this.#buildGrid(width, height, rows);
    this.#focusedByPointer = clicked;
    this.#cells.find((cell) => cell.name === name)?.node.focus();
  }

  /** @param {number} width @param {number} height @param {RowLayout[]} rows */
  #buildGrid(width, height, rows) {
    this.grid.replaceChildren();
    this.grid.className = "board-grid";
    this.grid.setAttribute("role", "grid");
    this.grid.style.aspectRatio = `${width} / ${height}`;
    this.#rows = rows.map(({ top, size, label, cells }) => {
      const node = appendNode(this.grid, "board-row", "row");
      Object.assign(node.style, { top: percent(top, height), height: percent(size, height) });
      return { node, label, cells: cells.map((cell) => this.#buildCell(node, width, cell)) };
    });
    this.append(this.grid);
  }

  /** @param {HTMLElement} row @param {number} width @param {CellLayout} plan */
  #buildCell(row, width, { name, left, size, span }) {
    const node = appendNode(row, "board-cell", "gridcell");
    node.dataset.cell = name;
    node.tabIndex = -1;
    if (span) node.setAttribute("aria-colspan", String(span));
    Object.assign(node.style, { left: percent(left, width), width: percent(size, width) });
    return { name, node, x: left + size / 2 };
  }

  /** @param {string} name */
  #cellClass(name) {
    const { editing, playable, moves } = this.config;
    return editing || (playable && moves[name]) ? "board-cell is-open" : "board-cell";
  }

  get #cells() {
    return this.#rows.flatMap((row) => row.cells);
  }

  /** One cell is in the tab order: the last one with focus, or a legal move. */
  #placeTabStop() {
    const cells = this.#cells;
    /** @param {(name: string) => unknown} wanted */
    const find = (wanted) => cells.find(({ name }) => wanted(name));
    const stop = find((name) => name === this.#tabStop) ?? find((name) => name in this.config.moves) ?? cells[0];
    for (const cell of cells) setAttribute(cell.node, "tabindex", cell === stop ? "0" : "-1");
  }

  // Circles and arrows of the user and the engine

  #drawMarks() {
    const marks = [...(this.config.marks ?? []), ...(this.#draft ? [{ ...this.#draft, by: "user" }] : [])];
    const key = JSON.stringify(marks);
    if (this.marks.dataset.key === key) return;
    this.marks.dataset.key = key;
    this.marks.replaceChildren();
    for (const one of marks) this.#drawMark(one);
  }

  /** @param {Mark} given */
  #drawMark({ from, to, by }) {
    const group = appendSvg(this.marks, "g", { class: `board-mark is-${by}` });
    const [x, y] = this.centre(from);
    if (!to || to === from) {
      appendSvg(group, "circle", { cx: x, cy: y, r: 44 });
      return;
    }
    const [endX, endY] = this.centre(to);
    const length = Math.hypot(endX - x, endY - y);
    const angle = (Math.atan2(endY - y, endX - x) * 180) / Math.PI;
    setAttribute(group, "transform", `translate(${x} ${y}) rotate(${angle})`);
    appendSvg(group, "path", { class: "board-mark-line", d: `M12 0H${length - 30}` });
    appendSvg(group, "path", { class: "board-mark-head", d: `M${length} 0l-34 -20v40z` });
  }

  // Pointer and keyboard

  /** @param {Event} event @param {number} button */
  #activate(event, button) {
    const name = nameOf(event);
    if (!name) return;
    this.finishAnimation();
    const { editing, playable, moves } = this.config;
    if (editing) this.emit("edit", { cell: name, button });
    else if (playable && moves[name]) this.emit("play", { move: name });
    else if (playable && this.refusalReason(name)) this.emit("refused", { move: name, reason: this.refusalReason(name) });
  }

  /** @param {MouseEvent} event */
  #onContextMenu(event) {
    event.preventDefault();
    if (this.config?.editing) this.#activate(event, 2);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const name = nameOf(event);
    if (!name || this.#focusedByPointer || event.ctrlKey || event.altKey || event.metaKey) return;
    const step = STEPS[event.key];
    if (!step && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    if (step) this.#findNeighbour(name, step).node.focus();
    else if (!event.repeat) this.#activate(event, 0);
  }

  /** @param {string} name @param {number[]} given */
  #findNeighbour(name, [down, right]) {
    const y = this.#rows.findIndex((row) => row.cells.some((cell) => cell.name === name));
    const cells = this.#rows[y].cells;
    const x = cells.findIndex((cell) => cell.name === name);
    if (right) return cells[Math.min(Math.max(x + right, 0), cells.length - 1)];
    const row = this.#rows[Math.min(Math.max(y + down, 0), this.#rows.length - 1)].cells;
    /** @param {Cell} cell */
    const distance = (cell) => Math.abs(cell.x - cells[x].x);
    return row.reduce((best, cell) => (distance(cell) < distance(best) ? cell : best));
  }

  /** @param {FocusEvent} event */
  #onFocusIn(event) {
    const name = nameOf(event);
    if (!name) return;
    this.#tabStop = name;
    this.#placeTabStop();
    this.focused = this.#focusedByPointer ? null : name;
    this.paint();
  }

  /** @param {FocusEvent} event */
  #onFocusOut(event) {
    if (this.contains(/** @type {Node | null} */ (event.relatedTarget))) return;
    this.#focusedByPointer = false;
    this.focused = null;
    this.paint();
  }

  /** @param {PointerEvent} event */
  #onPointerDown(event) {
    this.#focusedByPointer = true;
    this.focused = null;
    const from = nameOf(event);
    if (event.button !== 2 || !from || this.config.editing) return;
    this.#draft = { from, to: null };
    this.#drawMarks();
  }

  /** @param {PointerEvent} event */
  #onPointerUp(event) {
    if (event.button !== 2 || !this.#draft) return;
    const draft = this.#draft;
    this.#draft = null;
    this.#drawMarks();
    this.emit("mark", draft);
  }

  /** @param {PointerEvent} event */
  #onPointerOver(event) {
    const name = nameOf(event);
    if (this.#draft) {
      this.#draft.to = name === this.#draft.from ? null : name;
      this.#drawMarks();
    }
    if (event.pointerType === "touch" || name === this.hovered) return;
    this.hovered = name;
    this.paint();
  }

  #onPointerLeave() {
    this.hovered = null;
    this.#draft = null;
    if (!this.config) return;
    this.#drawMarks();
    this.paint();
  }
}

/** @param {number} part @param {number} whole */
const percent = (part, whole) => `${(part / whole) * 100}%`;
/** @param {Event} event */
const nameOf = (event) => eventElement(event).closest(".board-cell")?.getAttribute("data-cell") ?? null;

/** @param {Element} parent @param {string} className @param {string} role */
function appendNode(parent, className, role) {
  const node = document.createElement("div");
  node.className = className;
  node.setAttribute("role", role);
  parent.append(node);
  return node;
}
