/** A played game seen again: what each move lost, a list of the mistakes, and another try at each. */
import { problemWords } from "./notices.js";
import { settings } from "./settings.js";

const SECONDS = 0.5; // for each move
const SURE = 2; // seconds to judge another try
export const MARKS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

/** Events: "change". */
export class Reviewer extends EventTarget {
  /** @param {import("./server.js").Connection} live @param {import("./analyst.js").Analyst} analyst */
  constructor(live, analyst) {
    super();
    /** @type {(() => void) | null} */
    this.stop = null;
    /** @type {GameNode[]} */
    this.path = [];
    this.done = 0;
    /** @type {SideSummary[] | null} */
    this.sides = null; // how well either side played, once all moves are judged
    this.problem = "";
    /** @type {Trial | null} */
    this.trial = null; // while a mistake is tried again
    this.live = live;
    this.analyst = analyst;
  }

  /** There is another game on the table. */
  forget() {
    this.stop?.();
    this.stop = null;
    Object.assign(this, { path: [], done: 0, sides: null, problem: "", trial: null });
  }

  get running() {
    return Boolean(this.stop);
  }

  /** Judge the line through the present position, from its end to its beginning. @param {Game} game */
  begin(game) {
    this.forget();
    this.path = game.line;
    const end = this.path.at(-1);
    this.stop = this.live.follow("review", { ...game.question(end), seconds: SECONDS }, (answer) => {
      if (answer.type === "move_review") {
        this.path[answer.ply].judgement = answer;
        this.done = this.path.length - answer.ply; // the last move is judged first
      } else if (answer.type === "summary") {
        this.sides = answer.sides;
      } else {
        this.stop = null;
        this.problem = answer.type === "error" ? problemWords(answer) : "";
      }
      this.dispatchEvent(new Event("change"));
    });
    this.dispatchEvent(new Event("change"));
  }

  /** The moves that lost something worth a mark. */
  get mistakes() {
    return this.path.filter((node) => node.judgement?.mark);
  }

  /** The next move with a mark of this kind after a ply, round the end. @param {string} mark @param {number} ply */
  next(mark, ply) {
    const found = this.mistakes.filter((node) => node.judgement?.mark === mark);
    return found.find((node) => node.ply > ply) ?? found[0] ?? null;
  }

  /** Let the person try the move of a mistake again. @param {GameNode} node */
  tryAgain(node) {
    this.trial = { node, tried: null, loss: null };
    this.dispatchEvent(new Event("change"));
  }

  /** Judge what the person tried. @param {Game} game @param {string} move */
  async judge(game, move) {
    const { trial } = this;
    const before = trial?.node.parent;
    if (!trial || !before) return;
    trial.tried = move;
    trial.loss = null;
    this.dispatchEvent(new Event("change"));
    const known = before.analysis;
    const analysis = known && (known.solved || known.spent >= SURE) ? known : await this.analyst.once(game, before, SURE);
    const found = analysis.moves.find((/** @type {MoveValue} */ entry) => entry.move === move);
    if (this.trial === trial) trial.loss = found ? Math.max(0, analysis.value - found.value) : null;
    this.dispatchEvent(new Event("change"));
  }

  /** Leave the second try. */
  giveUp() {
    this.trial = null;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Whether values may be shown on the board: not while somebody guesses.
 * @param {Reviewer} reviewer
 */
export const mayShowHints = (reviewer) => settings.hints && !reviewer.trial;
