/** The line below the board where the club speaks: our games, what can be done in the one on the board, how it ended. */
import { actions } from "./actions.js";
import { changeWords, sideWords, termsWords } from "./club-words.js";
import { byId, h, redraw } from "./dom.js";
import { say } from "./notices.js";
import { state, subscribe } from "./store.js";
import { inRatedGame } from "./table.js";
import { showTab } from "./tabs.js";
import { currentLanguage, t } from "./words.js";

const TICK = 500; // milliseconds between two looks at a countdown

export class ClubBar {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    this.drawn = "";
    this.ticker = 0;
    /** @type {number | null} */
    this.sure = null; // the number of the game that we asked to give up, until we say so again
    this.offered = ""; // what was last said of an offer of a draw
    document.head.append(h("link", { rel: "stylesheet", href: "/static/css/club.css" }));
    this.element = h("div", { id: "club-bar", class: "club-bar", hidden: true });
    byId("caption").after(this.element);
    subscribe(["game", "editor", "review", "club", "tab", "language"], () => state.game?.at.view && this.draw());
  }

  draw() {
    const { club } = this;
    const { game } = state;
    const live = game.live ? (game.club.playing ? "playing" : "watching") : "";
    /** @type {HTMLElement} */ (document.querySelector(".page")).dataset.live = live;
    if (inRatedGame() && ["analysis", "games", "position", "lab"].includes(state.tab)) showTab("club", "game");
    club.tidy();
    if (this.sure !== game.club?.number || !game.live) this.sure = null;
    this.sayOffer(game);
    this.tick(game);
    const drawn = JSON.stringify([...this.states(game), currentLanguage()]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    const parts = [...this.sign(), ...this.others(game), ...this.calls(), ...(game.live ? this.controls(game) : [])];
    this.element.hidden = !parts.length;
    redraw(this.element, ...parts);
  }

  /** All that the bar depends on. @param {Game} given */
  states({ club: shown, live }) {
    const { club } = this;
    const games = [...club.games.values()].map(({ game, mover }) => [game, mover]);
    const own = live && [shown.number, shown.mine, shown.state.ply, shown.state.offer, shown.over, shown.firstMove, shown.claim];
    return [games, [...club.challenges.keys()], state.tab, club.away, club.channel.online, own, this.sure];
  }

  /** Draw again while seconds are counted down. @param {Game} given */
  tick({ club: game, live }) {
    const counts = live && game.playing && (game.firstMove !== null || game.claim !== null);
    if (counts && !this.ticker) this.ticker = setInterval(() => this.draw(), TICK);
    if (counts || !this.ticker) return;
    clearInterval(this.ticker);
    this.ticker = 0;
  }

  /** Say what is new about a draw to those who do not see it. @param {Game} game */
  sayOffer(game) {
    const side = game.live && game.club.state.offer;
    const words = typeof side === "number" ? t("club.draw.offered", { side: sideWords(game.game, side) }) : "";
    if (words && words !== this.offered) say(words);
    this.offered = words;
  }

  sign() {
    return this.club.away ? [h("strong", { class: "club-away", role: "status" }, t("club.away"))] : [];
  }

  /** Our games, if there are others than the one on the board. @param {Game} given */
  others({ club: shown, live }) {
    const { club } = this;
    const games = [...club.games.values()];
    if (!games.some((own) => own.game !== shown?.number || !live)) return [];
    const button = (/** @type {ClubState} */ own) => {
      const mine = club.sideIn(own) ?? 0;
      const turn = own.mover === mine ? ` · ${t("club.yourturn")}` : "";
      const here = live && own.game === shown.number;
      return h("button", { id: `club-game-${own.game}`, class: "club-chip", "aria-pressed": String(here), onclick: () => club.show(own.game) },
        `${own.players[1 - mine].name}, ${t(`game.${own.variant}`)}${turn}`);
    };
    return [h("div", { class: "club-group", role: "group", "aria-label": t("club.games.mine") }, h("span", {}, t("club.games.mine")), ...games.map(button))];
  }

  /** Challenges, while the club's own panel does not show them. */
  calls() {
    const { club } = this;
    return state.tab === "club" ? [] : [...club.challenges.values()].map((offer) => challengeRow(club, offer, "bar"));
  }

  // ---- the game on the board ----------------------------------------------------------------------------------------
  /** @param {Game} given */
  controls({ club: game, rules }) {
    if (!game.playing) return [h("span", { class: "soft" }, t("club.watching", { players: game.state.players.map((/** @type {ClubPlayerState} */ { name }) => name).join(" – ") }))];
    if (this.sure) return this.question(game);
    const begun = game.state.ply > (game.mine ?? 0) || game.state.tournament !== null; // a tournament waits for a result
    return [
      ...this.countdown(game),
      ...this.claims(game, rules),
      ...(rules.has_draw_offers ? this.draws(game) : []),
      begun ? this.button("resign", game, () => this.askAgain(game)) : this.button("abort", game, () => this.act("abort", game)),
    ];
  }

  /** How long a first move is waited for. @param {ClubGame} given */
  countdown({ firstMove: seconds, mine, state: { players, mover } }) {
    if (seconds === null || mine === null) return [];
    const { name } = players[1 - mine];
    return [h("strong", { id: "club-first-move", class: "club-countdown" }, t(mover === mine ? "club.first.mine" : "club.first.other", { name, seconds }))];
  }

  /** What can be done when the opponent has left. @param {ClubGame} game @param {Rules} rules */
  claims(game, rules) {
    const seconds = game.claim;
    if (seconds === null) return [];
    const { name } = game.state.players[1 - (game.mine ?? 0)];
    const words = h("strong", { id: "club-gone", class: "club-countdown" }, t(seconds ? "club.gone.wait" : "club.gone", { name, seconds }));
    if (seconds) return [words];
    const draw = rules.has_draw_offers ? [this.button("claim.draw", game, () => this.act("claim", game, { draw: true }))] : [];
    return [words, this.button("claim", game, () => this.act("claim", game), { class: "primary" }), ...draw];
  }

  /** @param {ClubGame} game */
  draws(game) {
    const { offer } = game.state;
    if (offer === game.mine) return [this.button("draw.withdraw", game, () => this.act("draw", game, { accept: false }))];
    if (offer === null) return [this.button("draw.offer", game, () => this.act("draw", game))];
    return [
      h("strong", {}, t("club.draw.offered", { side: sideWords(game.state.variant, offer) })),
      this.button("draw.accept", game, () => this.act("draw", game)),
      this.button("draw.decline", game, () => this.act("draw", game, { accept: false })),
    ];
  }

  /** @param {string} name @param {ClubGame} game @param {() => void} onclick @param {Properties} [more] */
  button(name, game, onclick, more = {}) {
    return h("button", { id: `club-${name.replace(".", "-")}`, disabled: !this.club.channel.online, onclick, ...more }, t(`club.${name}`));
  }

  /** Giving up is asked for twice. @param {ClubGame} game */
  askAgain(game) {
    this.sure = game.number;
    this.draw();
    byId("club-resign-no")?.focus();
  }

  /** @param {ClubGame} game */
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

  /** @param {string} what @param {ClubGame} game @param {object} [fields] */
  act(what, game, fields = {}) {
    this.sure = null;
    this.draw();
    return this.club.ask(what, { game: game.number, ...fields });
  }

  // ---- how it ended -------------------------------------------------------------------------------------------------
  /** What stands below the result of a game on the board, and on what it depends. @param {ClubGame} game */
  ending(game) {
    const { club } = this;
    const asked = club.rematches.get(game.number) ?? "";
    return { state: JSON.stringify([asked, club.name, game.mine, club.channel.online]), parts: () => this.endingParts(game, asked) };
  }

  /** @param {ClubGame} game @param {string} asked */
  endingParts(game, asked) {
    const { state: ended, mine } = game;
    const rated = ended.players.filter(({ after }) => after !== null);
    return [
      rated.length > 0 && h("p", { id: "club-ratings", class: "club-ratings" }, ...rated.map((player) => h("span", {}, `${player.name}: ${changeWords(player)}`))),
      mine !== null && this.again(game, asked),
      ended.ply > 0 && h("button", { id: "banner-review", onclick: () => actions.review() }, t("review.begin")),
      h("button", { id: "club-back", onclick: () => showTab("club", "lobby") }, t("club.back")),
      h("small", {}, termsWords(ended)),
    ].filter(Boolean);
  }

  /** @param {ClubGame} game @param {string} asked */
  again(game, asked) {
    if (asked === this.club.name) return h("span", { role: "status" }, t("club.rematch.waiting"));
    const words = asked ? t("club.rematch.accept", { name: asked }) : t("club.rematch");
    return h("button", { id: "club-rematch", class: "primary", disabled: !this.club.channel.online, onclick: () => this.club.rematch(game.number) }, words);
  }
}

/** A challenge to us with what can be done about it. @param {Club} club @param {Offer} offer @param {string} place */
export function challengeRow(club, offer, place) {
  const side = offer.side === null ? "" : ` · ${t("club.side.yours", { side: sideWords(offer.variant, 1 - offer.side) })}`;
  return h("div", { class: "club-challenge" },
    h("span", {}, h("strong", {}, t("club.challenged", { name: offer.from })), h("small", {}, termsWords(offer) + side)),
    h("button", { id: `club-accept-${place}-${offer.number}`, class: "primary", onclick: () => club.accept(offer.number) }, t("club.accept")),
    h("button", { id: `club-decline-${place}-${offer.number}`, onclick: () => club.decline(offer.number) }, t("club.decline")));
}
