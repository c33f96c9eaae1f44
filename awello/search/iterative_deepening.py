"""Iterative deepening with Otage's techniques, limited by depth, time or nodes; see `iterative_kernels`.

Each technique of report 4 can be switched off to measure what it saves:

  * *Aspiration window*: the value is expected to be close to the value found two depths earlier.  If the value is
    outside the window, the window is opened on that side and the search is repeated, again with the variations of the
    previous depth, because those of the failed search are incomplete.
  * *Square order*: corners first, X-squares last.
  * *Hints*: the search uses the best move of the previous depth, its principal variation, or its refutations, which
    are the variations of all root moves.

The next depth is expected to need sqrt(m) times as many nodes as the last one, where m is the number of root moves.  It
is searched if the node limit and, at the current speed, the remaining time allow for that many nodes.
"""

import math
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from awello.analysis import Analysis
from awello.evaluate.heuristics import EXACT_SCALE
from awello.evaluate.otage_memory import OtageEvaluator, OtageMemory
from awello.kernel import U
from awello.limits import Limit
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import PASS
from awello.rules.othello import parse_square
from awello.search import iterative_kernels as kernels
from awello.search.iterative_kernels import IterativeState, RefutationEntry
from awello.search.negamax import INFINITY

HINT_KINDS = ("none", "move", "pv", "refutations")
# Half the width of the aspiration window, in units of the evaluation.  A narrower window cuts more, but more searches
# fail and are repeated.
ASPIRATION_DELTA = 4000
PLY_CAPACITY = 1 << 12  # refutations per ply, 24 bytes each; a larger table needs more memory but fewer cleanups
NO_NODE_LIMIT = 1 << 62
MIN_ROOT_MOVES = 4  # m in the estimate is at least this: if the root has few moves, later positions usually have more
TIME_SHARE = 0.9  # plan depths for this share of the remaining time, in case they are slower than expected
SQUARE_ORDER = (  # report 4, section III.5: corners, then the squares called A, D, B, E, G, F, C and X
    "h8 a8 a1 h1 a3 a6 c1 f1 c8 f8 h3 h6 c3 c6 f3 f6 d1 e1 a4 a5 d8 e8 h4 h5 d3 e3 c4 c5 f4 f5 d6 e6 "
    "d2 e2 b4 b5 d7 e7 g4 g5 b3 c2 b6 c7 g6 f7 g3 f2 a7 a2 g1 h2 b1 b8 h7 g8 b2 g2 b7 g7"
)
Variation = tuple[int, ...]


@dataclass(frozen=True)
class OtageOptions:
    """Options of Otage's search: which of its techniques are used, and the size of its refutation table."""

    hints: str = "refutations"
    move_ordering: bool = True
    aspiration: bool = True
    ply_capacity: int = PLY_CAPACITY
    """The maximum number of refutations per ply."""


@dataclass(frozen=True)
class Iteration:
    """The result of the search to one depth.  Nodes and leaves include those of repeated searches to this depth."""

    depth: int
    move: int
    value: int
    candidates: tuple[tuple[int, int], ...]
    variations: dict[int, Variation]
    """The variation of each root move, which starts with this move; the best move comes first."""
    leaves: int
    nodes: int
    seconds: float
    searches: int
    cleanups: int
    complete: bool = True


