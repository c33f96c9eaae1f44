/**
 * <awale-board>: two rows of pits with their seeds and numbers, and a store for each player.
 *
 * The board paints its position, a preview, or a picture of a sowing. A sowing is a list of pictures made at its
 * beginning, so that cutting it short is painting the position.
 */
import { heap, pictures, pile } from "./awale-sowing.js";
import { Board, buildHint, drawHint, motion, sayHint } from "./board.js";
import { draw, mark, SVG, write } from "./dom.js";
import { currentLanguage, t } from "./words.js";

const NAMES = [..."ABCDEFabcdef"];
const STORES = ["south", "north"];
const WIDTH = 640;
const HEIGHT = 526;
const PIT = { left: 26, width: 98 };
const STORE = { left: 20, width: 600, height: 54 };
const TOPS = { farStore: 32, farRow: 196, nearRow: 352, nearStore: 458 }; // of a row: its middle
const NUMBER = 60; // from the middle of a pit outwards
const LETTER = 92;
const HINT = 78; // from the middle of a pit inwards
const REACH = 182; // the height of a pit's cell, from between the rows to the store

class AwaleBoard extends Board {
  static title = "awale.board";
  static defaults = {
    side: 0, moves: {}, refused: {}, hints: null, preview: null, marks: [], last: null,
    sowing: null, speed: 120, variant: "abapa",
  };

  /** @type {Picture | null} */
  #scene = null; // the picture of a sowing that is shown instead of the position

  variant = document.createElementNS(SVG, "text");
  hand = document.createElementNS(SVG, "g");
  /** @type {StoreNodes[]} */
  stores = [];
  /** @type {PitNodes[]} */
  pits = [];

  shape() {
    return String(Boolean(this.config.turned));
  }

