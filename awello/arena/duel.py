"""A duel: pairs of games, played until a sequential test decides whether the first of two players is stronger.

Both games of a pair have the same opening, with sides swapped.  Pairs are counted in order, so a duel ends after the
same pair for any number of worker processes.
"""

import random
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from awello.arena.match import Match, first_side, mean_ms, points_of_first
from awello.arena.openings import find_balanced_opening
from awello.arena.runner import GameResult, Runner, check_players
from awello.arena.sprt import Hypotheses, elo_difference, likelihood_of_superiority
from awello.arena.workers import Jobs
from awello.errors import ConfigError


@dataclass(frozen=True)
class Duel(Match):
    """The settings of a duel, and its hypotheses."""

    games: int = 1000
    """Maximum number of games, which must be even."""
    openings: tuple[tuple[int, ...], ...] = ()
    """Openings, one for each pair of games, in an order that depends on the seed; default: random balanced openings."""
    opening_plies: int = 8
    hypotheses: Hypotheses = field(default_factory=Hypotheses)
    fixed: bool = False
    """Whether to play all games, even after the test is decided."""
    kind: ClassVar[str] = "duel"
    batch_size: ClassVar[int] = 2  # one worker plays both games of a pair, and searches only once for their opening

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.games < 2 or self.games % 2:
            raise ConfigError(
                f"cannot play {self.games} games: a duel consists of pairs, so give an even number of at least 2"
            )

    @property
    def pairs(self) -> int:
        """Maximum number of pairs; at most one per opening, because the same opening could lead to the same games."""
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
        return find_balanced_opening(self.game, self.opening_plies, f"{self.seed}/{number // 2}")

    def configuration(self) -> dict[str, Any]:
        """Return the settings that must not change when a duel is resumed.

        The number of games, the hypotheses and `fixed` may change.
        """
        configuration = super().configuration()
        return {**configuration, "openings": configuration["openings"] or self.opening_plies}


@dataclass
class DuelResult:
    """The games played so far in a duel, in order."""

    duel: Duel
    results: list[GameResult]
    interrupted: bool = False

    @property
    def pairs(self) -> int:
        """Number of complete pairs."""
        return len(self.results) // 2

    @property
    def points(self) -> list[float]:
        """The first player's points in each game of the complete pairs: 0, 0.5 or 1."""
        return points_of_first(self.results[: 2 * self.pairs])

    @property
    def counts(self) -> list[int]:
        """Numbers of pairs in which the first player scored 0, 0.5, 1, 1.5 and 2 points."""
        sums = [one + other for one, other in zip(self.points[::2], self.points[1::2], strict=True)]
        return [sums.count(half / 2) for half in range(5)]

    @property
    def outcomes(self) -> tuple[int, int, int]:
        """Numbers of games that the first player won, drew and lost."""
        return self.points.count(1), self.points.count(0.5), self.points.count(0)

    @property
    def mean_margin(self) -> float:
        """The first player's mean final margin, in discs or seeds.

        A game lost by resignation, on time or by forfeit counts with the largest possible margin.
        """
        leads = [self._lead(number) for number in range(2 * self.pairs)]
        return sum(leads) / max(1, len(leads))

    def _lead(self, number: int) -> int:
        game, side = self.results[number], first_side(number)
        if game.loser is not None:
            return self.duel.game.max_score * (-1 if game.loser == side else 1)
        return game.score[side] - game.score[1 - side]

    @property
    def llr(self) -> float:
        """Log-likelihood ratio of the test."""
        return self.duel.hypotheses.llr(self.counts)

    @property
    def verdict(self) -> str:
        """`stronger`, `not stronger` or `undecided`."""
        return self.duel.hypotheses.verdict(self.counts)

    @property
    def over(self) -> bool:
        """Whether the duel has ended."""
        return self.pairs == self.duel.pairs or (not self.duel.fixed and self.verdict != "undecided")

    def drop_after_verdict(self) -> None:
        """Drop the games after the pair that decides the duel.

        If a duel is resumed with other hypotheses, the games in its folder may go beyond the deciding pair.
        """
        for pair in range(1, self.pairs):
            if DuelResult(self.duel, self.results[: 2 * pair]).over:
                del self.results[2 * pair :]
                return

    def mean_ms(self) -> tuple[float, float]:
        """Return the mean time per move of each player, in milliseconds."""
        return mean_ms(self.results)

    def to_json(self) -> dict[str, Any]:
        """Return the result for JSON output."""
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
    out: Path | None = None,
    on_progress: Callable[[DuelResult], None] = lambda result: None,
) -> DuelResult:
    """Play a duel; call `on_progress` at the start and after each game.

    Ctrl-C ends the duel early; with a folder `out` it can be resumed.
    """
    check_players((duel.first, duel.second), duel.kind)
    with Runner(duel, jobs, out) as runner:
        result = DuelResult(duel, runner.results)
        result.drop_after_verdict()
        on_progress(result)
        result.interrupted = not runner.run(lambda: on_progress(result), lambda: result.over)
        return result
