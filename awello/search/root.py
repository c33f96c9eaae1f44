"""The root of a textbook search: tries each move, keeps all that are best, and counts.

Every algorithm gives the value of a child for the player at the root.  The window starts one below the best value
so far, so that a move as good as the best is known to be so, and ties can be broken by chance instead of by order.  It
ends at the best result there is: a player who wins everything need not look for more.
"""

import time
from collections.abc import Callable

import numpy as np

from awello.analysis import Analysis
from awello.evaluate.heuristics import EXACT, INNER
from awello.evaluate.settings import Block, Heuristic
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game
from awello.search import knowing, minimax, negamax


class Knowledge(Block):
    """A block with a memory that lasts from move to move, and the switches of `knowing`."""

    def __init__(self, game: Game, heuristic: Heuristic, memory: int, sort: bool, mirror: bool) -> None:
        super().__init__(game, heuristic, knowing.WORDS)
        if memory:
            places = 1 << (memory - 1).bit_length()
            self.memory = np.zeros(knowing.ENTRY * places, np.int64)
            self.words[knowing.MEMORY], self.words[knowing.MASK] = address_of(self.memory), places - 1
        self.words[knowing.SORT], self.words[knowing.MIRROR] = sort, mirror and game.family == "othello"


Algorithm = Callable[[int, U, U, int, int, int, Block], int]


def _minimax(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, block: Block) -> int:
    return minimax.minimax(game, own, opp, depth, False, block.heuristic, block.address)


def _alphabeta(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, block: Block) -> int:
    return minimax.alphabeta(game, own, opp, alpha, beta, depth, False, block.heuristic, block.address)


def _negamax(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, block: Block) -> int:
    return -negamax.negamax(game, own, opp, depth, block.heuristic, block.address)


def _negamax_alphabeta(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, block: Block) -> int:
    return -negamax.alphabeta(game, own, opp, -beta, -alpha, depth, block.heuristic, block.address)


def _knowing(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, block: Block) -> int:
    return -knowing.search(game, own, opp, -beta, -alpha, depth, block.heuristic, block.address)


ALGORITHMS: dict[str, Algorithm] = {
    "minimax": _minimax,
    "alphabeta": _alphabeta,
    "negamax": _negamax,
    "negamax-alphabeta": _negamax_alphabeta,
    "knowing": _knowing,
}


def analyse(position: Position, algorithm: str, depth: int, block: Block) -> Analysis:
    """Search a position that has a legal move to a depth in plies."""
    begun = time.perf_counter()
    block.begin(position, depth)
    block.words[INNER] = 1
    search, most, candidates = ALGORITHMS[algorithm], EXACT * position.game.points, []
    best = -most
    for move in position.legal_moves():
        child = position.after(move)
        value = search(int(position.game), U(child.own), U(child.opp), best - 1, most, depth - 1, block)
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
