"""Searches one ply deeper each time, within a depth, a time or a number of nodes; see `iterative` for the kernels.

Each technique of report 4 can be switched off, to see what it saves.  The *aspiration window*: the value is expected
near those of the depths before; a search that finds it outside is repeated with the window opened on that side, by the
variations of the depth before, for its own are not complete.  The *order* of squares: corners first, X squares last.
*Hints*: nothing is known of the depth before; its best move; the best branch; the variations of all moves.

The next depth is begun if there is time for it: as many leaves more as the root of the number of moves, at the speed so
far.
"""

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from awello.analysis import Analysis
from awello.evaluate.heuristics import EXACT, INNER, LEAVES
from awello.evaluate.otage_memory import Judgement, Memory
from awello.kernel import U
from awello.limits import Limit
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import PASS
from awello.rules.othello import parse_square
from awello.search import iterative as kernels
from awello.search.minimax import INFINITY

HINTS = ("none", "move", "branch", "tables")
WINDOW = 2000  # the half of the aspiration window, in units of the judgement
ROOM = 1 << 12  # elected positions of a ply
UNLIMITED = 1 << 62
CAREFUL = 0.9  # share of the time left that a depth may take at the speed so far
ORDER = (  # section III.5: corners, then the squares called A, D, B, E, G, F, C and X
    "h8 a8 a1 h1 a3 a6 c1 f1 c8 f8 h3 h6 c3 c6 f3 f6 d1 e1 a4 a5 d8 e8 h4 h5 d3 e3 c4 c5 f4 f5 d6 e6 "
    "d2 e2 b4 b5 d7 e7 g4 g5 b3 c2 b6 c7 g6 f7 g3 f2 a7 a2 g1 h2 b1 b8 h7 g8 b2 g2 b7 g7"
)
Line = tuple[int, ...]


@dataclass(frozen=True)
class Techniques:
    """What is switched on."""

    hints: str = "tables"
    order: bool = True
    aspiration: bool = True
    room: int = ROOM
    """Elected positions of a ply that are kept before they are cleaned."""


@dataclass(frozen=True)
class Iteration:
    """What the search of one depth found; leaves and nodes are those of this depth, searches repeated included."""

    depth: int
    move: int
    value: int
    candidates: tuple[tuple[int, int], ...]
    variations: dict[int, Line]
    """By the moves of the root, the best one first."""
    leaves: int
    nodes: int
    seconds: float
    searches: int
    cleaned: int
    complete: bool = True


