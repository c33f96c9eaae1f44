/** The club as this page knows it: who we are, who is there, our games and offers; and what we ask for. */
import { ClubBar } from "./club-bar.js";
import { ClubChat } from "./club-chat.js";
import { ClubGame } from "./club-game.js";
import { ClubTab } from "./club-tab.js";
import { clubProblem } from "./club-words.js";
import { boardElement, listen } from "./dom.js";
import { Game } from "./game.js";
import { note, say } from "./notices.js";
import { useGame } from "./open-game.js";
import { api, Connection } from "./server.js";
import { settings } from "./settings.js";
import { changed, state as page } from "./store.js";
import { inRatedGame } from "./table.js";
import { addTab, panelOf, showTab } from "./tabs.js";
import { t } from "./words.js";

const AWAY_AFTER = 700; // milliseconds without a channel before it is worth a word
const NOBODY = { seeks: [], games: [], online: 0, members: [] };

export class Club {
  constructor() {
    /** @type {string | null} */
    this.name = null; // ours, if we are logged in
    /** @type {Lobby} */
    this.lobby = NOBODY;
    /** @type {Map<number, ClubState>} */
    this.games = new Map(); // ours that go on: number → what the club last told
    this.seen = new Set(); // numbers of ours that were told here
    /** @type {Map<number, Offer>} */
    this.challenges = new Map(); // to us: number → offer
    /** @type {Map<number, SentOffer>} */
    this.sent = new Map(); // from us: number → offer
    this.rematches = new Map(); // number of a game that ended → who wants to play again
    /** @type {Map<number, Tournament>} */
    this.contests = new Map(); // tournaments that we entered: number → what the club last told
    this.gone = new Map(); // number of a game of ours → when we can claim the win because the opponent has left
    this.blocked = new Set(); // names of players whose challenges do not reach us
    this.offering = false; // whether a game may begin because of something that was done here
    /** @type {{ number: number, state: ClubState | null } | null} */
    this.coming = null; // { number, state } of a game that is on its way to the board, and what was told of it since
    /** @type {number | null} */
    this.watched = null; // the number of somebody else's game that we are told of
    /** @type {ReturnType<typeof setTimeout> | null} */
    this.timer = null; // until then
    this.away = false; // whether the club has not answered for a while
    this.channel = new Connection("/api/club/live");
    listen(this.channel, "event", (message) => this.hear(message));
    this.channel.addEventListener("offline", () => this.noteAway());
    this.bar = new ClubBar(this);
    this.chat = new ClubChat(this);
  }

  /** Come in: as ourselves if the browser remembers who we are; others are connected when they look at the club. */
  async enter() {
    addTab("club", ClubTab);
    const { name } = await api("GET", "/api/club/session").catch(() => ({ name: null }));
    this.name = name;
    if (name) this.channel.open();
    changed("club");
    return this;
  }

  // ---- who we are ---------------------------------------------------------------------------------------------------
  /** Log in, or open an account first. @param {string | null} name @param {string} password @param {boolean} fresh */
  async logIn(name, password, fresh) {
    const found = await api("POST", fresh ? "/api/club/accounts" : "/api/club/session", { name, password });
    this.become(found.name);
  }

  /**
   * Other browsers must log in again; ours has another session now, and the channel goes on with it.
   * @param {string} old
   * @param {string} fresh
   */
  async changePassword(old, fresh) {
    await api("PUT", "/api/club/password", { old, new: fresh });
    this.channel.open(true);
  }

  async logOut() {
    await api("DELETE", "/api/club/session");
    this.become(null);
  }

  /** @param {string | null} name */
  become(name) {
    this.name = name;
    this.offering = false;
    for (const known of [this.games, this.seen, this.challenges, this.sent, this.rematches, this.contests, this.chat.said]) known.clear();
    this.channel.open(true);
    changed("club");
  }

  /** Our side in a game, or null. @param {ClubState} given */
  sideIn({ players }) {
    const side = players.findIndex(({ name }) => name === this.name);
    return side < 0 || this.name === null ? null : side;
  }

  // ---- what we are told ---------------------------------------------------------------------------------------------
  /** @param {any} message */
  hear(message) {
    const { type } = message;
    if (type === "welcome") this.welcome(message);
    else if (type === "lobby") this.lobby = message;
    else if (type === "game") this.hearGame(message);
    else if (type === "challenge") this.hearChallenge(message);
    else if (type === "declined") this.hearDeclined(message);
    else if (type === "rematch") this.hearRematch(message);
    else if (type === "chat") this.chat.hear(message);
    else if (type === "tournament") this.hearTournament(message);
    else if (type === "tournaments") this.tournamentsChanged();
    else if (type === "opponent") this.hearOpponent(message);
    else if (type === "warning") note(t(message.minutes ? "club.warning.wait" : "club.warning", message));
    else if (type === "refused") note(clubProblem(message));
    changed("club");
  }

