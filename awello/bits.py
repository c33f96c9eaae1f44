"""Bit operations as machine instructions, and Othello's move generation as vector code.

A bitboard is a 64-bit word: bit `8 * row + column` is the square in that row and column, and bit 0 is a1.  Runs of
discs are traced in four directions in parallel, one per lane of a <4 x i64> vector: first by shifting up, then, in the
opposite directions, by shifting down.  A parallel prefix finds a run of up to six discs in three steps.  Without
compilation, the Python body of each instruction is used instead.
"""

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder

from awello.kernel import CPU_FEATURES, U, instruction

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)
LANES_TYPE = ir.VectorType(I64, 4)
ALL_BITS = 0xFFFFFFFFFFFFFFFF
INNER_COLUMNS = 0x7E7E7E7E7E7E7E7E  # columns b to g: only a vertical line can flip discs in columns a and h
SHIFT_DIRECTIONS = (
    (1, INNER_COLUMNS),
    (8, ALL_BITS),
    (7, INNER_COLUMNS),
    (9, INNER_COLUMNS),
)  # each entry: a shift, and the squares on which discs can be flipped in its two directions


@instruction("int64(uint64)", lambda b, word: b.ctpop(word))
def popcount(word: U) -> int:
    """Return the number of set bits."""
    return int(word).bit_count()


@instruction("int64(uint64)", lambda b, word: b.cttz(word, ir.Constant(I1, 1)))
def bit_scan(word: U) -> int:
    """Return the index of the lowest set bit; the word must not be zero."""
    return (int(word) & -int(word)).bit_length() - 1


@instruction("uint64(uint64)", lambda b, word: b.ctlz(word, ir.Constant(I1, 1)))
def leading_zeros(word: U) -> U:
    """Return the number of zero bits above the highest set bit; the word must not be zero."""
    return U(64 - int(word).bit_length())


@instruction("uint64(uint64)", lambda b, word: b.and_(word, b.sub(word, ir.Constant(I64, 1))))
def clear_lowest_bit(word: U) -> U:
    """Return the word without its lowest set bit."""
    return U(int(word) & int(word) - 1 & ALL_BITS)


@instruction("uint64(int64)", lambda b, index: b.shl(ir.Constant(I64, 1), index))
def bit(index: int) -> U:
    """Return a word in which only bit `index` is set."""
    return U(1 << int(index))


@instruction("int64(uint64)", lambda b, word: word)
def to_signed(word: U) -> int:
    """Convert a word to a signed integer; in Numba, the sum of a signed and an unsigned integer is a float."""
    return int(np.uint64(word).astype(np.int64))


@instruction("uint64(uint64)", lambda b, word: b.bswap(word))
def byte_swap(word: U) -> U:
    """Reverse the order of the eight bytes, which mirrors a board vertically."""
    return U(int.from_bytes(int(word).to_bytes(8, "little"), "big"))


def _emit_multiply_shift(b: Builder, first: Any, second: Any, low1: Any, high1: Any, low2: Any, high2: Any) -> Any:
    double = ir.IntType(128)
    products = [b.mul(b.zext(word, double), b.zext(low, double)) for word, low in ((first, low1), (second, low2))]
    carry = b.trunc(b.lshr(b.add(*products), ir.Constant(double, 64)), I64)
    return b.add(carry, b.add(b.mul(first, high1), b.mul(second, high2)))


@instruction("uint64(uint64, uint64, uint64, uint64, uint64, uint64)", _emit_multiply_shift)
def multiply_shift(first: U, second: U, low1: U, high1: U, low2: U, high2: U) -> U:
    """Hash two words: multiply each by a 128-bit factor and return the upper half of the sum (Dietzfelbinger 1996).

    With random factors, two different pairs of words have the same hash with a probability of at most 2^-63.  The
    sum is linear: a change of one word changes the sum by an amount that does not depend on the other word.
    """
    total = int(first) * (int(high1) << 64 | int(low1)) + int(second) * (int(high2) << 64 | int(low2))
    return U(total >> 64 & ALL_BITS)


