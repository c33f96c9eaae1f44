"""Pattern evaluation: each arrangement of discs on certain groups of squares has a learnt weight.

A move updates the indices of these weights incrementally.

Twelve shapes (corner, edge with X-squares, two 2x5 blocks, two corners and the 2x4 block between them, three rows, four
diagonals), each seen from the four sides of the board, make 48 *lanes*.  The index of a lane is a number in balanced
ternary, with one digit per square: 1 for a disc of the mover, -1 for a disc of the opponent, 0 if empty.  Placing a
disc of the mover therefore adds a vector of 48 numbers, which depends only on the square, to the indices; flipping a
disc of the opponent adds twice the vector of its square; swapping the sides negates the indices.  `PatternIndices`
holds the 48 indices of a board as 16-bit numbers.  The value of the board is the sum of 50 learnt weights, in units of
1/128 disc (`DISC_VALUE`): one weight per lane, and one per side for its number of legal moves.

Pattern weights that depend on the stage of the game follow Buro ("Experiments with Multi-ProbCut and a new high-quality
evaluation function for Othello", 1997).  Negating indices to swap the sides is specific to Awello.
"""

from typing import Annotated, Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder

from awello.bits import I1, I64, emit_constant_table, find_moves, popcount
from awello.kernel import U, instruction, kernel
from awello.layout import Int16, Layout, record_at
from awello.memory import CACHE_LINE, I16, VOID_RESULT

DISC_VALUE = 128  # units of the evaluation per disc
# Stage k covers 10 + 2k and 11 + 2k empty squares; stage 0 also covers fewer, and the last stage also covers more.
FIRST_STAGE_EMPTIES, STAGE_WIDTH = 10, 2
SHAPES = (
    "a1 b1 c1 a2 b2 c2 a3 b3 c3 d4",
    "a1 b1 c1 d1 e1 f1 g1 h1 b2 g2",
    "a1 b1 c1 d1 e1 a2 b2 c2 d2 e2",
    "h1 g1 f1 e1 d1 h2 g2 f2 e2 d2",
    "a1 c1 d1 e1 f1 h1 c2 d2 e2 f2",
    "a2 b2 c2 d2 e2 f2 g2 h2",
    "a3 b3 c3 d3 e3 f3 g3 h3",
    "a4 b4 c4 d4 e4 f4 g4 h4",
    "a1 b2 c3 d4 e5 f6 g7 h8",
    "b1 c2 d3 e4 f5 g6 h7",
    "c1 d2 e3 f4 g5 h6",
    "d1 e2 f3 g4 h5",
)
VIEW_COUNT = 4  # sides of the board from which each shape is seen
LANE_COUNT = VIEW_COUNT * len(SHAPES)


def _rotate(square: int) -> int:
    """Return the square to which a quarter turn of the board moves `square`."""
    return 8 * (square % 8) + 7 - square // 8


def _make_lanes() -> list[list[int]]:
    """Return the squares of each lane, in ascending order of their powers of three."""
    lanes = []
    for shape in SHAPES:
        squares = [ord(name[0]) - ord("a") + 8 * (int(name[1]) - 1) for name in shape.split()]
        for _ in range(VIEW_COUNT):
            lanes.append(squares)
            squares = [_rotate(square) for square in squares]
    return lanes


LANES = _make_lanes()
LANE_STEPS = np.zeros((64, LANE_COUNT), np.int16)  # by square: what a disc of the mover adds to the index of each lane
for _lane, _squares in enumerate(LANES):
    for _power, _square in enumerate(_squares):
        LANE_STEPS[_square, _lane] = 3**_power

SHAPE_SIZES = [3 ** len(squares) for squares in LANES[::VIEW_COUNT]]
SHAPE_CENTRES = [
    sum(SHAPE_SIZES[:shape]) + SHAPE_SIZES[shape] // 2 for shape in range(len(SHAPE_SIZES))
]  # by shape: the place of the weight for index 0 among the pattern weights
PATTERN_WEIGHT_COUNT = sum(SHAPE_SIZES)
# The number of mobility weights per side: one for each number of legal moves from 0 to 30, and one for 31 or more. They
# follow the pattern weights.
MOBILITY_WEIGHT_COUNT = 32
STAGE_WEIGHT_COUNT = PATTERN_WEIGHT_COUNT + 2 * MOBILITY_WEIGHT_COUNT  # weights per stage


