"""Searches one ply deeper each time, within a depth, a time or a number of nodes; see `iterative` for the kernels.

Each technique of report 4 can be switched off, to see what it saves.  The *aspiration window*: the value is expected
near those of the depths before; a search that finds it outside is repeated with the window opened on that side, by the
variations of the depth before, for its own are not complete.  The *order* of squares: corners first, X squares last.
*Hints*: nothing is known of the depth before; its best move; the best branch; the variations of all moves.

The next depth is begun if there is time, at the speed so far, for as many times the leaves as the root of the moves.
"""

import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from awello.analysis import Analysis
from awello.evaluate.heuristics import EXACT
from awello.evaluate.otage_memory import OtageEvaluator, OtageMemory
from awello.kernel import U
from awello.limits import Limit
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import PASS
from awello.rules.othello import parse_square
from awello.search import iterative_kernels as kernels
from awello.search.iterative_kernels import ElectedMove, IterativeState
from awello.search.negamax import INFINITY

HINTS = ("none", "move", "branch", "tables")
# Half of the aspiration window, in units of the judgement.  Narrower cuts more, and repeats more searches whose value
# lies outside.
WINDOW = 4000
ROOM = 1 << 12  # elected moves of a ply: more takes memory, 24 bytes each, and fewer cleanings
UNLIMITED = 1 << 62  # nodes
LEAST_MOVES = 4  # taken for the moves of the root where they are fewer, which says little of the moves after it
CAREFUL = 0.9  # share of the time left that a depth may take at the speed so far: the rest is for slower moments
ORDER = (  # section III.5: corners, then the squares called A, D, B, E, G, F, C and X
    "h8 a8 a1 h1 a3 a6 c1 f1 c8 f8 h3 h6 c3 c6 f3 f6 d1 e1 a4 a5 d8 e8 h4 h5 d3 e3 c4 c5 f4 f5 d6 e6 "
    "d2 e2 b4 b5 d7 e7 g4 g5 b3 c2 b6 c7 g6 f7 g3 f2 a7 a2 g1 h2 b1 b8 h7 g8 b2 g2 b7 g7"
)
Line = tuple[int, ...]


@dataclass(frozen=True)
class OtageOptions:
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


