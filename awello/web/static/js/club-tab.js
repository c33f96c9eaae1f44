/** The club tab: login, lobby, tournaments, leaderboard, profiles, bots, and the game on the board. */
import "./move-list.js";
import { ClubBots } from "./club-bots.js";
import { ChatBox } from "./club-chat.js";
import { ClubLeaderboard } from "./club-leaderboard.js";
import { ClubLobby } from "./club-lobby.js";
import { ClubLogin } from "./club-login.js";
import { ClubPassword } from "./club-password.js";
import { ClubProfile } from "./club-profile.js";
import { clubSideName, formatClubError, formatRating, formatTerms } from "./club-text.js";
import { ClubTournaments } from "./club-tournaments.js";
import { byId, h } from "./dom.js";
import { t, withColon } from "./i18n.js";
import { showNotice } from "./notices.js";
import { buildMoveList, toMoveTree } from "./play-tab.js";
import { state } from "./store.js";

/** @type {(keyof ClubViews)[]} */
const VIEWS = ["game", "lobby", "tournaments", "leaderboard", "profile", "bots"];

export class ClubTab {
  /** @type {Topic[]} */
  static topics = ["game", "club", "tab", "analysis", "review", "settings"];

  views = /** @type {ClubViews} */ ({});

  /** @param {HTMLElement} box @param {ClubTab} [before] */
  constructor(box, before) {
    this.club = /** @type {Club} */ (state.club);
    this.box = box;
    this.view = viewOf(before);
    this.drawn = ""; // cache key of the header
    this.title = byId("tab-club");
    this.account = h("div", { class: "club-account" });
    this.offline = h("p", { class: "club-offline", role: "status", hidden: true }, t("club.offline"));
    this.nav = h("nav", { class: "club-views", "aria-label": t("club.views") });
    this.views = {
      game: new ClubGameView(this.club, this),
      lobby: new ClubLobby(this.club, this),
      tournaments: new ClubTournaments(this.club, this, before?.views.tournaments.opened),
      leaderboard: new ClubLeaderboard(this.club, this),
      profile: new ClubProfile(this.club, this, before?.views.profile.name),
      bots: new ClubBots(this.club),
    };
    this.login = new ClubLogin(this.club);
    this.password = new ClubPassword(this.club);
    this.box.replaceChildren(this.offline, this.account, this.nav, this.login.element, ...VIEWS.map((name) => this.views[name].element), this.password.element);
  }

  /**
   * Show a view: a player's profile by name, or the tournament opened last.
   * @param {keyof ClubViews} view
   * @param {string} [name]
   */
  show(view, name) {
    if (view === "tournaments") this.views.tournaments.open(this.view === view ? null : this.views.tournaments.opened);
    this.view = view;
    if (view === "profile") this.views.profile.load(name ?? this.club.name ?? "");
    if (view === "leaderboard") this.views.leaderboard.load();
    if (view === "bots") this.views.bots.load();
    this.drawn = "";
    this.update();
  }

  /** @param {string} name */
  showPlayer(name) {
    this.show("profile", name);
    this.nav.scrollIntoView({ block: "nearest" });
  }

  /** Show a tournament, or the list. @param {number | null} number */
  showTournament(number) {
    const before = this.views.tournaments.opened;
    this.view = "tournaments";
    this.views.tournaments.open(number);
    this.drawn = "";
    this.update();
    if (number === null) byId(`tournament-${before}`)?.focus();
    this.nav.scrollIntoView({ block: "nearest" });
  }

  /** Show the login form. */
  showLogin() {
    this.show("lobby");
    this.login.name.focus();
  }

  update() {
    const { club } = this;
    const { pendingActions } = club;
    this.title.textContent = t("tab.club") + (pendingActions ? ` (${pendingActions})` : "");
    if (this.box.hidden) return;
    club.connection.open();
    if (this.view === "game" && !state.game.clubGame) this.view = "lobby";
    if (!club.name && this.view === "bots") this.view = "lobby";
    this.offline.hidden = !club.offline;
    this.updateNavigation();
    this.views[this.view].update?.();
  }

