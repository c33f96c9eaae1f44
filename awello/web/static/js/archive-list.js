/** The games of the archive: found by who played them, when, what and how they ended, and opened on the board. */
import { bringInArchived } from "./bring-in.js";
import { h } from "./dom.js";
import { GAMES } from "./game.js";
import { problemWords } from "./notices.js";
import { api } from "./server.js";
import { currentLanguage, t } from "./words.js";

const COUNT = 20; // games at a time
const PATIENCE = 250; // milliseconds after the last letter
const RESULTS = ["", "first", "second", "draw", "open"];

export class ArchiveList {
  constructor(app) {
    this.app = app;
    this.asked = {};
    this.build();
  }

  build() {
    this.turn = 0; // answers to earlier questions come too late
    this.state = null;
    this.status = h("p", { class: "soft", id: "archive-status", role: "status" });
    this.rows = h("ol", { class: "archive-rows", id: "archive-rows" });
    this.more = h("button", { id: "archive-more", hidden: true, onclick: () => this.ask(this.last) }, t("archive.more"));
    this.element = h("section", { class: "archive" }, this.filters(), this.status, this.rows, this.more);
  }

  // ---- what is asked for --------------------------------------------------------------------------------------------
  filters() {
    const games = [["", t("archive.game.all")], ...Object.keys(GAMES).map((name) => [name, t(`game.${name}`)])];
    return h("form", { class: "archive-filters", onsubmit: (event) => event.preventDefault() },
      this.field("player"),
      h("details", { class: "more", open: this.open, ontoggle: (event) => (this.open = event.target.open) }, h("summary", {}, t("archive.filters")),
        this.choice("game", games),
        this.field("opening"), this.field("year", { maxLength: 9, placeholder: "1990-1999" }),
        this.choice("result", RESULTS.map((name) => [name, t(`archive.result.${name || "any"}`)])),
        this.throughBox()));
  }

  labelled(name, control) {
    return h("div", { class: "row" }, h("label", { htmlFor: control.id }, t(`archive.${name}`)), control);
  }

  field(name, more = {}) {
    const change = (event) => this.change(name, event.target.value.trim());
    return this.labelled(name, h("input", { id: `archive-${name}`, autocomplete: "off", spellcheck: false, maxLength: 60, value: this.asked[name] ?? "", oninput: change, ...more }));
  }

  choice(name, values) {
    const options = values.map(([value, words]) => h("option", { value, selected: value === this.asked[name] }, words));
    return this.labelled(name, h("select", { id: `archive-${name}`, onchange: (event) => this.change(name, event.target.value) }, ...options));
  }

  throughBox() {
    const change = (event) => this.change("through", event.target.checked);
    return this.labelled("through", h("input", { type: "checkbox", id: "archive-through", checked: Boolean(this.asked.through), onchange: change }));
  }

  change(name, value) {
    this.asked[name] = value;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), PATIENCE);
  }

  /** Which games are wanted, as the server understands it. */
  wanted() {
    const { game } = this.app.table;
    const { through, ...others } = this.asked;
    const here = through ? { game: game.game, through: game.at.view.position ?? "" } : {};
    const known = Object.entries({ ...others, ...here }).filter(([, value]) => value);
    return new URLSearchParams(known).toString();
  }

  // ---- what is found ------------------------------------------------------------------------------------------------
  /** The archive has changed: ask again. */
  forget() {
    this.state = null;
  }

  /** Ask, if something else is wanted than what is shown. */
  update() {
    if (this.app.table.game.at.view.provisional && this.asked.through) return;
    const state = this.wanted();
    if (state === this.state) return;
    this.state = state;
    this.ask(null);
  }

  async ask(before) {
    const turn = ++this.turn;
    try {
      const found = await api("GET", `/api/games?limit=${COUNT}&${this.state}${before ? `&before=${before}` : ""}`);
      if (turn === this.turn) this.show(found, before);
    } catch (error) {
      if (turn !== this.turn) return;
      this.status.textContent = problemWords(error);
      if (!before) this.rows.replaceChildren();
      this.more.hidden = true;
    }
  }

  show({ games, rows }, before) {
    const items = rows.map((row) => this.item(row));
    if (before) this.rows.append(...items);
    else this.rows.replaceChildren(...items);
    this.last = rows.at(-1)?.number;
    this.more.hidden = this.rows.children.length >= games || !rows.length;
    const count = games.toLocaleString(currentLanguage());
    this.status.textContent = games ? t(games === 1 ? "explorer.one" : "explorer.many", { games: count }) : t("archive.none");
    if (before) items[0]?.firstChild.focus();
  }

  item(row) {
    const { number, game, players, winner, date, event, opening } = row;
    const family = GAMES[game].family;
    const side = (place) => h("span", { class: winner === place ? "archive-side is-winner" : "archive-side" }, players[place] ?? t(`side.${family}.${place}`));
    const facts = [number, t(`game.${game}`), date, opening?.[currentLanguage()], event].filter(Boolean).join(" · ");
    return h("li", {}, h("button", { class: "archive-game", "data-number": number, onclick: () => bringInArchived(this.app, number) },
      side(0), h("span", { class: "archive-score" }, scoreWords(row)), side(1),
      h("span", { class: "archive-facts" }, facts)));
  }
}

/** How a game ended, in a few letters. */
function scoreWords({ score, winner, loser }) {
  if (loser !== null) return winner ? "0–1" : "1–0";
  return score ? score.join("–") : "–";
}
