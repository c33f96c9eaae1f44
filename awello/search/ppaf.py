"""PPAF: UCT whose playouts follow a policy learnt from earlier playouts (Cazenave and Diemert 2018).

Playouts choose moves by learnt weights: the probability of a move is proportional to the exponential of the weight of
its *category*.  After each playout that has a winner, the policy is adapted: the weights of the winner's moves
increase, and those of the winner's other legal moves decrease.  In Awalé, a category consists of the pit, its number of
seeds and the number of seeds in the pit where the last seed will land (as in report 1); in Othello, of the square and
the number of discs flipped.  Within a game, the weights carry over from one search to the next; each game starts with
weights of zero.
"""

from typing import Annotated

import numpy as np

from awello.bits import bit_scan, clear_lowest_bit, popcount
from awello.kernel import U, kernel
from awello.layout import Layout
from awello.rules.awale import ABAPA, BYTE_MASK
from awello.rules.game import PASS, is_over, legal_moves, play, score
from awello.search.uct import (
    DRAW,
    MAX_MOVES,
    MAX_PLAYOUT_PLIES,
    WIN,
    Nodes,
    TreeState,
    backpropagate,
    expand_leaf,
    half_points_of,
    select_leaf,
    xorshift,
)

CATEGORY_COUNT = 6 * 48 * 49  # Awalé: 6 pits with 0 to 47 seeds (48 counts as 47), 0 to 48 seeds in the landing pit
MAX_COUNTED_FLIPS = 7  # Othello: moves that flip more discs share a category, because they are rare
LEARNING_RATE = 0.32  # added to the weight of a winner's move; a larger rate gives recent playouts more influence
FLOAT_BITS = 53  # random bits used per number: a float holds this many exactly
FLOAT_UNIT = 2.0**-FLOAT_BITS  # scales these bits to the range from 0 to 1


class PlayedMove(Layout):
    """A position of a playout and the move made there."""

    own: U
    opp: U
    move: int


class PpafState(Layout):
    """The state of the tree, the last playout, and the learnt weights."""

    tree: TreeState
    ply_count: int
    moves: Annotated[list[PlayedMove], MAX_PLAYOUT_PLIES]
    odds: Annotated[list[float], MAX_MOVES]  # the odds of the legal moves of a position, in bit order
    weights: Annotated[list[float], CATEGORY_COUNT]
    weight_changes: Annotated[list[float], CATEGORY_COUNT]  # pending changes of the last playout; zero between playouts


@kernel("int64(int64, uint64, uint64, int64)")
def category_of(game: int, own: U, opp: U, move: int) -> int:
    """Return the number of a move's category."""
    if game >= ABAPA:  # Awalé
        seeds = int(own >> U(8 * move) & BYTE_MASK)
        landing_pit = (move + 1 + (seeds - 1) % 11) % 12  # a lap skips the pit in which the sowing started
        row, pit = (own, landing_pit) if landing_pit < 6 else (opp, landing_pit - 6)
        landing_seeds = int(row >> U(8 * pit) & BYTE_MASK)
        return move + 6 * min(seeds, 47) + 6 * 48 * landing_seeds
    flips = popcount(opp) - popcount(play(game, own, opp, move)[0])
    return move + 64 * min(flips, MAX_COUNTED_FLIPS)


# ---- playouts -------------------------------------------------------------------------------------------------------
@kernel("float64(PpafState, uint64, uint64, uint64)")
def compute_odds(state: PpafState, own: U, opp: U, moves: U) -> float:
    """Write the odds of each move to the state and return their sum."""
    total, count = 0.0, 0
    while moves != U(0):
        odds = np.exp(state.weights[U(category_of(state.tree.game, own, opp, bit_scan(moves)))])
        state.odds[U(count)] = odds
        total += odds
        moves = clear_lowest_bit(moves)
        count += 1
    return total


