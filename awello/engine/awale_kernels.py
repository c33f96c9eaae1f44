"""The kernels of Awalé's search: principal variation search with a transposition table (TT).

A value is the expected margin in seeds won from now on, from the mover's view, in units of 1/SEED_VALUE seed.
As in the endgame tablebase, a position is the two rows without the captured seeds, so play continues after a player has
captured the majority.  Positions with few seeds are looked up in the tablebase.  At the horizon, a quiescence search
follows captures, and the small Awalé network (`evaluate.awale_network`) evaluates the positions; if the network is not
used, a position is evaluated by the largest capture that one more move can make (DiffScore).  If a position recurs
without a capture in between, the game ends, and the variant decides who gets the remaining seeds.  In deep searches,
quiet moves (without a capture) that come late in the move ordering are first searched one ply less deep.

The search counts how often it uses an estimate.  A value found without any estimate is proven, whatever the depth, and
is stored with SOLVED_DEPTH.  The positions on the current path are in `AwaleState.stack`.
"""

from awello.bits import bit, bit_scan, clear_lowest_bit, popcount
from awello.engine.awale_state import INFINITY, PAST_PLIES, SEED_VALUE, AwaleState, StackFrame, awale_state_at
from awello.engine.awale_transposition_table import (
    BOUND_EXACT,
    BOUND_LOWER,
    BOUND_UPPER,
    EMPTY_ENTRY,
    SOLVED_DEPTH,
    allows_cutoff,
    entry_address,
    entry_depth,
    entry_pit,
    entry_value,
    probe_tt,
    store_tt,
)
from awello.engine.retrograde import LAYER_OFFSETS, VALUE_OF_CODE, rank
from awello.engine.thread_state import STOP_BIT
from awello.engine.transposition_table import hash_position
from awello.evaluate.awale_network import AwaleNetworkWeights, awale_network_weights_at, forward
from awello.kernel import U, kernel
from awello.memory import load8, prefetch
from awello.rules.awale import ABAPA, BYTE_MASK, count_seeds, is_stopped, legal_moves, sow

MIN_CYCLE_PLIES = 12  # a position can repeat after this many quiet moves at the earliest: one from each pit
UNREDUCED_MOVES = 2  # moves of a node that are always searched to full depth; with fewer, the search overlooks more
PREFETCH_FROM_DEPTH = 3  # the depth from which TT entries of children are prefetched; at lower depths, few are read

# Move ordering: a captured seed outweighs the killer move, which outweighs any history value.
SORT_KEY_PER_SEED = 1 << 24
KILLER_BONUS = MAX_HISTORY = 1 << 22


# ---- values without a search ----------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, int64)", inline=True)
def probe_tablebase(own: U, opp: U, seeds: int, tablebase: int) -> int:
    """Look up the value of a position, in seeds, in the endgame tablebase at the address `tablebase`."""
    return int(VALUE_OF_CODE[load8(tablebase, U(LAYER_OFFSETS[U(seeds)] + rank(own, opp)))])


@kernel("int64(int64, uint64, uint64)", inline=True)
def terminal_value(game: int, own: U, opp: U) -> int:
    """Return the value, in seeds, of a position in which the mover has no move."""
    return 0 if is_stopped(game, own, opp) else count_seeds(own) - count_seeds(opp)


@kernel("int64(int64, uint64, uint64)", inline=True)
def repetition_value(game: int, own: U, opp: U) -> int:
    """Return the value, in seeds, of a repeated position."""
    return count_seeds(own) - count_seeds(opp) if game == ABAPA else 0


@kernel("int64(uint64, uint64, int64, AwaleNetworkWeights)", inline=True)
def estimate(own: U, opp: U, seeds: int, weights: AwaleNetworkWeights) -> int:
    """Estimate the value of a position with the Awalé network; clip it to plus or minus the seeds in play."""
    limit = SEED_VALUE * seeds
    return max(-limit, min(limit, forward(own, opp, seeds, weights)))


# ---- the horizon ----------------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, AwaleState)", inline=True)
def search_last_ply(own: U, opp: U, beta: int, state: AwaleState) -> int:
    """Evaluate a position by the largest capture that one more move can make (DiffScore)."""
    game, seeds, nodes, best = state.game, count_seeds(own + opp), 1, 0
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        best = terminal_value(game, own, opp)
    elif seeds <= state.tablebase_seeds:
        best = probe_tablebase(own, opp, seeds, state.tablebase)
    else:
        state.estimates += 1
        while moves != U(0) and SEED_VALUE * best < beta:
            _, _, captures = sow(game, own, opp, bit_scan(moves))
            best = max(best, count_seeds(captures))
            moves = clear_lowest_bit(moves)
            nodes += 1
    state.nodes += nodes
    return SEED_VALUE * best


