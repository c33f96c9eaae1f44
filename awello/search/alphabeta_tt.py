"""Alpha-beta that uses what it knows: a memory kept from move to move, moves sorted beforehand, mirror images.

The memory is a table of positions met, bounded in size: a player fills it during a game and never sees the other
player's.  A value searched to the same depth is taken over; from any other depth the best move is tried first.
Sorting tries first the moves that the heuristic likes best.  A child that is a mirror image of one already
searched has the same value and is skipped.  None of this changes the value of a position, only the number of nodes:
`awello lab complexity` measures how much each saves.
"""

from typing import Annotated

from awello.bits import clear_lowest_bit, index_of, signed
from awello.evaluate.heuristics import HeuristicState, estimate, evaluate
from awello.kernel import U, kernel
from awello.layout import Int16, Int32, Layout, UInt8, record_at
from awello.rules.game import is_over, legal_moves, play
from awello.rules.othello import canonical
from awello.search.negamax import INFINITY
from awello.search.negamax import search as negamax_search

MAX_DEPTH = 64  # plies: a game of Othello has 60 moves, and passes
MAX_MOVES = 64  # as many as there are squares: boards that no game reaches have more than 33
LOWER, UPPER, EXACT = 1, 2, 3  # what the table knows of a value: it is at least this, at most this, or this
NO_MOVE = -1  # the table knows none
TT_MOVE_KEY = 1 << 30  # the key of the move that is tried first: above the estimate of any move
# Odd multipliers whose bits look random, so that similar boards are spread over the table: 2^64 divided by the golden
# ratio, and two that hash functions use (xxHash, SplitMix64).  The last one lets high bits act on the middle ones.
MIX_OWN, MIX_OPP, MIX_ROUND = U(0x9E3779B97F4A7C15), U(0xC2B2AE3D27D4EB4F), U(0xBF58476D1CE4E5B9)
MIX_OFFSET = U(0x7F4A7C15)  # so that a word of 0 has bits to multiply
INDEX_SHIFT = U(29)  # the index comes from the middle, because a product's low bits depend on few bits of the words


class AlphaBetaEntry(Layout):
    """An entry of the table; one of zeros holds no position, because no search comes to a board without discs."""

    own: U
    opp: U
    value: Int32
    depth: UInt8  # plies to which the value was searched
    bound: UInt8  # LOWER, UPPER or SAME
    move: Int16  # the best one found


class AlphaBetaMove(Layout):
    """A move and its key: the larger, the earlier it is tried."""

    key: Int32
    move: Int32


class CanonicalBoard(Layout):
    """The one of a board's mirror images that stands for all of them."""

    own: U
    opp: U


class AlphaBetaPly(Layout):
    """What the search notes at one ply: the moves in order, and the images of the children searched so far."""

    moves: Annotated[list[AlphaBetaMove], MAX_MOVES]
    children: Annotated[list[CanonicalBoard], MAX_MOVES]


class AlphaBetaState(Layout):
    """The memory of a search, and the three switches of what it uses."""

    evaluation: HeuristicState
    tt: int  # the address of the first `AlphaBetaEntry`, whose number players choose; 0 without a table
    tt_mask: int  # entries less 1; their number is a power of two
    plies: Annotated[list[AlphaBetaPly], MAX_DEPTH + 1]  # by the depth that is left
    sort_moves: bool  # whether moves are sorted by the heuristic
    skip_mirrors: bool  # whether mirror images are skipped


alpha_beta_entry_at = record_at(AlphaBetaEntry)
alpha_beta_state_at = record_at(AlphaBetaState)
ENTRY_BYTES = AlphaBetaEntry.dtype.itemsize


# ---- the table ------------------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, AlphaBetaState)")
def entry_address(own: U, opp: U, state: AlphaBetaState) -> int:
    """The address of the entry where a position is remembered."""
    mixed = own * MIX_OWN ^ (opp + MIX_OFFSET) * MIX_OPP
    mixed = (mixed ^ mixed >> U(32)) * MIX_ROUND
    return state.tt + ENTRY_BYTES * (signed(mixed >> INDEX_SHIFT) & state.tt_mask)


@kernel("int64(uint64, uint64, AlphaBetaState)")
def probe(own: U, opp: U, state: AlphaBetaState) -> int:
    """The address of the entry that holds a position, or 0."""
    if state.tt == 0:
        return 0
    place = entry_address(own, opp, state)
    entry = alpha_beta_entry_at(place)
    return place if entry.own == own and entry.opp == opp else 0


@kernel("boolean(AlphaBetaEntry, int64, int64, int64)", inline=True)
def allows_cutoff(entry: AlphaBetaEntry, alpha: int, beta: int, depth: int) -> bool:
    """Whether the value of an entry answers a search of this depth and window."""
    if entry.depth != depth:
        return False
    if entry.bound == EXACT:
        return True
    return bool(entry.value >= beta if entry.bound == LOWER else entry.value <= alpha)


