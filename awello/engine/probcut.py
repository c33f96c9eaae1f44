"""Multi-ProbCut: when a shallow search may stand for a deep one (M. Buro, 1997).

The difference between a shallow and a deep search of the same position is spread like an error of measurement.  If
the shallow value lies outside the window by enough standard deviations, the deep search would with the corresponding
certainty lie outside too, and is left out.  The deviation is a linear function of the empty squares and of both
depths, one for searches to a depth and one for searches to the end; `awello probcut` measures it on positions of play
and fits the coefficients in `data/probcut.json`.
"""

import json
from functools import cache
from typing import Annotated

from awello.evaluate.patterns import UNIT
from awello.folders import data_file
from awello.kernel import U, kernel
from awello.layout import Layout

NO_SELECTIVITY = 6  # the certainty of a search without probable cuts
MARGIN_DEVIATIONS = (0.7, 1.0, 1.5, 2.0, 2.6, 3.3)  # that a shallow value must be outside the window, by certainty
CONFIDENCE_PERCENT = (52, 68, 87, 95, 99, 99, 100)  # of normal errors that are smaller, which is how certainty is shown
DEVIATION_TERMS = ("constant", "empties", "difference", "shallow")  # what the deviation depends on
# Plies of a deep search for every two of the shallow one: the fewer, the surer the shallow one, and the dearer.
DEEP_PLIES_PER_2_SHALLOW = 4
SOLVE_DEPTH_REDUCTION = 8  # plies that are taken off a search to the end first, because its last plies are quick
MARGIN_PARTS = 128  # parts of a standard deviation in which margins are counted


class DeviationTerms(Layout):
    """What the deviation between a shallow and a deep search depends on, in UNITs of a disc."""

    constant: int
    empties: int
    """For each empty square."""
    difference: int
    """For each ply by which the searches differ."""
    shallow: int
    """For each ply of the shallow search."""


class ProbCutTerms(Layout):
    """The measured coefficients of probable cuts."""

    depth: DeviationTerms
    """Of searches to a depth."""
    end: DeviationTerms
    """Of searches to the end of the game."""
    least: int
    """The smallest deviation, in UNITs of a disc."""
    shares: Annotated[list[int], NO_SELECTIVITY]
    """By certainty, the MARGIN_PARTS of a deviation that a shallow value must be outside the window."""


@kernel("int64(int64, boolean)", inline=True)
def shallow_depth(depth: int, solving: bool) -> int:
    """The depth of the search that foretells one of `depth`: half of it with the same parity, less for a solution."""
    if solving:
        return max(0, (depth - SOLVE_DEPTH_REDUCTION) // DEEP_PLIES_PER_2_SHALLOW * 2)
    return depth // DEEP_PLIES_PER_2_SHALLOW * 2 + (depth & 1)


@kernel("int64(int64, int64, int64, ProbCutTerms)", inline=True)
def deviation_of(empties: int, depth: int, shallow: int, probcut: ProbCutTerms) -> int:
    """The standard deviation between a shallow and a deep search, in UNITs of a disc."""
    terms = probcut.depth if depth < empties else probcut.end
    linear = terms.constant + terms.empties * empties + terms.difference * (depth - shallow) + terms.shallow * shallow
    return max(linear, probcut.least)


@kernel("int64(int64, int64, int64, int64, ProbCutTerms)", inline=True)
def margin_of(selectivity: int, empties: int, depth: int, shallow: int, probcut: ProbCutTerms) -> int:
    """By how many UNITs a shallow search must lie outside a window to stand for a deep one."""
    return probcut.shares[U(selectivity)] * deviation_of(empties, depth, shallow, probcut) // MARGIN_PARTS


@cache
def probcut_terms() -> ProbCutTerms:
    """The coefficients that were measured."""
    measured, terms = json.loads(data_file("probcut.json").read_text("utf-8")), ProbCutTerms.new()
    for kind in ("depth", "end"):
        for term in DEVIATION_TERMS:
            setattr(getattr(terms, kind), term, round(UNIT * measured[kind][term]))
    terms.least = round(UNIT * measured["least"])
    terms.shares[:] = [round(MARGIN_PARTS * deviations) for deviations in MARGIN_DEVIATIONS]
    return terms
