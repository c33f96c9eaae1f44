/**
 * <awale-board>: two rows of pits with seeds and numbers, and one store per player.
 *
 * The board paints its position, a preview or a frame of a sowing animation. All frames are computed in advance, so an
 * animation can be interrupted by painting the position.
 */
import { computeSowingFrames, layOutPit, layOutStore } from "./awale-sowing.js";
import { Board, buildHint, describeHint, drawHint, isMotionEnabled } from "./board.js";
import { appendSvg, setAttribute, setText, SVG } from "./dom.js";
import { pluralKey, t } from "./i18n.js";

const NAMES = [..."ABCDEFabcdef"];
const STORES = ["south", "north"];
const WIDTH = 640;
const HEIGHT = 526;
const PIT = { left: 26, width: 98 };
const STORE = { left: 20, width: 600, height: 54 };
const ROW_CENTRES = { farStore: 32, farRow: 196, nearRow: 352, nearStore: 458 }; // y of the centre of each row
const NUMBER_OFFSET = 60; // outwards from the centre of a pit
const LETTER_OFFSET = 92;
const HINT_OFFSET = 78; // inwards from the centre of a pit
const PIT_CELL_HEIGHT = 182; // height of a pit's cell, from the middle of the board to the store

class AwaleBoard extends Board {
  static title = "awale.board";
  static defaults = {
    side: 0, moves: {}, illegalPits: {}, hints: null, preview: null, marks: [], last: null,
    sowing: null, sowingDelayMs: 120, variant: "abapa",
  };

  /** @type {SowingFrame | null} */
  #frame = null; // the animation frame shown instead of the position

  variant = document.createElementNS(SVG, "text");
  hand = document.createElementNS(SVG, "g");
  /** @type {StoreNodes[]} */
  stores = [];
  /** @type {PitNodes[]} */
  pits = [];

  layoutKey() {
    return String(Boolean(this.config.rotated));
  }

