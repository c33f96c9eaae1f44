/** A game as the page keeps it: a tree of moves, and the place where we are in it. */
import { api } from "./server.js";

export const PERSON = "human";

/** The games by their names, as the server tells them. @type {Record<string, Rules>} */
export const GAMES = {};

/** Ask the server for the games. */
export async function loadGames() {
  for (const rules of await api("GET", "/api/rules")) GAMES[rules.name] = rules;
}

let serial = 0;

/** A position reached by a move; the root has none. */
export class Node {
  /** @param {Node | null} parent @param {string} move */
  constructor(parent, move) {
    this.id = String(serial++);
    this.parent = parent;
    this.move = move;
    /** @type {Node[]} */
    this.children = [];
    this.ply = plyAfter(parent);
    this.view = /** @type {View} */ (/** @type {unknown} */ (null)); // what the server says of the position
    /** @type {Analysis | null} */
    this.analysis = null; // the best that is known of its moves
    /** @type {Judgement | null} */
    this.judgement = null; // what the review says of the move that led here
    /** @type {number | null} */
    this.seconds = null; // how long that move took
    this.left = clocksOf(parent); // both clocks after it
    /** @type {{ loser: number | null, reason: string } | null} */
    this.result = null; // { loser, reason } if a player gave up or ran out of time here
  }

  /** The nodes from the root to this one. @returns {Node[]} */
  get path() {
    const nodes = [];
    for (let node = /** @type {Node | null} */ (this); node; node = node.parent) nodes.unshift(node);
    return nodes;
  }

  /** The names of the moves that lead here. */
  get moves() {
    return this.path.slice(1).map((node) => node.move);
  }

  /** The last node of the line that goes on from here by first children. @returns {Node} */
  get tip() {
    let node = /** @type {Node} */ (this);
    while (node.children.length) node = node.children[0];
    return node;
  }

  /** Whether nothing more can be played: by the rules, or because somebody lost in another way. */
  get over() {
    return Boolean(this.result || this.view?.over);
  }

  /** The value of the position from the first player's view, and whether it is exact; null if unknown. */
  get worth() {
    if (!this.view) return null;
    if (this.view.over && this.view.score) return { value: this.view.score[0] - this.view.score[1], exact: true };
    const known = this.analysis ?? null;
    if (known && (known.exact || !this.judgement?.exact)) return { value: this.view.side ? -known.value : known.value, exact: known.exact };
    const judged = this.judgement;
    if (judged) return { value: judged.side ? -judged.value : judged.value, exact: judged.exact };
    return null;
  }

  /** What the move that led here gave away, or null if nobody knows. */
  get loss() {
    if (this.judgement) return this.judgement.loss;
    const before = this.parent?.analysis;
    const found = before?.moves.find((entry) => entry.move === this.move);
    return found ? Math.max(0, (before?.value ?? 0) - found.value) : null;
  }
}

/** A whole game: rules, start, players, clock, and the tree. */
export class Game {
  /** @param {{ game?: string, start?: string | null, seats?: string[], chosen?: boolean, clock?: TimeControl | null }} given */
  constructor({ game = "othello", start = null, seats = [PERSON, PERSON], chosen = false, clock = null } = {}) {
    this.game = game;
    this.start = start; // text of a position, null for the usual one
    this.seats = seats; // player specs, PERSON for people
    this.chosen = chosen; // whether somebody chose these players, and the next game is to have them too
    this.clock = clock; // { seconds, increment } or null
    /** @type {string[] | null} */
    this.names = null; // of the players, where the archive told them
    /** @type {number | null} */
    this.begun = null; // when its first move was played here, in seconds since 1970
    /** @type {Kept | null} */
    this.kept = null; // { moves, number or problem } once it has been played to its end
    this.club = /** @type {ClubGame} */ (/** @type {unknown} */ (null)); // the club's side of it, if it is played or was played there
    this.seed = Math.floor(Math.random() * 2 ** 31);
    this.root = new Node(null, /** @type {any} */ (null));
    this.root.left = clock ? [clock.seconds, clock.seconds] : null;
    this.at = this.root;
  }

  /** Whether the club plays it now: nobody here moves for others, and its clocks count. */
  get live() {
    return Boolean(this.club && !this.club.over);
  }

  get rules() {
    return GAMES[this.game];
  }

  get family() {
    return this.rules.family;
  }

  /** The line from the start through the present position to the end of its branch. */
  get line() {
    return this.at.tip.path;
  }

  /** Who moves at the present position. */
  get side() {
    return this.at.view?.side ?? 0;
  }

  /** Whether a program has the move now. */
  get programToMove() {
    return this.seats[this.side] !== PERSON;
  }

  /** What the server needs to know of a node. */
  question(node = this.at) {
    return { game: this.game, start: this.start, moves: node.moves };
  }

  /** Go to the position after a move, in a new variation if it has not been played here before. @param {string} move */
  play(move) {
    let next = this.at.children.find((child) => child.move === move);
    if (!next) {
      next = new Node(this.at, move);
      this.at.children.push(next);
    }
    this.at = next;
    return next;
  }

  /** The node of an id, or null. @param {string} id */
  find(id) {
    const waiting = [this.root];
    while (waiting.length) {
      const node = /** @type {Node} */ (waiting.pop());
      if (node.id === id) return node;
      waiting.push(...node.children);
    }
    return null;
  }

  /** Make the line through a node the main one. @param {Node} node */
  promote(node) {
    for (let here = node; here.parent; here = here.parent) {
      const siblings = here.parent.children;
      siblings.splice(siblings.indexOf(here), 1);
      siblings.unshift(here);
    }
  }

  /** Remove a node and all after it. @param {Node} node */
  remove(node) {
    if (!node.parent) return;
    if (this.at.path.includes(node)) this.at = node.parent;
    node.parent.children = node.parent.children.filter((child) => child !== node);
  }

  /** The place a person wants to be taken back to: before their own last move. */
  beforeLastTurn() {
    const people = this.seats.map((seat) => seat === PERSON);
    const both = people[0] === people[1];
    for (let node = this.at.parent; node; node = node.parent) {
      const choice = node.view && !("pass" in node.view.moves);
      if (choice && (both || people[node.view.side])) return node;
    }
    return this.at.parent ?? this.at;
  }
}

/** @param {Node | null} parent @returns {number} */
const plyAfter = (parent) => (parent ? parent.ply + 1 : 0);

/** @param {Node | null} node @returns {number[] | null} */
const clocksOf = (node) => node && node.left;
