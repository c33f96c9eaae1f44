"""Searches limited by a node budget, a depth or a time; the move ordering scores are kept between searches.

Within a time limit, the budget starts small and is doubled as long as the next search is expected to finish.  The
number of nodes of the next search is estimated from the growth between the last two.  A search that does not finish in
time is abandoned, and the last complete result is returned.
"""

import time
from dataclasses import replace
from functools import cache

import numpy as np
import numpy.typing as npt

from awello.analysis import Analysis
from awello.evaluate.evaluator import Evaluator, Heuristic, read_trained_numbers
from awello.evaluate.heuristics import EXACT_SCALE
from awello.folders import data_file
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game
from awello.search import budget_kernels as kernels
from awello.search.budget_kernels import BudgetState
from awello.search.ppaf import CATEGORY_COUNT
from awello.search.textbook_search import make_analysis

SHIPPED_SCORES = {"awale": "travers"}  # the name of the file with category scores, by family
ORDERINGS = {"none": kernels.ORDER_NONE, "frozen": kernels.ORDER_FROZEN, "live": kernels.ORDER_LIVE}
DEFAULT_NODES = 450_000  # the budget of the agent in report 1
DEFAULT_SHARE_FACTOR = 1.5  # delta in report 1; a larger factor searches deeper, but may exceed the budget
NO_NODE_LIMIT = 1 << 62
# A search within a time limit starts with a budget for about 20 microseconds, which fits any limit.  The largest budget
# ends the doubling when searches no longer grow, because they reach the end of the game everywhere.
FIRST_BUDGET_NODES, MAX_BUDGET_NODES = 500.0, 1e12
# Bounds of the expected growth in nodes when the budget doubles.  The growth between the last two searches is clipped
# to this range, so that an unusual value neither leads to a search that cannot finish nor prevents one that can.
NODE_GROWTH_BOUNDS = (1.5, 6.0)
TIME_SHARE = 0.9  # plan searches for this share of the remaining time, in case they are slower than expected

Scores = npt.NDArray[np.int64]


def load_scores(game: Game, weights: str | None = None) -> Scores:
    """Load category scores for Awalé from a file written by `awello train travers` (default: the shipped scores).

    For Othello, which has no learnt scores, return zeros.
    """
    if game.family not in SHIPPED_SCORES:
        return np.zeros(CATEGORY_COUNT, np.int64)
    scores = np.array(read_trained_numbers(weights, "scores") if weights else (), np.int64)
    return scores if scores.size == CATEGORY_COUNT else _load_shipped_scores(SHIPPED_SCORES[game.family])


@cache
def _load_shipped_scores(name: str) -> Scores:
    with np.load(data_file(f"{name}.npz")) as content:
        scores: Scores = content["scores"]
    return scores


class BudgetSearch(Evaluator):
    """An evaluator that also searches, with `budget_kernels`, and keeps category scores between searches."""

    def __init__(
        self,
        game: Game,
        heuristic: Heuristic,
        learnt_ordering: str = "live",
        share_factor: float = DEFAULT_SHARE_FACTOR,
        scores: Scores | None = None,
    ) -> None:
        states = BudgetState.new_array(1)
        super().__init__(game, heuristic, states["evaluation"])
        self.search_state: BudgetState = states[0]
        self.address = address_of(states)
        self.search_state.learnt_ordering = ORDERINGS[learnt_ordering]
        self.category_scores: Scores = states["category_scores"][0]
        self.category_scores[:] = 0 if scores is None else scores
        self.root_moves, self.root_values = states["root_moves"][0], states["root_values"][0]
        self.share_factor = round(kernels.SHARE_SCALE * share_factor)

    def search_budget(self, position: Position, nodes: float = DEFAULT_NODES) -> Analysis:
        """Search with a node budget; the search can visit more or fewer nodes.  The mover must have a legal move."""
        return self._search(position, nodes, self.share_factor, NO_NODE_LIMIT)

    def search_depth(self, position: Position, depth: int) -> Analysis:
        """Search to a depth in plies; the mover must have a legal move."""
        return replace(self._search(position, depth, 0, NO_NODE_LIMIT), depth=depth)

    def search_time(self, position: Position, seconds: float) -> Analysis:
        """Search with the largest budget that is expected to fit into `seconds`; the mover must have a legal move."""
        started = time.perf_counter()
        analysis = self.search_budget(position, budget := FIRST_BUDGET_NODES)
        nodes, leaves, before, last = analysis.nodes, analysis.leaves, analysis.nodes, analysis.nodes
        while len(analysis.candidates) > 1 and not analysis.exact and budget < MAX_BUDGET_NODES:
            elapsed = time.perf_counter() - started
            left = TIME_SHARE * (seconds - elapsed) * nodes / elapsed  # in nodes, at the speed so far
            if last * min(max(last / before, NODE_GROWTH_BOUNDS[0]), NODE_GROWTH_BOUNDS[1]) > left:
                break
            budget *= 2
            more = self._search(position, budget, self.share_factor, int(left))
            nodes, leaves = nodes + more.nodes, leaves + more.leaves
            if kernels.reached_node_limit(self.search_state):
                break
            analysis, before, last = more, last, more.nodes
        return replace(analysis, nodes=nodes, leaves=leaves, seconds=time.perf_counter() - started)

    def _search(self, position: Position, budget: float, share_factor: int, node_limit: int) -> Analysis:
        """Search with these settings.  If the node limit is reached, the result is meaningless."""
        started, state = time.perf_counter(), self.search_state
        self.prepare(position, 0)
        self.state_array["inner_nodes"], state.deepest_ply = 1, 0
        state.share_factor, state.node_limit = share_factor, node_limit
        moves = U(sum(1 << move for move in position.legal_moves()))
        root = int(position.game), U(position.own), U(position.opp), moves
        max_value = EXACT_SCALE * position.game.max_score
        searched = kernels.search_root(*root, max_value, float(budget), self.heuristic_id, self.address)
        candidates = zip(self.root_moves[:searched].tolist(), self.root_values[:searched].tolist(), strict=True)
        return make_analysis(sorted(candidates), int(state.deepest_ply), self, started)
