/** The ladder: the best of a game at a speed. */
import { clubProblem, ratingWords } from "./club-words.js";
import { h } from "./dom.js";
import { GAMES } from "./game.js";
import { api } from "./server.js";
import { settings } from "./settings.js";
import { t } from "./words.js";

const SPEEDS = ["blitz", "standard"];

export class ClubLadder {
  constructor(club, tab) {
    this.club = club;
    this.tab = tab;
    const game = Object.hasOwn(GAMES, settings.game) ? settings.game : "othello";
    this.kind = h("select", { id: "ladder-kind", onchange: () => this.ask() }, ...Object.keys(GAMES).map((name) => h("option", { value: name, selected: name === game }, t(`game.${name}`))));
    this.speed = h("select", { id: "ladder-speed", onchange: () => this.ask() }, ...SPEEDS.map((name) => h("option", { value: name }, t(`club.speed.${name}`))));
    this.status = h("p", { class: "soft", id: "ladder-status", role: "status" });
    this.rows = h("tbody");
    const heads = ["place", "player", "rating", "results"].map((name) => h("th", { scope: "col" }, t(`club.ladder.${name}`)));
    this.table = h("table", { class: "summary club-table", id: "ladder", hidden: true }, h("caption", { class: "unseen" }, t("club.view.ladder")), h("thead", {}, h("tr", {}, ...heads)), this.rows);
    this.element = h("section", { "aria-label": t("club.view.ladder") },
      h("div", { class: "row" }, h("label", { htmlFor: "ladder-kind" }, t("club.form.kind")), this.kind),
      h("div", { class: "row" }, h("label", { htmlFor: "ladder-speed" }, t("club.form.speed")), this.speed),
      this.table, this.status);
  }

  async ask() {
    const query = new URLSearchParams({ game: this.kind.value, speed: this.speed.value });
    try {
      const found = await api("GET", `/api/club/ladder?${query}`);
      if (query.get("game") === this.kind.value && query.get("speed") === this.speed.value) this.show(found);
    } catch (error) {
      this.status.textContent = clubProblem(error);
    }
  }

  show(found) {
    this.table.hidden = !found.length;
    this.status.textContent = t(found.length ? "club.ladder.about" : "club.ladder.none");
    this.rows.replaceChildren(...found.map((row, place) => h("tr", { class: row.name === this.club.name ? "here" : "" },
      h("td", {}, String(place + 1)),
      h("th", { scope: "row" }, h("button", { class: "plain club-name", onclick: () => this.tab.showPlayer(row.name) }, row.name), row.program ? h("small", {}, t("club.program")) : null),
      h("td", {}, ratingWords(row)),
      h("td", {}, `${row.wins}–${row.draws}–${row.losses}`))));
  }
}
