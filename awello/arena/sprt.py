"""When to stop a duel: the generalised sequential probability ratio test on pairs of games, and what it measures.

Two games with the same opening and exchanged colours resemble each other, so the pair is one trial: it gives the first
player 0, 0.5, 1, 1.5 or 2 points.  All figures follow from the mean of the pairs and from its variance.

One imaginary pair, half of it won and half lost, is added to those played: so figures stay finite where every pair
went the same way, and the first few pairs decide nothing.

Sources: A. Wald, "Sequential tests of statistical hypotheses", 1945; M. Van den Bergh, "A practical introduction to the
GSPRT", whose test is usual for chess programs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from awello.arena.elo import SCALE, Z_95
from awello.errors import ConfigError

PairCounts = Sequence[float]
"""How many pairs gave the first player 0, 0.5, 1, 1.5 and 2 points."""
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # what these are of all points of a pair
PRIOR_PAIRS = (0.5, 0.0, 0.0, 0.0, 0.5)


@dataclass(frozen=True)
class Hypotheses:
    """The question of a test: is the first player `elo1` stronger, or only `elo0`?"""

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    """How often a player who is only `elo0` stronger may pass."""
    beta: float = 0.05
    """How often a player who is `elo1` stronger may fail."""

    def __post_init__(self) -> None:
        if not -math.inf < self.elo0 < self.elo1 < math.inf:
            raise ConfigError(f"elo0 {self.elo0:g} and elo1 {self.elo1:g}: elo0 must be the smaller one")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ConfigError(f"alpha {self.alpha:g} and beta {self.beta:g}: give more than 0 and less than 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which the test ends: at or below the first, at or above the second."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: PairCounts) -> float:
        """The log-likelihood ratio of `elo1` to `elo0` after these pairs."""
        score, error = mean_score(counts)
        score0, score1 = expected_score(self.elo0), expected_score(self.elo1)
        return (score1 - score0) * (2 * score - score0 - score1) / (2 * error**2)

    def verdict(self, counts: PairCounts) -> str:
        """`stronger`, `not stronger` or, as long as the ratio is between the bounds, `undecided`."""
        (lower, upper), llr = self.bounds, self.llr(counts)
        return "stronger" if llr >= upper else "not stronger" if llr <= lower else "undecided"


def expected_score(elo: float) -> float:
    """The mean score of a game that an advantage in Elo promises."""
    return 1 / (1 + 10 ** (-elo / 400))


def mean_score(counts: PairCounts) -> tuple[float, float]:
    """The first player's mean score of a game, and its standard error."""
    pairs = [played + imagined for played, imagined in zip(counts, PRIOR_PAIRS, strict=True)]
    number = sum(pairs)
    score = sum(n * result for n, result in zip(pairs, SCORES, strict=True)) / number
    variance = sum(n * (result - score) ** 2 for n, result in zip(pairs, SCORES, strict=True)) / number
    return score, math.sqrt(variance / number)


def elo_difference(counts: PairCounts) -> tuple[float, float]:
    """The first player's advantage, and how far its 95 % interval reaches either way."""
    score, error = mean_score(counts)
    return SCALE * math.log(score / (1 - score)), Z_95 * SCALE * error / (score * (1 - score))


def likelihood_of_superiority(counts: PairCounts) -> float:
    """The likelihood that the first player is the stronger one."""
    score, error = mean_score(counts)
    return NormalDist().cdf((score - 0.5) / error)
