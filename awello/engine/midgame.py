"""Othello's search, to a depth or to the end of the game.

One recursive kernel does both.  It is a principal variation search (Reinefeld 1983): the first move of a node is
searched with the full window, the others with null windows, to prove that they are not better.  With a selectivity
below `NO_SELECTIVITY`, a deep search is skipped if a shallow search returns a value far outside the window
(multi-ProbCut, Buro 1997).  Values are in discs from the mover's view; a pass does not reduce the depth.

Threads search the same root and share the transposition table (TT).  A thread defers moves that another thread is
searching (similar to ABDADA, Weill 1996).  A thread that finishes a position stops all threads that still search below
it.
"""

from awello.bits import bit, bit_scan, clear_lowest_bit, find_flips, find_moves, popcount, to_signed
from awello.engine.endgame import CORNERS, FEW_EMPTIES, fastest_first_key, list_fastest_first, solve_few_empties
from awello.engine.last_empties import NO_SCORE, STABILITY_ALPHA_PER_EMPTY, is_stability_cutoff
from awello.engine.othello_state import (
    BUSY_SLOTS,
    MoveList,
    OthelloState,
    busy_table_at,
    clear_stop,
    empty_squares,
    fill_move,
    odd_quadrants,
    othello_state_at,
    set_sort_key,
    set_stop,
    take_best_move,
)
from awello.engine.probcut import NO_SELECTIVITY, margin_of, shallow_depth
from awello.engine.thread_state import NO_MOVE, STOP_BIT
from awello.engine.transposition_table import (
    NO_CUTOFF,
    cutoff_value,
    entry_bounds,
    entry_depth,
    entry_move,
    entry_second_move,
    entry_selectivity,
    entry_upper_bound,
    find_bucket,
    hash_position,
    probe_tt,
    store_tt,
)
from awello.evaluate.heuristics import estimate, heuristic_state_at
from awello.evaluate.patterns import (
    DISC_VALUE,
    evaluate_mobility,
    evaluate_patterns,
    stage_weights_at,
    swap_indices,
    update_indices,
)
from awello.kernel import U, kernel
from awello.rules.othello import score

INFINITY = 1 << 20
MAX_ESTIMATE = 62  # the largest estimate; only a proven value can be larger
# Terms of the key of a move, in addition to those in `endgame`: corners are searched early, X-squares late.
SORT_KEY_CORNER, SORT_KEY_X_SQUARE = -16, 12
X_SQUARES = U(0x0042000000004200)
SORT_KEY_OFFSET = 1 << 16  # keeps keys above 0, the key of the second TT move
MIN_CHILD_LOOKUP_DEPTH = 14  # the depth from which a node first looks up all its children in the TT
# ProbCut is tried if the evaluation reaches one of its limits or misses it by at most this much.  A larger window
# wastes time on shallow searches that cut nothing; a smaller one misses cuts.
PROBCUT_WINDOW_DISCS = 3
STABILITY_MIDGAME_SLACK = 8  # stable discs are counted if alpha is at least 2 * empties minus this slack
MAX_SHALLOW_DEPTH = 2  # the largest depth at which `search` uses a shallow search without TT
MIN_SPLIT_SOLVE_DEPTH, MIN_SPLIT_DEPTH = 13, 6  # the depths from which threads share the moves of a node
# The depths from which moves are sorted by the values of searches to one, two and three plies.
SORT_BY_1_PLY_FROM, SORT_BY_2_PLIES_FROM, SORT_BY_3_PLIES_FROM = 16, 20, 23
TT_MOVE_FIRST, UNSORTED = -2, -1  # values of `MoveList.count` before the moves are listed


