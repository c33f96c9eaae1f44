"""Iterative deepening with aspiration windows, for Othello and Awalé."""

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from awello.analysis import Analysis
from awello.engine.thread_state import NO_MOVE
from awello.engine.threads import SearchRequest, SearchResult, SearchStopped, SearchThreads
from awello.engine.time_management import UNLIMITED_TIME, TimeBudget, has_time_for_next_depth
from awello.kernel import U
from awello.limits import Limit
from awello.position import Position
from awello.rules.game import PASS, legal_moves

PlanStep = tuple[int, int]  # the depth and the precision of a `SearchRequest`
# If a search fails low or high, the next window extends this many times ASPIRATION_DELTA beyond the returned value.
# With a larger factor, the next window is wider than necessary; with a smaller one, more searches fail again.
WINDOW_GROWTH = 4


@dataclass
class IterativeSearch(ABC):
    """An iterative search of a position, and its results so far."""

    ASPIRATION_DELTA: ClassVar[int]
    """Half the width of the first window, whose centre is the previous value."""
    max_value: int = field(init=False)
    """The largest possible value."""

    search_threads: SearchThreads
    position: Position
    multipv: int = 1
    """How many of the best moves to evaluate."""
    budget: TimeBudget = UNLIMITED_TIME
    excluded_moves: Collection[int] = ()
    """Moves that are searched only if there are no other moves."""
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        legal = int(legal_moves(int(self.position.game), U(self.position.own), U(self.position.opp)))
        excluded = sum(1 << move for move in set(self.excluded_moves) if move >= 0 and legal >> move & 1)
        self.moves = legal & ~excluded or legal
        self.results: list[SearchResult] = []

    @abstractmethod
    def plan(self, limit: Limit) -> Iterator[PlanStep]:
        """Yield the depths and precisions of the searches within a limit, each more accurate than the one before."""

    @abstractmethod
    def solve(self, wld: bool) -> Iterator[Analysis]:
        """Yield analyses up to the exact value or, with `wld`, up to the outcome: win (1), draw (0) or loss (-1)."""

    @abstractmethod
    def make_analysis(self, depth: int, precision: int) -> Analysis:
        """Build an analysis from the results so far."""

    def deepen(self, limit: Limit) -> Iterator[Analysis]:
        """Yield an analysis after each search of the plan, as long as the next search is expected to finish in time."""
        last_seconds, previous_seconds = 0.0, 0.0
        for depth, precision in self.plan(limit):
            elapsed = self.elapsed()
            if self.results and not has_time_for_next_depth(self.budget, elapsed, last_seconds, previous_seconds):
                break
            try:
                self.results = self.search_multipv(depth, precision)
            except SearchStopped:
                if not (better := self.find_partial_result()):
                    raise
                self.results = [better]
                yield self.make_analysis(depth, precision)
                return
            yield self.make_analysis(depth, precision)
            last_seconds, previous_seconds = self.elapsed() - elapsed, last_seconds

    def find_best_move(self, limit: Limit) -> int:
        """Return the best move of the last search of the plan; build no analyses, which would slow down self-play."""
        for depth, precision in self.plan(limit):
            try:
                self.results = self.search_multipv(depth, precision)
            except SearchStopped:
                if not self.results:
                    raise
                break
        return self.results[0].move

    def find_partial_result(self) -> SearchResult | None:
        """Return, after a stop, a move that was proven better than the best move of the previous depth, or None."""
        return None

    def search_multipv(self, depth: int, precision: int) -> list[SearchResult]:
        """Find the best moves one by one; each search excludes the moves already found."""
        left, previous = self.moves, self.results
        results: list[SearchResult] = []
        while left and len(results) < self.multipv:
            guess = previous[len(results)] if len(results) < len(previous) else None
            if guess is not None and not left >> guess.move & 1:
                guess = SearchResult(guess.value, NO_MOVE)
            results.append(self.find_best(left, depth, precision, guess))
            left &= ~(1 << results[-1].move)
        return sorted(results, key=lambda result: -result.value)

    def search_window(
        self, moves: int, alpha: int, beta: int, depth: int, precision: int, first_move: int
    ) -> SearchResult:
        """Search the given moves with the window (alpha, beta)."""
        return self.search_threads.search(
            SearchRequest(self.position, U(moves), alpha, beta, depth, precision, first_move)
        )

    def find_best(self, moves: int, depth: int, precision: int, guess: SearchResult | None) -> SearchResult:
        """Find the best of the given moves; `guess` is the result of the previous search of the plan, or None."""
        return self.aspiration_search(moves, depth, precision, guess)

    def aspiration_search(self, moves: int, depth: int, precision: int, guess: SearchResult | None) -> SearchResult:
        """Find the best of the given moves with a window around the guess, widened if a search fails low or high."""
        low, high, first_move = -self.max_value, self.max_value, NO_MOVE
        if guess is not None:
            low, high = max(low, guess.value - self.ASPIRATION_DELTA), min(high, guess.value + self.ASPIRATION_DELTA)
            first_move = guess.move
        while True:
            result = self.search_window(moves, low, high, depth, precision, first_move)
            if result.value <= low > -self.max_value:
                low = max(-self.max_value, result.value - WINDOW_GROWTH * self.ASPIRATION_DELTA)
            elif result.value >= high < self.max_value:
                high, first_move = (
                    min(self.max_value, result.value + WINDOW_GROWTH * self.ASPIRATION_DELTA),
                    result.move,
                )
            else:  # on small boards, an estimate may exceed the largest score
                return result._replace(value=max(-self.max_value, min(result.value, self.max_value)))

    def elapsed(self) -> float:
        """Return the seconds since the start of the search."""
        return time.perf_counter() - self.started

    def read_pv(self, position: Position, max_moves: int) -> tuple[int, ...]:
        """Read the principal variation from the transposition table."""
        pv: list[int] = []
        while len(pv) < max_moves:
            moves = position.legal_moves()
            move = PASS if moves == (PASS,) else self.search_threads.probe_best_move(position)
            if move not in moves:
                break
            pv.append(move)
            position = position.after(move)
        return tuple(pv)
