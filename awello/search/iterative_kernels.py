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

from awello.bits import bit, bit_scan, clear_lowest_bit, flips_of, moves_of
from awello.evaluate.heuristics import EXACT
from awello.evaluate.otage import OtageState, judge
from awello.kernel import U, kernel
from awello.layout import Int32, Layout, record_at
from awello.rules.game import score
from awello.search.negamax import INFINITY

DEEPEST = 64  # plies: a game has 60 moves, and passes
MOST_MOVES = 64  # as many as there are squares: boards that no game reaches have more than 33
PASSING = 64  # how the table writes a pass
LEAST_ROOM = 128  # of a ply: what is left after cleaning is one position at most for each ply above
OTHELLO = 0  # the number of the game


class ElectedMove(Layout):
    """A move that raised alpha."""

    father: int  # the number of the position in which it was played
    number: int  # that of the position after it
    move: int


class IterativeMove(Layout):
    """A move and the rank of its square: the smaller, the earlier it is tried."""

    rank: Int32
    move: Int32


class IterativePly(Layout):
    """The moves of the position at one ply, in order."""

    moves: Annotated[list[IterativeMove], MOST_MOVES]


class IterativeState(Layout):
    """The memory of the search."""

    judgement: OtageState
    last_number: int  # given to a position
    limit: int  # nodes after which the search gives up; another thread sets it to 0 to stop the search
    elected: int  # the address of the first `ElectedMove` of ply 0; 0 if no variations are asked for
    room: int  # for elected moves of a ply: a setting, so that the table cannot be part of this record
    cleanings: int  # of the table since the search began
    ranks: Annotated[list[int], 64]  # of the squares
    path: Annotated[list[int], DEEPEST + 1]  # the numbers of the positions from the root to the one being searched
    filled: Annotated[list[int], DEEPEST + 1]  # how many moves of each ply are elected
    variation: Annotated[list[int], DEEPEST]  # that `follow` found
    plies: Annotated[list[IterativePly], DEEPEST]


elected_move_at = record_at(ElectedMove)
iterative_state_at = record_at(IterativeState)
ELECTED_BYTES = ElectedMove.dtype.itemsize


# ---- the table of elected positions ---------------------------------------------------------------------------------
@kernel("int64(int64, int64, IterativeState)", inline=True)
def place_of(ply: int, index: int, state: IterativeState) -> int:
    """The address of an elected move."""
    return state.elected + ELECTED_BYTES * (ply * state.room + index)


@kernel("int64(int64, int64, IterativeState)")
def find_child(ply: int, father: int, state: IterativeState) -> int:
    """The address of the last move elected in a position, or 0."""
    low, high = 0, state.filled[U(ply)]
    while low < high:
        middle = (low + high) >> 1
        if elected_move_at(place_of(ply, middle, state)).father <= father:
            low = middle + 1
        else:
            high = middle
    place = place_of(ply, low - 1, state)
    return place if low > 0 and elected_move_at(place).father == father else 0


@kernel("boolean(int64, int64, IterativeState)")
def is_elected(ply: int, number: int, state: IterativeState) -> bool:
    """Whether an elected move leads to the position of a number."""
    low, high = 0, state.filled[U(ply)]
    while low < high:
        middle = (low + high) >> 1
        if elected_move_at(place_of(ply, middle, state)).number < number:
            low = middle + 1
        else:
            high = middle
    return bool(low < state.filled[U(ply)] and elected_move_at(place_of(ply, low, state)).number == number)


@kernel("void(int64, IterativeState)")
def clean_ply(ply: int, state: IterativeState) -> None:
    """Keep the last move of each father that is elected itself or on the path."""
    kept = 0
    for index in range(state.filled[U(ply)]):
        entry = elected_move_at(place_of(ply, index, state))
        if entry.father != state.path[U(ply - 1)] and not is_elected(ply - 1, entry.father, state):
            continue
        if kept > 0 and elected_move_at(place_of(ply, kept - 1, state)).father == entry.father:
            kept -= 1
        target = elected_move_at(place_of(ply, kept, state))
        target.father, target.number, target.move = entry.father, entry.number, entry.move
        kept += 1
    state.filled[U(ply)] = kept