class PatternIndices(Layout):
    """The indices of the 48 lanes of one board."""

    lanes: Annotated[list[Int16], LANE_COUNT]
    padding: Annotated[list[Int16], -LANE_COUNT % (CACHE_LINE // 2)]
    """Fills the last cache line, so that the indices of the next board start on a new cache line."""


class StageWeights(Layout):
    """The weights of patterns and of numbers of legal moves at one stage of the game."""

    patterns: Annotated[list[Int16], PATTERN_WEIGHT_COUNT]
    own_moves: Annotated[list[Int16], MOBILITY_WEIGHT_COUNT]
    opp_moves: Annotated[list[Int16], MOBILITY_WEIGHT_COUNT]


stage_weights_at = record_at(StageWeights)

# ---- machine code: the indices are three vectors of 16 lanes --------------------------------------------------------
VECTOR = ir.VectorType(I16, 16)
VECTOR_COUNT = LANE_COUNT // 16


def _int64(value: int) -> ir.Constant:
    return ir.Constant(I64, value)


def _steps(b: Builder, square: Any) -> list[Any]:
    """Emit code that loads the three vectors that a disc on a square adds to the indices."""
    rows = [ir.Constant(VECTOR, [ir.Constant(I16, int(step)) for step in part]) for part in LANE_STEPS.reshape(-1, 16)]
    table = emit_constant_table(b, "awello_pattern_steps", VECTOR, rows)
    first = b.mul(square, _int64(VECTOR_COUNT))
    places = [b.gep(table, [_int64(0), b.add(first, _int64(part))], inbounds=True) for part in range(VECTOR_COUNT)]
    return [b.load(place, align=32) for place in places]


def _vectors(b: Builder, indices: Any) -> list[Any]:
    """Emit code that computes the addresses of the three vectors of a board's indices."""
    start = b.bitcast(indices, VECTOR.as_pointer())
    return [b.gep(start, [_int64(part)]) for part in range(VECTOR_COUNT)]


def _emit_update(b: Builder, indices: Any, square: Any, flips: Any, target: Any) -> Any:
    """Emit the code of `update_indices`: a loop over the flipped discs, with the indices in registers."""
    places = zip(_vectors(b, indices), _steps(b, square), strict=True)
    placed = [b.add(b.load(place, align=32), step) for place, step in places]
    before, loop, after = b.block, b.append_basic_block("turn"), b.append_basic_block("turned")
    b.branch(loop)
    b.position_at_end(loop)
    left, lanes = b.phi(I64), [b.phi(VECTOR) for _ in placed]
    steps = _steps(b, b.cttz(left, ir.Constant(I1, 1)))
    turned = [b.add(lane, b.add(step, step)) for lane, step in zip(lanes, steps, strict=True)]
    rest = b.and_(left, b.sub(left, _int64(1)))
    for phi, first, again in zip([left, *lanes], [flips, *placed], [rest, *turned], strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(again, loop)
    b.cbranch(b.icmp_unsigned("!=", rest, _int64(0)), loop, after)
    b.position_at_end(after)
    for place, lane in zip(_vectors(b, target), turned, strict=True):
        b.store(b.neg(lane), place, align=32)
    return VOID_RESULT


def _emit_swap(b: Builder, indices: Any) -> Any:
    for place in _vectors(b, indices):
        b.store(b.neg(b.load(place, align=32)), place, align=32)
    return VOID_RESULT


def _emit_evaluate(b: Builder, indices: Any, weights: Any) -> Any:
    lanes, table = b.bitcast(indices, I16.as_pointer()), b.bitcast(weights, I16.as_pointer())
    total = _int64(0)
    for lane in range(LANE_COUNT):
        index = b.sext(b.load(b.gep(lanes, [_int64(lane)]), align=2), I64)
        place = b.gep(table, [b.add(index, _int64(SHAPE_CENTRES[lane // VIEW_COUNT]))])
        total = b.add(total, b.sext(b.load(place, align=2), I64))
    return total


@instruction("none(PatternIndices, int64, uint64, PatternIndices)", _emit_update)
def update_indices(indices: PatternIndices, square: int, flips: U, target: PatternIndices) -> None:
    """Write to `target` the indices after a move with at least one flip: add the disc, flip, and swap the sides."""
    if not flips:
        raise ValueError(f"the move on square {square} flips no discs")
    flipped = [each for each in range(64) if int(flips) >> each & 1]
    change = LANE_STEPS[square] + 2 * LANE_STEPS[flipped].sum(axis=0, dtype=np.int16)
    target.lanes = -(np.asarray(indices.lanes) + change)


@instruction("none(PatternIndices)", _emit_swap)
def swap_indices(indices: PatternIndices) -> None:
    """Swap the sides in place, as for a pass."""
    indices.lanes = -np.asarray(indices.lanes)  # type: ignore[assignment]


@instruction("int64(PatternIndices, StageWeights)", _emit_evaluate)
def evaluate_patterns(indices: PatternIndices, weights: StageWeights) -> int:
    """Return the value of a board's patterns for the mover."""
    lanes = np.asarray(indices.lanes, np.int64)
    if (2 * abs(lanes) >= np.repeat(SHAPE_SIZES, VIEW_COUNT)).any():
        raise IndexError("an index is outside the range of its pattern")
    return int(np.asarray(weights.patterns)[lanes + np.repeat(SHAPE_CENTRES, VIEW_COUNT)].sum())


@kernel("int64(uint64, uint64, StageWeights)", inline=True)
def evaluate_mobility(own: U, opp: U, weights: StageWeights) -> int:
    """Return the value of both sides' mobility from the mover's view: the sum of two weights."""
    own_moves = min(popcount(find_moves(own, opp)), MOBILITY_WEIGHT_COUNT - 1)
    opp_moves = min(popcount(find_moves(opp, own)), MOBILITY_WEIGHT_COUNT - 1)
    return int(weights.own_moves[U(own_moves)]) + int(weights.opp_moves[U(opp_moves)])


def fill_indices(own: int, opp: int, indices: PatternIndices) -> None:
    """Compute the indices of a board from scratch."""
    discs = np.unpackbits(np.array([own, opp], "<u8").view(np.uint8), bitorder="little").view(np.int8).reshape(2, 64)
    indices.lanes = (discs[0] - discs[1]) @ LANE_STEPS
