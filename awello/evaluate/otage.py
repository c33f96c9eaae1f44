"""Otage's evaluation (report 4, section I.2.2): a sum of four terms, each with a factor.

*Liberties* are the empty squares around a disc; a side prefers few around its own discs.  *Squares* have values from a
table.  The *edges* (8 squares) and the *corners* (3 x 3) are patterns, whose values are learnt from games: how much
more often the side to move won than lost.  All terms are from the point of view of the side to move.  If the other side
is to move on the same board, the value is not just negated, because the patterns have other values.  An edge and its
mirror image count as the same pattern, as do a corner and its reflection in the diagonal.  A pattern also stays the
same if the side to move and the colours of all discs are swapped.

The index of a pattern is a number in base three with a digit per square: 0 for empty, 1 for a disc of the side to move,
2 for a disc of the other side.
"""

from typing import Annotated

from awello.bits import byte_swap, popcount
from awello.evaluate.heuristics import EXACT_SCALE, HeuristicState, evaluate_positional
from awello.kernel import U, kernel
from awello.layout import Int16, Int32, Layout
from awello.rules.othello import mirror

EDGE_SQUARES, CORNER_SQUARES = 8, 9  # squares per pattern
MAX_PATTERN_VALUE = 1000  # the value of a pattern with which the side to move won all of very many games
MAX_ESTIMATE = EXACT_SCALE - 1  # below the value of any won game, whatever the factors are
LEFT_COLUMN, RIGHT_COLUMN = U(0x0101010101010101), U(0x8080808080808080)  # the outermost columns
GATHER_COLUMN = U(0x0102040810204080)  # multiplying the left column by this gathers the column in the top byte


class OtageState(Layout):
    """The factors of the evaluation, in units of 1/32, and the values of its patterns."""

    evaluation: HeuristicState
    liberty_factor: int
    square_factor: int
    edge_factor: int
    corner_factor: int
    ternary: Annotated[list[Int32], 1 << CORNER_SQUARES]  # for each set of squares: the sum of 3**i over its squares i
    edge_values: Annotated[list[Int16], 3**EDGE_SQUARES]  # by pattern index
    corner_values: Annotated[list[Int16], 3**CORNER_SQUARES]


class OtagePatterns(Layout):
    """The indices of the patterns on a board."""

    edges: Annotated[list[int], 4]
    corners: Annotated[list[int], 4]


@kernel("int64(uint64, uint64, uint64)", inline=True)
def opponent_margin(squares: U, own: U, opp: U) -> int:
    """Return the number of the opponent's discs on these squares minus the number of the mover's."""
    return popcount(squares & opp) - popcount(squares & own)


@kernel("int64(uint64, uint64)")
def count_liberties(own: U, opp: U) -> int:
    """Return the opponent's liberties minus the mover's; an empty square counts once for each adjacent disc."""
    empty = ~(own | opp)
    east, west = empty << U(1) & ~LEFT_COLUMN, empty >> U(1) & ~RIGHT_COLUMN
    count = opponent_margin(east, own, opp) + opponent_margin(west, own, opp)
    count += opponent_margin(empty << U(8), own, opp) + opponent_margin(empty >> U(8), own, opp)
    count += opponent_margin(east << U(8), own, opp) + opponent_margin(east >> U(8), own, opp)
    return count + opponent_margin(west << U(8), own, opp) + opponent_margin(west >> U(8), own, opp)


# ---- patterns -------------------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, OtageState)", inline=True)
def pattern_index(own: U, opp: U, state: OtageState) -> int:
    """Return the index of a pattern, given the discs of both sides on its squares, packed into the lowest bits."""
    return int(state.ternary[own]) + 2 * int(state.ternary[opp])


@kernel("uint64(uint64, int64)", inline=True)
def edge_discs(discs: U, number: int) -> U:
    """Return the discs on an edge, packed into eight bits; edges 0 to 3 are top, bottom, left and right."""
    if number == 0:
        return discs & U(255)
    if number == 1:
        return discs >> U(56)
    if number == 2:
        return (discs & LEFT_COLUMN) * GATHER_COLUMN >> U(56)
    return (discs >> U(7) & LEFT_COLUMN) * GATHER_COLUMN >> U(56)


@kernel("uint64(uint64)", inline=True)
def corner_discs(discs: U) -> U:
    """Return the discs on the 3 x 3 squares at a1, packed into nine bits."""
    return discs & U(7) | discs >> U(5) & U(0o70) | discs >> U(10) & U(0o700)


@kernel("void(uint64, uint64, OtagePatterns, OtageState)")
def find_patterns(own: U, opp: U, patterns: OtagePatterns, state: OtageState) -> None:
    """Write the indices of the four edges and the four corners to `patterns`."""
    for number in range(4):
        patterns.edges[U(number)] = pattern_index(edge_discs(own, number), edge_discs(opp, number), state)
        own_image = byte_swap(own) if number & 1 else own
        opp_image = byte_swap(opp) if number & 1 else opp
        if number & 2:
            own_image, opp_image = mirror(own_image), mirror(opp_image)
        patterns.corners[U(number)] = pattern_index(corner_discs(own_image), corner_discs(opp_image), state)


@kernel("int64(uint64, uint64, OtageState)")
def evaluate_edges(own: U, opp: U, state: OtageState) -> int:
    """Return the value of the four edges for the mover."""
    value = 0
    for number in range(4):
        value += int(state.edge_values[U(pattern_index(edge_discs(own, number), edge_discs(opp, number), state))])
    return value


@kernel("int64(uint64, uint64, OtageState)", inline=True)
def evaluate_corner(own: U, opp: U, state: OtageState) -> int:
    """Return the value of the corner at a1 for the mover."""
    return int(state.corner_values[U(pattern_index(corner_discs(own), corner_discs(opp), state))])


@kernel("int64(uint64, uint64, OtageState)")
def evaluate_corners(own: U, opp: U, state: OtageState) -> int:
    """Return the value of the four corners for the mover; flip the board to bring each corner to a1."""
    value = evaluate_corner(own, opp, state)
    own, opp = byte_swap(own), byte_swap(opp)
    value += evaluate_corner(own, opp, state)
    own, opp = mirror(own), mirror(opp)
    value += evaluate_corner(own, opp, state)
    return value + evaluate_corner(byte_swap(own), byte_swap(opp), state)


@kernel("int64(uint64, uint64, OtageState)")
def estimate(own: U, opp: U, state: OtageState) -> int:
    """Return Otage's evaluation of a position for the mover."""
    value = state.liberty_factor * count_liberties(own, opp)
    value += state.square_factor * evaluate_positional(own, opp, state.evaluation)
    if state.edge_factor != 0:
        value += state.edge_factor * evaluate_edges(own, opp, state)
    if state.corner_factor != 0:
        value += state.corner_factor * evaluate_corners(own, opp, state)
    return max(-MAX_ESTIMATE, min(value, MAX_ESTIMATE))
