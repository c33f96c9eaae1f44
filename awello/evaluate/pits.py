"""What a position of Awalé is worth: a small network that is read from tables (after NNUE, Y. Nasu 2018).

Each number of seeds in each pit has a learnt row of numbers, one for each of the network's units, and so has the number
of all seeds in play.  The thirteen rows that describe a position are added as vectors.  A unit's sum is held between
nothing and TOP and squared, and the last row says what it then adds to the value.  So units see pits together, at the
cost of one addition a pit.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder

from awello.bits import I32, I64, call
from awello.kernel import U, instruction
from awello.memory import I16, numbers_at

UNITS = 64
PITS, SLOTS = 12, 32  # pits, and numbers of seeds in a pit that are told apart
IN_PLAY = PITS * SLOTS  # the row of no seeds in play
LAST = IN_PLAY + 49  # the row of what units add
ROWS = LAST + 1
TOP = 181  # its square is nearly 1 << 15
SHIFT = 17  # of the sum of squares times the last row, to 16ths of a seed
WHOLE, LAST_WHOLE = 2**7.5, 64.0  # what 1 is in the table: in a row that is added, in the last one
LARGEST, LAST_LARGEST = (1 << 15) // 13 - 1, (1 << 16) // UNITS - 1  # so that no sum leaves its type

VECTOR, WIDE = ir.VectorType(I16, UNITS), ir.VectorType(I32, UNITS)


def _number(value: int) -> ir.Constant:
    return ir.Constant(I64, value)


def _all(value: int) -> ir.Constant:
    return ir.Constant(VECTOR, [ir.Constant(I16, value)] * UNITS)


def _emit_worth(b: Builder, own: Any, opp: Any, seeds: Any, weights: Any) -> Any:
    start = b.inttoptr(weights, VECTOR.as_pointer())

    def row(index: Any) -> Any:
        return b.load(b.gep(start, [index]), align=64)

    sums = row(b.add(seeds, _number(IN_PLAY)))
    for pit in range(PITS):
        held = b.and_(b.lshr(own if pit < 6 else opp, _number(8 * (pit % 6))), _number(SLOTS - 1))
        sums = b.add(sums, row(b.add(held, _number(SLOTS * pit))))
    sums = b.select(b.icmp_signed("<", sums, _all(0)), _all(0), sums)
    sums = b.select(b.icmp_signed(">", sums, _all(TOP)), _all(TOP), sums)
    products = b.mul(b.sext(b.mul(sums, sums), WIDE), b.sext(row(_number(LAST)), WIDE))
    total = call(b, f"llvm.vector.reduce.add.v{UNITS}i32", I32, products)
    return b.ashr(b.sext(total, I64), _number(SHIFT))


@instruction("int64(uint64, uint64, int64, int64)", _emit_worth)
def worth(own: U, opp: U, seeds: int, weights: int) -> int:
    """What the mover may expect of the seeds in play more than the opponent, in 16ths; the table is `aligned`."""
    table = numbers_at(weights, ROWS * UNITS).reshape(ROWS, UNITS)
    pits = [int(row) >> 8 * pit & SLOTS - 1 for row in (own, opp) for pit in range(6)]
    places = [SLOTS * pit + held for pit, held in enumerate(pits)]
    sums = table[[*places, IN_PLAY + seeds]].sum(axis=0, dtype=np.int64)
    return int(np.clip(sums, 0, TOP) ** 2 @ table[LAST].astype(np.int64)) >> SHIFT
