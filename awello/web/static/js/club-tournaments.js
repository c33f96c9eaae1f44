/** The club's tournaments: the list of open, running and ended ones, or one of them. */
import { formatClubError, formatCountdown, formatDateTime, formatSystem, formatTournamentTerms } from "./club-text.js";
import { renderTournament } from "./club-tournament-details.js";
import { h, replaceContent, setText } from "./dom.js";
import { currentLanguage, pluralKey, t, withColon } from "./i18n.js";
import { showNotice } from "./notices.js";

/** @type {Record<string, string[]>} */
const GROUPS = { playing: ["playing"], open: ["open"], ended: ["ended", "cancelled"] };
const MAX_ENDED = 10; // listed ended tournaments

export class ClubTournaments {
  /** @param {Club} club @param {ClubTab} tab @param {number | null} [opened] */
  constructor(club, tab, opened = null) {
    this.club = club;
    this.tab = tab;
    this.opened = opened; // number of the shown tournament
    /** @type {Tournament[] | null} */
    this.list = null; // summaries of the latest tournaments
    /** @type {Tournament | null} */
    this.details = null; // the shown tournament
    this.entered = new Set(); // numbers of the user's tournaments
    this.clockOffset = 0; // milliseconds by which the club's clock is ahead of the browser's
    this.error = "";
    this.drawn = "";
    this.timer = 0;
    this.stale = true; // whether the list must be requested again
    this.roundToggles = new Map(); // round → whether the user opened or closed it
    this.element = h("section", { "aria-label": t("club.view.tournaments") });
  }

  /** Select a tournament, or the list. @param {number | null} number */
  open(number) {
    if (number !== this.opened) this.roundToggles.clear();
    this.opened = number;
    this.stale = true;
    this.error = "";
  }

  update() {
    if (this.stale && this.club.connection.online) this.load();
    this.draw();
    this.tick();
  }

  async load() {
    this.stale = false;
    const { opened } = this;
    const { connection } = this.club;
    try {
      const { tournaments, entered, now } = await connection.request("tournaments");
      const details = opened === null ? null : await connection.request("tournament", { tournament: opened });
      if (opened === this.opened) Object.assign(this, { list: tournaments, details, entered: new Set(entered), clockOffset: 1000 * now - Date.now(), error: "" });
    } catch (error) {
      if (error.code === "offline") this.stale = true; // requested again after reconnecting
      else if (opened === this.opened) this.error = formatClubError(error);
    }
    this.draw();
  }

  draw() {
    const { club, list, opened, entered, details, error } = this;
    const drawn = JSON.stringify([list, opened, [...entered], details, error, club.name, club.connection.online, currentLanguage()]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    const parts = opened === null ? this.renderList() : this.renderDetails();
    replaceContent(this.element, ...parts, error && h("p", { class: "error", role: "alert" }, error));
    this.tick();
  }

  // ---- the list -----------------------------------------------------------------------------------------------------
  renderList() {
    const { list } = this;
    if (!list) return [h("p", { class: "muted", role: "status" }, t("club.tournaments.loading"))];
    if (!list.length) return [h("p", { class: "muted" }, t("club.tournaments.none"))];
    const open = list.some(({ state }) => state === "open");
    const hint = open && !this.club.name && h("div", { class: "buttons" }, h("span", { class: "muted" }, t("club.tournaments.login")), this.renderLoginButton());
    return [hint, ...Object.keys(GROUPS).flatMap((name) => this.renderGroup(name))];
  }

  /** @param {string} name */
  renderGroup(name) {
    const matching = (this.list ?? []).filter(({ state }) => GROUPS[name].includes(state));
    if (!matching.length) return [];
    if (name === "ended") matching.reverse().splice(MAX_ENDED);
    else matching.sort((one, other) => one.starts - other.starts);
    return [h("h2", {}, t(`club.tournaments.${name}`)), h("ul", { id: `tournaments-${name}`, class: "club-rows" }, ...matching.map((each) => this.renderRow(each)))];
  }

  /** @param {Tournament} tournament */
  renderRow(tournament) {
    const { tournament: number, name, entrants } = tournament;
    return h("li", { class: "club-tournament" },
      h("button", { id: `tournament-${number}`, class: "club-row", onclick: () => this.tab.showTournament(number) },
        h("strong", {}, name), h("span", { class: "club-number" }, t(`club.entrants.${pluralKey(entrants)}`, { count: entrants })),
        h("small", {}, `${formatTournamentTerms(tournament)} · ${formatSystem(tournament)}`),
        h("small", {}, ...this.renderState(tournament))),
      this.renderEntryButton(tournament));
  }

  /** The state: start time, current round, or end. @param {Tournament} tournament */
  renderState(tournament) {
    const { state, round, rounds, starts } = tournament;
    if (state === "open") return [formatDateTime(starts), " · ", h("time", { "data-starts": starts, dateTime: new Date(1000 * starts).toISOString() })];
    if (state === "playing") return [round ? t("club.round.of", { round, rounds }) : t("club.starts.now")];
    return [formatDateTime(starts), ...(state === "cancelled" ? [` · ${t("club.tournament.cancelled")}`] : [])];
  }

  // ---- one tournament -----------------------------------------------------------------------------------------------
  renderDetails() {
    const back = h("button", { id: "tournament-back", class: "plain club-back-link", onclick: () => this.tab.showTournament(null) }, t("club.tournaments.all"));
    if (this.details?.tournament !== this.opened) return [back, this.error ? null : h("p", { class: "muted", role: "status" }, t("club.tournaments.loading"))];
    return [back, ...renderTournament(this.details, this)];
  }

  /** The button to enter or withdraw, while the tournament is open. @param {Tournament} given */
  renderEntryButton({ tournament: number, name, state }) {
    if (state !== "open" || !this.club.name) return null;
    const action = this.entered.has(number) ? "withdraw" : "enter";
    const label = withColon(t(`club.tournament.${action}`), name);
    return h("button", { id: `tournament-enter-${number}`, class: action === "enter" ? "primary" : "", "aria-label": label, disabled: !this.club.connection.online, onclick: () => this.changeEntry(action, number, name) }, t(`club.tournament.${action}`));
  }

  renderLoginButton() {
    return h("button", { id: "tournament-login", onclick: () => this.tab.showLogin() }, t("club.login"));
  }

  /** @param {string} action @param {number} number @param {string} name */
  async changeEntry(action, number, name) {
    if (!(await this.club.request(action, { tournament: number }))) return;
    if (action === "withdraw") this.club.tournaments.delete(number);
    await this.load(); // before the notice, so that the button is already up to date
    showNotice(t(`club.tournament.${action === "enter" ? "entered" : "withdrawn"}`, { name }), false);
  }

  // ---- countdowns ---------------------------------------------------------------------------------------------------
  /** Update visible countdowns every second. */
  tick() {
    clearTimeout(this.timer);
    const shown = /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("[data-starts]"));
    const now = Date.now() + this.clockOffset;
    for (const node of shown) setText(node, formatCountdown(Number(node.dataset.starts) - now / 1000));
    if (shown.length && this.element.checkVisibility()) this.timer = setTimeout(() => this.tick(), 1000 - (now % 1000));
  }
}
