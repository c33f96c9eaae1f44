"""Stable discs, which can never be flipped and therefore bound the score before the end of the game.

On the edges, stable discs are looked up in a table of all edge configurations.  Inside, a disc is stable if each of its
four lines is full or contains an adjacent stable disc of the same colour.  The result may miss stable discs, but it is
cheap enough to compute at every node.
"""

from typing import Annotated

from awello.bits import bit, bit_scan, clear_lowest_bit, popcount, to_signed
from awello.kernel import U, kernel
from awello.layout import Layout, UInt8

COLUMN_A, COLUMN_H, BORDER = U(0x0101010101010101), U(0x8080808080808080), U(0xFF818181818181FF)
COLUMN_TO_BYTE, BYTE_TO_COLUMN = U(0x0102040810204080), U(0x0002040810204081)  # see `column_of` and `to_column`
EDGE_MASK = U(0xFF)


class EdgeTable(Layout):
    """The mover's stable discs for every configuration of an edge.

    The discs of a side on an edge are stored in a byte, one bit per square.  The index of a configuration is the
    mover's byte times 256 plus the opponent's byte.
    """

    stable: Annotated[list[UInt8], 1 << 16]


@kernel("uint64(uint64, uint64, int64)")
def play_on_edge(own: U, opp: U, square: int) -> U:
    """Return the mover's discs on an edge after a move on the edge; the move need not flip a disc there."""
    flipped = bit(square)
    for step in (1, -1):
        run, at = U(0), square + step
        while 0 <= at < 8 and opp & bit(at) != U(0):
            run, at = run | bit(at), at + step
        if 0 <= at < 8 and own & bit(at) != U(0):
            flipped |= run
    return own | flipped


@kernel("uint64(uint64, uint64, EdgeTable)", inline=True)
def stable_edge(own: U, opp: U, edges: EdgeTable) -> U:
    """Return the mover's stable discs on an edge, given both sides' discs, in bytes with one bit per square."""
    return U(edges.stable[own << U(8) | opp])


@kernel("void(EdgeTable)")
def fill_edge_table(edges: EdgeTable) -> None:
    """Fill the table, fullest edges first: a disc is stable if it remains so after every possible move."""
    for filled in range(8, -1, -1):
        for own_number in range(256):
            for opp_number in range(256):
                own, opp = U(own_number), U(opp_number)
                if own & opp != U(0) or popcount(own | opp) != filled:
                    continue
                stable, empty = own, EDGE_MASK & ~(own | opp)
                while empty != U(0) and stable != U(0):
                    square = bit_scan(empty)
                    empty = clear_lowest_bit(empty)
                    mine = play_on_edge(own, opp, square) & EDGE_MASK
                    stable &= stable_edge(mine, opp & ~mine, edges)
                    theirs = play_on_edge(opp, own, square) & EDGE_MASK
                    stable &= stable_edge(own & ~theirs, theirs, edges)
                edges.stable[own << U(8) | opp] = to_signed(stable)


@kernel("uint64(uint64)", inline=True)
def column_of(word: U) -> U:
    """Return column a of a board as a byte."""
    return (word & COLUMN_A) * COLUMN_TO_BYTE >> U(56)


@kernel("uint64(uint64)", inline=True)
def to_column(edge: U) -> U:
    """Return a board whose column a is this byte and whose other squares are empty."""
    return (edge & U(127)) * BYTE_TO_COLUMN & COLUMN_A | edge >> U(7) << U(56)


@kernel("uint64(uint64)", inline=True)
def full_rows(full: U) -> U:
    """Return the squares of rows without an empty square."""
    row = full & full >> U(1)
    row &= row >> U(2)
    return (row & row >> U(4) & COLUMN_A) * EDGE_MASK


@kernel("uint64(uint64)", inline=True)
def full_columns(full: U) -> U:
    """Return the squares of columns without an empty square."""
    column = full & (full >> U(8) | full << U(56))
    column &= column >> U(16) | column << U(48)
    return column & (column >> U(32) | column << U(32))


@kernel("uint64(uint64)", inline=True)
def full_diagonals(full: U) -> U:
    """Return the squares of diagonals parallel to a1-h8 without an empty square."""
    up = full & (full >> U(9) | U(0xFF80808080808080))
    down = full & (full << U(9) | U(0x01010101010101FF))
    up &= up >> U(18) | U(0xFFFFC0C0C0C0C0C0)
    down &= down << U(18) | U(0x030303030303FFFF)
    up &= up >> U(36) | U(0xFFFFFFFFF0F0F0F0)
    down &= down << U(36) | U(0x0F0F0F0FFFFFFFFF)
    return up & down


@kernel("uint64(uint64)", inline=True)
def full_antidiagonals(full: U) -> U:
    """Return the squares of diagonals parallel to h1-a8 without an empty square."""
    up = full & (full >> U(7) | U(0xFF01010101010101))
    down = full & (full << U(7) | U(0x80808080808080FF))
    up &= up >> U(14) | U(0xFFFF030303030303)
    down &= down << U(14) | U(0xC0C0C0C0C0C0FFFF)
    up &= up >> U(28) | U(0xFFFFFFFF0F0F0F0F)
    down &= down << U(28) | U(0xF0F0F0F0FFFFFFFF)
    return up & down


@kernel("uint64(uint64, uint64, EdgeTable)")
def stable_discs(own: U, opp: U, edges: EdgeTable) -> U:
    """Return discs of `own` that can never be flipped on an 8x8 board; some may be missing."""
    stable = stable_edge(own & EDGE_MASK, opp & EDGE_MASK, edges)
    stable |= stable_edge(own >> U(56), opp >> U(56), edges) << U(56)
    stable |= to_column(stable_edge(column_of(own), column_of(opp), edges))
    stable |= to_column(stable_edge(column_of(own >> U(7)), column_of(opp >> U(7)), edges)) << U(7)
    full = own | opp
    row, column, falling, rising = full_rows(full), full_columns(full), full_diagonals(full), full_antidiagonals(full)
    inner = own & ~BORDER
    stable |= inner & row & column & falling & rising
    before = U(0)
    while stable != before:
        before = stable
        supported = inner & (row | stable >> U(1) | stable << U(1)) & (column | stable >> U(8) | stable << U(8))
        supported &= (falling | stable >> U(9) | stable << U(9)) & (rising | stable >> U(7) | stable << U(7))
        stable |= supported
    return stable
