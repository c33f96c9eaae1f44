"""Othello on two words: the mover's discs and the opponent's discs, one bit a square.

Boards of 4x4 and 6x6 lie in the middle of the 8x8 layout, so that one move generator, one set of symmetries
and one hash serve all sizes: only the squares where a disc may be placed differ.  People name squares by the
board they see: on every size a1 is the top left corner.
"""

import re
from functools import cache

import numpy as np
import numpy.typing as npt

from awello.bits import FULL, bit, byte_swap, flips_of, moves_of, popcount
from awello.errors import NotationError
from awello.kernel import U, kernel

BLACK_START, WHITE_START = 0x0000000810000000, 0x0000001008000000
BOARD = {4: 0x00003C3C3C3C0000, 6: 0x007E7E7E7E7E7E00, 8: FULL}
SQUARES8, SQUARES6, SQUARES4 = U(BOARD[8]), U(BOARD[6]), U(BOARD[4])


# ---- rules: the kernels, which take a word of squares for the size of the board ---------------------------------
@kernel("UniTuple(uint64, 2)(uint64, uint64, int64)")
def play(own: U, opp: U, square: int) -> tuple[U, U]:
    """The position after a legal move, seen by the next mover."""
    turned = flips_of(own, opp, square)
    return opp ^ turned, own | turned | bit(square)


@kernel("boolean(uint64, uint64, uint64)")
def is_over(own: U, opp: U, squares: U) -> bool:
    """Whether neither side can move."""
    return bool(((moves_of(own, opp) | moves_of(opp, own)) & squares) == U(0))


@kernel("int64(uint64, uint64, uint64)")
def score(own: U, opp: U, squares: U) -> int:
    """The official score of a finished game for the mover: empty squares go to the winner."""
    difference = popcount(own) - popcount(opp)
    empty = popcount(squares) - popcount(own) - popcount(opp)
    if difference > 0:
        return difference + empty
    return difference - empty if difference < 0 else 0


@kernel("UniTuple(int64, 2)(uint64, uint64, uint64, uint8[::1], int8[::1])")
def put_passes(
    own: U, opp: U, squares: U, given: npt.NDArray[np.uint8], moves: npt.NDArray[np.int8]
) -> tuple[int, int]:
    """Write down moves that were given without passes, -1 for each pass; how many were legal, how many are written.

    It stops at the first that the rules forbid; a pass may stand before each.
    """
    written = 0
    for legal in range(given.size):
        square = int(given[legal])
        can = moves_of(own, opp) & squares
        if can == U(0):
            own, opp = opp, own
            can = moves_of(own, opp) & squares
            if can == U(0):
                return legal, written
            moves[written] = -1
            written += 1
        if square > 63 or can & bit(square) == U(0):
            return legal, written
        own, opp = play(own, opp, square)
        moves[written] = square
        written += 1
    return given.size, written


# ---- symmetries -------------------------------------------------------------------------------------------------
@kernel("uint64(uint64)")
def mirror(word: U) -> U:
    """The board with left and right exchanged."""
    word = (word >> U(1) & U(0x5555555555555555)) | (word & U(0x5555555555555555)) << U(1)
    word = (word >> U(2) & U(0x3333333333333333)) | (word & U(0x3333333333333333)) << U(2)
    return (word >> U(4) & U(0x0F0F0F0F0F0F0F0F)) | (word & U(0x0F0F0F0F0F0F0F0F)) << U(4)


@kernel("uint64(uint64)")
def transpose(word: U) -> U:
    """The board with rows and columns exchanged."""
    part = (word ^ word >> U(7)) & U(0x00AA00AA00AA00AA)
    word = word ^ part ^ part << U(7)
    part = (word ^ word >> U(14)) & U(0x0000CCCC0000CCCC)
    word = word ^ part ^ part << U(14)
    part = (word ^ word >> U(28)) & U(0x00000000F0F0F0F0)
    return word ^ part ^ part << U(28)


@kernel("uint64(uint64, int64)")
def symmetric(word: U, symmetry: int) -> U:
    """The board under one of the eight symmetries: bit 0 mirrors, bit 1 turns upside down, bit 2 transposes."""
    if symmetry & 1:
        word = mirror(word)
    if symmetry & 2:
        word = byte_swap(word)
    if symmetry & 4:
        word = transpose(word)
    return word


@kernel("UniTuple(uint64, 2)(uint64, uint64)")
def canonical(own: U, opp: U) -> tuple[U, U]:
    """The smallest of the eight symmetric positions: the same key for all of them."""
    best_own, best_opp = own, opp
    for symmetry in range(1, 8):
        new_own = symmetric(own, symmetry)
        if new_own > best_own:
            continue
        new_opp = symmetric(opp, symmetry)
        if new_own < best_own or new_opp < best_opp:
            best_own, best_opp = new_own, new_opp
    return best_own, best_opp


# ---- notation -----------------------------------------------------------------------------------------------------
COLUMNS = "abcdefgh"
PASS = -1
PASSES = ("pa", "--", "ps", "pass")
DISCS = {"X": 1, "x": 1, "b": 1, "B": 1, "*": 1, "O": 2, "o": 2, "w": 2, "W": 2, "-": 0, ".": 0}


def square_at(column: int, row: int, size: int) -> int:
    """The square in the 8x8 layout at a place of the board people see, both counted from 0."""
    margin = (8 - size) // 2
    return 8 * (row + margin) + column + margin


@cache
def squares_of(size: int) -> tuple[int, ...]:
    """The squares of a board in reading order: a1, b1 and so on."""
    return tuple(square_at(column, row, size) for row in range(size) for column in range(size))


def format_square(square: int, size: int) -> str:
    """The name of a square: `f5`."""
    margin = (8 - size) // 2
    return f"{COLUMNS[square % 8 - margin]}{square // 8 - margin + 1}"


def parse_square(text: str, size: int) -> int:
    """The square of a name: `f5`, in any case."""
    name = text.strip().lower()
    if re.fullmatch(r"[a-h][1-8]", name):
        column, row = COLUMNS.index(name[0]), int(name[1]) - 1
        if column < size and row < size:
            return square_at(column, row, size)
    last = f"{COLUMNS[size - 1]}{size}"
    raise NotationError(f"{text!r} is no square of this board: name a column and a row, a1 to {last}")


def format_board(black: int, white: int, side: int, size: int) -> str:
    """A board as in OBF files: its squares in reading order (X black, O white, - empty) and the side to move."""
    discs = "".join("X" if black >> s & 1 else "O" if white >> s & 1 else "-" for s in squares_of(size))
    return f"{discs} {'XO'[side]}"


def parse_board(text: str) -> tuple[int, int, int, int]:
    """Black's discs, White's discs, the side to move and the size of a board as in OBF files."""
    board, _, mover = text.strip().removesuffix(";").strip().rpartition(" ")
    board, mover = "".join(board.split()), mover.strip()
    sizes = {size * size: size for size in BOARD}
    if len(mover) != 1 or not DISCS.get(mover):
        raise NotationError(f"the board must end with a space and the side to move, X or O, not {mover[:12]!r}")
    if len(board) not in sizes:
        raise NotationError(f"the board has {len(board)} squares: give 64 (or 36, 16) of X, O and -")
    size = sizes[len(board)]
    words = [0, 0, 0]
    for square, letter in zip(squares_of(size), board, strict=True):
        if letter not in DISCS:
            raise NotationError(f"{letter!r} on {format_square(square, size)} is no disc: write X, O or -")
        words[DISCS[letter]] |= 1 << square
    return words[1], words[2], DISCS[mover] - 1, size
