"""The search of the champion: to a depth, or to the end of the game when the depth reaches it.

One recursive kernel serves both.  A window of width one asks a single question, and most of the tree is searched that
way: the first move of a node gets the whole window, the others only have to be proved no better (principal variation
search, Reinefeld 1983).  At a certainty below `SURE` a shallow search may stand for a deep one when it is far outside
the window (multi-ProbCut, Buro 1997).  Values are in discs from the mover's view; a pass takes no depth.

Threads search the same root and share the table.  A thread leaves aside a move that another one is busy with, and
comes back to it later (after ABDADA, Weill 1995); whoever settles a position tells all who are still at work below
it.
"""

from awello.bits import bit, flips_of, index_of, moves_of, popcount, rest_of, signed
from awello.engine.block import (
    BEST,
    BUSY,
    CERTAINTY,
    GAME,
    HALT,
    HEURISTIC,
    LIMIT,
    MOVE,
    NODES,
    OTHERS,
    PER_DISC,
    ROOT,
    SCALE,
    SETTINGS,
    SQUARES,
    STACK,
    STOP,
    THREADS,
    WEIGHTS,
    count_node,
    empty_squares,
    moves_row,
    odd_quarters,
    pattern_row,
    put_move,
    take_move,
)
from awello.engine.endgame import CORNERS, FEW, few, haste
from awello.engine.last import NONE, is_out_of_reach
from awello.engine.probcut import SURE, margin_of, shallow_depth
from awello.engine.table import (
    NO_MOVE,
    OFFSET,
    bucket_of,
    certainty_of,
    depth_of,
    hash_of,
    lower_of,
    move_of,
    recall,
    remember,
    second_of,
    upper_of,
)
from awello.evaluate.heuristics import estimate
from awello.evaluate.patterns import UNIT, mobility, swap_row, turn_row, worth
from awello.kernel import U, kernel
from awello.memory import clear_bits, load, load_word, set_bits, store
from awello.rules.othello import score

INFINITY = 1 << 20
MOST = 62  # the largest value that an estimate may claim; more is for proofs
# The key of a move, beside haste: a corner, a square beside one; PER_DISC is for each disc that the evaluation gives.
CORNER, BESIDE_CORNER = -16, 12
BESIDE = U(0x0042000000004200)  # diagonally beside the corners
LARGE = 1 << 16  # keeps keys above 0, which is for the move to be tried before all others
ETC_FROM = 14  # the depth from which all children are looked up before one is searched
NEARBY = 3  # a probable cut is tried if the evaluation alone is not further than this from it
SHALLOW = 2  # up to this depth nothing is worth remembering
SPLIT_SOLVING, SPLIT = 13, 6  # the depths from which threads divide the moves of a node
BUSY_PLACES = 1 << 12


