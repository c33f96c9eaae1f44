"""Negamax: minimax in half the words, because what is good for one side is bad for the other.

Values are always from the mover's view, so a child's value changes its sign on the way up, and so does the window
of alpha-beta, whose ends change places.  Depth, nodes and leaves are counted as in `minimax`.
"""

from awello.bits import index_of, rest_of
from awello.evaluate.heuristics import EQUALS, INNER, evaluate
from awello.kernel import U, kernel
from awello.memory import load, store
from awello.rules.game import is_over, legal_moves, play
from awello.search.minimax import INFINITY


@kernel("int64(int64, uint64, uint64, int64, int64, int64)")
def negamax(game: int, own: U, opp: U, depth: int, heuristic: int, block: int) -> int:
    """Plain negamax: the value for the mover."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if depth == 0 or over:
        return evaluate(game, heuristic, own, opp, over, block)
    store(block, INNER, load(block, INNER) + 1)
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        return -negamax(game, opp, own, depth - 1, heuristic, block)
    # Step 3. The best of the children.
    best = -INFINITY
    while moves != U(0):
        next_own, next_opp = play(game, own, opp, index_of(moves))
        best = max(best, -negamax(game, next_own, next_opp, depth - 1, heuristic, block))
        moves = rest_of(moves)
    return best


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, int64)")
def alphabeta(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic: int, block: int) -> int:
    """Negamax with alpha-beta, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if depth == 0 or over:
        return evaluate(game, heuristic, own, opp, over, block)
    store(block, INNER, load(block, INNER) + 1)
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        return -alphabeta(game, opp, own, -beta, -alpha, depth - 1, heuristic, block)
    # Step 3. The best of the children, until the opponent would never allow this position.
    best = -INFINITY
    while moves != U(0) and alpha < beta + load(block, EQUALS):
        next_own, next_opp = play(game, own, opp, index_of(moves))
        best = max(best, -alphabeta(game, next_own, next_opp, -beta, -alpha, depth - 1, heuristic, block))
        alpha = max(alpha, best)
        moves = rest_of(moves)
    return best
