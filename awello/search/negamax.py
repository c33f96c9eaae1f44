"""Minimax with alpha-beta, written as negamax: what is good for one side is bad for the other.

In *minimax* (Shannon 1950) one player maximises the value of the game and the other minimises it.  *Negamax* says the
same with one function: values are from the mover's view, so a child's value changes its sign on the way up.  With
*alpha-beta* (Knuth and Moore 1975) a window says what is already certain: the mover has at least `alpha` elsewhere, the
opponent concedes at most `beta`; a branch is left as soon as its value reaches `beta`.  In the child the ends of the
window change their signs and places.

How far a value must exceed `beta` for a cut is a setting, `cut_margin`: 0 is alpha-beta, 1 searches on among equals as
report 0 does, and `NEVER` is plain minimax, which sees every line.

Depth counts plies, and a pass is a ply.  A *node* is every position visited, the root included; a *leaf* is a node
whose value is not taken from children: at the horizon, or at the end of the game.
"""

from awello.bits import clear_lowest_bit, index_of
from awello.evaluate.heuristics import HeuristicState, evaluate, heuristic_state_at
from awello.kernel import U, kernel
from awello.rules.game import is_over, legal_moves, play

INFINITY = 1 << 40  # beyond the value of any finished game, which is 64 * 2^20 at most
NO_CUTS = 4 * INFINITY  # the margin of a search without cuts: no value exceeds the end of a window by so much


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, HeuristicState)")
def search(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic: int, state: HeuristicState) -> int:
    """The value for the mover, fail-soft: exact inside (alpha, beta), outside it a bound on the value."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if depth == 0 or over:
        return evaluate(game, heuristic, own, opp, over, state)
    state.inner_nodes += 1
    # Step 2. Pass: the sides swap, the depth counts it.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, depth - 1, heuristic, state)
    # Step 3. The best of the children, until the opponent would never allow this position.
    best = -INFINITY
    while moves != U(0) and alpha < beta + state.cut_margin:
        next_own, next_opp = play(game, own, opp, index_of(moves))
        best = max(best, -search(game, next_own, next_opp, -beta, -alpha, depth - 1, heuristic, state))
        alpha = max(alpha, best)
        moves = clear_lowest_bit(moves)
    return best


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, int64)")
def search_at(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic: int, address: int) -> int:
    """Search with the state at an address: Python passes a number in 0.2 us, a record in 3 us."""
    return search(game, own, opp, alpha, beta, depth, heuristic, heuristic_state_at(address))
