"""Alpha-beta for a judge that is slow but takes many positions at once, as a large network does.

All children of a position are judged together, before any is searched.  At the horizon the best of them is its value;
above it those that promise most are searched first, so that alpha-beta leaves most of the others.
"""

import time

import numpy as np

from awello.analysis import Analysis
from awello.evaluate.cnn import Cnn
from awello.position import Position

INFINITY = 3.0  # above the value of any finished game, which is 2 at most: a win by all 64 discs
MAX_MARGIN = 64  # a board of them is worth as much as the win itself, so that a larger win is preferred


class BatchedAlphaBeta:
    """A search and what a network told it about positions, from one move to the next."""

    def __init__(self, network: Cnn) -> None:
        self.network = network
        self.values: dict[tuple[int, int], float] = {}
        self.nodes = 0

    def analyse(self, position: Position, depth: int) -> Analysis:
        """Search a position that has a legal move to a depth in plies."""
        begun, known = time.perf_counter(), len(self.values)
        self.nodes, best, candidates = 1, -INFINITY, []
        for move, child in self._children(position):
            value = -self._search(child, -INFINITY, -best, depth - 1)
            candidates.append((move, value))
            best = max(best, value)
        move = next(move for move, value in candidates if value == best)
        leaves, seconds = len(self.values) - known, time.perf_counter() - begun
        return Analysis(move, best, False, depth, self.nodes, leaves, seconds, tuple(sorted(candidates)))

    def _search(self, position: Position, alpha: float, beta: float, depth: int) -> float:
        """The value for the mover, exact inside (alpha, beta); the position itself has been judged."""
        # Step 1. Leaves: the horizon, or the end of the game.
        self.nodes += 1
        if depth == 0 or position.over:
            return self._value(position)
        # Step 2. The best of the children, until the opponent would not let it come to this.
        best = -INFINITY
        for _, child in self._children(position):
            best = max(best, -self._search(child, -beta, -max(alpha, best), depth - 1))
            if best >= beta:
                break
        return best

    def _children(self, position: Position) -> list[tuple[int, Position]]:
        """The moves of a position and where they lead, the most promising first."""
        children = [(move, position.after(move)) for move in position.legal_moves()]
        settled = [child.skip_pass() for _, child in children if not child.over]
        if asked := {(child.own, child.opp) for child in settled} - self.values.keys():
            _, values = self.network.predict(np.array(list(asked), np.uint64))
            self.values |= zip(asked, values.tolist(), strict=True)
        return sorted(children, key=lambda child: self._value(child[1]))

    def _value(self, position: Position) -> float:
        """What a position is worth without search; a finished game is worth more than any promise, and counts discs."""
        if position.over:
            return float(np.sign(position.margin)) + position.margin / MAX_MARGIN
        settled = position.skip_pass()
        value = self.values[settled.own, settled.opp]
        return value if settled is position else -value
