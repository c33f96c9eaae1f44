/** A game of the club on the board: it follows what the club tells, and sends our moves. */
import { clubErrorText, formatPlayer } from "./club-text.js";
import { announceEnd } from "./game-text.js";
import { GameNode } from "./game.js";
import { applyMove, goTo } from "./gameplay.js";
import { showError, showNotice } from "./notices.js";
import { loadLinePositions } from "./position-loader.js";
import { notifyChange, state } from "./store.js";

/** @type {Record<string, string>} */
const REASONS = {
  resigned: "resigned", "ran out of time": "time", "a draw was agreed": "agreed", "was not begun": "aborted", "left the game": "left",
  "a draw was claimed": "claimed", "was behind at the move limit": "behind", "the move limit was reached": "limit",
};
const RETRY_CODES = ["often", "storage"]; // the club could not take a message now: the same again later
const RESEND_DELAY_MS = 1000; // milliseconds until then
const MAX_ANIMATED_MOVES = 2; // moves that are shown one after the other; more are caught up with at once

export class ClubGame {
  /** @param {Club} club @param {Game} game @param {ClubState} known */
  constructor(club, game, known) {
    this.club = club;
    this.game = game;
    this.number = known.game;
    this.state = known;
    /** @type {{ ply: number, move: string } | null} */
    this.pendingMove = null; // that the club has not acknowledged
    /** @type {GameNode | null} */
    this.endNode = null; // the node where it ended, once the board shows all of it
    this.queue = Promise.resolve();
    game.playerNames = known.players.map(formatPlayer);
    if (known.over) this.finishGame();
  }

  get over() {
    return this.endNode !== null;
  }

  /** Our side, or null if we watch. */
  get ownSide() {
    return this.club.sideOf(this.state);
  }

  /** Whether we play, and the game goes on as far as the board knows. */
  get playing() {
    return this.ownSide !== null && !this.over;
  }

  /** Whether we can move at a node. @param {GameNode} node */
  mayMove(node) {
    const ours = this.playing && this.state.mover === this.ownSide && node.ply === this.state.ply;
    return ours && !this.pendingMove && !node.children.length && this.club.connection.online;
  }

  /** What the clock of a side shows: the club's word, and what has passed since. @param {number} side */
  clock(side) {
    const { clocks, mover, over, moment } = this.state;
    return { seconds: clocks[side], running: !over && mover === side, startedAt: moment };
  }

  /** The whole seconds left for a first move, or null if both sides have made theirs. */
  get firstMoveSeconds() {
    const { first_move: left, moment, over } = this.state;
    return left === null || over ? null : Math.max(0, Math.ceil(left - (performance.now() - moment) / 1000));
  }

  /** The whole seconds until the win can be claimed because the opponent has left, or null if they are here. */
  get claimSeconds() {
    const gone = this.club.claimTimes.get(this.number);
    return gone === undefined || this.state.ply < 2 ? null : Math.max(0, Math.ceil((gone - performance.now()) / 1000));
  }

  /** Whether the game on the board is no longer just this one: somebody tries out other moves. @param {Game} game */
  hasDiverged(game) {
    if (!this.over) return false;
    let node = game.root;
    while (node.children.length === 1) [node] = node.children;
    return node.children.length > 0 || node.ply !== this.state.ply;
  }

  get link() {
    return `#club/${this.number}`;
  }

  // ---- our moves ----------------------------------------------------------------------------------------------------
  /** Play a move: it is shown at once, and taken back if the club refuses it. @param {string} move */
  async play(move) {
    this.pendingMove = { ply: this.state.ply, move };
    applyMove(move, null);
    await this.send();
  }

  async send() {
    const { pendingMove } = this;
    try {
      await this.club.connection.request("move", { game: this.number, ...pendingMove });
      if (this.pendingMove === pendingMove) this.pendingMove = null;
    } catch (error) {
      if (error.code === "offline") return; // sent again when the club is there
      if (RETRY_CODES.includes(error.code)) {
        showNotice(clubErrorText(error));
        setTimeout(() => this.pendingMove === pendingMove && this.send(), RESEND_DELAY_MS);
        return;
      }
      if (this.pendingMove === pendingMove) this.pendingMove = null;
      showNotice(clubErrorText(error));
      this.scheduleSync();
    }
  }

  // ---- what the club tells ------------------------------------------------------------------------------------------
  /** The connection was made anew: see how the game stands now. */
  async resume() {
    if (this.over) return;
    try {
      this.update({ ...(await this.club.connection.request("watch", { game: this.number })), moment: performance.now() });
    } catch (error) {
      if (error.code !== "offline") showNotice(clubErrorText(error));
      return;
    }
    if (this.pendingMove?.ply === this.state.ply && !this.state.over) this.send();
    else this.pendingMove = null;
  }

  /** @param {ClubState} news */
  update(news) {
    if (news.ply < this.state.ply) return; // older than what we know
    this.state = news;
    if (this.pendingMove && news.ply > this.pendingMove.ply) this.pendingMove = null;
    this.scheduleSync();
  }

  /** Let the board catch up, one thing after the other. */
  scheduleSync() {
    this.queue = this.queue.then(() => this.sync()).catch((error) => showError(error));
  }

  /** Bring the moves of the board in step with those of the club as it is told now; what comes meanwhile comes after. */
  async sync() {
    const { game } = this;
    if (state.game !== game || this.over) return;
    const line = game.root.tip.path.slice(1);
    const { moves, over, reason } = this.state;
    let common = line.findIndex((node, place) => node.move !== moves[place]);
    if (common < 0) common = line.length;
    const ahead = this.pendingMove && common === moves.length && line.length === common + 1; // our move is on its way
    if (!ahead && common < line.length) {
      game.remove(line[common]);
      await goTo(game.current);
    }
    await this.appendMoves(moves.slice(ahead ? line.length : common));
    if (over) {
      this.finishGame();
      if (reason && game.current === this.endNode) announceEnd(game);
    }
    notifyChange("game");
  }

  /** Play on what was played elsewhere; who watches and has gone back stays there. @param {string[]} moves */
  async appendMoves(moves) {
    const { game } = this;
    const { tip } = game.root;
    const follows = this.ownSide !== null || game.current === tip;
    if (!moves.length) return;
    if (!follows || moves.filter((move) => move !== "pass").length > MAX_ANIMATED_MOVES) {
      moves.reduce((node, move) => node.children[node.children.push(new GameNode(node, move)) - 1], tip);
      await loadLinePositions(game, tip.tip);
      if (follows) await goTo(tip.tip);
      return;
    }
    if (game.current !== tip) await goTo(tip);
    for (const move of moves) {
      if (game.current.position.provisional) await loadLinePositions(game, game.current);
      if (state.game === game) await applyMove(move, null);
    }
  }

  finishGame() {
    const { reason, winner, seconds } = this.state;
    const { tip } = this.game.root;
    this.endNode = tip;
    tip.path.slice(1).forEach((node, place) => (node.seconds = seconds?.[place] ?? null));
    if (reason) tip.result = { loser: winner === null ? null : 1 - winner, reason: REASONS[reason] };
  }
}
