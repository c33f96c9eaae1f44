/** The ladder: the best of a game at a speed. */
import { clubProblem, ratingWords } from "./club-words.js";
import { h, row, select } from "./dom.js";
import { gameChoices } from "./game-words.js";
import { api } from "./server.js";
import { usualGame } from "./open-game.js";
import { t } from "./words.js";

const SPEEDS = ["blitz", "standard"];

export class ClubLadder {
  /** @param {Club} club @param {ClubTab} tab */
  constructor(club, tab) {
    this.club = club;
    this.tab = tab;
    this.kind = select({ id: "ladder-kind", onchange: () => this.ask() }, gameChoices(), usualGame());
    this.speed = select({ id: "ladder-speed", onchange: () => this.ask() }, SPEEDS.map((name) => [name, t(`club.speed.${name}`)]));
    this.status = h("p", { class: "soft", id: "ladder-status", role: "status" });
    this.rows = h("tbody");
    const heads = ["place", "player", "rating", "results"].map((name) => h("th", { scope: "col" }, t(`club.ladder.${name}`)));
    this.table = h("table", { class: "summary club-table", id: "ladder", hidden: true }, h("caption", { class: "unseen" }, t("club.view.ladder")), h("thead", {}, h("tr", {}, ...heads)), this.rows);
    this.element = h("section", { "aria-label": t("club.view.ladder") },
      row(t("club.form.kind"), this.kind), row(t("club.form.speed"), this.speed),
      this.table, this.status);
  }

  async ask() {
    const query = new URLSearchParams({ variant: this.kind.value, speed: this.speed.value });
    try {
      const found = await api("GET", `/api/club/leaderboard?${query}`);
      if (query.get("variant") === this.kind.value && query.get("speed") === this.speed.value) this.show(found);
    } catch (error) {
      this.status.textContent = clubProblem(error);
    }
  }

  /** @param {Ranked[]} found */
  show(found) {
    this.table.hidden = !found.length;
    this.status.textContent = t(found.length ? "club.ladder.about" : "club.ladder.none");
    this.rows.replaceChildren(...found.map((player, place) => h("tr", { class: player.name === this.club.name ? "here" : "" },
      h("td", {}, String(place + 1)),
      h("th", { scope: "row" }, h("button", { class: "plain club-name", onclick: () => this.tab.showPlayer(player.name) }, player.name), player.bot ? h("small", {}, t("club.program")) : null),
      h("td", {}, ratingWords(player)),
      h("td", {}, `${player.wins}–${player.draws}–${player.losses}`))));
  }
}
