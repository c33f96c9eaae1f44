"""One search from its first ply to its last, ply by ply: what Othello and Awalé have in common."""

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from awello.analysis import Analysis
from awello.engine.state import NO_MOVE
from awello.engine.threads import SearchRequest, SearchResult, SearchStopped, SearchThreads
from awello.engine.time_management import UNLIMITED, TimeBudget, is_time_for_more
from awello.kernel import U
from awello.limits import Limit
from awello.position import Position
from awello.rules.game import PASS, legal_moves

Step = tuple[int, int]  # a depth and how sure to be
# A window that was too narrow opens so many times its width: more, and the next search is wider than it need be; less,
# and it may fail again.
WIDENING = 4


@dataclass
class IterativeSearch(ABC):
    """A position that is being searched, and what is known of it."""

    WINDOW: ClassVar[int]
    """How far on either side of the last value the next one is looked for."""
    most: int = field(init=False)
    """The largest value there can be."""

    team: SearchThreads
    position: Position
    best: int = 1
    """How many moves are given a value."""
    allowed: TimeBudget = UNLIMITED
    without: Collection[int] = ()
    """Moves to leave out, unless there are no others."""
    begun: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        legal = int(legal_moves(int(self.position.game), U(self.position.own), U(self.position.opp)))
        left_out = sum(1 << move for move in set(self.without) if move >= 0 and legal >> move & 1)
        self.moves = legal & ~left_out or legal
        self.found: list[SearchResult] = []

    @abstractmethod
    def plan(self, limit: Limit) -> Iterator[Step]:
        """The searches that a limit asks for, the later the better."""

    @abstractmethod
    def solve(self, wld: bool) -> Iterator[Analysis]:
        """Answers up to the exact value; with `wld` only whether the game is won (1), drawn (0) or lost (-1)."""

    @abstractmethod
    def answer(self, depth: int, certainty: int) -> Analysis:
        """What has been found, as others see it."""

    def deepen(self, limit: Limit) -> Iterator[Analysis]:
        """An answer for each search of the plan, as long as the next one can be finished in time."""
        last, before = 0.0, 0.0
        for depth, certainty in self.plan(limit):
            elapsed = self.elapsed()
            if self.found and not is_time_for_more(self.allowed, elapsed, last, before):
                break
            try:
                self.found = self.search_moves(depth, certainty)
            except SearchStopped:
                if not (better := self.found_before_stop()):
                    raise
                self.found = [better]
                yield self.answer(depth, certainty)
                return
            yield self.answer(depth, certainty)
            last, before = self.elapsed() - elapsed, last

    def decide(self, limit: Limit) -> int:
        """The move that the last search of the plan finds, and nothing else: for games by the thousand."""
        for depth, certainty in self.plan(limit):
            try:
                self.found = self.search_moves(depth, certainty)
            except SearchStopped:
                if not self.found:
                    raise
                break
        return self.found[0].move

    def found_before_stop(self) -> SearchResult | None:
        """A move that a search had found to be better than the best of the one before, when it was stopped."""
        return None

    def search_moves(self, depth: int, certainty: int) -> list[SearchResult]:
        """The value of the best moves: each search leaves out those that are known to be better."""
        left, known = self.moves, self.found
        found: list[SearchResult] = []
        while left and len(found) < self.best:
            guess = known[len(found)] if len(found) < len(known) else None
            if guess is not None and not left >> guess.move & 1:
                guess = SearchResult(guess.value, NO_MOVE)
            found.append(self.find(left, depth, certainty, guess))
            left &= ~(1 << found[-1].move)
        return sorted(found, key=lambda item: -item.value)

    def ask(self, moves: int, alpha: int, beta: int, depth: int, certainty: int, first: int) -> SearchResult:
        """The value of these moves in a window, and the best of them."""
        return self.team.ask(SearchRequest(self.position, U(moves), alpha, beta, depth, certainty, first))

    def find(self, moves: int, depth: int, certainty: int, guess: SearchResult | None) -> SearchResult:
        """The best of some moves, searched in a window round the guess that opens where it is too narrow."""
        low, high, first = -self.most, self.most, NO_MOVE
        if guess is not None:
            low, high = max(low, guess.value - self.WINDOW), min(high, guess.value + self.WINDOW)
            first = guess.move
        while True:
            found = self.ask(moves, low, high, depth, certainty, first)
            if found.value <= low > -self.most:
                low = max(-self.most, found.value - WIDENING * self.WINDOW)
            elif found.value >= high < self.most:
                high, first = min(self.most, found.value + WIDENING * self.WINDOW), found.move
            else:  # on small boards an estimate may promise more than there is
                return found._replace(value=max(-self.most, min(found.value, self.most)))

    def elapsed(self) -> float:
        """Seconds since the search began."""
        return time.perf_counter() - self.begun

    def remembered_line(self, position: Position, most: int) -> tuple[int, ...]:
        """The best line from a position as far as the table remembers it, of so many moves at most."""
        line: list[int] = []
        while len(line) < most:
            moves = position.legal_moves()
            move = PASS if moves == (PASS,) else self.team.best_move(position)
            if move not in moves:
                break
            line.append(move)
            position = position.after(move)
        return tuple(line)