# ---- what a position is worth ---------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, int64)", inline=True)
def value_of(own: U, opp: U, empties: int, block: int) -> int:
    """The mover's value of a position whose row of patterns is filled, in UNITs of a disc."""
    weights = load(block, WEIGHTS + empties)
    if weights != 0:
        return worth(pattern_row(empties, block), weights) + mobility(own, opp, weights)
    points = estimate(load(block, GAME), load(block, HEURISTIC), own, opp, load(block, SETTINGS))
    return points * load(block, SCALE)


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, int64)")
def shallow(own: U, opp: U, moves: U, depth: int, alpha: int, beta: int, block: int) -> int:
    """A plain search of a few plies, fastest first; values in UNITs of a disc."""
    # Step 1. The horizon, the end of the game, a pass.
    empty = empty_squares(own, opp, block)
    empties = popcount(empty)
    if depth == 0:
        return value_of(own, opp, empties, block)
    here, there = pattern_row(empties, block), pattern_row(empties - 1, block)
    if moves == U(0):
        answers = moves_of(opp, own) & empty
        if answers == U(0):
            return UNIT * score(own, opp, load_word(block, SQUARES))
        swap_row(here)
        value = -shallow(opp, own, answers, depth, -beta, -alpha, block)
        swap_row(here)
        return value
    # Step 2. The last ply: evaluate each child.
    best = -INFINITY
    count_node(block)
    if depth == 1:
        while moves != U(0):
            count_node(block)
            square = index_of(moves)
            moves = rest_of(moves)
            flips = flips_of(own, opp, square)
            turn_row(here, square, flips, there)
            best = max(best, -value_of(opp ^ flips, own | flips | bit(square), empties - 1, block))
            if best >= beta:
                break
        return best
    # Step 3. Each move, those first that leave the fewest answers.
    row, odd, count = moves_row(empties, block), odd_quarters(empty), 0
    while moves != U(0):
        square = index_of(moves)
        moves = rest_of(moves)
        flips = flips_of(own, opp, square)
        answers = moves_of(opp ^ flips, own | flips | bit(square)) & (empty ^ bit(square))
        put_move(row, count, haste(answers, square, odd), square, flips, answers)
        count += 1
    while count > 0 and best < beta:
        count = take_move(row, count)
        square = load(row, MOVE * count) & 255
        flips, answers = load_word(row, MOVE * count + 1), load_word(row, MOVE * count + 2)
        turn_row(here, square, flips, there)
        floor = max(alpha, best)
        value = -shallow(opp ^ flips, own | flips | bit(square), answers, depth - 1, -beta, -floor, block)
        best = max(best, value)
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, int64)")
def rounded(own: U, opp: U, moves: U, depth: int, alpha: int, beta: int, block: int) -> int:
    """A shallow search in whole discs, halves rounded away from zero: the same for both sides."""
    low, high = alpha * UNIT + UNIT // 2 - 1, beta * UNIT - UNIT // 2 + 1
    value = shallow(own, opp, moves, depth, low, high, block)
    discs = (abs(value) + UNIT // 2) // UNIT
    return min(MOST, discs) if value > 0 else -min(MOST, discs)


# ---- parts of the search --------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, uint64, int64, int64, int64)")
def few_in_window(own: U, opp: U, moves: U, alpha: int, beta: int, block: int) -> int:
    """The exact search of few empty squares in a window of any width: questions upwards from alpha."""
    score = few(own, opp, moves, alpha, block)
    while alpha < score < beta:
        alpha = score
        score = few(own, opp, moves, alpha, block)
    return score


@kernel("int64(uint64, uint64, uint64, int64, int64, int64)")
def known_bound(own: U, opp: U, moves: U, depth: int, certainty: int, block: int) -> int:
    """The best lower bound that the table knows through the children (enhanced transposition cut-off)."""
    best = NONE
    while moves != U(0):
        square = index_of(moves)
        moves = rest_of(moves)
        flips = flips_of(own, opp, square)
        key = hash_of(opp ^ flips, own | flips | bit(square), block)
        data = recall(bucket_of(key, block), key)
        if data != 0 and depth_of(data) == depth - 1 and certainty_of(data) >= certainty:
            best = max(best, -upper_of(data))
    return best


@kernel("int64(int64)", inline=True)
def sorting_depth(depth: int) -> int:
    """Plies of the searches that sort the moves of a node."""
    return 0 if depth < 16 else 1 if depth < 20 else 2 if depth < 23 else 3


@kernel("int64(uint64, uint64, uint64, int64, int64, int64)")
def list_moves(own: U, opp: U, moves: U, second: int, depth: int, block: int) -> int:
    """Write the moves to the row of this position with their keys: answers left, parity, the opponent's value."""
    empty = empty_squares(own, opp, block)
    empties = popcount(empty)
    row, odd, count, plies = moves_row(empties, block), odd_quarters(empty), 0, sorting_depth(depth)
    per_disc = load(block, PER_DISC)
    while moves != U(0):
        square = index_of(moves)
        moves = rest_of(moves)
        flips = flips_of(own, opp, square)
        next_own, next_opp = opp ^ flips, own | flips | bit(square)
        answers = moves_of(next_own, next_opp) & (empty ^ bit(square))
        turn_row(pattern_row(empties, block), square, flips, pattern_row(empties - 1, block))
        if plies == 0:
            value = value_of(next_own, next_opp, empties - 1, block)
        else:
            value = shallow(next_own, next_opp, answers, plies, -INFINITY, INFINITY, block)
        key = haste(answers, square, odd) + value * per_disc // UNIT + LARGE
        if bit(square) & (CORNERS | BESIDE) != U(0):
            key += CORNER if bit(square) & CORNERS != U(0) else BESIDE_CORNER
        put_move(row, count, 0 if square == second else key, square, flips, answers)
        count += 1
    return count


@kernel("int64(uint64, int64)", inline=True)
def busy_place(key: U, block: int) -> int:
    """The address of the word that says whether some thread searches a position."""
    return load(block, BUSY) + 8 * (signed(key >> U(40)) & (BUSY_PLACES - 1))


@kernel("void(uint64, int64, int64)")
def tell_others(key: U, empties: int, block: int) -> None:
    """Stop all other threads that search below a position that is settled."""
    for thread in range(load(block, THREADS)):
        other = load(block, OTHERS + thread)
        if other != block and load_word(other, STACK + empties) == key:
            set_bits(other, STOP, bit(empties))


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, uint64, int64, int64, int64, int64)")
def search(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, block: int) -> int:
    """The value of a position with these legal moves, exact inside (alpha, beta), a bound outside; 0 if stopped."""
    # Step 1. The horizon: exact search of few empty squares, or evaluation.  The root wants a move and goes on.
    empty = empty_squares(own, opp, block)
    empties = popcount(empty)
    solving, root = depth >= empties, empties == load(block, ROOT)
    if solving and empties <= FEW and not root:
        return few_in_window(own, opp, moves, alpha, beta, block)
    if not solving and depth <= SHALLOW and not root:
        return rounded(own, opp, moves, depth, alpha, beta, block)
    # Step 2. Asked to stop, or a position above is settled.
    if load_word(block, STOP) >> U(empties) > U(1):
        return 0
    count_node(block)
    if load(block, NODES) >= load(block, LIMIT):
        set_bits(block, STOP, bit(HALT))
    # Step 3. No move: the game is over, or the opponent's turn.
    here, there = pattern_row(empties, block), pattern_row(empties - 1, block)
    if moves == U(0):
        answers = moves_of(opp, own) & empty
        if answers == U(0):
            return score(own, opp, load_word(block, SQUARES))
        swap_row(here)
        value = -search(opp, own, answers, -beta, -alpha, depth, block)
        swap_row(here)
        return value
    # Step 4. The opponent's stable discs, or the table, may settle it.
    if not root and alpha >= 2 * empties - 8 and is_out_of_reach(own, opp, alpha, block):
        return alpha
    certainty, key = load(block, CERTAINTY), hash_of(own, opp, block)
    bucket = bucket_of(key, block)
    lower, upper, hint, second = -OFFSET, OFFSET, NO_MOVE, NO_MOVE
    if root:
        hint = load(block, BEST)
    else:
        data = recall(bucket, key)
        if data != 0:
            hint, second = move_of(data), second_of(data)
            if depth_of(data) == depth and certainty_of(data) >= certainty:
                lower, upper = lower_of(data), upper_of(data)
                if lower >= beta or lower == upper:
                    return lower
                if upper <= alpha:
                    return upper
    if hint != NO_MOVE and moves & bit(hint) == U(0):
        hint = NO_MOVE  # the table took another position for this one
    # Step 5. Probable cuts: a shallow search far outside the window stands for the deep one.
    if certainty < SURE and beta == alpha + 1 and not root:
        less = shallow_depth(depth, solving)
        margin = margin_of(certainty, empties, depth, less, block)
        still = value_of(own, opp, empties, block)
        limit = (beta * UNIT + margin + UNIT - 1) // UNIT
        near = still >= (limit - NEARBY) * UNIT and limit <= MOST
        if near and search(own, opp, moves, limit - 1, limit, less, block) >= limit:
            return beta
        limit = (alpha * UNIT - margin) // UNIT
        near = still <= (limit + NEARBY) * UNIT and limit >= -MOST
        if near and search(own, opp, moves, limit, limit + 1, less, block) <= limit:
            return alpha
    # Step 6. A child that the table knows well enough.
    if depth >= ETC_FROM and not root:
        bound = known_bound(own, opp, moves, depth, certainty, block)
        if bound >= beta:
            return bound
    # Step 7. With other threads: say where this one is.
    shared = load(block, THREADS) > 1 and depth >= (SPLIT_SOLVING if solving else SPLIT)
    if shared:
        store(block, STACK + empties, signed(key))
        clear_bits(block, STOP, bit(empties))
    # Step 8. Each move: the one that was best before, the others in order, last those that others were busy with.
    row, count, later, first = moves_row(empties, block), -1, U(0), True
    best, best_move, floor, square = NONE, NO_MOVE, alpha, hint
    flips = answers = U(0)
    while best < beta:
        if first and hint != NO_MOVE:
            flips = flips_of(own, opp, hint)
            answers = moves_of(opp ^ flips, own | flips | bit(hint)) & (empty ^ bit(hint))
        else:
            if count < 0:
                rest = moves & ~bit(hint) if hint != NO_MOVE else moves
                count = list_moves(own, opp, rest, second, depth, block)
            if count > 0:
                count = take_move(row, count)
                square = load(row, MOVE * count) & 255
                flips, answers = load_word(row, MOVE * count + 1), load_word(row, MOVE * count + 2)
            elif later != U(0):
                square = index_of(later)
                later = rest_of(later)
                flips = flips_of(own, opp, square)
                answers = moves_of(opp ^ flips, own | flips | bit(square)) & (empty ^ bit(square))
            else:
                break
        next_own, next_opp = opp ^ flips, own | flips | bit(square)
        if shared:
            child = hash_of(next_own, next_opp, block)
            busy = busy_place(child, block)
            if not first and count > 0 and load_word(busy, 0) == child:
                later |= bit(square)
                continue
            store(busy, 0, signed(child))
        turn_row(here, square, flips, there)
        floor = max(alpha, best)
        if first or beta == floor + 1:
            value = -search(next_own, next_opp, answers, -beta, -floor, depth - 1, block)
        else:
            value = -search(next_own, next_opp, answers, -floor - 1, -floor, depth - 1, block)
            if floor < value < beta and load_word(block, STOP) == U(0):
                turn_row(here, square, flips, there)
                value = -search(next_own, next_opp, answers, -beta, -floor, depth - 1, block)
        if shared:
            store(busy, 0, 0)
        # Step 9. Stopped on the way: leave, or take over what another thread found out, or try the move again.
        stop = load_word(block, STOP) >> U(empties)
        if stop != U(0):
            if stop != U(1):
                return 0
            clear_bits(block, STOP, bit(empties))
            data = recall(bucket, key)
            if data != 0 and depth_of(data) == depth and certainty_of(data) >= certainty:
                if lower_of(data) >= beta or lower_of(data) == upper_of(data):
                    return lower_of(data)
                if upper_of(data) <= alpha:
                    return upper_of(data)
            if first and hint != NO_MOVE:
                continue
            later |= bit(square)
            continue
        first = False
        if value > best:
            best, best_move = value, square
    # Step 10. Remember, and tell those who are at work below.
    if best >= beta:
        lower = best
    elif best <= alpha:
        upper = best
    else:
        lower = upper = best
    if root:
        store(block, BEST, best_move)
    else:
        remember(bucket, key, lower, upper, best_move, hint, depth, certainty, block)
    if shared:
        tell_others(key, empties, block)
    return best
