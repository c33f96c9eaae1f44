"""Exact search of positions with up to eleven empty squares, without evaluation.

Moves are ordered *fastest first*: those with the fewest replies come first, because they have the smallest trees and
are often the best.  Each thread has an *endgame table*, a small transposition table that fits into the processor's
cache.  It stores whole boards instead of hashes, so positions cannot collide; an empty entry is a board without discs,
which is never searched.

Like the kernels in `last_empties`, `solve_few_empties` uses null windows: it determines whether the score exceeds
alpha.  The opponent's alpha is -alpha - 1, which is `~alpha`.
"""

from awello.bits import bit, bit_scan, clear_lowest_bit, find_moves, popcount, to_signed
from awello.engine.last_empties import (
    NO_SCORE,
    STABILITY_ALPHA_PER_EMPTY,
    is_stability_cutoff,
    solve_1,
    solve_2,
    solve_3,
    solve_4,
    solve_5,
)
from awello.engine.othello_state import (
    ENDGAME_TT_BITS,
    EndgameEntry,
    MoveList,
    OthelloState,
    empty_squares,
    fill_move,
    odd_quadrants,
    set_sort_key,
    square_of,
    take_best_move,
)
from awello.engine.thread_state import NO_MOVE
from awello.engine.transposition_table import SCORE_OFFSET
from awello.kernel import U, kernel
from awello.rules.othello import score as final_score

FEW_EMPTIES = 11  # empty squares up to which this search is used: with more, ordering moves by evaluation pays off
STABILITY_ENDGAME_SLACK = 4  # stable discs are counted if alpha is at least 2 * empties minus this slack
MIN_CHILD_LOOKUP_EMPTIES = 7  # with fewer empty squares, searching a child is as cheap as a lookup
OWN_MULTIPLIER, OPP_MULTIPLIER = U(0x9E3779B97F4A7C15), U(0xC2B2AE3D27D4EB4F)  # odd multipliers of the hash function
CORNERS = U(0x8100000000000081)
# The terms of a move's sort key: per reply, per corner among the replies, and once for a move into a quadrant with an
# odd number of empty squares, where the mover is likely to play last.  The move with the smallest key comes first.
SORT_KEY_PER_REPLY, SORT_KEY_PER_CORNER, SORT_KEY_IN_ODD_QUADRANT = 16, 24, -8


@kernel("int64(uint64, uint64, uint64, int64, OthelloState)")
def solve_up_to_four(own: U, opp: U, empty: U, alpha: int, state: OthelloState) -> int:
    """Solve a position with up to four empty squares."""
    empties = popcount(empty)
    if empties == 4:
        return solve_4(own, opp, empty, alpha, state)
    first, second = bit_scan(empty), bit_scan(clear_lowest_bit(empty))
    if empties == 3:
        return solve_3(own, opp, alpha, first, second, bit_scan(clear_lowest_bit(clear_lowest_bit(empty))), state)
    if empties == 2:
        return solve_2(own, opp, alpha, first, second)
    if empties == 1:
        return solve_1(own, opp, alpha, first)
    return popcount(own) - popcount(opp)


@kernel("uint64(uint64, uint64)", inline=True)
def endgame_tt_index(own: U, opp: U) -> U:
    """Return the index of a board's entry in the endgame table."""
    return (own * OWN_MULTIPLIER + opp * OPP_MULTIPLIER) >> U(64 - ENDGAME_TT_BITS)


@kernel("boolean(EndgameEntry, uint64, uint64)", inline=True)
def matches_board(entry: EndgameEntry, own: U, opp: U) -> bool:
    """Return whether an entry belongs to a board."""
    return bool(entry.own == own and entry.opp == opp)


@kernel("void(EndgameEntry, uint64, uint64, int64, int64, int64)", inline=True)
def store_bounds(entry: EndgameEntry, own: U, opp: U, lower: int, upper: int, best_move: int) -> None:
    """Store a board with its bounds and best move in an entry."""
    entry.own, entry.opp = own, opp
    entry.lower, entry.upper, entry.best_move = lower, upper, best_move


@kernel("int64(uint64, int64, uint64)", inline=True)
def fastest_first_key(replies: U, square: int, odd: U) -> int:
    """Return the sort key of a move, given the replies to it; `odd` contains the squares of odd quadrants."""
    key = SORT_KEY_PER_REPLY * popcount(replies) + SORT_KEY_PER_CORNER * popcount(replies & CORNERS)
    return key + SORT_KEY_IN_ODD_QUADRANT if bit(square) & odd != U(0) else key