class IterativeDeepening(OtageEvaluator):
    """An evaluator that also searches; it owns one more such evaluator per additional thread."""

    def __init__(
        self, memory: OtageMemory, options: OtageOptions | None = None, patterns: bool = True, threads: int = 1
    ) -> None:
        states = IterativeState.new_array(1)
        super().__init__(memory, patterns, states["otage"])
        self.search_state: IterativeState = states[0]
        self.address = address_of(states)
        self.node_limit, self.cleanups = states["node_limit"], states["cleanups"]
        self.square_ranks, self.variation = states["square_ranks"][0], states["variation"][0]
        self.options = options or OtageOptions()
        ply_capacity = max(kernels.MIN_PLY_CAPACITY, self.options.ply_capacity)
        # The attribute keeps the array alive: the state contains only its address.
        self.refutations = RefutationEntry.new_array(ply_capacity * kernels.MAX_DEPTH)
        if self.options.hints in ("pv", "refutations"):
            self.search_state.refutations = address_of(self.refutations)
        self.search_state.ply_capacity = ply_capacity
        order = [parse_square(name, 8) for name in SQUARE_ORDER.split()] if self.options.move_ordering else range(64)
        self.default_ranks = np.arange(64) + 64
        self.default_ranks[list(order)] = 64 + np.arange(len(order))
        self.searchers = [self, *(IterativeDeepening(memory, options, patterns) for _ in range(threads - 1))]
        self.stopped = False

    def stop(self) -> None:
        """Stop the current search; to be called from another thread."""
        self.stopped = True
        for searcher in self.searchers:
            searcher.node_limit[0] = 0

    # ---- the public interface ---------------------------------------------------------------------------------------
    def analyse(
        self,
        position: Position,
        limit: Limit,
        seconds: float = math.inf,
        excluded_moves: Iterable[int] = (),
        previous: Sequence[Iteration] = (),
    ) -> Analysis:
        """Search within a limit and `seconds`; the depths whose results are in `previous` are not searched again.

        `excluded_moves` are searched only if there are no other moves.
        """
        started = time.perf_counter()
        max_depth = min(limit.depth or kernels.MAX_DEPTH, kernels.MAX_DEPTH - 2)
        iterations = list(self.deepen(position, max_depth, limit.nodes, seconds, excluded_moves, previous))
        last = iterations[-1]
        scale = EXACT_SCALE if (exact := abs(last.value) >= EXACT_SCALE) else 1
        return Analysis(
            last.move,
            last.value / scale,
            exact,
            last.depth if last.complete else last.depth - 1,
            sum(each.nodes for each in iterations),
            sum(each.leaves for each in iterations),
            time.perf_counter() - started,
            tuple((move, value / scale) for move, value in last.candidates),
            last.variations.get(last.move, (last.move,)),
        )

    def deepen(
        self,
        position: Position,
        max_depth: int,
        node_limit: int | None = None,
        seconds: float = math.inf,
        excluded_moves: Iterable[int] = (),
        previous: Sequence[Iteration] = (),
    ) -> Iterator[Iteration]:
        """Yield the last result in `previous`, if any, then the result of each further depth.

        The last result yielded may be incomplete.  The search ends when it is stopped, when the value is exact, when
        there is only one move, or when the next depth is expected to exceed the limits.  Depth 1 is always searched,
        unless `previous` contains it.
        """
        started, searched_nodes, iterations = time.perf_counter(), 0, list(previous)
        self.stopped, excluded = False, set(excluded_moves)
        moves = [move for move in position.legal_moves() if move not in excluded] or list(position.legal_moves())
        yield from iterations[-1:]
        for depth in range(len(iterations) + 1, max_depth + 1):
            node_budget = (node_limit or NO_NODE_LIMIT) - searched_nodes
            if iterations:
                node_budget = min(node_budget, _nodes_within(seconds - (time.perf_counter() - started), iterations[-1]))
                expected_nodes = iterations[-1].nodes * math.sqrt(max(MIN_ROOT_MOVES, len(moves)))
                exact = abs(iterations[-1].value) >= EXACT_SCALE
                if expected_nodes > node_budget or len(moves) == 1 or exact or self.stopped:
                    return
            iteration = self.search_depth(position, moves, depth, iterations, node_budget)
            searched_nodes += iteration.nodes
            if not iteration.complete and self.stopped:
                return
            iterations.append(iteration)
            yield iteration
            if not iteration.complete:
                return

    # ---- one depth --------------------------------------------------------------------------------------------------
    def search_depth(
        self,
        position: Position,
        moves: Sequence[int],
        depth: int,
        previous: Sequence[Iteration],
        node_limit: int = NO_NODE_LIMIT,
    ) -> Iteration:
        """Search root moves to a depth, using the results of the previous depths, within a node limit."""
        started = time.perf_counter()
        for searcher in self.searchers:
            searcher.prepare(position, depth)
            searcher.node_limit[0] = 0 if self.stopped else node_limit // len(self.searchers)
            searcher.cleanups[0] = 0
        self.state_array["inner_nodes"] = 1
        alpha, beta = self._aspiration_window(previous)
        last = previous[-1] if previous else None
        iteration, searches = self._search_root(position, moves, depth, alpha, beta, last), 1
        while iteration.complete and not alpha < iteration.value < beta:
            low = iteration.value <= alpha
            alpha, beta = (-INFINITY, iteration.value + 1) if low else (iteration.value - 1, INFINITY)
            iteration, searches = self._search_root(position, moves, depth, alpha, beta, last), searches + 1
        # A value outside the window from an incomplete search proves nothing: keep the previous result.
        if not iteration.complete and last is not None and not alpha < iteration.value < beta:
            iteration = replace(iteration, move=last.move, value=last.value, candidates=last.candidates)
        nodes, leaves = (sum(getattr(searcher, count) for searcher in self.searchers) for count in ("nodes", "leaves"))
        cleanups = sum(int(searcher.cleanups[0]) for searcher in self.searchers)
        seconds = time.perf_counter() - started
        return replace(iteration, leaves=leaves, nodes=nodes, seconds=seconds, searches=searches, cleanups=cleanups)

    def _aspiration_window(self, previous: Sequence[Iteration]) -> tuple[int, int]:
        """Return a window around the value found two depths earlier.

        At both depths, variations end with a move by the same side, so their values are comparable.
        """
        if not self.options.aspiration or len(previous) < 2 or abs(previous[-2].value) >= EXACT_SCALE:
            return -INFINITY, INFINITY
        return previous[-2].value - ASPIRATION_DELTA, previous[-2].value + ASPIRATION_DELTA

    def _search_root(
        self, position: Position, moves: Sequence[int], depth: int, alpha: int, beta: int, last: Iteration | None
    ) -> Iteration:
        """Search root moves with a window: the first move in one thread, the others in all threads."""
        ordered_moves = self._order_moves(moves, last)
        results: dict[int, tuple[int, Variation]] = {}
        best, best_move, complete, lock = -INFINITY, ordered_moves[0], True, threading.Lock()

        def search(searcher: IterativeDeepening, pending: Iterator[int]) -> None:
            nonlocal best, best_move, complete
            for move in pending:
                if best >= beta or not complete:
                    return
                result = searcher.search_move(position, move, depth, max(alpha, best), beta, last)
                with lock:
                    if result is None:
                        complete = False
                        return
                    value, variation = result
                    results[move] = value, (move, *variation)
                    if value > best:
                        best, best_move = value, move

        search(self, iter(ordered_moves[:1]))
        rest = iter(ordered_moves[1:])
        threads = [threading.Thread(target=search, args=(searcher, rest)) for searcher in self.searchers[1:]]
        for thread in threads:
            thread.start()
        search(self, rest)
        for thread in threads:
            thread.join()
        candidates = tuple((move, results[move][0]) for move in ordered_moves if move in results)
        best_first = sorted(results, key=lambda move: move != best_move)
        variations = {move: results[move][1] for move in best_first}
        return Iteration(depth, best_move, best, candidates, variations, 0, 0, 0.0, 0, 0, complete)

    def search_move(
        self, position: Position, move: int, depth: int, alpha: int, beta: int, last: Iteration | None
    ) -> tuple[int, Variation] | None:
        """Search a root move with a window; return its value and variation, or None if the search was stopped."""
        self._rank_squares(move, last)
        child = position.after(move)
        value, length = kernels.search_move(U(child.own), U(child.opp), -beta, -alpha, depth - 1, self.address)
        if length < 0:
            return None
        squares = self.variation[:length].tolist()
        return -int(value), tuple(PASS if square == kernels.PASS_SQUARE else square for square in squares)

    def _order_moves(self, moves: Sequence[int], last: Iteration | None) -> list[int]:
        """Return the root moves in search order."""
        best = last.move if last and self.options.hints != "none" else None
        return sorted(moves, key=lambda move: (move != best, self.default_ranks[move] if move != PASS else 0))

    def _rank_squares(self, move: int, last: Iteration | None) -> None:
        """Rank the squares for the search below a root move: first those of its variation, if the hints include it."""
        self.square_ranks[:] = self.default_ranks
        if last is None or self.options.hints in ("none", "move"):
            return
        if self.options.hints == "refutations" or move == last.move:
            for rank, square in enumerate(last.variations.get(move, ())):
                if square != PASS:
                    self.square_ranks[square] = rank


def _nodes_within(seconds: float, last: Iteration) -> int:
    """Return the number of nodes that can be searched in `seconds` at the speed of the last depth."""
    if math.isinf(seconds):
        return NO_NODE_LIMIT
    return int(TIME_SHARE * max(0.0, seconds) * last.nodes / last.seconds)
