"""Alpha-beta on a budget of nodes, with moves tried in an order that it learns (report 1, section 3.4).

A fixed depth costs much where there are many moves and little where there are few.  Here a position is given a budget
instead: it takes one node for itself and divides the rest among its children, each of which gets `delta` times its
even share, because alpha-beta will skip some of them.  A position whose budget is below 1 is a leaf.  So lines with few
choices are looked at further.

Moves fall into the *kinds* of `ppaf`, and each kind has a score, the higher the earlier it is tried.  When the move at
index `i` raises the value of a position, its kind gains `i` and each kind tried before it loses 1; when it causes a
cut, the same once more.  The scores last from one search to the next.

Leaves lie at different depths, so whether the opponent is to move at a leaf is told to the heuristic there.  Nodes and
leaves are counted as in `negamax`.
"""

from awello.bits import index_of, popcount, rest_of
from awello.evaluate.heuristics import BLOCK, DIFFSCORE, INNER, LEAVES, MIRRORED, evaluate
from awello.kernel import U, kernel
from awello.memory import load, store
from awello.rules.game import is_over, legal_moves, play
from awello.search.negamax import INFINITY
from awello.search.ppaf import kind_of

# More slots of the block: delta in thousandths, or 0 where the budget is a depth; how moves are ordered and the address
# of the scores; nodes after which the search gives up; the deepest ply seen; then a row of moves for each ply.
# An entry of a row is the score, then 63 - move so that equals are tried as they come, then the kind.
DELTA, ORDER, SCORES, LIMIT, REACHED = range(BLOCK, BLOCK + 5)
ROWS = BLOCK + 5
ROW = 64  # moves, as many as there are squares: boards that no game reaches have more than 33
DEEPEST = 128  # plies, for lines without a choice
WORDS = ROWS + ROW * DEEPEST

NONE, FROZEN, LIVE = range(3)  # moves as they come; by scores; by scores that learn


@kernel("float64(float64, int64, int64)", inline=True)
def share(budget: float, children: int, block: int) -> float:
    """What each child gets of a budget."""
    delta = load(block, DELTA)
    if delta == 0:
        return budget - 1.0
    return min((budget - 1.0) * delta / (1000.0 * children), budget - 1.0)


@kernel("void(int64, uint64, uint64, uint64, int64, int64)")
def list_moves(game: int, own: U, opp: U, moves: U, ply: int, block: int) -> None:
    """Write the moves to the row of this ply: numbers that are the larger the earlier a move should be tried."""
    order, scores = load(block, ORDER), load(block, SCORES)
    place = ROWS + ROW * ply
    while moves != U(0):
        move = index_of(moves)
        entry = (63 - move) << 16
        if order != NONE:
            kind = kind_of(game, own, opp, move)
            entry += load(scores, kind) << 24 | kind
        store(block, place, entry)
        place += 1
        moves = rest_of(moves)


@kernel("int64(int64, int64, int64, int64)", inline=True)
def pick(index: int, count: int, ply: int, block: int) -> int:
    """The next move to try, brought to this place of the row: the largest entry from here on."""
    row = ROWS + ROW * ply
    first = load(block, row + index)
    best, chosen = first, index
    if load(block, ORDER) != NONE:
        for other in range(index + 1, count):
            entry = load(block, row + other)
            if entry > best:
                best, chosen = entry, other
        store(block, row + chosen, first)
        store(block, row + index, best)
    return 63 - (best >> 16 & 63)


@kernel("void(int64, int64, int64)")
def learn(index: int, ply: int, block: int) -> None:
    """The move at this place was better than those before it: so should its kind have been."""
    row, scores = ROWS + ROW * ply, load(block, SCORES)
    for place in range(row, row + index):
        kind = load(block, place) & 0xFFFF
        store(scores, kind, load(scores, kind) - 1)
    kind = load(block, row + index) & 0xFFFF
    store(scores, kind, load(scores, kind) + index)


@kernel("boolean(int64)", inline=True)
def is_spent(block: int) -> bool:
    """Whether the search has visited as many nodes as it may; its values then mean nothing."""
    return load(block, INNER) + load(block, LEAVES) >= load(block, LIMIT)


@kernel("int64(int64, uint64, uint64, int64, int64, float64, int64, int64, int64)")
def search(
    game: int, own: U, opp: U, alpha: int, beta: int, budget: float, ply: int, heuristic: int, block: int
) -> int:
    """Negamax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the budget is spent, or the game is over.  The root player moves at even plies.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if budget < 1.0 or ply >= DEEPEST or over:
        store(block, REACHED, max(ply, load(block, REACHED)))
        if heuristic > DIFFSCORE:
            store(block, MIRRORED, ply & 1)
        return evaluate(game, heuristic, own, opp, over, block)
    store(block, INNER, load(block, INNER) + 1)
    # Step 2. Pass: the sides swap, an only child gets all that is left.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, budget - 1.0, ply + 1, heuristic, block)
    # Step 3. The moves in order, each on its share, until the opponent would never allow this position.
    children, live = popcount(moves), load(block, ORDER) == LIVE
    budget = share(budget, children, block)
    list_moves(game, own, opp, moves, ply, block)
    best = -INFINITY
    for index in range(children):
        next_own, next_opp = play(game, own, opp, pick(index, children, ply, block))
        value = -search(game, next_own, next_opp, -beta, -alpha, budget, ply + 1, heuristic, block)
        if is_spent(block):
            return best
        # Step 4. A better move than those before it: the order learns, twice if it is good enough to stop.
        if value > best:
            best = value
            if live:
                learn(index, ply, block)
            if best >= beta:
                if live:
                    learn(index, ply, block)
                break
            alpha = max(alpha, best)
    return best
