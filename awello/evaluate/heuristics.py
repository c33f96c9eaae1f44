"""The classic estimates of a position, from the mover's view, for searches that stop before the end.

Sources: the reports on Othello of 2024 (positional, absolute, mobility, mixed) and 2013 (tactical values), and on
Awalé of 2020 (diffscore; its others are in `awale.py`).  An estimate counts in units of its own; a finished game is
worth its exact score times `EXACT`, more than any estimate, so that a sure win comes first.

| heuristic    | what it counts                                                                            |
|--------------|-------------------------------------------------------------------------------------------|
| `positional` | values of the squares held, from a table                                                    |
| `absolute`   | discs                                                                                       |
| `mobility`   | moves, and a bonus for each corner if asked for                                             |
| `mixed`      | positional, from 30 discs on mobility, from 55 on absolute                                  |
| `tactical`   | positional, but squares beside a corner lose their sting once it is taken; from 30 discs on |
|              | with mobility, from 55 on discs alone                                                       |
| `diffscore`  | seeds taken (Awalé)                                                                         |

A search and its heuristic share a `HeuristicState`: the settings of the heuristic, and what the search counts.
"""

from typing import Annotated

from awello.bits import moves_of, popcount, signed
from awello.evaluate.awale import AwaleWeights, weigh
from awello.kernel import U, kernel
from awello.layout import Int32, Layout, record_at
from awello.rules.game import score, squares_of

POSITIONAL, ABSOLUTE, MOBILITY, MIXED, TACTICAL, DIFFSCORE = range(6)  # their numbers; Awalé has more
# What a disc or seed of a final score is worth: more than any estimate, since the value of a square is 10,000 at most.
EXACT_SCALE = 1 << 20
# What `tactical` gives for a square beside a corner that one holds, and for a move (report of 2013): such a square
# counts as much as three moves.
BESIDE_OWN_CORNER_VALUE, MOVE_VALUE = 30, 10


class HeuristicState(Layout):
    """What a search counts, how it cuts, and the settings of its heuristic."""

    inner_nodes: int  # positions visited whose value comes from their children
    leaves: int  # positions evaluated
    cut_margin: int  # how far a value must exceed the window for a cut
    # Othello.  Square values are summed by row: an entry for each row and each set of discs on it.
    row_values: Annotated[list[list[Int32]], 8, 256]
    mobility_from: int  # discs on the board from which `mixed` and `tactical` count moves,
    absolute_from: int  # and from which they count discs only
    corner_bonus: int  # what `mobility` adds for each corner
    left_edge: U  # the outermost squares of the board, which may have 4, 6 or 8 rows
    right_edge: U
    top_edge: U
    bottom_edge: U
    # Awalé.
    root_value: int  # what the features are worth at the root, for `h5`; 0 for the others
    weights: AwaleWeights
    opponent_at_leaf: bool  # whether the opponent of the player at the root is to move at the leaves


heuristic_state_at = record_at(HeuristicState)


@kernel("int64(uint64, uint64, HeuristicState)", inline=True)
def positional(own: U, opp: U, state: HeuristicState) -> int:
    """The values of the mover's squares less the opponent's: one entry of the table for each row of eight."""
    value = 0
    for row in range(8):
        shift = U(8 * row)
        value += int(state.row_values[U(row)][own >> shift & U(255)])
        value -= int(state.row_values[U(row)][opp >> shift & U(255)])
    return value


@kernel("int64(int64, uint64, uint64)")
def mobility(game: int, own: U, opp: U) -> int:
    """The mover's moves less those the opponent would have."""
    squares = squares_of(game)
    return popcount(moves_of(own, opp) & squares) - popcount(moves_of(opp, own) & squares)


@kernel("uint64(uint64, HeuristicState)", inline=True)
def corners_of(discs: U, state: HeuristicState) -> U:
    """The corners that these discs hold."""
    return discs & (state.left_edge | state.right_edge) & (state.top_edge | state.bottom_edge)


@kernel("uint64(uint64, HeuristicState)")
def beside_corners(discs: U, state: HeuristicState) -> U:
    """The three squares beside each corner that these discs hold."""
    corners = corners_of(discs, state)
    beside = (corners & state.left_edge) << U(1) | (corners & state.right_edge) >> U(1)
    both = corners | beside
    return beside | (both & state.top_edge) << U(8) | (both & state.bottom_edge) >> U(8)


@kernel("int64(int64, uint64, uint64, HeuristicState)", inline=True)
def mobility_with_corners(game: int, own: U, opp: U, state: HeuristicState) -> int:
    """Mobility, and the bonus for corners if there is one."""
    value = mobility(game, own, opp)
    if state.corner_bonus != 0:
        value += state.corner_bonus * (popcount(corners_of(own, state)) - popcount(corners_of(opp, state)))
    return value


@kernel("int64(int64, uint64, uint64, int64, HeuristicState)")
def tactical(game: int, own: U, opp: U, discs: int, state: HeuristicState) -> int:
    """Square values by phase of the game."""
    if discs >= state.absolute_from:
        return popcount(own) - popcount(opp)
    own_beside, opp_beside = beside_corners(own, state), beside_corners(opp, state)
    free = ~(own_beside | opp_beside)
    value = positional(own & free, opp & free, state)
    value += BESIDE_OWN_CORNER_VALUE * (popcount(own & own_beside) - popcount(opp & opp_beside))
    return value + MOVE_VALUE * mobility(game, own, opp) if discs >= state.mobility_from else value


@kernel("int64(int64, uint64, uint64, HeuristicState)", inline=True)
def weigh_from_root(heuristic: int, own: U, opp: U, state: HeuristicState) -> int:
    """Awalé's features: their value for the player at the root, turned to the mover's view."""
    if state.opponent_at_leaf:
        return state.root_value - weigh(heuristic, opp, own, state.weights)
    return weigh(heuristic, own, opp, state.weights) - state.root_value


@kernel("int64(int64, int64, uint64, uint64, HeuristicState)", inline=True)
def estimate(game: int, heuristic: int, own: U, opp: U, state: HeuristicState) -> int:
    """What the heuristic says of a position, for the mover."""
    if heuristic == DIFFSCORE:
        return signed(own >> U(48)) - signed(opp >> U(48))
    if heuristic > DIFFSCORE:
        return weigh_from_root(heuristic, own, opp, state)
    discs = popcount(own | opp)
    if heuristic == TACTICAL:
        return tactical(game, own, opp, discs, state)
    if heuristic == POSITIONAL or (heuristic == MIXED and discs < state.mobility_from):
        return positional(own, opp, state)
    if heuristic == ABSOLUTE or (heuristic == MIXED and discs >= state.absolute_from):
        return popcount(own) - popcount(opp)
    return mobility_with_corners(game, own, opp, state)


@kernel("int64(int64, int64, uint64, uint64, boolean, HeuristicState)", inline=True)
def evaluate(game: int, heuristic: int, own: U, opp: U, over: bool, state: HeuristicState) -> int:
    """The value of a leaf: the exact result if the game is over, else the heuristic's estimate; counts it."""
    state.leaves += 1
    return EXACT_SCALE * score(game, own, opp) if over else estimate(game, heuristic, own, opp, state)
