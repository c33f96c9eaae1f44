/** The bar below the board: the user's club games, controls of the current one, and how it ended. */
import { actions } from "./actions.js";
import { clubSideName, formatRatingChange, formatTerms } from "./club-text.js";
import { byId, h, replaceContent } from "./dom.js";
import { sideSubject } from "./game-text.js";
import { isPlayingInClub } from "./gameplay.js";
import { currentLanguage, t, withColon } from "./i18n.js";
import { announce } from "./notices.js";
import { state, subscribe } from "./store.js";
import { showTab } from "./tabs.js";

const COUNTDOWN_INTERVAL_MS = 500;

export class ClubBar {
  /** @param {Club} club */
  constructor(club) {
    this.club = club;
    this.drawn = "";
    this.ticker = 0;
    /** @type {number | null} */
    this.resigning = null; // number of the game whose resignation awaits confirmation
    this.announcedOffer = ""; // the last announced draw offer
    document.head.append(h("link", { rel: "stylesheet", href: "/static/css/club.css" }));
    this.element = h("div", { id: "club-bar", class: "club-bar", hidden: true });
    byId("caption").after(this.element);
    subscribe(["game", "editor", "review", "club", "tab", "language"], () => state.game?.current.position && this.draw());
  }

  draw() {
    const { club } = this;
    const { game } = state;
    const live = game.live ? (game.clubGame.playing ? "playing" : "watching") : "";
    /** @type {HTMLElement} */ (document.querySelector(".page")).dataset.live = live;
    if (isPlayingInClub() && ["analysis", "games", "position", "lab"].includes(state.tab)) showTab("club", "game");
    club.unwatchPrevious();
    if (this.resigning !== game.clubGame?.number || !game.live) this.resigning = null;
    this.announceOffer(game);
    this.tick(game);
    const drawn = JSON.stringify([...this.drawKey(game), currentLanguage()]);
    if (this.drawn === drawn) return;
    this.drawn = drawn;
    const parts = [...this.renderOfflineBanner(), ...this.renderGameButtons(game), ...this.renderChallenges(), ...(game.live ? this.renderControls(game) : [])];
    this.element.hidden = !parts.length;
    replaceContent(this.element, ...parts);
  }

  /** Everything on which the bar depends: it is redrawn when this changes. @param {Game} given */
  drawKey({ clubGame: shown, live }) {
    const { club } = this;
    const games = [...club.games.values()].map(({ game, mover }) => [game, mover]);
    const own = live && [shown.number, shown.ownSide, shown.state.ply, shown.state.draw_offer, shown.over, shown.firstMoveSeconds, shown.claimSeconds];
    return [games, [...club.challenges.keys()], state.tab, club.offline, club.connection.online, own, this.resigning];
  }

  /** Redraw while a countdown runs. @param {Game} given */
  tick({ clubGame: game, live }) {
    const counts = live && game.playing && (game.firstMoveSeconds !== null || game.claimSeconds !== null);
    if (counts && !this.ticker) this.ticker = setInterval(() => this.draw(), COUNTDOWN_INTERVAL_MS);
    if (counts || !this.ticker) return;
    clearInterval(this.ticker);
    this.ticker = 0;
  }

  /** Announce draw offers to screen readers. @param {Game} game */
  announceOffer(game) {
    const side = game.live && game.clubGame.state.draw_offer;
    const text = typeof side === "number" ? t(`club.draw.offered.${game.family}`, { side: sideSubject(game.family, side) }) : "";
    if (text && text !== this.announcedOffer) announce(text);
    this.announcedOffer = text;
  }

  renderOfflineBanner() {
    return this.club.offline ? [h("strong", { class: "club-offline", role: "status" }, t("club.offline"))] : [];
  }

  /** Buttons for the user's games, if there are any besides the one on the board. @param {Game} given */
  renderGameButtons({ clubGame: shown, live }) {
    const { club } = this;
    const games = [...club.games.values()];
    if (!games.some((own) => own.game !== shown?.number || !live)) return [];
    const button = (/** @type {ClubState} */ own) => {
      const mine = club.sideOf(own) ?? 0;
      const turn = own.mover === mine ? ` · ${t("club.turn.short")}` : "";
      const isShown = live && own.game === shown.number;
      return h("button", { id: `club-game-${own.game}`, class: "club-chip", "aria-pressed": String(isShown), onclick: () => club.show(own.game) },
        `${own.players[1 - mine].name}, ${t(`game.${own.variant}`)}${turn}`);
    };
    return [h("div", { class: "club-group", role: "group", "aria-label": t("club.games.own") }, h("span", {}, t("club.games.own")), ...games.map(button))];
  }

  /** Challenges, unless the club tab shows them. */
  renderChallenges() {
    const { club } = this;
    return state.tab === "club" ? [] : [...club.challenges.values()].map((offer) => renderChallenge(club, offer, "bar"));
  }

  // ---- the game on the board ----------------------------------------------------------------------------------------
  /** @param {Game} given */
  renderControls({ clubGame: game, rules }) {
    if (!game.playing) return [h("span", { class: "muted" }, t("club.watching", { players: game.state.players.map((/** @type {ClubPlayerState} */ { name }) => name).join(" – ") }))];
    if (this.resigning) return this.renderResignQuestion(game);
    const started = game.state.ply > (game.ownSide ?? 0) || game.state.tournament !== null; // a tournament game cannot be aborted
    return [
      ...this.renderCountdown(game),
      ...this.renderClaimControls(game, rules),
      ...(rules.has_draw_offers ? this.renderDrawOfferControls(game, rules.family) : []),
      started ? this.renderButton("resign", game, () => this.confirmResign(game)) : this.renderButton("abort", game, () => this.sendAction("abort", game)),
    ];
  }

