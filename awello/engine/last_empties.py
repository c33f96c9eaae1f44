"""Exact search of positions with up to five empty squares, with one kernel per number of empty squares.

Most positions that an exact search visits have at most five empty squares.  The kernels use null windows: they return a
fail-soft bound that decides whether the score exceeds alpha.  An empty square that is alone in its quadrant is searched
first, because the player who moves into an odd region can also make the last move there.
"""

from typing import Any

from llvmlite import ir
from llvmlite.ir import IRBuilder as Builder

from awello.bits import (
    I64,
    bit,
    bit_scan,
    clear_lowest_bit,
    emit_constant_table,
    emit_extract,
    emit_flips,
    find_flips,
    find_moves,
    popcount,
)
from awello.engine.othello_state import OthelloState, odd_quadrants
from awello.engine.stability import stable_discs
from awello.kernel import CPU_FEATURES, U, instruction, kernel
from awello.rules.othello import score

NO_SCORE = -65  # below every score
# Stable discs are counted only if alpha reaches a threshold.  With a lower threshold, the search visits fewer nodes but
# counts stable discs more often without a cutoff.  In `endgame` and `midgame`, the threshold rises by
# STABILITY_ALPHA_PER_EMPTY per empty square.
STABILITY_ALPHA_PER_EMPTY = 2
STABILITY_LAST5_ALPHA = 8  # the threshold with five empty squares
QUADRANT1, QUADRANT2 = U(0x000000000F0F0F0F), U(0x00000000F0F0F0F0)
QUADRANT3, QUADRANT4 = U(0x0F0F0F0F00000000), U(0xF0F0F0F000000000)

# ---- flips of the last move -----------------------------------------------------------------------------------------
I8 = ir.IntType(8)
LINE_DIRECTIONS = ((1, 0), (0, 1), (-1, 1), (1, 1))


def _squares_on_line(square: int, dx: int, dy: int) -> list[int]:
    """Return the squares of the line through a square in a direction, in ascending order."""
    x, y = square % 8, square // 8
    while 0 <= x - dx < 8 and 0 <= y - dy < 8:
        x, y = x - dx, y - dy
    squares = []
    while 0 <= x < 8 and 0 <= y < 8:
        squares.append(8 * y + x)
        x, y = x + dx, y + dy
    return squares


def _count_flips_on_line(index: int, own: int) -> int:
    """Count the discs flipped by a move on a line without other empty squares."""
    flipped = 0
    for step in (1, -1):
        run, at = 0, index + step
        while 0 <= at < 8 and not own >> at & 1:
            run, at = run + 1, at + step
        flipped += run if 0 <= at < 8 else 0
    return flipped


FLIP_COUNTS = [_count_flips_on_line(index, own) for index in range(8) for own in range(256)]


def _emit_last_flips(b: Builder, own: Any, opp: Any, square: Any) -> Any:
    """Emit code that extracts the mover's discs on the four lines through a square, and looks up the flips per line."""

    def number(value: int) -> ir.Constant:
        return ir.Constant(I64, value)

    lines = [_squares_on_line(at, *line) for at in range(64) for line in LINE_DIRECTIONS]
    masks = emit_constant_table(b, "awello_lines", I64, [number(sum(1 << at for at in line)) for line in lines])
    bits = [number(line.index(at)) for at in range(64) for line in lines[4 * at : 4 * at + 4]]
    offsets = emit_constant_table(b, "awello_line_offsets", I64, bits)
    counts = emit_constant_table(b, "awello_flipped", I8, [ir.Constant(I8, count) for count in FLIP_COUNTS])
    total = number(0)
    for line in range(4):
        at = b.add(b.shl(square, number(2)), number(line))
        mask, offset = (b.load(b.gep(table, [number(0), at], inbounds=True)) for table in (masks, offsets))
        index = b.or_(b.shl(offset, number(8)), emit_extract(b, own, mask))
        total = b.add(total, b.zext(b.load(b.gep(counts, [number(0), index], inbounds=True)), I64))
    return total


def _emit_plain_flips(b: Builder, own: Any, opp: Any, square: Any) -> Any:
    """Emit code that counts the flips of the move, for processors without the PEXT instruction."""
    return b.ctpop(emit_flips(b, own, opp, square))


@instruction("int64(uint64, uint64, int64)", _emit_last_flips if "bmi2" in CPU_FEATURES else _emit_plain_flips)
def count_last_flips(own: U, opp: U, square: int) -> int:
    """Count the discs that a move on the last empty square flips."""
    flipped = 0
    for line in LINE_DIRECTIONS:
        squares = _squares_on_line(int(square), *line)
        discs = sum(1 << index for index, at in enumerate(squares) if int(own) >> at & 1)
        flipped += FLIP_COUNTS[256 * squares.index(int(square)) + discs]
    return flipped


# ---- one to five empty squares --------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, int64, int64)", inline=True)
def solve_1(own: U, opp: U, alpha: int, square: int) -> int:
    """Solve a position with one empty square."""
    difference = popcount(own) - popcount(opp)
    flipped = count_last_flips(own, opp, square)
    if flipped > 0:
        return difference + 2 * flipped + 1
    best = difference + 1 if difference > 0 else difference - 1
    if difference + 1 <= alpha:
        return difference + 1
    flipped = count_last_flips(opp, own, square)
    return difference - 2 * flipped - 1 if flipped > 0 else best


@kernel("int64(uint64, uint64, int64, int64, int64, uint64, uint64)", inline=True)
def best_of_2(own: U, opp: U, alpha: int, first: int, second: int, flips1: U, flips2: U) -> int:
    """Return the score of the better of two moves, at least one of which is legal."""
    best = NO_SCORE
    if flips1 != U(0):
        best = -solve_1(opp ^ flips1, own | flips1 | bit(first), ~alpha, second)
    if flips2 != U(0) and best <= alpha:
        best = max(best, -solve_1(opp ^ flips2, own | flips2 | bit(second), ~alpha, first))
    return best