@kernel("int64(uint64, uint64, int64, int64, AwaleState)")
def quiescence_search(own: U, opp: U, alpha: int, beta: int, state: AwaleState) -> int:
    """Search captures only: return the higher of the estimate and the value of the best capture."""
    game, seeds = state.game, count_seeds(own + opp)
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
            win, floor = SEED_VALUE * count_seeds(captures), max(alpha, best)
            best = max(best, win - quiescence_search(next_own, next_opp, win - beta, win - floor, state))
    return best


@kernel("int64(uint64, uint64, int64, int64, int64, AwaleState)", inline=True)
def evaluate_horizon(own: U, opp: U, alpha: int, beta: int, depth: int, state: AwaleState) -> int:
    """Evaluate a position at the horizon, with or without the Awalé network."""
    if state.weights != 0:
        return quiescence_search(own, opp, alpha, beta, state)
    return search_last_ply(own, opp, beta if depth == 1 else -INFINITY, state)


# ---- move ordering --------------------------------------------------------------------------------------------------
@kernel("uint64(uint64, int64)", inline=True)
def sowing_index(own: U, pit: int) -> U:
    """Combine a pit and its number of seeds into one number: an index into `history`, and the code of a killer move."""
    return U(pit) << U(6) | own >> U(8 * pit) & BYTE_MASK


@kernel("int64(int64, int64)", inline=True)
def move_key(priority: int, pit: int) -> int:
    """Return the sort key of a move: its priority in the upper bits and its pit in the lowest three."""
    return priority << 3 | pit


@kernel("int64(int64)", inline=True)
def pit_of(key: int) -> int:
    """Return the pit of a move key."""
    return key & 7


@kernel("int64(uint64, int64, uint64, StackFrame, AwaleState)", inline=True)
def priority_of(own: U, pit: int, captures: U, frame: StackFrame, state: AwaleState) -> int:
    """Return the priority of a move: captures first, then the killer move, then history."""
    sowing = sowing_index(own, pit)
    priority = count_seeds(captures) * SORT_KEY_PER_SEED + state.history[sowing]
    return priority + KILLER_BONUS if frame.killer == sowing else priority


@kernel("void(StackFrame, int64, int64, int64)", inline=True)
def insert_move(frame: StackFrame, first: int, count: int, key: int) -> None:
    """Insert a key into a frame, so that the keys from index `first` to `count` are in descending order."""
    index = count
    while index > first and frame.moves[U(index - 1)] < key:
        frame.moves[U(index)] = frame.moves[U(index - 1)]
        index -= 1
    frame.moves[U(index)] = key


@kernel("int64(uint64, uint64, uint64, int64, int64, StackFrame, AwaleState)", inline=True)
def sort_moves(own: U, opp: U, moves: U, first: int, depth: int, frame: StackFrame, state: AwaleState) -> int:
    """Write moves to a frame in search order, starting at index `first`; return the new number of moves."""
    count = first
    while moves != U(0):
        pit = bit_scan(moves)
        next_own, next_opp, captures = sow(state.game, own, opp, pit)
        if depth >= PREFETCH_FROM_DEPTH:
            prefetch(entry_address(hash_position(next_own, next_opp, state.multipliers), state))
        insert_move(frame, first, count, move_key(priority_of(own, pit, captures, frame, state), pit))
        count += 1
        moves = clear_lowest_bit(moves)
    return count


@kernel("int64(uint64, int64, StackFrame)", inline=True)
def put_first(moves: U, pit: int, frame: StackFrame) -> int:
    """Write a move to an empty frame; return the number of moves in the frame: 1 if the move is legal, otherwise 0."""
    frame.moves[U(0)] = pit
    return popcount(moves & bit(pit))


@kernel("void(uint64, int64, uint64, int64, StackFrame, AwaleState)", inline=True)
def update_history(own: U, pit: int, captures: U, depth: int, frame: StackFrame, state: AwaleState) -> None:
    """Credit a move that caused a cutoff: raise its history value and, if it is quiet, make it the killer move."""
    sowing = sowing_index(own, pit)
    state.history[sowing] = min(state.history[sowing] + depth * depth, MAX_HISTORY)
    if captures == U(0):
        frame.killer = sowing


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("void(AwaleState)", inline=True)
def count_node(state: AwaleState) -> None:
    """Count a visited position, and stop the search at the node limit."""
    state.nodes += 1
    if state.nodes >= state.node_limit:
        state.stop = STOP_BIT


@kernel("boolean(uint64, uint64, int64, AwaleState)", inline=True)
def is_repeated(own: U, opp: U, ply: int, state: AwaleState) -> bool:
    """Write a position to the stack frame of its ply; return whether it has already occurred since the last capture."""
    frame, back = state.stack[U(ply)], MIN_CYCLE_PLIES
    frame.own, frame.opp = own, opp
    while back <= frame.plies_since_capture:
        before = state.stack[U(ply - back)]
        if before.own == own and before.opp == opp:
            return True
        back += 2  # only positions with the same side to move can be equal
    return False


