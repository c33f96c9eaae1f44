"""Alpha-beta with a transposition table, move ordering, and skipping of mirror images.

The transposition table stores the results of searched positions and has a fixed size.  A player keeps its table from
move to move.  If the entry of a position has the depth that is needed now, it can replace the search; an entry of
another depth only supplies the move to try first.  The other moves are tried in the order of the heuristic's estimates.
A child that is a mirror image (a reflection or rotation) of a child already searched has the same value and is
skipped.  These techniques do not change the value of a position, only the number of nodes.  `awello lab complexity`
measures how many nodes each of them saves.
"""

from typing import Annotated

from awello.bits import bit_scan, clear_lowest_bit, to_signed
from awello.evaluate.heuristics import HeuristicState, estimate, evaluate
from awello.kernel import U, kernel
from awello.layout import Int16, Int32, Layout, UInt8, record_at
from awello.rules.game import is_over, legal_moves, play
from awello.rules.othello import canonical
from awello.search.negamax import INFINITY
from awello.search.negamax import search as negamax_search

MAX_DEPTH = 64  # plies: a game of Othello has 60 moves, plus passes
MAX_MOVES = 64  # one per square: positions of a game have at most 33 moves, but edited boards can have more
BOUND_LOWER, BOUND_UPPER, BOUND_EXACT = 1, 2, 3  # how an entry bounds the value: at least, at most, exactly
NO_TT_MOVE = -1  # the table has no entry for the position
TT_MOVE_KEY = 1 << 30  # the sort key of the TT move, above the estimate of any move
# Odd multipliers with random-looking bits spread similar boards over the table: 2^64 divided by the golden ratio, and
# the multipliers of two hash functions (xxHash, SplitMix64).  The third is for a second multiplication, after the high
# bits are mixed into the low ones.
MIX_OWN, MIX_OPP, MIX_ROUND = U(0x9E3779B97F4A7C15), U(0xC2B2AE3D27D4EB4F), U(0xBF58476D1CE4E5B9)
MIX_OFFSET = U(0x7F4A7C15)  # added to the opponent's word, because 0 times a multiplier would be 0
INDEX_SHIFT = U(29)  # the index is taken from the middle bits: the low bits of a product depend on few input bits


class AlphaBetaEntry(Layout):
    """An entry of the transposition table.

    An entry of zeros is empty, because a board without discs is never searched.
    """

    own: U
    opp: U
    value: Int32
    depth: UInt8  # plies searched
    bound: UInt8  # BOUND_LOWER, BOUND_UPPER or BOUND_EXACT
    move: Int16  # the best move


class AlphaBetaMove(Layout):
    """A move and its sort key: moves with larger keys are tried first."""

    key: Int32
    move: Int32


class CanonicalBoard(Layout):
    """The representative of a board and its mirror images."""

    own: U
    opp: U


class AlphaBetaPly(Layout):
    """The ordered moves at one ply, and the canonical boards of the children searched so far."""

    moves: Annotated[list[AlphaBetaMove], MAX_MOVES]
    children: Annotated[list[CanonicalBoard], MAX_MOVES]


class AlphaBetaState(Layout):
    """The state of a search, including the techniques that are switched on."""

    evaluation: HeuristicState
    tt: int  # the address of the first `AlphaBetaEntry`; 0 without a table
    tt_mask: int  # the number of entries, a power of two, minus 1
    plies: Annotated[list[AlphaBetaPly], MAX_DEPTH + 1]  # by remaining depth
    move_ordering: bool  # whether the heuristic orders the moves
    skip_mirrors: bool  # whether mirror images are skipped


alpha_beta_entry_at = record_at(AlphaBetaEntry)
alpha_beta_state_at = record_at(AlphaBetaState)
ENTRY_BYTES = AlphaBetaEntry.dtype.itemsize


# ---- the transposition table ----------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, AlphaBetaState)")
def entry_address(own: U, opp: U, state: AlphaBetaState) -> int:
    """Return the address of the entry where a position is stored."""
    mixed = own * MIX_OWN ^ (opp + MIX_OFFSET) * MIX_OPP
    mixed = (mixed ^ mixed >> U(32)) * MIX_ROUND
    return state.tt + ENTRY_BYTES * (to_signed(mixed >> INDEX_SHIFT) & state.tt_mask)


@kernel("int64(uint64, uint64, AlphaBetaState)")
def probe_tt(own: U, opp: U, state: AlphaBetaState) -> int:
    """Return the address of the entry that holds a position, or 0."""
    if state.tt == 0:
        return 0
    address = entry_address(own, opp, state)
    entry = alpha_beta_entry_at(address)
    return address if entry.own == own and entry.opp == opp else 0


@kernel("boolean(AlphaBetaEntry, int64, int64, int64)", inline=True)
def allows_cutoff(entry: AlphaBetaEntry, alpha: int, beta: int, depth: int) -> bool:
    """Return whether an entry makes a search with this window and depth unnecessary."""
    if entry.depth != depth:
        return False
    if entry.bound == BOUND_EXACT:
        return True
    return bool(entry.value >= beta if entry.bound == BOUND_LOWER else entry.value <= alpha)


