"""The rules of Othello on two words: the mover's discs and the opponent's discs, one bit per square.

4x4 and 6x6 boards occupy the centre of the 8x8 layout, so all sizes share the move generator, the symmetries and the
hash; they differ only in the playable squares.  Square names refer to the actual board: a1 is the top left corner of
every board, whatever its size.
"""

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from awello.bits import ALL_BITS, bit, byte_swap, find_flips, find_moves, popcount
from awello.errors import NotationError
from awello.kernel import U, kernel

BLACK_START, WHITE_START = 0x0000000810000000, 0x0000001008000000
BOARD_MASKS = {4: 0x00003C3C3C3C0000, 6: 0x007E7E7E7E7E7E00, 8: ALL_BITS}
BOARD_MASK8, BOARD_MASK6, BOARD_MASK4 = U(BOARD_MASKS[8]), U(BOARD_MASKS[6]), U(BOARD_MASKS[4])


# ---- rules (kernels); `board_mask` contains the playable squares ----------------------------------------------------
@kernel("UniTuple(uint64, 2)(uint64, uint64, int64)")
def play(own: U, opp: U, square: int) -> tuple[U, U]:
    """Return the position after a legal move, the next mover's word first."""
    flips = find_flips(own, opp, square)
    return opp ^ flips, own | flips | bit(square)


@kernel("boolean(uint64, uint64, uint64)")
def is_over(own: U, opp: U, board_mask: U) -> bool:
    """Return whether neither side can move."""
    return bool(((find_moves(own, opp) | find_moves(opp, own)) & board_mask) == U(0))


@kernel("int64(uint64, uint64, uint64)")
def score(own: U, opp: U, board_mask: U) -> int:
    """Return the mover's official score in a finished game; empty squares go to the winner."""
    difference = popcount(own) - popcount(opp)
    empty = popcount(board_mask) - popcount(own) - popcount(opp)
    if difference > 0:
        return difference + empty
    return difference - empty if difference < 0 else 0


@kernel("UniTuple(int64, 2)(uint64, uint64, uint64, uint8[::1], int8[::1])")
def insert_passes(
    own: U, opp: U, board_mask: U, given: npt.NDArray[np.uint8], moves: npt.NDArray[np.int8]
) -> tuple[int, int]:
    """Copy moves and insert the missing passes as -1; return the number of moves read and the number written.

    Copying stops at the first illegal move.
    """
    written = 0
    for count in range(given.size):
        square = int(given[count])
        legal_squares = find_moves(own, opp) & board_mask
        if legal_squares == U(0):
            own, opp = opp, own
            legal_squares = find_moves(own, opp) & board_mask
            if legal_squares == U(0):
                return count, written
            moves[written] = -1
            written += 1
        if square > 63 or legal_squares & bit(square) == U(0):
            return count, written
        own, opp = play(own, opp, square)
        moves[written] = square
        written += 1
    return given.size, written


# ---- symmetries -------------------------------------------------------------------------------------------------
@kernel("uint64(uint64)")
def mirror(word: U) -> U:
    """Mirror a board horizontally."""
    word = (word >> U(1) & U(0x5555555555555555)) | (word & U(0x5555555555555555)) << U(1)
    word = (word >> U(2) & U(0x3333333333333333)) | (word & U(0x3333333333333333)) << U(2)
    return (word >> U(4) & U(0x0F0F0F0F0F0F0F0F)) | (word & U(0x0F0F0F0F0F0F0F0F)) << U(4)


@kernel("uint64(uint64)")
def transpose(word: U) -> U:
    """Transpose a board: exchange its rows and columns."""
    part = (word ^ word >> U(7)) & U(0x00AA00AA00AA00AA)
    word = word ^ part ^ part << U(7)
    part = (word ^ word >> U(14)) & U(0x0000CCCC0000CCCC)
    word = word ^ part ^ part << U(14)
    part = (word ^ word >> U(28)) & U(0x00000000F0F0F0F0)
    return word ^ part ^ part << U(28)