  /**
   * We are in; our games and challenges are told next, and the game on the board may have gone on without us.
   * @param {any} message
   */
  welcome(message) {
    clearTimeout(this.timer ?? 0);
    this.timer = null;
    this.away = false;
    this.name = message.name;
    this.lobby = message;
    for (const known of [this.games, this.challenges, this.sent, this.gone]) known.clear();
    this.blocked = new Set(message.blocked);
    if (settings.chat) this.chat.tell();
    this.tournamentsChanged();
    page.game?.club?.resume();
  }

  noteAway() {
    this.timer ??= setTimeout(() => {
      this.away = true;
      say(t("club.away"));
      changed("club");
    }, AWAY_AFTER);
    changed("club");
  }

  /** @param {ClubState} state */
  hearGame(state) {
    state.moment = performance.now();
    const mine = this.sideIn(state);
    const fresh = mine !== null && !this.seen.has(state.game);
    if (mine !== null) this.seen.add(state.game);
    if (mine !== null && !state.over) this.games.set(state.game, state);
    else this.games.delete(state.game);
    if (state.over) this.gone.delete(state.game);
    const shown = page.game?.club;
    if (this.coming?.number === state.game) this.coming.state = state;
    else if (shown?.number === state.game) shown.follow(state);
    else if (fresh && !state.over) this.begun(state, 1 - mine);
    else if (mine !== null && state.mover === mine) say(t("club.turn.against", { name: state.players[1 - mine].name }));
  }

  /**
   * A game of ours has begun: it comes on the board, unless we do something else or play another.
   * @param {ClubState} state
   * @param {number} other
   */
  begun(state, other) {
    const { name } = state.players[other];
    for (const [number, offer] of this.challenges) if (offer.from === name && offer.variant === state.variant) this.challenges.delete(number);
    for (const [number, offer] of this.sent) if (offer.name === name && offer.variant === state.variant) this.sent.delete(number);
    const words = t(state.ply ? "club.resumed" : "club.begun", { name });
    const here = page.tab === "club" || this.offering;
    say(words);
    if (here && !inRatedGame()) this.show(state.game);
    else note(words, false);
    if (state.unrated && !state.ply) note(t(`club.unrated.${state.unrated}`), false);
  }

  /** The opponent in a game of ours has left, or has come back. @param {any} given */
  hearOpponent({ game, name, online, claim_in: claim }) {
    if (online) this.gone.delete(game);
    else this.gone.set(game, performance.now() + 1000 * claim);
    say(t(online ? "club.back.here" : "club.gone", { name }));
  }

  /** @param {Offer} offer */
  hearChallenge(offer) {
    this.challenges.set(offer.number, offer);
    const words = t("club.challenged", { name: offer.from });
    say(words);
    if (page.tab !== "club") note(words, false);
  }

  /** @param {any} given */
  hearDeclined({ number, by }) {
    if (this.sent.delete(number)) note(t("club.declined", { name: by }), false);
    this.challenges.delete(number);
  }

  /** @param {any} given */
  hearRematch({ game, by }) {
    this.rematches.set(game, by);
    const words = t("club.rematch.wanted", { name: by });
    say(words);
    if (page.game?.club?.number !== game) note(words, false);
  }

  /** The view of tournaments asks again when it is seen. */
  tournamentsChanged() {
    panelOf("club").views.tournaments.stale = true;
  }

  /** A tournament of ours: who comes in is told of it too, and needs no word then. @param {Tournament} news */
  hearTournament(news) {
    const before = this.contests.get(news.tournament);
    this.contests.set(news.tournament, news);
    this.tournamentsChanged();
    const words = before ? newsWords(news, before, this.name) : "";
    if (!words) return;
    say(words);
    note(words, false);
  }

  // ---- what we ask for ----------------------------------------------------------------------------------------------
  /** Ask the club; what goes wrong is said, and null comes back. @param {string} what @param {object} fields */
  async ask(what, fields) {
    try {
      return await this.channel.ask(what, fields);
    } catch (error) {
      note(clubProblem(error));
      return null;
    }
  }

