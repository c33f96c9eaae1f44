"""The memory of one thread that searches Othello.

Lists of moves and rows of pattern indices are numbered by empty squares, not by ply: a position and its children never
share one, and a pass, which leaves the board as it is, keeps its own.
"""

from typing import Annotated

from awello.bits import bit, flips_of, moves_of
from awello.engine.probcut import ProbCutTerms
from awello.engine.stability import EdgeTable
from awello.engine.state import ThreadState
from awello.evaluate.patterns import PatternRow
from awello.kernel import U, kernel
from awello.layout import Int16, Layout, atomic_clear, atomic_set, record_at

BOARDS = 65  # numbers of empty squares
MOST_MOVES = 64  # as many as there are squares: boards that no game reaches have more than 33
MOST_THREADS = 64
SMALL_TABLE_BITS = 14  # logarithm of the entries: 400 KB stay in a processor's second-level cache
BUSY_PLACES = 1 << 12  # far more than all threads can claim at once
QUARTERS = U(0x0000001100000011)  # one square of each quarter of the board


class ListedMove(Layout):
    """A move in a list, with what it leads to."""

    order: int
    """What it is sorted by, the smallest first: a key in the upper bits, its square in the lowest eight."""
    flips: U
    answers: U
    """The opponent's legal moves after it."""


class MoveList(Layout):
    """The moves of a position that is being searched, and which of them are left."""

    current: ListedMove
    """The move chosen last."""
    count: int
    """Moves that are left; before they are listed, `HINT_FIRST` or `UNSORTED`."""
    hint: int
    """The move to search before the others are even listed, or NO_MOVE."""
    second: int
    """The move to search first of those listed, or NO_MOVE."""
    deferred: U
    """Squares of moves left aside because another thread searches them."""
    unused: int
    """Room up to a cache line."""
    moves: Annotated[list[ListedMove], MOST_MOVES]


class SolvedEntry(Layout):
    """An entry of the small table: a whole board, so that no other is taken for it, and bounds on its score."""

    own: U
    opp: U
    lower: Int16
    upper: Int16
    best_move: Int16


class BusyTable(Layout):
    """The hashes of the positions that threads are searching; shared by all threads."""

    hashes: Annotated[list[U], BUSY_PLACES]


class OthelloState(ThreadState):
    """All that a search needs besides the board."""

    certainty: int
    """How sure the search must be: below `SURE` there are probable cuts."""
    pattern_rows: Annotated[list[PatternRow], BOARDS]
    move_lists: Annotated[list[MoveList], BOARDS]
    small_table: Annotated[list[SolvedEntry], 1 << SMALL_TABLE_BITS]
    stable_edges: EdgeTable
    probcut: ProbCutTerms

    # The root.
    root_empties: int
    best_move: int
    """At the root: the move to try first, afterwards the best one."""
    squares: U
    """The squares of the board, 16, 36 or 64."""

    # The evaluation: learnt patterns, or else a heuristic.
    key_per_disc: int
    """How much a disc of evaluation counts in the order of moves."""
    weights: Annotated[list[int], BOARDS]
    """Addresses of the weights by empty squares; 0 if a heuristic evaluates."""
    game: int
    heuristic: int
    heuristic_settings: int
    """The address of its settings."""
    heuristic_scale: int
    """UNITs of a disc for one of its points."""

    # The transposition table, which all threads share.
    table: int
    """The address of its first bucket."""
    table_mask: U
    """The number of its buckets, a power of two, less one."""
    table_age: int

    # The other threads.
    thread: int
    """The number of this thread."""
    threads: int
    thread_states: Annotated[list[int], MOST_THREADS]
    """The addresses of all states."""
    busy: int
    """The address of the busy table."""
    path: Annotated[list[U], BOARDS]
    """By empty squares, the hashes of the positions from the root to here."""


set_stop, clear_stop = atomic_set(OthelloState, "stop"), atomic_clear(OthelloState, "stop")
search_state_at, busy_table_at = record_at(OthelloState), record_at(BusyTable)


@kernel("uint64(uint64, uint64, OthelloState)", inline=True)
def empty_squares(own: U, opp: U, state: OthelloState) -> U:
    """The squares of the board that hold no disc."""
    return state.squares & ~(own | opp)


@kernel("uint64(uint64)", inline=True)
def odd_quarters(empty: U) -> U:
    """All squares of the quarters of the board that hold an odd number of empty squares."""
    parity = empty ^ empty >> U(1)
    parity ^= parity >> U(2)
    parity ^= parity >> U(8)
    parity ^= parity >> U(16)
    return (parity & QUARTERS) * U(0x0F0F0F0F)


# ---- lists of moves -------------------------------------------------------------------------------------------------
@kernel("int64(ListedMove)", inline=True)
def square_of(move: ListedMove) -> int:
    """The square that a move occupies."""
    return move.order & 255


@kernel("void(uint64, uint64, uint64, int64, ListedMove)", inline=True)
def make_move(own: U, opp: U, empty: U, square: int, move: ListedMove) -> None:
    """Fill in a move on a square; its key is 0."""
    flips = flips_of(own, opp, square)
    move.order, move.flips = square, flips
    move.answers = moves_of(opp ^ flips, own | flips | bit(square)) & (empty ^ bit(square))


@kernel("void(ListedMove, int64)", inline=True)
def set_key(move: ListedMove, key: int) -> None:
    """Say how early a move will be searched: the smaller its key, the earlier; of equals, the lower square."""
    move.order |= key << 8


@kernel("void(ListedMove, ListedMove)", inline=True)
def copy_move(source: ListedMove, target: ListedMove) -> None:
    """Copy a move."""
    target.order, target.flips, target.answers = source.order, source.flips, source.answers


@kernel("int64(MoveList, int64)", inline=True)
def take_first(moves: MoveList, count: int) -> int:
    """Make the first in order of so many moves the current one, and put the last in its place; its square."""
    best, least = U(0), moves.moves[U(0)].order
    for index in range(1, count):
        order = moves.moves[U(index)].order
        if order < least:
            best, least = U(index), order
    copy_move(moves.moves[best], moves.current)
    copy_move(moves.moves[U(count - 1)], moves.moves[best])
    return square_of(moves.current)
