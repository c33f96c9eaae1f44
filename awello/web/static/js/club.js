/** The client side of the club: account, lobby, games, offers and tournaments, and requests to the server. */
import { ClubBar } from "./club-bar.js";
import { ClubChat } from "./club-chat.js";
import { ClubGame } from "./club-game.js";
import { ClubTab } from "./club-tab.js";
import { formatClubError } from "./club-text.js";
import { boardElement, listen } from "./dom.js";
import { Game } from "./game.js";
import { isPlayingInClub } from "./gameplay.js";
import { t } from "./i18n.js";
import { openGame } from "./navigation.js";
import { announce, showNotice } from "./notices.js";
import { api, Connection } from "./server.js";
import { settings } from "./settings.js";
import { notifyChange, state as page } from "./store.js";
import { addTab, getPanel, showTab } from "./tabs.js";

const OFFLINE_DELAY_MS = 700; // before a lost connection is reported
const EMPTY_LOBBY = { seeks: [], games: [], online: [], online_count: 0 };

export class Club {
  constructor() {
    /** @type {string | null} */
    this.name = null; // the name of the account, if logged in
    /** @type {Lobby} */
    this.lobby = EMPTY_LOBBY;
    /** @type {Map<number, ClubState>} */
    this.games = new Map(); // the user's live games by number, as last received
    this.seenGames = new Set(); // numbers of the user's games received on this page
    /** @type {Map<number, Offer>} */
    this.challenges = new Map(); // received challenges by number
    /** @type {Map<number, SentOffer>} */
    this.sent = new Map(); // sent challenges by number
    this.rematches = new Map(); // number of a finished game → the player who offers a rematch
    /** @type {Map<number, Tournament>} */
    this.tournaments = new Map(); // tournaments the user has entered, by number, as last received
    this.claimTimes = new Map(); // game number → when victory can be claimed because the opponent has left
    this.blocked = new Set(); // names of players whose challenges are not delivered
    this.expectsGame = false; // whether a game may start because of an action on this page
    /** @type {{ number: number, state: ClubState | null } | null} */
    this.pending = null; // the game that is being opened, and its latest state
    /** @type {number | null} */
    this.watched = null; // number of the spectated game
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null; // runs until `offline` is set
    this.offline = false; // whether the club has not answered for a while
    this.connection = new Connection("/api/club/live");
    listen(this.connection, "event", (message) => this.handleEvent(message));
    this.connection.addEventListener("offline", () => this.handleOffline());
    this.bar = new ClubBar(this);
    this.chat = new ClubChat(this);
  }

  /** Connect with the session of this browser; spectators connect when they open the club tab. */
  async connect() {
    addTab("club", ClubTab);
    const { name } = await api("GET", "/api/club/session").catch(() => ({ name: null }));
    this.name = name;
    if (name) this.connection.open();
    notifyChange("club");
    return this;
  }

  // ---- account ------------------------------------------------------------------------------------------------------
  /** Log in, or create an account and log in. @param {string | null} name @param {string} password @param {boolean} signUp */
  async logIn(name, password, signUp) {
    const response = await api("POST", signUp ? "/api/club/accounts" : "/api/club/session", { name, password });
    this.setAccount(response.name);
  }

  /**
   * Change the password; other browsers are logged out, this one reconnects with its new session.
   * @param {string} old
   * @param {string} newPassword
   */
  async changePassword(old, newPassword) {
    await api("PUT", "/api/club/password", { old, new: newPassword });
    this.connection.open(true);
  }

  async logOut() {
    await api("DELETE", "/api/club/session");
    this.setAccount(null);
  }

  /** @param {string | null} name */
  setAccount(name) {
    this.name = name;
    this.expectsGame = false;
    for (const known of [this.games, this.seenGames, this.challenges, this.sent, this.rematches, this.tournaments, this.chat.messages]) known.clear();
    this.connection.open(true);
    notifyChange("club");
  }

  /** The user's side in a game, or null. @param {ClubState} given */
  sideOf({ players }) {
    const side = players.findIndex(({ name }) => name === this.name);
    return side < 0 || this.name === null ? null : side;
  }

  // ---- messages from the club ---------------------------------------------------------------------------------------
  /** @param {any} message */
  handleEvent(message) {
    const { type } = message;
    if (type === "welcome") this.handleWelcome(message);
    else if (type === "lobby") this.lobby = message;
    else if (type === "game") this.handleGame(message);
    else if (type === "challenge") this.handleChallenge(message);
    else if (type === "declined") this.handleDeclined(message);
    else if (type === "rematch") this.handleRematch(message);
    else if (type === "chat") this.chat.handleMessage(message);
    else if (type === "tournament") this.handleTournament(message);
    else if (type === "tournaments_changed") this.invalidateTournaments();
    else if (type === "opponent_presence") this.handleOpponent(message);
    else if (type === "early_exit_warning") showNotice(t(message.minutes ? "club.warning.wait" : "club.warning", message));
    else if (type === "refused") showNotice(formatClubError(message));
    notifyChange("club");
  }

