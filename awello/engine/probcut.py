"""Multi-ProbCut: when a shallow search may stand for a deep one (M. Buro, 1997).

The difference between a shallow and a deep search of the same position is spread like an error of measurement.  If
the shallow value lies outside the window by enough standard deviations, the deep search would with the corresponding
certainty lie outside too, and is left out.  The deviation is a linear function of the empty squares and of both
depths, one for searches to a depth and one for searches to the end; `awello probcut` measures it on positions of play
and fits the coefficients in `data/probcut.json`.
"""

import json
from functools import cache

from awello.engine.block import PROBCUT
from awello.folders import data_file
from awello.kernel import kernel
from awello.memory import load

SURE = 6  # the certainty of a search without probable cuts
DEVIATIONS = (0.7, 1.0, 1.5, 2.0, 2.6, 3.3)  # that a shallow value must be outside the window, by certainty
PERCENT = (52, 68, 87, 95, 99, 99, 100)  # how often such a cut is right, a normal error taken for granted
TERMS = ("constant", "empties", "difference", "shallow")  # what the deviation depends on
SHARES = 128  # deviations are counted in these


@kernel("int64(int64, boolean)", inline=True)
def shallow_depth(depth: int, solving: bool) -> int:
    """The depth of the search that foretells one of `depth`: half of it with the same parity, less for a solution."""
    return max(0, (depth - 8) // 4 * 2) if solving else depth // 4 * 2 + (depth & 1)


@kernel("int64(int64, int64, int64, int64)", inline=True)
def deviation_of(empties: int, depth: int, shallow: int, block: int) -> int:
    """The standard deviation between a shallow and a deep search, in UNITs of a disc."""
    terms = block + 8 * (PROBCUT if depth < empties else PROBCUT + 4)
    linear = load(terms, 0) + load(terms, 1) * empties + load(terms, 2) * (depth - shallow) + load(terms, 3) * shallow
    return max(linear, load(block, PROBCUT + 8))


@kernel("int64(int64, int64, int64, int64, int64)", inline=True)
def margin_of(certainty: int, empties: int, depth: int, shallow: int, block: int) -> int:
    """By how many UNITs a shallow search must lie outside a window to stand for a deep one."""
    return load(block, PROBCUT + 9 + certainty) * deviation_of(empties, depth, shallow, block) // SHARES


@cache
def probcut_words() -> list[int]:
    """The part of a block that these kernels read: coefficients, the least deviation, deviations by certainty."""
    measured = json.loads(data_file("probcut.json").read_text("utf-8"))
    coefficients = [measured[kind][term] for kind in ("depth", "end") for term in TERMS]
    units = [round(128 * value) for value in (*coefficients, measured["least"])]
    return units + [round(SHARES * number) for number in DEVIATIONS]