  /** Time left for a first move. @param {ClubGame} given */
  renderCountdown({ firstMoveSeconds: seconds, ownSide: mine, state: { players, mover } }) {
    if (seconds === null || mine === null) return [];
    const { name } = players[1 - mine];
    return [h("strong", { id: "club-first-move", class: "club-countdown" }, t(mover === mine ? "club.first-move.own" : "club.first-move.other", { name, seconds }))];
  }

  /** Claims after the opponent has left. @param {ClubGame} game @param {Rules} rules */
  renderClaimControls(game, rules) {
    const seconds = game.claimSeconds;
    if (seconds === null) return [];
    const { name } = game.state.players[1 - (game.ownSide ?? 0)];
    const text = h("strong", { id: "club-opponent-left", class: "club-countdown" }, t(seconds ? "club.opponent.left.wait" : "club.opponent.left", { name, seconds }));
    if (seconds) return [text];
    const draw = rules.has_draw_offers ? [this.renderButton("claim.draw", game, () => this.sendAction("claim", game, { draw: true }))] : [];
    return [text, this.renderButton("claim", game, () => this.sendAction("claim", game), { class: "primary" }), ...draw];
  }

  /** @param {ClubGame} game @param {Family} family */
  renderDrawOfferControls(game, family) {
    const { draw_offer: offer } = game.state;
    if (offer === game.ownSide) return [this.renderButton("draw.withdraw", game, () => this.sendAction("draw", game, { accept: false }))];
    if (offer === null) return [this.renderButton("draw.offer", game, () => this.sendAction("draw", game))];
    return [
      h("strong", {}, t(`club.draw.offered.${family}`, { side: sideSubject(family, offer) })),
      this.renderButton("draw.accept", game, () => this.sendAction("draw", game)),
      this.renderButton("draw.decline", game, () => this.sendAction("draw", game, { accept: false })),
    ];
  }

  /** @param {string} name @param {ClubGame} game @param {() => void} onclick @param {Properties} [more] */
  renderButton(name, game, onclick, more = {}) {
    return h("button", { id: `club-${name.replace(".", "-")}`, disabled: !this.club.connection.online, onclick, ...more }, t(`club.${name}`));
  }

  /** Resigning needs a confirmation. @param {ClubGame} game */
  confirmResign(game) {
    this.resigning = game.number;
    this.draw();
    byId("club-resign-no")?.focus();
  }

  /** @param {ClubGame} game */
  renderResignQuestion(game) {
    return [
      h("strong", {}, t("club.resign.confirm")),
      this.renderButton("resign.yes", game, () => this.sendAction("resign", game)),
      this.renderButton("resign.no", game, () => {
        this.resigning = null;
        this.draw();
      }, { disabled: false }),
    ];
  }

  /** @param {string} type @param {ClubGame} game @param {object} [fields] */
  sendAction(type, game, fields = {}) {
    this.resigning = null;
    this.draw();
    return this.club.request(type, { game: game.number, ...fields });
  }

  // ---- the end of a game --------------------------------------------------------------------------------------------
  /** The content of the banner below the result of a club game, and the key of the state on which it depends. @param {ClubGame} game */
  prepareBanner(game) {
    const { club } = this;
    const offeredBy = club.rematches.get(game.number) ?? "";
    return { key: JSON.stringify([offeredBy, club.name, game.ownSide, club.connection.online]), render: () => this.renderBanner(game, offeredBy) };
  }

  /** @param {ClubGame} game @param {string} offeredBy */
  renderBanner(game, offeredBy) {
    const { state: ended, ownSide: mine } = game;
    const rated = ended.players.filter(({ rating_after: after }) => after !== null);
    return [
      rated.length > 0 && h("p", { id: "club-ratings", class: "club-ratings" }, ...rated.map((player) => h("span", {}, withColon(player.name, formatRatingChange(player))))),
      mine !== null && this.renderRematchButton(game, offeredBy),
      ended.ply > 0 && h("button", { id: "banner-review", onclick: () => actions.reviewGame() }, t("review.begin")),
      h("button", { id: "club-back", onclick: () => showTab("club", "lobby") }, t("club.lobby.back")),
      h("small", {}, formatTerms(ended)),
    ].filter(Boolean);
  }

  /** @param {ClubGame} game @param {string} offeredBy */
  renderRematchButton(game, offeredBy) {
    if (offeredBy === this.club.name) return h("span", { role: "status" }, t("club.rematch.waiting"));
    const text = offeredBy ? t("club.rematch.accept", { name: offeredBy }) : t("club.rematch");
    return h("button", { id: "club-rematch", class: "primary", disabled: !this.club.connection.online, onclick: () => this.club.rematch(game.number) }, text);
  }
}

/** A received challenge with its buttons. @param {Club} club @param {Offer} offer @param {string} prefix */
export function renderChallenge(club, offer, prefix) {
  const side = offer.side === null ? "" : ` · ${t("club.side.yours", { side: clubSideName(offer.variant, 1 - offer.side) })}`;
  return h("div", { class: "club-challenge" },
    h("span", {}, h("strong", {}, t("club.challenge.received", { name: offer.from })), h("small", {}, formatTerms(offer) + side)),
    h("button", { id: `club-accept-${prefix}-${offer.number}`, class: "primary", onclick: () => club.accept(offer.number) }, t("club.accept")),
    h("button", { id: `club-decline-${prefix}-${offer.number}`, onclick: () => club.decline(offer.number) }, t("club.decline")));
}
