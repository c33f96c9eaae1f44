"""A multi-layer perceptron for Othello and Awalé that predicts good moves and the result of a game (see report 1).

The input is the position from the mover's view.  For Awalé, the input consists of 14 numbers: the seeds in each of the
twelve pits and the seeds captured by each player, all as relative differences from typical values.  For Othello, the
input consists of 128 numbers, each 0 or 1: 64 mark the squares with the mover's discs, 64 those with the opponent's.
Hidden layers have 64 units with ReLU.  The outputs are one logit per move and a number whose hyperbolic tangent is the
expected result, from -1 for a loss to 1 for a win.
All weights are in one array, layer by layer: a row of weights for each input, then the biases.
"""

from typing import Annotated, TypeAlias

import numpy as np

from awello.bits import bit_scan, clear_lowest_bit
from awello.kernel import Float32Array, U, kernel
from awello.layout import Layout
from awello.rules.awale import ABAPA, BYTE_MASK

HIDDEN_WIDTH = 64  # units per hidden layer; the time grows with the square of their number; 64 fill whole SIMD vectors
AWALE_INPUT_COUNT, OTHELLO_INPUT_COUNT = 14, 128
AWALE_MOVE_COUNT, OTHELLO_MOVE_COUNT = 6, 64
INPUT_COUNTS = {"othello": OTHELLO_INPUT_COUNT, "awale": AWALE_INPUT_COUNT}
MOVE_COUNTS = {"othello": OTHELLO_MOVE_COUNT, "awale": AWALE_MOVE_COUNT}
TYPICAL_SEEDS = np.array([4, 4, 4, 4, 4, 4, 12] * 2, np.float32)  # for each player: six pits, captured seeds

Float32: TypeAlias = Annotated[float, np.float32]
Units = list[float]  # the sums or activations of a layer, in an array of the state


class PerceptronState(Layout):
    """The number of hidden layers, and memory for the activations."""

    layers: int
    hidden: Annotated[list[list[Float32]], 2, HIDDEN_WIDTH]  # the layers use these two rows alternately
    # One output per move, then the value; Awalé uses the first seven.
    outputs: Annotated[list[Float32], OTHELLO_MOVE_COUNT + 1]


@kernel("void(float32[::1], int64, float32[::1], int64)", inline=True)
def init_sums(weights: Float32Array, offset: int, sums: Units, width: int) -> None:
    """Initialise the sums of a layer with its biases."""
    biases = weights[offset : offset + width]
    for unit in range(width):
        sums[unit] = biases[unit]


@kernel("void(float32[::1], int64, float32, float32[::1], int64)", inline=True)
def add_row(weights: Float32Array, offset: int, factor: float | np.float32, sums: Units, width: int) -> None:
    """Add the contribution of one input to the sums of a layer."""
    row = weights[offset : offset + width]  # the loop over this view starts at zero, so it is vectorised
    for unit in range(width):
        sums[unit] += factor * row[unit]


@kernel("void(uint64, float32[::1], int64, float32[::1])")
def add_discs(discs: U, weights: Float32Array, offset: int, sums: Units) -> None:
    """Add the contributions of the squares with a disc."""
    while discs != U(0):
        add_row(weights, offset + HIDDEN_WIDTH * bit_scan(discs), np.float32(1), sums, HIDDEN_WIDTH)
        discs = clear_lowest_bit(discs)


@kernel("void(uint64, float32[::1], int64, int64, float32[::1])")
def add_seeds(row: U, weights: Float32Array, offset: int, first: int, sums: Units) -> None:
    """Add the contributions of one player's six pits and captured seeds."""
    for number in range(first, first + AWALE_INPUT_COUNT // 2):
        seeds = np.float32(row & BYTE_MASK)
        factor = (seeds - TYPICAL_SEEDS[number]) / TYPICAL_SEEDS[number]
        add_row(weights, offset + HIDDEN_WIDTH * number, factor, sums, HIDDEN_WIDTH)
        row >>= U(8)


@kernel("int64(int64, uint64, uint64, float32[::1], float32[::1])")
def compute_first_layer(game: int, own: U, opp: U, weights: Float32Array, sums: Units) -> int:
    """Compute the first layer, whose inputs are mostly zeros in Othello; return the offset of the next weights."""
    if game >= ABAPA:  # Awalé
        init_sums(weights, HIDDEN_WIDTH * AWALE_INPUT_COUNT, sums, HIDDEN_WIDTH)
        add_seeds(own, weights, 0, 0, sums)
        add_seeds(opp, weights, 0, AWALE_INPUT_COUNT // 2, sums)
        return HIDDEN_WIDTH * (AWALE_INPUT_COUNT + 1)
    init_sums(weights, HIDDEN_WIDTH * OTHELLO_INPUT_COUNT, sums, HIDDEN_WIDTH)
    add_discs(own, weights, 0, sums)
    add_discs(opp, weights, HIDDEN_WIDTH * OTHELLO_MOVE_COUNT, sums)
    return HIDDEN_WIDTH * (OTHELLO_INPUT_COUNT + 1)


@kernel("int64(float32[::1], int64, float32[::1], float32[::1], int64)", inline=True)
def compute_layer(weights: Float32Array, offset: int, inputs: Units, sums: Units, width: int) -> int:
    """Compute a layer from the positive activations of the previous one; return the offset of the next weights."""
    init_sums(weights, offset + HIDDEN_WIDTH * width, sums, width)
    for unit in range(HIDDEN_WIDTH):
        if inputs[unit] > 0:
            add_row(weights, offset + width * unit, inputs[unit], sums, width)
    return offset + width * (HIDDEN_WIDTH + 1)


@kernel("float64(int64, uint64, uint64, float32[::1], PerceptronState)")
def forward(game: int, own: U, opp: U, weights: Float32Array, state: PerceptronState) -> float:
    """Return the expected result for the mover, and write the logits of the moves to the outputs of the state."""
    offset = compute_first_layer(game, own, opp, weights, state.hidden[U(0)])
    for layer in range(1, state.layers):
        inputs, sums = state.hidden[U(1 - (layer & 1))], state.hidden[U(layer & 1)]
        offset = compute_layer(weights, offset, inputs, sums, HIDDEN_WIDTH)
    outputs = AWALE_MOVE_COUNT + 1 if game >= ABAPA else OTHELLO_MOVE_COUNT + 1
    compute_layer(weights, offset, state.hidden[U(1 - (state.layers & 1))], state.outputs[0:], outputs)
    return float(np.tanh(float(state.outputs[U(outputs - 1)])))
