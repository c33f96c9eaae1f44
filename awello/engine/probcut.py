"""Multi-ProbCut: when a shallow search can replace a deep one (Buro 1997).

The difference between the values of a shallow and a deep search is approximately normally distributed.  If the shallow
value is outside the window by enough standard deviations, the deep value is probably outside, too, and the deep
search is skipped.  The standard deviation is a linear function of the number of empty squares and of both depths, with
separate coefficients for searches to a depth and to the end of the game.  `awello probcut` measures the coefficients
on positions from games and writes them to a file `probcut.json`; the engine loads the copy in `awello/data`.
"""

import json
from functools import cache
from typing import Annotated

from awello.evaluate.patterns import DISC_VALUE
from awello.folders import data_file
from awello.kernel import U, kernel
from awello.layout import Layout

NO_SELECTIVITY = 6  # the selectivity of a search without ProbCut; lower selectivities prune more
# For each selectivity, how many standard deviations a shallow value must be outside the window for a cut.
MARGIN_DEVIATIONS = (0.7, 1.0, 1.5, 2.0, 2.6, 3.3)
# For each selectivity, the probability in percent that the shallow and the deep value differ by less than that margin.
CONFIDENCE_PERCENT = (52, 68, 87, 95, 99, 99, 100)
COEFFICIENT_NAMES = ("constant", "empties", "difference", "shallow")  # as in `DeviationCoefficients`
# Plies of a deep search per two plies of the shallow one.  A smaller ratio makes shallow searches more accurate but
# slower.
DEEP_PLIES_PER_2_SHALLOW = 4
SOLVE_DEPTH_REDUCTION = 8  # subtracted from the depth of a search to the end, whose last plies are quick
MARGIN_PARTS_PER_DEVIATION = 128  # units of `margin_parts` per standard deviation


class DeviationCoefficients(Layout):
    """Coefficients of the standard deviation of deep minus shallow values, in units of 1/DISC_VALUE disc."""

    constant: int
    empties: int
    """The coefficient per empty square."""
    difference: int
    """The coefficient per ply of difference between the depths."""
    shallow: int
    """The coefficient per ply of the shallow search."""


class ProbCutCoefficients(Layout):
    """The measured coefficients of ProbCut."""

    depth: DeviationCoefficients
    """The coefficients for searches to a depth."""
    end: DeviationCoefficients
    """The coefficients for searches to the end of the game."""
    min_deviation: int
    """The lower limit of the standard deviation, in units of 1/DISC_VALUE disc."""
    margin_parts: Annotated[list[int], NO_SELECTIVITY]
    """For each selectivity, the margin required for a cut, in parts of a standard deviation.

    One standard deviation has MARGIN_PARTS_PER_DEVIATION parts.
    """


@kernel("int64(int64, boolean)", inline=True)
def shallow_depth(depth: int, solving: bool) -> int:
    """Return the depth of the shallow search that may replace a search to `depth`.

    It is about half of `depth` and has the same parity; when solving, it is smaller and even.
    """
    if solving:
        return max(0, (depth - SOLVE_DEPTH_REDUCTION) // DEEP_PLIES_PER_2_SHALLOW * 2)
    return depth // DEEP_PLIES_PER_2_SHALLOW * 2 + (depth & 1)


@kernel("int64(int64, int64, int64, ProbCutCoefficients)", inline=True)
def deviation_of(empties: int, depth: int, shallow: int, probcut: ProbCutCoefficients) -> int:
    """Return the standard deviation of deep minus shallow values, in units of 1/DISC_VALUE disc."""
    kind = probcut.depth if depth < empties else probcut.end
    linear = kind.constant + kind.empties * empties + kind.difference * (depth - shallow) + kind.shallow * shallow
    return max(linear, probcut.min_deviation)


@kernel("int64(int64, int64, int64, int64, ProbCutCoefficients)", inline=True)
def margin_of(selectivity: int, empties: int, depth: int, shallow: int, probcut: ProbCutCoefficients) -> int:
    """Return how far a shallow value must be outside the window for a cut, in units of 1/DISC_VALUE disc."""
    deviation = deviation_of(empties, depth, shallow, probcut)
    return probcut.margin_parts[U(selectivity)] * deviation // MARGIN_PARTS_PER_DEVIATION


@cache
def load_probcut_coefficients() -> ProbCutCoefficients:
    """Load the measured coefficients."""
    measured, coefficients = json.loads(data_file("probcut.json").read_text("utf-8")), ProbCutCoefficients.new()
    for kind in ("depth", "end"):
        for name in COEFFICIENT_NAMES:
            setattr(getattr(coefficients, kind), name, round(DISC_VALUE * measured[kind][name]))
    coefficients.min_deviation = round(DISC_VALUE * measured["min_deviation"])
    coefficients.margin_parts[:] = [round(MARGIN_PARTS_PER_DEVIATION * deviations) for deviations in MARGIN_DEVIATIONS]
    return coefficients
