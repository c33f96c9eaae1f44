"""The state of a thread that searches Othello.

Move lists and pattern indices are stored by number of empty squares, not by ply, so a pass stays in the same slot.
"""

from typing import Annotated

from awello.bits import bit, find_flips, find_moves
from awello.engine.probcut import ProbCutCoefficients
from awello.engine.stability import EdgeTable
from awello.engine.thread_state import ThreadState
from awello.evaluate.patterns import PatternIndices
from awello.kernel import U, kernel
from awello.layout import Int16, Layout, atomic_clear, atomic_set, record_at

EMPTIES_SLOTS = 65  # one for each number of empty squares, 0 to 64
MAX_MOVES = 64  # one per square: boards that cannot occur in a game can have more than 33 moves
MAX_THREADS = 64
ENDGAME_TT_BITS = 14  # binary logarithm of the number of entries, which take 384 KiB and fit into the level-2 cache
BUSY_SLOTS = 1 << 12  # far more than all threads need at the same time
QUADRANT_CORNERS = U(0x0000001100000011)  # one square of each quadrant


class ListedMove(Layout):
    """A move in a list, with its flips and the replies to it."""

    sort_key: int
    """The key in the upper bits, the square in the lowest eight; the move with the smallest value is searched first."""
    flips: U
    replies: U
    """The opponent's legal moves after the move."""


class MoveList(Layout):
    """The moves of a position that is being searched."""

    current: ListedMove
    """The move that is being searched."""
    count: int
    """The number of moves left; before they are listed, `TT_MOVE_FIRST` or `UNSORTED`."""
    tt_move: int
    """The best move from the transposition table, searched before the others are listed, or NO_MOVE."""
    second_move: int
    """The second move from the transposition table, searched first among those listed, or NO_MOVE."""
    deferred: U
    """The squares of moves to search last: another thread is searching them, or their search was interrupted."""
    padding: int
    """Fills the cache line."""
    moves: Annotated[list[ListedMove], MAX_MOVES]


class EndgameEntry(Layout):
    """An entry of the endgame transposition table.

    The whole board is stored, so that no two positions are confused.
    """

    own: U
    opp: U
    lower: Int16
    upper: Int16
    best_move: Int16


class BusyTable(Layout):
    """The hashes of the positions that are being searched, shared by all threads."""

    hashes: Annotated[list[U], BUSY_SLOTS]


class OthelloState(ThreadState):
    """The state of one search thread."""

    selectivity: int
    """Below `NO_SELECTIVITY`, the search uses ProbCut; a lower selectivity prunes more."""
    pattern_indices: Annotated[list[PatternIndices], EMPTIES_SLOTS]
    move_lists: Annotated[list[MoveList], EMPTIES_SLOTS]
    endgame_tt: Annotated[list[EndgameEntry], 1 << ENDGAME_TT_BITS]
    stable_edges: EdgeTable
    probcut: ProbCutCoefficients

    # The root.
    root_empties: int
    root_best_move: int
    """Before a search, the move to search first at the root; after it, the best move."""
    board_mask: U
    """The mask of the playable squares."""

    # The evaluation: trained patterns, or a heuristic.
    sort_key_per_disc: int
    """The weight of one disc of evaluation in the sort key of a move."""
    weights: Annotated[list[int], EMPTIES_SLOTS]
    """Addresses of the weights by number of empty squares; 0 if a heuristic is used."""
    game: int
    heuristic_id: int
    heuristic_state: int
    """The address of the heuristic's `HeuristicState`."""
    heuristic_scale: int
    """The value of one point of the heuristic, in units of 1/DISC_VALUE disc."""

    # The transposition table, which all threads share.
    tt: int
    """The address of the first bucket."""
    tt_mask: U
    """The number of buckets, a power of two, minus one."""
    tt_age: int

    # The other threads.
    thread_index: int
    """The number of this thread, from 0."""
    thread_count: int
    thread_states: Annotated[list[int], MAX_THREADS]
    """The addresses of the states of all threads."""
    busy_table: int
    """The address of the busy table."""
    path_hashes: Annotated[list[U], EMPTIES_SLOTS]
    """The hashes of the positions on the current path, by number of empty squares."""


set_stop, clear_stop = atomic_set(OthelloState, "stop"), atomic_clear(OthelloState, "stop")
othello_state_at, busy_table_at = record_at(OthelloState), record_at(BusyTable)


@kernel("uint64(uint64, uint64, OthelloState)", inline=True)
def empty_squares(own: U, opp: U, state: OthelloState) -> U:
    """Return the empty squares of the board."""
    return state.board_mask & ~(own | opp)


@kernel("uint64(uint64)", inline=True)
def odd_quadrants(empty: U) -> U:
    """Return all squares of the quadrants with an odd number of empty squares."""
    parity = empty ^ empty >> U(1)
    parity ^= parity >> U(2)
    parity ^= parity >> U(8)
    parity ^= parity >> U(16)
    return (parity & QUADRANT_CORNERS) * U(0x0F0F0F0F)


# ---- lists of moves -------------------------------------------------------------------------------------------------
@kernel("int64(ListedMove)", inline=True)
def square_of(move: ListedMove) -> int:
    """Return the square of a move."""
    return move.sort_key & 255


@kernel("void(uint64, uint64, uint64, int64, ListedMove)", inline=True)
def fill_move(own: U, opp: U, empty: U, square: int, move: ListedMove) -> None:
    """Set the square, flips and replies of a move, and set its key to 0."""
    flips = find_flips(own, opp, square)
    move.sort_key, move.flips = square, flips
    move.replies = find_moves(opp ^ flips, own | flips | bit(square)) & (empty ^ bit(square))


@kernel("void(ListedMove, int64)", inline=True)
def set_sort_key(move: ListedMove, key: int) -> None:
    """Set the key of a move.  The move with the smallest key is searched first; of equal keys, the lowest square."""
    move.sort_key |= key << 8


@kernel("void(ListedMove, ListedMove)", inline=True)
def copy_move(source: ListedMove, target: ListedMove) -> None:
    """Copy a move."""
    target.sort_key, target.flips, target.replies = source.sort_key, source.flips, source.replies


@kernel("int64(MoveList, int64)", inline=True)
def take_best_move(moves: MoveList, count: int) -> int:
    """Copy the best of the first `count` moves to `current`, fill its slot with the last one, and return its square."""
    best, least = U(0), moves.moves[U(0)].sort_key
    for index in range(1, count):
        sort_key = moves.moves[U(index)].sort_key
        if sort_key < least:
            best, least = U(index), sort_key
    copy_move(moves.moves[best], moves.current)
    copy_move(moves.moves[U(count - 1)], moves.moves[best])
    return square_of(moves.current)
