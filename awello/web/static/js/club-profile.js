/** A player's profile: ratings, recent games, and a download of the games. */
import { formatClubError, formatRating, formatTimeControl } from "./club-text.js";
import { byId, h } from "./dom.js";
import { currentLanguage, formatDate, formatSigned, pluralKey, t } from "./i18n.js";
import { api } from "./server.js";

const PAGE_SIZE = 20; // games per request

export class ClubProfile {
  /** @param {Club} club @param {ClubTab} tab @param {string | null} [name] */
  constructor(club, tab, name = null) {
    this.club = club;
    this.tab = tab;
    this.name = name;
    this.element = h("section", { class: "club-profile", "aria-label": t("club.view.profile") });
    this.rows = h("ol", { id: "club-recent-games", class: "club-rows" });
    this.more = h("button", { id: "club-more", onclick: () => this.loadMore() }, t("archive.more"));
    this.last = 0; // number of the last listed game
    if (name) this.load(name);
  }

  /** @param {string} name */
  async load(name) {
    this.name = name;
    try {
      const response = await api("GET", `/api/club/players/${encodeURIComponent(name)}?last=${PAGE_SIZE}`);
      if (this.name === name) this.show(response);
    } catch (error) {
      if (this.name === name) this.element.replaceChildren(h("p", { class: "error", role: "status" }, formatClubError(error)));
    }
  }

  /** @param {Profile} profile */
  show(profile) {
    const { name, bot, owner, online, ratings, games_played: games, recent_games: last } = profile;
    const ownerText = bot ? t("club.bot.owner", { name: owner ?? "?" }) : "";
    const count = t(`games.count.${pluralKey(games)}`, { games: games.toLocaleString(currentLanguage()) });
    this.rows.replaceChildren();
    this.addGames(last);
    this.element.replaceChildren(
      h("h2", {}, name), h("p", { class: "muted" }, [ownerText, online ? t("club.profile.online") : "", count].filter(Boolean).join(" · ")),
      h("div", { class: "buttons" },
        this.club.name && online && name !== this.club.name ? h("button", { id: "club-challenge", onclick: () => this.challenge(name) }, t("club.challenge")) : null,
        this.club.name && name !== this.club.name ? this.renderBlockButton(name) : null,
        games ? h("a", { id: "club-download", class: "button", href: `/api/club/players/${encodeURIComponent(name)}/games`, download: "" }, t("club.download")) : null),
      ratings.length ? renderRatings(ratings) : h("p", { class: "muted" }, t("club.ratings.none")),
      h("h2", {}, t("club.recent")), last.length ? this.rows : h("p", { class: "muted" }, t("club.recent.none")), this.more);
  }

  /** The button that blocks or unblocks the player. @param {string} name */
  renderBlockButton(name) {
    const blocked = this.club.blocked.has(name);
    const press = async () => {
      await this.club.block(name, !blocked);
      const button = this.renderBlockButton(name);
      byId("club-block")?.replaceWith(button);
      button.focus();
    };
    return h("button", { id: "club-block", onclick: press }, t(blocked ? "club.unblock" : "club.block"));
  }

  /** @param {string} name */
  challenge(name) {
    this.tab.show("lobby");
    this.tab.views.lobby.prepareChallenge(name);
  }

  async loadMore() {
    try {
      const { recent_games: last } = await api("GET", `/api/club/players/${encodeURIComponent(this.name ?? "")}?last=${PAGE_SIZE}&before=${this.last}`);
      this.addGames(last)[0]?.querySelector("button")?.focus();
    } catch (error) {
      this.more.textContent = formatClubError(error);
    }
  }

  /** Add games to the list. @param {PlayedGame[]} last */
  addGames(last) {
    const items = last.map((game) => this.renderGame(game));
    this.rows.append(...items);
    this.last = last.at(-1)?.number ?? 0;
    this.more.hidden = last.length < PAGE_SIZE;
    return items;
  }

  /** @param {PlayedGame} game */
  renderGame(game) {
    const { number, players, side, rating_change: change } = game;
    const facts = [t(`game.${game.variant}`), formatTimeControl(game), formatDate(1000 * game.started)].join(" · ");
    return h("li", {}, h("button", { id: `club-open-${number}`, class: "club-row", onclick: () => this.club.show(number) },
      h("strong", {}, `${t(`club.result.${outcome(game)}`)} · ${players[1 - side]}`),
      h("span", { class: "club-number" }, [formatScore(game), change === null ? "" : formatSigned(change)].filter(Boolean).join("  ")),
      h("small", {}, facts)));
  }
}

/** The outcome of a game for the player of the profile. @param {PlayedGame} game */
function outcome({ over, reason, winner, side }) {
  if (!over) return "playing";
  if (reason === "aborted") return "aborted";
  return winner === null ? "drawn" : winner === side ? "won" : "lost";
}

/** The score, the player's own first. @param {PlayedGame} game */
function formatScore({ score, side }) {
  return score ? `${score[side]}–${score[1 - side]}` : "";
}

/** @param {PoolRating[]} ratings */
function renderRatings(ratings) {
  const heads = ["game", "rating", "results"].map((name) => h("th", { scope: "col" }, t(`club.leaderboard.${name}`)));
  /** @param {PoolRating} pool */
  const row = (pool) => h("tr", {},
    h("th", { scope: "row" }, `${t(`game.${pool.variant}`)} · ${t(`club.speed.${pool.speed}`)}`),
    h("td", {}, formatRating(pool)), h("td", {}, `${pool.wins}–${pool.draws}–${pool.losses}`));
  return h("table", { class: "summary club-table", id: "club-pools" }, h("caption", { class: "visually-hidden" }, t("club.ratings")), h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...ratings.map(row)));
}
