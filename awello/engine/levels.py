"""Playing levels, 0 to 30: the search depth, and the number of empty squares from which play is perfect.

Level n searches n plies (level 0: one).  In Othello, levels up to 8 use full-width search; higher levels use ProbCut.
With `exact_empties` empty squares or fewer, a level solves the game exactly; with up to three more, it solves the game
with 95 % confidence.  In Awalé, a level also limits the use of the tablebase (see `awale_search`).

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
OPPONENT_SPECS = {
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
"""Opponents for human players, the weakest first; the weak ones sometimes give away discs or seeds."""
MAX_FULL_WIDTH_DEPTH = 8  # searches up to this depth use neither ProbCut nor reductions
SELECTIVE_EXTRA_EMPTIES = 3  # with up to this many empties above `exact_empties`, the search to the end is selective
MIDGAME_SELECTIVITY, ENDGAME_SELECTIVITY = 1, 3
# Level n solves the game exactly from n * EXACT_EMPTIES_PER_LEVEL empty squares, but at most from EXACT_EMPTIES_BASE +
# n // LEVELS_PER_EXACT_EMPTY, so that solving takes no longer than a search to the depth of the level.
EXACT_EMPTIES_PER_LEVEL, EXACT_EMPTIES_BASE, LEVELS_PER_EXACT_EMPTY = 2, 14, 2


@dataclass(frozen=True)
class Level:
    """The settings of a level."""

    depth: int
    selectivity: int
    """The selectivity of the midgame search."""
    exact_empties: int
    """The number of empty squares from which the game is solved exactly."""

    def endgame_selectivity(self, empties: int) -> int | None:
        """Return the selectivity of a search to the end of the game, or None if the end is too far away."""
        if empties <= self.exact_empties:
            return NO_SELECTIVITY
        selective = self.exact_empties > 0 and empties <= self.exact_empties + SELECTIVE_EXTRA_EMPTIES
        return ENDGAME_SELECTIVITY if selective else None


def find_level(number: int) -> Level:
    """Return the settings of a level, or raise `SpecError` if the level does not exist."""
    if not 0 <= number <= MAX_LEVEL:
        raise SpecError(f"level {number} does not exist: choose 0 to {MAX_LEVEL}")
    selectivity = NO_SELECTIVITY if number <= MAX_FULL_WIDTH_DEPTH else MIDGAME_SELECTIVITY
    exact_empties = min(EXACT_EMPTIES_PER_LEVEL * number, EXACT_EMPTIES_BASE + number // LEVELS_PER_EXACT_EMPTY)
    return Level(max(1, number), selectivity, exact_empties)
