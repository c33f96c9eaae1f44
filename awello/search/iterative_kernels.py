"""Iterative deepening as in Otage (report 4): variations found at one depth are tried first at the next.

Alpha-beta does not keep its tree.  To recover the *variation* of each root move, every position gets a number when it
is reached.  Each move that raises alpha is stored in the *refutation table*, at its ply, with the number of the
position before the move (the parent) and that of the position after it (the child).  Following the numbers from a root
move gives its variation: the principal variation for the best move, the refutation for the others.  All root moves
share the table.

The table has room for a fixed number of entries per ply.  When it has no room for another entry at a ply, the table is
cleaned up: if the parent of an entry is neither on the current path nor the child of another entry, the entry can no
longer be part of a variation and is removed.  Positions are numbered in the order of the search, so the entries of a
ply are sorted by number, and binary search finds them.

At the next depth, in all positions below a root move, the squares of that move's variation are tried first, then the
other squares in their usual order.
"""

from typing import Annotated

from awello.bits import bit, bit_scan, clear_lowest_bit, find_flips, find_moves
from awello.evaluate.heuristics import EXACT_SCALE
from awello.evaluate.otage import OtageState, estimate
from awello.kernel import U, kernel
from awello.layout import Int32, Layout, record_at
from awello.rules.game import score
from awello.search.negamax import INFINITY

MAX_DEPTH = 64  # plies: a game has 60 moves, plus passes
MAX_MOVES = 64  # one per square: positions of a game have at most 33 moves, but edited boards can have more
PASS_SQUARE = 64  # how the table stores a pass
MIN_PLY_CAPACITY = 128  # entries per ply; a cleanup leaves fewer than MAX_DEPTH, so there is room again
OTHELLO = 0  # the id of `Game.OTHELLO`


class RefutationEntry(Layout):
    """A move that raised alpha."""

    parent: int  # the number of the position before the move
    child: int  # the number of the position after the move
    move: int


class IterativeMove(Layout):
    """A move and the rank of its square: moves with smaller ranks are tried first."""

    rank: Int32
    move: Int32


class IterativePly(Layout):
    """The ordered moves at one ply."""

    moves: Annotated[list[IterativeMove], MAX_MOVES]


class IterativeState(Layout):
    """The state of a search."""

    otage: OtageState
    last_number: int  # the number of the position reached last
    node_limit: int  # the search stops after this many nodes; another thread sets it to 0 to stop the search
    refutations: int  # the address of the first `RefutationEntry` of ply 0; 0 if variations are not needed
    ply_capacity: int  # entries per ply; configurable, so the table cannot be part of this record
    cleanups: int  # cleanups of the table since the search started
    square_ranks: Annotated[list[int], 64]
    path: Annotated[list[int], MAX_DEPTH + 1]  # the numbers of the positions from the root to the current one
    refutation_counts: Annotated[list[int], MAX_DEPTH + 1]  # the number of entries at each ply
    variation: Annotated[list[int], MAX_DEPTH]  # written by `extract_variation`
    plies: Annotated[list[IterativePly], MAX_DEPTH]


refutation_entry_at = record_at(RefutationEntry)
iterative_state_at = record_at(IterativeState)
REFUTATION_BYTES = RefutationEntry.dtype.itemsize


# ---- the refutation table -------------------------------------------------------------------------------------------
@kernel("int64(int64, int64, IterativeState)", inline=True)
def refutation_address(ply: int, index: int, state: IterativeState) -> int:
    """Return the address of an entry."""
    return state.refutations + REFUTATION_BYTES * (ply * state.ply_capacity + index)


@kernel("int64(int64, int64, IterativeState)")
def find_child(ply: int, parent: int, state: IterativeState) -> int:
    """Return the address of the last entry whose parent has this number, or 0 if there is none."""
    low, high = 0, state.refutation_counts[U(ply)]
    while low < high:
        middle = (low + high) >> 1
        if refutation_entry_at(refutation_address(ply, middle, state)).parent <= parent:
            low = middle + 1
        else:
            high = middle
    address = refutation_address(ply, low - 1, state)
    return address if low > 0 and refutation_entry_at(address).parent == parent else 0


@kernel("boolean(int64, int64, IterativeState)")
def has_entry(ply: int, number: int, state: IterativeState) -> bool:
    """Return whether a ply has an entry whose child has this number."""
    low, high = 0, state.refutation_counts[U(ply)]
    while low < high:
        middle = (low + high) >> 1
        if refutation_entry_at(refutation_address(ply, middle, state)).child < number:
            low = middle + 1
        else:
            high = middle
    return bool(
        low < state.refutation_counts[U(ply)]
        and refutation_entry_at(refutation_address(ply, low, state)).child == number
    )


@kernel("void(int64, IterativeState)")
def clean_up_ply(ply: int, state: IterativeState) -> None:
    """Remove the entries of a ply that can no longer be part of a variation.

    The last entry of each parent is kept if the parent is on the current path or the child of another entry.
    """
    kept = 0
    for index in range(state.refutation_counts[U(ply)]):
        entry = refutation_entry_at(refutation_address(ply, index, state))
        if entry.parent != state.path[U(ply - 1)] and not has_entry(ply - 1, entry.parent, state):
            continue
        if kept > 0 and refutation_entry_at(refutation_address(ply, kept - 1, state)).parent == entry.parent:
            kept -= 1
        target = refutation_entry_at(refutation_address(ply, kept, state))
        target.parent, target.child, target.move = entry.parent, entry.child, entry.move
        kept += 1
    state.refutation_counts[U(ply)] = kept


