"""Exact search of the last eleven empty squares, where no evaluation pays: fastest first, and a small memory.

*Fastest first* tries the moves that leave the opponent the fewest answers: they have the smallest trees, and they are
often the best.  The memory is small enough to stay in the processor's cache, one for each thread.  It stores whole
boards, not hashes, so it never takes one board for another; an empty place stores a board without discs, which is never
searched.  Like the kernels of the last five, `few` answers whether the score exceeds alpha.
"""

from awello.bits import bit, flips_of, index_of, moves_of, popcount, rest_of, signed
from awello.engine.block import (
    MOVE,
    NEAR,
    SQUARES,
    count_node,
    empty_squares,
    moves_row,
    odd_quarters,
    put_move,
    take_move,
)
from awello.engine.last import NONE, is_out_of_reach, last1, last2, last3, last4, last5
from awello.engine.table import NO_MOVE, OFFSET, lower_of, move_of, upper_of
from awello.kernel import U, kernel
from awello.memory import load, load_word
from awello.rules.othello import score as final_score
from awello.search.knowing import ENTRY, hold, is_held

FEW = 11  # empty squares up to which this search is used
NEAR_BITS = 14  # the logarithm of the places of the small memory
NEAR_OWN, NEAR_OPP = U(0x9E3779B97F4A7C15), U(0xC2B2AE3D27D4EB4F)  # multipliers that choose a place
NEAR_ETC = 7  # from so many empty squares on a child that is known well enough ends the search
CORNERS = U(0x8100000000000081)
PER_ANSWER, PER_CORNER, ODD = 16, 24, -8  # the key of a move: each answer, each corner among them, an odd quarter


@kernel("int64(uint64, uint64, uint64, int64, int64)")
def few_left(own: U, opp: U, empty: U, alpha: int, block: int) -> int:
    """Up to four empty squares."""
    empties = popcount(empty)
    if empties == 4:
        return last4(own, opp, empty, alpha, block)
    first, second = index_of(empty), index_of(rest_of(empty))
    if empties == 3:
        return last3(own, opp, alpha, first, second, index_of(rest_of(rest_of(empty))), block)
    if empties == 2:
        return last2(own, opp, alpha, first, second)
    if empties == 1:
        return last1(own, opp, alpha, first)
    return popcount(own) - popcount(opp)


@kernel("int64(uint64, uint64, int64)", inline=True)
def near_place(own: U, opp: U, block: int) -> int:
    """The address where the small memory may hold a board."""
    number = signed((own * NEAR_OWN + opp * NEAR_OPP) >> U(64 - NEAR_BITS))
    return load(block, NEAR) + 8 * ENTRY * number


@kernel("int64(uint64, int64, uint64)", inline=True)
def haste(answers: U, square: int, odd: U) -> int:
    """The key of a move by the answers it leaves: the smaller, the earlier."""
    key = PER_ANSWER * popcount(answers) + PER_CORNER * popcount(answers & CORNERS)
    return key + ODD if bit(square) & odd != U(0) else key


@kernel("int64(uint64, uint64, uint64, int64, int64)")
def few(own: U, opp: U, moves: U, alpha: int, block: int) -> int:
    """Whether the score exceeds alpha, with up to FEW empty squares; `moves` are the legal ones."""
    # Step 1. No move: the game is over, or the opponent's turn.
    empty = empty_squares(own, opp, block)
    empties = popcount(empty)
    if empties <= 4:
        return few_left(own, opp, empty, alpha, block)
    if moves == U(0):
        answers = moves_of(opp, own) & empty
        if answers == U(0):
            return final_score(own, opp, load_word(block, SQUARES))
        return -few(opp, own, answers, ~alpha, block)
    if empties == 5:
        return last5(own, opp, empty, moves, alpha, block)
    count_node(block)
    # Step 2. The opponent's stable discs may settle it.
    if alpha >= 2 * empties - 4 and is_out_of_reach(own, opp, alpha, block):
        return alpha
    # Step 3. What the memory knows.
    place = near_place(own, opp, block)
    lower, upper, hint = -OFFSET, OFFSET, NO_MOVE
    if is_held(place, own, opp):
        data = load(place, 2)
        lower, upper, hint = lower_of(data), upper_of(data), move_of(data)
        if lower > alpha:
            return lower
        if upper <= alpha:
            return upper
    # Step 4. The move that was best before, then the others, fastest first.
    best, best_move = NONE, NO_MOVE
    if hint != NO_MOVE and moves & bit(hint) != U(0):
        flips = flips_of(own, opp, hint)
        next_own, next_opp = opp ^ flips, own | flips | bit(hint)
        answers = moves_of(next_own, next_opp) & (empty ^ bit(hint))
        best, best_move = -few(next_own, next_opp, answers, ~alpha, block), hint
        moves ^= bit(hint)
    if best <= alpha:
        row, odd, count = moves_row(empties, block), odd_quarters(empty), 0
        while moves != U(0):
            square = index_of(moves)
            moves = rest_of(moves)
            flips = flips_of(own, opp, square)
            next_own, next_opp = opp ^ flips, own | flips | bit(square)
            answers = moves_of(next_own, next_opp) & (empty ^ bit(square))
            if empties >= NEAR_ETC:
                known = near_place(next_own, next_opp, block)
                if is_held(known, next_own, next_opp) and -upper_of(load(known, 2)) > alpha:
                    return -upper_of(load(known, 2))
            put_move(row, count, haste(answers, square, odd), square, flips, answers)
            count += 1
        while count > 0:
            count = take_move(row, count)
            square = load(row, MOVE * count) & 255
            flips, answers = load_word(row, MOVE * count + 1), load_word(row, MOVE * count + 2)
            score = -few(opp ^ flips, own | flips | bit(square), answers, ~alpha, block)
            if score > best:
                best, best_move = score, square
                if best > alpha:
                    break
    # Step 5. Remember.
    if best > alpha:
        lower = best
    else:
        upper = best
    hold(place, own, opp, (lower + OFFSET) | (upper + OFFSET) << 8 | best_move << 16)
    return best