@kernel("int64(uint64, uint64, int64, int64, int64)")
def solve_2(own: U, opp: U, alpha: int, first: int, second: int) -> int:
    """Solve a position with two empty squares.

    The flips of both moves are computed first, so that the CPU can overlap the two computations.
    """
    flips1, flips2 = find_flips(own, opp, first), find_flips(own, opp, second)
    if flips1 | flips2 != U(0):
        return best_of_2(own, opp, alpha, first, second, flips1, flips2)
    flips1, flips2 = find_flips(opp, own, first), find_flips(opp, own, second)
    if flips1 | flips2 != U(0):
        return -best_of_2(opp, own, ~alpha, first, second, flips1, flips2)
    return score(own, opp, own | opp | bit(first) | bit(second))


@kernel("int64(uint64, uint64, int64, int64, int64, int64, OthelloState)")
def solve_3(own: U, opp: U, alpha: int, first: int, second: int, third: int, state: OthelloState) -> int:
    """Solve a position with three empty squares, which are searched in the given order."""
    state.nodes += 1
    sign = 1
    for _ in range(2):
        flips1, flips2, flips3 = find_flips(own, opp, first), find_flips(own, opp, second), find_flips(own, opp, third)
        if flips1 | flips2 | flips3 != U(0):
            best = NO_SCORE
            if flips1 != U(0):
                best = -solve_2(opp ^ flips1, own | flips1 | bit(first), ~alpha, second, third)
            if flips2 != U(0) and best <= alpha:
                best = max(best, -solve_2(opp ^ flips2, own | flips2 | bit(second), ~alpha, first, third))
            if flips3 != U(0) and best <= alpha:
                best = max(best, -solve_2(opp ^ flips3, own | flips3 | bit(third), ~alpha, first, second))
            return sign * best
        own, opp, alpha, sign = opp, own, ~alpha, -sign
    return score(own, opp, own | opp | bit(first) | bit(second) | bit(third))


@kernel("uint64(uint64)", inline=True)
def lone_square(squares: U) -> U:
    """Return `squares` if it contains at most one square, otherwise 0."""
    return squares if clear_lowest_bit(squares) == U(0) else U(0)


@kernel("int64(uint64, uint64, uint64, int64, OthelloState)")
def solve_4(own: U, opp: U, empty: U, alpha: int, state: OthelloState) -> int:
    """Solve a position with four empty squares; those alone in a quadrant are searched first."""
    state.nodes += 1
    lone = (
        lone_square(empty & QUADRANT1)
        | lone_square(empty & QUADRANT2)
        | lone_square(empty & QUADRANT3)
        | lone_square(empty & QUADRANT4)
    )
    left = empty
    first = bit_scan(lone if lone != U(0) else left)
    left ^= bit(first)
    second = bit_scan(lone & left if lone & left != U(0) else left)
    left ^= bit(second)
    third, fourth = bit_scan(left), bit_scan(clear_lowest_bit(left))
    sign = 1
    for _ in range(2):
        best = NO_SCORE
        moves = find_moves(own, opp) & empty
        if moves != U(0):
            if moves & bit(first) != U(0):
                flips = find_flips(own, opp, first)
                best = -solve_3(opp ^ flips, own | flips | bit(first), ~alpha, second, third, fourth, state)
                if best > alpha:
                    return sign * best
            if moves & bit(second) != U(0):
                flips = find_flips(own, opp, second)
                best = max(best, -solve_3(opp ^ flips, own | flips | bit(second), ~alpha, first, third, fourth, state))
                if best > alpha:
                    return sign * best
            if moves & bit(third) != U(0):
                flips = find_flips(own, opp, third)
                best = max(best, -solve_3(opp ^ flips, own | flips | bit(third), ~alpha, first, second, fourth, state))
                if best > alpha:
                    return sign * best
            if moves & bit(fourth) != U(0):
                flips = find_flips(own, opp, fourth)
                best = max(best, -solve_3(opp ^ flips, own | flips | bit(fourth), ~alpha, first, second, third, state))
            return sign * best
        own, opp, alpha, sign = opp, own, ~alpha, -sign
    return score(own, opp, own | opp | empty)


@kernel("boolean(uint64, uint64, int64, OthelloState)", inline=True)
def is_stability_cutoff(own: U, opp: U, alpha: int, state: OthelloState) -> bool:
    """Return whether the opponent has so many stable discs that the score cannot exceed alpha."""
    return bool(64 - 2 * popcount(stable_discs(opp, own, state.stable_edges)) <= alpha)


@kernel("int64(uint64, uint64, uint64, uint64, int64, OthelloState)")
def solve_5(own: U, opp: U, empty: U, moves: U, alpha: int, state: OthelloState) -> int:
    """Solve a position with five empty squares and a legal move; moves in odd quadrants are searched first."""
    state.nodes += 1
    if alpha >= STABILITY_LAST5_ALPHA and is_stability_cutoff(own, opp, alpha, state):
        return alpha
    later = moves & ~odd_quadrants(empty)
    moves ^= later
    best = NO_SCORE
    for _ in range(2):
        while moves != U(0):
            square = bit_scan(moves)
            moves = clear_lowest_bit(moves)
            flips = find_flips(own, opp, square)
            best = max(best, -solve_4(opp ^ flips, own | flips | bit(square), empty ^ bit(square), ~alpha, state))
            if best > alpha:
                return best
        moves = later
    return best