@kernel("void(uint64, uint64, int64, int64, int64, int64, int64, AlphaBetaState)")
def store_tt(own: U, opp: U, value: int, alpha: int, beta: int, depth: int, move: int, state: AlphaBetaState) -> None:
    """Store the result of a search with this window, replacing the previous entry."""
    if state.tt == 0:
        return
    entry = alpha_beta_entry_at(entry_address(own, opp, state))
    entry.own, entry.opp, entry.value = own, opp, value
    entry.bound = BOUND_LOWER if value >= beta else BOUND_UPPER if value <= alpha else BOUND_EXACT
    entry.depth, entry.move = depth, move


# ---- move ordering --------------------------------------------------------------------------------------------------
@kernel("void(AlphaBetaPly, int64, int64, int64)", inline=True)
def insert_move(ply: AlphaBetaPly, count: int, key: int, move: int) -> None:
    """Insert a move into a list sorted by descending keys, after moves with the same key."""
    index = count
    while index > 0 and ply.moves[U(index - 1)].key < key:
        ply.moves[U(index)] = ply.moves[U(index - 1)]
        index -= 1
    entry = ply.moves[U(index)]
    entry.key, entry.move = key, move


@kernel("int64(int64, uint64, uint64, uint64, int64, int64, AlphaBetaPly, AlphaBetaState)")
def list_moves(
    game: int, own: U, opp: U, moves: U, tt_move: int, heuristic_id: int, ply: AlphaBetaPly, state: AlphaBetaState
) -> int:
    """Write the moves to the ply in search order, the TT move first, and return their number."""
    count = 0
    while moves != U(0):
        move, key = bit_scan(moves), 0
        if move == tt_move:
            key = TT_MOVE_KEY
        elif state.move_ordering:
            next_own, next_opp = play(game, own, opp, move)
            key = -estimate(game, heuristic_id, next_own, next_opp, state.evaluation)
        insert_move(ply, count, key, move)
        count += 1
        moves = clear_lowest_bit(moves)
    return count


@kernel("boolean(uint64, uint64, int64, AlphaBetaPly)")
def is_mirrored(own: U, opp: U, searched: int, ply: AlphaBetaPly) -> bool:
    """Return whether a child is a mirror image of a child searched before; if not, record the child."""
    canonical_own, canonical_opp = canonical(own, opp)
    for index in range(searched):
        child = ply.children[U(index)]
        if child.own == canonical_own and child.opp == canonical_opp:
            return True
    child = ply.children[U(searched)]
    child.own, child.opp = canonical_own, canonical_opp
    return False


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, AlphaBetaState)")
def search(
    game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic_id: int, state: AlphaBetaState
) -> int:
    """Search a position; return its value for the mover, fail-soft: exact inside (alpha, beta), a bound outside."""
    # Step 1. The last ply, where the table and the ordering do not pay off, and the end of the game.
    if depth <= 1:
        return negamax_search(game, own, opp, alpha, beta, depth, heuristic_id, state.evaluation)
    moves = legal_moves(game, own, opp)
    if moves == U(0) and is_over(game, own, opp):
        return evaluate(game, heuristic_id, own, opp, True, state.evaluation)
    state.evaluation.inner_nodes += 1
    # Step 2. Pass: swap the sides; a pass counts as a ply.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, depth - 1, heuristic_id, state)
    # Step 3. Probe the table for a value of the same depth, or at least for the move to try first.
    address, tt_move = probe_tt(own, opp, state), NO_TT_MOVE
    if address != 0:
        entry = alpha_beta_entry_at(address)
        if allows_cutoff(entry, alpha, beta, depth):
            return int(entry.value)
        tt_move = int(entry.move)
    # Step 4. Search the moves in order, skipping mirror images; stop as soon as the opponent would avoid this position.
    ply = state.plies[U(depth)]
    count = list_moves(game, own, opp, moves, tt_move, heuristic_id, ply, state)
    best, best_move, floor, searched = -INFINITY, NO_TT_MOVE, alpha, 0
    for index in range(count):
        move = int(ply.moves[U(index)].move)
        next_own, next_opp = play(game, own, opp, move)
        if state.skip_mirrors and is_mirrored(next_own, next_opp, searched, ply):
            continue
        searched += 1
        value = -search(game, next_own, next_opp, -beta, -alpha, depth - 1, heuristic_id, state)
        if value > best:
            best, best_move = value, move
            alpha = max(alpha, best)
        if alpha >= beta + state.evaluation.cutoff_margin:
            break
    # Step 5. Store the result.
    store_tt(own, opp, best, floor, beta, depth, best_move, state)
    return best


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, int64)")
def search_at(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic_id: int, address: int) -> int:
    """Search with the state at an address: Python passes an integer faster than a record."""
    return search(game, own, opp, alpha, beta, depth, heuristic_id, alpha_beta_state_at(address))