@kernel("void(IterativeState)")
def clean_up(state: IterativeState) -> None:
    """Remove entries that can no longer be part of a variation."""
    state.cleanups += 1
    for ply in range(2, MAX_DEPTH):
        clean_up_ply(ply, state)


@kernel("void(int64, int64, int64, int64, IterativeState)")
def store_refutation(ply: int, parent: int, child: int, move: int, state: IterativeState) -> None:
    """Store a move that raised alpha, with the numbers of the positions before and after the move."""
    if state.refutations == 0:
        return
    if state.refutation_counts[U(ply)] == state.ply_capacity:
        clean_up(state)
    entry = refutation_entry_at(refutation_address(ply, state.refutation_counts[U(ply)], state))
    entry.parent, entry.child, entry.move = parent, child, move
    state.refutation_counts[U(ply)] += 1


@kernel("int64(int64, IterativeState)")
def extract_variation(number: int, state: IterativeState) -> int:
    """Write the variation that starts at the position with this number to `state.variation`; return its length."""
    length = 0
    for ply in range(2, MAX_DEPTH):
        address = find_child(ply, number, state)
        if address == 0:
            break
        child = refutation_entry_at(address)
        state.variation[U(length)] = child.move
        number = child.child
        length += 1
    return length


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("int64(int64, IterativeState)", inline=True)
def number_position(ply: int, state: IterativeState) -> int:
    """Assign a number to the position that is searched next."""
    state.last_number += 1
    state.path[U(ply)] = state.last_number
    return state.last_number


@kernel("boolean(IterativeState)", inline=True)
def reached_node_limit(state: IterativeState) -> bool:
    """Return whether the search has reached its node limit; its values are then meaningless."""
    counts = state.otage.evaluation
    return bool(counts.inner_nodes + counts.leaves >= state.node_limit)


@kernel("int64(uint64, IterativePly, IterativeState)")
def list_moves(moves: U, ply: IterativePly, state: IterativeState) -> int:
    """Write the moves to the ply, sorted by the ranks of their squares, and return their number."""
    count = 0
    while moves != U(0):
        move, index = bit_scan(moves), count
        rank = state.square_ranks[U(move)]
        while index > 0 and ply.moves[U(index - 1)].rank > rank:
            ply.moves[U(index)] = ply.moves[U(index - 1)]
            index -= 1
        entry = ply.moves[U(index)]
        entry.rank, entry.move = rank, move
        count += 1
        moves = clear_lowest_bit(moves)
    return count


@kernel("int64(uint64, uint64, boolean, IterativeState)", inline=True)
def evaluate(own: U, opp: U, over: bool, state: IterativeState) -> int:
    """Count a leaf and return its value: the exact result if the game is over, otherwise Otage's estimate."""
    state.otage.evaluation.leaves += 1
    return EXACT_SCALE * score(OTHELLO, own, opp) if over else estimate(own, opp, state.otage)


@kernel("int64(uint64, uint64, int64, int64, int64, int64, IterativeState)")
def search(own: U, opp: U, alpha: int, beta: int, depth: int, ply: int, state: IterativeState) -> int:
    """Search a position; return its value for the mover, fail-soft: exact inside (alpha, beta), a bound outside."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = find_moves(own, opp)
    over = moves == U(0) and find_moves(opp, own) == U(0)
    if depth == 0 or over:
        return evaluate(own, opp, over, state)
    state.otage.evaluation.inner_nodes += 1
    parent = state.path[U(ply)]
    # Step 2. Pass: swap the sides; a pass counts as a ply.
    if moves == U(0):
        number = number_position(ply + 1, state)
        value = -search(opp, own, -beta, -alpha, depth - 1, ply + 1, state)
        if value > alpha:
            store_refutation(ply + 1, parent, number, PASS_SQUARE, state)
        return value
    # Step 3. Search the moves by rank; stop as soon as the opponent would avoid this position.
    moves_of_ply, best = state.plies[U(ply)], -INFINITY
    for index in range(list_moves(moves, moves_of_ply, state)):
        move = int(moves_of_ply.moves[U(index)].move)
        flips = find_flips(own, opp, move)
        number = number_position(ply + 1, state)
        value = -search(opp ^ flips, own | flips | bit(move), -beta, -alpha, depth - 1, ply + 1, state)
        if reached_node_limit(state):
            return best
        best = max(best, value)
        # Step 4. Store a move that raises alpha.
        if value > alpha:
            store_refutation(ply + 1, parent, number, move, state)
            alpha = value
            if alpha >= beta:
                break
    return best


@kernel("UniTuple(int64, 2)(uint64, uint64, int64, int64, int64, int64)")
def search_move(own: U, opp: U, alpha: int, beta: int, depth: int, address: int) -> tuple[int, int]:
    """Search the position after a root move; return its value and the length of the variation written to the state.

    The length is -1 if the node limit stopped the search.  The state is passed by its address, which is faster than
    passing a record.
    """
    state = iterative_state_at(address)
    state.last_number = 0
    for ply in range(MAX_DEPTH + 1):
        state.path[U(ply)] = state.refutation_counts[U(ply)] = 0
    number = number_position(1, state)
    value = search(own, opp, alpha, beta, depth, 1, state)
    return value, -1 if reached_node_limit(state) else extract_variation(number, state)
