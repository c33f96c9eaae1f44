/** A game as the page keeps it: a tree of moves, and the place where we are in it. */
import { api } from "./server.js";

export const HUMAN = "human";

/** The games by their names, as the server tells them. @type {Record<string, Rules>} */
export const GAMES = {};

/** Ask the server for the games. */
export async function loadRules() {
  for (const rules of await api("GET", "/api/rules")) GAMES[rules.name] = rules;
}

let lastNodeId = 0;

/** A position reached by a move; the root has none. */
export class GameNode {
  /** @param {GameNode | null} parent @param {string} move */
  constructor(parent, move) {
    this.id = String(lastNodeId++);
    this.parent = parent;
    this.move = move;
    /** @type {GameNode[]} */
    this.children = [];
    this.ply = nextPly(parent);
    this.position = /** @type {Position} */ (/** @type {unknown} */ (null)); // what the server says of the position
    /** @type {Analysis | null} */
    this.analysis = null; // the best that is known of its moves
    /** @type {MoveReview | null} */
    this.review = null; // what the review says of the move that led here
    /** @type {number | null} */
    this.seconds = null; // how long that move took
    this.clocks = clocksAt(parent); // both clocks after it
    /** @type {{ loser: number | null, reason: string } | null} */
    this.result = null; // { loser, reason } if a player gave up or ran out of time here
  }

  /** The nodes from the root to this one. @returns {GameNode[]} */
  get path() {
    const nodes = [];
    for (let node = /** @type {GameNode | null} */ (this); node; node = node.parent) nodes.unshift(node);
    return nodes;
  }

  /** The names of the moves that lead here. */
  get moves() {
    return this.path.slice(1).map((node) => node.move);
  }

  /** The last node of the line that goes on from here by first children. @returns {GameNode} */
  get tip() {
    let node = /** @type {GameNode} */ (this);
    while (node.children.length) node = node.children[0];
    return node;
  }

  /** Whether nothing more can be played: by the rules, or because somebody lost in another way. */
  get over() {
    return Boolean(this.result || this.position?.over);
  }

  /** The value of the position from the first player's view, and whether it is exact; null if unknown. */
  get evaluation() {
    if (!this.position) return null;
    if (this.position.over && this.position.score) return { value: this.position.score[0] - this.position.score[1], exact: true };
    const known = this.analysis ?? null;
    if (known && (known.exact || !this.review?.exact)) return { value: this.position.side ? -known.value : known.value, exact: known.exact };
    const judged = this.review;
    if (judged) return { value: judged.side ? -judged.value : judged.value, exact: judged.exact };
    return null;
  }

  /** What the move that led here gave away, or null if nobody knows. */
  get loss() {
    if (this.review) return this.review.loss;
    const before = this.parent?.analysis;
    const found = before?.moves.find((entry) => entry.move === this.move);
    return found ? Math.max(0, (before?.value ?? 0) - found.value) : null;
  }
}

/** A whole game: rules, start, players, clock, and the tree. */
export class Game {
  /** @param {{ game?: string, start?: string | null, players?: string[], keepPlayers?: boolean, clock?: TimeControl | null }} given */
  constructor({ game = "othello", start = null, players = [HUMAN, HUMAN], keepPlayers = false, clock = null } = {}) {
    this.game = game;
    this.start = start; // text of a position, null for the usual one
    this.players = players; // player specs, PERSON for people
    this.keepPlayers = keepPlayers; // whether somebody chose these players, and the next game is to have them too
    this.clock = clock; // { seconds, increment } or null
    /** @type {string[] | null} */
    this.playerNames = null; // of the players, where the archive told them
    /** @type {number | null} */
    this.begun = null; // when its first move was played here, in seconds since 1970
    /** @type {SaveResult | null} */
    this.saved = null; // { moves, number or problem } once it has been played to its end
    this.clubGame = /** @type {ClubGame} */ (/** @type {unknown} */ (null)); // the club's side of it, if it is played or was played there
    this.seed = Math.floor(Math.random() * 2 ** 31);
    this.root = new GameNode(null, /** @type {any} */ (null));
    this.root.clocks = clock ? [clock.seconds, clock.seconds] : null;
    this.current = this.root;
  }

  /** Whether the club plays it now: nobody here moves for others, and its clocks count. */
  get live() {
    return Boolean(this.clubGame && !this.clubGame.over);
  }

  get rules() {
    return GAMES[this.game];
  }

  get family() {
    return this.rules.family;
  }

  /** The line from the start through the present position to the end of its branch. */
  get line() {
    return this.current.tip.path;
  }

  /** Who moves at the present position. */
  get side() {
    return this.current.position?.side ?? 0;
  }

  /** Whether a program has the move now. */
  get botToMove() {
    return this.players[this.side] !== HUMAN;
  }

  /** What the server needs to know of a node. */
  toRequest(node = this.current) {
    return { game: this.game, start: this.start, moves: node.moves };
  }

  /** Go to the position after a move, in a new variation if it has not been played here before. @param {string} move */
  play(move) {
    let next = this.current.children.find((child) => child.move === move);
    if (!next) {
      next = new GameNode(this.current, move);
      this.current.children.push(next);
    }
    this.current = next;
    return next;
  }

  /** The node of an id, or null. @param {string} id */
  find(id) {
    const waiting = [this.root];
    while (waiting.length) {
      const node = /** @type {GameNode} */ (waiting.pop());
      if (node.id === id) return node;
      waiting.push(...node.children);
    }
    return null;
  }

  /** Make the line through a node the main one. @param {GameNode} node */
  promote(node) {
    for (let here = node; here.parent; here = here.parent) {
      const siblings = here.parent.children;
      siblings.splice(siblings.indexOf(here), 1);
      siblings.unshift(here);
    }
  }

  /** Remove a node and all after it. @param {GameNode} node */
  remove(node) {
    if (!node.parent) return;
    if (this.current.path.includes(node)) this.current = node.parent;
    node.parent.children = node.parent.children.filter((child) => child !== node);
  }

  /** The place a person wants to be taken back to: before their own last move. */
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
