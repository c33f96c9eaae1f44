"""Heuristics for Awalé: weighted sums of features (report 1, section 3.5).

Each feature has one weight for the player at the root of the search and one for the opponent.  The two weights need not
be opposite numbers, so values are always computed for the player at the root.

| heuristic        | features of each player                                                                     |
|------------------|---------------------------------------------------------------------------------------------|
| `h1`             | seeds captured                                                                              |
| `h2`             | features of `h1`; pits of fewer than 3 seeds; the longest run of such pits                  |
| `h3` `h4` `h5`   | features of `h2`; seeds in pits of 12 or more                                               |
| `h6`             | pits whose last seed captures a pit of 2 seeds; pits whose last seed captures a pit of 3    |
|                  | seeds; pits whose seeds reach the other row; pits of more than 12 seeds; seeds captured;    |
|                  | empty pits (Daoud et al. 2004)                                                              |
| `travers`        | seeds captured; empty pits; pits of 1 or 2 seeds; pits of 12 or more                        |

`h3`, `h4` and `h5` share one function.  Each of them has its own weights.  `h5` also subtracts the value of the
features at the root from each estimate.  This changes all estimates by the same number, so with the same weights `h5`
chooses the same moves as `h3`, unless the search reaches a draw, which always has the value 0.
"""

from awello.bits import popcount, to_signed
from awello.kernel import U, kernel
from awello.layout import Layout
from awello.rules.awale import (
    AT_LEAST_1,
    BYTE_MASK,
    BYTE_ONES,
    LAST_SHIFT,
    PIT_FLAGS,
    REACHES_OTHER_ROW,
    ROW_MASK,
    SOW_OPP,
    count_seeds,
    find_captured,
)


class FeatureWeights(Layout):
    """The weights of one player's features; a heuristic reads only the weights of its own features."""

    captured_seeds: int
    small_pits: int  # pits of fewer than 3 seeds, including empty ones
    small_run: int  # the length of the longest run of pits of fewer than 3 seeds
    large_seeds: int  # seeds in pits that hold 12 or more
    captures_of_2: int  # pits from which sowing ends in a pit that then holds 2 seeds and is captured
    captures_of_3: int  # pits from which sowing ends in a pit that then holds 3 seeds and is captured
    reaching_pits: int  # pits whose seeds reach the other row
    overfull_pits: int  # pits of more than 12 seeds
    empty_pits: int
    pits_of_1_or_2: int
    large_pits: int  # pits of 12 or more seeds


class AwaleWeights(Layout):
    """The weights of both players' features."""

    own: FeatureWeights  # the weights of the features of the player at the root
    opp: FeatureWeights


H1, H2, H3, H6, TRAVERS = range(6, 11)  # the ids of the heuristics, after those in `heuristics.py`
FEATURES = {  # the features of each player, in the order of the weights in files and settings
    H1: ("captured_seeds",),
    H2: ("captured_seeds", "small_pits", "small_run"),
    H3: ("captured_seeds", "small_pits", "small_run", "large_seeds"),
    H6: ("captures_of_2", "captures_of_3", "reaching_pits", "overfull_pits", "captured_seeds", "empty_pits"),
    TRAVERS: ("captured_seeds", "empty_pits", "pits_of_1_or_2", "large_pits"),
}
# Adding AT_LEAST_n to a row sets the top bit of each byte whose pit holds at least n seeds.
AT_LEAST_3, AT_LEAST_12, AT_LEAST_13 = (U(0x80 - seeds) * BYTE_ONES for seeds in (3, 12, 13))
PITS_PER_ROW = 6


@kernel("uint64(uint64, uint64)", inline=True)
def flag_pits(row: U, threshold: U) -> U:
    """Return a flag for each pit with enough seeds; the threshold is a constant such as `AT_LEAST_3`."""
    return ((row & ROW_MASK) + threshold) & PIT_FLAGS


@kernel("int64(uint64)", inline=True)
def longest_run(flags: U) -> int:
    """Return the length of the longest run of adjacent pits whose flags are set."""
    length = 0
    while flags != U(0):
        flags &= flags << U(8)
        length += 1
    return length


@kernel("int64(uint64)", inline=True)
def count_seeds_in_large_pits(row: U) -> int:
    """Count the seeds in pits that hold 12 or more."""
    return count_seeds(row & (flag_pits(row, AT_LEAST_12) >> U(7)) * BYTE_MASK)


@kernel("int64(uint64, uint64, int64)", inline=True)
def count_captures(own: U, opp: U, size: int) -> int:
    """Count the pits from which sowing ends in a pit that then holds this many seeds and is captured."""
    count = 0
    for pit in range(PITS_PER_ROW):
        entry = (own >> U(8 * pit) & BYTE_MASK) + U(64 * pit)
        row, last = (opp & ROW_MASK) + SOW_OPP[entry], LAST_SHIFT[entry]
        if find_captured(row, last, False) != U(0) and to_signed((row << last) >> U(56)) == size:
            count += 1
    return count


@kernel("int64(uint64, uint64, FeatureWeights)", inline=True)
def evaluate_attack(own: U, opp: U, weights: FeatureWeights) -> int:
    """Return the weighted sum of the features of `h6`, except for the captured seeds."""
    value = weights.captures_of_2 * count_captures(own, opp, 2) + weights.captures_of_3 * count_captures(own, opp, 3)
    value += weights.reaching_pits * popcount(flag_pits(own, REACHES_OTHER_ROW))
    value += weights.overfull_pits * popcount(flag_pits(own, AT_LEAST_13))
    return value + weights.empty_pits * (PITS_PER_ROW - popcount(flag_pits(own, AT_LEAST_1)))


@kernel("int64(int64, uint64, uint64, FeatureWeights)")
def evaluate_player(heuristic_id: int, own: U, opp: U, weights: FeatureWeights) -> int:
    """Return the weighted sum of the features of the player whose word comes first."""
    value = weights.captured_seeds * to_signed(own >> U(48))
    if heuristic_id == H1:
        return value
    if heuristic_id == H6:
        return value + evaluate_attack(own, opp, weights)
    filled, at_least_3 = flag_pits(own, AT_LEAST_1), flag_pits(own, AT_LEAST_3)
    if heuristic_id == TRAVERS:
        value += weights.empty_pits * (PITS_PER_ROW - popcount(filled))
        value += weights.pits_of_1_or_2 * popcount(filled ^ at_least_3)
        return value + weights.large_pits * popcount(flag_pits(own, AT_LEAST_12))
    value += weights.small_pits * (PITS_PER_ROW - popcount(at_least_3))
    value += weights.small_run * longest_run(at_least_3 ^ PIT_FLAGS)
    return value if heuristic_id == H2 else value + weights.large_seeds * count_seeds_in_large_pits(own)


@kernel("int64(int64, uint64, uint64, AwaleWeights)", inline=True)
def evaluate_features(heuristic_id: int, own: U, opp: U, weights: AwaleWeights) -> int:
    """Return the value of a position for the player whose word comes first."""
    return evaluate_player(heuristic_id, own, opp, weights.own) + evaluate_player(heuristic_id, opp, own, weights.opp)
