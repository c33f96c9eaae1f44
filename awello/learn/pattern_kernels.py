"""Kernels for training Othello's patterns: find the weights that a position uses, and label positions by search."""

import numpy as np

from awello.bits import bit_scan, clear_lowest_bit, find_moves, popcount
from awello.engine.midgame import search
from awello.engine.othello_state import OthelloState
from awello.engine.thread_state import NO_MOVE
from awello.evaluate.patterns import (
    LANE_COUNT,
    LANE_STEPS,
    MOBILITY_WEIGHT_COUNT,
    PATTERN_WEIGHT_COUNT,
    SHAPE_CENTRES,
    VIEW_COUNT,
    PatternIndices,
)
from awello.kernel import Float32Array, Int32Array, U, Words, kernel

ZERO_INDEX = np.repeat(np.array(SHAPE_CENTRES, np.int64), VIEW_COUNT)


@kernel("void(uint64, uint64, PatternIndices)", inline=True)
def write_pattern_indices(own: U, opp: U, target: PatternIndices) -> None:
    """Write the pattern indices of a board."""
    for lane in range(LANE_COUNT):
        target.lanes[U(lane)] = 0
    while own != U(0):
        for lane in range(LANE_COUNT):
            target.lanes[U(lane)] += LANE_STEPS[bit_scan(own), lane]
        own = clear_lowest_bit(own)
    while opp != U(0):
        for lane in range(LANE_COUNT):
            target.lanes[U(lane)] -= LANE_STEPS[bit_scan(opp), lane]
        opp = clear_lowest_bit(opp)


@kernel("void(uint64[::1], uint64[::1], int32[::1], int32[:, ::1], PatternIndices)")
def find_weight_indices(
    owns: Words, opps: Words, ties: Int32Array, indices: Int32Array, buffer: PatternIndices
) -> None:
    """Write the indices of the weights that each position uses: one per pattern, and one for each side's mobility.

    `buffer` holds the pattern indices of one position at a time.
    """
    for position in range(owns.size):
        own, opp = owns[position], opps[position]
        write_pattern_indices(own, opp, buffer)
        for lane in range(LANE_COUNT):
            indices[position, lane] = ties[ZERO_INDEX[lane] + buffer.lanes[U(lane)]]
        own_moves = min(popcount(find_moves(own, opp)), MOBILITY_WEIGHT_COUNT - 1)
        opp_moves = min(popcount(find_moves(opp, own)), MOBILITY_WEIGHT_COUNT - 1)
        indices[position, LANE_COUNT] = ties[PATTERN_WEIGHT_COUNT + own_moves]
        indices[position, LANE_COUNT + 1] = ties[PATTERN_WEIGHT_COUNT + MOBILITY_WEIGHT_COUNT + opp_moves]


@kernel("void(uint64[::1], uint64[::1], int64, int64, float32[::1], OthelloState)")
def search_positions(
    owns: Words, opps: Words, depth: int, selectivity: int, values: Float32Array, state: OthelloState
) -> None:
    """Search positions in which the mover has a move; write their values for the mover, in discs."""
    for position in range(owns.size):
        own, opp = owns[position], opps[position]
        empties = 64 - popcount(own | opp)
        write_pattern_indices(own, opp, state.pattern_indices[U(empties)])
        state.root_empties, state.root_best_move, state.selectivity = empties, NO_MOVE, selectivity
        values[position] = search(own, opp, find_moves(own, opp), -64, 64, depth, state)