  /** @param {number} side */
  #isNear(side) {
    return (side === 1) === Boolean(this.config.turned);
  }

  /** @param {string} name */
  centre(name) {
    const store = STORES.indexOf(name);
    if (store >= 0) return [WIDTH / 2, (this.#isNear(store) ? TOPS.nearStore : TOPS.farStore) + STORE.height / 2];
    const index = NAMES.indexOf(name);
    const near = this.#isNear(index < 6 ? 0 : 1);
    const column = near ? index % 6 : 5 - (index % 6);
    return [PIT.left + (column + 0.5) * PIT.width, near ? TOPS.nearRow : TOPS.farRow];
  }

  plan() {
    const far = this.config.turned ? 0 : 1;
    const middle = (TOPS.farRow + TOPS.nearRow) / 2;
    const rows = [
      this.#planStore(far, TOPS.farStore),
      this.#planPits(far, middle - REACH),
      this.#planPits(1 - far, middle),
      this.#planStore(1 - far, TOPS.nearStore),
    ];
    return { width: WIDTH, height: HEIGHT, rows };
  }

  /** @param {number} side @param {number} top */
  #planStore(side, top) {
    const cell = { name: STORES[side], left: STORE.left, size: STORE.width, span: 6 };
    return { top, size: STORE.height, cells: [cell] };
  }

  /** @param {number} side @param {number} top */
  #planPits(side, top) {
    const names = NAMES.slice(side * 6, side * 6 + 6);
    if (!this.#isNear(side)) names.reverse();
    const cells = names.map((name, column) => ({ name, left: PIT.left + column * PIT.width, size: PIT.width }));
    return { top, size: REACH, label: () => t(`side.awale.${side}`), cells };
  }

  /** @param {Element} svg */
  build(svg) {
    draw(svg, "rect", { class: "awale-wood", width: WIDTH, height: HEIGHT, rx: 26 });
    draw(svg, "path", { class: "awale-way", d: "M12 208V336m-7 -9l7 10l7 -10M628 340V212m-7 9l7 -10l7 10" });
    this.variant = draw(svg, "text", { class: "awale-variant", x: WIDTH / 2, y: 17 });
    this.stores = STORES.map((name) => this.#buildStore(svg, name));
    this.pits = NAMES.map((name, index) => this.#buildPit(svg, name, index));
    this.hand = draw(svg, "g", { class: "awale-hand is-hidden" });
  }

  /** @param {Element} svg @param {string} name */
  #buildStore(svg, name) {
    const y = this.centre(name)[1];
    const group = draw(svg, "g", { class: "awale-store", transform: `translate(${STORE.left} ${y})` });
    const { width, height } = STORE;
    draw(group, "rect", { class: "awale-hollow", y: -height / 2, width, height, rx: height / 2 });
    draw(group, "path", { class: "awale-mover", d: "M18 -8l12 8l-12 8z" });
    const owner = draw(group, "text", { class: "awale-owner", x: 38, y: 1 });
    const seeds = draw(group, "g", { transform: "translate(134 0)" });
    const gain = draw(group, "text", { class: "awale-gain", x: 526, y: 1 });
    const number = draw(group, "text", { class: "awale-taken", x: width - 20, y: 1 });
    return { group, owner, seeds, gain, number, count: -1 };
  }

  /** @param {Element} svg @param {string} name @param {number} index */
  #buildPit(svg, name, index) {
    const [x, y] = this.centre(name);
    const out = this.#isNear(index < 6 ? 0 : 1) ? 1 : -1; // numbers lie outside, hints between the rows
    const group = draw(svg, "g", { class: "awale-pit", transform: `translate(${x} ${y})` });
    const hollow = { x: -44, y: -54, width: 88, height: 108, rx: 42 };
    draw(group, "rect", { class: "awale-hollow", ...hollow });
    draw(group, "rect", { class: "awale-rim", ...hollow });
    const seeds = draw(group, "g", { class: "awale-seeds", transform: `translate(0 ${-7 * out})` });
    draw(group, "rect", { class: "awale-pill", x: -27, y: NUMBER * out - 19, width: 54, height: 38, rx: 19 });
    const number = draw(group, "text", { class: "awale-number", y: NUMBER * out + 1 });
    draw(group, "text", { class: "awale-letter", y: LETTER * out }).textContent = name;
    draw(group, "circle", { class: "awale-last", cx: 17, cy: LETTER * out, r: 6 });
    const hint = buildHint(draw(group, "g", { transform: `translate(0 ${-HINT * out}) scale(0.75)` }), 118);
    return { group, seeds, number, hint, count: -1 };
  }

  /** @param {BoardConfig | null} before */
  update(before) {
    const now = this.config;
    const same = before && String(before.pits) === String(now.pits) && String(before.taken) === String(now.taken);
    if (!before || (same && before.turned === now.turned)) return;
    this.finish();
    if (now.animate && now.sowing && String(before.pits) === String(now.before)) this.#sow();
  }

  /** Show the last move seed by seed. */
  #sow() {
    const { speed } = this.config;
    const list = motion() && speed > 0 ? pictures(this.config, (name) => NAMES.indexOf(name)) : [];
    let timer = 0;
    const next = () => {
      const scene = list.shift();
      if (!scene) return this.finish();
      this.#scene = scene;
      timer = setTimeout(next, speed * scene.beats);
      this.paint();
      this.#glide(scene.hand, speed * scene.beats);
    };
    this.begin(() => {
      clearTimeout(timer);
      this.#scene = null;
      mark(this.hand, "class", "awale-hand is-hidden");
      this.paint();
    });
    if (list.length) next();
    else timer = setTimeout(next, 0);
  }

  /** @param {Hand | null} hand @param {number} duration */
  #glide(hand, duration) {
    mark(this.hand, "class", hand ? "awale-hand" : "awale-hand is-hidden");
    if (!hand) return;
    /** @param {number | string} at */
    const spot = (at) => `translate(${this.centre(typeof at === "number" ? NAMES[at] : at).map((part) => `${part}px`).join(",")})`;
    this.hand.replaceChildren();
    draw(this.hand, "circle", { class: "awale-palm", r: 38 });
    plant(this.hand, pile(hand.count, 32));
    const way = [{ transform: spot(hand.from) }, { transform: spot(hand.to) }];
    this.hand.animate(way, { duration, easing: "ease-in-out", fill: "forwards" });
  }

  paint() {
    if (!this.config) return;
    const { preview, variant, moves } = this.config;
    const { pits, taken } = this.#scene ?? preview ?? this.config;
    const aim = this.#scene ? null : this.aim;
    mark(this.drawing, "class", preview ? "board-drawing is-preview" : "board-drawing");
    write(this.variant, t(`game.${variant}`));
    this.stores.forEach((store, side) => this.#paintStore(store, side, taken[side], aim));
    this.pits.forEach((pit, index) => this.#paintPit(pit, index, pits[index], aim ? { name: aim, ...moves[aim] } : null));
  }

  /** @param {StoreNodes} store @param {number} side @param {number} count @param {string | null} aim */
  #paintStore(store, side, count, aim) {
    const { moves } = this.config;
    const gain = aim && this.config.side === side ? total(moves[aim].captured) : 0;
    mark(store.group, "class", `awale-store${this.config.side === side ? " is-mover" : ""}`);
    write(store.owner, t(`side.awale.${side}`));
    write(store.gain, gain ? `+${gain}` : "");
    write(store.number, String(count));
    if (store.count === count) return;
    store.count = count;
    store.seeds.replaceChildren();
    plant(store.seeds, heap(count));
  }

  /** @param {PitNodes} pit @param {number} index @param {number} count @param {(Effect & { name: string }) | null} aimed */
  #paintPit(pit, index, count, aimed) {
    const { moves, playable, editing, preview, hints, last, refused } = this.config;
    const name = NAMES[index];
    const quiet = this.#scene || preview || editing;
    const caught = aimed?.captured.find(([where]) => where === name);
    /** @type {Record<string, boolean>} */
    const states = {
      "is-open": !quiet && playable && name in moves,
      "is-refused": !quiet && playable && name in refused,
      "is-aimed": aimed?.name === name,
      "is-sown": Boolean(aimed?.sown.includes(name)),
      "is-end": aimed?.sown.at(-1) === name,
      "is-caught": Boolean(caught) || this.#scene?.lit === index,
      "is-last": !preview && name === last,
    };
    mark(pit.group, "class", ["awale-pit", ...Object.keys(states).filter((state) => states[state])].join(" "));
    write(pit.number, caught ? `−${caught[1]}` : String(count));
    drawHint(pit.hint, !quiet && name in moves ? hints?.[name] : null);
    if (pit.count === count) return;
    pit.count = count;
    pit.seeds.replaceChildren();
    plant(pit.seeds, pile(count, 40));
  }

  /** @param {string} name */
  describe(name) {
    const { pits, taken, moves, hints, last, refused, playable } = this.config;
    const store = STORES.indexOf(name);
    if (store >= 0) return [t("awale.store", { side: t(`side.awale.${store}`) }), seedsInWords(taken[store])];
    const words = [name, seedsInWords(pits[NAMES.indexOf(name)])];
    if (name === last) words.push(t("board.last"));
    if (name in moves) words.push(t("awale.playable"), ...this.#promise(moves[name]));
    if (name in moves && hints?.[name]) words.push(...sayHint(hints[name]));
    if (playable && refused[name] === "feed") words.push(t("awale.feed"));
    return words;
  }

  /** @param {Effect} given */
  #promise({ captured }) {
    return captured.length ? [t("awale.takes", { count: total(captured) })] : [];
  }

  /** @param {string} name */
  refusal(name) {
    const pit = NAMES.indexOf(name);
    if (pit < 0) return null;
    return (pit < 6 ? 0 : 1) === this.config.side ? this.config.refused[name] ?? null : "other";
  }
}

/** @param {[string, number][]} captured */
const total = (captured) => captured.reduce((sum, [, count]) => sum + count, 0);

/** @param {number} count */
function seedsInWords(count) {
  return t(`awale.seeds.${new Intl.PluralRules(currentLanguage()).select(count)}`, { count });
}

/** @param {Element} parent @param {Seed[]} seeds */
function plant(parent, seeds) {
  for (const { x, y, size, angle } of seeds) {
    const transform = `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle})`;
    draw(parent, "ellipse", { class: "awale-seed", rx: size.toFixed(1), ry: (size * 0.84).toFixed(1), transform });
  }
}

customElements.define("awale-board", AwaleBoard);
