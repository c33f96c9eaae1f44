"""Otage's judgement of a position (report 4, section I.2.2): a sum of four terms, each with its factor.

*Liberties* are the empty squares round a disc: the fewer round one's own discs, the better.  *Squares* have values from
a table.  The *edges* (8 squares) and the *corners* (3 x 3) are patterns, and what a pattern is worth was learnt from
games: how often its side won.  Everything is seen by the side to move, and a pattern counts differently for it than for
the other side, who cannot answer at once.  A mirrored edge and a corner turned over its diagonal are the same pattern,
and so are positions with the colours exchanged.

A pattern's index is a number in base three: an empty square counts 0, a disc of the side to move 1, another one 2.
"""

from awello.bits import byte_swap, popcount, signed
from awello.evaluate.heuristics import BLOCK, EXACT, positional
from awello.kernel import U, kernel
from awello.memory import load, load16, load32, store
from awello.rules.othello import mirror

CORNER = 9  # squares of the larger kind of pattern
SURE = 1000  # the worth of a pattern that always wins
MOST = EXACT - 1  # a judgement, whatever the factors: a game that is over counts more

# More slots of the block: the factors, and the addresses of the tables.
LIBERTY_FACTOR, SQUARE_FACTOR, EDGE_FACTOR, CORNER_FACTOR, TERNARY, EDGE_TABLE, CORNER_TABLE = range(BLOCK, BLOCK + 7)
OTAGE = BLOCK + 7

LEFT, RIGHT = U(0x0101010101010101), U(0x8080808080808080)
GATHER = U(0x0102040810204080)


@kernel("int64(uint64, uint64)")
def liberties(own: U, opp: U) -> int:
    """The empty squares round the opponent's discs less those round the mover's, each counted for each disc."""
    empty, count = ~(own | opp), 0
    east, west = empty << U(1) & ~LEFT, empty >> U(1) & ~RIGHT
    count += popcount(east & opp) - popcount(east & own)
    count += popcount(west & opp) - popcount(west & own)
    count += popcount(empty << U(8) & opp) - popcount(empty << U(8) & own)
    count += popcount(empty >> U(8) & opp) - popcount(empty >> U(8) & own)
    count += popcount(east << U(8) & opp) - popcount(east << U(8) & own)
    count += popcount(east >> U(8) & opp) - popcount(east >> U(8) & own)
    count += popcount(west << U(8) & opp) - popcount(west << U(8) & own)
    return count + popcount(west >> U(8) & opp) - popcount(west >> U(8) & own)


@kernel("int64(uint64, uint64, int64)", inline=True)
def index(own: U, opp: U, block: int) -> int:
    """The index of a pattern whose squares are the lowest bits of two words."""
    ternary = load(block, TERNARY)
    return load32(ternary, signed(own)) + 2 * load32(ternary, signed(opp))


@kernel("uint64(uint64, int64)", inline=True)
def edge(discs: U, number: int) -> U:
    """The discs on one of the four edges: top, bottom, left, right."""
    if number == 0:
        return discs & U(255)
    if number == 1:
        return discs >> U(56)
    if number == 2:
        return (discs & LEFT) * GATHER >> U(56)
    return (discs >> U(7) & LEFT) * GATHER >> U(56)


@kernel("uint64(uint64)", inline=True)
def corner(discs: U) -> U:
    """The discs of the 3 x 3 squares at a1."""
    return discs & U(7) | discs >> U(5) & U(0o70) | discs >> U(10) & U(0o700)


@kernel("void(uint64, uint64, int64, int64)")
def find_patterns(own: U, opp: U, block: int, found: int) -> None:
    """Write the indices of the four edges and then of the four corners to an address."""
    for number in range(4):
        store(found, number, index(edge(own, number), edge(opp, number), block))
        mine = byte_swap(own) if number & 1 else own
        theirs = byte_swap(opp) if number & 1 else opp
        if number & 2:
            mine, theirs = mirror(mine), mirror(theirs)
        store(found, 4 + number, index(corner(mine), corner(theirs), block))


@kernel("int64(uint64, uint64, int64)")
def edge_worth(own: U, opp: U, block: int) -> int:
    """What the four edges are worth to the mover."""
    table, worth = load(block, EDGE_TABLE), 0
    for number in range(4):
        worth += load16(table, index(edge(own, number), edge(opp, number), block))
    return worth


@kernel("int64(uint64, uint64, int64)")
def corner_worth(own: U, opp: U, block: int) -> int:
    """What the four corners are worth to the mover."""
    table = load(block, CORNER_TABLE)
    worth = load16(table, index(corner(own), corner(opp), block))
    mine, theirs = byte_swap(own), byte_swap(opp)
    worth += load16(table, index(corner(mine), corner(theirs), block))
    mine, theirs = mirror(mine), mirror(theirs)
    worth += load16(table, index(corner(mine), corner(theirs), block))
    return worth + load16(table, index(corner(byte_swap(mine)), corner(byte_swap(theirs)), block))


@kernel("int64(uint64, uint64, int64)")
def judge(own: U, opp: U, block: int) -> int:
    """What Otage thinks of a position, for the mover."""
    value = load(block, LIBERTY_FACTOR) * liberties(own, opp) + load(block, SQUARE_FACTOR) * positional(own, opp, block)
    if load(block, EDGE_FACTOR) != 0:
        value += load(block, EDGE_FACTOR) * edge_worth(own, opp, block)
    if load(block, CORNER_FACTOR) != 0:
        value += load(block, CORNER_FACTOR) * corner_worth(own, opp, block)
    return max(-MOST, min(value, MOST))