@kernel("int64(PpafState, uint64, uint64, uint64)")
def sample_move(state: PpafState, own: U, opp: U, moves: U) -> int:
    """Return a random move with probabilities proportional to the odds."""
    state.tree.random_state = xorshift(state.tree.random_state)
    point = float(state.tree.random_state >> U(64 - FLOAT_BITS)) * FLOAT_UNIT * compute_odds(state, own, opp, moves)
    count = 0
    while clear_lowest_bit(moves) != U(0) and point >= state.odds[U(count)]:
        point -= state.odds[U(count)]
        moves = clear_lowest_bit(moves)
        count += 1
    return bit_scan(moves)


@kernel("int64(PpafState, uint64, uint64)")
def run_playout(state: PpafState, own: U, opp: U) -> int:
    """Run a playout with the policy and record it; return the half points of the player who moves first."""
    game, ply = state.tree.game, 0
    while ply < MAX_PLAYOUT_PLIES:
        moves = legal_moves(game, own, opp)
        if moves == U(0) and is_over(game, own, opp):
            break
        played = state.moves[U(ply)]
        played.own, played.opp, played.move = own, opp, PASS
        if moves == U(0):
            own, opp = opp, own
        else:
            played.move = sample_move(state, own, opp, moves)
            own, opp = play(game, own, opp, played.move)
        ply += 1
    state.ply_count = ply
    margin = score(game, own, opp)
    return half_points_of(-margin if ply & 1 else margin)


# ---- learning -------------------------------------------------------------------------------------------------------
@kernel("void(PpafState, PlayedMove)")
def accumulate_changes(state: PpafState, played: PlayedMove) -> None:
    """Accumulate the weight changes that make the played move more likely and the others less likely."""
    game, own, opp = state.tree.game, played.own, played.opp
    moves, count = legal_moves(game, own, opp), 0
    total = compute_odds(state, own, opp, moves)
    state.weight_changes[U(category_of(game, own, opp, played.move))] += LEARNING_RATE
    while moves != U(0):
        state.weight_changes[U(category_of(game, own, opp, bit_scan(moves)))] -= (
            LEARNING_RATE * state.odds[U(count)] / total
        )
        moves = clear_lowest_bit(moves)
        count += 1


@kernel("void(PpafState, PlayedMove)")
def apply_changes(state: PpafState, played: PlayedMove) -> None:
    """Apply the pending changes to the weights of a position's moves, and reset these changes to zero."""
    moves = legal_moves(state.tree.game, played.own, played.opp)
    while moves != U(0):
        category = U(category_of(state.tree.game, played.own, played.opp, bit_scan(moves)))
        state.weights[category] += state.weight_changes[category]
        state.weight_changes[category] = 0.0
        moves = clear_lowest_bit(moves)


@kernel("void(PpafState, int64)")
def adapt_policy(state: PpafState, winner: int) -> None:
    """Adapt the policy to the moves of the winner.

    `winner` is 0 if the player who moved first in the playout has won, otherwise 1.  All changes are computed before
    any is applied.
    """
    for ply in range(winner, state.ply_count, 2):
        if state.moves[U(ply)].move != PASS:
            accumulate_changes(state, state.moves[U(ply)])
    for ply in range(winner, state.ply_count, 2):
        if state.moves[U(ply)].move != PASS:
            apply_changes(state, state.moves[U(ply)])


@kernel("void(TreeNode[::1], PpafState, int64)")
def run_simulations(nodes: Nodes, state: PpafState, simulations: int) -> None:
    """Run this many simulations, and adapt the policy after each playout that has a winner."""
    for _ in range(simulations):
        leaf = select_leaf(nodes, state.tree)
        leaf = expand_leaf(nodes, state.tree, leaf)
        result = run_playout(state, nodes[U(leaf)].own, nodes[U(leaf)].opp)
        if result != DRAW:
            adapt_policy(state, 0 if result == WIN else 1)
        backpropagate(nodes, state.tree.path, result)
