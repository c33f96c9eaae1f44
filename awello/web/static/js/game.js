/** A game on the page: a tree of moves and the current node. */
import { api } from "./server.js";

export const HUMAN = "human";

/** The rule sets by name. @type {Record<string, Rules>} */
export const RULES = {};

/** Load the rule sets. */
export async function loadRules() {
  for (const rules of await api("GET", "/api/rules")) RULES[rules.name] = rules;
}

let lastNodeId = 0;

/** A node of the game tree: a move and the position after it; the root has no move. */
export class GameNode {
  /** @param {GameNode | null} parent @param {string} move */
  constructor(parent, move) {
    this.id = String(lastNodeId++);
    this.parent = parent;
    this.move = move;
    /** @type {GameNode[]} */
    this.children = [];
    this.ply = nextPly(parent);
    this.position = /** @type {Position} */ (/** @type {unknown} */ (null)); // as described by the server
    /** @type {Analysis | null} */
    this.analysis = null; // the best known analysis
    /** @type {MoveReview | null} */
    this.review = null; // the review of the move that led here
    /** @type {number | null} */
    this.seconds = null; // time used for the move that led here
    this.clocks = clocksAt(parent); // both clocks after the move that led here
    /** @type {{ loser: number | null, reason: string } | null} */
    this.result = null; // set if the game ended here for a reason that is not on the board, such as a resignation
  }

  /** The nodes from the root to this one. @returns {GameNode[]} */
  get path() {
    const nodes = [];
    for (let node = /** @type {GameNode | null} */ (this); node; node = node.parent) nodes.unshift(node);
    return nodes;
  }

  /** The moves that lead here. */
  get moves() {
    return this.path.slice(1).map((node) => node.move);
  }

  /** The last node of this line, following first children. @returns {GameNode} */
  get tip() {
    let node = /** @type {GameNode} */ (this);
    while (node.children.length) node = node.children[0];
    return node;
  }

  /** Whether the game is over here, by the rules or otherwise. */
  get over() {
    return Boolean(this.result || this.position?.over);
  }

  /** The value of the position for the first player, and whether it is exact; null if unknown. */
  get evaluation() {
    if (!this.position) return null;
    if (this.position.over && this.position.score) return { value: this.position.score[0] - this.position.score[1], exact: true };
    const known = this.analysis ?? null;
    if (known && (known.exact || !this.review?.exact)) return { value: this.position.side ? -known.value : known.value, exact: known.exact };
    const review = this.review;
    if (review) return { value: review.side ? -review.value : review.value, exact: review.exact };
    return null;
  }

  /** The loss of the move that led here, or null if unknown. */
  get loss() {
    if (this.review) return this.review.loss;
    const before = this.parent?.analysis;
    const found = before?.moves.find((entry) => entry.move === this.move);
    return found ? Math.max(0, (before?.value ?? 0) - found.value) : null;
  }
}

/** A game: rules, start position, players, clock and tree. */
export class Game {
  /** @param {{ variant?: string, start?: string | null, players?: string[], keepPlayers?: boolean, clock?: TimeControl | null }} given */
  constructor({ variant = "othello", start = null, players = [HUMAN, HUMAN], keepPlayers = false, clock = null } = {}) {
    this.variant = variant; // the name of the rules
    this.start = start; // a position as text; null: the start position of the rules
    this.players = players; // player specs; HUMAN for people
    this.keepPlayers = keepPlayers; // whether the user chose these players: the next game then keeps them
    this.clock = clock; // { seconds, increment } or null
    /** @type {string[] | null} */
    this.playerNames = null; // from the archive or the club
    /** @type {number | null} */
    this.started = null; // when the first move was played here, in seconds since 1970
    /** @type {SaveResult | null} */
    this.saved = null; // the game in the archive: its number, moves and tags, or the error that prevented saving it
    this.clubGame = /** @type {ClubGame} */ (/** @type {unknown} */ (null)); // set if the game is or was played in the club
    this.seed = Math.floor(Math.random() * 2 ** 31);
    this.root = new GameNode(null, /** @type {any} */ (null));
    this.root.clocks = clock ? [clock.seconds, clock.seconds] : null;
    this.current = this.root;
  }

  /** Whether it is a club game in progress. */
  get live() {
    return Boolean(this.clubGame && !this.clubGame.over);
  }

  get rules() {
    return RULES[this.variant];
  }

  get family() {
    return this.rules.family;
  }

  /** The line through the current position to its end. */
  get line() {
    return this.current.tip.path;
  }

  /** The side to move. */
  get side() {
    return this.current.position?.side ?? 0;
  }

  /** Whether a bot is to move. */
  get botToMove() {
    return this.players[this.side] !== HUMAN;
  }

  /** The fields that identify a node in requests to the server. */
  toRequest(node = this.current) {
    return { game: this.variant, start: this.start, moves: node.moves };
  }

  /** Go to the position after a move, creating a variation if it is new. @param {string} move */
  play(move) {
    let next = this.current.children.find((child) => child.move === move);
    if (!next) {
      next = new GameNode(this.current, move);
      this.current.children.push(next);
    }
    this.current = next;
    return next;
  }

  /** Find a node by its id. @param {string} id */
  find(id) {
    const waiting = [this.root];
    while (waiting.length) {
      const node = /** @type {GameNode} */ (waiting.pop());
      if (node.id === id) return node;
      waiting.push(...node.children);
    }
    return null;
  }

  /** Make the line through a node the main line. @param {GameNode} node */
  promote(node) {
    for (let each = node; each.parent; each = each.parent) {
      const siblings = each.parent.children;
      siblings.splice(siblings.indexOf(each), 1);
      siblings.unshift(each);
    }
  }

  /** Remove a node and its descendants. @param {GameNode} node */
  remove(node) {
    if (!node.parent) return;
    if (this.current.path.includes(node)) this.current = node.parent;
    node.parent.children = node.parent.children.filter((child) => child !== node);
  }

  /** The position to undo to: before the user's last move. */
  findUndoTarget() {
    const people = this.players.map((player) => player === HUMAN);
    const both = people[0] === people[1];
    for (let node = this.current.parent; node; node = node.parent) {
      const choice = node.position && !("pass" in node.position.moves);
      if (choice && (both || people[node.position.side])) return node;
    }
    return this.current.parent ?? this.current;
  }
}

/** @param {GameNode | null} parent @returns {number} */
const nextPly = (parent) => (parent ? parent.ply + 1 : 0);

/** @param {GameNode | null} node @returns {number[] | null} */
const clocksAt = (node) => node && node.clocks;
