"""The kernels of Awalé's search: principal variation search with a transposition table (TT).

Values count the seeds still to be won, the mover's less the opponent's; a seed is worth SEED_VALUE.  The endgame
tablebase counts the same way: kernels see the rows without the captured seeds, and play continues past a majority.
Positions of few seeds are looked up in the tablebase.  At the horizon a quiescence search plays out captures and a
small trained network evaluates (`evaluate.awale_network`); without it no more captures are expected (DiffScore).  A
position repeated since the last capture ends the game by the rules of the variant.  In deep searches late quiet moves
are first searched a ply less deep.

The search counts its uses of estimates.  A value found without one is proved at any depth and stored with SOLVED_DEPTH.
The positions on the current path are in `AwaleState.stack`.
"""

from awello.bits import bit, bit_scan, clear_lowest_bit, popcount
from awello.engine.awale_state import INFINITY, PAST_PLIES, SEED_VALUE, AwaleState, StackFrame, awale_state_at
from awello.engine.awale_transposition_table import (
    BOUND_EXACT,
    BOUND_LOWER,
    BOUND_UPPER,
    EMPTY_ENTRY,
    SOLVED_DEPTH,
    entry_address,
    entry_depth,
    entry_pit,
    entry_value,
    probe_tt,
    settles_window,
    store_tt,
)
from awello.engine.retrograde import LEVEL_OFFSETS, VALUE_OF_CODE, rank
from awello.engine.thread_state import STOP_BIT
from awello.engine.transposition_table import hash_of
from awello.evaluate.awale_network import AwaleNetworkWeights, awale_network_weights_at, forward
from awello.kernel import U, kernel
from awello.memory import load8, prefetch
from awello.rules.awale import ABAPA, BYTE, is_stopped, legal_moves, seeds_in, sow

MIN_CYCLE_PLIES = 12  # quiet moves before a position can be repeated: each pit must have been played
UNREDUCED_MOVES = 2  # moves of a node that are never reduced: fewer save nodes but overlook more
PREFETCH_FROM_DEPTH = 3  # the depth from which entries of children are prefetched: below it few are looked up

# Move ordering: a captured seed counts more than the killer, and the killer more than any history.
KEY_PER_SEED = 1 << 24
KILLER_BONUS = MAX_HISTORY = 1 << 22


# ---- values without a search ----------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, int64)", inline=True)
def probe_tablebase(own: U, opp: U, seeds: int, tablebase: int) -> int:
    """Look up the value of an endgame in seeds; `tablebase` is the address of its bytes."""
    return int(VALUE_OF_CODE[load8(tablebase, U(LEVEL_OFFSETS[U(seeds)] + rank(own, opp)))])


@kernel("int64(int64, uint64, uint64)", inline=True)
def terminal_value(game: int, own: U, opp: U) -> int:
    """The value in seeds of a position in which the mover has no move."""
    return 0 if is_stopped(game, own, opp) else seeds_in(own) - seeds_in(opp)


@kernel("int64(int64, uint64, uint64)", inline=True)
def repetition_value(game: int, own: U, opp: U) -> int:
    """The value in seeds of a repeated position."""
    return seeds_in(own) - seeds_in(opp) if game == ABAPA else 0


@kernel("int64(uint64, uint64, int64, AwaleNetworkWeights)", inline=True)
def estimate(own: U, opp: U, seeds: int, weights: AwaleNetworkWeights) -> int:
    """Estimate a value by the trained weights, within the seeds in play."""
    most = SEED_VALUE * seeds
    return max(-most, min(most, forward(own, opp, seeds, weights)))


