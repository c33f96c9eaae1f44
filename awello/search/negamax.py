"""Minimax with alpha-beta pruning, written as negamax: what is good for one side is bad for the other.

In *minimax* (Shannon 1950) one player maximises the value of the game and the other minimises it.  *Negamax* is the
same search with one function: values are from the mover's view, so the value of a child is negated for its parent.
*Alpha-beta* (Knuth and Moore 1975) adds a window: elsewhere in the tree, the mover can already get `alpha`, and the
opponent can hold the mover to `beta`.  The search of a node ends as soon as the value of a move reaches `beta` (a
*cutoff*).  The window of a child is (-beta, -alpha).

A value causes a cutoff if it is at least `beta + cutoff_margin`.  If the field `cutoff_margin` of the state is 0, the
search is alpha-beta; if it is 1, a value equal to `beta` causes no cutoff, as in report 0; if it is `NO_CUTOFFS`, the
search is plain minimax, which searches every move.

Depth counts plies, and a pass is a ply.  A *node* is any position visited, including the root.  A *leaf* is a node
whose value does not come from children: at the horizon, or at the end of the game.
"""

from awello.bits import bit_scan, clear_lowest_bit
from awello.evaluate.heuristics import HeuristicState, evaluate, heuristic_state_at
from awello.kernel import U, kernel
from awello.rules.game import is_over, legal_moves, play

INFINITY = 1 << 40  # beyond the value of any finished game, which is at most 64 * 2^20
NO_CUTOFFS = 4 * INFINITY  # a cutoff margin that no value can exceed


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, HeuristicState)")
def search(
    game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic_id: int, state: HeuristicState
) -> int:
    """Search a position; return its value for the mover, fail-soft: exact inside (alpha, beta), a bound outside."""
    # Step 1. Leaves: the horizon, or the end of the game.
    moves = legal_moves(game, own, opp)
    over = moves == U(0) and is_over(game, own, opp)
    if depth == 0 or over:
        return evaluate(game, heuristic_id, own, opp, over, state)
    state.inner_nodes += 1
    # Step 2. Pass: swap the sides; a pass counts as a ply.
    if moves == U(0):
        return -search(game, opp, own, -beta, -alpha, depth - 1, heuristic_id, state)
    # Step 3. Return the value of the best child; stop as soon as the opponent would avoid this position.
    best = -INFINITY
    while moves != U(0) and alpha < beta + state.cutoff_margin:
        next_own, next_opp = play(game, own, opp, bit_scan(moves))
        best = max(best, -search(game, next_own, next_opp, -beta, -alpha, depth - 1, heuristic_id, state))
        alpha = max(alpha, best)
        moves = clear_lowest_bit(moves)
    return best


@kernel("int64(int64, uint64, uint64, int64, int64, int64, int64, int64)")
def search_at(game: int, own: U, opp: U, alpha: int, beta: int, depth: int, heuristic_id: int, address: int) -> int:
    """Search with the state at an address: Python passes an integer in 0.2 us, a record in 3 us."""
    return search(game, own, opp, alpha, beta, depth, heuristic_id, heuristic_state_at(address))
