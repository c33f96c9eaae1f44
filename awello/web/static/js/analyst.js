/** The engine beside the board: what each move of the shown position is worth, better and better. */
import { GameNode } from "./game.js";
import { loadLinePositions } from "./position-loader.js";
import { settings } from "./settings.js";

/** Events: "change". */
export class Analyst extends EventTarget {
  /** @param {import("./server.js").Connection} connection */
  constructor(connection) {
    super();
    this.connection = connection;
    /** @type {GameNode | null} */
    this.node = null;
    this.cancel = () => {};
    this.running = false;
    this.error = ""; // what the server says if it cannot think
  }

  /**
   * Look at a position, as long as the engine is on; what is known already is not asked for again.
   * @param {Game} game
   * @param {GameNode} node
   */
  analyse(game, node) {
    const wanted = settings.engine && node.position && !node.position.provisional && !node.over ? node : null;
    if (wanted === this.node) return;
    this.stop();
    this.node = wanted;
    if (wanted && !((wanted.analysis?.spent ?? 0) >= settings.seconds || wanted.analysis?.solved)) this.start(game, wanted, settings.seconds);
  }

  /** @param {Game} game @param {GameNode} node @param {number} seconds */
  start(game, node, seconds) {
    this.running = true;
    this.error = "";
    this.cancel = this.connection.stream("analyse", { ...game.toRequest(node), seconds }, (answer) => {
      if (answer.type === "analysis") mergeAnalysis(node, answer);
      if (answer.type === "error") this.error = answer.message;
      if (answer.type === "done" || answer.type === "error") this.finish(node, answer.type === "done" ? seconds : 0);
      this.dispatchEvent(new Event("change"));
    });
  }

  /** @param {GameNode} node @param {number} spent */
  finish(node, spent) {
    this.running = false;
    if (node.analysis) node.analysis = { ...node.analysis, spent: Math.max(spent, node.analysis.spent), solved: node.analysis.moves.every((move) => move.exact) };
  }

  /** Go on with the position on the board, for longer. @param {Game} game */
  extend(game) {
    const { node } = this;
    if (!node) return;
    this.cancel();
    this.start(game, node, Math.min(60, 4 * (node.analysis?.spent || settings.seconds)));
    this.dispatchEvent(new Event("change"));
  }

  /**
   * Ask once about a position, whether the engine is on or not.
   * @param {Game} game
   * @param {GameNode} node
   * @param {number} seconds
   */
  analyseOnce(game, node, seconds) {
    return new Promise((resolve, reject) => {
      this.connection.stream("analyse", { ...game.toRequest(node), seconds }, (answer) => {
        if (answer.type === "analysis") mergeAnalysis(node, answer);
        if (answer.type === "error") reject(answer);
        if (answer.type === "done") resolve(node.analysis);
      });
    });
  }

  stop() {
    this.cancel();
    this.cancel = () => {};
    this.node = null;
    this.running = false;
  }
}

/**
 * Keep an answer, unless a better one is known: exact, or from a deeper search.
 * @param {GameNode} node
 * @param {any} answer
 */
function mergeAnalysis(node, answer) {
  const known = node.analysis;
  const better = known && (Number(known.exact) - Number(answer.exact) || known.depth - answer.depth || known.certainty - answer.certainty) > 0;
  if (!better) node.analysis = { ...answer, spent: known?.spent ?? 0 };
}

/** What the board needs to show the values of an analysis. @param {Analysis | null} analysis */
export function hintsFromAnalysis(analysis) {
  if (!analysis) return null;
  const most = Math.max(...analysis.moves.map((entry) => entry.value));
  const badge = String(analysis.depth || "");
  return Object.fromEntries(
    analysis.moves
      .filter((entry) => entry.move !== "pass")
      .map(({ move, value, exact }) => [move, { value, exact, best: value === most, loss: most - value, badge: exact ? "" : badge }]),
  );
}

/**
 * The positions along the line of an analysis, the first after its first move.
 * @param {Game} game
 * @param {GameNode} node
 * @param {string[]} line
 */
export async function loadLineAhead(game, node, line) {
  const ghosts = [];
  let here = node;
  for (const move of line) {
    here = new GameNode(here, move);
    ghosts.push(here);
  }
  if (ghosts.length) await loadLinePositions(game, here);
  return ghosts.map((ghost) => ghost.position);
}