  /**
   * Handle the first message of a connection; events with games and challenges follow it.
   * @param {any} message
   */
  handleWelcome(message) {
    clearTimeout(this.timer ?? 0);
    this.timer = null;
    this.offline = false;
    this.name = message.name;
    this.lobby = message;
    for (const known of [this.games, this.challenges, this.sent, this.claimTimes]) known.clear();
    this.blocked = new Set(message.blocked);
    if (settings.chat) this.chat.sendSetting();
    this.invalidateTournaments();
    page.game?.clubGame?.resume();
  }

  handleOffline() {
    this.timer ??= setTimeout(() => {
      this.offline = true;
      announce(t("club.offline"));
      notifyChange("club");
    }, OFFLINE_DELAY_MS);
    notifyChange("club");
  }

  /** @param {ClubState} state */
  handleGame(state) {
    state.receivedAt = performance.now();
    const mine = this.sideOf(state);
    const isNew = mine !== null && !this.seenGames.has(state.game);
    if (mine !== null) this.seenGames.add(state.game);
    if (mine !== null && !state.over) this.games.set(state.game, state);
    else this.games.delete(state.game);
    if (state.over) this.claimTimes.delete(state.game);
    const shown = page.game?.clubGame;
    if (this.pending?.number === state.game) this.pending.state = state;
    else if (shown?.number === state.game) shown.update(state);
    else if (isNew && !state.over) this.handleGameStart(state, 1 - mine);
    else if (mine !== null && state.mover === mine) announce(t("club.turn.against", { name: state.players[1 - mine].name }));
  }

  /**
   * A game of the user has started: show it unless the user is busy elsewhere.
   * @param {ClubState} state
   * @param {number} other
   */
  handleGameStart(state, other) {
    const { name } = state.players[other];
    for (const [number, offer] of this.challenges) if (offer.from === name && offer.variant === state.variant) this.challenges.delete(number);
    for (const [number, offer] of this.sent) if (offer.name === name && offer.variant === state.variant) this.sent.delete(number);
    const text = t(state.ply ? "club.game.resumed" : "club.game.started", { name });
    const isVisible = page.tab === "club" || this.expectsGame;
    announce(text);
    if (isVisible && !isPlayingInClub()) this.show(state.game);
    else showNotice(text, false);
    if (state.unrated_reason && !state.ply) showNotice(t(`club.unrated.${state.unrated_reason}`), false);
  }

  /** The opponent in one of the user's games has left or returned. @param {any} given */
  handleOpponent({ game, name, online, claim_in_seconds: claim }) {
    if (online) this.claimTimes.delete(game);
    else this.claimTimes.set(game, performance.now() + 1000 * claim);
    announce(t(online ? "club.opponent.returned" : "club.opponent.left", { name }));
  }

  /** @param {Offer} offer */
  handleChallenge(offer) {
    this.challenges.set(offer.number, offer);
    const text = t("club.challenge.received", { name: offer.from });
    announce(text);
    if (page.tab !== "club") showNotice(text, false);
  }

  /** @param {any} given */
  handleDeclined({ number, by }) {
    if (this.sent.delete(number)) showNotice(t("club.challenge.declined", { name: by }), false);
    this.challenges.delete(number);
  }

  /** @param {any} given */
  handleRematch({ game, by }) {
    this.rematches.set(game, by);
    const text = t("club.rematch.wanted", { name: by });
    announce(text);
    if (page.game?.clubGame?.number !== game) showNotice(text, false);
  }

  /** Reload the tournaments the next time they are visible. */
  invalidateTournaments() {
    getPanel("club").views.tournaments.stale = true;
  }

  /** Handle a tournament event; the first one after connecting is not announced. @param {Tournament} update */
  handleTournament(update) {
    const before = this.tournaments.get(update.tournament);
    this.tournaments.set(update.tournament, update);
    this.invalidateTournaments();
    const text = before ? formatTournamentNews(update, before, this.name) : "";
    if (!text) return;
    announce(text);
    showNotice(text, false);
  }

  // ---- requests -----------------------------------------------------------------------------------------------------
  /** Send a request; errors are shown, and the result is then null. @param {string} type @param {object} fields */
  async request(type, fields) {
    try {
      return await this.connection.request(type, fields);
    } catch (error) {
      showNotice(formatClubError(error));
      return null;
    }
  }