# ---- the horizon ----------------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, AwaleState)", inline=True)
def search_last_ply(own: U, opp: U, beta: int, state: AwaleState) -> int:
    """Evaluate by the best capture of one more move (DiffScore)."""
    game, seeds, nodes, most = state.game, seeds_in(own + opp), 1, 0
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        most = terminal_value(game, own, opp)
    elif seeds <= state.tablebase_seeds:
        most = probe_tablebase(own, opp, seeds, state.tablebase)
    else:
        state.estimates += 1
        while moves != U(0) and SEED_VALUE * most < beta:
            _, _, captures = sow(game, own, opp, bit_scan(moves))
            most = max(most, seeds_in(captures))
            moves = clear_lowest_bit(moves)
            nodes += 1
    state.nodes += nodes
    return SEED_VALUE * most


@kernel("int64(uint64, uint64, int64, int64, AwaleState)")
def quiescence_search(own: U, opp: U, alpha: int, beta: int, state: AwaleState) -> int:
    """Evaluate at the horizon: the better of the estimate and the best capture."""
    game, seeds = state.game, seeds_in(own + opp)
    state.nodes += 1
    if seeds <= state.tablebase_seeds:
        return SEED_VALUE * probe_tablebase(own, opp, seeds, state.tablebase)
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        return SEED_VALUE * terminal_value(game, own, opp)
    state.estimates += 1
    best = estimate(own, opp, seeds, awale_network_weights_at(state.weights))
    while moves != U(0) and best < beta:
        next_own, next_opp, captures = sow(game, own, opp, bit_scan(moves))
        moves = clear_lowest_bit(moves)
        if captures != U(0):
            win, floor = SEED_VALUE * seeds_in(captures), max(alpha, best)
            best = max(best, win - quiescence_search(next_own, next_opp, win - beta, win - floor, state))
    return best


@kernel("int64(uint64, uint64, int64, int64, int64, AwaleState)", inline=True)
def evaluate_horizon(own: U, opp: U, alpha: int, beta: int, depth: int, state: AwaleState) -> int:
    """Evaluate a position at the horizon."""
    if state.weights != 0:
        return quiescence_search(own, opp, alpha, beta, state)
    return search_last_ply(own, opp, beta if depth == 1 else -INFINITY, state)


# ---- move ordering --------------------------------------------------------------------------------------------------
@kernel("uint64(uint64, int64)", inline=True)
def sowing_index(own: U, pit: int) -> U:
    """The index of a pit with its seeds, for history and killers."""
    return U(pit) << U(6) | own >> U(8 * pit) & BYTE


@kernel("int64(int64, int64)", inline=True)
def move_key(priority: int, pit: int) -> int:
    """A number for a move that sorts by priority."""
    return priority << 3 | pit


@kernel("int64(int64)", inline=True)
def pit_of(key: int) -> int:
    """The pit of a move key."""
    return key & 7


@kernel("int64(uint64, int64, uint64, StackFrame, AwaleState)", inline=True)
def priority_of(own: U, pit: int, captures: U, frame: StackFrame, state: AwaleState) -> int:
    """The priority of a move: captures, then the killer, then history."""
    sowing = sowing_index(own, pit)
    priority = seeds_in(captures) * KEY_PER_SEED + state.history[sowing]
    return priority + KILLER_BONUS if frame.killer == sowing else priority


@kernel("void(StackFrame, int64, int64, int64)", inline=True)
def insert_move(frame: StackFrame, first: int, count: int, key: int) -> None:
    """Insert a key into the moves [first, count) of a frame, which are sorted from the largest down."""
    place = count
    while place > first and frame.moves[U(place - 1)] < key:
        frame.moves[U(place)] = frame.moves[U(place - 1)]
        place -= 1
    frame.moves[U(place)] = key


@kernel("int64(uint64, uint64, uint64, int64, int64, StackFrame, AwaleState)", inline=True)
def sort_moves(own: U, opp: U, moves: U, first: int, depth: int, frame: StackFrame, state: AwaleState) -> int:
    """Write moves into a frame in search order, from index `first` on; return the new number of moves."""
    count = first
    while moves != U(0):
        pit = bit_scan(moves)
        next_own, next_opp, captures = sow(state.game, own, opp, pit)
        if depth >= PREFETCH_FROM_DEPTH:
            prefetch(entry_address(hash_of(next_own, next_opp, state.multipliers), state))
        insert_move(frame, first, count, move_key(priority_of(own, pit, captures, frame, state), pit))
        count += 1
        moves = clear_lowest_bit(moves)
    return count


