/** The panel of the club: the way in, the lobby, the ladder, players, our programs, and the game on the board. */
import "./move-list.js";
import { ChatBox } from "./club-chat.js";
import { ClubEntrance } from "./club-entrance.js";
import { ClubLadder } from "./club-ladder.js";
import { ClubLobby } from "./club-lobby.js";
import { ClubPassword } from "./club-password.js";
import { ClubPlayer } from "./club-player.js";
import { ClubPrograms } from "./club-programs.js";
import { ClubTournaments } from "./club-tournaments.js";
import { byId, h } from "./dom.js";
import { clubProblem, ratingWords, sideWords, termsWords } from "./club-words.js";
import { note } from "./notices.js";
import { makeMoveList, treeOf } from "./play-panel.js";
import { state } from "./store.js";
import { t } from "./words.js";

/** @type {(keyof ClubViews)[]} */
const VIEWS = ["game", "lobby", "tournaments", "ladder", "player", "programs"];

export class ClubTab {
  /** @type {Topic[]} */
  static shows = ["game", "club", "tab", "analysis", "review", "settings"];

  views = /** @type {ClubViews} */ ({});

  /** @param {HTMLElement} box @param {ClubTab} [before] */
  constructor(box, before) {
    this.club = /** @type {Club} */ (state.club);
    this.box = box;
    this.view = viewOf(before);
    this.drawn = ""; // what the head was drawn from
    this.title = byId("tab-club");
    this.who = h("div", { class: "club-who" });
    this.away = h("p", { class: "club-away", role: "status", hidden: true }, t("club.away"));
    this.choices = h("nav", { class: "club-views", "aria-label": t("club.views") });
    this.views = {
      game: new ClubBoardSide(this.club, this),
      lobby: new ClubLobby(this.club, this),
      tournaments: new ClubTournaments(this.club, this, before?.views.tournaments.opened),
      ladder: new ClubLadder(this.club, this),
      player: new ClubPlayer(this.club, this, before?.views.player.name),
      programs: new ClubPrograms(this.club),
    };
    this.entrance = new ClubEntrance(this.club);
    this.password = new ClubPassword(this.club);
    this.box.replaceChildren(this.away, this.who, this.choices, this.entrance.element, ...VIEWS.map((name) => this.views[name].element), this.password.element);
  }

  /**
   * Show one of the views; of players, the one of a name, of tournaments, the one last looked at.
   * @param {keyof ClubViews} view
   * @param {string} [name]
   */
  show(view, name) {
    if (view === "tournaments") this.views.tournaments.open(this.view === view ? null : this.views.tournaments.opened);
    this.view = view;
    if (view === "player") this.views.player.ask(name ?? this.club.name ?? "");
    if (view === "ladder") this.views.ladder.ask();
    if (view === "programs") this.views.programs.ask();
    this.drawn = "";
    this.update();
  }

  /** @param {string} name */
  showPlayer(name) {
    this.show("player", name);
    this.choices.scrollIntoView({ block: "nearest" });
  }

  /** Show a tournament, or all of them. @param {number | null} number */
  showTournament(number) {
    const before = this.views.tournaments.opened;
    this.view = "tournaments";
    this.views.tournaments.open(number);
    this.drawn = "";
    this.update();
    if (number === null) byId(`tournament-${before}`)?.focus();
    this.choices.scrollIntoView({ block: "nearest" });
  }

  /** Let somebody who only watches log in. */
  askWho() {
    this.show("lobby");
    this.entrance.name.focus();
  }

  update() {
    const { club } = this;
    const { waiting } = club;
    this.title.textContent = t("tab.club") + (waiting ? ` (${waiting})` : "");
    if (this.box.hidden) return;
    club.channel.open();
    if (this.view === "game" && !state.game.club) this.view = "lobby";
    if (!club.name && this.view === "programs") this.view = "lobby";
    this.away.hidden = !club.away;
    this.arrange();
    this.views[this.view].update?.();
  }

  /** Who we are, and which views there are. */
  arrange() {
    const { club } = this;
    const own = this.view === "player" && Boolean(club.name) && this.views.player.name === club.name;
    const drawn = [this.view, own, club.name, Boolean(state.game.club)].join();
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    this.entrance.element.hidden = Boolean(club.name) || this.view !== "lobby";
    for (const name of VIEWS) this.views[name].element.hidden = name !== this.view;
    this.password.show(own);
    /** @type {[keyof ClubViews, unknown][]} */
    const known = [["game", state.game.club], ["lobby", true], ["tournaments", true], ["ladder", true], ["player", club.name], ["programs", club.name]];
    const focused = this.choices.contains(document.activeElement) ? document.activeElement?.id : null;
    this.choices.replaceChildren(...known.filter(([, there]) => there).map(([name]) => this.choice(name, name === this.view && (name !== "player" || own))));
    if (focused) document.getElementById(focused)?.focus();
    this.who.hidden = !club.name;
    this.who.replaceChildren(h("span", {}, t("club.you", { name: club.name ?? "" })), h("button", { id: "club-leave", onclick: () => this.leave() }, t("club.logout")));
  }

  /** @param {keyof ClubViews} name @param {boolean} chosen */
  choice(name, chosen) {
    return h("button", { id: `club-view-${name}`, "aria-current": chosen ? "page" : null, onclick: () => this.show(name) }, t(`club.view.${name}`));
  }

  async leave() {
    try {
      await this.club.logOut();
    } catch (error) {
      note(clubProblem(error));
    }
  }
}

/** The view that was shown before. @param {ClubTab} [tab] @returns {keyof ClubViews} */
const viewOf = (tab) => tab?.view ?? "lobby";

/** Beside the board: who plays what, the moves, and words with the other player. */
class ClubBoardSide {
  /** @param {Club} club @param {ClubTab} tab */
  constructor(club, tab) {
    this.club = club;
    this.tab = tab;
    this.shown = 0; // the number of the game
    this.head = h("div", { class: "club-head" });
    this.list = makeMoveList();
    this.chat = new ChatBox(club);
    this.element = h("section", { "aria-label": t("club.view.game") }, this.head, this.chat.element, this.list);
  }

  update() {
    const { game } = state;
    this.list.config = { tree: treeOf(game.root), at: game.at.id, family: game.family };
    this.chat.update(game.club);
    if (this.shown === game.club.number) return;
    this.shown = game.club.number;
    const { state: known } = game.club;
    this.head.replaceChildren(
      h("h2", {}, t("club.number", { number: known.game })), h("p", { class: "soft" }, termsWords(known)),
      ...(known.unrated ? [h("p", { id: "club-unrated", class: "soft" }, t(`club.unrated.${known.unrated}`))] : []),
      ...known.players.map((/** @type {ClubPlayerState} */ player, /** @type {number} */ side) => h("p", { class: "club-player" }, `${sideWords(known.variant, side)}: `,
        h("button", { class: "plain club-name", onclick: () => this.tab.showPlayer(player.name) }, player.name),
        ` ${ratingWords(player)}${player.bot ? ` · ${t("club.program")}` : ""}`)),
      ...(known.tournament ? [h("p", { class: "club-player" }, `${t("club.tournament")}: `, h("button", { id: "club-tournament", class: "plain club-name", onclick: () => this.tab.showTournament(known.tournament) }, this.nameOf(known.tournament)))] : []));
  }

  /** The name of a tournament if we play in it, else its number. @param {number} number */
  nameOf(number) {
    return this.club.contests.get(number)?.name ?? String(number);
  }
}
