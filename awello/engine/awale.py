"""The champion's search for Awalé: principal variation search on the two words, with a table of positions met.

A value counts the seeds still to be won, the mover's less the opponent's, in UNITs of a seed, as the table of solved
endgames does: kernels see the rows without the seeds taken, and play goes past a majority of seeds.  Positions
of few seeds are looked up in that table.  At the horizon captures are played out and the result is judged by a small
learnt network (`evaluate.awale_network`); without it no more captures are expected (DiffScore).  A position that came
before since the last capture ends the game, as the rules of the variant say.  In deep searches quiet moves late in the
order are first searched a ply less deep, and fully only if they look good.

Every use of an estimate counts as a *guess*.  A value that needed none is proved, whatever the depth: the table keeps
it as SOLVED.  The positions on the way to a node are kept whole, in `AwaleState.rows`.
"""

from awello.bits import bit, bit_scan, clear_lowest_bit, popcount
from awello.engine.awale_state import INFINITY, PAST, UNIT, AwaleState, PlyRow, awale_state_at
from awello.engine.awale_transposition_table import (
    EXACT,
    LOWER,
    NOTHING_KNOWN,
    SOLVED,
    UPPER,
    answers,
    entry_depth,
    entry_pit,
    entry_value,
    place_of,
    recall,
    remember,
)
from awello.engine.retrograde import OFFSET, VALUE, rank
from awello.engine.state import HALTED
from awello.engine.transposition_table import hash_of
from awello.evaluate.awale_network import AwaleNetworkWeights, awale_network_weights_at, forward
from awello.kernel import U, kernel
from awello.memory import load8, prefetch
from awello.rules.awale import ABAPA, BYTE, is_stopped, legal_moves, seeds_in, sow

CYCLE = (
    12  # quiet moves before a position can come again, for each pit must have been played: earlier rows are not read
)
EARLY_MOVES = 2  # moves that are never reduced: fewer save nodes but overlook more
PREFETCH_FROM = 3  # the depth from which children's entries are fetched while sorting: below it few are looked up

# The order of moves: a captured seed counts more than the killer, and the killer more than any history.
PER_SEED = 1 << 24
KILLER_BONUS = MOST_HISTORY = 1 << 22


# ---- values without a search ----------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, int64)", inline=True)
def probe(own: U, opp: U, seeds: int, tablebase: int) -> int:
    """The value of a solved endgame of so many seeds, in seeds; how many bytes the table has is known at run time."""
    return int(VALUE[load8(tablebase, U(OFFSET[U(seeds)] + rank(own, opp)))])


@kernel("int64(int64, uint64, uint64)", inline=True)
def left_over(game: int, own: U, opp: U) -> int:
    """What the mover who has no move gets more of the seeds in play than the opponent."""
    return 0 if is_stopped(game, own, opp) else seeds_in(own) - seeds_in(opp)


@kernel("int64(int64, uint64, uint64)", inline=True)
def shared_out(game: int, own: U, opp: U) -> int:
    """What the mover gets more of the seeds in play than the opponent, when a position has come again."""
    return seeds_in(own) - seeds_in(opp) if game == ABAPA else 0


@kernel("int64(uint64, uint64, int64, AwaleNetworkWeights)", inline=True)
def estimate(own: U, opp: U, seeds: int, weights: AwaleNetworkWeights) -> int:
    """What the mover may still expect, by the learnt weights; not more than there is."""
    most = UNIT * seeds
    return max(-most, min(most, forward(own, opp, seeds, weights)))


# ---- the horizon ----------------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, AwaleState)", inline=True)
def last_ply(own: U, opp: U, beta: int, state: AwaleState) -> int:
    """The value when only one more move counts, and of it only what it captures (DiffScore)."""
    game, seeds, nodes, most = state.game, seeds_in(own + opp), 1, 0
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        most = left_over(game, own, opp)
    elif seeds <= state.tablebase_seeds:
        most = probe(own, opp, seeds, state.tablebase)
    else:
        state.guesses += 1
        while moves != U(0) and UNIT * most < beta:
            _, _, prize = sow(game, own, opp, bit_scan(moves))
            most = max(most, seeds_in(prize))
            moves = clear_lowest_bit(moves)
            nodes += 1
    state.nodes += nodes
    return UNIT * most


@kernel("int64(uint64, uint64, int64, int64, AwaleState)")
def play_captures(own: U, opp: U, alpha: int, beta: int, state: AwaleState) -> int:
    """The value at the horizon: the estimate, or a capture and what follows it, whichever is better."""
    game, seeds = state.game, seeds_in(own + opp)
    state.nodes += 1
    if seeds <= state.tablebase_seeds:
        return UNIT * probe(own, opp, seeds, state.tablebase)
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        return UNIT * left_over(game, own, opp)
    state.guesses += 1
    best = estimate(own, opp, seeds, awale_network_weights_at(state.weights))
    while moves != U(0) and best < beta:
        next_own, next_opp, prize = sow(game, own, opp, bit_scan(moves))
        moves = clear_lowest_bit(moves)
        if prize != U(0):
            win, floor = UNIT * seeds_in(prize), max(alpha, best)
            best = max(best, win - play_captures(next_own, next_opp, win - beta, win - floor, state))
    return best