  /** Update the account, the navigation and the visible view. */
  updateNavigation() {
    const { club } = this;
    const own = this.view === "profile" && Boolean(club.name) && this.views.profile.name === club.name;
    const drawn = [this.view, own, club.name, Boolean(state.game.clubGame)].join();
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    this.login.element.hidden = Boolean(club.name) || this.view !== "lobby";
    for (const name of VIEWS) this.views[name].element.hidden = name !== this.view;
    this.password.show(own);
    /** @type {[keyof ClubViews, unknown][]} */
    const known = [["game", state.game.clubGame], ["lobby", true], ["tournaments", true], ["leaderboard", true], ["profile", club.name], ["bots", club.name]];
    const focused = this.nav.contains(document.activeElement) ? document.activeElement?.id : null;
    this.nav.replaceChildren(...known.filter(([, there]) => there).map(([name]) => this.renderViewButton(name, name === this.view && (name !== "profile" || own))));
    if (focused) document.getElementById(focused)?.focus();
    this.account.hidden = !club.name;
    this.account.replaceChildren(h("span", {}, t("club.logged-in", { name: club.name ?? "" })), h("button", { id: "club-logout", onclick: () => this.logOut() }, t("club.logout")));
  }

  /** @param {keyof ClubViews} name @param {boolean} chosen */
  renderViewButton(name, chosen) {
    return h("button", { id: `club-view-${name}`, "aria-current": chosen ? "page" : null, onclick: () => this.show(name) }, t(`club.view.${name}`));
  }

  async logOut() {
    try {
      await this.club.logOut();
    } catch (error) {
      showNotice(formatClubError(error));
    }
  }
}

/** The view of the previous panel. @param {ClubTab} [tab] @returns {keyof ClubViews} */
const viewOf = (tab) => tab?.view ?? "lobby";

/** Beside the board: players, moves and chat. */
class ClubGameView {
  /** @param {Club} club @param {ClubTab} tab */
  constructor(club, tab) {
    this.club = club;
    this.tab = tab;
    this.shown = 0; // number of the game
    this.head = h("div", { class: "club-head" });
    this.list = buildMoveList();
    this.chat = new ChatBox(club);
    this.element = h("section", { "aria-label": t("club.view.game") }, this.head, this.chat.element, this.list);
  }

  update() {
    const { game } = state;
    this.list.config = { tree: toMoveTree(game.root), current: game.current.id, family: game.family };
    this.chat.update(game.clubGame);
    if (this.shown === game.clubGame.number) return;
    this.shown = game.clubGame.number;
    const { state: known } = game.clubGame;
    this.head.replaceChildren(
      h("h2", {}, t("club.game.number", { number: known.game })), h("p", { class: "muted" }, formatTerms(known)),
      ...(known.unrated_reason ? [h("p", { id: "club-unrated", class: "muted" }, t(`club.unrated.${known.unrated_reason}`))] : []),
      ...known.players.map((/** @type {ClubPlayerState} */ player, /** @type {number} */ side) => h("p", { class: "club-player" }, withColon(clubSideName(known.variant, side), ""),
        h("button", { class: "plain club-name", onclick: () => this.tab.showPlayer(player.name) }, player.name),
        ` ${formatRating(player)}${player.bot ? ` · ${t("club.bot")}` : ""}`)),
      ...(known.tournament ? [h("p", { class: "club-player" }, withColon(t("club.tournament"), ""), h("button", { id: "club-tournament", class: "plain club-name", onclick: () => this.tab.showTournament(known.tournament) }, this.nameOf(known.tournament)))] : []));
  }

  /** The name of a tournament the user plays in, or the number of another. @param {number} number */
  nameOf(number) {
    return this.club.tournaments.get(number)?.name ?? String(number);
  }
}
