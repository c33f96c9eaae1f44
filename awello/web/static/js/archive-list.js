/** The list of archived games, with filters; a click opens a game on the board. */
import { buildFormRow, buildSelect, h } from "./dom.js";
import { playerName, sideName, variantOptions } from "./game-text.js";
import { RULES } from "./game.js";
import { currentLanguage, pluralKey, t } from "./i18n.js";
import { openArchivedGame } from "./import-dialog.js";
import { formatError } from "./notices.js";
import { api } from "./server.js";
import { state } from "./store.js";

const PAGE_SIZE = 20;
const TYPING_DELAY_MS = 250;
const RESULTS = ["", "first", "second", "draw", "unfinished"];

export class ArchiveList {
  /** @param {ArchiveList} [before] */
  constructor(before) {
    this.filters = previousFilters(before);
    this.openFilters = before?.openFilters ?? false;
    this.request = 0; // number of the latest request: responses to earlier ones are ignored
    /** @type {string | null} */
    this.query = null; // query of the listed games
    /** @type {number | null} */
    this.last = null; // number of the last listed game
    this.timer = 0;
    this.status = h("p", { class: "muted", id: "archive-status", role: "status" });
    this.rows = h("ol", { class: "archive-rows", id: "archive-rows" });
    this.more = h("button", { id: "archive-more", hidden: true, onclick: () => this.load(this.last) }, t("archive.more"));
    this.element = h("section", { class: "archive" }, this.buildFilterForm(), this.status, this.rows, this.more);
  }

  // ---- filters ------------------------------------------------------------------------------------------------------
  buildFilterForm() {
    /** @type {[string, string][]} */
    const games = [["", t("archive.game.all")], ...variantOptions()];
    return h("form", { class: "archive-filters", onsubmit: (event) => event.preventDefault() },
      this.buildFilterInput("player"),
      h("details", { class: "disclosure", open: this.openFilters, ontoggle: (event) => (this.openFilters = event.target.open) }, h("summary", {}, t("archive.filters")),
        this.buildFilterSelect("game", games),
        this.buildFilterInput("opening"), this.buildFilterInput("year", { maxLength: 9, placeholder: "1990-1999" }),
        this.buildFilterSelect("result", RESULTS.map((name) => [name, t(`archive.result.${name || "any"}`)])),
        this.buildPositionCheckbox()));
  }

  /** @param {string} name @param {Properties} [more] */
  buildFilterInput(name, more = {}) {
    const change = (/** @type {HandledEvent} */ event) => this.setFilter(name, event.target.value.trim());
    return buildFormRow(t(`archive.${name}`), h("input", { id: `archive-${name}`, autocomplete: "off", spellcheck: false, maxLength: 60, value: this.filters[name] ?? "", oninput: change, ...more }));
  }

  /** @param {string} name @param {[string, string][]} values */
  buildFilterSelect(name, values) {
    const change = (/** @type {HandledEvent} */ event) => this.setFilter(name, event.target.value);
    return buildFormRow(t(`archive.${name}`), buildSelect({ id: `archive-${name}`, onchange: change }, values, this.filters[name]));
  }

  buildPositionCheckbox() {
    const change = (/** @type {HandledEvent} */ event) => this.setFilter("position", event.target.checked);
    return buildFormRow(t("archive.position"), h("input", { type: "checkbox", id: "archive-position", checked: Boolean(this.filters.position), onchange: change }));
  }

  /** @param {string} name @param {string | boolean} value */
  setFilter(name, value) {
    this.filters[name] = value;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), TYPING_DELAY_MS);
  }

  /** The filters as a query string of the API. */
  formatQuery() {
    const { game } = state;
    const { position, ...others } = this.filters;
    const positionFilter = position ? { game: game.variant, position: game.current.position.position ?? "" } : {};
    const known = Object.entries({ ...others, ...positionFilter }).filter(([, value]) => value);
    return new URLSearchParams(known).toString();
  }

  // ---- results ------------------------------------------------------------------------------------------------------
  /** Reload the list, because the archive has changed. */
  invalidate() {
    this.query = null;
  }

  /** Load the list if the filters have changed. */
  update() {
    if (state.game.current.position.provisional && this.filters.position) return;
    const query = this.formatQuery();
    if (query === this.query) return;
    this.query = query;
    this.load(null);
  }

  /** @param {number | null} before */
  async load(before) {
    const request = ++this.request;
    try {
      const response = await api("GET", `/api/games?last=${PAGE_SIZE}&${this.query}${before ? `&before=${before}` : ""}`);
      if (request === this.request) this.show(response, before);
    } catch (error) {
      if (request !== this.request) return;
      this.status.textContent = formatError(error);
      if (!before) this.rows.replaceChildren();
      this.more.hidden = true;
    }
  }

  /** @param {{ total: number, games: ArchivedGame[] }} page @param {number | null} before */
  show({ total, games }, before) {
    const items = games.map((entry) => this.renderGame(entry));
    if (before) this.rows.append(...items);
    else this.rows.replaceChildren(...items);
    this.last = games.at(-1)?.number ?? null;
    this.more.hidden = this.rows.children.length >= total || !games.length;
    const count = total.toLocaleString(currentLanguage());
    this.status.textContent = total ? t(`games.count.${pluralKey(total)}`, { games: count }) : t("archive.none");
    if (before) items[0]?.querySelector("button")?.focus();
  }

  /** @param {ArchivedGame} entry */
  renderGame(entry) {
    const { number, game, players, winner, date, event, opening } = entry;
    const rules = RULES[game];
    /** @param {number} index */
    const side = (index) => {
      const name = players[index] ?? sideName(rules.family, index);
      return h("span", { class: winner === index ? "archive-side is-winner" : "archive-side", title: name }, playerName(name, rules));
    };
    const facts = [number, t(`game.${game}`), date, opening?.[currentLanguage()], event].filter(Boolean).join(" · ");
    return h("li", {}, h("button", { class: "archive-game", "data-number": number, onclick: () => openArchivedGame(number) },
      side(0), h("span", { class: "archive-score" }, formatScore(entry)), side(1),
      h("span", { class: "archive-facts" }, facts)));
  }
}

/** The filters of the previous panel. @param {ArchiveList} [list] @returns {Record<string, any>} */
const previousFilters = (list) => list?.filters ?? {};

/** The result of a game, such as "33–31" or "1–0". @param {ArchivedGame} game */
function formatScore({ score, winner, loser }) {
  if (loser !== null) return winner ? "0–1" : "1–0";
  return score ? score.join("–") : "–";
}
