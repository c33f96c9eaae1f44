/** Opponents: levels by strength, and all players that can be chosen. */

/** The opponent in the first game of a new user: level 2. @param {Rules} rules */
export const defaultOpponent = (rules) => rules.opponents[1];

/** Specs of players with a limit that keeps them fast. */
/** @type {Record<string, string>} */
const DEFAULT_SPECS = {
  random: "random",
  greedy: "greedy",
  minimax: "minimax@3",
  negamax: "negamax@3",
  alphabeta: "alphabeta@5",
  "negamax-alphabeta": "negamax-alphabeta@5",
  budget: "budget@200000n",
  travers: "travers@500ms",
  uct: "uct@1s",
  ppaf: "ppaf@1s",
  puct: "puct@1s",
  otage: "otage@500ms",
  cnn: "cnn",
  "cnn-value": "cnn-value@2",
  champion: "champion@1s",
};
/** @type {Record<string, string[]>} */
const SUPPORTED_VARIANTS = {
  otage: ["othello"],
  cnn: ["othello"],
  "cnn-value": ["othello"],
  travers: ["abapa", "tournament", "romein"],
  puct: ["othello", "abapa", "tournament", "romein"],
};

/**
 * The specs of all players that support a variant.
 * @param {string} variant
 * @param {Iterable<string>} names
 */
export function listPlayerSpecs(variant, names) {
  const available = [...names].filter((name) => !(name in SUPPORTED_VARIANTS) || SUPPORTED_VARIANTS[name].includes(variant));
  return available.map((name) => DEFAULT_SPECS[name] ?? name);
}
