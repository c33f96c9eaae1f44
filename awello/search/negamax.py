"""Minimax with alpha-beta, written as negamax: what is good for one side is bad for the other.

In *minimax* (Shannon 1950) one player maximises the value of the game and the other minimises it.  *Negamax* says the
same with one function: values are from the mover's view, so a child's value changes its sign on the way up.  With
*alpha-beta* (Knuth and Moore 1975) a window says what is already certain: the mover has at least `alpha` elsewhere, the
opponent concedes at most `beta`; a branch is left as soon as its value reaches `beta`.  In the child the ends of the
window change their signs and places.

How far a value must exceed `beta` for a cut stands in the block: 0 is alpha-beta, 1 searches on among equals as report
0 does, and `NEVER` is plain minimax, which sees every line.

Depth counts plies, and a pass is a ply.  A *node* is every position visited, the root included; a *leaf* is a node
whose value is not taken from children: at the horizon, or at the end of the game.
"""

from awello.bits import index_of, rest_of
from awello.evaluate.heuristics import CUT_MARGIN, INNER, evaluate
from awello.kernel import U, kernel
from awello.memory import load, store
from awello.rules.game import is_over, legal_moves, play

INFINITY = 1 << 40
NEVER = 4 * INFINITY  # the margin of a search without cuts


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, int64)")
def search(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic: int, block: int) -> int:
    """The value for the mover, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if depth == 0 or over:
        return evaluate(game, heuristic, own, opp, over, block)
    store(block, INNER, load(block, INNER) + 1)
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, depth - 1, heuristic, block)
    # Step 3. The best of the children, until the opponent would never allow this position.
    best = -INFINITY
    while moves != U(0) and alpha < beta + load(block, CUT_MARGIN):
        next_own, next_opp = play(game, own, opp, index_of(moves))
        best = max(best, -search(game, next_own, next_opp, -beta, -alpha, depth - 1, heuristic, block))
        alpha = max(alpha, best)
        moves = rest_of(moves)
    return best