# ---- evaluation and shallow searches --------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, OthelloState)", inline=True)
def evaluate(own: U, opp: U, empties: int, state: OthelloState) -> int:
    """Return the evaluation of a position in units of 1/DISC_VALUE disc; its pattern indices must be filled."""
    address = state.weights[U(empties)]
    if address != 0:
        weights = stage_weights_at(address)
        return evaluate_patterns(state.pattern_indices[U(empties)], weights) + evaluate_mobility(own, opp, weights)
    heuristic_state = heuristic_state_at(state.heuristic_state)
    return estimate(state.game, state.heuristic_id, own, opp, heuristic_state) * state.heuristic_scale


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, OthelloState)")
def shallow_search(own: U, opp: U, moves: U, depth: int, alpha: int, beta: int, state: OthelloState) -> int:
    """Search a few plies without a TT, fastest first; the value is in units of 1/DISC_VALUE disc."""
    # Step 1. The horizon, the end of the game, a pass.
    empty = empty_squares(own, opp, state)
    empties = popcount(empty)
    if depth == 0:
        return evaluate(own, opp, empties, state)
    indices, child_indices = state.pattern_indices[U(empties)], state.pattern_indices[U(empties - 1)]
    if moves == U(0):
        replies = find_moves(opp, own) & empty
        if replies == U(0):
            return DISC_VALUE * score(own, opp, state.board_mask)
        swap_indices(indices)
        value = -shallow_search(opp, own, replies, depth, -beta, -alpha, state)
        swap_indices(indices)
        return value
    # Step 2. The last ply: evaluate each child.
    best = -INFINITY
    state.nodes += 1
    if depth == 1:
        while moves != U(0) and best < beta:
            state.nodes += 1
            square = bit_scan(moves)
            moves = clear_lowest_bit(moves)
            flips = find_flips(own, opp, square)
            update_indices(indices, square, flips, child_indices)
            best = max(best, -evaluate(opp ^ flips, own | flips | bit(square), empties - 1, state))
        return best
    # Step 3. Search the moves, those with the fewest replies first.
    listed = state.move_lists[U(empties)]
    count = list_fastest_first(own, opp, empty, moves, listed)
    while count > 0 and best < beta:
        square = take_best_move(listed, count)
        count -= 1
        flips = listed.current.flips
        update_indices(indices, square, flips, child_indices)
        next_own, next_opp, floor = opp ^ flips, own | flips | bit(square), max(alpha, best)
        best = max(best, -shallow_search(next_own, next_opp, listed.current.replies, depth - 1, -beta, -floor, state))
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, OthelloState)")
def rounded_search(own: U, opp: U, moves: U, depth: int, alpha: int, beta: int, state: OthelloState) -> int:
    """Run a shallow search and round its value to whole discs; halves are rounded away from zero, for symmetry."""
    low, high = alpha * DISC_VALUE + DISC_VALUE // 2 - 1, beta * DISC_VALUE - DISC_VALUE // 2 + 1
    value = shallow_search(own, opp, moves, depth, low, high, state)
    discs = (abs(value) + DISC_VALUE // 2) // DISC_VALUE
    return min(MAX_ESTIMATE, discs) if value > 0 else -min(MAX_ESTIMATE, discs)


@kernel("int64(uint64, uint64, uint64, int64, int64, OthelloState)")
def solve_in_window(own: U, opp: U, moves: U, alpha: int, beta: int, state: OthelloState) -> int:
    """Solve a position with few empty squares for any window, by a series of null windows upwards from alpha."""
    score = solve_few_empties(own, opp, moves, alpha, state)
    while alpha < score < beta:
        alpha = score
        score = solve_few_empties(own, opp, moves, alpha, state)
    return score


@kernel("int64(uint64, uint64, uint64, int64, int64, OthelloState)")
def bound_by_children(own: U, opp: U, moves: U, depth: int, selectivity: int, state: OthelloState) -> int:
    """Look up the children in the TT; return the best lower bound found (enhanced transposition cutoff)."""
    best = NO_SCORE
    while moves != U(0):
        square = bit_scan(moves)
        moves = clear_lowest_bit(moves)
        flips = find_flips(own, opp, square)
        key = hash_position(opp ^ flips, own | flips | bit(square), state.multipliers)
        entry = probe_tt(find_bucket(key, state), key)
        if entry != 0 and entry_depth(entry) == depth - 1 and entry_selectivity(entry) >= selectivity:
            best = max(best, -entry_upper_bound(entry))
    return best


@kernel("UniTuple(int64, 2)(uint64, uint64, int64, int64, int64, int64, OthelloState)", inline=True)
def probcut_limits(
    own: U, opp: U, alpha: int, beta: int, depth: int, reduced: int, state: OthelloState
) -> tuple[int, int]:
    """Return (low, high): `search` returns alpha if the shallow value is at most low, and beta if it is at least high.

    A limit that the shallow search is unlikely to reach, given the evaluation, is set to minus or plus infinity.
    """
    empties = popcount(empty_squares(own, opp, state))
    margin = margin_of(state.selectivity, empties, depth, reduced, state.probcut)
    value = evaluate(own, opp, empties, state)
    low, high = (alpha * DISC_VALUE - margin) // DISC_VALUE, (beta * DISC_VALUE + margin + DISC_VALUE - 1) // DISC_VALUE
    if value > (low + PROBCUT_WINDOW_DISCS) * DISC_VALUE:
        low = -INFINITY
    if value < (high - PROBCUT_WINDOW_DISCS) * DISC_VALUE:
        high = INFINITY
    return low, high


# ---- move ordering --------------------------------------------------------------------------------------------------
@kernel("int64(int64)", inline=True)
def sorting_depth(depth: int) -> int:
    """Return the depth of the searches that sort the moves of a node."""
    if depth < SORT_BY_1_PLY_FROM:
        return 0
    return 1 if depth < SORT_BY_2_PLIES_FROM else 2 if depth < SORT_BY_3_PLIES_FROM else 3


@kernel("int64(uint64, uint64, uint64, int64, MoveList, OthelloState)")
def list_moves_by_value(own: U, opp: U, moves: U, depth: int, listed: MoveList, state: OthelloState) -> int:
    """List moves with keys that combine replies, parity and the value after the move; return the number of moves."""
    empty = empty_squares(own, opp, state)
    empties, odd, plies, count = popcount(empty), odd_quadrants(empty), sorting_depth(depth), U(0)
    indices, child_indices = state.pattern_indices[U(empties)], state.pattern_indices[U(empties - 1)]
    while moves != U(0):
        square = bit_scan(moves)
        moves = clear_lowest_bit(moves)
        move = listed.moves[count]
        fill_move(own, opp, empty, square, move)
        next_own, next_opp = opp ^ move.flips, own | move.flips | bit(square)
        update_indices(indices, square, move.flips, child_indices)
        if plies == 0:
            value = evaluate(next_own, next_opp, empties - 1, state)
        else:
            value = shallow_search(next_own, next_opp, move.replies, plies, -INFINITY, INFINITY, state)
        key = fastest_first_key(move.replies, square, odd) + SORT_KEY_OFFSET
        key += value * state.sort_key_per_disc // DISC_VALUE
        if bit(square) & (CORNERS | X_SQUARES) != U(0):
            key += SORT_KEY_CORNER if bit(square) & CORNERS != U(0) else SORT_KEY_X_SQUARE
        set_sort_key(move, 0 if square == listed.second_move else key)
        count += U(1)
    return to_signed(count)


@kernel("void(int64, uint64, boolean, MoveList, OthelloState)", inline=True)
def init_move_list(entry: int, moves: U, root: bool, listed: MoveList, state: OthelloState) -> None:
    """Initialise the move list of a node with the TT moves or, at the root, the best move so far."""
    listed.count, listed.deferred = TT_MOVE_FIRST, U(0)
    listed.tt_move, listed.second_move = NO_MOVE, NO_MOVE
    if entry != 0:
        listed.tt_move, listed.second_move = entry_move(entry), entry_second_move(entry)
    if root:
        listed.tt_move = state.root_best_move
    if listed.tt_move != NO_MOVE and moves & bit(listed.tt_move) == U(0):
        listed.tt_move = NO_MOVE  # from another position with the same hash


@kernel("int64(uint64, uint64, uint64, int64, MoveList, OthelloState)", inline=True)
def next_move(own: U, opp: U, moves: U, depth: int, listed: MoveList, state: OthelloState) -> int:
    """Make the next move current (TT move, then listed, then deferred moves) and return its square, or NO_MOVE."""
    square = NO_MOVE
    if listed.count == TT_MOVE_FIRST:
        listed.count, square = UNSORTED, listed.tt_move
    if square == NO_MOVE:
        if listed.count == UNSORTED:
            others = moves & ~bit(listed.tt_move) if listed.tt_move != NO_MOVE else moves
            listed.count = list_moves_by_value(own, opp, others, depth, listed, state)
        if listed.count > 0:
            square = take_best_move(listed, listed.count)
            listed.count -= 1
            return square
        if listed.deferred == U(0):
            return NO_MOVE
        square = bit_scan(listed.deferred)
        listed.deferred = clear_lowest_bit(listed.deferred)
    fill_move(own, opp, empty_squares(own, opp, state), square, listed.current)
    return square


# ---- threads --------------------------------------------------------------------------------------------------------
@kernel("void(uint64, int64, OthelloState)", inline=True)
def enter_position(key: U, empties: int, state: OthelloState) -> None:
    """Publish the position that this thread searches, so that a thread that finishes it first can stop this thread."""
    state.path_hashes[U(empties)] = key
    clear_stop(state, bit(empties))


@kernel("uint64(uint64)", inline=True)
def busy_index(child: U) -> U:
    """Return the index of a position in the busy table; TTs up to 64 MiB use other bits of the hash as an index."""
    return child >> U(40) & U(BUSY_SLOTS - 1)


@kernel("boolean(uint64, OthelloState)", inline=True)
def is_busy(child: U, state: OthelloState) -> bool:
    """Return whether another thread is searching a position."""
    return bool(busy_table_at(state.busy_table).hashes[busy_index(child)] == child)


@kernel("void(uint64, uint64, OthelloState)", inline=True)
def mark_busy(child: U, mark: U, state: OthelloState) -> None:
    """Mark a position as being searched (`mark` is its hash), or remove the mark (`mark` is 0)."""
    busy_table_at(state.busy_table).hashes[busy_index(child)] = mark


@kernel("void(uint64, int64, OthelloState)")
def stop_other_threads(key: U, empties: int, state: OthelloState) -> None:
    """Stop all other threads that search below a finished position."""
    for thread in range(state.thread_count):
        if thread != state.thread_index:
            other = othello_state_at(state.thread_states[U(thread)])
            if other.path_hashes[U(empties)] == key:
                set_stop(other, bit(empties))


@kernel("void(int64, MoveList)", inline=True)
def defer_retry(square: int, listed: MoveList) -> None:
    """Put back a move whose search was interrupted: the TT move at the front, any other move at the end."""
    if square == listed.tt_move:
        listed.count = TT_MOVE_FIRST
    else:
        listed.deferred |= bit(square)


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("void(OthelloState)", inline=True)
def count_node(state: OthelloState) -> None:
    """Count a visited position, and stop the search at the node limit."""
    state.nodes += 1
    if state.nodes >= state.node_limit:
        set_stop(state, STOP_BIT)


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, OthelloState)")
def search(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, state: OthelloState) -> int:
    """Return the value of a position with these legal moves, fail-soft: exact inside (alpha, beta), a bound outside.

    After a stop, the value is meaningless, so callers check `state.stop` before they use it.
    """
    # Step 1. The horizon: exact search of few empty squares, or a shallow search; not at the root, which needs a move.
    empty = empty_squares(own, opp, state)
    empties = popcount(empty)
    solving, root = depth >= empties, empties == state.root_empties
    if solving and empties <= FEW_EMPTIES and not root:
        return solve_in_window(own, opp, moves, alpha, beta, state)
    if not solving and depth <= MAX_SHALLOW_DEPTH and not root:
        return rounded_search(own, opp, moves, depth, alpha, beta, state)
    # Step 2. Return if stopped by the user, by the node limit, or by a thread that finished a position above.  Bit n of
    # `stop` ends the search of the position with n empty squares on the current path and of all positions below it.
    if state.stop >> U(empties) > U(1):
        return 0
    count_node(state)
    # Step 3. No legal move: a pass or the end of the game.
    indices, child_indices = state.pattern_indices[U(empties)], state.pattern_indices[U(empties - 1)]
    if moves == U(0):
        replies = find_moves(opp, own) & empty
        if replies == U(0):
            return score(own, opp, state.board_mask)
        swap_indices(indices)
        value = -search(opp, own, replies, -beta, -alpha, depth, state)
        swap_indices(indices)
        return value
    # Step 4. Stability cutoff and transposition table.
    settling = STABILITY_ALPHA_PER_EMPTY * empties - STABILITY_MIDGAME_SLACK
    if not root and alpha >= settling and is_stability_cutoff(own, opp, alpha, state):
        return alpha
    selectivity, key = state.selectivity, hash_position(own, opp, state.multipliers)
    bucket = find_bucket(key, state)
    entry = 0 if root else probe_tt(bucket, key)
    lower, upper = entry_bounds(entry, depth, selectivity)
    value = NO_CUTOFF if root else cutoff_value(lower, upper, alpha, beta)
    if value != NO_CUTOFF:
        return value
    # Step 5. ProbCut: a shallow search whose value is far outside the window replaces the deep one.
    if selectivity < NO_SELECTIVITY and beta == alpha + 1 and not root:
        reduced = shallow_depth(depth, solving)
        low, high = probcut_limits(own, opp, alpha, beta, depth, reduced, state)
        if high <= MAX_ESTIMATE and search(own, opp, moves, high - 1, high, reduced, state) >= high:
            return beta
        if low >= -MAX_ESTIMATE and search(own, opp, moves, low, low + 1, reduced, state) <= low:
            return alpha
    # Step 6. Enhanced transposition cutoff: the TT entry of a child may already prove a value of at least beta.
    if depth >= MIN_CHILD_LOOKUP_DEPTH and not root:
        bound = bound_by_children(own, opp, moves, depth, selectivity, state)
        if bound >= beta:
            return bound
    # Step 7. Search each move: the first with the full window, the others with null windows.
    shared = state.thread_count > 1 and depth >= (MIN_SPLIT_SOLVE_DEPTH if solving else MIN_SPLIT_DEPTH)
    if shared:
        enter_position(key, empties, state)
    listed = state.move_lists[U(empties)]
    init_move_list(entry, moves, root, listed, state)
    best, best_move, child = NO_SCORE, NO_MOVE, U(0)
    while best < beta:
        square = next_move(own, opp, moves, depth, listed, state)
        if square == NO_MOVE:
            break
        flips, replies = listed.current.flips, listed.current.replies
        next_own, next_opp = opp ^ flips, own | flips | bit(square)
        if shared:
            child = hash_position(next_own, next_opp, state.multipliers)
            if best != NO_SCORE and listed.count > 0 and is_busy(child, state):
                listed.deferred |= bit(square)
                continue
            mark_busy(child, child, state)
        update_indices(indices, square, flips, child_indices)
        floor = max(alpha, best)
        if best == NO_SCORE or beta == floor + 1:
            value = -search(next_own, next_opp, replies, -beta, -floor, depth - 1, state)
        else:
            value = -search(next_own, next_opp, replies, -floor - 1, -floor, depth - 1, state)
            if floor < value < beta and state.stop == U(0):
                update_indices(indices, square, flips, child_indices)
                value = -search(next_own, next_opp, replies, -beta, -floor, depth - 1, state)
        if shared:
            mark_busy(child, U(0), state)
        # Step 8. If stopped, return, use the bounds of another thread, or search the move again later.
        stop = state.stop >> U(empties)
        if stop > U(1):
            return 0
        if stop == U(1):
            clear_stop(state, bit(empties))
            lower, upper = entry_bounds(probe_tt(bucket, key), depth, selectivity)
            value = cutoff_value(lower, upper, alpha, beta)
            if value != NO_CUTOFF:
                return value
            defer_retry(square, listed)
        elif value > best:
            best, best_move = value, square
    # Step 9. Store the value and stop the threads that still search below this position.
    if root:
        state.root_best_move = best_move
    else:
        lower, upper = best if best > alpha else lower, best if best < beta else upper
        store_tt(bucket, key, lower, upper, best_move, listed.tt_move, depth, selectivity, state.tt_age)
    if shared:
        stop_other_threads(key, empties, state)
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, int64)")
def search_at(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, address: int) -> int:
    """Run `search`, given the address of the state, which Python passes a hundred times faster than the state."""
    return search(own, opp, moves, alpha, beta, depth, othello_state_at(address))