class IterativeDeepening(OtageEvaluator):
    """A judgement that searches, with others beside it for more threads."""

    def __init__(
        self, memory: OtageMemory, techniques: OtageOptions | None = None, patterns: bool = True, threads: int = 1
    ) -> None:
        states = IterativeState.new_array(1)
        super().__init__(memory, patterns, states["judgement"])
        self.search_state: IterativeState = states[0]
        self.address = address_of(states)
        self.limit, self.cleanings = states["limit"], states["cleanings"]
        self.square_ranks, self.line = states["ranks"][0], states["variation"][0]
        self.techniques = techniques or OtageOptions()
        room = max(kernels.LEAST_ROOM, self.techniques.room)
        self.elected = ElectedMove.new_array(room * kernels.DEEPEST)  # kept as long as its address is used
        if self.techniques.hints in ("branch", "tables"):
            self.search_state.elected = address_of(self.elected)
        self.search_state.room = room
        order = [parse_square(name, 8) for name in ORDER.split()] if self.techniques.order else range(64)
        self.ranks = np.arange(64) + 64
        self.ranks[list(order)] = 64 + np.arange(len(order))
        self.team = [self, *(IterativeDeepening(memory, techniques, patterns) for _ in range(threads - 1))]
        self.stopped = False

    def stop(self) -> None:
        """End the search under way, from another thread."""
        self.stopped = True
        for searcher in self.team:
            searcher.limit[0] = 0

    # ---- questions --------------------------------------------------------------------------------------------------
    def choose(
        self,
        position: Position,
        limit: Limit,
        seconds: float = math.inf,
        without: Iterable[int] = (),
        before: Sequence[Iteration] = (),
    ) -> Analysis:
        """The best move within a limit and a time; some moves may be forbidden, as long as another is left."""
        begun = time.perf_counter()
        deepest = min(limit.depth or kernels.DEEPEST, kernels.DEEPEST - 2)
        found = list(self.deepen(position, deepest, limit.nodes, seconds, without, before))
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
        before: Sequence[Iteration] = (),
    ) -> Iterator[Iteration]:
        """What each depth finds, after those that were searched before; the last may be incomplete.

        It ends where there is no time for the next depth, not before the first, and when it is stopped.
        """
        begun, spent, found = time.perf_counter(), 0, list(before)
        self.stopped, forbidden = False, set(without)
        moves = [move for move in position.legal_moves() if move not in forbidden] or list(position.legal_moves())
        yield from found[-1:]
        for depth in range(len(found) + 1, deepest + 1):
            left = (nodes or UNLIMITED) - spent
            if found:
                left = min(left, _nodes_in(seconds - (time.perf_counter() - begun), found[-1]))
                next_one = found[-1].nodes * math.sqrt(max(LEAST_MOVES, len(moves)))
                if next_one > left or len(moves) == 1 or abs(found[-1].value) >= EXACT or self.stopped:
                    return
            iteration = self.search_depth(position, moves, depth, found, left)
            spent += iteration.nodes
            if not iteration.complete and self.stopped:
                return
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
        for searcher in self.team:
            searcher.begin(position, depth)
            searcher.limit[0] = 0 if self.stopped else limit // len(self.team)
            searcher.cleanings[0] = 0
        self.fields["inner_nodes"] = 1
        alpha, beta = self._window(before)
        last = before[-1] if before else None
        found, searches = self._search_root(position, moves, depth, alpha, beta, last), 1
        while found.complete and not alpha < found.value < beta:
            low = found.value <= alpha
            alpha, beta = (-INFINITY, found.value + 1) if low else (found.value - 1, INFINITY)
            found, searches = self._search_root(position, moves, depth, alpha, beta, last), searches + 1
        if not found.complete and last is not None and not alpha < found.value < beta:  # nothing is known for sure
            found = replace(found, move=last.move, value=last.value, candidates=last.candidates)
        nodes, leaves = (sum(getattr(searcher, count) for searcher in self.team) for count in ("nodes", "leaves"))
        cleaned = sum(int(searcher.cleanings[0]) for searcher in self.team)
        seconds = time.perf_counter() - begun
        return replace(found, leaves=leaves, nodes=nodes, seconds=seconds, searches=searches, cleaned=cleaned)

    def _window(self, before: Sequence[Iteration]) -> tuple[int, int]:
        """Where the value is expected: near that of two depths ago, after which the same side had moved last."""
        if not self.techniques.aspiration or len(before) < 2 or abs(before[-2].value) >= EXACT:
            return -INFINITY, INFINITY
        return before[-2].value - WINDOW, before[-2].value + WINDOW

    def _search_root(
        self, position: Position, moves: Sequence[int], depth: int, alpha: int, beta: int, last: Iteration | None
    ) -> Iteration:
        """The values and variations of the moves in a window: the first move alone, the others by all threads."""
        order = self._sorted(moves, last)
        found: dict[int, tuple[int, Line]] = {}
        best, best_move, complete, lock = -INFINITY, order[0], True, threading.Lock()

        def search(searcher: IterativeDeepening, pending: Iterator[int]) -> None:
            nonlocal best, best_move, complete
            for move in pending:
                if best >= beta or not complete:
                    return
                answer = searcher.search_move(position, move, depth, max(alpha, best), beta, last)
                with lock:
                    if answer is None:
                        complete = False
                        return
                    value, line = answer
                    found[move] = value, (move, *line)
                    if value > best:
                        best, best_move = value, move

        search(self, iter(order[:1]))
        rest = iter(order[1:])
        threads = [threading.Thread(target=search, args=(searcher, rest)) for searcher in self.team[1:]]
        for thread in threads:
            thread.start()
        search(self, rest)
        for thread in threads:
            thread.join()
        candidates = tuple((move, found[move][0]) for move in order if move in found)
        ordered = sorted(found, key=lambda move: move != best_move)
        variations = {move: found[move][1] for move in ordered}
        return Iteration(depth, best_move, best, candidates, variations, 0, 0, 0.0, 0, 0, complete)

    def search_move(
        self, position: Position, move: int, depth: int, alpha: int, beta: int, last: Iteration | None
    ) -> tuple[int, Line] | None:
        """The value of a move of the root in a window, and its variation; None if the search gave up."""
        self._rank(move, last)
        child = position.after(move)
        value, length = kernels.search_move(U(child.own), U(child.opp), -beta, -alpha, depth - 1, self.address)
        if length < 0:
            return None
        return -int(value), tuple(PASS if each == kernels.PASSING else each for each in self.line[:length].tolist())

    def _sorted(self, moves: Sequence[int], last: Iteration | None) -> list[int]:
        """The moves of the root in the order in which they are tried."""
        best = last.move if last and self.techniques.hints != "none" else None
        return sorted(moves, key=lambda move: (move != best, self.ranks[move] if move != PASS else 0))

    def _rank(self, move: int, last: Iteration | None) -> None:
        """Rank squares for the search under a move of the root: those of its variation first."""
        self.square_ranks[:] = self.ranks
        if last is None or self.techniques.hints in ("none", "move"):
            return
        if self.techniques.hints == "tables" or move == last.move:
            for rank, square in enumerate(last.variations.get(move, ())):
                if square != PASS:
                    self.square_ranks[square] = rank


def _nodes_in(seconds: float, last: Iteration) -> int:
    """The nodes that can be visited in a time, at the speed of the last depth."""
    if math.isinf(seconds):
        return UNLIMITED
    return int(CAREFUL * max(0.0, seconds) * last.nodes / last.seconds)