  /**
   * Offer a game to a player or to anyone; returns the error text, if any.
   * @param {string | null} name
   * @param {any} terms
   */
  async offer(name, terms) {
    this.expectsGame = true;
    try {
      const made = await this.connection.request(name ? "challenge" : "seek", name ? { name, ...terms } : terms);
      if (made.challenge) this.sent.set(made.challenge, { name: name ?? "", variant: terms.variant });
      notifyChange("club");
      return "";
    } catch (error) {
      return formatClubError(error);
    }
  }

  /** @param {number} number */
  async accept(number) {
    this.expectsGame = true;
    await this.request("accept", { number });
    this.challenges.delete(number);
    notifyChange("club");
  }

  /** @param {number} number */
  async decline(number) {
    await this.request("decline", { number });
    this.challenges.delete(number);
    this.sent.delete(number);
    notifyChange("club");
  }

  /** Block or unblock a player. @param {string | null} name @param {boolean} block */
  async block(name, block) {
    const response = await this.request(block ? "block" : "unblock", { name });
    if (!response) return;
    this.blocked = new Set(response.blocked);
    showNotice(t(block ? "club.blocked" : "club.unblocked", { name }), false);
    notifyChange("club");
  }

  /** @param {number} number */
  async rematch(number) {
    this.expectsGame = true;
    const response = await this.request("rematch", { game: number });
    if (response) this.rematches.set(number, this.name);
    notifyChange("club");
  }

  // ---- games on the board -------------------------------------------------------------------------------------------
  /**
   * Open a link such as #club/12, #club/tournament/3 or #club; returns whether a game was opened.
   * @param {string} hash
   */
  async openLink(hash) {
    const tournament = Number(/^#club\/tournament\/([1-9]\d{0,8})$/.exec(hash)?.[1]);
    if (tournament) {
      showTab("club");
      getPanel("club").showTournament(tournament);
      return false;
    }
    const number = Number(/^#club\/([1-9]\d{0,8})$/.exec(hash)?.[1]);
    if (number) return this.show(number, { back: true });
    showTab("club");
    return false;
  }

  /**
   * Show a club game on the board, live or finished; returns whether it exists.
   * @param {number} number
   * @param {{ key?: string, back?: boolean }} [options]
   */
  async show(number, options) {
    if (page.game?.clubGame?.number === number && !page.game.clubGame.hasDiverged(page.game)) {
      showTab("club", "game");
      return true;
    }
    const pending = { number, state: null };
    this.pending = pending;
    try {
      await this.connection.waitUntilOnline();
      const state = this.games.get(number) ?? { ...(await this.connection.request("watch", { game: number })), receivedAt: performance.now() };
      return await this.openOnBoard(state, pending, options);
    } catch (error) {
      showNotice(formatClubError(error));
      return false;
    } finally {
      if (this.pending === pending) this.pending = null;
    }
  }

  /** @param {ClubState} state @param {any} pending @param {{ key?: string, back?: boolean }} [options] */
  async openOnBoard(state, pending, options) {
    const game = new Game({ variant: state.variant });
    for (const move of state.moves) game.play(move);
    game.clubGame = new ClubGame(this, game, state);
    if (!(await openGame(game, options))) return false;
    game.clubGame.update(pending.state ?? state);
    this.pending = null;
    showTab("club", "game");
    boardElement()?.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** Stop watching a game that is no longer on the board. */
  unwatchPrevious() {
    const shown = page.game.clubGame;
    if (this.watched && this.watched !== shown?.number) this.connection.request("unwatch", { game: this.watched }).catch(() => {});
    this.watched = shown && !shown.over && shown.ownSide === null ? shown.number : null;
  }

  /** The number of received challenges and of other games where it is the user's turn. */
  get pendingActions() {
    const shown = page.game?.clubGame?.number;
    const turns = [...this.games.values()].filter((state) => state.game !== shown && state.mover === this.sideOf(state));
    return turns.length + this.challenges.size;
  }
}

/**
 * The text that announces a new round or the end of a tournament.
 * @param {Tournament} given
 * @param {Tournament} before
 * @param {string | null} ownName
 */
function formatTournamentNews({ name, state, round, pairing, standings }, before, ownName) {
  if (state === "ended" && before.state !== state) return t("club.news.ended", { name, rank: standings.find((row) => row.name === ownName)?.rank ?? "?" });
  if (state === "cancelled" && before.state !== state) return t("club.news.cancelled", { name });
  if (round === before.round || !pairing) return "";
  const { first, second } = pairing;
  return `${name} · ${second === null ? t("club.round.bye", { round }) : t("club.round.against", { round, name: first === ownName ? second : first })}`;
}
