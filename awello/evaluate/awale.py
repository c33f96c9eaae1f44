"""What a position of Awalé is worth: features of both rows, each times a weight (report 1, section 3.5).

A feature is counted for both players.  Weights stand in pairs, one's own and the opponent's, and need not mirror each
other: so a value is always that of the player who chose to search, the one at the root.

| heuristic        | features of each player                                                                   |
|------------------|-------------------------------------------------------------------------------------------|
| `h1`             | seeds taken                                                                                 |
| `h2`             | the same; pits of fewer than 3 seeds; the longest run of such pits                          |
| `h3` `h4` `h5`   | the same; seeds in pits of 12 or more                                                       |
| `h6`             | pits that capture with the last seed a pit of 2, of 3; pits that reach the other row; pits  |
|                  | of more than 12 seeds; seeds taken; empty pits (Daoud et al. 2004)                          |
| `travers`        | seeds taken; empty pits; pits of 1 or 2 seeds; pits of 12 or more                           |

`h3`, `h4` and `h5` are one function.  `h4` has other weights than `h3`.  `h5` counts from what the features are at the
root: that adds the same number to every leaf, so with the same weights it chooses as `h3` does.
"""

from awello.bits import popcount, signed
from awello.kernel import U, kernel
from awello.memory import load
from awello.rules.awale import ANY, BYTE, FEED, FLAGS, LAST, ONES, ROW, SOW_OPP, captured, seeds_in

H1, H2, H3, H6, TRAVERS = range(6, 11)  # their numbers, after those of `heuristics`
FEATURES = {H1: 1, H2: 3, H3: 4, H6: 6, TRAVERS: 4}  # of each player
SLOTS = 12  # weights at most
FROM_3, FROM_12, FROM_13 = (U(0x80 - least) * ONES for least in (3, 12, 13))  # added, they raise the flags of such pits


@kernel("uint64(uint64, uint64)", inline=True)
def flagged(row: U, least: U) -> U:
    """The flags of the pits that hold enough seeds."""
    return ((row & ROW) + least) & FLAGS


@kernel("int64(uint64)", inline=True)
def longest_run(flags: U) -> int:
    """The most neighbouring flags."""
    length = 0
    while flags != U(0):
        flags &= flags << U(8)
        length += 1
    return length


@kernel("int64(uint64)", inline=True)
def krou_seeds(row: U) -> int:
    """The seeds in pits of 12 or more."""
    return seeds_in(row & (flagged(row, FROM_12) >> U(7)) * BYTE)


@kernel("int64(uint64, uint64, int64)", inline=True)
def capturing(own: U, opp: U, size: int) -> int:
    """The pits whose last seed makes one of the opponent's hold so many, and captures it."""
    count = 0
    for pit in range(6):
        entry = (own >> U(8 * pit) & BYTE) + U(64 * pit)
        row, last = (opp & ROW) + SOW_OPP[entry], LAST[entry]
        if captured(row, last, False) != U(0) and signed((row << last) >> U(56)) == size:
            count += 1
    return count


@kernel("int64(int64, uint64, uint64, int64, int64)")
def features_times_weights(heuristic: int, own: U, opp: U, block: int, slot: int) -> int:
    """The features of one player, each times its weight, from this slot of a block on in every other."""
    taken = signed(own >> U(48))
    if heuristic == H6:
        value = load(block, slot) * capturing(own, opp, 2) + load(block, slot + 2) * capturing(own, opp, 3)
        value += load(block, slot + 4) * popcount(flagged(own, FEED))
        value += load(block, slot + 6) * popcount(flagged(own, FROM_13))
        return value + load(block, slot + 8) * taken + load(block, slot + 10) * (6 - popcount(flagged(own, ANY)))
    value = load(block, slot) * taken
    if heuristic == H1:
        return value
    full, most = flagged(own, ANY), flagged(own, FROM_3)
    if heuristic == TRAVERS:
        value += load(block, slot + 2) * (6 - popcount(full)) + load(block, slot + 4) * popcount(full ^ most)
        return value + load(block, slot + 6) * popcount(flagged(own, FROM_12))
    value += load(block, slot + 2) * (6 - popcount(most)) + load(block, slot + 4) * longest_run(most ^ FLAGS)
    return value if heuristic == H2 else value + load(block, slot + 6) * krou_seeds(own)


@kernel("int64(int64, uint64, uint64, int64, int64)", inline=True)
def weigh(heuristic: int, own: U, opp: U, block: int, slot: int) -> int:
    """The value of a position for the player whose word comes first, by the weights from this slot of a block on."""
    value = features_times_weights(heuristic, own, opp, block, slot)
    return value + features_times_weights(heuristic, opp, own, block, slot + 1)
