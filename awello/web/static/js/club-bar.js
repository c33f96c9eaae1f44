/** The line below the board where the club speaks: our games, what can be done in the one on the board, how it ended. */
import { h, redraw } from "./dom.js";
import { changeWords, termsWords } from "./club-words.js";
import { GAMES } from "./game.js";
import { say } from "./notices.js";
import { currentLanguage, t } from "./words.js";

const TICK = 500; // milliseconds between two looks at a countdown

const byId = (id) => document.getElementById(id);

export class ClubBar {
  constructor(club) {
    this.club = club;
    this.sure = null; // the number of the game that we asked to give up, until we say so again
    this.offered = ""; // what was last said of an offer of a draw
    document.head.append(h("link", { rel: "stylesheet", href: "/static/css/club.css" }));
    this.element = h("div", { id: "club-bar", class: "club-bar", hidden: true });
    byId("caption").after(this.element);
  }

  draw() {
    const { club } = this;
    const { game } = club.app.table;
    const live = game.live ? (game.club.playing ? "playing" : "watching") : "";
    document.querySelector(".page").dataset.live = live;
    if (club.app.helpless && ["analysis", "games", "position", "lab"].includes(club.app.tab)) club.app.showTab("club", "game");
    club.tidy();
    if (this.sure !== game.club?.number || !game.live) this.sure = null;
    this.sayOffer(game);
    this.tick(game);
    const state = JSON.stringify([...this.states(game), currentLanguage()]);
    if (this.state === state) return;
    this.state = state;
    const parts = [...this.sign(), ...this.others(game), ...this.calls(), ...(game.live ? this.controls(game) : [])];
    this.element.hidden = !parts.length;
    redraw(this.element, ...parts);
  }

  /** All that the bar depends on. */
  states({ club: shown, live }) {
    const { club } = this;
    const games = [...club.games.values()].map((state) => [state.game, state.mover]);
    const own = live && [shown.number, shown.mine, shown.state.ply, shown.state.offer, shown.over, shown.firstMove, shown.claim];
    return [games, [...club.challenges.keys()], club.app.tab, club.away, club.channel.online, own, this.sure];
  }

  /** Draw again while seconds are counted down. */
  tick({ club: game, live }) {
    const counts = live && game.playing && (game.firstMove !== null || game.claim !== null);
    if (counts) this.ticker ??= setInterval(() => this.draw(), TICK);
    else if (this.ticker) this.ticker = clearInterval(this.ticker);
  }

  /** Say what is new about a draw to those who do not see it. */
  sayOffer(game) {
    const side = game.live && game.club.state.offer;
    const words = typeof side === "number" ? t("club.draw.offered", { side: t(`side.${game.family}.${side}`) }) : "";
    if (words && words !== this.offered) say(words);
    this.offered = words;
  }

  sign() {
    return this.club.away ? [h("strong", { class: "club-away", role: "status" }, t("club.away"))] : [];
  }

  /** Our games, if there are others than the one on the board. */
  others({ club: shown, live }) {
    const { club } = this;
    const games = [...club.games.values()];
    if (!games.some((state) => state.game !== shown?.number || !live)) return [];
    const button = (state) => {
      const mine = club.sideIn(state);
      const turn = state.mover === mine ? ` · ${t("club.yourturn")}` : "";
      const here = live && state.game === shown.number;
      return h("button", { id: `club-game-${state.game}`, class: "club-chip", "aria-pressed": String(here), onclick: () => club.show(state.game) },
        `${state.players[1 - mine].name}, ${t(`game.${state.kind}`)}${turn}`);
    };
    return [h("div", { class: "club-group", role: "group", "aria-label": t("club.games.mine") }, h("span", {}, t("club.games.mine")), ...games.map(button))];
  }

  /** Challenges, while the club's own panel does not show them. */
  calls() {
    const { club } = this;
    return club.app.tab === "club" ? [] : [...club.challenges.values()].map((offer) => challengeRow(club, offer, "bar"));
  }

  // ---- the game on the board ----------------------------------------------------------------------------------------
  controls({ club: game, family }) {
    if (!game.playing) return [h("span", { class: "soft" }, t("club.watching", { players: game.state.players.map(({ name }) => name).join(" – ") }))];
    if (this.sure) return this.question(game);
    const begun = game.state.ply > game.mine || game.state.tournament !== null; // a tournament waits for a result
    return [
      ...this.countdown(game),
      ...this.claims(game, family),
      ...(family === "awale" ? this.draws(game) : []),
      begun ? this.button("resign", game, () => this.askAgain(game)) : this.button("abort", game, () => this.act("abort", game)),
    ];
  }

