"""The classic heuristics: estimates of a position from the mover's view, for searches that do not reach the
end of the game.

Sources: report 0 (positional, absolute, mobility, mixed), report 3 (tactical) and report 1 (diffscore; the other
heuristics of this report are in `awale.py`).  Each heuristic has its own units.  The value of a finished game is its
score times `EXACT_SCALE`.  If the game is won, this exceeds any estimate, so that a search prefers a certain win.

| heuristic    | features                                                                                    |
|--------------|---------------------------------------------------------------------------------------------|
| `positional` | values of the squares held, from a table                                                    |
| `absolute`   | discs                                                                                       |
| `mobility`   | moves, plus an optional bonus for each corner                                               |
| `mixed`      | positional up to 29 discs; mobility from 30 discs; absolute from 55 discs                   |
| `tactical`   | positional, but squares beside an occupied corner lose their penalty; plus mobility from 30 |
|              | discs; absolute from 55 discs                                                               |
| `diffscore`  | seeds captured (Awalé)                                                                      |

A search and its heuristic share a `HeuristicState` with the settings of the heuristic and the node counts.
"""

from typing import Annotated

from awello.bits import find_moves, popcount, to_signed
from awello.evaluate.awale import AwaleWeights, evaluate_features
from awello.kernel import U, kernel
from awello.layout import Int32, Layout, record_at
from awello.rules.game import board_mask_of, score

POSITIONAL, ABSOLUTE, MOBILITY, MIXED, TACTICAL, DIFFSCORE = range(6)  # the ids of the heuristics; `awale.py` has more
# The value of one disc or seed in a final score.  It exceeds any estimate, because the values of squares are at most
# 10,000 (`MAX_SETTING`).
EXACT_SCALE = 1 << 20
# The values that `tactical` gives to a disc beside a corner held by the same side, and to a legal move (report 3).
BESIDE_OWN_CORNER_VALUE, MOVE_VALUE = 30, 10


class HeuristicState(Layout):
    """The node counts of a search, its cutoff margin, and the settings of its heuristic."""

    inner_nodes: int  # positions whose value comes from their children
    leaves: int  # positions evaluated
    cutoff_margin: int  # a value of at least beta + cutoff_margin causes a cutoff
    # Othello.  Each entry is the sum of the square values for one row and one set of discs on it.
    row_values: Annotated[list[list[Int32]], 8, 256]
    mobility_from: int  # the number of discs from which `mixed` and `tactical` count moves
    absolute_from: int  # the number of discs from which `mixed` and `tactical` count only discs
    corner_bonus: int  # the value of a corner for `mobility` and `mixed`
    left_edge: U  # the squares of each edge, which depend on the size of the board
    right_edge: U
    top_edge: U
    bottom_edge: U
    # Awalé.
    root_value: int  # the value of the features at the root, for `h5`; 0 for the other heuristics
    weights: AwaleWeights
    opponent_at_leaf: bool  # whether the opponent of the player at the root is to move at the leaves


heuristic_state_at = record_at(HeuristicState)


@kernel("int64(uint64, uint64, HeuristicState)", inline=True)
def evaluate_positional(own: U, opp: U, state: HeuristicState) -> int:
    """Return the values of the mover's squares minus those of the opponent's, with two table lookups per row."""
    value = 0
    for row in range(8):
        shift = U(8 * row)
        value += int(state.row_values[U(row)][own >> shift & U(255)])
        value -= int(state.row_values[U(row)][opp >> shift & U(255)])
    return value


@kernel("int64(int64, uint64, uint64)")
def count_mobility(game: int, own: U, opp: U) -> int:
    """Return the number of the mover's moves minus the opponent's."""
    board_mask = board_mask_of(game)
    return popcount(find_moves(own, opp) & board_mask) - popcount(find_moves(opp, own) & board_mask)


@kernel("uint64(uint64, HeuristicState)", inline=True)
def corners_of(discs: U, state: HeuristicState) -> U:
    """Return the corners that are occupied by these discs."""
    return discs & (state.left_edge | state.right_edge) & (state.top_edge | state.bottom_edge)


@kernel("uint64(uint64, HeuristicState)")
def beside_corners(discs: U, state: HeuristicState) -> U:
    """Return the three neighbours of each corner that is occupied by one of these discs."""
    corners = corners_of(discs, state)
    beside = (corners & state.left_edge) << U(1) | (corners & state.right_edge) >> U(1)
    both = corners | beside
    return beside | (both & state.top_edge) << U(8) | (both & state.bottom_edge) >> U(8)


@kernel("int64(int64, uint64, uint64, HeuristicState)", inline=True)
def evaluate_mobility_with_corners(game: int, own: U, opp: U, state: HeuristicState) -> int:
    """Return the mobility plus the bonus for corners."""
    value = count_mobility(game, own, opp)
    if state.corner_bonus != 0:
        value += state.corner_bonus * (popcount(corners_of(own, state)) - popcount(corners_of(opp, state)))
    return value


@kernel("int64(int64, uint64, uint64, int64, HeuristicState)")
def evaluate_tactical(game: int, own: U, opp: U, discs: int, state: HeuristicState) -> int:
    """Return the value of `tactical`: square values at first, later also mobility, and only discs at the end."""
    if discs >= state.absolute_from:
        return popcount(own) - popcount(opp)
    own_beside, opp_beside = beside_corners(own, state), beside_corners(opp, state)
    free = ~(own_beside | opp_beside)
    value = evaluate_positional(own & free, opp & free, state)
    value += BESIDE_OWN_CORNER_VALUE * (popcount(own & own_beside) - popcount(opp & opp_beside))
    return value + MOVE_VALUE * count_mobility(game, own, opp) if discs >= state.mobility_from else value


@kernel("int64(int64, uint64, uint64, HeuristicState)", inline=True)
def evaluate_from_root(heuristic_id: int, own: U, opp: U, state: HeuristicState) -> int:
    """Return the features' value for the player at the root, minus `root_value`, converted to the mover's view."""
    if state.opponent_at_leaf:
        return state.root_value - evaluate_features(heuristic_id, opp, own, state.weights)
    return evaluate_features(heuristic_id, own, opp, state.weights) - state.root_value


@kernel("int64(int64, int64, uint64, uint64, HeuristicState)", inline=True)
def estimate(game: int, heuristic_id: int, own: U, opp: U, state: HeuristicState) -> int:
    """Return the heuristic's estimate for the mover."""
    if heuristic_id == DIFFSCORE:
        return to_signed(own >> U(48)) - to_signed(opp >> U(48))
    if heuristic_id > DIFFSCORE:
        return evaluate_from_root(heuristic_id, own, opp, state)
    discs = popcount(own | opp)
    if heuristic_id == TACTICAL:
        return evaluate_tactical(game, own, opp, discs, state)
    if heuristic_id == POSITIONAL or (heuristic_id == MIXED and discs < state.mobility_from):
        return evaluate_positional(own, opp, state)
    if heuristic_id == ABSOLUTE or (heuristic_id == MIXED and discs >= state.absolute_from):
        return popcount(own) - popcount(opp)
    return evaluate_mobility_with_corners(game, own, opp, state)


@kernel("int64(int64, int64, uint64, uint64, boolean, HeuristicState)", inline=True)
def evaluate(game: int, heuristic_id: int, own: U, opp: U, over: bool, state: HeuristicState) -> int:
    """Count a leaf and return its value: the exact result if the game is over, otherwise the estimate."""
    state.leaves += 1
    return EXACT_SCALE * score(game, own, opp) if over else estimate(game, heuristic_id, own, opp, state)
