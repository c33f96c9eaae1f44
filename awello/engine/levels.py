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

from awello.engine.probcut import NO_SELECTIVITY
from awello.errors import SpecError

MAX_LEVEL, DEFAULT_LEVEL = 30, 12
OPPONENTS = {
    "othello": (
        "champion@level=1,slack=24,often=75",
        "champion@level=1,slack=12,often=50",
        "champion@level=2,slack=8,often=40",
        "champion@level=4,slack=4,often=20",
        "champion@level=6",
        "champion@level=10",
        "champion@3s",
    ),
    "awale": (
        "champion@level=1,slack=8,often=75",
        "champion@level=1,slack=6,often=60",
        "champion@level=2,slack=3,often=30",
        "champion@level=4,slack=2,often=20",
        "champion@level=7",
        "champion@level=12",
        "champion@3s",
    ),
}
"""Opponents for people, the weakest first: weak ones give discs or seeds away now and then."""
MAX_FULL_WIDTH_DEPTH = 8  # the last level that leaves nothing out
SELECTIVE_EXTRA_EMPTIES = 3  # squares before the exact endgame where a selective one begins
MIDGAME_SELECTIVITY, ENDGAME_SELECTIVITY = 1, 3
# Empty squares from which a level solves the game: so many times the level, but no more than EXACT_EMPTIES_BASE and
# one for every LEVELS_PER_EXACT_EMPTY levels, which keeps the solution as quick as the search before it.
EXACT_EMPTIES_PER_LEVEL, EXACT_EMPTIES_BASE, LEVELS_PER_EXACT_EMPTY = 2, 14, 2


@dataclass(frozen=True)
class Level:
    """What a level means."""

    depth: int
    selectivity: int
    """Of the search to a depth."""
    exact: int
    """Empty squares from which the game is solved."""

    def endgame_selectivity(self, empties: int) -> int | None:
        """How sure to be when searching to the end of the game, or None if it is too far."""
        if empties <= self.exact:
            return NO_SELECTIVITY
        return ENDGAME_SELECTIVITY if self.exact and empties <= self.exact + SELECTIVE_EXTRA_EMPTIES else None


def level_of(number: int) -> Level:
    """The level of a number."""
    if not 0 <= number <= MAX_LEVEL:
        raise SpecError(f"no level {number}: choose 0 to {MAX_LEVEL}")
    selectivity = NO_SELECTIVITY if number <= MAX_FULL_WIDTH_DEPTH else MIDGAME_SELECTIVITY
    return Level(
        max(1, number),
        selectivity,
        min(EXACT_EMPTIES_PER_LEVEL * number, EXACT_EMPTIES_BASE + number // LEVELS_PER_EXACT_EMPTY),
    )