def emit_call(b: Builder, name: str, result: Any, *arguments: Any) -> Any:
    """Emit a call to an LLVM intrinsic."""
    types = [argument.type for argument in arguments]
    function = b.module.globals.get(name) or ir.Function(b.module, ir.FunctionType(result, types), name)
    return b.call(function, arguments)


def emit_constant_table(b: Builder, name: str, kind: Any, rows: list[Any]) -> Any:
    """Emit a constant table; the linker merges the copies from different kernels."""
    table = b.module.globals.get(name)
    if table is None:
        content = ir.Constant(ir.ArrayType(kind, len(rows)), rows)
        table = ir.GlobalVariable(b.module, content.type, name)
        table.global_constant, table.linkage, table.initializer, table.align = True, "linkonce_odr", content, 64
    return table


def emit_extract(b: Builder, word: Any, mask: Any) -> Any:
    """Emit PEXT, which moves the bits that the mask selects to the lowest bits of the result; requires BMI2."""
    return emit_call(b, "llvm.x86.bmi.pext.64", I64, word, mask)


def _vector(values: list[int]) -> ir.Constant:
    return ir.Constant(LANES_TYPE, [ir.Constant(I64, value) for value in values])


SHIFT_LANES = _vector([shift for shift, _ in SHIFT_DIRECTIONS])
DOUBLE_SHIFT_LANES = _vector([2 * shift for shift, _ in SHIFT_DIRECTIONS])
FLIPPABLE_SQUARES_LANES = _vector([squares for _, squares in SHIFT_DIRECTIONS])
ZEROS, ONES, HIGHEST_BITS = _vector([0] * 4), _vector([1] * 4), _vector([1 << 63] * 4)
HAS_VECTOR_LEADING_ZEROS = {"avx512cd", "avx512vl"} <= CPU_FEATURES


def _emit_splat(b: Builder, word: Any) -> Any:
    """Copy a word to all four lanes."""
    first = b.insert_element(ir.Constant(LANES_TYPE, ir.Undefined), word, ir.Constant(I32, 0))
    return b.shuffle_vector(first, first, ir.Constant(ir.VectorType(I32, 4), [0] * 4))


def _emit_or_reduce(b: Builder, lanes: Any) -> Any:
    """Combine the four lanes into one word with OR."""
    return emit_call(b, "llvm.vector.reduce.or.v4i64", I64, lanes)


def _emit_run(b: Builder, start: Any, enemy: Any, shift: Any) -> Any:
    """Find the run of the opponent's discs next to `start`, one direction per lane."""
    run = b.and_(enemy, shift(start, SHIFT_LANES))
    run = b.or_(run, b.and_(enemy, shift(run, SHIFT_LANES)))
    pairs = b.and_(enemy, shift(enemy, SHIFT_LANES))
    run = b.or_(run, b.and_(pairs, shift(run, DOUBLE_SHIFT_LANES)))
    return b.or_(run, b.and_(pairs, shift(run, DOUBLE_SHIFT_LANES)))


def _emit_moves(b: Builder, own: Any, opp: Any) -> Any:
    enemy, mine = b.and_(_emit_splat(b, opp), FLIPPABLE_SQUARES_LANES), _emit_splat(b, own)
    up, down = (shift(_emit_run(b, mine, enemy, shift), SHIFT_LANES) for shift in (b.shl, b.lshr))
    return b.and_(_emit_or_reduce(b, b.or_(up, down)), b.not_(b.or_(own, opp)))


@cache
def _build_ray_table(sign: int) -> list[ir.Constant]:
    """Return the four rays from each square towards higher bits (`sign` 1) or lower bits (`sign` -1)."""
    return [_vector([_find_ray(square, sign * shift) for shift, _ in SHIFT_DIRECTIONS]) for square in range(64)]


