/** A game of the club on the board: it follows what the club tells, and sends our moves. */
import { clubProblem, playerWords } from "./club-words.js";
import { Node } from "./game.js";
import { announceEnd } from "./game-words.js";
import { complain, note } from "./notices.js";
import { loadLine } from "./positions.js";
import { changed, state } from "./store.js";
import { go, make } from "./table.js";

/** @type {Record<string, string>} */
const REASONS = {
  resigned: "resigned", "ran out of time": "time", "a draw was agreed": "agreed", aborted: "aborted", "left the game": "left",
  "a draw was claimed": "claimed", "was behind at the move limit": "behind", "the move limit was reached": "limit",
};
const BUSY = ["message_rate_limit", "storage"]; // the club could not take a message now: the same again later
const RESEND = 1000; // milliseconds until then
const FEW = 2; // moves that are shown one after the other; more are caught up with at once

export class ClubGame {
  /** @param {Club} club @param {Game} game @param {ClubState} known */
  constructor(club, game, known) {
    this.club = club;
    this.game = game;
    this.number = known.game;
    this.state = known;
    /** @type {{ ply: number, move: string } | null} */
    this.sending = null; // that the club has not acknowledged
    /** @type {GameNode | null} */
    this.end = null; // the node where it ended, once the board shows all of it
    this.turn = Promise.resolve();
    game.names = known.players.map(playerWords);
    if (known.over) this.finish();
  }

  get over() {
    return this.end !== null;
  }

  /** Our side, or null if we watch. */
  get mine() {
    return this.club.sideIn(this.state);
  }

  /** Whether we play, and the game goes on as far as the board knows. */
  get playing() {
    return this.mine !== null && !this.over;
  }

  /** Whether we can move at a node. @param {GameNode} node */
  mayMove(node) {
    const ours = this.playing && this.state.mover === this.mine && node.ply === this.state.ply;
    return ours && !this.sending && !node.children.length && this.club.channel.online;
  }

  /** What the clock of a side shows: the club's word, and what has passed since. @param {number} side */
  clock(side) {
    const { clocks, mover, over, moment } = this.state;
    return { seconds: clocks[side], running: !over && mover === side, since: moment };
  }

  /** The whole seconds left for a first move, or null if both sides have made theirs. */
  get firstMove() {
    const { first_move: left, moment, over } = this.state;
    return left === null || over ? null : Math.max(0, Math.ceil(left - (performance.now() - moment) / 1000));
  }

  /** The whole seconds until the win can be claimed because the opponent has left, or null if they are here. */
  get claim() {
    const gone = this.club.gone.get(this.number);
    return gone === undefined || this.state.ply < 2 ? null : Math.max(0, Math.ceil((gone - performance.now()) / 1000));
  }

  /** Whether the game on the board is no longer just this one: somebody tries out other moves. @param {Game} game */
  left(game) {
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
    this.sending = { ply: this.state.ply, move };
    make(move, null);
    await this.send();
  }

  async send() {
    const { sending } = this;
    try {
      await this.club.channel.ask("move", { game: this.number, ...sending });
      if (this.sending === sending) this.sending = null;
    } catch (error) {
      if (error.code === "offline") return; // sent again when the club is there
      if (BUSY.includes(error.code)) {
        note(clubProblem(error));
        setTimeout(() => this.sending === sending && this.send(), RESEND);
        return;
      }
      if (this.sending === sending) this.sending = null;
      note(clubProblem(error));
      this.settle();
    }
  }

  // ---- what the club tells ------------------------------------------------------------------------------------------
  /** The connection was made anew: see how the game stands now. */
  async resume() {
    if (this.over) return;
    try {
      this.follow({ ...(await this.club.channel.ask("watch", { game: this.number })), moment: performance.now() });
    } catch (error) {
      if (error.code !== "offline") note(clubProblem(error));
      return;
    }
    if (this.sending?.ply === this.state.ply && !this.state.over) this.send();
    else this.sending = null;
  }

  /** @param {ClubState} news */
  follow(news) {
    if (news.ply < this.state.ply) return; // older than what we know
    this.state = news;
    if (this.sending && news.ply > this.sending.ply) this.sending = null;
    this.settle();
  }

  /** Let the board catch up, one thing after the other. */
  settle() {
    this.turn = this.turn.then(() => this.catchUp()).catch((error) => complain(error));
  }

  /** Bring the moves of the board in step with those of the club as it is told now; what comes meanwhile comes after. */
  async catchUp() {
    const { game } = this;
    if (state.game !== game || this.over) return;
    const line = game.root.tip.path.slice(1);
    const { moves, over, reason } = this.state;
    let common = line.findIndex((node, place) => node.move !== moves[place]);
    if (common < 0) common = line.length;
    const ahead = this.sending && common === moves.length && line.length === common + 1; // our move is on its way
    if (!ahead && common < line.length) {
      game.remove(line[common]);
      await go(game.at);
    }
    await this.add(moves.slice(ahead ? line.length : common));
    if (over) {
      this.finish();
      if (reason && game.at === this.end) announceEnd(game);
    }
    changed("game");
  }

  /** Play on what was played elsewhere; who watches and has gone back stays there. @param {string[]} moves */
  async add(moves) {
    const { game } = this;
    const { tip } = game.root;
    const follows = this.mine !== null || game.at === tip;
    if (!moves.length) return;
    if (!follows || moves.filter((move) => move !== "pass").length > FEW) {
      moves.reduce((node, move) => node.children[node.children.push(new Node(node, move)) - 1], tip);
      await loadLine(game, tip.tip);
      if (follows) await go(tip.tip);
      return;
    }
    if (game.at !== tip) await go(tip);
    for (const move of moves) {
      if (game.at.view.provisional) await loadLine(game, game.at);
      if (state.game === game) await make(move, null);
    }
  }

  finish() {
    const { reason, winner, seconds } = this.state;
    const { tip } = this.game.root;
    this.end = tip;
    tip.path.slice(1).forEach((node, place) => (node.seconds = seconds?.[place] ?? null));
    if (reason) tip.result = { loser: winner === null ? null : 1 - winner, reason: REASONS[reason] };
  }
}