  /** @param {number} side */
  #isNear(side) {
    return (side === 1) === Boolean(this.config.rotated);
  }

  /** @param {string} name */
  centre(name) {
    const store = STORES.indexOf(name);
    if (store >= 0) return [WIDTH / 2, (this.#isNear(store) ? ROW_CENTRES.nearStore : ROW_CENTRES.farStore) + STORE.height / 2];
    const index = NAMES.indexOf(name);
    const near = this.#isNear(index < 6 ? 0 : 1);
    const column = near ? index % 6 : 5 - (index % 6);
    return [PIT.left + (column + 0.5) * PIT.width, near ? ROW_CENTRES.nearRow : ROW_CENTRES.farRow];
  }

  layout() {
    const far = this.config.rotated ? 0 : 1;
    const middle = (ROW_CENTRES.farRow + ROW_CENTRES.nearRow) / 2;
    const rows = [
      this.#layOutStoreRow(far, ROW_CENTRES.farStore),
      this.#layOutPitRow(far, middle - PIT_CELL_HEIGHT),
      this.#layOutPitRow(1 - far, middle),
      this.#layOutStoreRow(1 - far, ROW_CENTRES.nearStore),
    ];
    return { width: WIDTH, height: HEIGHT, rows };
  }

  /** @param {number} side @param {number} top */
  #layOutStoreRow(side, top) {
    const cell = { name: STORES[side], left: STORE.left, size: STORE.width, span: 6 };
    return { top, size: STORE.height, cells: [cell] };
  }

  /** @param {number} side @param {number} top */
  #layOutPitRow(side, top) {
    const names = NAMES.slice(side * 6, side * 6 + 6);
    if (!this.#isNear(side)) names.reverse();
    const cells = names.map((name, column) => ({ name, left: PIT.left + column * PIT.width, size: PIT.width }));
    return { top, size: PIT_CELL_HEIGHT, label: () => t(`side.awale.${side}`), cells };
  }

  /** @param {Element} svg */
  build(svg) {
    appendSvg(svg, "rect", { class: "awale-wood", width: WIDTH, height: HEIGHT, rx: 26 });
    appendSvg(svg, "path", { class: "awale-direction", d: "M12 208V336m-7 -9l7 10l7 -10M628 340V212m-7 9l7 -10l7 10" });
    this.variant = appendSvg(svg, "text", { class: "awale-variant", x: WIDTH / 2, y: 17 });
    this.stores = STORES.map((name) => this.#buildStore(svg, name));
    this.pits = NAMES.map((name, index) => this.#buildPit(svg, name, index));
    this.hand = appendSvg(svg, "g", { class: "awale-hand is-hidden" });
  }

  /** @param {Element} svg @param {string} name */
  #buildStore(svg, name) {
    const y = this.centre(name)[1];
    const group = appendSvg(svg, "g", { class: "awale-store", transform: `translate(${STORE.left} ${y})` });
    const { width, height } = STORE;
    appendSvg(group, "rect", { class: "awale-hollow", y: -height / 2, width, height, rx: height / 2 });
    appendSvg(group, "path", { class: "awale-mover", d: "M18 -8l12 8l-12 8z" });
    const owner = appendSvg(group, "text", { class: "awale-owner", x: 38, y: 1 });
    const seeds = appendSvg(group, "g", { transform: "translate(134 0)" });
    const gain = appendSvg(group, "text", { class: "awale-gain", x: 526, y: 1 });
    const number = appendSvg(group, "text", { class: "awale-captured", x: width - 20, y: 1 });
    return { group, owner, seeds, gain, number, count: -1 };
  }

  /** @param {Element} svg @param {string} name @param {number} index */
  #buildPit(svg, name, index) {
    const [x, y] = this.centre(name);
    const outward = this.#isNear(index < 6 ? 0 : 1) ? 1 : -1; // numbers are outside, hints between the rows
    const group = appendSvg(svg, "g", { class: "awale-pit", transform: `translate(${x} ${y})` });
    const hollow = { x: -44, y: -54, width: 88, height: 108, rx: 42 };
    appendSvg(group, "rect", { class: "awale-hollow", ...hollow });
    appendSvg(group, "rect", { class: "awale-rim", ...hollow });
    const seeds = appendSvg(group, "g", { class: "awale-seeds", transform: `translate(0 ${-7 * outward})` });
    appendSvg(group, "rect", { class: "awale-pill", x: -27, y: NUMBER_OFFSET * outward - 19, width: 54, height: 38, rx: 19 });
    const number = appendSvg(group, "text", { class: "awale-number", y: NUMBER_OFFSET * outward + 1 });
    appendSvg(group, "text", { class: "awale-letter", y: LETTER_OFFSET * outward }).textContent = name;
    appendSvg(group, "circle", { class: "awale-last", cx: 17, cy: LETTER_OFFSET * outward, r: 6 });
    const hint = buildHint(appendSvg(group, "g", { transform: `translate(0 ${-HINT_OFFSET * outward}) scale(0.75)` }), 118);
    return { group, seeds, number, hint, count: -1 };
  }

  /** @param {BoardConfig | null} before */
  update(before) {
    const now = this.config;
    const same = before && String(before.pits) === String(now.pits) && String(before.captured) === String(now.captured);
    if (!before || (same && before.rotated === now.rotated)) return;
    this.finishAnimation();
    if (now.animate && now.sowing && String(before.pits) === String(now.before)) this.#animateSowing();
  }

  /** Animate the last move seed by seed. */
  #animateSowing() {
    const { sowingDelayMs } = this.config;
    const list = isMotionEnabled() && sowingDelayMs > 0 ? computeSowingFrames(this.config, (name) => NAMES.indexOf(name)) : [];
    let timer = 0;
    const next = () => {
      const frame = list.shift();
      if (!frame) return this.finishAnimation();
      this.#frame = frame;
      timer = setTimeout(next, sowingDelayMs * frame.ticks);
      this.paint();
      this.#animateHand(frame.hand, sowingDelayMs * frame.ticks);
    };
    this.startAnimation(() => {
      clearTimeout(timer);
      this.#frame = null;
      setAttribute(this.hand, "class", "awale-hand is-hidden");
      this.paint();
    });
    if (list.length) next();
    else timer = setTimeout(next, 0);
  }

  /** @param {Hand | null} hand @param {number} duration */
  #animateHand(hand, duration) {
    setAttribute(this.hand, "class", hand ? "awale-hand" : "awale-hand is-hidden");
    if (!hand) return;
    /** @param {number | string} at */
    const transformAt = (at) => `translate(${this.centre(typeof at === "number" ? NAMES[at] : at).map((part) => `${part}px`).join(",")})`;
    this.hand.replaceChildren();
    appendSvg(this.hand, "circle", { class: "awale-hand-circle", r: 38 });
    drawSeeds(this.hand, layOutPit(hand.count, 32));
    const path = [{ transform: transformAt(hand.from) }, { transform: transformAt(hand.to) }];
    this.hand.animate(path, { duration, easing: "ease-in-out", fill: "forwards" });
  }

  paint() {
    if (!this.config) return;
    const { preview, variant, moves } = this.config;
    const { pits, captured } = this.#frame ?? preview ?? this.config;
    const target = this.#frame ? null : this.target;
    setAttribute(this.drawing, "class", preview ? "board-drawing is-preview" : "board-drawing");
    setText(this.variant, t(`game.${variant}`));
    this.stores.forEach((store, side) => this.#paintStore(store, side, captured[side], target));
    this.pits.forEach((pit, index) => this.#paintPit(pit, index, pits[index], target ? { name: target, ...moves[target] } : null));
  }

  /** @param {StoreNodes} store @param {number} side @param {number} count @param {string | null} target */
  #paintStore(store, side, count, target) {
    const { moves } = this.config;
    const gain = target && this.config.side === side ? sumSeeds(moves[target].captured) : 0;
    setAttribute(store.group, "class", `awale-store${this.config.side === side ? " is-mover" : ""}`);
    setText(store.owner, t(`side.awale.${side}`));
    setText(store.gain, gain ? `+${gain}` : "");
    setText(store.number, String(count));
    if (store.count === count) return;
    store.count = count;
    store.seeds.replaceChildren();
    drawSeeds(store.seeds, layOutStore(count));
  }

  /** @param {PitNodes} pit @param {number} index @param {number} count @param {(Effect & { name: string }) | null} aimed */
  #paintPit(pit, index, count, aimed) {
    const { moves, playable, editing, preview, hints, last, illegalPits } = this.config;
    const name = NAMES[index];
    const quiet = this.#frame || preview || editing;
    const caught = aimed?.captured.find(([where]) => where === name);
    /** @type {Record<string, boolean>} */
    const states = {
      "is-open": !quiet && playable && name in moves,
      "is-refused": !quiet && playable && name in illegalPits,
      "is-target": aimed?.name === name,
      "is-sown": Boolean(aimed?.sown.includes(name)),
      "is-end": aimed?.sown.at(-1) === name,
      "is-captured": Boolean(caught) || this.#frame?.highlighted === index,
      "is-last": !preview && name === last,
    };
    setAttribute(pit.group, "class", ["awale-pit", ...Object.keys(states).filter((state) => states[state])].join(" "));
    setText(pit.number, caught ? `−${caught[1]}` : String(count));
    drawHint(pit.hint, !quiet && name in moves ? hints?.[name] : null);
    if (pit.count === count) return;
    pit.count = count;
    pit.seeds.replaceChildren();
    drawSeeds(pit.seeds, layOutPit(count, 40));
  }

  /** @param {string} name */
  describe(name) {
    const { pits, captured, moves, hints, last, illegalPits, playable } = this.config;
    const store = STORES.indexOf(name);
    if (store >= 0) return [t("awale.store", { side: t(`side.awale.${store}`) }), formatSeeds(captured[store])];
    const parts = [name, formatSeeds(pits[NAMES.indexOf(name)])];
    if (name === last) parts.push(t("board.last"));
    if (name in moves) parts.push(t("awale.playable"), ...this.#describeCapture(moves[name]));
    if (name in moves && hints?.[name]) parts.push(...describeHint(hints[name]));
    if (playable && illegalPits[name] === "feed") parts.push(t("awale.feed"));
    return parts;
  }

  /** @param {Effect} given */
  #describeCapture({ captured }) {
    return captured.length ? [t("awale.captures", { count: sumSeeds(captured) })] : [];
  }

  /** @param {string} name */
  refusalReason(name) {
    const pit = NAMES.indexOf(name);
    if (pit < 0) return null;
    return (pit < 6 ? 0 : 1) === this.config.side ? this.config.illegalPits[name] ?? null : "other";
  }
}

/** @param {[string, number][]} captured */
const sumSeeds = (captured) => captured.reduce((sum, [, count]) => sum + count, 0);

/** @param {number} count */
function formatSeeds(count) {
  return t(`awale.seeds.${pluralKey(count)}`, { count });
}

/** @param {Element} parent @param {Seed[]} seeds */
function drawSeeds(parent, seeds) {
  for (const { x, y, size, angle } of seeds) {
    const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle})`;
    appendSvg(parent, "ellipse", { class: "awale-seed", rx: size.toFixed(1), ry: (size * 0.84).toFixed(1), transform });
  }
}

customElements.define("awale-board", AwaleBoard);
