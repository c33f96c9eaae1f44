/** The leaderboard of a game and speed. */
import { formatClubError, formatRating } from "./club-text.js";
import { buildFormRow, buildSelect, h } from "./dom.js";
import { variantOptions } from "./game-text.js";
import { t } from "./i18n.js";
import { preferredVariant } from "./navigation.js";
import { api } from "./server.js";

const SPEEDS = ["blitz", "standard"];

export class ClubLeaderboard {
  /** @param {Club} club @param {ClubTab} tab */
  constructor(club, tab) {
    this.club = club;
    this.tab = tab;
    this.variant = buildSelect({ id: "leaderboard-variant", onchange: () => this.load() }, variantOptions(), preferredVariant());
    this.speed = buildSelect({ id: "leaderboard-speed", onchange: () => this.load() }, SPEEDS.map((name) => [name, t(`club.speed.${name}`)]));
    this.status = h("p", { class: "muted", id: "leaderboard-status", role: "status" });
    this.rows = h("tbody");
    const heads = ["rank", "player", "rating", "results"].map((name) => h("th", { scope: "col" }, t(`club.leaderboard.${name}`)));
    this.table = h("table", { class: "summary club-table", id: "leaderboard", hidden: true }, h("caption", { class: "visually-hidden" }, t("club.view.leaderboard")), h("thead", {}, h("tr", {}, ...heads)), this.rows);
    this.element = h("section", { "aria-label": t("club.view.leaderboard") },
      buildFormRow(t("club.form.variant"), this.variant), buildFormRow(t("club.form.speed"), this.speed),
      this.table, this.status);
  }

  async load() {
    const query = new URLSearchParams({ variant: this.variant.value, speed: this.speed.value });
    try {
      const response = await api("GET", `/api/club/leaderboard?${query}`);
      if (query.get("variant") === this.variant.value && query.get("speed") === this.speed.value) this.show(response);
    } catch (error) {
      this.status.textContent = formatClubError(error);
    }
  }

  /** @param {LeaderboardRow[]} players */
  show(players) {
    this.table.hidden = !players.length;
    this.status.textContent = t(players.length ? "club.leaderboard.about" : "club.leaderboard.none");
    this.rows.replaceChildren(...players.map((player, index) => h("tr", { class: player.name === this.club.name ? "is-current" : "" },
      h("td", {}, String(index + 1)),
      h("th", { scope: "row" }, h("button", { class: "plain club-name", onclick: () => this.tab.showPlayer(player.name) }, player.name), player.bot ? h("small", {}, t("club.bot")) : null),
      h("td", {}, formatRating(player)),
      h("td", {}, `${player.wins}–${player.draws}–${player.losses}`))));
  }
}
