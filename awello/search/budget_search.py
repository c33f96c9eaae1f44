"""Searches on a budget, to a depth or within a time, with an order of moves that lasts from one to the next.

Within a time the budget starts small and doubles, as long as the next search can be expected to end in time by how the
last two compare; one that does not is given up.  The last complete answer stands.
"""

import time
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from awello.analysis import Analysis
from awello.evaluate.heuristics import EXACT_SCALE
from awello.evaluate.settings import Evaluator, Heuristic, read_trained_numbers
from awello.folders import data_file
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game
from awello.search import budget_kernels as kernels
from awello.search.budget_kernels import BudgetState
from awello.search.ppaf import CATEGORY_COUNT
from awello.search.root import make_analysis

SHIPPED_SCORES = {"awale": "travers"}  # the file of scores by family
ORDERINGS = {"none": kernels.ORDER_NONE, "frozen": kernels.ORDER_FROZEN, "live": kernels.ORDER_LIVE}
DEFAULT_NODES = 450_000  # the budget of report 1's agent; more takes longer and looks deeper
DEFAULT_DELTA = 1.5  # report 1's: more looks deeper where alpha-beta cuts, and overdraws the budget where it does not
UNLIMITED_NODES = 1 << 62  # nodes
# A search within a time starts with a budget small enough for any time, some 20 microseconds, and ends with one that is
# never reached: by then a game is searched to its end.
FIRST_BUDGET, MAX_BUDGET = 500.0, 1e12
# Times more nodes that twice the budget takes: what the last two searches say, within limits, because one odd position
# must neither begin a search that cannot end in time nor prevent one that can.
NODE_GROWTH = (1.5, 6.0)
TIME_FRACTION = 0.9  # share of the time left that a search may take at the speed so far: the rest is for slower moments

Scores = npt.NDArray[np.int64]


def load_scores(game: Game, file: str | None = None) -> Scores:
    """The scores of the kinds of moves: of a file that `awello train travers` wrote, else those shipped, else zeros."""
    if game.family not in SHIPPED_SCORES:
        return np.zeros(CATEGORY_COUNT, np.int64)
    read = np.array(read_trained_numbers(file, "scores") if file else (), np.int64)
    return read if read.size == CATEGORY_COUNT else _load_shipped_scores(SHIPPED_SCORES[game.family])


@cache
def _load_shipped_scores(name: str) -> Scores:
    with np.load(data_file(f"{name}.npz")) as content:
        scores: Scores = content["scores"]
    return scores


class BudgetSearch(Evaluator):
    """An evaluator with the scores of the kinds of moves, which searches by `budget`."""

    def __init__(
        self,
        game: Game,
        heuristic: Heuristic,
        ordering: str = "live",
        delta: float = DEFAULT_DELTA,
        scores: Scores | None = None,
    ) -> None:
        states = BudgetState.new_array(1)
        super().__init__(game, heuristic, states["evaluation"])
        self.search_state: BudgetState = states[0]
        self.address = address_of(states)
        self.search_state.ordering = ORDERINGS[ordering]
        self.category_scores: Scores = states["category_scores"][0]
        self.category_scores[:] = 0 if scores is None else scores
        self.root_moves, self.root_values = states["root_moves"][0], states["root_values"][0]
        self.delta = round(kernels.DELTA_SCALE * delta)

    def search_budget(self, position: Position, nodes: float = DEFAULT_NODES) -> Analysis:
        """Search a position that has a legal move on a budget of nodes; it may visit somewhat more or fewer."""
        return self._search(position, nodes, self.delta, UNLIMITED_NODES)

    def search_depth(self, position: Position, depth: int) -> Analysis:
        """Search a position that has a legal move to a depth in plies."""
        return replace(self._search(position, depth, 0, UNLIMITED_NODES), depth=depth)

    def search_time(self, position: Position, seconds: float) -> Analysis:
        """Search a position that has a legal move on the largest budget that can be finished in a time."""
        begun = time.perf_counter()
        found = self.search_budget(position, budget := FIRST_BUDGET)
        nodes, leaves, before, last = found.nodes, found.leaves, found.nodes, found.nodes
        while len(found.candidates) > 1 and not found.exact and budget < MAX_BUDGET:
            elapsed = time.perf_counter() - begun
            left = TIME_FRACTION * (seconds - elapsed) * nodes / elapsed  # nodes, at the speed so far
            if last * min(max(last / before, NODE_GROWTH[0]), NODE_GROWTH[1]) > left:
                break
            budget *= 2
            more = self._search(position, budget, self.delta, int(left))
            nodes, leaves = nodes + more.nodes, leaves + more.leaves
            if kernels.reached_node_limit(self.search_state):
                break
            found, before, last = more, last, more.nodes
        return replace(found, nodes=nodes, leaves=leaves, seconds=time.perf_counter() - begun)

    def _search(self, position: Position, budget: float, delta: int, node_limit: int) -> Analysis:
        """Search with these settings; if the limit of nodes is reached, the answer means nothing."""
        begun, state = time.perf_counter(), self.search_state
        self.prepare(position, 0)
        self.state_array["inner_nodes"], state.deepest_ply = 1, 0
        state.delta, state.node_limit = delta, node_limit
        moves, most = U(sum(1 << move for move in position.legal_moves())), EXACT_SCALE * position.game.points
        question = int(position.game), U(position.own), U(position.opp), moves, most, float(budget)
        tried = kernels.search_root(*question, self.heuristic, self.address)
        candidates = zip(self.root_moves[:tried].tolist(), self.root_values[:tried].tolist(), strict=True)
        return make_analysis(sorted(candidates), int(state.deepest_ply), self, begun)
