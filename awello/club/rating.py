"""Ratings, computed with openskill's Plackett-Luce model (Weng and Lin 2011); each has a mean and a deviation.

A new player has a mean of 1500 and a deviation of 350.  For established ratings, a difference of 400 corresponds to ten
wins per loss, as on the Elo scale.  A player has a separate rating for each combination of rules and speed.
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
MAX_ESTABLISHED_DEVIATION = 110.0  # with a larger deviation, a rating is provisional
ELO_SCALE = 400 / math.log(10)  # the rating difference that multiplies the odds of a win by e
BLITZ_SECONDS = 600.0  # games with less estimated time per player are blitz

_model = PlackettLuce(
    mu=INITIAL_RATING, sigma=INITIAL_DEVIATION, beta=ELO_SCALE / math.sqrt(2), tau=INITIAL_DEVIATION / 100
)


@dataclass(frozen=True)
class Rating:
    """A player's rating and its uncertainty."""

    mean: float = INITIAL_RATING
    deviation: float = INITIAL_DEVIATION

    def to_json(self) -> dict[str, int | bool]:
        """Return the rating in the form that clients receive."""
        return {"rating": round(self.mean), "established": self.deviation <= MAX_ESTABLISHED_DEVIATION}


def pool_of(game: Game, control: Clock) -> str:
    """Return the rating pool of a game, such as `othello blitz`."""
    return f"{game} {'blitz' if estimate_seconds(control) < BLITZ_SECONDS else 'standard'}"


def compute_ratings_after(first: Rating, second: Rating, winner: int | None) -> tuple[Rating, Rating]:
    """Compute both players' ratings after a game; `winner` is the winning side, or None for a draw."""
    teams = [[_model.rating(each.mean, each.deviation)] for each in (first, second)]
    ranks = [1.0, 1.0] if winner is None else [1.0 + winner, 2.0 - winner]
    (one,), (other,) = _model.rate(teams, ranks=ranks)
    return Rating(one.mu, one.sigma), Rating(other.mu, other.sigma)
