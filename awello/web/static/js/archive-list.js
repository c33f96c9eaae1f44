/** The games of the archive: found by who played them, when, what and how they ended, and opened on the board. */
import { h, row, select } from "./dom.js";
import { GAMES } from "./game.js";
import { gameChoices, sideName } from "./game-words.js";
import { openArchived } from "./import-dialog.js";
import { problemWords } from "./notices.js";
import { api } from "./server.js";
import { state } from "./store.js";
import { currentLanguage, t } from "./words.js";

const COUNT = 20; // games at a time
const PATIENCE = 250; // milliseconds after the last letter
const RESULTS = ["", "first", "second", "draw", "open"];

export class ArchiveList {
  /** @param {ArchiveList} [before] */
  constructor(before) {
    this.asked = filtersOf(before);
    this.open = before?.open ?? false; // whether all filters are shown
    this.turn = 0; // answers to earlier questions come too late
    /** @type {string | null} */
    this.query = null; // of the games that are shown
    /** @type {number | null} */
    this.last = null; // the number of the last of them
    this.timer = 0;
    this.status = h("p", { class: "soft", id: "archive-status", role: "status" });
    this.rows = h("ol", { class: "archive-rows", id: "archive-rows" });
    this.more = h("button", { id: "archive-more", hidden: true, onclick: () => this.ask(this.last) }, t("archive.more"));
    this.element = h("section", { class: "archive" }, this.filters(), this.status, this.rows, this.more);
  }

  // ---- what is asked for --------------------------------------------------------------------------------------------
  filters() {
    /** @type {[string, string][]} */
    const games = [["", t("archive.game.all")], ...gameChoices()];
    return h("form", { class: "archive-filters", onsubmit: (event) => event.preventDefault() },
      this.field("player"),
      h("details", { class: "more", open: this.open, ontoggle: (event) => (this.open = event.target.open) }, h("summary", {}, t("archive.filters")),
        this.choice("game", games),
        this.field("opening"), this.field("year", { maxLength: 9, placeholder: "1990-1999" }),
        this.choice("result", RESULTS.map((name) => [name, t(`archive.result.${name || "any"}`)])),
        this.throughBox()));
  }

  /** @param {string} name @param {Properties} [more] */
  field(name, more = {}) {
    const change = (/** @type {HandledEvent} */ event) => this.change(name, event.target.value.trim());
    return row(t(`archive.${name}`), h("input", { id: `archive-${name}`, autocomplete: "off", spellcheck: false, maxLength: 60, value: this.asked[name] ?? "", oninput: change, ...more }));
  }

  /** @param {string} name @param {[string, string][]} values */
  choice(name, values) {
    const change = (/** @type {HandledEvent} */ event) => this.change(name, event.target.value);
    return row(t(`archive.${name}`), select({ id: `archive-${name}`, onchange: change }, values, this.asked[name]));
  }

  throughBox() {
    const change = (/** @type {HandledEvent} */ event) => this.change("through", event.target.checked);
    return row(t("archive.through"), h("input", { type: "checkbox", id: "archive-through", checked: Boolean(this.asked.through), onchange: change }));
  }

  /** @param {string} name @param {string | boolean} value */
  change(name, value) {
    this.asked[name] = value;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), PATIENCE);
  }

  /** Which games are wanted, as the server understands it. */
  wanted() {
    const { game } = state;
    const { through, ...others } = this.asked;
    const here = through ? { game: game.game, through: game.at.view.position ?? "" } : {};
    const known = Object.entries({ ...others, ...here }).filter(([, value]) => value);
    return new URLSearchParams(known).toString();
  }

  // ---- what is found ------------------------------------------------------------------------------------------------
  /** The archive has changed: ask again. */
  forget() {
    this.query = null;
  }

  /** Ask, if something else is wanted than what is shown. */
  update() {
    if (state.game.at.view.provisional && this.asked.through) return;
    const query = this.wanted();
    if (query === this.query) return;
    this.query = query;
    this.ask(null);
  }

  /** @param {number | null} before */
  async ask(before) {
    const turn = ++this.turn;
    try {
      const found = await api("GET", `/api/games?limit=${COUNT}&${this.query}${before ? `&before=${before}` : ""}`);
      if (turn === this.turn) this.show(found, before);
    } catch (error) {
      if (turn !== this.turn) return;
      this.status.textContent = problemWords(error);
      if (!before) this.rows.replaceChildren();
      this.more.hidden = true;
    }
  }

  /** @param {{ total: number, games: ArchivedGame[] }} page @param {number | null} before */
  show({ total, games }, before) {
    const items = games.map((found) => this.item(found));
    if (before) this.rows.append(...items);
    else this.rows.replaceChildren(...items);
    this.last = games.at(-1)?.number ?? null;
    this.more.hidden = this.rows.children.length >= total || !games.length;
    const count = total.toLocaleString(currentLanguage());
    this.status.textContent = total ? t(total === 1 ? "explorer.one" : "explorer.many", { games: count }) : t("archive.none");
    if (before) items[0]?.querySelector("button")?.focus();
  }

  /** @param {ArchivedGame} found */
  item(found) {
    const { number, game, players, winner, date, event, opening } = found;
    const family = GAMES[game].family;
    /** @param {number} place */
    const side = (place) => h("span", { class: winner === place ? "archive-side is-winner" : "archive-side" }, players[place] ?? sideName(family, place));
    const facts = [number, t(`game.${game}`), date, opening?.[currentLanguage()], event].filter(Boolean).join(" · ");
    return h("li", {}, h("button", { class: "archive-game", "data-number": number, onclick: () => openArchived(number) },
      side(0), h("span", { class: "archive-score" }, scoreWords(found)), side(1),
      h("span", { class: "archive-facts" }, facts)));
  }
}

/** The filters that were chosen before. @param {ArchiveList} [list] @returns {Record<string, any>} */
const filtersOf = (list) => list?.asked ?? {};

/** How a game ended, in a few letters. @param {ArchivedGame} game */
function scoreWords({ score, winner, loser }) {
  if (loser !== null) return winner ? "0–1" : "1–0";
  return score ? score.join("–") : "–";
}
