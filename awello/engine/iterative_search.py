"""One search from its first ply to its last, ply by ply: what Othello and Awalé have in common."""

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from awello.analysis import Analysis
from awello.engine.thread_state import NO_MOVE
from awello.engine.threads import SearchRequest, SearchResult, SearchStopped, SearchThreads
from awello.engine.time_management import UNLIMITED, TimeBudget, has_time_for_next_depth
from awello.kernel import U
from awello.limits import Limit
from awello.position import Position
from awello.rules.game import PASS, legal_moves

PlanStep = tuple[int, int]  # a depth and how sure to be
# A window that was too narrow opens so many times its width: more, and the next search is wider than it need be; less,
# and it may fail again.
WINDOW_GROWTH = 4


@dataclass
class IterativeSearch(ABC):
    """A position that is being searched, and what is known of it."""

    ASPIRATION_WINDOW: ClassVar[int]
    """How far on either side of the last value the next one is looked for."""
    max_value: int = field(init=False)
    """The largest value there can be."""

    search_threads: SearchThreads
    position: Position
    multipv: int = 1
    """How many moves are given a value."""
    budget: TimeBudget = UNLIMITED
    excluded_moves: Collection[int] = ()
    """Moves to leave out, unless there are no others."""
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        legal = int(legal_moves(int(self.position.game), U(self.position.own), U(self.position.opp)))
        excluded = sum(1 << move for move in set(self.excluded_moves) if move >= 0 and legal >> move & 1)
        self.moves = legal & ~excluded or legal
        self.results: list[SearchResult] = []

    @abstractmethod
    def plan(self, limit: Limit) -> Iterator[PlanStep]:
        """The searches that a limit asks for, the later the better."""

    @abstractmethod
    def solve(self, wld: bool) -> Iterator[Analysis]:
        """Answers up to the exact value; with `wld` only whether the game is won (1), drawn (0) or lost (-1)."""

    @abstractmethod
    def make_analysis(self, depth: int, selectivity: int) -> Analysis:
        """What has been found, as others see it."""

    def deepen(self, limit: Limit) -> Iterator[Analysis]:
        """An answer for each search of the plan, as long as the next one can be finished in time."""
        last, before = 0.0, 0.0
        for depth, selectivity in self.plan(limit):
            elapsed = self.elapsed()
            if self.results and not has_time_for_next_depth(self.budget, elapsed, last, before):
                break
            try:
                self.results = self.search_multipv(depth, selectivity)
            except SearchStopped:
                if not (better := self.find_partial_result()):
                    raise
                self.results = [better]
                yield self.make_analysis(depth, selectivity)
                return
            yield self.make_analysis(depth, selectivity)
            last, before = self.elapsed() - elapsed, last

    def find_best_move(self, limit: Limit) -> int:
        """The move that the last search of the plan finds, and nothing else: for games by the thousand."""
        for depth, selectivity in self.plan(limit):
            try:
                self.results = self.search_multipv(depth, selectivity)
            except SearchStopped:
                if not self.results:
                    raise
                break
        return self.results[0].move

    def find_partial_result(self) -> SearchResult | None:
        """A move that a search had found to be better than the best of the one before, when it was stopped."""
        return None

    def search_multipv(self, depth: int, selectivity: int) -> list[SearchResult]:
        """The value of the best moves: each search leaves out those that are known to be better."""
        left, previous = self.moves, self.results
        results: list[SearchResult] = []
        while left and len(results) < self.multipv:
            guess = previous[len(results)] if len(results) < len(previous) else None
            if guess is not None and not left >> guess.move & 1:
                guess = SearchResult(guess.value, NO_MOVE)
            results.append(self.find_best(left, depth, selectivity, guess))
            left &= ~(1 << results[-1].move)
        return sorted(results, key=lambda result: -result.value)

    def search_window(
        self, moves: int, alpha: int, beta: int, depth: int, selectivity: int, first_move: int
    ) -> SearchResult:
        """The value of these moves in a window, and the best of them."""
        return self.search_threads.search(
            SearchRequest(self.position, U(moves), alpha, beta, depth, selectivity, first_move)
        )

    def find_best(self, moves: int, depth: int, selectivity: int, guess: SearchResult | None) -> SearchResult:
        """The best of some moves; the guess is the result of an earlier search."""
        return self.aspiration_search(moves, depth, selectivity, guess)

    def aspiration_search(self, moves: int, depth: int, selectivity: int, guess: SearchResult | None) -> SearchResult:
        """The best of some moves, searched in a window round the guess that opens where it is too narrow."""
        low, high, first_move = -self.max_value, self.max_value, NO_MOVE
        if guess is not None:
            low, high = max(low, guess.value - self.ASPIRATION_WINDOW), min(high, guess.value + self.ASPIRATION_WINDOW)
            first_move = guess.move
        while True:
            result = self.search_window(moves, low, high, depth, selectivity, first_move)
            if result.value <= low > -self.max_value:
                low = max(-self.max_value, result.value - WINDOW_GROWTH * self.ASPIRATION_WINDOW)
            elif result.value >= high < self.max_value:
                high, first_move = (
                    min(self.max_value, result.value + WINDOW_GROWTH * self.ASPIRATION_WINDOW),
                    result.move,
                )
            else:  # on small boards an estimate may promise more than there is
                return result._replace(value=max(-self.max_value, min(result.value, self.max_value)))

    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self.started

    def read_pv(self, position: Position, max_moves: int) -> tuple[int, ...]:
        """The best line from a position as far as the table remembers it, of so many moves at most."""
        pv: list[int] = []
        while len(pv) < max_moves:
            moves = position.legal_moves()
            move = PASS if moves == (PASS,) else self.search_threads.probe_best_move(position)
            if move not in moves:
                break
            pv.append(move)
            position = position.after(move)
        return tuple(pv)
