/** The tournaments of the club: those to come, those being played and the last ones; or one of them, opened. */
import { wholeTournament } from "./club-tournament.js";
import { clubProblem, startWords, systemWords, tournamentWords, untilWords } from "./club-words.js";
import { h, redraw, write } from "./dom.js";
import { note } from "./notices.js";
import { currentLanguage, t } from "./words.js";

/** @type {Record<string, string[]>} */
const GROUPS = { playing: ["playing"], open: ["open"], ended: ["ended", "cancelled"] };
const SHOWN = 10; // that are over

export class ClubTournaments {
  /** @param {Club} club @param {ClubTab} tab @param {number | null} [opened] */
  constructor(club, tab, opened = null) {
    this.club = club;
    this.tab = tab;
    this.opened = opened; // the number of the one that is looked at
    /** @type {Tournament[] | null} */
    this.list = null; // all in short, once the club has told
    /** @type {Tournament | null} */
    this.whole = null; // the one that is looked at
    this.entered = new Set(); // the numbers of those that we entered
    this.ahead = 0; // milliseconds by which the club's clock is ahead of ours
    this.problem = "";
    this.drawn = "";
    this.timer = 0;
    this.stale = true; // whether the club knows more
    this.unfolded = new Map(); // number of a round → whether somebody opened or closed it
    this.element = h("section", { "aria-label": t("club.view.tournaments") });
  }

  /** Look at one, or at all of them. @param {number | null} number */
  open(number) {
    if (number !== this.opened) this.unfolded.clear();
    this.opened = number;
    this.stale = true;
    this.problem = "";
  }

  update() {
    if (this.stale && this.club.channel.online) this.refresh();
    this.draw();
    this.tick();
  }

  async refresh() {
    this.stale = false;
    const { opened } = this;
    const { channel } = this.club;
    try {
      const { tournaments, entered, now } = await channel.ask("tournaments");
      const whole = opened === null ? null : await channel.ask("tournament", { tournament: opened });
      if (opened === this.opened) Object.assign(this, { list: tournaments, whole, entered: new Set(entered), ahead: 1000 * now - Date.now(), problem: "" });
    } catch (error) {
      if (error.code === "offline") this.stale = true; // asked again when the club is there
      else if (opened === this.opened) this.problem = clubProblem(error);
    }
    this.draw();
  }

  draw() {
    const { club, list, opened, entered, whole, problem } = this;
    const drawn = JSON.stringify([list, opened, [...entered], whole, problem, club.name, club.channel.online, currentLanguage()]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    const parts = opened === null ? this.all() : this.one();
    redraw(this.element, ...parts, problem && h("p", { class: "bad", role: "alert" }, problem));
    this.tick();
  }

  // ---- all of them --------------------------------------------------------------------------------------------------
  all() {
    const { list } = this;
    if (!list) return [h("p", { class: "soft", role: "status" }, t("club.tournaments.wait"))];
    if (!list.length) return [h("p", { class: "soft" }, t("club.tournaments.none"))];
    const open = list.some(({ state }) => state === "open");
    const hint = open && !this.club.name && h("div", { class: "buttons" }, h("span", { class: "soft" }, t("club.tournaments.login")), this.loginButton());
    return [hint, ...Object.keys(GROUPS).flatMap((name) => this.group(name))];
  }

  /** @param {string} name */
  group(name) {
    const found = (this.list ?? []).filter(({ state }) => GROUPS[name].includes(state));
    if (!found.length) return [];
    if (name === "ended") found.reverse().splice(SHOWN);
    else found.sort((one, other) => one.starts - other.starts);
    return [h("h2", {}, t(`club.tournaments.${name}`)), h("ul", { id: `tournaments-${name}`, class: "club-rows" }, ...found.map((each) => this.row(each)))];
  }

  /** @param {Tournament} contest */
  row(contest) {
    const { tournament: number, name, entrants } = contest;
    return h("li", { class: "club-contest" },
      h("button", { id: `tournament-${number}`, class: "club-row", onclick: () => this.tab.showTournament(number) },
        h("strong", {}, name), h("span", { class: "club-rating" }, t(entrants === 1 ? "club.entrants.one" : "club.entrants", { count: entrants })),
        h("small", {}, `${tournamentWords(contest)} · ${systemWords(contest)}`),
        h("small", {}, ...this.stateParts(contest))),
      this.enterButton(contest));
  }

  /** How far it is: when it begins, which round is played, or that it is over. @param {Tournament} contest */
  stateParts(contest) {
    const { state, round, rounds, starts } = contest;
    if (state === "open") return [startWords(starts), " · ", h("time", { "data-starts": starts, dateTime: new Date(1000 * starts).toISOString() })];
    if (state === "playing") return [round ? t("club.round.of", { round, rounds }) : t("club.starting")];
    return [startWords(starts), ...(state === "cancelled" ? [` · ${t("club.cancelled")}`] : [])];
  }

  // ---- one of them --------------------------------------------------------------------------------------------------
  one() {
    const back = h("button", { id: "tournament-back", class: "plain club-all", onclick: () => this.tab.showTournament(null) }, t("club.tournaments.all"));
    if (this.whole?.tournament !== this.opened) return [back, this.problem ? null : h("p", { class: "soft", role: "status" }, t("club.tournaments.wait"))];
    return [back, ...wholeTournament(this.whole, this)];
  }

  /** Enter or withdraw, where one may. @param {Tournament} given */
  enterButton({ tournament: number, name, state }) {
    if (state !== "open" || !this.club.name) return null;
    const does = this.entered.has(number) ? "withdraw" : "join";
    const label = `${t(`club.tournament.${does}`)}: ${name}`;
    return h("button", { id: `tournament-enter-${number}`, class: does === "join" ? "primary" : "", "aria-label": label, disabled: !this.club.channel.online, onclick: () => this.act(does, number, name) }, t(`club.tournament.${does}`));
  }

  loginButton() {
    return h("button", { id: "tournament-login", onclick: () => this.tab.askWho() }, t("club.login"));
  }

  /** @param {string} does @param {number} number @param {string} name */
  async act(does, number, name) {
    if (!(await this.club.ask(does, { tournament: number }))) return;
    if (does === "withdraw") this.club.contests.delete(number);
    await this.refresh(); // before the notice, so that the button already offers the opposite
    note(t(`club.tournament.${does === "join" ? "joined" : "left"}`, { name }), false);
  }

  // ---- time ---------------------------------------------------------------------------------------------------------
  /** Let countdowns go on while they are seen. */
  tick() {
    clearTimeout(this.timer);
    const shown = /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("[data-starts]"));
    const now = Date.now() + this.ahead;
    for (const node of shown) write(node, untilWords(Number(node.dataset.starts) - now / 1000));
    if (shown.length && this.element.checkVisibility()) this.timer = setTimeout(() => this.tick(), 1000 - (now % 1000));
  }
}
