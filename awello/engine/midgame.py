"""The search of the champion: to a depth, or to the end of the game when the depth reaches it.

One recursive kernel serves both.  A window of width one asks a single question, and most of the tree is searched that
way: the first move of a node gets the whole window, the others only have to be proved no better (principal variation
search, Reinefeld 1983).  At a certainty below `SURE` a shallow search may stand for a deep one when it is far outside
the window (multi-ProbCut, Buro 1997).  Values are in discs from the mover's view; a pass takes no depth.

Threads search the same root and share the table.  A thread defers a move that another one is searching, and comes back
to it later (after ABDADA, Weill 1995); a thread that settles a position stops all that still search below it.
"""

from awello.bits import bit, bit_scan, clear_lowest_bit, flips_of, moves_of, popcount, to_signed
from awello.engine.endgame import CORNERS, FEW, fastest_first_key, list_fastest_first, solve_few_empties
from awello.engine.last_empties import NONE, STABILITY_ALPHA_PER_EMPTY, is_out_of_reach
from awello.engine.othello_state import (
    BUSY_PLACES,
    MoveList,
    OthelloState,
    busy_table_at,
    clear_stop,
    empty_squares,
    make_move,
    odd_quarters,
    search_state_at,
    set_key,
    set_stop,
    take_first,
)
from awello.engine.probcut import SURE, margin_of, shallow_depth
from awello.engine.state import HALTED, NO_MOVE
from awello.engine.transposition_table import (
    UNKNOWN,
    bounds_of,
    bucket_of,
    certainty_of,
    depth_of,
    hash_of,
    move_of,
    recall,
    remember,
    second_of,
    settled_value,
    upper_of,
)
from awello.evaluate.heuristics import estimate, heuristic_state_at
from awello.evaluate.patterns import DISC_VALUE, evaluate_mobility, evaluate_row, stage_weights_at, swap_row, update_row
from awello.kernel import U, kernel
from awello.rules.othello import score

INFINITY = 1 << 20
MOST = 62  # the largest value that an estimate may claim; more is for proofs
# The key of a move, beside that of the endgame: a corner is searched early, a square diagonally beside one late.
KEY_CORNER, KEY_BESIDE_CORNER = -16, 12
BESIDE_CORNERS = U(0x0042000000004200)
KEY_OFFSET = 1 << 16  # keeps keys above 0, which is for the move to be searched before all others
CHILD_LOOKUP_DEPTH = 14  # the depth from which all children are looked up before one is searched
# A probable cut is tried if the evaluation alone is not further than this from it: more, and shallow searches that fail
# cost more than the cuts save; less, and cuts are missed.
PROBCUT_WINDOW_DISCS = 3
STABILITY_MIDGAME_SLACK = 8  # discs below 2 * empties from which the opponent's stable discs are counted (see `last`)
SHALLOW = 2  # up to this depth nothing is worth storing
SPLIT_SOLVING, SPLIT = 13, 6  # the depths from which threads divide the moves of a node
# The depths from which moves are sorted by searches of one, two and three plies: sorting costs more and saves more.
SORT_BY_1_PLY_FROM, SORT_BY_2_PLIES_FROM, SORT_BY_3_PLIES_FROM = 16, 20, 23
HINT_FIRST, UNSORTED = -2, -1  # a list whose hint has not been searched; one whose moves have not been listed


