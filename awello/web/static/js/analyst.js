/** The analysis engine: values of all moves in the current position, refined while it searches. */
import { GameNode } from "./game.js";
import { formatError } from "./notices.js";
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
    this.error = ""; // the last error of the server
  }

  /**
   * Analyse a position if the engine is on; finished analyses are not requested again.
   * @param {Game} game
   * @param {GameNode} node
   */
  analyse(game, node) {
    const wanted = settings.engine && node.position && !node.position.provisional && !node.over ? node : null;
    if (wanted === this.node) return;
    this.stop();
    this.node = wanted;
    if (wanted && !((wanted.analysis?.spent ?? 0) >= settings.analysisSeconds || wanted.analysis?.solved)) this.start(game, wanted, settings.analysisSeconds);
  }

  /** @param {Game} game @param {GameNode} node @param {number} seconds */
  start(game, node, seconds) {
    this.running = true;
    this.error = "";
    this.cancel = this.connection.stream("analyse", { ...game.toRequest(node), seconds }, (response) => {
      if (response.type === "analysis") mergeAnalysis(node, response);
      if (response.type === "error") this.error = formatError(response);
      if (response.type === "done" || response.type === "error") this.finish(node, response.type === "done" ? seconds : 0);
      this.dispatchEvent(new Event("change"));
    });
  }

  /** @param {GameNode} node @param {number} spent */
  finish(node, spent) {
    this.running = false;
    if (node.analysis) node.analysis = { ...node.analysis, spent: Math.max(spent, node.analysis.spent), solved: node.analysis.moves.every((move) => move.exact) };
  }

  /** Analyse the current position for longer. @param {Game} game */
  extend(game) {
    const { node } = this;
    if (!node) return;
    this.cancel();
    this.start(game, node, Math.min(60, 4 * (node.analysis?.spent || settings.analysisSeconds)));
    this.dispatchEvent(new Event("change"));
  }

  /**
   * Analyse a position once, whether or not the engine is on.
   * @param {Game} game
   * @param {GameNode} node
   * @param {number} seconds
   */
  analyseOnce(game, node, seconds) {
    return new Promise((resolve, reject) => {
      this.connection.stream("analyse", { ...game.toRequest(node), seconds }, (response) => {
        if (response.type === "analysis") mergeAnalysis(node, response);
        if (response.type === "error") reject(response);
        if (response.type === "done") resolve(node.analysis);
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
 * Store a result unless the known one is better: exact, from a deeper search, or with a higher confidence.
 * @param {GameNode} node
 * @param {any} response
 */
function mergeAnalysis(node, response) {
  const known = node.analysis;
  const better = known && (Number(known.exact) - Number(response.exact) || known.depth - response.depth || known.confidence - response.confidence) > 0;
  if (!better) node.analysis = { ...response, spent: known?.spent ?? 0 };
}

/** The hints of the board for an analysis. @param {Analysis | null} analysis */
export function toHints(analysis) {
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
 * Load the positions after each move of a line; returns them in order.
 * @param {Game} game
 * @param {GameNode} node
 * @param {string[]} line
 */
export async function loadLineAhead(game, node, line) {
  const nodes = [];
  let last = node;
  for (const move of line) {
    last = new GameNode(last, move);
    nodes.push(last);
  }
  if (nodes.length) await loadLinePositions(game, last);
  return nodes.map((ahead) => ahead.position);
}
