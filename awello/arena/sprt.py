"""When to stop a duel: the generalised sequential probability ratio test on pairs of games, and what it measures.

Two games with the same opening and exchanged colours are one trial, because they resemble each other.  A pair gives
the first player 0, 0.5, 1, 1.5 or 2 points; nothing is supposed about how often each of them comes.  What counts is the
greatest likelihood that any such five frequencies with a given mean can give to the pairs played.  All figures follow
from it: the ratio of the test, the Elo interval and the likelihood of superiority.

One imaginary pair, half of it won and half lost, is added to those played: so figures stay finite where every pair
went the same way, and the first few pairs decide nothing.

Sources: A. Wald, "Sequential tests of statistical hypotheses", 1945; M. Van den Bergh, "A practical introduction to the
GSPRT", whose test Fishtest uses for chess; A. Owen, "Empirical likelihood ratio confidence intervals for a single
functional", 1988.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from awello.arena.elo import DEVIATIONS, SCALE
from awello.errors import ConfigError

Counts = npt.ArrayLike
"""How many pairs gave the first player 0, 0.5, 1, 1.5 and 2 points; arrays may hold many such rows."""
Floats = npt.NDArray[np.float64]

SCORES = np.linspace(0, 1, 5)  # what a pair gives, as a share of its points
IMAGINARY = np.array([0.5, 0, 0, 0, 0.5])
HALVINGS = 60
FARTHEST = 4000.0  # Elo beyond which nobody looks


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
        if not -FARTHEST < self.elo0 < self.elo1 < FARTHEST:
            raise ConfigError(f"elo0 {self.elo0:g} and elo1 {self.elo1:g}: elo0 must be the smaller one")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ConfigError(f"alpha {self.alpha:g} and beta {self.beta:g}: give more than 0 and less than 0.5")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log-likelihood ratios at which the test ends: at or below the first, at or above the second."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: Counts) -> Floats:
        """The log-likelihood ratio of `elo1` to `elo0` after these pairs."""
        return log_likelihood(counts, score_of(self.elo1)) - log_likelihood(counts, score_of(self.elo0))

    def verdict(self, counts: Counts) -> str:
        """`stronger`, `not stronger` or, as long as the ratio is between the bounds, `undecided`."""
        (lower, upper), ratio = self.bounds, float(self.ratio(counts))
        return "stronger" if ratio >= upper else "not stronger" if ratio <= lower else "undecided"


def score_of(elo: float) -> float:
    """The mean score of a game that an advantage in Elo promises."""
    return 1 / (1 + math.exp(-elo / SCALE))


def log_likelihood(counts: Counts, score: float) -> Floats:
    """How likely the pairs are at best if the mean score is `score`, as a logarithm; 0 is the likeliest of all means.

    With frequencies `f` of the results `a`, the likeliest probabilities of that mean are `f / (1 + t (a - score))`;
    the mean of `(a - score) / (1 + t (a - score))` falls in `t`, and is 0 at the one that is wanted.
    """
    pairs = np.asarray(counts, float) + IMAGINARY
    away = SCORES - score
    low = np.full(pairs.shape[:-1], -1 / (1 - score))
    high = np.full(pairs.shape[:-1], 1 / score)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rises = (pairs * (away / (1 + middle[..., None] * away))).sum(-1) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    found: Floats = -(pairs * np.log1p((low + high)[..., None] / 2 * away)).sum(-1)
    return found


def elo(counts: Counts) -> float:
    """The first player's advantage."""
    pairs = np.asarray(counts, float) + IMAGINARY
    score = float(pairs @ SCORES / pairs.sum())
    return SCALE * math.log(score / (1 - score))


def elo_interval(counts: Counts) -> tuple[float, float]:
    """The advantages that the pairs leave possible, with 95 % certainty."""

    def possible(advantage: float) -> bool:
        return _deviations(counts, score_of(advantage)) < DEVIATIONS

    best = elo(counts)
    return _edge(possible, best, -FARTHEST), _edge(possible, best, FARTHEST)


def superiority(counts: Counts) -> float:
    """The likelihood that the first player is the stronger one."""
    return NormalDist().cdf(math.copysign(_deviations(counts, 0.5), elo(counts)))


def _deviations(counts: Counts, score: float) -> float:
    """How many standard deviations the pairs are away from a mean score."""
    return math.sqrt(max(0.0, -2 * float(log_likelihood(counts, score))))


def _edge(holds: Callable[[float], bool], inside: float, outside: float) -> float:
    """Where something that holds inside ends to hold."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside
