"""The classic estimates of a position, from the mover's view, for searches that stop before the end.

Sources: the reports on Othello of 2024 (positional, absolute, mobility, mixed) and 2013 (tactical values), and on
Awalé of 2020 (diffscore; its others are in `awale.py`).  An estimate counts in units of its own; a finished game is
worth its exact score times `EXACT`, more than any estimate, so that a sure win comes first.

| heuristic    | what it counts                                                                            |
|--------------|-------------------------------------------------------------------------------------------|
| `positional` | values of the squares held, from a table                                                    |
| `absolute`   | discs                                                                                       |
| `mobility`   | moves, and a bonus for each corner if asked for                                             |
| `mixed`      | positional, from 30 discs on mobility, from 55 on absolute                                  |
| `tactical`   | positional, but squares beside a corner lose their sting once it is taken; from 30 discs on |
|              | with mobility, from 55 on discs alone                                                       |
| `diffscore`  | seeds taken (Awalé)                                                                         |

A *block* is the memory that a search and its heuristic share; its slots are named here.
"""

from awello.bits import moves_of, popcount, signed
from awello.evaluate.awale import SLOTS, weigh
from awello.kernel import U, kernel
from awello.memory import load, load32, load_word, store
from awello.rules.game import score, squares_of

POSITIONAL, ABSOLUTE, MOBILITY, MIXED, TACTICAL, DIFFSCORE = range(6)
EXACT = 1 << 20
BESIDE_OWN_CORNER, MOVE = 30, 10  # what `tactical` gives for a square beside one's corner, and for a move

# The block: what the search counts, how far beyond its window it cuts, then the heuristic's settings.  For Awalé:
# whether leaves are the opponent's turn, what the features are worth at the root, the weights.
INNER, LEAVES, CUT_MARGIN, TABLE, EARLY, LATE, CORNER_BONUS, LEFT, RIGHT, TOP, BOTTOM = range(11)
MIRRORED, ORIGIN, WEIGHTS = 3, 4, 5
BLOCK = WEIGHTS + SLOTS


@kernel("int64(uint64, uint64, int64)", inline=True)
def positional(own: U, opp: U, block: int) -> int:
    """The values of the mover's squares less the opponent's: one entry of the table for each row of eight."""
    table, value = load(block, TABLE), 0
    for row in range(8):
        shift = U(8 * row)
        value += load32(table, 256 * row + signed(own >> shift & U(255)))
        value -= load32(table, 256 * row + signed(opp >> shift & U(255)))
    return value


@kernel("int64(int64, uint64, uint64)")
def mobility(game: int, own: U, opp: U) -> int:
    """The mover's moves less those the opponent would have."""
    squares = squares_of(game)
    return popcount(moves_of(own, opp) & squares) - popcount(moves_of(opp, own) & squares)


@kernel("UniTuple(uint64, 2)(uint64, int64)")
def corners_of(discs: U, block: int) -> tuple[U, U]:
    """The corners that these discs hold, and the three squares beside each of them."""
    left, right = load_word(block, LEFT), load_word(block, RIGHT)
    top, bottom = load_word(block, TOP), load_word(block, BOTTOM)
    corners = discs & (left | right) & (top | bottom)
    beside = (corners & left) << U(1) | (corners & right) >> U(1)
    both = corners | beside
    return corners, beside | (both & top) << U(8) | (both & bottom) >> U(8)


@kernel("int64(int64, uint64, uint64, int64, int64)")
def tactical(game: int, own: U, opp: U, discs: int, block: int) -> int:
    """Square values by phase of the game."""
    if discs >= load(block, LATE):
        return popcount(own) - popcount(opp)
    _, own_beside = corners_of(own, block)
    _, opp_beside = corners_of(opp, block)
    free = ~(own_beside | opp_beside)
    value = positional(own & free, opp & free, block)
    value += BESIDE_OWN_CORNER * (popcount(own & own_beside) - popcount(opp & opp_beside))
    return value + MOVE * mobility(game, own, opp) if discs >= load(block, EARLY) else value


@kernel("int64(int64, int64, uint64, uint64, int64)", inline=True)
def estimate(game: int, heuristic: int, own: U, opp: U, block: int) -> int:
    """What the heuristic says of a position, for the mover."""
    if heuristic == DIFFSCORE:
        return signed(own >> U(48)) - signed(opp >> U(48))
    if heuristic > DIFFSCORE:
        if load(block, MIRRORED) != 0:
            return load(block, ORIGIN) - weigh(heuristic, opp, own, block, WEIGHTS)
        return weigh(heuristic, own, opp, block, WEIGHTS) - load(block, ORIGIN)
    discs = popcount(own | opp)
    if heuristic == TACTICAL:
        return tactical(game, own, opp, discs, block)
    if heuristic == POSITIONAL or (heuristic == MIXED and discs < load(block, EARLY)):
        return positional(own, opp, block)
    if heuristic == ABSOLUTE or (heuristic == MIXED and discs >= load(block, LATE)):
        return popcount(own) - popcount(opp)
    value, bonus = mobility(game, own, opp), load(block, CORNER_BONUS)
    if bonus != 0:
        own_corners, _ = corners_of(own, block)
        opp_corners, _ = corners_of(opp, block)
        value += bonus * (popcount(own_corners) - popcount(opp_corners))
    return value


@kernel("int64(int64, int64, uint64, uint64, boolean, int64)", inline=True)
def evaluate(game: int, heuristic: int, own: U, opp: U, over: bool, block: int) -> int:
    """The value of a leaf: the exact result if the game is over, else the heuristic's estimate; counts it."""
    store(block, LEAVES, load(block, LEAVES) + 1)
    return EXACT * score(game, own, opp) if over else estimate(game, heuristic, own, opp, block)
