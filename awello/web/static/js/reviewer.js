/** A played game seen again: what each move lost, a list of the mistakes, and another try at each. */
import { settings } from "./settings.js";

const SECONDS = 0.5; // for each move
const SURE = 2; // seconds to judge another try
export const MARKS = { inaccuracy: "?!", mistake: "?", blunder: "??" };

/** Events: "change". */
export class Reviewer extends EventTarget {
  constructor(live, analyst) {
    super();
    this.live = live;
    this.analyst = analyst;
    this.forget();
  }

  /** There is another game on the table. */
  forget() {
    this.stop?.();
    this.stop = null;
    this.path = [];
    this.done = 0;
    this.sides = null; // how well either side played, once all moves are judged
    this.problem = "";
    this.trial = null; // { node, tried, loss } while a mistake is tried again
  }

  get running() {
    return Boolean(this.stop);
  }

  /** Judge the line through the present position, from its end to its beginning. */
  begin(game) {
    this.forget();
    this.path = game.line;
    const end = this.path.at(-1);
    this.stop = this.live.follow("review", { ...game.question(end), seconds: SECONDS }, (answer) => {
      if (answer.type === "judgement") {
        this.path[answer.ply].judgement = answer;
        this.done = this.path.length - answer.ply; // the last move is judged first
      } else if (answer.type === "summary") {
        this.sides = answer.sides;
      } else {
        this.stop = null;
        this.problem = answer.type === "error" ? answer.message : "";
      }
      this.dispatchEvent(new Event("change"));
    });
    this.dispatchEvent(new Event("change"));
  }

  /** The moves that lost something worth a mark. */
  get mistakes() {
    return this.path.filter((node) => node.judgement?.mark);
  }

  /** The next move with a mark of this kind after a ply, round the end. */
  next(mark, ply) {
    const found = this.mistakes.filter((node) => node.judgement.mark === mark);
    return found.find((node) => node.ply > ply) ?? found[0] ?? null;
  }

  /** Let the person try the move of a mistake again. */
  tryAgain(node) {
    this.trial = { node, tried: null, loss: null };
    this.dispatchEvent(new Event("change"));
  }

  /** Judge what the person tried. */
  async judge(game, move) {
    const { trial } = this;
    const before = trial.node.parent;
    trial.tried = move;
    trial.loss = null;
    this.dispatchEvent(new Event("change"));
    const known = before.analysis;
    const analysis = known?.solved || known?.spent >= SURE ? known : await this.analyst.once(game, before, SURE);
    const found = analysis.moves.find((entry) => entry.move === move);
    if (this.trial === trial) trial.loss = found ? Math.max(0, analysis.value - found.value) : null;
    this.dispatchEvent(new Event("change"));
  }

  /** Leave the second try. */
  giveUp() {
    this.trial = null;
    this.dispatchEvent(new Event("change"));
  }
}

/** Whether values may be shown on the board: not while somebody guesses. */
export const mayShowHints = (reviewer) => settings.hints && !reviewer.trial;
