"""A duel: pairs of games between two players until it is clear whether the first is the stronger one.

Both games of a pair have the same opening, with the colours exchanged.  Pairs are counted in their order, so a duel
ends with the same pair for any number of worker processes.
"""

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from awello.arena.match import Match, first_side, mean_ms, points_of_first
from awello.arena.openings import balanced_opening
from awello.arena.runner import GameResult, Runner, check_players
from awello.arena.sprt import Hypotheses, elo_difference, likelihood_of_superiority
from awello.arena.workers import Jobs
from awello.errors import ConfigError


@dataclass(frozen=True)
class Duel(Match):
    """What is to be played, and what is asked."""

    games: int = 1000
    """The most there may be; an even number."""
    openings: tuple[tuple[int, ...], ...] = ()
    """Each is played once, in an order that follows from the seed; without any, they are random and balanced."""
    opening_plies: int = 8
    hypotheses: Hypotheses = field(default_factory=Hypotheses)
    fixed: bool = False
    """Whether all games are played, whatever is clear before."""
    kind: ClassVar[str] = "duel"
    batch_size: ClassVar[int] = 2  # both games of a pair begin with the same opening, which takes a while to find

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.games < 2 or self.games % 2:
            raise ConfigError(f"{self.games} games: a duel plays pairs, so give an even number")

    @property
    def pairs(self) -> int:
        """The most pairs there may be: an opening that came again would tell nothing new."""
        return min(self.games // 2, len(self.openings) or self.games)

    @property
    def total(self) -> int:
        return 2 * self.pairs

    @cached_property
    def _shuffled(self) -> list[tuple[int, ...]]:
        return random.Random(self.seed).sample(self.openings, len(self.openings))

    def opening(self, number: int) -> tuple[int, ...]:
        if self.openings:
            return self._shuffled[number // 2]
        return balanced_opening(self.game, self.opening_plies, f"{self.seed}/{number // 2}")

    def configuration(self) -> dict[str, Any]:
        """What decides a game; how many there are and what is tested may change from run to run."""
        configuration = super().configuration()
        return {**configuration, "openings": configuration["openings"] or self.opening_plies}


@dataclass
class DuelResult:
    """The games of a duel that have been played, in their order."""

    duel: Duel
    results: list[GameResult]
    interrupted: bool = False

    @property
    def pairs(self) -> int:
        """The pairs of which both games have been played."""
        return len(self.results) // 2

    @property
    def points(self) -> list[float]:
        """What each game of a complete pair gave the first player: 0, 0.5 or 1."""
        return points_of_first(self.results[: 2 * self.pairs])

    @property
    def counts(self) -> list[int]:
        """How many pairs gave the first player 0, 0.5, 1, 1.5 and 2 points."""
        sums = [one + other for one, other in zip(self.points[::2], self.points[1::2], strict=True)]
        return [sums.count(half / 2) for half in range(5)]

    @property
    def outcomes(self) -> tuple[int, int, int]:
        """Games that the first player won, drew and lost."""
        return self.points.count(1), self.points.count(0.5), self.points.count(0)

    @property
    def mean_margin(self) -> float:
        """The first player's mean lead at the end of a game, in discs or seeds; a forfeited game loses everything."""
        leads = [self._lead(number) for number in range(2 * self.pairs)]
        return sum(leads) / max(1, len(leads))

    def _lead(self, number: int) -> int:
        game, side = self.results[number], first_side(number)
        if game.loser is not None:
            return self.duel.game.points * (-1 if game.loser == side else 1)
        return game.score[side] - game.score[1 - side]

    @property
    def llr(self) -> float:
        """The log-likelihood ratio of the test."""
        return self.duel.hypotheses.llr(self.counts)

    @property
    def verdict(self) -> str:
        """`stronger`, `not stronger` or `undecided`."""
        return self.duel.hypotheses.verdict(self.counts)

    @property
    def over(self) -> bool:
        """Whether there is nothing left to play."""
        return self.pairs == self.duel.pairs or (not self.duel.fixed and self.verdict != "undecided")

    def drop_after_verdict(self) -> None:
        """Leave out the games after the pair that decides: a folder may hold more, played for another question."""
        for pair in range(1, self.pairs):
            if DuelResult(self.duel, self.results[: 2 * pair]).over:
                del self.results[2 * pair :]
                return

    def mean_ms(self) -> tuple[float, float]:
        """The mean time of each player's moves."""
        return mean_ms(self.results)

    def as_json(self) -> dict[str, Any]:
        """The result under the names that machines read."""
        duel, counts, times = self.duel, self.counts, self.mean_ms()
        wins, draws, losses = self.outcomes
        advantage, margin = elo_difference(counts)
        return {
            **duel.describe(),
            **asdict(duel.hypotheses),
            "games": 2 * self.pairs,
            "wins": wins,
            "draws": draws,
            "losses": losses,
            "pairs": counts,
            "elo": advantage,
            "elo_margin": margin,
            "superiority": likelihood_of_superiority(counts),
            "llr": self.llr,
            "llr_bounds": duel.hypotheses.bounds,
            "verdict": self.verdict,
            "mean_margin": self.mean_margin,
            "mean_ms": {"first": times[0], "second": times[1]},
        }


def play_duel(
    duel: Duel,
    jobs: Jobs = 1,
    folder: Path | None = None,
    report: Callable[[DuelResult], None] = lambda result: None,
) -> DuelResult:
    """Play a duel until it is over, reporting at first and after each game; Ctrl-C ends it, a folder continues it."""
    check_players((duel.first, duel.second), duel.kind)
    with Runner(duel, jobs, folder) as runner:
        result = DuelResult(duel, runner.results)
        result.drop_after_verdict()
        report(result)
        result.interrupted = not runner.run(lambda: report(result), lambda: result.over)
        return result