class Iterating(Judgement):
    """A block that searches."""

    def __init__(self, memory: Memory, techniques: Techniques | None = None, patterns: bool = True) -> None:
        super().__init__(memory, kernels.WORDS, patterns)
        self.techniques = techniques or Techniques()
        room = max(kernels.LEAST_ROOM, self.techniques.room)
        self.elected = np.zeros(kernels.ENTRY * room * kernels.DEEPEST, np.int64)
        if self.techniques.hints in ("branch", "tables"):
            self.words[kernels.ELECTED] = address_of(self.elected)
        self.words[kernels.ROOM] = room
        order = [parse_square(name, 8) for name in ORDER.split()] if self.techniques.order else range(64)
        self.ranks = np.arange(64) + 64
        self.ranks[list(order)] = 64 + np.arange(len(order))
        self.line = np.zeros(kernels.DEEPEST, np.int64)

    # ---- questions --------------------------------------------------------------------------------------------------
    def choose(
        self, position: Position, limit: Limit, seconds: float = math.inf, without: Iterable[int] = ()
    ) -> Analysis:
        """The best move within a limit and a time; some moves may be forbidden, as long as another is left."""
        begun, found = time.perf_counter(), list[Iteration]()
        deepest = limit.depth or kernels.DEEPEST - 2
        for iteration in self.deepen(position, min(deepest, kernels.DEEPEST - 2), limit.nodes, seconds, without):
            found.append(iteration)
        last = found[-1]
        scale = EXACT if (exact := abs(last.value) >= EXACT) else 1
        return Analysis(
            last.move,
            last.value / scale,
            exact,
            last.depth if last.complete else last.depth - 1,
            sum(each.nodes for each in found),
            sum(each.leaves for each in found),
            time.perf_counter() - begun,
            tuple((move, value / scale) for move, value in last.candidates),
            last.variations.get(last.move, (last.move,)),
        )

    def deepen(
        self,
        position: Position,
        deepest: int,
        nodes: int | None = None,
        seconds: float = math.inf,
        without: Iterable[int] = (),
    ) -> Iterator[Iteration]:
        """What each depth finds; the last one may be incomplete, and there is always one."""
        begun, spent = time.perf_counter(), 0
        forbidden = set(without)
        moves = [move for move in position.legal_moves() if move not in forbidden] or list(position.legal_moves())
        found: list[Iteration] = []
        for depth in range(1, deepest + 1):
            left: float = (nodes or UNLIMITED) - spent
            if found:
                elapsed = time.perf_counter() - begun
                in_time = CAREFUL * (seconds - elapsed) * spent / elapsed
                left = min(left, in_time) if math.isfinite(in_time) else left
                if found[-1].nodes * math.sqrt(max(4, len(moves))) > left or len(moves) == 1 or is_solved(found[-1]):
                    return
            iteration = self.search_depth(position, moves, depth, found, int(left))
            spent += iteration.nodes
            found.append(iteration)
            yield iteration
            if not iteration.complete:
                return

    # ---- one depth --------------------------------------------------------------------------------------------------
    def search_depth(
        self, position: Position, moves: Sequence[int], depth: int, before: Sequence[Iteration], limit: int = UNLIMITED
    ) -> Iteration:
        """Search the moves of a position to a depth by what the depths before found, at most so many nodes."""
        begun = time.perf_counter()
        self.begin(position, depth)
        self.words[INNER], self.words[kernels.LIMIT], self.words[kernels.CLEANED] = 1, limit, 0
        alpha, beta = self._window(before)
        last = before[-1] if before else None
        found, searches = self._search_root(position, moves, depth, alpha, beta, last), 1
        while found.complete and not alpha < found.value < beta:
            low = found.value <= alpha
            alpha, beta = (-INFINITY, found.value + 1) if low else (found.value - 1, INFINITY)
            found, searches = self._search_root(position, moves, depth, alpha, beta, last), searches + 1
        if not found.complete and last is not None and not alpha < found.value < beta:  # nothing is known for sure
            found = replace(found, move=last.move, value=last.value, candidates=last.candidates)
        leaves, inner = int(self.words[LEAVES]), int(self.words[INNER])
        cleaned, seconds = int(self.words[kernels.CLEANED]), time.perf_counter() - begun
        return replace(found, leaves=leaves, nodes=leaves + inner, seconds=seconds, searches=searches, cleaned=cleaned)

    def _window(self, before: Sequence[Iteration]) -> tuple[int, int]:
        """Where the value is expected: near that of two depths ago, after which the same side had moved last."""
        if not self.techniques.aspiration or len(before) < 2 or abs(before[-2].value) >= EXACT:
            return -INFINITY, INFINITY
        return before[-2].value - WINDOW, before[-2].value + WINDOW

    def _search_root(
        self, position: Position, moves: Sequence[int], depth: int, alpha: int, beta: int, last: Iteration | None
    ) -> Iteration:
        """The values of the moves in a window, and their variations."""
        self.words[kernels.NUMBER] = 0
        self.words[kernels.WAY : kernels.FILLED + kernels.DEEPEST + 1] = 0
        numbers: dict[int, int] = {}
        candidates: list[tuple[int, int]] = []
        best, best_move = -INFINITY, moves[0]
        for move in self._sorted(moves, last):
            self._rank(move, last)
            child = position.after(move)
            numbers[move] = number = int(kernels.reach(1, self.address))
            kernels.elect(1, 0, number, kernels.PASSING if move == PASS else move, self.address)
            value = -int(
                kernels.search(U(child.own), U(child.opp), -beta, -max(alpha, best), depth - 1, 1, self.address)
            )
            if self.words[INNER] + self.words[LEAVES] >= self.words[kernels.LIMIT]:
                return Iteration(depth, best_move, best, tuple(candidates), {}, 0, 0, 0.0, 0, 0, complete=False)
            candidates.append((move, value))
            if value > best:
                best, best_move = value, move
            if best >= beta:
                break
        ordered = sorted(numbers, key=lambda move: move != best_move)
        variations = {move: (move, *self._variation(numbers[move])) for move in ordered}
        return Iteration(depth, best_move, best, tuple(candidates), variations, 0, 0, 0.0, 0, 0)

    def _sorted(self, moves: Sequence[int], last: Iteration | None) -> list[int]:
        """The moves of the root in the order in which they are tried."""
        best = last.move if last and self.techniques.hints != "none" else None
        return sorted(moves, key=lambda move: (move != best, self.ranks[move] if move != PASS else 0))

    def _rank(self, move: int, last: Iteration | None) -> None:
        """Rank squares for the search under a move of the root: those of its variation first."""
        self.words[kernels.RANKS : kernels.RANKS + 64] = self.ranks
        if last is None or self.techniques.hints in ("none", "move"):
            return
        if self.techniques.hints == "tables" or move == last.move:
            for rank, square in enumerate(last.variations.get(move, ())):
                if square != PASS:
                    self.words[kernels.RANKS + square] = rank

    def _variation(self, number: int) -> Line:
        length = int(kernels.follow(number, self.address, address_of(self.line)))
        return tuple(PASS if move == kernels.PASSING else move for move in self.line[:length].tolist())


def is_solved(iteration: Iteration) -> bool:
    """Whether deeper searches can only find the same: the best line and all others end with the game."""
    return abs(iteration.value) >= EXACT
