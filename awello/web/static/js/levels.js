/** Opponents by how strong they are, for people who do not know a spec from a spoon. */

const OTHELLO = [
  "champion@level=1,slack=24,often=75",
  "champion@level=1,slack=12,often=50",
  "champion@level=2,slack=8,often=40",
  "champion@level=4,slack=4,often=20",
  "champion@level=6",
  "champion@level=10",
  "champion@3s",
];
const AWALE = [
  "champion@level=1,slack=8,often=75",
  "champion@level=1,slack=6,often=60",
  "champion@level=2,slack=3,often=30",
  "champion@level=4,slack=2,often=20",
  "champion@level=7",
  "champion@level=12",
  "champion@3s",
];

/** The specs of the levels, the weakest first. @param {Family} family */
export const levelsOf = (family) => (family === "othello" ? OTHELLO : AWALE);

/** The level a newcomer meets. @param {Family} family */
export const friendly = (family) => levelsOf(family)[1];

/** The specs of other programs, with a limit that does not keep anybody waiting. */
/** @type {Record<string, string>} */
const PROGRAMS = {
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
const ONLY = {
  otage: ["othello"],
  cnn: ["othello"],
  "cnn-value": ["othello"],
  travers: ["abapa", "tournament", "romein"],
  puct: ["othello", "abapa", "tournament", "romein"],
};

/**
 * The specs of all programs that know a game, from the names that the server gave.
 * @param {string} game
 * @param {Iterable<string>} names
 */
export function programsFor(game, names) {
  const able = [...names].filter((name) => !(name in ONLY) || ONLY[name].includes(game));
  return able.map((name) => PROGRAMS[name] ?? name);
}
