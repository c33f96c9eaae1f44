/**
 * <value-graph>: the values of a game by ply, with the first player's advantage above zero.
 * It shows its configuration and fires `jump` {ply}. The scale is linear near zero and logarithmic further out (inverse
 * hyperbolic sine), so that close games stay readable and one-sided ones fit.
 */
import { Component } from "./component.js";
import { setAttributes as set, SVG } from "./dom.js";
import { formatSigned, t } from "./i18n.js";

const MARGIN = { top: 6, right: 10, bottom: 18, left: 34 };
/** @type {Record<string, number>} */
const STEPS = {
  ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity,
};
/** @type {GraphConfig} */
const DEFAULTS = { points: [], current: 0, length: 60, maxValue: 64, sides: ["", ""], unit: "discs" };
/** @type {[string, "g" | "path"][]} */
const LAYERS = [
  ["exact", "g"], ["above", "path"], ["below", "path"], ["grid", "g"], ["gaps", "path"], ["curve", "path"],
  ["losses", "g"], ["marks", "g"], ["cursor", "g"], ["legend", "g"],
];
/** @type {Record<string, (x: number, y: number) => string>} */
const MARK_SHAPES = {
  "?!": (x, y) => `M${x - 3} ${y}a3 3 0 1 0 6 0a3 3 0 1 0 -6 0Z`,
  "?": (x, y) => `M${x} ${y - 5}L${x + 5} ${y + 4}H${x - 5}Z`,
  "??": (x, y) => `M${x} ${y - 7}L${x + 7} ${y}L${x} ${y + 7}L${x - 7} ${y}Z`,
};
/** @type {Record<string, string>} */
const MARK_CLASSES = { "?!": "graph-inaccuracy", "?": "graph-mistake", "??": "graph-blunder" };

/**
 * Append an HTML element, or an SVG node inside an SVG.
 * @param {Element} parent
 * @param {string} tag
 * @param {string} [className]
 * @param {Record<string, any>} [attributes]
 */
function add(parent, tag, className = "", attributes = {}) {
  const drawn = tag === "svg" || parent instanceof SVGElement;
  const node = drawn ? document.createElementNS(SVG, tag) : document.createElement(tag);
  if (className) node.setAttribute("class", className);
  set(node, attributes);
  return parent.appendChild(node);
}

/**
 * Runs of consecutive points that satisfy a condition.
 * @param {Point[]} points
 * @param {(point: Point) => boolean} holds
 */
function findRuns(points, holds) {
  /** @type {Point[][]} */
  const runs = [];
  points.forEach((point, index) => {
    if (!holds(point)) return;
    const run = runs.at(-1);
    if (run?.at(-1)?.ply === index - 1) run.push({ ...point, ply: index });
    else runs.push([{ ...point, ply: index }]);
  });
  return runs;
}

/** @param {unknown} value @returns {value is number} */
const isNumber = (value) => typeof value === "number";

/** @param {number[][]} corners */
const polyline = (corners) => `M${corners.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}`;

/**
 * The corners of a curve, and the points at which it crosses the height `zero`.
 * @param {number[][]} corners
 * @param {number} zero
 */
function withCrossings(corners, zero) {
  return corners.flatMap(([x, y], index) => {
    const [beforeX, beforeY] = corners[index - 1] ?? [x, y];
    if ((beforeY - zero) * (y - zero) >= 0) return [[x, y]];
    return [[beforeX + ((zero - beforeY) / (y - beforeY)) * (x - beforeX), zero], [x, y]];
  });
}

/** The accumulated loss of each side by ply. @param {Point[]} points */
function accumulateLosses(points) {
  const total = [0, 0];
  return points.map((point) => {
    if (point.loss) total[point.side] += point.loss;
    return [...total];
  });
}

/** @extends {Component<GraphConfig>} */
class ValueGraph extends Component {
  static defaults = DEFAULTS;

