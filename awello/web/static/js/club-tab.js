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
import { h } from "./dom.js";
import { clubProblem, ratingWords, sideWords, termsWords } from "./club-words.js";
import { note } from "./notices.js";
import { treeOf } from "./play-panel.js";
import { currentLanguage, t } from "./words.js";

const VIEWS = ["game", "lobby", "tournaments", "ladder", "player", "programs"];

export class ClubTab {
  constructor(app, box) {
    this.app = app;
    this.club = app.club;
    this.box = box;
    this.view = "lobby";
    this.build();
  }

  /** Build everything anew, such as after a change of language. */
  build() {
    this.state = null;
    this.title = document.getElementById("tab-club");
    this.who = h("div", { class: "club-who" });
    this.away = h("p", { class: "club-away", role: "status", hidden: true }, t("club.away"));
    this.choices = h("nav", { class: "club-views", "aria-label": t("club.views") });
    this.views = {
      game: new ClubBoardSide(this.app, this),
      lobby: new ClubLobby(this.club, this),
      tournaments: new ClubTournaments(this.club, this, this.views?.tournaments.opened),
      ladder: new ClubLadder(this.club, this),
      player: new ClubPlayer(this.club, this, this.views?.player.name),
      programs: new ClubPrograms(this.club),
    };
    this.entrance = new ClubEntrance(this.club);
    this.password = new ClubPassword(this.club);
    this.box.replaceChildren(this.away, this.who, this.choices, this.entrance.element, ...VIEWS.map((name) => this.views[name].element), this.password.element);
  }

  /** Show one of the views; of players, the one of a name, of tournaments, the one last looked at. */
  show(view, name) {
    if (view === "tournaments") this.views.tournaments.open(this.view === view ? null : this.views.tournaments.opened);
    this.view = view;
    if (view === "player") this.views.player.ask(name ?? this.club.name);
    if (view === "ladder") this.views.ladder.ask();
    if (view === "programs") this.views.programs.ask();
    this.state = null;
    this.update();
  }

  showPlayer(name) {
    this.show("player", name);
    this.choices.scrollIntoView({ block: "nearest" });
  }

  /** Show a tournament, or all of them. */
  showTournament(number) {
    const before = this.views.tournaments.opened;
    this.view = "tournaments";
    this.views.tournaments.open(number);
    this.state = null;
    this.update();
    if (number === null) document.getElementById(`tournament-${before}`)?.focus();
    this.choices.scrollIntoView({ block: "nearest" });
  }

  /** Let somebody who only watches log in. */
  askWho() {
    this.show("lobby");
    this.entrance.name.focus();
  }

  update() {
    const { club, app } = this;
    const { waiting } = club;
    this.title.textContent = t("tab.club") + (waiting ? ` (${waiting})` : "");
    if (this.box.hidden) return;
    club.channel.open();
    if (this.view === "game" && !app.table.game.club) this.view = "lobby";
    if (!club.name && this.view === "programs") this.view = "lobby";
    this.away.hidden = !club.away;
    this.arrange();
    this.views[this.view].update?.();
  }

  /** Who we are, and which views there are. */
  arrange() {
    const { club } = this;
    const own = this.view === "player" && Boolean(club.name) && this.views.player.name === club.name;
    const state = [this.view, own, club.name, Boolean(this.app.table.game.club), currentLanguage()].join();
    if (this.state === state) return;
    this.state = state;
    this.entrance.element.hidden = Boolean(club.name) || this.view !== "lobby";
    for (const name of VIEWS) this.views[name].element.hidden = name !== this.view;
    this.password.show(own);
    const known = [["game", this.app.table.game.club], ["lobby", true], ["tournaments", true], ["ladder", true], ["player", club.name], ["programs", club.name]];
    const focused = this.choices.contains(document.activeElement) ? document.activeElement.id : null;
    this.choices.replaceChildren(...known.filter(([, there]) => there).map(([name]) => this.choice(name, name === this.view && (name !== "player" || own))));
    if (focused) document.getElementById(focused)?.focus();
    this.who.hidden = !club.name;
    this.who.replaceChildren(h("span", {}, t("club.you", { name: club.name ?? "" })), h("button", { id: "club-leave", onclick: () => this.leave() }, t("club.logout")));
  }

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

/** Beside the board: who plays what, the moves, and words with the other player. */
class ClubBoardSide {
  constructor(app, tab) {
    this.app = app;
    this.tab = tab;
    this.head = h("div", { class: "club-head" });
    this.list = document.createElement("move-list");
    this.list.addEventListener("jump", (event) => app.jump(event.detail.id));
    this.list.addEventListener("promote", (event) => app.promote(event.detail.id));
    this.list.addEventListener("delete", (event) => app.remove(event.detail.id));
    this.chat = new ChatBox(app.club);
    this.element = h("section", { "aria-label": t("club.view.game") }, this.head, this.chat.element, this.list);
  }

  update() {
    const { game } = this.app.table;
    this.list.config = { tree: treeOf(game.root), at: game.at.id, family: game.family };
    this.chat.update(game.club);
    if (this.shown === game.club.number) return;
    this.shown = game.club.number;
    const { state } = game.club;
    this.head.replaceChildren(
      h("h2", {}, t("club.number", { number: state.game })), h("p", { class: "soft" }, termsWords(state)),
      ...(state.unrated ? [h("p", { id: "club-unrated", class: "soft" }, t(`club.unrated.${state.unrated}`))] : []),
      ...state.players.map((player, side) => h("p", { class: "club-player" }, `${sideWords(state.kind, side)}: `,
        h("button", { class: "plain club-name", onclick: () => this.tab.showPlayer(player.name) }, player.name),
        ` ${ratingWords(player)}${player.program ? ` · ${t("club.program")}` : ""}`)),
      ...(state.tournament ? [h("p", { class: "club-player" }, `${t("club.tournament")}: `, h("button", { id: "club-tournament", class: "plain club-name", onclick: () => this.tab.showTournament(state.tournament) }, this.nameOf(state.tournament)))] : []));
  }
  /** The name of a tournament if we play in it, else its number. */
  nameOf(number) {
    return this.app.club.contests.get(number)?.name ?? String(number);
  }
}
