/** A player: ratings in every pool, the last games, and all games in a file. */
import { clubProblem, controlWords, ratingWords } from "./club-words.js";
import { byId, h } from "./dom.js";
import { api } from "./server.js";
import { currentLanguage, signed, t } from "./words.js";

const COUNT = 20; // games at a time

export class ClubPlayer {
  /** @param {Club} club @param {ClubTab} tab @param {string | null} [name] */
  constructor(club, tab, name = null) {
    this.club = club;
    this.tab = tab;
    this.name = name;
    this.element = h("section", { class: "club-profile", "aria-label": t("club.view.player") });
    this.rows = h("ol", { id: "club-last", class: "club-rows" });
    this.more = h("button", { id: "club-more", onclick: () => this.askMore() }, t("archive.more"));
    this.last = 0; // the number of the last game that is shown
    if (name) this.ask(name);
  }

  /** @param {string} name */
  async ask(name) {
    this.name = name;
    try {
      const found = await api("GET", `/api/club/players/${encodeURIComponent(name)}?limit=${COUNT}`);
      if (this.name === name) this.show(found);
    } catch (error) {
      if (this.name === name) this.element.replaceChildren(h("p", { class: "bad", role: "status" }, clubProblem(error)));
    }
  }

  /** @param {Profile} found */
  show(found) {
    const { name, bot, owner, online, ratings, games_played: games, recent_games: last } = found;
    const kind = bot ? t("club.program.of", { name: owner ?? "?" }) : "";
    const count = t(games === 1 ? "explorer.one" : "explorer.many", { games: games.toLocaleString(currentLanguage()) });
    this.rows.replaceChildren();
    this.add(last);
    this.element.replaceChildren(
      h("h2", {}, name), h("p", { class: "soft" }, [kind, online ? t("club.player.here") : "", count].filter(Boolean).join(" · ")),
      h("div", { class: "buttons" },
        this.club.name && online && name !== this.club.name ? h("button", { id: "club-invite", onclick: () => this.invite(name) }, t("club.invite")) : null,
        this.club.name && name !== this.club.name ? this.blockButton(name) : null,
        games ? h("a", { id: "club-download", class: "button", href: `/api/club/players/${encodeURIComponent(name)}/games`, download: "" }, t("club.download")) : null),
      ratings.length ? ratingTable(ratings) : h("p", { class: "soft" }, t("club.ratings.none")),
      h("h2", {}, t("club.last")), last.length ? this.rows : h("p", { class: "soft" }, t("club.last.none")), this.more);
  }

  /** A button that blocks the player, or takes it back. @param {string} name */
  blockButton(name) {
    const blocked = this.club.blocked.has(name);
    const press = async () => {
      await this.club.block(name, !blocked);
      const button = this.blockButton(name);
      byId("club-block")?.replaceWith(button);
      button.focus();
    };
    return h("button", { id: "club-block", onclick: press }, t(blocked ? "club.unblock" : "club.block"));
  }

  /** @param {string} name */
  invite(name) {
    this.tab.show("lobby");
    this.tab.views.lobby.invite(name);
  }

  async askMore() {
    try {
      const { recent_games: last } = await api("GET", `/api/club/players/${encodeURIComponent(this.name ?? "")}?limit=${COUNT}&before=${this.last}`);
      this.add(last)[0]?.querySelector("button")?.focus();
    } catch (error) {
      this.more.textContent = clubProblem(error);
    }
  }

  /** Add games to the list. @param {PlayedGame[]} last */
  add(last) {
    const items = last.map((game) => this.game(game));
    this.rows.append(...items);
    this.last = last.at(-1)?.number ?? 0;
    this.more.hidden = last.length < COUNT;
    return items;
  }

  /** @param {PlayedGame} game */
  game(game) {
    const { number, players, side, rating_change: change } = game;
    const when = new Intl.DateTimeFormat(currentLanguage(), { dateStyle: "short", timeStyle: "short" }).format(1000 * game.started);
    const facts = [t(`game.${game.variant}`), controlWords(game), when].join(" · ");
    return h("li", {}, h("button", { id: `club-open-${number}`, class: "club-row", onclick: () => this.club.show(number) },
      h("strong", {}, `${t(`club.result.${outcome(game)}`)} · ${players[1 - side]}`),
      h("span", { class: "club-rating" }, [scoreOf(game), change === null ? "" : signed(change)].filter(Boolean).join("  ")),
      h("small", {}, facts)));
  }
}

/** How a game ended for whoever is looked at. @param {PlayedGame} game */
function outcome({ over, reason, winner, side }) {
  if (!over) return "playing";
  if (reason === "aborted") return "aborted";
  return winner === null ? "drawn" : winner === side ? "won" : "lost";
}

/** The score, one's own first. @param {PlayedGame} game */
function scoreOf({ score, side }) {
  return score ? `${score[side]}–${score[1 - side]}` : "";
}

/** @param {Pool[]} ratings */
function ratingTable(ratings) {
  const heads = ["game", "rating", "results"].map((name) => h("th", { scope: "col" }, t(`club.ladder.${name}`)));
  /** @param {Pool} pool */
  const row = (pool) => h("tr", {},
    h("th", { scope: "row" }, `${t(`game.${pool.variant}`)} · ${t(`club.speed.${pool.speed}`)}`),
    h("td", {}, ratingWords(pool)), h("td", {}, `${pool.wins}–${pool.draws}–${pool.losses}`));
  return h("table", { class: "summary club-table", id: "club-pools" }, h("caption", { class: "unseen" }, t("club.ratings")), h("thead", {}, h("tr", {}, ...heads)), h("tbody", {}, ...ratings.map(row)));
}
