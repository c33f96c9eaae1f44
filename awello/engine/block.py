"""The memory of one searching thread: a block of 64-bit words behind one address, and its parts by name.

Rows of moves and of pattern indices are counted by empty squares, not by ply: a position and its children never
share a row, and a pass, which leaves the board alone, stays in its own.
"""

from awello.bits import signed
from awello.evaluate import patterns
from awello.kernel import U, kernel
from awello.memory import load, load_word, store

# What a search is told and tells: positions visited and how many it may visit, the bits that stop it, the four words
# of the hash's multipliers (up to here Awalé's block is the same), how sure it must be, the empty squares of the root
# and its best move, how much the evaluation counts in the order of moves.
NODES, LIMIT, STOP, MULTIPLIERS = range(4)
CERTAINTY, ROOT, BEST, PER_DISC = range(7, 11)
# The board, and the evaluator if it is a heuristic: its number, its block, the UNITs of one of its points.
SQUARES, GAME, HEURISTIC, SETTINGS, SCALE = range(11, 16)
# Addresses of tables, and what threads share: who is busy where, the blocks of the others.
TABLE, TABLE_MASK, AGE, NEAR, EDGES, BUSY, THREADS = range(16, 23)
PROBCUT = 24  # how far a shallow search may be from a deep one: see probcut.py
OTHERS = 40  # addresses of the blocks of all threads
WEIGHTS = 104  # addresses of the weights by empty squares, 0 if a heuristic evaluates
STACK = 168  # hashes of the positions on the way here, by empty squares
MOVES = 232  # rows of moves: for each a key with its square, the discs it turns, the opponent's answers
MOVE, MOVES_ROW = 3, 3 * 64
PATTERNS = MOVES + 65 * MOVES_ROW
WORDS = PATTERNS + 65 * patterns.ROW

MOST_THREADS = WEIGHTS - OTHERS
HALT = 63  # the bit of STOP that ends the whole search; bit n ends that of the position with n empty squares
QUARTERS = U(0x0000001100000011)


@kernel("int64(int64, int64)", inline=True)
def moves_row(empties: int, block: int) -> int:
    """The address of the row of moves of a position with so many empty squares."""
    return block + 8 * (MOVES + MOVES_ROW * empties)


@kernel("int64(int64, int64)", inline=True)
def pattern_row(empties: int, block: int) -> int:
    """The address of the pattern indices of a position with so many empty squares."""
    return block + 8 * (PATTERNS + patterns.ROW * empties)


@kernel("void(int64)", inline=True)
def count_node(block: int) -> None:
    """One more position visited."""
    store(block, NODES, load(block, NODES) + 1)


@kernel("void(int64, int64, int64, int64, uint64, uint64)", inline=True)
def put_move(row: int, index: int, key: int, square: int, flips: U, answers: U) -> None:
    """Write a move into a row; the smaller its key, the earlier it will be tried."""
    store(row, MOVE * index, key << 8 | square)
    store(row, MOVE * index + 1, signed(flips))
    store(row, MOVE * index + 2, signed(answers))


@kernel("int64(int64, int64)", inline=True)
def take_move(row: int, count: int) -> int:
    """Swap the move with the smallest key to the end of the first `count`; its index, which is the new count."""
    best, low = 0, load(row, 0)
    for index in range(1, count):
        key = load(row, MOVE * index)
        if key < low:
            best, low = index, key
    last = count - 1
    flips, answers = load(row, MOVE * best + 1), load(row, MOVE * best + 2)
    for word in range(MOVE):
        store(row, MOVE * best + word, load(row, MOVE * last + word))
    store(row, MOVE * last, low)
    store(row, MOVE * last + 1, flips)
    store(row, MOVE * last + 2, answers)
    return last


@kernel("uint64(uint64)", inline=True)
def odd_quarters(empty: U) -> U:
    """All squares of the quarters of the board that hold an odd number of empty squares."""
    parity = empty ^ empty >> U(1)
    parity ^= parity >> U(2)
    parity ^= parity >> U(8)
    parity ^= parity >> U(16)
    return (parity & QUARTERS) * U(0x0F0F0F0F)


@kernel("uint64(uint64, uint64, int64)", inline=True)
def empty_squares(own: U, opp: U, block: int) -> U:
    """The squares of the board that hold no disc."""
    return load_word(block, SQUARES) & ~(own | opp)