@kernel("int64(uint64, uint64, int64, int64, int64, AwaleState)", inline=True)
def judge(own: U, opp: U, alpha: int, beta: int, depth: int, state: AwaleState) -> int:
    """The value of a position at the horizon."""
    if state.weights != 0:
        return play_captures(own, opp, alpha, beta, state)
    return last_ply(own, opp, beta if depth == 1 else -INFINITY, state)


# ---- the order of moves ---------------------------------------------------------------------------------------------
@kernel("uint64(uint64, int64)", inline=True)
def sowing_of(own: U, pit: int) -> U:
    """The number of a pit and the seeds in it, which the history and the killers are kept for."""
    return U(pit) << U(6) | own >> U(8 * pit) & BYTE


@kernel("int64(int64, int64)", inline=True)
def move_key(promise: int, pit: int) -> int:
    """A move in one number, which sorts by its promise."""
    return promise << 3 | pit


@kernel("int64(int64)", inline=True)
def pit_of(key: int) -> int:
    """The pit of a move key."""
    return key & 7


@kernel("int64(uint64, int64, uint64, PlyRow, AwaleState)", inline=True)
def promise_of(own: U, pit: int, prize: U, row: PlyRow, state: AwaleState) -> int:
    """How early a move should be tried: captures first, then the killer, then by the history of refutations."""
    sowing = sowing_of(own, pit)
    promise = seeds_in(prize) * PER_SEED + state.history[sowing]
    return promise + KILLER_BONUS if row.killer == sowing else promise


@kernel("void(PlyRow, int64, int64, int64)", inline=True)
def insert_move(row: PlyRow, first: int, count: int, key: int) -> None:
    """Insert a key into the moves [first, count) of a row, which are sorted from the largest down."""
    place = count
    while place > first and row.moves[U(place - 1)] < key:
        row.moves[U(place)] = row.moves[U(place - 1)]
        place -= 1
    row.moves[U(place)] = key


@kernel("int64(uint64, uint64, uint64, int64, int64, PlyRow, AwaleState)", inline=True)
def sort_moves(own: U, opp: U, moves: U, first: int, depth: int, row: PlyRow, state: AwaleState) -> int:
    """Write moves into a row in the order in which to try them, from index `first` on; the moves that are now there."""
    count = first
    while moves != U(0):
        pit = bit_scan(moves)
        next_own, next_opp, prize = sow(state.game, own, opp, pit)
        if depth >= PREFETCH_FROM:
            prefetch(place_of(hash_of(next_own, next_opp, state.multipliers), state))
        insert_move(row, first, count, move_key(promise_of(own, pit, prize, row, state), pit))
        count += 1
        moves = clear_lowest_bit(moves)
    return count


@kernel("int64(uint64, int64, PlyRow)", inline=True)
def put_first(moves: U, pit: int, row: PlyRow) -> int:
    """Write a move into a row before all others, if it is legal; the number of moves that are there then, 1 or 0."""
    row.moves[U(0)] = pit
    return popcount(moves & bit(pit))


@kernel("void(uint64, int64, uint64, int64, PlyRow, AwaleState)", inline=True)
def note_refutation(own: U, pit: int, prize: U, depth: int, row: PlyRow, state: AwaleState) -> None:
    """Let a move that refuted a position be tried earlier in others; deep refutations save more, so they count more."""
    sowing = sowing_of(own, pit)
    state.history[sowing] = min(state.history[sowing] + depth * depth, MOST_HISTORY)
    if prize == U(0):
        row.killer = sowing


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("void(AwaleState)", inline=True)
def count_node(state: AwaleState) -> None:
    """One more position visited; a thread that has visited enough stops."""
    state.nodes += 1
    if state.nodes >= state.limit:
        state.stop = HALTED


@kernel("boolean(uint64, uint64, int64, AwaleState)", inline=True)
def is_repeated(own: U, opp: U, ply: int, state: AwaleState) -> bool:
    """Note the position of a ply; whether it came before since the last capture."""
    row, back = state.rows[U(ply)], CYCLE
    row.own, row.opp = own, opp
    while back <= row.quiet_moves:
        before = state.rows[U(ply - back)]
        if before.own == own and before.opp == opp:
            return True
        back += 2  # the same side is to move
    return False


@kernel("void(int64, uint64, AwaleState)", inline=True)
def enter_child(ply: int, prize: U, state: AwaleState) -> None:
    """Count the quiet moves that lead to the position after a move of this ply."""
    state.rows[U(ply + 1)].quiet_moves = 0 if prize != U(0) else state.rows[U(ply)].quiet_moves + 1


