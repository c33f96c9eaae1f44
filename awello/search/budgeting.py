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
from awello.evaluate.heuristics import EXACT, INNER
from awello.evaluate.settings import Block, Heuristic, read_learnt
from awello.folders import data_file
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game
from awello.search import budget as kernels
from awello.search.ppaf import KINDS
from awello.search.root import answer

SHIPPED = {"awale": "travers"}  # the scores by family
ORDERS = {"none": kernels.NONE, "frozen": kernels.FROZEN, "live": kernels.LIVE}
NODES, DELTA = 450_000, 1.5  # report 1's
UNLIMITED = 1 << 62
FIRST, MOST = 500.0, 1e12  # the budgets that a search within a time starts and ends with
GROWTH = (1.5, 6.0)  # times more nodes that twice the budget takes, at least and at most
CAREFUL = 0.9  # share of the time left that a search may take at the speed so far

Scores = npt.NDArray[np.int64]


def learnt_scores(game: Game, file: str | None = None) -> Scores:
    """The scores of the kinds of moves: of a file that `awello train travers` wrote, else those shipped, else zeros."""
    if game.family not in SHIPPED:
        return np.zeros(KINDS, np.int64)
    read = np.array(read_learnt(file, "scores") if file else (), np.int64)
    return read if read.size == KINDS else _shipped_scores(SHIPPED[game.family])


@cache
def _shipped_scores(name: str) -> Scores:
    with np.load(data_file(f"{name}.npz")) as content:
        scores: Scores = content["scores"]
    return scores


class Budgeting(Block):
    """A block with the scores of the kinds of moves, and what `budget` needs to search with them."""

    def __init__(
        self, game: Game, heuristic: Heuristic, order: str = "live", delta: float = DELTA, scores: Scores | None = None
    ) -> None:
        super().__init__(game, heuristic, kernels.WORDS)
        self.scores = np.zeros(KINDS, np.int64) if scores is None else scores.astype(np.int64)
        self.delta = round(1000 * delta)
        self.words[kernels.SCORES], self.words[kernels.ORDER] = address_of(self.scores), ORDERS[order]

    def on_budget(self, position: Position, nodes: float = NODES) -> Analysis:
        """Search a position that has a legal move on a budget of nodes; it may visit somewhat more or fewer."""
        return self._search(position, nodes, self.delta, UNLIMITED)

    def to_depth(self, position: Position, depth: int) -> Analysis:
        """Search a position that has a legal move to a depth in plies."""
        return replace(self._search(position, depth, 0, UNLIMITED), depth=depth)

    def within(self, position: Position, seconds: float) -> Analysis:
        """Search a position that has a legal move on the largest budget that can be finished in a time."""
        begun = time.perf_counter()
        found = self.on_budget(position, budget := FIRST)
        nodes, leaves, before, last = found.nodes, found.leaves, found.nodes, found.nodes
        while len(found.candidates) > 1 and not found.exact and budget < MOST:
            elapsed = time.perf_counter() - begun
            left = CAREFUL * (seconds - elapsed) * nodes / elapsed  # nodes, at the speed so far
            if last * min(max(last / before, GROWTH[0]), GROWTH[1]) > left:
                break
            budget *= 2
            more = self._search(position, budget, self.delta, int(left))
            nodes, leaves = nodes + more.nodes, leaves + more.leaves
            if kernels.is_spent(self.address):
                break
            found, before, last = more, last, more.nodes
        return replace(found, nodes=nodes, leaves=leaves, seconds=time.perf_counter() - begun)

    def _search(self, position: Position, budget: float, delta: int, limit: int) -> Analysis:
        """Search with these settings; if the limit of nodes is reached, the answer means nothing."""
        begun = time.perf_counter()
        self.begin(position, 0)
        self.words[INNER], self.words[kernels.REACHED] = 1, 0
        self.words[kernels.DELTA], self.words[kernels.LIMIT] = delta, limit
        game, own, opp = int(position.game), U(position.own), U(position.opp)
        moves = position.legal_moves()
        left = kernels.share(float(budget), len(moves), self.address)
        kernels.list_moves(game, own, opp, U(sum(1 << move for move in moves)), 0, self.address)
        most, candidates = EXACT * position.game.points, []
        best = -most
        for index in range(len(moves)):
            move = int(kernels.pick(index, len(moves), 0, self.address))
            child = position.after(move)
            words = U(child.own), U(child.opp)
            value = -int(kernels.search(game, *words, -most, 1 - best, left, 1, self.heuristic, self.address))
            candidates.append((move, value))
            if kernels.is_spent(self.address):
                break
            if value > best:
                best = value
                if self.words[kernels.ORDER] == kernels.LIVE:
                    kernels.learn(index, 0, self.address)
        return answer(sorted(candidates), int(self.words[kernels.REACHED]), self, begun)