@kernel("int64(uint64, uint64, uint64, uint64, MoveList)", inline=True)
def list_fastest_first(own: U, opp: U, empty: U, moves: U, listed: MoveList) -> int:
    """List moves with their fastest-first keys; return their number."""
    count, odd = U(0), odd_quadrants(empty)
    while moves != U(0):
        square = bit_scan(moves)
        moves = clear_lowest_bit(moves)
        move = listed.moves[count]
        fill_move(own, opp, empty, square, move)
        set_sort_key(move, fastest_first_key(move.replies, square, odd))
        count += U(1)
    return to_signed(count)


@kernel("int64(uint64, uint64, int64, int64, MoveList, OthelloState)", inline=True)
def bound_by_children(own: U, opp: U, alpha: int, count: int, listed: MoveList, state: OthelloState) -> int:
    """Look up the children in the endgame table; return a lower bound above alpha, or NO_SCORE."""
    for index in range(count):
        move = listed.moves[U(index)]
        next_own, next_opp = opp ^ move.flips, own | move.flips | bit(square_of(move))
        child = state.endgame_tt[endgame_tt_index(next_own, next_opp)]
        if matches_board(child, next_own, next_opp) and -int(child.upper) > alpha:
            return -int(child.upper)
    return NO_SCORE


@kernel("int64(uint64, uint64, uint64, int64, OthelloState)")
def solve_few_empties(own: U, opp: U, moves: U, alpha: int, state: OthelloState) -> int:
    """Search a position of up to FEW_EMPTIES empty squares with the window (alpha, alpha + 1), fail-soft."""
    # Step 1. At most five empty squares, a pass, or the end of the game.
    empty = empty_squares(own, opp, state)
    empties = popcount(empty)
    if empties <= 4:
        return solve_up_to_four(own, opp, empty, alpha, state)
    if moves == U(0):
        replies = find_moves(opp, own) & empty
        if replies == U(0):
            return final_score(own, opp, state.board_mask)
        return -solve_few_empties(opp, own, replies, ~alpha, state)
    if empties == 5:
        return solve_5(own, opp, empty, moves, alpha, state)
    state.nodes += 1
    # Step 2. Stability cutoff.
    settling = STABILITY_ALPHA_PER_EMPTY * empties - STABILITY_ENDGAME_SLACK
    if alpha >= settling and is_stability_cutoff(own, opp, alpha, state):
        return alpha
    # Step 3. Probe the endgame table.
    entry = state.endgame_tt[endgame_tt_index(own, opp)]
    lower, upper, tt_move = -SCORE_OFFSET, SCORE_OFFSET, NO_MOVE
    if matches_board(entry, own, opp):
        lower, upper, tt_move = int(entry.lower), int(entry.upper), int(entry.best_move)
        if lower > alpha:
            return lower
        if upper <= alpha:
            return upper
    # Step 4. Search the best move of the entry.
    best, best_move, listed = NO_SCORE, NO_MOVE, state.move_lists[U(empties)]
    if tt_move != NO_MOVE and moves & bit(tt_move) != U(0):
        fill_move(own, opp, empty, tt_move, listed.current)
        flips = listed.current.flips
        next_own, next_opp = opp ^ flips, own | flips | bit(tt_move)
        best, best_move = -solve_few_empties(next_own, next_opp, listed.current.replies, ~alpha, state), tt_move
        moves ^= bit(tt_move)
    # Step 5. Search the other moves, fastest first, until one exceeds alpha.
    if best <= alpha:
        count = list_fastest_first(own, opp, empty, moves, listed)
        if empties >= MIN_CHILD_LOOKUP_EMPTIES:
            bound = bound_by_children(own, opp, alpha, count, listed, state)
            if bound > alpha:
                return bound
        while count > 0 and best <= alpha:
            square = take_best_move(listed, count)
            count -= 1
            flips = listed.current.flips
            next_own, next_opp = opp ^ flips, own | flips | bit(square)
            score = -solve_few_empties(next_own, next_opp, listed.current.replies, ~alpha, state)
            if score > best:
                best, best_move = score, square
    # Step 6. Store the bounds.
    if best > alpha:
        lower = best
    else:
        upper = best
    store_bounds(entry, own, opp, lower, upper, best_move)
    return best
