"""What a position of Awalé is worth: a small network that is read from tables (after NNUE, Y. Nasu 2018).

Each number of seeds in each pit has a learnt row of numbers, one for each of the network's units, and so has the number
of all seeds in play.  The thirteen rows that describe a position are added as vectors.  A unit's sum is held between
nothing and TOP and squared, and the last row says what it then adds to the value.  So units see pits together, at the
cost of one addition a pit.
"""

from typing import Annotated, Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder

from awello.bits import I32, I64, call
from awello.kernel import U, instruction
from awello.layout import Int16, Layout, record_at
from awello.memory import I16

UNITS = 64  # of the network: a row is two cache lines; more see more, and every leaf of a search takes longer
PITS, PIT_SLOTS = (
    12,
    32,
)  # pits, and numbers of seeds that are told apart; 32 or more, which are rare, share rows with few
IN_PLAY_ROW = PITS * PIT_SLOTS  # the row of no seeds in play
OUTPUT_ROW = IN_PLAY_ROW + 49  # the row of what units add, behind those of 0 to 48 seeds in play
ROWS = OUTPUT_ROW + 1
MAX_ACTIVATION = 181  # its square fits into a signed 16-bit integer: squaring is then one narrow multiplication
OUTPUT_SHIFT = 17  # from the sum of squares times the last row down to 16ths of a seed: 2 * 7.5 + 6 bits make 1, less 4
# What 1 is in whole numbers, in a row that is added and in the last one: more is finer, but sums overflow earlier.
WEIGHT_SCALE, OUTPUT_SCALE = 2**7.5, 64.0
# The largest weights, so that 13 rows added up fit into 16 bits, and all units' products into 32.
MAX_WEIGHT, MAX_OUTPUT_WEIGHT = (1 << 15) // 13 - 1, (1 << 16) // UNITS - 1


class AwaleNetworkWeights(Layout):
    """The table of the network: a row for each number of seeds in each pit and in play, and the last row."""

    rows: Annotated[list[list[Int16]], ROWS, UNITS]


awale_network_weights_at = record_at(AwaleNetworkWeights)

VECTOR, WIDE = ir.VectorType(I16, UNITS), ir.VectorType(I32, UNITS)


def _int64(value: int) -> ir.Constant:
    return ir.Constant(I64, value)


def _broadcast(value: int) -> ir.Constant:
    return ir.Constant(VECTOR, [ir.Constant(I16, value)] * UNITS)


def _emit_forward(b: Builder, own: Any, opp: Any, seeds: Any, weights: Any) -> Any:
    start = b.bitcast(weights, VECTOR.as_pointer())

    def row(index: Any) -> Any:
        return b.load(b.gep(start, [index]), align=64)

    sums = row(b.add(seeds, _int64(IN_PLAY_ROW)))
    for pit in range(PITS):
        held = b.and_(b.lshr(own if pit < 6 else opp, _int64(8 * (pit % 6))), _int64(PIT_SLOTS - 1))
        sums = b.add(sums, row(b.add(held, _int64(PIT_SLOTS * pit))))
    sums = b.select(b.icmp_signed("<", sums, _broadcast(0)), _broadcast(0), sums)
    sums = b.select(b.icmp_signed(">", sums, _broadcast(MAX_ACTIVATION)), _broadcast(MAX_ACTIVATION), sums)
    products = b.mul(b.sext(b.mul(sums, sums), WIDE), b.sext(row(_int64(OUTPUT_ROW)), WIDE))
    total = call(b, f"llvm.vector.reduce.add.v{UNITS}i32", I32, products)
    return b.ashr(b.sext(total, I64), _int64(OUTPUT_SHIFT))


@instruction("int64(uint64, uint64, int64, AwaleNetworkWeights)", _emit_forward)
def forward(own: U, opp: U, seeds: int, weights: AwaleNetworkWeights) -> int:
    """What the mover may expect of the seeds in play more than the opponent, in 16ths."""
    table = np.asarray(weights.rows)
    pits = [int(row) >> 8 * pit & PIT_SLOTS - 1 for row in (own, opp) for pit in range(6)]
    places = [PIT_SLOTS * pit + held for pit, held in enumerate(pits)]
    sums = table[[*places, IN_PLAY_ROW + seeds]].sum(axis=0, dtype=np.int64)
    return int(np.clip(sums, 0, MAX_ACTIVATION) ** 2 @ table[OUTPUT_ROW].astype(np.int64)) >> OUTPUT_SHIFT
