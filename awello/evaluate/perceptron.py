"""A multi-layer perceptron that says which moves are promising and who will win (report 1's, for both games).

The inputs are the position seen by the mover: in Awalé the seeds of the twelve pits and those taken, 14 numbers, less
what is usual and in units of it; in Othello 128 squares, the mover's discs and the opponent's.  Hidden layers are 64
wide and keep what is positive (ReLU).  The outputs are a number for each move, the larger the more promising, and a
last one whose hyperbolic tangent is the expected outcome, from -1 for a loss to 1 for a win.  All weights lie in one
array, layer after layer: a row of weights for each input, then the biases.
"""

import numpy as np
import numpy.typing as npt

from awello.bits import index_of, rest_of
from awello.kernel import U, kernel
from awello.rules.awale import ABAPA, BYTE

WIDTH = 64
AWALE_INPUTS, OTHELLO_INPUTS = 14, 128
AWALE_MOVES, OTHELLO_MOVES = 6, 64
INPUTS = {"othello": OTHELLO_INPUTS, "awale": AWALE_INPUTS}
MOVES = {"othello": OTHELLO_MOVES, "awale": AWALE_MOVES}
USUAL = np.array([4, 4, 4, 4, 4, 4, 12] * 2, np.float32)  # seeds of a pit, and those taken
HIDDEN, _, OUTPUTS = range(3)  # rows of the work space: layers take turns with the first two
WORK = (3, OTHELLO_MOVES + 1)

Reals = npt.NDArray[np.float32]


@kernel("void(float32[::1], int64, float32[::1], int64)", inline=True)
def start_sums(weights: Reals, place: int, sums: Reals, width: int) -> None:
    """Begin the sums of a layer with its biases."""
    biases = weights[place : place + width]
    for unit in range(width):
        sums[unit] = biases[unit]


@kernel("void(float32[::1], int64, float32, float32[::1], int64)", inline=True)
def add_row(weights: Reals, place: int, factor: np.float32, sums: Reals, width: int) -> None:
    """Add what one input contributes to the sums of a layer."""
    row = weights[place : place + width]  # a view from zero on becomes vector code
    for unit in range(width):
        sums[unit] += factor * row[unit]


@kernel("void(uint64, float32[::1], int64, float32[::1])")
def add_discs(discs: U, weights: Reals, place: int, sums: Reals) -> None:
    """Add the rows of the squares with a disc."""
    while discs != U(0):
        add_row(weights, place + WIDTH * index_of(discs), np.float32(1), sums, WIDTH)
        discs = rest_of(discs)


@kernel("void(uint64, float32[::1], int64, int64, float32[::1])")
def add_seeds(row: U, weights: Reals, place: int, first: int, sums: Reals) -> None:
    """Add the rows of six pits and of the seeds taken."""
    for number in range(first, first + AWALE_INPUTS // 2):
        seeds = np.float32(row & BYTE)
        add_row(weights, place + WIDTH * number, (seeds - USUAL[number]) / USUAL[number], sums, WIDTH)
        row >>= U(8)


@kernel("float64(int64, uint64, uint64, float32[::1], int64, float32[:, ::1])")
def judge(game: int, own: U, opp: U, weights: Reals, layers: int, work: Reals) -> float:
    """The expected outcome for the mover; what the moves promise is left in the work space."""
    # Step 1. The position: a layer in which most inputs of Othello are zero.
    if game >= ABAPA:  # here and not in `rules`: what a network sees is no rule of the game
        inputs, outputs = AWALE_INPUTS, AWALE_MOVES + 1
        start_sums(weights, WIDTH * inputs, work[HIDDEN], WIDTH)
        add_seeds(own, weights, 0, 0, work[HIDDEN])
        add_seeds(opp, weights, 0, AWALE_INPUTS // 2, work[HIDDEN])
    else:
        inputs, outputs = OTHELLO_INPUTS, OTHELLO_MOVES + 1
        start_sums(weights, WIDTH * inputs, work[HIDDEN], WIDTH)
        add_discs(own, weights, 0, work[HIDDEN])
        add_discs(opp, weights, WIDTH * OTHELLO_MOVES, work[HIDDEN])
    place = WIDTH * (inputs + 1)
    # Step 2. The other hidden layers, each from what is positive in the one before.
    for layer in range(1, layers):
        before, sums = work[1 - (layer & 1)], work[layer & 1]
        start_sums(weights, place + WIDTH * WIDTH, sums, WIDTH)
        for unit in range(WIDTH):
            if before[unit] > 0:
                add_row(weights, place + WIDTH * unit, before[unit], sums, WIDTH)
        place += WIDTH * (WIDTH + 1)
    # Step 3. The outputs.
    before, sums = work[1 - (layers & 1)], work[OUTPUTS]
    start_sums(weights, place + WIDTH * outputs, sums, outputs)
    for unit in range(WIDTH):
        if before[unit] > 0:
            add_row(weights, place + outputs * unit, before[unit], sums, outputs)
    return float(np.tanh(float(sums[outputs - 1])))