def _find_ray(square: int, step: int) -> int:
    """Return the squares beyond a square in one direction, up to and including the edge of the board."""
    ray, at, after = 0, square, square + step
    while 0 <= after < 64 and abs(after % 8 - at % 8) <= 1:
        ray |= 1 << after
        at, after = after, after + step
    return ray


def emit_ray_flips(b: Builder, own: Any, opp: Any, square: Any) -> Any:
    """Emit code that finds flips along rays: the opponent's discs next to `square`, if a disc of the mover follows.

    The code is half as long as that of `emit_step_flips`, but needs a vector instruction that counts leading zeros.
    """
    mine, free = _emit_splat(b, own), b.not_(_emit_splat(b, opp))
    tables = [
        emit_constant_table(b, f"awello_rays_{name}", LANES_TYPE, _build_ray_table(sign))
        for name, sign in (("up", 1), ("down", -1))
    ]
    up, down = (b.load(b.gep(table, [ir.Constant(I64, 0), square], inbounds=True), align=32) for table in tables)
    ends = b.and_(up, free)
    end = b.and_(b.and_(ends, b.neg(ends)), mine)  # on an upward ray, the nearest square is the lowest bit
    flips = b.and_(up, b.select(b.icmp_unsigned("!=", end, ZEROS), b.sub(end, ONES), ZEROS))
    ends = b.and_(down, free)
    # On a downward ray, the nearest square is the highest bit.
    zeros = emit_call(b, "llvm.ctlz.v4i64", LANES_TYPE, ends, ir.Constant(I1, 0))
    end = b.and_(emit_call(b, "llvm.x86.avx2.psrlv.q.256", LANES_TYPE, HIGHEST_BITS, zeros), mine)
    return _emit_or_reduce(b, b.or_(flips, b.and_(down, b.neg(b.add(end, end)))))


def emit_step_flips(b: Builder, own: Any, opp: Any, square: Any) -> Any:
    """Emit code that finds flips by following each line step by step; works on all processors."""
    enemy, mine = b.and_(_emit_splat(b, opp), FLIPPABLE_SQUARES_LANES), _emit_splat(b, own)
    start, flips = _emit_splat(b, b.shl(ir.Constant(I64, 1), square)), ZEROS
    for shift in (b.shl, b.lshr):
        run = _emit_run(b, start, enemy, shift)
        closed = b.icmp_unsigned("!=", b.and_(shift(run, SHIFT_LANES), mine), ZEROS)
        flips = b.or_(flips, b.select(closed, run, ZEROS))
    return _emit_or_reduce(b, flips)


emit_flips = emit_ray_flips if HAS_VECTOR_LEADING_ZEROS else emit_step_flips


def _shift(word: int, step: int) -> int:
    """Shift a word by `step` bits: up if positive, down if negative."""
    return word << step & ALL_BITS if step > 0 else word >> -step


def _follow_directions(opp: U, start: int) -> list[tuple[int, int]]:
    """Return, for each direction, the run of the opponent's discs next to `start`, and this run shifted by one step."""
    lines = []
    for shift, squares in SHIFT_DIRECTIONS:
        enemy = int(opp) & squares
        for step in (shift, -shift):
            run = enemy & _shift(start, step)
            for _ in range(5):
                run |= enemy & _shift(run, step)
            lines.append((run, _shift(run, step)))
    return lines


@instruction("uint64(uint64, uint64)", _emit_moves)
def find_moves(own: U, opp: U) -> U:
    """Return the legal moves on an 8x8 board: the squares where the mover flips at least one disc."""
    empty = ~(int(own) | int(opp)) & ALL_BITS
    reached = 0
    for _, behind in _follow_directions(opp, int(own)):
        reached |= behind
    return U(reached & empty)


@instruction("uint64(uint64, uint64, int64)", emit_flips)
def find_flips(own: U, opp: U, square: int) -> U:
    """Return the opponent's discs that a move on `square` flips."""
    flips = 0
    for run, behind in _follow_directions(opp, 1 << int(square)):
        flips |= run if behind & int(own) else 0
    return U(flips)