# ---- what a position is worth ---------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, OthelloState)", inline=True)
def value_of(own: U, opp: U, empties: int, state: OthelloState) -> int:
    """The mover's value of a position whose row of patterns is filled, in UNITs of a disc."""
    address = state.weights[U(empties)]
    if address != 0:
        weights = stage_weights_at(address)
        return evaluate_row(state.pattern_rows[U(empties)], weights) + evaluate_mobility(own, opp, weights)
    settings = heuristic_state_at(state.heuristic_settings)
    return estimate(state.game, state.heuristic, own, opp, settings) * state.heuristic_scale


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, OthelloState)")
def shallow(own: U, opp: U, moves: U, depth: int, alpha: int, beta: int, state: OthelloState) -> int:
    """A plain search of a few plies, fastest first; values in UNITs of a disc."""
    # Step 1. The horizon, the end of the game, a pass.
    empty = empty_squares(own, opp, state)
    empties = popcount(empty)
    if depth == 0:
        return value_of(own, opp, empties, state)
    here, there = state.pattern_rows[U(empties)], state.pattern_rows[U(empties - 1)]
    if moves == U(0):
        answers = moves_of(opp, own) & empty
        if answers == U(0):
            return DISC_VALUE * score(own, opp, state.squares)
        swap_row(here)
        value = -shallow(opp, own, answers, depth, -beta, -alpha, state)
        swap_row(here)
        return value
    # Step 2. The last ply: evaluate each child.
    best = -INFINITY
    state.nodes += 1
    if depth == 1:
        while moves != U(0) and best < beta:
            state.nodes += 1
            square = bit_scan(moves)
            moves = clear_lowest_bit(moves)
            flips = flips_of(own, opp, square)
            update_row(here, square, flips, there)
            best = max(best, -value_of(opp ^ flips, own | flips | bit(square), empties - 1, state))
        return best
    # Step 3. Each move, those first that leave the fewest answers.
    listed = state.move_lists[U(empties)]
    count = list_fastest_first(own, opp, empty, moves, listed)
    while count > 0 and best < beta:
        square = take_first(listed, count)
        count -= 1
        flips = listed.current.flips
        update_row(here, square, flips, there)
        next_own, next_opp, floor = opp ^ flips, own | flips | bit(square), max(alpha, best)
        best = max(best, -shallow(next_own, next_opp, listed.current.answers, depth - 1, -beta, -floor, state))
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, OthelloState)")
def rounded(own: U, opp: U, moves: U, depth: int, alpha: int, beta: int, state: OthelloState) -> int:
    """A shallow search in whole discs, halves rounded away from zero: the same for both sides."""
    low, high = alpha * DISC_VALUE + DISC_VALUE // 2 - 1, beta * DISC_VALUE - DISC_VALUE // 2 + 1
    value = shallow(own, opp, moves, depth, low, high, state)
    discs = (abs(value) + DISC_VALUE // 2) // DISC_VALUE
    return min(MOST, discs) if value > 0 else -min(MOST, discs)


@kernel("int64(uint64, uint64, uint64, int64, int64, OthelloState)")
def solve_in_window(own: U, opp: U, moves: U, alpha: int, beta: int, state: OthelloState) -> int:
    """The exact search of few empty squares in a window of any width: questions upwards from alpha."""
    score = solve_few_empties(own, opp, moves, alpha, state)
    while alpha < score < beta:
        alpha = score
        score = solve_few_empties(own, opp, moves, alpha, state)
    return score


@kernel("int64(uint64, uint64, uint64, int64, int64, OthelloState)")
def bound_by_children(own: U, opp: U, moves: U, depth: int, certainty: int, state: OthelloState) -> int:
    """The best lower bound that the table knows through the children (enhanced transposition cut-off)."""
    best = NONE
    while moves != U(0):
        square = bit_scan(moves)
        moves = clear_lowest_bit(moves)
        flips = flips_of(own, opp, square)
        key = hash_of(opp ^ flips, own | flips | bit(square), state.multipliers)
        data = recall(bucket_of(key, state), key)
        if data != 0 and depth_of(data) == depth - 1 and certainty_of(data) >= certainty:
            best = max(best, -upper_of(data))
    return best


@kernel("UniTuple(int64, 2)(uint64, uint64, int64, int64, int64, int64, OthelloState)", inline=True)
def probcut_limits(
    own: U, opp: U, alpha: int, beta: int, depth: int, less: int, state: OthelloState
) -> tuple[int, int]:
    """What a search to a smaller depth must not exceed, or must reach, to stand for this one: below alpha, above beta.

    A limit that the evaluation alone is too far from is moved beyond all values: the search would hardly reach it.
    """
    empties = popcount(empty_squares(own, opp, state))
    margin = margin_of(state.certainty, empties, depth, less, state.probcut)
    value = value_of(own, opp, empties, state)
    low, high = (alpha * DISC_VALUE - margin) // DISC_VALUE, (beta * DISC_VALUE + margin + DISC_VALUE - 1) // DISC_VALUE
    if value > (low + PROBCUT_WINDOW_DISCS) * DISC_VALUE:
        low = -INFINITY
    if value < (high - PROBCUT_WINDOW_DISCS) * DISC_VALUE:
        high = INFINITY
    return low, high


# ---- the order of moves ---------------------------------------------------------------------------------------------
@kernel("int64(int64)", inline=True)
def sorting_depth(depth: int) -> int:
    """Plies of the searches that sort the moves of a node."""
    if depth < SORT_BY_1_PLY_FROM:
        return 0
    return 1 if depth < SORT_BY_2_PLIES_FROM else 2 if depth < SORT_BY_3_PLIES_FROM else 3


@kernel("int64(uint64, uint64, uint64, int64, MoveList, OthelloState)")
def list_by_value(own: U, opp: U, moves: U, depth: int, listed: MoveList, state: OthelloState) -> int:
    """List moves by the answers they leave, parity and the opponent's value after them; their number."""
    empty = empty_squares(own, opp, state)
    empties, odd, plies, count = popcount(empty), odd_quarters(empty), sorting_depth(depth), U(0)
    here, there = state.pattern_rows[U(empties)], state.pattern_rows[U(empties - 1)]
    while moves != U(0):
        square = bit_scan(moves)
        moves = clear_lowest_bit(moves)
        move = listed.moves[count]
        make_move(own, opp, empty, square, move)
        next_own, next_opp = opp ^ move.flips, own | move.flips | bit(square)
        update_row(here, square, move.flips, there)
        if plies == 0:
            value = value_of(next_own, next_opp, empties - 1, state)
        else:
            value = shallow(next_own, next_opp, move.answers, plies, -INFINITY, INFINITY, state)
        key = fastest_first_key(move.answers, square, odd) + value * state.key_per_disc // DISC_VALUE + KEY_OFFSET
        if bit(square) & (CORNERS | BESIDE_CORNERS) != U(0):
            key += KEY_CORNER if bit(square) & CORNERS != U(0) else KEY_BESIDE_CORNER
        set_key(move, 0 if square == listed.second else key)
        count += U(1)
    return to_signed(count)


@kernel("void(int64, uint64, boolean, MoveList, OthelloState)", inline=True)
def start_list(data: int, moves: U, root: bool, listed: MoveList, state: OthelloState) -> None:
    """Begin the list of a node with the moves that the table, or the search before this one, found best."""
    listed.count, listed.deferred = HINT_FIRST, U(0)
    listed.hint, listed.second = (move_of(data), second_of(data)) if data != 0 else (NO_MOVE, NO_MOVE)
    if root:
        listed.hint = state.best_move
    if listed.hint != NO_MOVE and moves & bit(listed.hint) == U(0):
        listed.hint = NO_MOVE  # the table took another position for this one


@kernel("int64(uint64, uint64, uint64, int64, MoveList, OthelloState)", inline=True)
def next_move(own: U, opp: U, moves: U, depth: int, listed: MoveList, state: OthelloState) -> int:
    """Make the next move current: the hint, then the others in order, last the deferred ones; its square or NO_MOVE."""
    square = NO_MOVE
    if listed.count == HINT_FIRST:
        listed.count, square = UNSORTED, listed.hint
    if square == NO_MOVE:
        if listed.count == UNSORTED:
            others = moves & ~bit(listed.hint) if listed.hint != NO_MOVE else moves
            listed.count = list_by_value(own, opp, others, depth, listed, state)
        if listed.count > 0:
            square = take_first(listed, listed.count)
            listed.count -= 1
            return square
        if listed.deferred == U(0):
            return NO_MOVE
        square = bit_scan(listed.deferred)
        listed.deferred = clear_lowest_bit(listed.deferred)
    make_move(own, opp, empty_squares(own, opp, state), square, listed.current)
    return square


# ---- sharing the work among threads ---------------------------------------------------------------------------------
@kernel("void(uint64, int64, OthelloState)", inline=True)
def announce(key: U, empties: int, state: OthelloState) -> None:
    """Say which position this thread searches, so that others can stop it when they have settled it."""
    state.path[U(empties)] = key
    clear_stop(state, bit(empties))


@kernel("uint64(uint64)", inline=True)
def busy_index(child: U) -> U:
    """The index of a position in the busy table, from bits of its hash that the transposition table seldom uses."""
    return child >> U(40) & U(BUSY_PLACES - 1)


@kernel("boolean(uint64, OthelloState)", inline=True)
def is_busy(child: U, state: OthelloState) -> bool:
    """Whether some thread is searching a position."""
    return bool(busy_table_at(state.busy).hashes[busy_index(child)] == child)


@kernel("void(uint64, uint64, OthelloState)", inline=True)
def mark_busy(child: U, mark: U, state: OthelloState) -> None:
    """Say that this thread is searching a position (its hash is the mark), or no longer (0)."""
    busy_table_at(state.busy).hashes[busy_index(child)] = mark


@kernel("void(uint64, int64, OthelloState)")
def stop_others(key: U, empties: int, state: OthelloState) -> None:
    """Stop all other threads that search below a position that is settled."""
    for thread in range(state.threads):
        if thread != state.thread:
            other = search_state_at(state.thread_states[U(thread)])
            if other.path[U(empties)] == key:
                set_stop(other, bit(empties))


@kernel("void(int64, MoveList)", inline=True)
def retry_later(square: int, listed: MoveList) -> None:
    """Put back a move whose search was interrupted: the hint comes at once again, another one at the end."""
    if square == listed.hint:
        listed.count = HINT_FIRST
    else:
        listed.deferred |= bit(square)


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("void(OthelloState)", inline=True)
def count_node(state: OthelloState) -> None:
    """One more position visited; stop when the limit is reached."""
    state.nodes += 1
    if state.nodes >= state.limit:
        set_stop(state, HALTED)


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, OthelloState)")
def search(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, state: OthelloState) -> int:
    """The value of a position with these legal moves: exact inside (alpha, beta), outside it a bound.

    If it is stopped the value means nothing; callers check `state.stop` before they use it.
    """
    # Step 1. The horizon: exact search of few empty squares, or evaluation.  The root must name a move and continues.
    empty = empty_squares(own, opp, state)
    empties = popcount(empty)
    solving, root = depth >= empties, empties == state.root_empties
    if solving and empties <= FEW and not root:
        return solve_in_window(own, opp, moves, alpha, beta, state)
    if not solving and depth <= SHALLOW and not root:
        return rounded(own, opp, moves, depth, alpha, beta, state)
    # Step 2. Stopped: by the user, the limit of nodes, or a thread that settled a position above.  Bit n of `stop` ends
    # the search of the position with n empty squares on the way here; so a bit above our own ends ours too.
    if state.stop >> U(empties) > U(1):
        return 0
    count_node(state)
    # Step 3. No move: the game is over, or the opponent's turn.
    here, there = state.pattern_rows[U(empties)], state.pattern_rows[U(empties - 1)]
    if moves == U(0):
        answers = moves_of(opp, own) & empty
        if answers == U(0):
            return score(own, opp, state.squares)
        swap_row(here)
        value = -search(opp, own, answers, -beta, -alpha, depth, state)
        swap_row(here)
        return value
    # Step 4. The opponent's stable discs, or the transposition table, may settle it.
    settling = STABILITY_ALPHA_PER_EMPTY * empties - STABILITY_MIDGAME_SLACK
    if not root and alpha >= settling and is_out_of_reach(own, opp, alpha, state):
        return alpha
    certainty, key = state.certainty, hash_of(own, opp, state.multipliers)
    bucket = bucket_of(key, state)
    data = 0 if root else recall(bucket, key)
    lower, upper = bounds_of(data, depth, certainty)
    value = settled_value(lower, upper, alpha, beta)
    if value != UNKNOWN:
        return value
    # Step 5. Probable cuts: a shallow search far outside the window stands for the deep one.
    if certainty < SURE and beta == alpha + 1 and not root:
        less = shallow_depth(depth, solving)
        low, high = probcut_limits(own, opp, alpha, beta, depth, less, state)
        if high <= MOST and search(own, opp, moves, high - 1, high, less, state) >= high:
            return beta
        if low >= -MOST and search(own, opp, moves, low, low + 1, less, state) <= low:
            return alpha
    # Step 6. A child that the table knows well enough.
    if depth >= CHILD_LOOKUP_DEPTH and not root:
        bound = bound_by_children(own, opp, moves, depth, certainty, state)
        if bound >= beta:
            return bound
    # Step 7. Search each move: the first with the whole window, the others to prove that they are no better.
    shared = state.threads > 1 and depth >= (SPLIT_SOLVING if solving else SPLIT)
    if shared:
        announce(key, empties, state)
    listed = state.move_lists[U(empties)]
    start_list(data, moves, root, listed, state)
    best, best_move, child = NONE, NO_MOVE, U(0)
    while best < beta:
        square = next_move(own, opp, moves, depth, listed, state)
        if square == NO_MOVE:
            break
        flips, answers = listed.current.flips, listed.current.answers
        next_own, next_opp = opp ^ flips, own | flips | bit(square)
        if shared:
            child = hash_of(next_own, next_opp, state.multipliers)
            if best != NONE and listed.count > 0 and is_busy(child, state):
                listed.deferred |= bit(square)
                continue
            mark_busy(child, child, state)
        update_row(here, square, flips, there)
        floor = max(alpha, best)
        if best == NONE or beta == floor + 1:
            value = -search(next_own, next_opp, answers, -beta, -floor, depth - 1, state)
        else:
            value = -search(next_own, next_opp, answers, -floor - 1, -floor, depth - 1, state)
            if floor < value < beta and state.stop == U(0):
                update_row(here, square, flips, there)
                value = -search(next_own, next_opp, answers, -beta, -floor, depth - 1, state)
        if shared:
            mark_busy(child, U(0), state)
        # Step 8. Stopped on the way: leave, or take over what another thread found out, or try the move again.
        stop = state.stop >> U(empties)
        if stop > U(1):
            return 0
        if stop == U(1):
            clear_stop(state, bit(empties))
            lower, upper = bounds_of(recall(bucket, key), depth, certainty)
            value = settled_value(lower, upper, alpha, beta)
            if value != UNKNOWN:
                return value
            retry_later(square, listed)
        elif value > best:
            best, best_move = value, square
    # Step 9. Store the value, and stop the threads that still search below.
    if root:
        state.best_move = best_move
    else:
        lower, upper = best if best > alpha else lower, best if best < beta else upper
        remember(bucket, key, lower, upper, best_move, listed.hint, depth, certainty, state.table_age)
    if shared:
        stop_others(key, empties, state)
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, int64)")
def search_at(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, address: int) -> int:
    """Search with the state at an address, which Python passes a hundred times faster than a record."""
    return search(own, opp, moves, alpha, beta, depth, search_state_at(address))
