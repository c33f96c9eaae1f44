"""A small neural network that evaluates Awalé positions, stored as tables (after NNUE, Nasu 2018).

For each pit and each number of seeds in it, there is a learnt row with one weight per unit of the network; there is
also a row for each total number of seeds in play.  The thirteen rows of a position are added.  The sum of each unit is
clipped to the range from 0 to `MAX_ACTIVATION` and squared; the output is the sum of the squares, each multiplied by
the unit's weight in one more learnt row, the output row.  Units can thus combine several pits, at the cost of one
vector addition per pit.
"""

from typing import Annotated, Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder

from awello.bits import I32, I64, emit_call
from awello.kernel import U, instruction
from awello.layout import Int16, Layout, record_at
from awello.memory import I16

UNIT_COUNT = 64  # a row fills two cache lines; more units are more accurate, but slow down every leaf
PIT_COUNT = 12
PIT_SLOTS = 32  # rows per pit; a pit with 32 or more seeds, which is rare, uses the row for 32 seeds fewer
IN_PLAY_ROW = PIT_COUNT * PIT_SLOTS  # the row for 0 seeds in play; the rows for 1 to 48 seeds follow
OUTPUT_ROW = IN_PLAY_ROW + 49  # the weights of the output, after all other rows
ROW_COUNT = OUTPUT_ROW + 1
MAX_ACTIVATION = 181  # its square fits into a signed 16-bit integer: squaring is then one narrow multiplication
OUTPUT_SHIFT = 17  # right shift from the weighted sum to 16ths of a seed: 2 * 7.5 + 6 bits of scale, minus 4
# A weight is multiplied by WEIGHT_SCALE (input rows) or OUTPUT_SCALE (output row) and rounded to an integer.  A larger
# scale loses less precision but overflows earlier.
WEIGHT_SCALE, OUTPUT_SCALE = 2**7.5, 64.0
# The largest weights with which the sum of 13 rows fits into 16 bits, and the sum of all products into 32 bits.
MAX_WEIGHT, MAX_OUTPUT_WEIGHT = (1 << 15) // 13 - 1, (1 << 16) // UNIT_COUNT - 1


class AwaleNetworkWeights(Layout):
    """The weights: a row per pit and number of seeds in it, a row per number of seeds in play, and the output row."""

    rows: Annotated[list[list[Int16]], ROW_COUNT, UNIT_COUNT]


awale_network_weights_at = record_at(AwaleNetworkWeights)

VECTOR, WIDE = ir.VectorType(I16, UNIT_COUNT), ir.VectorType(I32, UNIT_COUNT)


def _int64(value: int) -> ir.Constant:
    return ir.Constant(I64, value)


def _broadcast(value: int) -> ir.Constant:
    return ir.Constant(VECTOR, [ir.Constant(I16, value)] * UNIT_COUNT)


def _emit_forward(b: Builder, own: Any, opp: Any, seeds: Any, weights: Any) -> Any:
    start = b.bitcast(weights, VECTOR.as_pointer())

    def row(index: Any) -> Any:
        return b.load(b.gep(start, [index]), align=64)

    sums = row(b.add(seeds, _int64(IN_PLAY_ROW)))
    for pit in range(PIT_COUNT):
        held = b.and_(b.lshr(own if pit < 6 else opp, _int64(8 * (pit % 6))), _int64(PIT_SLOTS - 1))
        sums = b.add(sums, row(b.add(held, _int64(PIT_SLOTS * pit))))
    sums = b.select(b.icmp_signed("<", sums, _broadcast(0)), _broadcast(0), sums)
    sums = b.select(b.icmp_signed(">", sums, _broadcast(MAX_ACTIVATION)), _broadcast(MAX_ACTIVATION), sums)
    products = b.mul(b.sext(b.mul(sums, sums), WIDE), b.sext(row(_int64(OUTPUT_ROW)), WIDE))
    total = emit_call(b, f"llvm.vector.reduce.add.v{UNIT_COUNT}i32", I32, products)
    return b.ashr(b.sext(total, I64), _int64(OUTPUT_SHIFT))


@instruction("int64(uint64, uint64, int64, AwaleNetworkWeights)", _emit_forward)
def forward(own: U, opp: U, seeds: int, weights: AwaleNetworkWeights) -> int:
    """Return the margin that the mover is expected to gain from the seeds in play, in 16ths of a seed."""
    table = np.asarray(weights.rows)
    pits = [int(row) >> 8 * pit & PIT_SLOTS - 1 for row in (own, opp) for pit in range(6)]
    rows = [PIT_SLOTS * pit + held for pit, held in enumerate(pits)]
    sums = table[[*rows, IN_PLAY_ROW + seeds]].sum(axis=0, dtype=np.int64)
    return int(np.clip(sums, 0, MAX_ACTIVATION) ** 2 @ table[OUTPUT_ROW].astype(np.int64)) >> OUTPUT_SHIFT