@kernel("boolean(int64, int64, uint64, AwaleState)", inline=True)
def may_reduce(index: int, depth: int, prize: U, state: AwaleState) -> bool:
    """Whether a move is quiet and late in the order, so that a search a ply less deep may refute it."""
    return bool(depth >= state.reduce_from_depth and index >= EARLY_MOVES and prize == U(0))


@kernel("int64(uint64, uint64, int64, int64, int64, int64, AwaleState)")
def search(own: U, opp: U, alpha: int, beta: int, depth: int, ply: int, state: AwaleState) -> int:
    """The value for the mover within a depth, fail-soft: exact inside (alpha, beta), outside it a bound."""
    # Step 1. The horizon.
    if depth <= state.horizon:
        return judge(own, opp, alpha, beta, depth, state)
    count_node(state)
    # Step 2. Values that need no search: a solved endgame, the end of the game, a repetition.
    game, seeds = state.game, seeds_in(own + opp)
    if seeds <= state.tablebase_seeds:
        return UNIT * probe(own, opp, seeds, state.tablebase)
    moves = legal_moves(game, own, opp)
    if moves == U(0):
        return UNIT * left_over(game, own, opp)
    if is_repeated(own, opp, ply, state):
        state.guesses += 1  # on another way here the value would be another
        return UNIT * shared_out(game, own, opp)
    # Step 3. The transposition table: a value, or at least the move to try first.
    key = hash_of(own, opp, state.multipliers)
    entry = recall(key, state)
    row, index, count, unsorted = state.rows[U(ply)], 0, 0, moves
    if entry != NOTHING_KNOWN:  # a branch, so that the processor need not wait for the entry to go on
        if answers(entry, alpha, beta, depth):
            if entry_depth(entry) != SOLVED:
                state.guesses += 1
            return entry_value(entry)
        count = put_first(moves, entry_pit(entry), row)
        unsorted = moves & ~bit(entry_pit(entry))
    best, best_pit, floor, guesses = -INFINITY, 0, alpha, state.guesses
    while index < count or unsorted != U(0):
        # Step 4. The known move comes first; the others are sorted only if it does not suffice.
        if index == count:
            count, unsorted = sort_moves(own, opp, unsorted, count, depth, row, state), U(0)
        pit = pit_of(row.moves[U(index)])
        next_own, next_opp, prize = sow(game, own, opp, pit)
        win = UNIT * seeds_in(prize)
        low, high = win - beta, win - alpha  # the window as the opponent sees it
        if depth - 1 == state.horizon:
            value = win - judge(next_own, next_opp, low, high, depth - 1, state)
        else:
            # Step 5. The first move is searched in the whole window.  Of the others a search in a window of width one
            # asks whether they are better, for late moves first a ply less deep; only then they get the whole window.
            enter_child(ply, prize, state)
            value = alpha + 1
            if index > 0 and may_reduce(index, depth, prize, state):
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
            note_refutation(own, pit, prize, depth, row, state)
            break
    # Step 6. Remember.
    bound = LOWER if best >= beta else UPPER if best <= floor else EXACT
    remember(key, best, bound, SOLVED if state.guesses == guesses else depth, best_pit, state)
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, AwaleState)")
def search_root(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, state: AwaleState) -> int:
    """The value of the best of these moves, which is left in the state; the one that is there is tried first.

    If it is stopped, the state holds a move that is proved to be better than the first, or still the first.
    """
    row, best, floor = state.rows[U(PAST)], -INFINITY, alpha
    row.own, row.opp = own, opp
    count = put_first(moves, state.best_pit, row)
    count = sort_moves(own, opp, moves & ~bit(state.best_pit), count, depth, row, state)
    for index in range(count):
        pit = pit_of(row.moves[U(index)])
        next_own, next_opp, prize = sow(state.game, own, opp, pit)
        win = UNIT * seeds_in(prize)
        low, high = win - beta, win - alpha
        enter_child(PAST, prize, state)
        value = alpha + 1
        if index > 0:
            value = win - search(next_own, next_opp, high - 1, high, depth - 1, PAST + 1, state)
        if index == 0 or alpha < value < beta:
            value = win - search(next_own, next_opp, low, high, depth - 1, PAST + 1, state)
        if state.stop != U(0):
            return 0
        if value > best:
            if index == 0 or value > floor:
                state.best_pit = pit
            best, alpha = value, max(alpha, value)
        if best >= beta:
            break
    return best


@kernel("int64(uint64, uint64, uint64, int64, int64, int64, int64)")
def search_root_at(own: U, opp: U, moves: U, alpha: int, beta: int, depth: int, address: int) -> int:
    """Search the root with the state at an address, which Python passes a hundred times faster than a record."""
    return search_root(own, opp, moves, alpha, beta, depth, awale_state_at(address))


@kernel("int64(uint64, uint64, int64)")
def stored_pit(own: U, opp: U, address: int) -> int:
    """The best move that the table of the state at an address knows for a position, or NONE."""
    state = awale_state_at(address)
    return entry_pit(recall(hash_of(own, opp, state.multipliers), state))
