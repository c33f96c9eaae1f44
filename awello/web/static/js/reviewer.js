/** Game review: the loss of each move, the mistakes, and retries of the mistakes. */
import { formatError } from "./notices.js";
import { settings } from "./settings.js";

const SECONDS_PER_MOVE = 0.5;
const RETRY_SECONDS = 2; // analysis time of a retry
export const MARKS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

/** Events: "change". */
export class Reviewer extends EventTarget {
  /** @param {import("./server.js").Connection} connection @param {import("./analyst.js").Analyst} analyst */
  constructor(connection, analyst) {
    super();
    /** @type {(() => void) | null} */
    this.cancel = null;
    /** @type {GameNode[]} */
    this.path = [];
    this.done = 0;
    /** @type {SideSummary[] | null} */
    this.sides = null; // summary of each side, once all moves are reviewed
    this.error = "";
    /** @type {Retry | null} */
    this.retry = null; // the mistake being retried
    this.connection = connection;
    this.analyst = analyst;
  }

  /** Discard the review, because another game is opened. */
  reset() {
    this.cancel?.();
    this.cancel = null;
    Object.assign(this, { path: [], done: 0, sides: null, error: "", retry: null });
  }

  get running() {
    return Boolean(this.cancel);
  }

  /** Review the line through the current position, from its end to its start. @param {Game} game */
  start(game) {
    this.reset();
    this.path = game.line;
    const end = this.path.at(-1);
    this.cancel = this.connection.stream("review", { ...game.toRequest(end), seconds: SECONDS_PER_MOVE }, (response) => {
      if (response.type === "move_review") {
        this.path[response.ply].review = response;
        this.done = this.path.length - response.ply; // the last move is reviewed first
      } else if (response.type === "summary") {
        this.sides = response.sides;
      } else {
        this.cancel = null;
        this.error = response.type === "error" ? formatError(response) : "";
      }
      this.dispatchEvent(new Event("change"));
    });
    this.dispatchEvent(new Event("change"));
  }

  /** The moves with a mark. */
  get mistakes() {
    return this.path.filter((node) => node.review?.mark);
  }

  /** The next move with a mark after a ply, wrapping around. @param {string} mark @param {number} ply */
  findNextWithMark(mark, ply) {
    const found = this.mistakes.filter((node) => node.review?.mark === mark);
    return found.find((node) => node.ply > ply) ?? found[0] ?? null;
  }

  /** Let the user retry the move of a mistake. @param {GameNode} node */
  startRetry(node) {
    this.retry = { node, tried: null, loss: null };
    this.dispatchEvent(new Event("change"));
  }

  /** Evaluate the user's attempt. @param {Game} game @param {string} move */
  async evaluateRetry(game, move) {
    const { retry } = this;
    const before = retry?.node.parent;
    if (!retry || !before) return;
    retry.tried = move;
    retry.loss = null;
    this.dispatchEvent(new Event("change"));
    const known = before.analysis;
    const analysis = known && (known.solved || known.spent >= RETRY_SECONDS) ? known : await this.analyst.analyseOnce(game, before, RETRY_SECONDS);
    const found = analysis.moves.find((/** @type {MoveValue} */ entry) => entry.move === move);
    if (this.retry === retry) retry.loss = found ? Math.max(0, analysis.value - found.value) : null;
    this.dispatchEvent(new Event("change"));
  }

  /** Leave the retry. */
  leaveRetry() {
    this.retry = null;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Whether values can be shown; they are hidden during a retry.
 * @param {Reviewer} reviewer
 */
export const canShowHints = (reviewer) => settings.hints && !reviewer.retry;
