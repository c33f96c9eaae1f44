"""The root of a textbook search: tries each move, keeps all that are best, and counts.

The window starts one below the best value so far, so that equally good moves are known and chance can choose among
them.  It ends at the best result there is: a player who wins everything need not look for more.
"""

import time

import numpy as np

from awello.analysis import Analysis
from awello.evaluate.heuristics import CUT_MARGIN, EXACT, INNER
from awello.evaluate.settings import Block, Heuristic
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game
from awello.search import knowing, negamax
from awello.search.negamax import NEVER


class Knowledge(Block):
    """A block with a memory that lasts from move to move, and the switches of `knowing`."""

    def __init__(self, game: Game, heuristic: Heuristic, memory: int, sort: bool, mirror: bool) -> None:
        super().__init__(game, heuristic, knowing.WORDS)
        if memory:
            places = 1 << (memory - 1).bit_length()
            self.memory = np.zeros(knowing.ENTRY * places, np.int64)
            self.words[knowing.MEMORY], self.words[knowing.MASK] = address_of(self.memory), places - 1
        self.words[knowing.SORT], self.words[knowing.MIRROR] = sort, mirror and game.adapter.has_symmetries


TEXTBOOK = ("minimax", "alphabeta", "negamax", "negamax-alphabeta")
PLAIN, PRUNING = TEXTBOOK[::2], TEXTBOOK[1::2]  # two names of one search each
ALGORITHMS = dict.fromkeys(TEXTBOOK, negamax.search) | {"knowing": knowing.search}


def analyse(position: Position, algorithm: str, depth: int, block: Block) -> Analysis:
    """Search a position that has a legal move to a depth in plies."""
    begun = time.perf_counter()
    block.begin(position, depth)
    block.words[INNER], block.words[CUT_MARGIN] = 1, NEVER if algorithm in PLAIN else block.cut_margin
    search, most, candidates = ALGORITHMS[algorithm], EXACT * position.game.points, []
    tail, best = (depth - 1, block.heuristic, block.address), -most
    for move in position.legal_moves():
        child = position.after(move)
        value = -int(search(int(position.game), U(child.own), U(child.opp), -most, 1 - best, *tail))
        candidates.append((move, value))
        best = max(best, value)
    return answer(candidates, depth, block, begun)


def answer(candidates: list[tuple[int, int]], depth: int, block: Block, begun: float) -> Analysis:
    """What a search that began at this time has found: the value of each move, and what the block counted."""
    best = max(value for _, value in candidates)
    exact = abs(best) >= EXACT
    scale = EXACT if exact else 1
    return Analysis(
        next(move for move, value in candidates if value == best),
        best / scale,
        exact,
        depth,
        block.nodes,
        block.leaves,
        time.perf_counter() - begun,
        tuple((move, value / scale) for move, value in candidates),
    )