@kernel("void(int64, uint64, AwaleState)", inline=True)
def set_plies_since_capture(ply: int, captures: U, state: AwaleState) -> None:
    """Set the number of plies since the last capture for the child at the next ply."""
    state.stack[U(ply + 1)].plies_since_capture = 0 if captures != U(0) else state.stack[U(ply)].plies_since_capture + 1


@kernel("boolean(int64, int64, uint64, AwaleState)", inline=True)
def can_reduce(index: int, depth: int, captures: U, state: AwaleState) -> bool:
    """Return whether a move is first searched to a reduced depth: if it is late, quiet and far from the horizon."""
    return bool(depth >= state.reduce_from_depth and index >= UNREDUCED_MOVES and captures == U(0))


@kernel("int64(uint64, uint64, int64, int64, int64, int64, AwaleState)")
def search(own: U, opp: U, alpha: int, beta: int, depth: int, ply: int, state: AwaleState) -> int:
    """Search a position; return its value for the mover, fail-soft: exact inside (alpha, beta), a bound outside."""
    # Step 1. Evaluate at the horizon.
    if depth <= state.horizon:
        return evaluate_horizon(own, opp, alpha, beta, depth, state)
    count_node(state)
    # Step 2. Values that need no search: tablebase, end of the game, repetition.
    game, seeds = state.game, count_seeds(own + opp)
    if seeds <= state.tablebase_seeds:
        return SEED_VALUE * probe_tablebase(own, opp, seeds, state.tablebase)
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        return SEED_VALUE * terminal_value(game, own, opp)
    if is_repeated(own, opp, ply, state):
        state.estimates += 1  # the value depends on the path
        return SEED_VALUE * repetition_value(game, own, opp)
    # Step 3. Probe the transposition table: for a value, or at least for a first move.
    key = hash_position(own, opp, state.multipliers)
    entry = probe_tt(key, state)
    frame, index, count, unsorted = state.stack[U(ply)], 0, 0, moves
    if entry != EMPTY_ENTRY:  # the result is the same without this test, but the CPU would wait for the entry
        if allows_cutoff(entry, alpha, beta, depth):
            if entry_depth(entry) != SOLVED_DEPTH:
                state.estimates += 1
            return entry_value(entry)
        count = put_first(moves, entry_pit(entry), frame)
        unsorted = moves & ~bit(entry_pit(entry))
    best, best_pit, floor, estimates = -INFINITY, 0, alpha, state.estimates
    while index < count or unsorted != U(0):
        # Step 4. Search the TT move first; the others are sorted only if it does not cause a cutoff.
        if index == count:
            count, unsorted = sort_moves(own, opp, unsorted, count, depth, frame, state), U(0)
        pit = pit_of(frame.moves[U(index)])
        next_own, next_opp, captures = sow(game, own, opp, pit)
        win = SEED_VALUE * count_seeds(captures)
        low, high = win - beta, win - alpha  # the window from the opponent's view
        if depth - 1 == state.horizon:
            value = win - evaluate_horizon(next_own, next_opp, low, high, depth - 1, state)
        else:
            # Step 5. Search the first move with the full window and the others with null windows.  Late moves are first
            # searched to a reduced depth.  If a value is inside the window, search again with the full window.
            set_plies_since_capture(ply, captures, state)
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
    """Search the given moves at the root: return the value of the best one, and write its pit to `root_best_pit`.

    The first move to be searched is the one that `root_best_pit` contains at the start.  If the search is stopped,
    `root_best_pit` is the best move that was proven better than the first move, or the first move if none was.
    """
    frame, best, floor = state.stack[U(PAST_PLIES)], -INFINITY, alpha
    frame.own, frame.opp = own, opp
    count = put_first(moves, state.root_best_pit, frame)
    count = sort_moves(own, opp, moves & ~bit(state.root_best_pit), count, depth, frame, state)
    for index in range(count):
        pit = pit_of(frame.moves[U(index)])
        next_own, next_opp, captures = sow(state.game, own, opp, pit)
        win = SEED_VALUE * count_seeds(captures)
        low, high = win - beta, win - alpha
        set_plies_since_capture(PAST_PLIES, captures, state)
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
    """Search the root, given the address of the state, which Python passes a hundred times faster than the state."""
    return search_root(own, opp, moves, alpha, beta, depth, awale_state_at(address))


@kernel("int64(uint64, uint64, int64)")
def probe_best_pit(own: U, opp: U, address: int) -> int:
    """Return the best move that the transposition table of a state holds for a position, or NO_PIT."""
    state = awale_state_at(address)
    return entry_pit(probe_tt(hash_position(own, opp, state.multipliers), state))
