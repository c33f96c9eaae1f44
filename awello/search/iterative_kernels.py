"""Iterative deepening as Otage does it (report 4): what one depth finds out is tried first at the next.

A search of alpha-beta forgets its tree.  To know the *variations*, the best line from each move of the root, every
position gets a number when it is reached, and a move that raises alpha is *elected*: a table keeps, for each ply, the
numbers of its father and its own, and the move.  Who follows the numbers from a move of the root finds its variation:
the line that is expected, or the answers that refute it.  The moves of the root, one after the other, share the table.

The table takes as much memory as it may.  Only when a ply is full, it is cleaned: what hangs on no elected position and
on none that is being searched cannot be part of a variation any more.  Numbers grow, so each ply stays in order.

At the next depth the squares of a move's variation come first in the order of squares by which all positions under that
move are searched, and the others after them.
"""

from typing import Annotated

from awello.bits import bit, clear_lowest_bit, flips_of, index_of, moves_of
from awello.evaluate.heuristics import EXACT_SCALE
from awello.evaluate.otage import OtageState, estimate
from awello.kernel import U, kernel
from awello.layout import Int32, Layout, record_at
from awello.rules.game import score
from awello.search.negamax import INFINITY

MAX_DEPTH = 64  # plies: a game has 60 moves, and passes
MAX_MOVES = 64  # as many as there are squares: boards that no game reaches have more than 33
PASS_SQUARE = 64  # how the table writes a pass
MIN_PLY_CAPACITY = 128  # of a ply: what is left after cleaning is one position at most for each ply above
OTHELLO = 0  # the number of the game


class ElectedMove(Layout):
    """A move that raised alpha."""

    parent: int  # the number of the position in which it was played
    child: int  # that of the position after it
    move: int


class IterativeMove(Layout):
    """A move and the rank of its square: the smaller, the earlier it is tried."""

    rank: Int32
    move: Int32


class IterativePly(Layout):
    """The moves of the position at one ply, in order."""

    moves: Annotated[list[IterativeMove], MAX_MOVES]


class IterativeState(Layout):
    """The memory of the search."""

    otage: OtageState
    last_number: int  # given to a position
    node_limit: int  # nodes after which the search gives up; another thread sets it to 0 to stop the search
    elected: int  # the address of the first `ElectedMove` of ply 0; 0 if no variations are asked for
    ply_capacity: int  # for elected moves of a ply: a setting, so that the table cannot be part of this record
    cleanups: int  # of the table since the search began
    square_ranks: Annotated[list[int], 64]  # of the squares
    path: Annotated[list[int], MAX_DEPTH + 1]  # the numbers of the positions from the root to the one being searched
    elected_counts: Annotated[list[int], MAX_DEPTH + 1]  # how many moves of each ply are elected
    variation: Annotated[list[int], MAX_DEPTH]  # that `follow` found
    plies: Annotated[list[IterativePly], MAX_DEPTH]


elected_move_at = record_at(ElectedMove)
iterative_state_at = record_at(IterativeState)
ELECTED_BYTES = ElectedMove.dtype.itemsize


# ---- the table of elected positions ---------------------------------------------------------------------------------
@kernel("int64(int64, int64, IterativeState)", inline=True)
def elected_address(ply: int, index: int, state: IterativeState) -> int:
    """The address of an elected move."""
    return state.elected + ELECTED_BYTES * (ply * state.ply_capacity + index)


@kernel("int64(int64, int64, IterativeState)")
def find_child(ply: int, parent: int, state: IterativeState) -> int:
    """The address of the last move elected in a position, or 0."""
    low, high = 0, state.elected_counts[U(ply)]
    while low < high:
        middle = (low + high) >> 1
        if elected_move_at(elected_address(ply, middle, state)).parent <= parent:
            low = middle + 1
        else:
            high = middle
    address = elected_address(ply, low - 1, state)
    return address if low > 0 and elected_move_at(address).parent == parent else 0


@kernel("boolean(int64, int64, IterativeState)")
def is_elected(ply: int, number: int, state: IterativeState) -> bool:
    """Whether an elected move leads to the position of a number."""
    low, high = 0, state.elected_counts[U(ply)]
    while low < high:
        middle = (low + high) >> 1
        if elected_move_at(elected_address(ply, middle, state)).child < number:
            low = middle + 1
        else:
            high = middle
    return bool(
        low < state.elected_counts[U(ply)] and elected_move_at(elected_address(ply, low, state)).child == number
    )


@kernel("void(int64, IterativeState)")
def clean_up_ply(ply: int, state: IterativeState) -> None:
    """Keep the last move of each father that is elected itself or on the path."""
    kept = 0
    for index in range(state.elected_counts[U(ply)]):
        entry = elected_move_at(elected_address(ply, index, state))
        if entry.parent != state.path[U(ply - 1)] and not is_elected(ply - 1, entry.parent, state):
            continue
        if kept > 0 and elected_move_at(elected_address(ply, kept - 1, state)).parent == entry.parent:
            kept -= 1
        target = elected_move_at(elected_address(ply, kept, state))
        target.parent, target.child, target.move = entry.parent, entry.child, entry.move
        kept += 1
    state.elected_counts[U(ply)] = kept