@kernel("void(uint64, uint64, int64, int64, int64, int64, int64, AlphaBetaState)")
def store(own: U, opp: U, value: int, alpha: int, beta: int, depth: int, move: int, state: AlphaBetaState) -> None:
    """Write down what a search of this window found, over whatever was there."""
    if state.tt == 0:
        return
    entry = alpha_beta_entry_at(entry_address(own, opp, state))
    entry.own, entry.opp, entry.value = own, opp, value
    entry.bound = LOWER if value >= beta else UPPER if value <= alpha else EXACT
    entry.depth, entry.move = depth, move


# ---- the order of moves ---------------------------------------------------------------------------------------------
@kernel("void(AlphaBetaPly, int64, int64, int64)", inline=True)
def insert_move(ply: AlphaBetaPly, count: int, key: int, move: int) -> None:
    """Put a move into a list of so many that is sorted by falling keys, behind its equals."""
    place = count
    while place > 0 and ply.moves[U(place - 1)].key < key:
        ply.moves[U(place)] = ply.moves[U(place - 1)]
        place -= 1
    entry = ply.moves[U(place)]
    entry.key, entry.move = key, move


@kernel("int64(int64, uint64, uint64, uint64, int64, int64, AlphaBetaPly, AlphaBetaState)")
def list_moves(
    game: int, own: U, opp: U, moves: U, first: int, heuristic: int, ply: AlphaBetaPly, state: AlphaBetaState
) -> int:
    """List the moves of a ply, `first` before all, the others sorted if asked for; their number."""
    count = 0
    while moves != U(0):
        move, key = index_of(moves), 0
        if move == first:
            key = TT_MOVE_KEY
        elif state.sort_moves:
            next_own, next_opp = play(game, own, opp, move)
            key = -estimate(game, heuristic, next_own, next_opp, state.evaluation)
        insert_move(ply, count, key, move)
        count += 1
        moves = clear_lowest_bit(moves)
    return count


@kernel("boolean(uint64, uint64, int64, AlphaBetaPly)")
def is_mirrored(own: U, opp: U, searched: int, ply: AlphaBetaPly) -> bool:
    """Whether a child is the mirror image of one of those searched before; notes its own image."""
    image_own, image_opp = canonical(own, opp)
    for index in range(searched):
        image = ply.children[U(index)]
        if image.own == image_own and image.opp == image_opp:
            return True
    image = ply.children[U(searched)]
    image.own, image.opp = image_own, image_opp
    return False


# ---- the search -----------------------------------------------------------------------------------------------------
@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, AlphaBetaState)")
def search(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic: int, state: AlphaBetaState) -> int:
    """Negamax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. The last ply: nothing is worth knowing there.  The end of the game.
    if depth <= 1:
        return negamax_search(game, own, opp, alpha, beta, depth, heuristic, state.evaluation)
    moves = legal_moves(game, own, opp)
    if moves == U(0) and is_over(game, own, opp):
        return evaluate(game, heuristic, own, opp, True, state.evaluation)
    state.evaluation.inner_nodes += 1
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, depth - 1, heuristic, state)
    # Step 3. What the table knows: a value of the same depth, or at least a first move.
    known, first = probe(own, opp, state), NO_MOVE
    if known != 0:
        entry = alpha_beta_entry_at(known)
        if allows_cutoff(entry, alpha, beta, depth):
            return int(entry.value)
        first = int(entry.move)
    # Step 4. Each move in order, but for mirror images, until the opponent would never allow this position.
    ply = state.plies[U(depth)]
    count = list_moves(game, own, opp, moves, first, heuristic, ply, state)
    best, best_move, floor, searched = -INFINITY, NO_MOVE, alpha, 0
    for index in range(count):
        move = int(ply.moves[U(index)].move)
        next_own, next_opp = play(game, own, opp, move)
        if state.skip_mirrors and is_mirrored(next_own, next_opp, searched, ply):
            continue
        searched += 1
        value = -search(game, next_own, next_opp, -beta, -alpha, depth - 1, heuristic, state)
        if value > best:
            best, best_move = value, move
            alpha = max(alpha, best)
        if alpha >= beta + state.evaluation.cut_margin:
            break
    # Step 5. Remember.
    store(own, opp, best, floor, beta, depth, best_move, state)
    return best


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, int64)")
def search_at(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic: int, address: int) -> int:
    """Search with the state at an address, which Python passes faster than a record."""
    return search(game, own, opp, alpha, beta, depth, heuristic, alpha_beta_state_at(address))
