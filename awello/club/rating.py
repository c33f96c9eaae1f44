"""Ratings: what a player is worth, and how sure that is, by openskill's model of Plackett and Luce (Weng and Lin 2011).

A newcomer has 1500, give or take 350.  Once ratings are sure, a difference of 400 means ten wins for one loss, as on
Elo's scale.  Every game at blitz and at standard speed has a rating of its own.
"""

import math
from dataclasses import dataclass

from awello.club import NEEDS_EXTRA
from awello.club.lag import estimate_seconds
from awello.errors import ConfigError
from awello.limits import Clock
from awello.rules.game import Game

try:
    from openskill.models import PlackettLuce
except ImportError:
    raise ConfigError(NEEDS_EXTRA) from None

INITIAL_RATING, INITIAL_DEVIATION = 1500.0, 350.0
MAX_ESTABLISHED_DEVIATION = 110.0  # below it a rating is no longer provisional
ELO_SCALE = 400 / math.log(10)  # Elo's
BLITZ_SECONDS = 600.0  # seconds of a game for a player, below which it is blitz

_model = PlackettLuce(
    mu=INITIAL_RATING, sigma=INITIAL_DEVIATION, beta=ELO_SCALE / math.sqrt(2), tau=INITIAL_DEVIATION / 100
)


@dataclass(frozen=True)
class Rating:
    """What a player is worth, and how far it may be from the truth."""

    mean: float = INITIAL_RATING
    deviation: float = INITIAL_DEVIATION

    def to_json(self) -> dict[str, int | bool]:
        """For those who are told."""
        return {"rating": round(self.mean), "established": self.deviation <= MAX_ESTABLISHED_DEVIATION}


def pool_of(game: Game, control: Clock) -> str:
    """Which rating a game counts for, such as `othello blitz`."""
    return f"{game} {'blitz' if estimate_seconds(control) < BLITZ_SECONDS else 'standard'}"


def rate(first: Rating, second: Rating, winner: int | None) -> tuple[Rating, Rating]:
    """Both ratings after a game that a side won, or that nobody did."""
    teams = [[_model.rating(each.mean, each.deviation)] for each in (first, second)]
    ranks = [1.0, 1.0] if winner is None else [1.0 + winner, 2.0 - winner]
    (one,), (other,) = _model.rate(teams, ranks=ranks)
    return Rating(one.mu, one.sigma), Rating(other.mu, other.sigma)