@kernel("void(IterativeState)")
def clean(state: IterativeState) -> None:
    """Keep what may still become part of a variation."""
    state.cleanings += 1
    for ply in range(2, DEEPEST):
        clean_ply(ply, state)


@kernel("void(int64, int64, int64, int64, IterativeState)")
def elect(ply: int, father: int, number: int, move: int, state: IterativeState) -> None:
    """Note the best move of a father so far."""
    if state.elected == 0:
        return
    if state.filled[U(ply)] == state.room:
        clean(state)
    entry = elected_move_at(place_of(ply, state.filled[U(ply)], state))
    entry.father, entry.number, entry.move = father, number, move
    state.filled[U(ply)] += 1


@kernel("int64(int64, IterativeState)")
def follow(number: int, state: IterativeState) -> int:
    """Write down the variation behind a move of the root, given the number of the position after it; its length."""
    length = 0
    for ply in range(2, DEEPEST):
        place = find_child(ply, number, state)
        if place == 0:
            break
        child = elected_move_at(place)
        state.variation[U(length)] = child.move
        number = child.number
        length += 1
    return length


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("int64(int64, IterativeState)", inline=True)
def reach(ply: int, state: IterativeState) -> int:
    """Give a number to the position that is about to be searched."""
    state.last_number += 1
    state.path[U(ply)] = state.last_number
    return state.last_number


@kernel("boolean(IterativeState)", inline=True)
def is_spent(state: IterativeState) -> bool:
    """Whether the search has visited as many nodes as it may; its values then mean nothing."""
    counts = state.judgement.evaluation
    return bool(counts.inner_nodes + counts.leaves >= state.limit)


@kernel("int64(uint64, IterativePly, IterativeState)")
def list_moves(moves: U, ply: IterativePly, state: IterativeState) -> int:
    """List the moves of a ply by the ranks of their squares; their number."""
    count = 0
    while moves != U(0):
        move, place = bit_scan(moves), count
        rank = state.ranks[U(move)]
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
    state.judgement.evaluation.leaves += 1
    return EXACT * score(OTHELLO, own, opp) if over else judge(own, opp, state.judgement)


@kernel("int64(uint64, uint64, int64, int64, int64, int64, IterativeState)")
def search(own: U, opp: U, alpha: int, beta: int, depth: int, ply: int, state: IterativeState) -> int:
    """Negamax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = moves_of(own, opp)
    over = moves == U(0) and moves_of(opp, own) == U(0)
    if depth == 0 or over:
        return evaluate(own, opp, over, state)
    state.judgement.evaluation.inner_nodes += 1
    father = state.path[U(ply)]
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        number = reach(ply + 1, state)
        value = -search(opp, own, -beta, -alpha, depth - 1, ply + 1, state)
        if value > alpha:
            elect(ply + 1, father, number, PASSING, state)
        return value
    # Step 3. The moves by the ranks of their squares, until the opponent would never allow this position.
    row, best = state.plies[U(ply)], -INFINITY
    for index in range(list_moves(moves, row, state)):
        move = int(row.moves[U(index)].move)
        flips = flips_of(own, opp, move)
        number = reach(ply + 1, state)
        value = -search(opp ^ flips, own | flips | bit(move), -beta, -alpha, depth - 1, ply + 1, state)
        if is_spent(state):
            return best
        best = max(best, value)
        # Step 4. A move that raises alpha is elected.
        if value > alpha:
            elect(ply + 1, father, number, move, state)
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
    for ply in range(DEEPEST + 1):
        state.path[U(ply)] = state.filled[U(ply)] = 0
    number = reach(1, state)
    value = search(own, opp, alpha, beta, depth, 1, state)
    return value, -1 if is_spent(state) else follow(number, state)
