"""Minimax: one player maximises the value of the game, the other minimises it (Shannon 1950).

Values are from the view of the player who maximises, wherever in the tree.  With alpha-beta (Knuth and Moore
1975), a window says what is already certain: the maximiser has at least `alpha` elsewhere, the minimiser concedes
at most `beta`; a branch is left as soon as its value reaches the other side's end.  (Report 0 leaves it only beyond
that end, and so goes on searching among equals; a slot of the block repeats this, to repeat its figures.)

Depth counts plies, and a pass is a ply.  A *node* is every position visited, the root included; a *leaf* is a node
whose value is not taken from children: at the horizon, or at the end of the game.
"""

from awello.bits import index_of, rest_of
from awello.evaluate.heuristics import EQUALS, INNER, evaluate
from awello.kernel import U, kernel
from awello.memory import load, store
from awello.rules.game import is_over, legal_moves, play

INFINITY = 1 << 40


@kernel("int64(int64, uint64, uint64, int64, boolean, int64, int64)")
def minimax(game: int, own: U, opp: U, depth: int, maximising: bool, heuristic: int, block: int) -> int:
    """Plain minimax: the value for the maximiser."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if depth == 0 or over:
        value = evaluate(game, heuristic, own, opp, over, block)
        return value if maximising else -value
    store(block, INNER, load(block, INNER) + 1)
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        return minimax(game, opp, own, depth - 1, not maximising, heuristic, block)
    # Step 3. The best of the children, for whoever chooses here.
    best = -INFINITY if maximising else INFINITY
    while moves != U(0):
        next_own, next_opp = play(game, own, opp, index_of(moves))
        value = minimax(game, next_own, next_opp, depth - 1, not maximising, heuristic, block)
        best = max(best, value) if maximising else min(best, value)
        moves = rest_of(moves)
    return best


@kernel("int64(int64, uint64, uint64, int64, int64, int64, boolean, int64, int64)")
def alphabeta(
    game: int, own: U, opp: U, alpha: int, beta: int, depth: int, maximising: bool, heuristic: int, block: int
) -> int:
    """Minimax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if depth == 0 or over:
        value = evaluate(game, heuristic, own, opp, over, block)
        return value if maximising else -value
    store(block, INNER, load(block, INNER) + 1)
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        return alphabeta(game, opp, own, alpha, beta, depth - 1, not maximising, heuristic, block)
    # Step 3. The best of the children, until the other side would not let it come to this.
    best = -INFINITY if maximising else INFINITY
    while moves != U(0) and alpha < beta + load(block, EQUALS):
        next_own, next_opp = play(game, own, opp, index_of(moves))
        value = alphabeta(game, next_own, next_opp, alpha, beta, depth - 1, not maximising, heuristic, block)
        if maximising:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        moves = rest_of(moves)
    return best
