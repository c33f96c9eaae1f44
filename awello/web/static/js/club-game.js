/** A club game on the board: follows the server's state and sends the user's moves. */
import { formatClubError, formatPlayer } from "./club-text.js";
import { announceEnd } from "./game-text.js";
import { GameNode } from "./game.js";
import { applyMove, goTo } from "./gameplay.js";
import { showError, showNotice } from "./notices.js";
import { loadLinePositions } from "./position-loader.js";
import { notifyChange, state } from "./store.js";

const RETRY_CODES = ["message_rate_limit", "storage"]; // temporary errors: send the same move again
const RESEND_DELAY_MS = 1000;
const MAX_ANIMATED_MOVES = 2; // longer sequences are shown without animation

export class ClubGame {
  /** @param {Club} club @param {Game} game @param {ClubState} known */
  constructor(club, game, known) {
    this.club = club;
    this.game = game;
    this.number = known.game;
    this.state = known;
    /** @type {{ ply: number, move: string } | null} */
    this.pendingMove = null; // not acknowledged yet
    /** @type {GameNode | null} */
    this.endNode = null; // the last node, once the finished game is on the board
    this.queue = Promise.resolve();
    game.playerNames = known.players.map(formatPlayer);
    if (known.over) this.finishGame();
  }

  get over() {
    return this.endNode !== null;
  }

  /** The user's side, or null for spectators. */
  get ownSide() {
    return this.club.sideOf(this.state);
  }

  /** Whether the user plays and the game is in progress. */
  get playing() {
    return this.ownSide !== null && !this.over;
  }

  /** Whether the user can move at a node. @param {GameNode} node */
  mayMove(node) {
    const isOwnTurn = this.playing && this.state.mover === this.ownSide && node.ply === this.state.ply;
    return isOwnTurn && !this.pendingMove && !node.children.length && this.club.connection.online;
  }

  /** The clock of a side: its time on the server, and since when it has been running. @param {number} side */
  clock(side) {
    const { clocks, mover, over, receivedAt } = this.state;
    return { seconds: clocks[side], running: !over && mover === side, startedAt: receivedAt };
  }

  /** Seconds left for a first move, or null if both sides have moved. */
  get firstMoveSeconds() {
    const { first_move_seconds: left, receivedAt, over } = this.state;
    return left === null || over ? null : Math.max(0, Math.ceil(left - (performance.now() - receivedAt) / 1000));
  }

  /** Seconds until victory can be claimed because the opponent has left, or null. */
  get claimSeconds() {
    const gone = this.club.claimTimes.get(this.number);
    return gone === undefined || this.state.ply < 2 ? null : Math.max(0, Math.ceil((gone - performance.now()) / 1000));
  }

  /** Whether the board shows other moves than those of the finished club game. @param {Game} game */
  hasDiverged(game) {
    if (!this.over) return false;
    let node = game.root;
    while (node.children.length === 1) [node] = node.children;
    return node.children.length > 0 || node.ply !== this.state.ply;
  }

  get link() {
    return `#club/${this.number}`;
  }

  // ---- the user's moves ---------------------------------------------------------------------------------------------
  /** Play a move: it is shown immediately and undone if the club refuses it. @param {string} move */
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
      if (error.code === "offline") return; // sent again after reconnecting
      if (RETRY_CODES.includes(error.code)) {
        showNotice(formatClubError(error));
        setTimeout(() => this.pendingMove === pendingMove && this.send(), RESEND_DELAY_MS);
        return;
      }
      if (this.pendingMove === pendingMove) this.pendingMove = null;
      showNotice(formatClubError(error));
      this.scheduleSync();
    }
  }

  // ---- updates from the club ----------------------------------------------------------------------------------------
  /** Refresh the game after reconnecting. */
  async resume() {
    if (this.over) return;
    try {
      this.update({ ...(await this.club.connection.request("watch", { game: this.number })), receivedAt: performance.now() });
    } catch (error) {
      if (error.code !== "offline") showNotice(formatClubError(error));
      return;
    }
    if (this.pendingMove?.ply === this.state.ply && !this.state.over) this.send();
    else this.pendingMove = null;
  }

  /** @param {ClubState} newState */
  update(newState) {
    if (newState.ply < this.state.ply) return; // outdated
    this.state = newState;
    if (this.pendingMove && newState.ply > this.pendingMove.ply) this.pendingMove = null;
    this.scheduleSync();
  }

  /** Queue an update of the board. */
  scheduleSync() {
    this.queue = this.queue.then(() => this.sync()).catch((error) => showError(error));
  }

  /** Update the board to the club's moves; later updates are queued. */
  async sync() {
    const { game } = this;
    if (state.game !== game || this.over) return;
    const line = game.root.tip.path.slice(1);
    const { moves, over, reason } = this.state;
    let common = line.findIndex((node, index) => node.move !== moves[index]);
    if (common < 0) common = line.length;
    const ahead = this.pendingMove && common === moves.length && line.length === common + 1; // the user's move is on its way
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

  /** Append moves; a spectator who has gone back stays on the same position. @param {string[]} moves */
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
    tip.path.slice(1).forEach((node, index) => (node.seconds = seconds?.[index] ?? null));
    if (reason) tip.result = { loser: winner === null ? null : 1 - winner, reason };
  }
}
