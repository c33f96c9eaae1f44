"""Otage's judgement of a position (report 4, section I.2.2): a sum of four terms, each with its factor.

*Liberties* are the empty squares round a disc: the fewer round one's own discs, the better.  *Squares* have values from
a table.  The *edges* (8 squares) and the *corners* (3 x 3) are patterns, and what a pattern is worth was learnt from
games: how often its side won.  Everything is seen by the side to move, and a pattern counts differently for it than for
the other side, who cannot answer at once.  A mirrored edge and a corner turned over its diagonal are the same pattern,
and so are positions with the colours exchanged.

A pattern's index is a number in base three: an empty square counts 0, a disc of the side to move 1, another one 2.
"""

from typing import Annotated

from awello.bits import byte_swap, popcount
from awello.evaluate.heuristics import EXACT_SCALE, HeuristicState, positional
from awello.kernel import U, kernel
from awello.layout import Int16, Int32, Layout
from awello.rules.othello import mirror

EDGE_SQUARES, CORNER_SQUARES = 8, 9  # squares of the two kinds of patterns
MAX_PATTERN_VALUE = 1000  # the worth of a pattern that always wins
MAX_ESTIMATE = EXACT_SCALE - 1  # a judgement, whatever the factors: a game that is over counts more
LEFT_COLUMN, RIGHT_COLUMN = U(0x0101010101010101), U(0x8080808080808080)  # the outermost columns
GATHER_COLUMN = U(0x0102040810204080)  # times the left column, it gathers the column's bits in the top byte


class OtageState(Layout):
    """The factors of the judgement, in parts of 32, and what its patterns are worth."""

    evaluation: HeuristicState
    liberty_factor: int
    square_factor: int
    edge_factor: int
    corner_factor: int
    ternary: Annotated[list[Int32], 1 << CORNER_SQUARES]  # by set of squares, the base-three number with ones there
    edge_values: Annotated[list[Int16], 3**EDGE_SQUARES]  # by index
    corner_values: Annotated[list[Int16], 3**CORNER_SQUARES]


class OtagePatterns(Layout):
    """The indices of the patterns on a board."""

    edges: Annotated[list[int], 4]
    corners: Annotated[list[int], 4]


@kernel("int64(uint64, uint64, uint64)", inline=True)
def opponent_margin(squares: U, own: U, opp: U) -> int:
    """How many more of these squares the opponent's discs hold than the mover's."""
    return popcount(squares & opp) - popcount(squares & own)


@kernel("int64(uint64, uint64)")
def liberties(own: U, opp: U) -> int:
    """The empty squares round the opponent's discs less those round the mover's, each counted for each disc."""
    empty = ~(own | opp)
    east, west = empty << U(1) & ~LEFT_COLUMN, empty >> U(1) & ~RIGHT_COLUMN
    count = opponent_margin(east, own, opp) + opponent_margin(west, own, opp)
    count += opponent_margin(empty << U(8), own, opp) + opponent_margin(empty >> U(8), own, opp)
    count += opponent_margin(east << U(8), own, opp) + opponent_margin(east >> U(8), own, opp)
    return count + opponent_margin(west << U(8), own, opp) + opponent_margin(west >> U(8), own, opp)


# ---- patterns -------------------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, OtageState)", inline=True)
def pattern_index(own: U, opp: U, state: OtageState) -> int:
    """The index of a pattern whose squares are the lowest bits of two words."""
    return int(state.ternary[own]) + 2 * int(state.ternary[opp])


@kernel("uint64(uint64, int64)", inline=True)
def edge_discs(discs: U, number: int) -> U:
    """The discs on one of the four edges: top, bottom, left, right."""
    if number == 0:
        return discs & U(255)
    if number == 1:
        return discs >> U(56)
    if number == 2:
        return (discs & LEFT_COLUMN) * GATHER_COLUMN >> U(56)
    return (discs >> U(7) & LEFT_COLUMN) * GATHER_COLUMN >> U(56)


@kernel("uint64(uint64)", inline=True)
def corner_discs(discs: U) -> U:
    """The discs of the 3 x 3 squares at a1."""
    return discs & U(7) | discs >> U(5) & U(0o70) | discs >> U(10) & U(0o700)


@kernel("void(uint64, uint64, OtagePatterns, OtageState)")
def find_patterns(own: U, opp: U, patterns: OtagePatterns, state: OtageState) -> None:
    """Write down the indices of the four edges and of the four corners."""
    for number in range(4):
        patterns.edges[U(number)] = pattern_index(edge_discs(own, number), edge_discs(opp, number), state)
        mine = byte_swap(own) if number & 1 else own
        theirs = byte_swap(opp) if number & 1 else opp
        if number & 2:
            mine, theirs = mirror(mine), mirror(theirs)
        patterns.corners[U(number)] = pattern_index(corner_discs(mine), corner_discs(theirs), state)


@kernel("int64(uint64, uint64, OtageState)")
def evaluate_edges(own: U, opp: U, state: OtageState) -> int:
    """What the four edges are worth to the mover."""
    value = 0
    for number in range(4):
        value += int(state.edge_values[U(pattern_index(edge_discs(own, number), edge_discs(opp, number), state))])
    return value


@kernel("int64(uint64, uint64, OtageState)", inline=True)
def evaluate_corner(own: U, opp: U, state: OtageState) -> int:
    """What the corner at a1 is worth to the mover."""
    return int(state.corner_values[U(pattern_index(corner_discs(own), corner_discs(opp), state))])


@kernel("int64(uint64, uint64, OtageState)")
def evaluate_corners(own: U, opp: U, state: OtageState) -> int:
    """What the four corners are worth to the mover: each is brought to a1."""
    value = evaluate_corner(own, opp, state)
    own, opp = byte_swap(own), byte_swap(opp)
    value += evaluate_corner(own, opp, state)
    own, opp = mirror(own), mirror(opp)
    value += evaluate_corner(own, opp, state)
    return value + evaluate_corner(byte_swap(own), byte_swap(opp), state)


@kernel("int64(uint64, uint64, OtageState)")
def estimate(own: U, opp: U, state: OtageState) -> int:
    """What Otage thinks of a position, for the mover."""
    value = state.liberty_factor * liberties(own, opp)
    value += state.square_factor * positional(own, opp, state.evaluation)
    if state.edge_factor != 0:
        value += state.edge_factor * evaluate_edges(own, opp, state)
    if state.corner_factor != 0:
        value += state.corner_factor * evaluate_corners(own, opp, state)
    return max(-MAX_ESTIMATE, min(value, MAX_ESTIMATE))
