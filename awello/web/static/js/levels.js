/** Opponents by how strong they are, for people who do not know a spec from a spoon. */

const OTHELLO = [
  "champion@level=1,slack=24,often=75",
  "champion@level=2,slack=10,often=50",
  "champion@level=3,slack=6,often=30",
  "champion@level=5",
  "champion@level=8",
  "champion@level=12",
  "champion@3s",
];
const AWALE = [
  "champion@level=1,slack=8,often=75",
  "champion@level=2,slack=4,often=50",
  "champion@level=3,slack=2,often=30",
  "champion@level=5",
  "champion@level=8",
  "champion@level=14",
  "champion@3s",
];

/** The specs of the levels, the weakest first. */
export const levelsOf = (family) => (family === "othello" ? OTHELLO : AWALE);

/** The level a newcomer meets. */
export const friendly = (family) => levelsOf(family)[1];

/** The specs of other programs, with a limit that does not keep anybody waiting. */
export const PROGRAMS = {
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
  champion: "champion@1s",
};