  /** How long a first move is waited for. */
  countdown({ firstMove: seconds, mine, state }) {
    if (seconds === null) return [];
    const { name } = state.players[1 - mine];
    return [h("strong", { id: "club-first-move", class: "club-countdown" }, t(state.mover === mine ? "club.first.mine" : "club.first.other", { name, seconds }))];
  }

  /** What can be done when the opponent has left. */
  claims(game, family) {
    const seconds = game.claim;
    if (seconds === null) return [];
    const { name } = game.state.players[1 - game.mine];
    const words = h("strong", { id: "club-gone", class: "club-countdown" }, t(seconds ? "club.gone.wait" : "club.gone", { name, seconds }));
    if (seconds) return [words];
    const draw = family === "awale" ? [this.button("claim.draw", game, () => this.act("claim", game, { draw: true }))] : [];
    return [words, this.button("claim", game, () => this.act("claim", game), { class: "primary" }), ...draw];
  }

  draws(game) {
    const { offer } = game.state;
    if (offer === game.mine) return [this.button("draw.withdraw", game, () => this.act("draw", game, { accept: false }))];
    if (offer === null) return [this.button("draw.offer", game, () => this.act("draw", game))];
    return [
      h("strong", {}, t("club.draw.offered", { side: t(`side.${GAMES[game.state.kind].family}.${offer}`) })),
      this.button("draw.accept", game, () => this.act("draw", game)),
      this.button("draw.decline", game, () => this.act("draw", game, { accept: false })),
    ];
  }

  button(name, game, onclick, more = {}) {
    return h("button", { id: `club-${name.replace(".", "-")}`, disabled: !this.club.channel.online, onclick, ...more }, t(`club.${name}`));
  }

  /** Giving up is asked for twice. */
  askAgain(game) {
    this.sure = game.number;
    this.draw();
    byId("club-resign-no")?.focus();
  }

  question(game) {
    return [
      h("strong", {}, t("club.resign.sure")),
      this.button("resign.yes", game, () => this.act("resign", game)),
      this.button("resign.no", game, () => {
        this.sure = null;
        this.draw();
      }, { disabled: false }),
    ];
  }

  act(what, game, fields = {}) {
    this.sure = null;
    this.draw();
    return this.club.ask(what, { game: game.number, ...fields });
  }

  // ---- how it ended -------------------------------------------------------------------------------------------------
  /** What stands below the result of a game on the board, and on what it depends. */
  ending(game) {
    const { club } = this;
    const asked = club.rematches.get(game.number) ?? "";
    return { state: JSON.stringify([asked, club.name, game.mine, club.channel.online]), parts: () => this.endingParts(game, asked) };
  }

  endingParts(game, asked) {
    const { club } = this;
    const { state, mine } = game;
    const rated = state.players.filter(({ after }) => after !== null);
    return [
      rated.length > 0 && h("p", { id: "club-ratings", class: "club-ratings" }, ...rated.map((player) => h("span", {}, `${player.name}: ${changeWords(player)}`))),
      mine !== null && this.again(game, asked),
      state.ply > 0 && h("button", { id: "banner-review", onclick: () => club.app.actions.review() }, t("review.begin")),
      h("button", { id: "club-back", onclick: () => club.app.showTab("club", "lobby") }, t("club.back")),
      h("small", {}, termsWords(state)),
    ].filter(Boolean);
  }

  again(game, asked) {
    if (asked === this.club.name) return h("span", { role: "status" }, t("club.rematch.waiting"));
    const words = asked ? t("club.rematch.accept", { name: asked }) : t("club.rematch");
    return h("button", { id: "club-rematch", class: "primary", disabled: !this.club.channel.online, onclick: () => this.club.rematch(game.number) }, words);
  }
}

/** A challenge to us with what can be done about it. */
export function challengeRow(club, offer, place) {
  const side = offer.side === null ? "" : ` · ${t("club.side.yours", { side: t(`side.${GAMES[offer.kind].family}.${1 - offer.side}`) })}`;
  return h("div", { class: "club-challenge" },
    h("span", {}, h("strong", {}, t("club.challenged", { name: offer.from })), h("small", {}, termsWords(offer) + side)),
    h("button", { id: `club-accept-${place}-${offer.number}`, class: "primary", onclick: () => club.accept(offer.number) }, t("club.accept")),
    h("button", { id: `club-decline-${place}-${offer.number}`, onclick: () => club.decline(offer.number) }, t("club.decline")));
}