@kernel("void(IterativeState)")
def clean_up(state: IterativeState) -> None:
    """Keep what may still become part of a variation."""
    state.cleanups += 1
    for ply in range(2, MAX_DEPTH):
        clean_up_ply(ply, state)


@kernel("void(int64, int64, int64, int64, IterativeState)")
def elect(ply: int, parent: int, child: int, move: int, state: IterativeState) -> None:
    """Note the best move of a father so far."""
    if state.elected == 0:
        return
    if state.elected_counts[U(ply)] == state.ply_capacity:
        clean_up(state)
    entry = elected_move_at(elected_address(ply, state.elected_counts[U(ply)], state))
    entry.parent, entry.child, entry.move = parent, child, move
    state.elected_counts[U(ply)] += 1


@kernel("int64(int64, IterativeState)")
def extract_variation(number: int, state: IterativeState) -> int:
    """Write down the variation behind a move of the root, given the number of the position after it; its length."""
    length = 0
    for ply in range(2, MAX_DEPTH):
        address = find_child(ply, number, state)
        if address == 0:
            break
        child = elected_move_at(address)
        state.variation[U(length)] = child.move
        number = child.child
        length += 1
    return length


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("int64(int64, IterativeState)", inline=True)
def number_position(ply: int, state: IterativeState) -> int:
    """Give a number to the position that is about to be searched."""
    state.last_number += 1
    state.path[U(ply)] = state.last_number
    return state.last_number


@kernel("boolean(IterativeState)", inline=True)
def reached_node_limit(state: IterativeState) -> bool:
    """Whether the search has visited as many nodes as it may; its values then mean nothing."""
    counts = state.otage.evaluation
    return bool(counts.inner_nodes + counts.leaves >= state.node_limit)


@kernel("int64(uint64, IterativePly, IterativeState)")
def list_moves(moves: U, ply: IterativePly, state: IterativeState) -> int:
    """List the moves of a ply by the ranks of their squares; their number."""
    count = 0
    while moves != U(0):
        move, place = index_of(moves), count
        rank = state.square_ranks[U(move)]
        while place > 0 and ply.moves[U(place - 1)].rank > rank:
            ply.moves[U(place)] = ply.moves[U(place - 1)]
            place -= 1
        entry = ply.moves[U(place)]
        entry.rank, entry.move = rank, move
        count += 1
        moves = clear_lowest_bit(moves)
    return count


@kernel("int64(uint64, uint64, boolean, IterativeState)", inline=True)
def evaluate(own: U, opp: U, over: bool, state: IterativeState) -> int:
    """The value of a leaf: the exact result if the game is over, else Otage's judgement; counts it."""
    state.otage.evaluation.leaves += 1
    return EXACT_SCALE * score(OTHELLO, own, opp) if over else estimate(own, opp, state.otage)


@kernel("int64(uint64, uint64, int64, int64, int64, int64, IterativeState)")
def search(own: U, opp: U, alpha: int, beta: int, depth: int, ply: int, state: IterativeState) -> int:
    """Negamax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = moves_of(own, opp)
    over = moves == U(0) and moves_of(opp, own) == U(0)
    if depth == 0 or over:
        return evaluate(own, opp, over, state)
    state.otage.evaluation.inner_nodes += 1
    parent = state.path[U(ply)]
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        number = number_position(ply + 1, state)
        value = -search(opp, own, -beta, -alpha, depth - 1, ply + 1, state)
        if value > alpha:
            elect(ply + 1, parent, number, PASS_SQUARE, state)
        return value
    # Step 3. The moves by the ranks of their squares, until the opponent would never allow this position.
    moves_of_ply, best = state.plies[U(ply)], -INFINITY
    for index in range(list_moves(moves, moves_of_ply, state)):
        move = int(moves_of_ply.moves[U(index)].move)
        flips = flips_of(own, opp, move)
        number = number_position(ply + 1, state)
        value = -search(opp ^ flips, own | flips | bit(move), -beta, -alpha, depth - 1, ply + 1, state)
        if reached_node_limit(state):
            return best
        best = max(best, value)
        # Step 4. A move that raises alpha is elected.
        if value > alpha:
            elect(ply + 1, parent, number, move, state)
            alpha = value
            if alpha >= beta:
                break
    return best


@kernel("UniTuple(int64, 2)(uint64, uint64, int64, int64, int64, int64)")
def search_move(own: U, opp: U, alpha: int, beta: int, depth: int, address: int) -> tuple[int, int]:
    """Search the position after a move of the root: its value, and the length of the variation written down.

    The length is -1 if the search gave up.  Python passes the address of a state faster than a record.
    """
    state = iterative_state_at(address)
    state.last_number = 0
    for ply in range(MAX_DEPTH + 1):
        state.path[U(ply)] = state.elected_counts[U(ply)] = 0
    number = number_position(1, state)
    value = search(own, opp, alpha, beta, depth, 1, state)
    return value, -1 if reached_node_limit(state) else extract_variation(number, state)