@kernel("uint64(uint64, int64)")
def apply_symmetry(word: U, symmetry: int) -> U:
    """Apply one of the eight symmetries to a board.

    The bits of `symmetry` select steps, applied in this order: mirror (bit 0), flip vertically (bit 1) and transpose
    (bit 2).
    """
    if symmetry & 1:
        word = mirror(word)
    if symmetry & 2:
        word = byte_swap(word)
    if symmetry & 4:
        word = transpose(word)
    return word


@kernel("UniTuple(uint64, 2)(uint64, uint64)")
def canonical(own: U, opp: U) -> tuple[U, U]:
    """Return the smallest of the eight symmetric positions, which serves as their common key."""
    best_own, best_opp = own, opp
    for symmetry in range(1, 8):
        new_own = apply_symmetry(own, symmetry)
        if new_own > best_own:
            continue
        new_opp = apply_symmetry(opp, symmetry)
        if new_own < best_own or new_opp < best_opp:
            best_own, best_opp = new_own, new_opp
    return best_own, best_opp


# ---- notation -----------------------------------------------------------------------------------------------------
COLUMN_LETTERS = "abcdefgh"
PASS = -1
PASS_NAMES = ("pa", "--", "ps", "pass")
DISC_LETTERS = {"X": 1, "x": 1, "b": 1, "B": 1, "*": 1, "O": 2, "o": 2, "w": 2, "W": 2, "-": 0, ".": 0}


def square_at(column: int, row: int, size: int) -> int:
    """Return the square in the 8x8 layout for a column and row of the actual board, both counted from 0."""
    margin = (8 - size) // 2
    return 8 * (row + margin) + column + margin


@cache
def squares_of(size: int) -> tuple[int, ...]:
    """Return the squares of a board in reading order: a1, b1 and so on."""
    return tuple(square_at(column, row, size) for row in range(size) for column in range(size))


def format_square(square: int, size: int) -> str:
    """Return the name of a square, such as `f5`."""
    margin = (8 - size) // 2
    return f"{COLUMN_LETTERS[square % 8 - margin]}{square // 8 - margin + 1}"


def parse_square(text: str, size: int) -> int:
    """Parse the name of a square, such as `f5`; case does not matter."""
    name = text.strip().lower()
    if re.fullmatch(r"[a-h][1-8]", name):
        column, row = COLUMN_LETTERS.index(name[0]), int(name[1]) - 1
        if column < size and row < size:
            return square_at(column, row, size)
    last = f"{COLUMN_LETTERS[size - 1]}{size}"
    raise NotationError(f"{text!r} is not a square of this board: write a column and a row, from a1 to {last}")