  /**
   * Offer a game to somebody, or to everybody; the problem, if there is one.
   * @param {string | null} name
   * @param {any} terms
   */
  async offer(name, terms) {
    this.offering = true;
    try {
      const made = await this.channel.ask(name ? "challenge" : "seek", name ? { name, ...terms } : terms);
      if (made.challenge) this.sent.set(made.challenge, { name: name ?? "", variant: terms.variant });
      changed("club");
      return "";
    } catch (error) {
      return clubProblem(error);
    }
  }

  /** @param {number} number */
  async accept(number) {
    this.offering = true;
    await this.ask("accept", { number });
    this.challenges.delete(number);
    changed("club");
  }

  /** @param {number} number */
  async decline(number) {
    await this.ask("decline", { number });
    this.challenges.delete(number);
    this.sent.delete(number);
    changed("club");
  }

  /** Block a player, or take their challenges again. @param {string | null} name @param {boolean} block */
  async block(name, block) {
    const answer = await this.ask(block ? "block" : "unblock", { name });
    if (!answer) return;
    this.blocked = new Set(answer.blocked);
    note(t(block ? "club.blocked" : "club.unblocked", { name }), false);
    changed("club");
  }

  /** @param {number} number */
  async rematch(number) {
    this.offering = true;
    const answer = await this.ask("rematch", { game: number });
    if (answer) this.rematches.set(number, this.name);
    changed("club");
  }

  // ---- games on the board -------------------------------------------------------------------------------------------
  /**
   * Follow a link such as #club/12, #club/tournament/3 or #club; whether a game came on the board.
   * @param {string} hash
   */
  async open(hash) {
    const tournament = Number(/^#club\/tournament\/([1-9]\d{0,8})$/.exec(hash)?.[1]);
    if (tournament) {
      showTab("club");
      panelOf("club").showTournament(tournament);
      return false;
    }
    const number = Number(/^#club\/([1-9]\d{0,8})$/.exec(hash)?.[1]);
    if (number) return this.show(number, { back: true });
    showTab("club");
    return false;
  }

  /**
   * Put a game of the club on the board, ours or another's, that goes on or has ended; whether there is one.
   * @param {number} number
   * @param {{ key?: string, back?: boolean }} [options]
   */
  async show(number, options) {
    if (page.game?.club?.number === number && !page.game.club.left(page.game)) {
      showTab("club", "game");
      return true;
    }
    const coming = { number, state: null };
    this.coming = coming;
    try {
      await this.channel.ready();
      const state = this.games.get(number) ?? { ...(await this.channel.ask("watch", { game: number })), moment: performance.now() };
      return await this.place(state, coming, options);
    } catch (error) {
      note(clubProblem(error));
      return false;
    } finally {
      if (this.coming === coming) this.coming = null;
    }
  }

  /** @param {ClubState} state @param {any} coming @param {{ key?: string, back?: boolean }} [options] */
  async place(state, coming, options) {
    const game = new Game({ game: state.variant });
    for (const move of state.moves) game.play(move);
    game.club = new ClubGame(this, game, state);
    if (!(await useGame(game, options))) return false;
    game.club.follow(coming.state ?? state);
    this.coming = null;
    showTab("club", "game");
    boardElement()?.scrollIntoView({ block: "nearest" });
    return true;
  }

  /** Be told no longer of another's game that has left the board. */
  tidy() {
    const shown = page.game.club;
    if (this.watched && this.watched !== shown?.number) this.channel.ask("unwatch", { game: this.watched }).catch(() => {});
    this.watched = shown && !shown.over && shown.mine === null ? shown.number : null;
  }

  /** In how many of our games that are not on the board it is our turn, and how many challenge us. */
  get waiting() {
    const shown = page.game?.club?.number;
    const turns = [...this.games.values()].filter((state) => state.game !== shown && state.mover === this.sideIn(state));
    return turns.length + this.challenges.size;
  }
}

/**
 * What is new in a tournament of ours, in a line: a round that begins, or the end.
 * @param {Tournament} given
 * @param {Tournament} before
 * @param {string | null} ours
 */
function newsWords({ name, state, round, pairing, standings }, before, ours) {
  if (state === "ended" && before.state !== state) return t("club.news.ended", { name, place: standings.find((row) => row.name === ours)?.rank ?? "?" });
  if (state === "cancelled" && before.state !== state) return t("club.news.cancelled", { name });
  if (round === before.round || !pairing) return "";
  const { first, second } = pairing;
  return `${name} · ${second === null ? t("club.round.bye", { round }) : t("club.round.against", { round, name: first === ours ? second : first })}`;
}