@kernel("int64(uint64, int64, StackFrame)", inline=True)
def put_first(moves: U, pit: int, frame: StackFrame) -> int:
    """Write a move into an empty frame if it is legal; return the number of moves, 1 or 0."""
    frame.moves[U(0)] = pit
    return popcount(moves & bit(pit))


@kernel("void(uint64, int64, uint64, int64, StackFrame, AwaleState)", inline=True)
def update_history(own: U, pit: int, captures: U, depth: int, frame: StackFrame, state: AwaleState) -> None:
    """Raise the history of a move that refuted a position, more for deep refutations, and set the killer."""
    sowing = sowing_index(own, pit)
    state.history[sowing] = min(state.history[sowing] + depth * depth, MAX_HISTORY)
    if captures == U(0):
        frame.killer = sowing


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("void(AwaleState)", inline=True)
def count_node(state: AwaleState) -> None:
    """Count a visited position; stop at the node limit."""
    state.nodes += 1
    if state.nodes >= state.max_nodes:
        state.stop = STOP_BIT


@kernel("boolean(uint64, uint64, int64, AwaleState)", inline=True)
def is_repeated(own: U, opp: U, ply: int, state: AwaleState) -> bool:
    """Write the position of a ply to the stack; return whether it is repeated since the last capture."""
    frame, back = state.stack[U(ply)], MIN_CYCLE_PLIES
    frame.own, frame.opp = own, opp
    while back <= frame.quiet_moves:
        before = state.stack[U(ply - back)]
        if before.own == own and before.opp == opp:
            return True
        back += 2  # the same side is to move
    return False


@kernel("void(int64, uint64, AwaleState)", inline=True)
def count_quiet_moves(ply: int, captures: U, state: AwaleState) -> None:
    """Set the number of quiet moves before the child of this ply."""
    state.stack[U(ply + 1)].quiet_moves = 0 if captures != U(0) else state.stack[U(ply)].quiet_moves + 1


@kernel("boolean(int64, int64, uint64, AwaleState)", inline=True)
def can_reduce(index: int, depth: int, captures: U, state: AwaleState) -> bool:
    """Whether a move may be reduced: it is quiet and late in the order."""
    return bool(depth >= state.reduce_from_depth and index >= UNREDUCED_MOVES and captures == U(0))