# ---- adapter --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class OthelloAdapter:
    """Othello on a board of 8x8, 6x6 or 4x4 squares. Positions are written as in OBF files: `-...OX...- X`."""

    game_id: int
    """The id of the game in kernels."""
    size: int
    """The number of rows of the board."""
    variant = None
    """The name of the variant; None for Othello, which has no variants."""

    family, title, sides, unit = "othello", "Othello", ("Black", "White"), "discs"
    share_name = "board"  # what a side holds, as named in reports: "board held at the end, %"
    move_example, name_length = "a square, such as f5", 2
    start = BLACK_START, WHITE_START
    position_mask = ALL_BITS  # the bits of a word that describe the board, without captured seeds
    has_passes, has_symmetries, has_draw_offers = True, True, False
    has_repetition = False  # whether a repeated position ends the game

    @property
    def board_name(self) -> str:
        """The name of the board, which is the same for all variants of Awalé."""
        return self.family if self.size == 8 else f"{self.family}{self.size}"

    @property
    def max_score(self) -> int:
        """The number of squares, which is also the largest score."""
        return self.size**2

    @property
    def all_moves(self) -> tuple[int, ...]:
        """All moves of the game except the pass, legal or not."""
        return squares_of(self.size)

    def lead(self, own: int, opp: int) -> int:
        """Return the mover's lead in captured seeds; 0 in Othello."""
        return 0

    def check(self, own: int, opp: int) -> None:
        """Raise `NotationError` if the words are not a valid position."""
        if (own | opp) & ~BOARD_MASKS[self.size]:
            raise NotationError(f"a disc lies outside the board: use only its {self.max_score} squares")
        if both := own & opp:
            square = format_square(both.bit_length() - 1, self.size)
            raise NotationError(f"two discs lie on {square}: put at most one disc on a square")

    def counts(self, own: int, opp: int, repeated: bool) -> tuple[int, int]:
        """Return the numbers of discs or captured seeds of both sides, the mover first; final if the game is over."""
        return own.bit_count(), opp.bit_count()

    def score(self, first: int, second: int) -> tuple[int, int]:
        """Convert both sides' final numbers of discs or seeds to the official score."""
        empty = self.max_score - first - second
        share = empty if first > second else empty // 2 if first == second else 0
        return first + share, second + empty - share

    def end_reason(self, own: int, opp: int, repeated: bool) -> str:
        """Return why a finished game ended, as a key of `END_REASON_TEXTS`; empty if the Othello board is full."""
        return "" if (own | opp).bit_count() == self.max_score else "blocked"

    def canonical(self, own: int, opp: int) -> tuple[int, int]:
        """Return the canonical position as two words, the mover's and the opponent's."""
        own_word, opp_word = canonical(U(own), U(opp))
        return int(own_word), int(opp_word)

    def explain_illegal(self, own: int, move: int) -> str:
        """Return why a move is illegal, as text to be appended to the name of the move."""
        return "is not a legal move"

    def format_move(self, move: int, side: int) -> str:
        """Return the name of a move that is not a pass."""
        return format_square(move, self.size)

    def parse_move(self, text: str, side: int) -> int:
        """Parse the name of a move; raise `NotationError` if the name is invalid."""
        return PASS if text.strip().lower() in PASS_NAMES else parse_square(text, self.size)

    def side_of_move(self, name: str) -> int | None:
        """Return the side implied by the name of a move; None if both sides use the same names."""
        return None

    def is_position(self, text: str) -> bool:
        """Return whether a text looks like a position of this family; Othello is the fallback and accepts any text."""
        return True

    def format_position(self, first: int, second: int, side: int) -> str:
        """Format a position as text."""
        discs = "".join("X" if first >> move & 1 else "O" if second >> move & 1 else "-" for move in self.all_moves)
        return f"{discs} {'XO'[side]}"

    def parse_position(self, text: str) -> tuple[int, int, int, int]:
        """Parse a position; return the words of both players, the side to move and the id of the game."""
        board, _, mover = text.strip().removesuffix(";").strip().rpartition(" ")
        board, mover = "".join(board.split()), mover.strip()
        if len(mover) != 1 or not DISC_LETTERS.get(mover):
            raise NotationError(f"the board must end with a space and the side to move, X or O, not {mover[:12]!r}")
        adapter = next((game for game in ADAPTERS.values() if game.max_score == len(board)), None)
        if adapter is None:
            raise NotationError(f"the board has {len(board)} squares: give 64, 36 or 16 squares, each X, O or -")
        words = [0, 0, 0]
        for square, letter in zip(adapter.all_moves, board, strict=True):
            if letter not in DISC_LETTERS:
                name = adapter.format_move(square, 0)
                raise NotationError(f"unknown character {letter!r} on {name}: write X, O or -")
            words[DISC_LETTERS[letter]] |= 1 << square
        return words[1], words[2], DISC_LETTERS[mover] - 1, adapter.game_id


ADAPTERS = {game_id: OthelloAdapter(game_id, size) for game_id, size in enumerate((8, 6, 4))}
