"""The generalised sequential probability ratio test (SPRT) on pairs of games, which decides when a duel ends.

Two games with the same opening and sides swapped are correlated, so a pair is one trial: the first player scores 0,
0.5, 1, 1.5 or 2 points.  All figures are derived from the mean and the variance of the scores of pairs.

Two imaginary pairs, one won and one lost, are added to the pairs played, each with half the weight of a played pair.
So all figures are finite even if every pair has the same result, and the first few pairs cannot decide the test.

The generalised SPRT is the usual test for chess engines.  Sources: A. Wald, "Sequential tests of statistical
hypotheses", 1945; M. Van den Bergh, "A practical introduction to the GSPRT".
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from awello.arena.elo import SCALE, Z_95
from awello.errors import ConfigError

PairCounts = Sequence[float]
"""Numbers of pairs in which the first player scored 0, 0.5, 1, 1.5 and 2 points."""
SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # scores of a pair, as shares of its two points
PRIOR_PAIRS = (0.5, 0.0, 0.0, 0.0, 0.5)


@dataclass(frozen=True)
class Hypotheses:
    """The two hypotheses of a test: the first player's advantage in Elo is `elo0`, or it is `elo1`."""

    elo0: float = 0.0
    elo1: float = 20.0
    alpha: float = 0.05
    """Probability of the verdict `stronger` for a player whose advantage is `elo0`."""
    beta: float = 0.05
    """Probability of the verdict `not stronger` for a player whose advantage is `elo1`."""

    def __post_init__(self) -> None:
        if not -math.inf < self.elo0 < self.elo1 < math.inf:
            raise ConfigError(
                f"elo0 {self.elo0:g} and elo1 {self.elo1:g} are invalid: give finite values with elo0 < elo1"
            )
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ConfigError(
                f"alpha {self.alpha:g} or beta {self.beta:g} is out of range: give values above 0 and below 0.5"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The lower and upper log-likelihood ratios at which the test ends."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def llr(self, counts: PairCounts) -> float:
        """Return the log-likelihood ratio of `elo1` to `elo0`."""
        score, error = mean_score(counts)
        score0, score1 = expected_score(self.elo0), expected_score(self.elo1)
        return (score1 - score0) * (2 * score - score0 - score1) / (2 * error**2)

    def verdict(self, counts: PairCounts) -> str:
        """Return `stronger`, `not stronger` or, while the ratio is between the bounds, `undecided`."""
        (lower, upper), llr = self.bounds, self.llr(counts)
        return "stronger" if llr >= upper else "not stronger" if llr <= lower else "undecided"


def expected_score(elo: float) -> float:
    """Return the expected score per game for an advantage in Elo."""
    return 1 / (1 + 10 ** (-elo / 400))


def mean_score(counts: PairCounts) -> tuple[float, float]:
    """Return the first player's mean score per game, and its standard error."""
    pairs = [played + imagined for played, imagined in zip(counts, PRIOR_PAIRS, strict=True)]
    number = sum(pairs)
    score = sum(n * result for n, result in zip(pairs, SCORES, strict=True)) / number
    variance = sum(n * (result - score) ** 2 for n, result in zip(pairs, SCORES, strict=True)) / number
    return score, math.sqrt(variance / number)


def elo_difference(counts: PairCounts) -> tuple[float, float]:
    """Return the first player's advantage in Elo, and the half width of its 95 % confidence interval."""
    score, error = mean_score(counts)
    return SCALE * math.log(score / (1 - score)), Z_95 * SCALE * error / (score * (1 - score))


def likelihood_of_superiority(counts: PairCounts) -> float:
    """Return the probability that the first player is stronger."""
    score, error = mean_score(counts)
    return NormalDist().cdf((score - 0.5) / error)