  #size = { width: 0, height: 0 };
  /** @type {number | null} */
  #hoverPly = null;
  /** @type {number | null} */
  #lastPly = null;
  #observer = new ResizeObserver(([entry]) => {
    this.#size = { width: entry.contentRect.width, height: entry.contentRect.height };
    if (this.parts) this.refresh();
  });

  /** Redraw everything, for example in another language. */
  refresh() {
    this.#updateLabels();
    if (!this.#size.width) return;
    this.#drawGrid();
    this.#drawCurve();
    this.#drawMarks();
    this.#drawLosses();
    this.#drawCursor();
  }

  build() {
    const head = add(this, "div", "graph-head");
    const readout = add(head, "div", "graph-readout", { "aria-hidden": "true" });
    const button = add(head, "button", "graph-loss-button", { type: "button", "aria-pressed": "false" });
    const plot = add(this, "div", "graph-plot", { role: "slider", tabindex: "0" });
    const svg = add(plot, "svg", "graph-svg", { "aria-hidden": "true" });
    /** @type {Record<string, any>} */
    const parts = { readout, button, plot, svg, background: add(svg, "rect", "graph-background") };
    for (const [name, tag] of LAYERS) parts[name] = add(svg, tag, `graph-${name}`);
    parts.hoverLine = add(parts.cursor, "line", "graph-hover-line");
    parts.line = add(parts.cursor, "line", "graph-cursor-line");
    parts.dot = add(parts.cursor, "circle", "graph-cursor-dot", { r: 4 });
    parts.empty = add(svg, "text", "graph-empty", { "text-anchor": "middle" });
    this.#listen(parts);
    this.#observer.observe(plot);
    return parts;
  }

  /** @param {any} given */
  #listen({ plot, button }) {
    button.addEventListener("click", () => {
      button.setAttribute("aria-pressed", String(!this.#showsLoss));
      this.refresh();
    });
    plot.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#onKey(event));
    plot.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      if (event.button !== 0) return;
      plot.setPointerCapture(event.pointerId);
      // A touch may start a scroll: jump only when it moves horizontally or ends.
      this.#lastPly = event.pointerType === "touch" ? this.#plyAt(event.clientX) : null;
      this.#onPointer(event);
    });
    plot.addEventListener("pointerup", (/** @type {PointerEvent} */ event) => {
      this.#lastPly = null;
      this.#onPointer(event);
    });
    plot.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => this.#onPointer(event));
    plot.addEventListener("pointerleave", () => this.#onPointer(null));
    plot.addEventListener("pointercancel", () => this.#onPointer(null));
  }

  get #showsLoss() {
    return this.parts.button.getAttribute("aria-pressed") === "true";
  }

  get #last() {
    return Math.max(0, this.config.points.length - 1);
  }

  /** @param {number} ply */
  #x = (ply) => MARGIN.left + (ply / this.#plies) * (this.#size.width - MARGIN.left - MARGIN.right);

  /** @param {number} value */
  #y(value) {
    const { maxValue } = this.config;
    const share = Math.asinh((8 * Math.max(-maxValue, Math.min(maxValue, value))) / maxValue) / Math.asinh(8);
    return this.#zero - share * this.#half;
  }

  get #plies() {
    return Math.max(1, this.config.length, this.#last);
  }

  get #half() {
    return (this.#size.height - MARGIN.top - MARGIN.bottom) / 2;
  }

  get #zero() {
    return MARGIN.top + this.#half;
  }

  #drawGrid() {
    const { background, grid, svg } = this.parts;
    const { width, height } = this.#size;
    const [left, right, bottom] = [MARGIN.left, width - MARGIN.right, height - MARGIN.bottom];
    set(svg, { viewBox: `0 0 ${width} ${height}` });
    set(background, { x: left, y: MARGIN.top, width: right - left, height: bottom - MARGIN.top, rx: 3 });
    grid.replaceChildren();
    for (const value of [1, 1 / 4, 0, -1 / 4, -1].map((share) => Math.round(share * this.config.maxValue))) {
      const y = this.#y(value);
      add(grid, "line", value ? "graph-rule" : "graph-zero", { x1: left, x2: right, y1: y, y2: y });
      add(grid, "text", "graph-label", { x: left - 6, y: y + 4, "text-anchor": "end" }).textContent = formatSigned(value);
    }
    const step = this.#plies > 150 ? 50 : this.#plies > 60 ? 20 : 10;
    for (let ply = step; ply <= this.#plies; ply += step) {
      const label = add(grid, "text", "graph-label", { x: this.#x(ply), y: height - 4, "text-anchor": "middle" });
      label.textContent = String(ply);
    }
  }

  #drawCurve() {
    const { points } = this.config;
    const { above, below, curve, gaps, empty, exact } = this.parts;
    const runs = findRuns(points, (point) => isNumber(point.value));
    const lines = runs.map((run) => run.map((point) => [this.#x(point.ply), this.#y(point.value ?? 0)]));
    /** @param {(y: number, zero: number) => number} side */
    const area = (side) => lines.map((line) => this.#areaPath(line, side)).join("");
    set(above, { d: area(Math.min) });
    set(below, { d: area(Math.max) });
    set(curve, { d: lines.map((line) => polyline(line.length > 1 ? line : [line[0], line[0]])).join("") });
    set(gaps, { d: lines.slice(1).map((line, index) => polyline([...lines[index].slice(-1), line[0]])).join("") });
    set(empty, { x: this.#x(this.#plies / 2), y: this.#zero + 20 });
    empty.textContent = runs.length ? "" : t("graph.empty");
    exact.replaceChildren();
    for (const run of findRuns(points, (point) => isNumber(point.value) && point.exact)) this.#drawExact(run);
  }

  /** @param {number[][]} line @param {(y: number, zero: number) => number} side */
  #areaPath(line, side) {
    const clipped = withCrossings(line, this.#zero).map(([x, y]) => [x, side(y, this.#zero)]);
    return `${polyline([[line[0][0], this.#zero], ...clipped, [line[line.length - 1][0], this.#zero]])}Z`;
  }

  /** @param {Point[]} run */
  #drawExact(run) {
    const [x, end] = [this.#x(run[0].ply), this.#x(run[run.length - 1].ply)];
    const width = Math.max(2, end - x);
    add(this.parts.exact, "rect", "graph-exact-area", { x, y: MARGIN.top, width, height: 2 * this.#half });
    add(this.parts.exact, "rect", "graph-exact-bar", { x, y: MARGIN.top + 2 * this.#half, width, height: 3 });
    if (width < 70) return;
    const y = (run[0].value ?? 0) > 0 ? MARGIN.top + 2 * this.#half - 6 : MARGIN.top + 13;
    add(this.parts.exact, "text", "graph-note graph-exact-label", { x: x + 6, y }).textContent = t("graph.exact");
  }

  #drawMarks() {
    const { marks } = this.parts;
    marks.replaceChildren();
    this.config.points.forEach((point, ply) => {
      if (!(point.mark in MARK_SHAPES) || !isNumber(point.value)) return;
      const d = MARK_SHAPES[point.mark](Math.round(this.#x(ply)), Math.round(this.#y(point.value)));
      add(marks, "path", `graph-mark ${MARK_CLASSES[point.mark]}`, { d });
    });
  }

  /** The unit of the scale or, on demand, the accumulated losses of both sides with a legend. */
  #drawLosses() {
    const { losses, legend, button } = this.parts;
    const shown = this.#showsLoss && !button.disabled;
    this.classList.toggle("graph-with-loss", shown);
    losses.replaceChildren();
    legend.replaceChildren();
    if (!shown) {
      const place = { x: MARGIN.left + 8, y: MARGIN.top + 13 };
      add(legend, "text", "graph-note", place).textContent = t(`graph.${this.config.unit}`);
      return;
    }
    const curves = accumulateLosses(this.config.points);
    const last = curves[curves.length - 1];
    const scale = (2 * this.#half - 4) / Math.max(1, ...last);
    for (const side of [0, 1]) {
      const corners = curves.map((total, ply) => [this.#x(ply), this.#zero + this.#half - total[side] * scale]);
      add(losses, "path", "graph-loss-halo", { d: polyline(corners) });
      add(losses, "path", `graph-loss graph-loss-${side}`, { d: polyline(corners) });
      this.#drawLossLegend(side, last[side]);
    }
  }

  /**
   * A line of the legend: a piece of the curve, the side and its total loss.
   * @param {number} side
   * @param {number} total
   */
  #drawLossLegend(side, total) {
    const { legend } = this.parts;
    const [x, y] = [MARGIN.left + 8, MARGIN.top + 12 + 15 * side];
    add(legend, "path", `graph-loss graph-loss-${side}`, { d: `M${x} ${y - 4}h20` });
    const text = `${this.config.sides[side]} ${formatSigned(-total, 1)}`;
    add(legend, "text", `graph-note graph-note-${side}`, { x: x + 26, y }).textContent = text;
  }

  #drawCursor() {
    const { line, hoverLine, dot, readout } = this.parts;
    const current = Math.min(this.config.current, this.#last);
    const span = { y1: MARGIN.top, y2: MARGIN.top + 2 * this.#half };
    const value = this.config.points[current]?.value;
    set(line, { x1: this.#x(current), x2: this.#x(current), ...span });
    set(dot, { cx: this.#x(current), cy: this.#y(value ?? 0) });
    dot.classList.toggle("graph-hidden", !isNumber(value));
    const hover = this.#hoverPly === null ? null : Math.min(this.#hoverPly, this.#last);
    hoverLine.classList.toggle("graph-hidden", hover === null);
    if (hover !== null) set(hoverLine, { x1: this.#x(hover), x2: this.#x(hover), ...span });
    readout.textContent = this.#describePly(hover ?? current, " · ");
  }

  /** A ply as text: "move 12, f5, Black +4, loss 6". @param {number} ply @param {string} separator */
  #describePly(ply, separator) {
    const { points, sides } = this.config;
    const point = /** @type {Partial<Point>} */ (points[ply] ?? {});
    const parts = [ply ? t("graph.ply", { ply }) : t("graph.start")];
    if (point.name) parts.push(point.name + (point.mark ?? ""));
    if (point.value === 0) parts.push(t("graph.even"));
    else if (isNumber(point.value)) parts.push(`${sides[point.value > 0 ? 0 : 1]} ${formatSigned(Math.abs(point.value), 1)}`);
    if (isNumber(point.value) && point.exact) parts.push(t("graph.exact"));
    if (point.loss && point.loss > 0) parts.push(t("graph.loss", { loss: formatSigned(point.loss, 1).slice(1) }));
    return parts.join(separator);
  }

  #updateLabels() {
    const { plot, button } = this.parts;
    const current = Math.min(this.config.current, this.#last);
    set(plot, {
      "aria-label": t("graph.label"), "aria-valuemin": 0, "aria-valuemax": this.#last, "aria-valuenow": current,
      "aria-valuetext": this.#describePly(current, ", "),
    });
    button.textContent = t("graph.losses");
    button.title = t("graph.losses.title");
    button.disabled = !this.config.points.some((point) => isNumber(point.loss));
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (!(event.key in STEPS) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.#emitJump(this.config.current + STEPS[event.key]);
  }

  /** Follow the pointer: show the ply under it, and jump there while the button is held. @param {PointerEvent | null} event */
  #onPointer(event) {
    const hover = event && this.#plyAt(event.clientX);
    this.#hoverPly = hover;
    if (this.#size.width) this.#drawCursor();
    if (!event || !this.parts.plot.hasPointerCapture(event.pointerId) || hover === this.#lastPly) return;
    this.#lastPly = hover;
    this.#emitJump(hover ?? 0);
  }

  /** @param {number} clientX */
  #plyAt(clientX) {
    const inside = clientX - this.parts.plot.getBoundingClientRect().left - MARGIN.left;
    const ply = Math.round((inside / (this.#size.width - MARGIN.left - MARGIN.right)) * this.#plies);
    return Math.max(0, Math.min(this.#last, ply));
  }

  /** @param {number} wanted */
  #emitJump(wanted) {
    const ply = Math.max(0, Math.min(this.#last, wanted));
    if (ply !== this.config.current) this.emit("jump", { ply });
  }
}

customElements.define("value-graph", ValueGraph);