@kernel("int64(uint64, uint64, int64, int64, int64, int64, AwaleState)")
def search(own: U, opp: U, alpha: int, beta: int, depth: int, ply: int, state: AwaleState) -> int:
    """Return the value for the mover, fail-soft: exact inside (alpha, beta), outside it a bound."""
    # Step 1. The horizon.
    if depth <= state.horizon:
        return evaluate_horizon(own, opp, alpha, beta, depth, state)
    count_node(state)
    # Step 2. Values that need no search: tablebase, end of the game, repetition.
    game, seeds = state.game, seeds_in(own + opp)
    if seeds <= state.tablebase_seeds:
        return SEED_VALUE * probe_tablebase(own, opp, seeds, state.tablebase)
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        return SEED_VALUE * terminal_value(game, own, opp)
    if is_repeated(own, opp, ply, state):
        state.estimates += 1  # the value depends on the path
        return SEED_VALUE * repetition_value(game, own, opp)
    # Step 3. The transposition table: a value, or at least the first move.
    key = hash_of(own, opp, state.multipliers)
    entry = probe_tt(key, state)
    frame, index, count, unsorted = state.stack[U(ply)], 0, 0, moves
    if entry != EMPTY_ENTRY:  # a branch, so that the processor need not wait for the entry
        if settles_window(entry, alpha, beta, depth):
            if entry_depth(entry) != SOLVED_DEPTH:
                state.estimates += 1
            return entry_value(entry)
        count = put_first(moves, entry_pit(entry), frame)
        unsorted = moves & ~bit(entry_pit(entry))
    best, best_pit, floor, estimates = -INFINITY, 0, alpha, state.estimates
    while index < count or unsorted != U(0):
        # Step 4. The TT move comes first; the others are sorted only if it does not cut.
        if index == count:
            count, unsorted = sort_moves(own, opp, unsorted, count, depth, frame, state), U(0)
        pit = pit_of(frame.moves[U(index)])
        next_own, next_opp, captures = sow(game, own, opp, pit)
        win = SEED_VALUE * seeds_in(captures)
        low, high = win - beta, win - alpha  # the window from the opponent's view
        if depth - 1 == state.horizon:
            value = win - evaluate_horizon(next_own, next_opp, low, high, depth - 1, state)
        else:
            # Step 5. The first move is searched in the whole window, the others in null windows, late ones first with
            # reduced depth.  If one fails high, it is searched in the whole window.
            count_quiet_moves(ply, captures, state)
            value = alpha + 1
            if index > 0 and can_reduce(index, depth, captures, state):
                value = win - search(next_own, next_opp, high - 1, high, depth - 2, ply + 1, state)
            if index > 0 and value > alpha:
                value = win - search(next_own, next_opp, high - 1, high, depth - 1, ply + 1, state)
            if index == 0 or alpha < value < beta:
                value = win - search(next_own, next_opp, low, high, depth - 1, ply + 1, state)
        if state.stop != U(0):
            return 0
        index += 1
        if value > best:
            best, best_pit, alpha = value, pit, max(alpha, value)
        if best >= beta:
            update_history(own, pit, captures, depth, frame, state)
            break
    # Step 6. Store the value.
    bound = BOUND_LOWER if best >= beta else BOUND_UPPER if best <= floor else BOUND_EXACT
    store_tt(key, best, bound, SOLVED_DEPTH if state.estimates == estimates else depth, best_pit, state)
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, AwaleState)")
def search_root(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, state: AwaleState) -> int:
    """Return the value of the best of these moves and leave that move in the state; its move is searched first.

    After a stop the state holds a move that is proved better than the first, or still the first.
    """
    frame, best, floor = state.stack[U(PAST_PLIES)], -INFINITY, alpha
    frame.own, frame.opp = own, opp
    count = put_first(moves, state.root_best_pit, frame)
    count = sort_moves(own, opp, moves & ~bit(state.root_best_pit), count, depth, frame, state)
    for index in range(count):
        pit = pit_of(frame.moves[U(index)])
        next_own, next_opp, captures = sow(state.game, own, opp, pit)
        win = SEED_VALUE * seeds_in(captures)
        low, high = win - beta, win - alpha
        count_quiet_moves(PAST_PLIES, captures, state)
        value = alpha + 1
        if index > 0:
            value = win - search(next_own, next_opp, high - 1, high, depth - 1, PAST_PLIES + 1, state)
        if index == 0 or alpha < value < beta:
            value = win - search(next_own, next_opp, low, high, depth - 1, PAST_PLIES + 1, state)
        if state.stop != U(0):
            return 0
        if value > best:
            if index == 0 or value > floor:
                state.root_best_pit = pit
            best, alpha = value, max(alpha, value)
        if best >= beta:
            break
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, int64)")
def search_root_at(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, address: int) -> int:
    """Search the root with the state at an address, which Python passes a hundred times faster than a record."""
    return search_root(own, opp, moves, alpha, beta, depth, awale_state_at(address))


@kernel("int64(uint64, uint64, int64)")
def probe_best_pit(own: U, opp: U, address: int) -> int:
    """Return the best move of a position in the table of the state at an address, or NO_PIT."""
    state = awale_state_at(address)
    return entry_pit(probe_tt(hash_of(own, opp, state.multipliers), state))
