"""Levels of strength, 0 to 30: how deep the champion looks, and from where it plays perfectly.

Level n searches n plies (level 0 one), up to level 8 without leaving anything out and above with probable cuts.  It
solves the game with certainty once `exact` squares or fewer are empty, and with 95 % certainty three squares earlier.

| level | plies | perfect from |
|-------|-------|--------------|
| 0     | 1     | never        |
| 4     | 4     | 8 empty      |
| 8     | 8     | 16 empty     |
| 12    | 12    | 20 empty     |
| 20    | 20    | 24 empty     |
| 30    | 30    | 29 empty     |
"""

from dataclasses import dataclass

from awello.engine.probcut import SURE
from awello.errors import SpecError

HIGHEST, USUAL = 30, 12
OPPONENTS = {
    "othello": (
        "champion@level=1,max_loss=24,mistake_percent=75",
        "champion@level=1,max_loss=12,mistake_percent=50",
        "champion@level=2,max_loss=8,mistake_percent=40",
        "champion@level=4,max_loss=4,mistake_percent=20",
        "champion@level=6",
        "champion@level=10",
        "champion@3s",
    ),
    "awale": (
        "champion@level=1,max_loss=8,mistake_percent=75",
        "champion@level=1,max_loss=6,mistake_percent=60",
        "champion@level=2,max_loss=3,mistake_percent=30",
        "champion@level=4,max_loss=2,mistake_percent=20",
        "champion@level=7",
        "champion@level=12",
        "champion@3s",
    ),
}
"""Opponents for people, the weakest first: weak ones give discs or seeds away now and then."""
FULL_WIDTH = 8  # the last level that leaves nothing out
SELECTIVE = 3  # squares before the exact endgame where a selective one begins
MIDGAME_CERTAINTY, ENDGAME_CERTAINTY = 1, 3
# Empty squares from which a level solves the game: so many times the level, but no more than EXACT_BASE and one for
# every EXACT_LEVELS levels, which keeps the solution as quick as the search before it.
EXACT_PER_LEVEL, EXACT_BASE, EXACT_LEVELS = 2, 14, 2


@dataclass(frozen=True)
class Level:
    """What a level means."""

    depth: int
    certainty: int
    """Of the search to a depth."""
    exact: int
    """Empty squares from which the game is solved."""

    def solving_certainty(self, empties: int) -> int | None:
        """How sure to be when searching to the end of the game, or None if it is too far."""
        if empties <= self.exact:
            return SURE
        return ENDGAME_CERTAINTY if self.exact and empties <= self.exact + SELECTIVE else None


def level_of(number: int) -> Level:
    """The level of a number."""
    if not 0 <= number <= HIGHEST:
        raise SpecError(f"no level {number}: choose 0 to {HIGHEST}")
    certainty = SURE if number <= FULL_WIDTH else MIDGAME_CERTAINTY
    return Level(max(1, number), certainty, min(EXACT_PER_LEVEL * number, EXACT_BASE + number // EXACT_LEVELS))
