"""Alpha-beta for an evaluation that is slow but efficient in batches: the convolutional network.

All children of a position are evaluated together before any of them is searched.  At the last ply, the value of the
best child is the value of the position.  At other plies, the most promising children are searched first, so that
alpha-beta cuts most of the others.
"""

import time

import numpy as np

from awello.analysis import Analysis
from awello.evaluate.cnn import Cnn
from awello.position import Position

INFINITY = 3.0  # above the value of any finished game, which is at most 2 (a win by 64 discs)
MAX_MARGIN = 64  # a win has the value 1 plus its margin divided by this, so that larger wins are preferred


class BatchedAlphaBeta:
    """A search with a cache of network evaluations that is kept from move to move."""

    def __init__(self, network: Cnn) -> None:
        self.network = network
        self.values: dict[tuple[int, int], float] = {}
        self.nodes = 0

    def analyse(self, position: Position, depth: int) -> Analysis:
        """Search to a depth in plies; the mover must have a legal move."""
        started, cached = time.perf_counter(), len(self.values)
        self.nodes, best, candidates = 1, -INFINITY, []
        for move, child in self._children(position):
            value = -self._search(child, -INFINITY, -best, depth - 1)
            candidates.append((move, value))
            best = max(best, value)
        move = next(move for move, value in candidates if value == best)
        leaves, seconds = len(self.values) - cached, time.perf_counter() - started
        return Analysis(move, best, False, depth, self.nodes, leaves, seconds, tuple(sorted(candidates)))

    def _search(self, position: Position, alpha: float, beta: float, depth: int) -> float:
        """Return the value for the mover, exact inside (alpha, beta).

        The position was evaluated when `_children` was called for its parent.
        """
        # Step 1. Leaves: the horizon, or the end of the game.
        self.nodes += 1
        if depth == 0 or position.over:
            return self._value(position)
        # Step 2. Return the value of the best child; stop as soon as the opponent would avoid this position.
        best = -INFINITY
        for _, child in self._children(position):
            best = max(best, -self._search(child, -beta, -max(alpha, best), depth - 1))
            if best >= beta:
                break
        return best

    def _children(self, position: Position) -> list[tuple[int, Position]]:
        """Evaluate the position after each legal move; return each move and its position, the most promising first."""
        children = [(move, position.after(move)) for move in position.legal_moves()]
        unfinished = [child.skip_pass() for _, child in children if not child.over]
        if missing := {(child.own, child.opp) for child in unfinished} - self.values.keys():
            _, values = self.network.predict(np.array(list(missing), np.uint64))
            self.values |= zip(missing, values.tolist(), strict=True)
        return sorted(children, key=lambda child: self._value(child[1]))

    def _value(self, position: Position) -> float:
        """Return the value of a position without search.

        The value of a won game exceeds any value of the network and grows with the margin.
        """
        if position.over:
            return float(np.sign(position.margin)) + position.margin / MAX_MARGIN
        after_pass = position.skip_pass()
        value = self.values[after_pass.own, after_pass.opp]
        return value if after_pass is position else -value
