"""A multi-layer perceptron that says which moves are promising and who will win (report 1's, for both games).

The inputs are the position seen by the mover: in Awalé the seeds of the twelve pits and those taken, 14 numbers, less
what is usual and in units of it; in Othello 128 squares, the mover's discs and the opponent's.  Hidden layers are 64
wide and keep what is positive (ReLU).  The outputs are a number for each move, the larger the more promising, and a
last one whose hyperbolic tangent is the expected outcome, from -1 for a loss to 1 for a win.  All weights lie in one
array, layer after layer: a row of weights for each input, then the biases.
"""

from typing import Annotated, TypeAlias

import numpy as np
import numpy.typing as npt

from awello.bits import clear_lowest_bit, index_of
from awello.kernel import U, kernel
from awello.layout import Layout
from awello.rules.awale import ABAPA, BYTE

HIDDEN_WIDTH = 64  # units of a hidden layer: the time of an evaluation grows with its square, and 64 fill whole vectors
AWALE_INPUTS, OTHELLO_INPUTS = 14, 128
AWALE_MOVES, OTHELLO_MOVES = 6, 64
INPUT_COUNTS = {"othello": OTHELLO_INPUTS, "awale": AWALE_INPUTS}
MOVE_COUNTS = {"othello": OTHELLO_MOVES, "awale": AWALE_MOVES}
TYPICAL_SEEDS = np.array([4, 4, 4, 4, 4, 4, 12] * 2, np.float32)  # seeds of a pit, and those taken

Float32: TypeAlias = Annotated[float, np.float32]
Reals = npt.NDArray[np.float32]
Units = list[float]  # of a layer: a row of the state


class PerceptronState(Layout):
    """The depth of a network, and room for what it computes."""

    layers: int
    hidden: Annotated[list[list[Float32]], 2, HIDDEN_WIDTH]  # layers take turns with these rows
    outputs: Annotated[list[Float32], OTHELLO_MOVES + 1]  # of the moves, then of the game; Awalé uses seven


@kernel("void(float32[::1], int64, float32[::1], int64)", inline=True)
def init_sums(weights: Reals, offset: int, sums: Units, width: int) -> None:
    """Begin the sums of a layer with its biases."""
    biases = weights[offset : offset + width]
    for unit in range(width):
        sums[unit] = biases[unit]


@kernel("void(float32[::1], int64, float32, float32[::1], int64)", inline=True)
def add_row(weights: Reals, offset: int, factor: float | np.float32, sums: Units, width: int) -> None:
    """Add what one input contributes to the sums of a layer."""
    row = weights[offset : offset + width]  # a view from zero on becomes vector code
    for unit in range(width):
        sums[unit] += factor * row[unit]


@kernel("void(uint64, float32[::1], int64, float32[::1])")
def add_discs(discs: U, weights: Reals, offset: int, sums: Units) -> None:
    """Add the rows of the squares with a disc."""
    while discs != U(0):
        add_row(weights, offset + HIDDEN_WIDTH * index_of(discs), np.float32(1), sums, HIDDEN_WIDTH)
        discs = clear_lowest_bit(discs)


@kernel("void(uint64, float32[::1], int64, int64, float32[::1])")
def add_seeds(row: U, weights: Reals, offset: int, first: int, sums: Units) -> None:
    """Add the rows of six pits and of the seeds taken."""
    for number in range(first, first + AWALE_INPUTS // 2):
        seeds = np.float32(row & BYTE)
        add_row(
            weights,
            offset + HIDDEN_WIDTH * number,
            (seeds - TYPICAL_SEEDS[number]) / TYPICAL_SEEDS[number],
            sums,
            HIDDEN_WIDTH,
        )
        row >>= U(8)


@kernel("int64(int64, uint64, uint64, float32[::1], float32[::1])")
def compute_first_layer(game: int, own: U, opp: U, weights: Reals, sums: Units) -> int:
    """Compute the layer that sees the position, in which most inputs of Othello are zero; where the next one begins."""
    if game >= ABAPA:  # here and not in `rules`: what a network sees is not a rule of the game
        init_sums(weights, HIDDEN_WIDTH * AWALE_INPUTS, sums, HIDDEN_WIDTH)
        add_seeds(own, weights, 0, 0, sums)
        add_seeds(opp, weights, 0, AWALE_INPUTS // 2, sums)
        return HIDDEN_WIDTH * (AWALE_INPUTS + 1)
    init_sums(weights, HIDDEN_WIDTH * OTHELLO_INPUTS, sums, HIDDEN_WIDTH)
    add_discs(own, weights, 0, sums)
    add_discs(opp, weights, HIDDEN_WIDTH * OTHELLO_MOVES, sums)
    return HIDDEN_WIDTH * (OTHELLO_INPUTS + 1)


@kernel("int64(float32[::1], int64, float32[::1], float32[::1], int64)", inline=True)
def compute_layer(weights: Reals, offset: int, inputs: Units, sums: Units, width: int) -> int:
    """Compute a layer from what is positive in the one before; where the next one begins."""
    init_sums(weights, offset + HIDDEN_WIDTH * width, sums, width)
    for unit in range(HIDDEN_WIDTH):
        if inputs[unit] > 0:
            add_row(weights, offset + width * unit, inputs[unit], sums, width)
    return offset + width * (HIDDEN_WIDTH + 1)


@kernel("float64(int64, uint64, uint64, float32[::1], PerceptronState)")
def forward(game: int, own: U, opp: U, weights: Reals, state: PerceptronState) -> float:
    """The expected outcome for the mover; what the moves promise is left in the outputs."""
    offset = compute_first_layer(game, own, opp, weights, state.hidden[U(0)])
    for layer in range(1, state.layers):
        offset = compute_layer(
            weights, offset, state.hidden[U(1 - (layer & 1))], state.hidden[U(layer & 1)], HIDDEN_WIDTH
        )
    outputs = AWALE_MOVES + 1 if game >= ABAPA else OTHELLO_MOVES + 1
    compute_layer(weights, offset, state.hidden[U(1 - (state.layers & 1))], state.outputs[0:], outputs)
    return float(np.tanh(float(state.outputs[U(outputs - 1)])))
