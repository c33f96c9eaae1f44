/**
 * <search-tree>: the nodes visited by a textbook search from the current position, as an image to zoom and download.
 *
 * `config` is { request: { game, start, moves }, api: async (method, path, body) }. Only the button starts a search; a
 * new request does not.
 */
import { buildLabelledField } from "./contest-form.js";
import { h } from "./dom.js";
import { RULES } from "./game.js";
import { currentLanguage, t } from "./i18n.js";
import { formatError } from "./notices.js";

const SEARCHES = ["minimax", "alphabeta", "negamax", "negamax-alphabeta"];
const DEPTHS = [1, 2, 3, 4];
const ZOOM_STEP = 1.5;
const MIN_SCALE = 0.01;
const MIN_INITIAL_SCALE = 0.6; // for large trees
const MAX_SCALE = 4;

class SearchTree extends HTMLElement {
  /** @type {any} */
  #config = null;
  /** @type {Record<string, any>} */
  #options = { search: "alphabeta", heuristic: "", depth: 2 };
  #result = /** @type {any} */ (null); // { picture, url, width, height }
  #scale = 1;
  parts = /** @type {any} */ (null);
  image = h("img", { class: "search-tree-image" });
  box = h("div", { class: "lab-scroll search-tree-box", tabindex: 0, role: "region" }, this.image);

  get config() {
    return this.#config;
  }

  set config(config) {
    const before = this.#rules?.family;
    this.#config = config;
    if (this.#rules.family !== before) this.#options.heuristic = this.#rules.heuristics[0];
    if (this.isConnected && (this.#rules.family !== before || !this.parts)) this.refresh();
  }

  connectedCallback() {
    this.refresh();
  }

  disconnectedCallback() {
    this.#clearResult();
  }

  /** Rebuild everything, for example in another language. */
  refresh() {
    if (!this.#config || !this.isConnected) return;
    this.parts = this.#build();
    this.#show();
  }

  get #rules() {
    return this.#config && RULES[this.#config.request.game];
  }

  // --- the search ----------------------------------------------------------------------------------------------------
  #build() {
    const errorBox = h("p", { class: "lab-error", role: "alert", hidden: true });
    const button = h("button", { class: "primary" }, t("tree.draw"));
    const lines = h("div", { role: "status" });
    const output = h("div", { class: "search-tree-output" });
    /** @param {Event} event */
    const ask = (event) => {
      event.preventDefault();
      this.#search();
    };
    const form = h("form", { class: "lab-card", onsubmit: ask },
      h("div", { class: "lab-numbers" },
        buildLabelledField(t("tree.search"), this.#buildSelect("search", SEARCHES)),
        buildLabelledField(t("tree.heuristic"), this.#buildSelect("heuristic", this.#rules.heuristics)),
        buildLabelledField(t("tree.depth"), this.#buildSelect("depth", DEPTHS))),
      errorBox, h("div", { class: "lab-row" }, button));
    this.replaceChildren(form, lines, output);
    return { errorBox, button, lines, output };
  }

  /** @param {string} name @param {(string | number)[]} options */
  #buildSelect(name, options) {
    const select = h("select", { class: "lab-input" }, options.map((option) => h("option", { value: option }, String(option))));
    select.value = this.#options[name];
    select.addEventListener("change", () => (this.#options[name] = select.value));
    return select;
  }

  async #search() {
    const { errorBox, button } = this.parts;
    const { search, heuristic, depth } = this.#options;
    errorBox.hidden = button.disabled = true;
    try {
      const body = { ...this.#config.request, search: `${search}:${heuristic}@${depth}` };
      this.#showResult(await this.#config.api("POST", "/api/tree", body));
    } catch (error) {
      this.parts.errorBox.textContent = formatError(error);
      this.parts.errorBox.hidden = false;
    }
    button.disabled = false;
  }

  // --- the image -----------------------------------------------------------------------------------------------------
  /** @param {TreePicture} picture */
  #showResult(picture) {
    const { svg } = picture;
    this.#clearResult();
    const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    const [, width, height] = (/width="(\d+)" height="(\d+)"/.exec(svg) ?? []).map(Number);
    const root = Number(/<rect x="([\d.]+)"/.exec(svg)?.[1]); // the root node
    this.#result = { picture, url, width, height };
    this.#show();
    this.#resize(Math.min(1, Math.max(MIN_INITIAL_SCALE, this.box.clientWidth / this.#result.width)));
    this.box.scrollLeft = root * this.#scale - this.box.clientWidth / 2;
  }

  #clearResult() {
    if (this.#result) URL.revokeObjectURL(this.#result.url);
    this.#result = null;
    this.parts?.lines.replaceChildren();
    this.parts?.output.replaceChildren();
  }

  #show() {
    if (!this.#result) return;
    const { picture, url, width, height } = this.#result;
    const lines = describeSearch(picture);
    Object.assign(this.image, { src: url, width, height, alt: lines.join(". ") });
    this.box.ariaLabel = t("tree.picture");
    this.parts.lines.replaceChildren(...lines.map((line) => h("p", { class: "search-tree-line" }, line)));
    this.parts.output.replaceChildren(
      h("div", { class: "lab-row" },
        renderZoomButton("fit", "⤢", () => this.#fit()), renderZoomButton("zoom-out", "−", () => this.#zoom(1 / ZOOM_STEP)), renderZoomButton("zoom-in", "+", () => this.#zoom(ZOOM_STEP)),
        h("a", { class: "button", href: url, download: "tree.svg" }, t("tree.download"))),
      this.box,
      h("p", { class: "lab-muted" }, t("tree.legend"), picture.counts.pruned ? ` ${t("tree.legend.pruned")}` : ""));
    this.#resize(this.#scale);
  }

  /** Fit the width. */
  #fit() {
    this.#resize(this.box.clientWidth / this.#result.width);
  }

  /** Zoom about the centre of the visible part. @param {number} factor */
  #zoom(factor) {
    const { box } = this;
    const [x, y] = [box.scrollLeft + box.clientWidth / 2, box.scrollTop + box.clientHeight / 2];
    const before = this.#scale;
    this.#resize(before * factor);
    const grown = this.#scale / before;
    box.scrollTo(x * grown - box.clientWidth / 2, y * grown - box.clientHeight / 2);
  }

  /** @param {number} scale */
  #resize(scale) {
    this.#scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale));
    this.image.style.width = `${Math.max(1, this.#scale * this.#result.width)}px`;
  }
}

/** The search and its result in a few lines. @param {TreePicture} picture */
function describeSearch({ search, value, counts, minimax_counts: minimax, pv, mover_view: moverView }) {
  /** @param {number} number */
  const formatNumber = (number) => number.toLocaleString(currentLanguage());
  const { nodes, leaves, pruned } = counts;
  return [
    t("tree.value", { search, value }),
    t("tree.counts", { nodes: formatNumber(nodes), leaves: formatNumber(leaves), pruned: formatNumber(pruned) }),
    minimax && t("tree.minimax", { nodes: formatNumber(minimax[0]), leaves: formatNumber(minimax[1]) }),
    pv.length ? t("tree.pv", { moves: pv.join(" ") }) : null,
    t(moverView ? "tree.view.mover" : "tree.view.root"),
  ].filter((line) => line !== null);
}

/** @param {string} name @param {string} sign @param {() => void} onclick */
function renderZoomButton(name, sign, onclick) {
  const label = t(`tree.${name}`);
  return h("button", { class: "lab-icon-button", "aria-label": label, title: label, onclick }, sign);
}

customElements.define("search-tree", SearchTree);
