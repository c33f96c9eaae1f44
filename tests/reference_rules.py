"""Reference implementations of the rules of Othello and Awalé: slow and simple, to check the fast kernels.

They are written directly from the rules, use neither bitboards nor arrays, and import nothing from the package.
A position is immutable, and `play` returns the next one. If a reference and a kernel disagree, first compare the
reference with the rules, because the reference is shorter than the kernel.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

PASS = -1

# ---------------------------------------------------------------------------------------------- Othello

OTHELLO_SIZES = (4, 6, 8)
EMPTY, BLACK, WHITE = ".", "X", "O"
COLOURS = (BLACK, WHITE)
DIRECTIONS = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))


@dataclass(frozen=True)
class ReferenceOthello:
    """A position of Othello: 64 squares from a1 to h8, row by row, and the side to move.

    A board of size 4 or 6 is in the centre of the 64 squares; the others always stay empty.
    """

    size: int
    squares: tuple[str, ...]
    side: int = 0

    @classmethod
    def start(cls, size: int) -> ReferenceOthello:
        """Return the start position on a board of this size."""
        if size not in OTHELLO_SIZES:
            raise ValueError(f"no board of size {size}: choose one of {OTHELLO_SIZES}")
        squares = [EMPTY] * 64
        squares[27] = squares[36] = WHITE  # d4, e5
        squares[28] = squares[35] = BLACK  # e4, d5
        return cls(size, tuple(squares))

    def legal_moves(self) -> list[int]:
        """Return the legal moves in ascending order: [PASS] if the side must pass, [] if the game is over."""
        if moves := self._placements(self.side):
            return moves
        return [PASS] if self._placements(1 - self.side) else []

    def play(self, move: int) -> ReferenceOthello:
        """Return the position after a legal move."""
        if move not in self.legal_moves():
            raise ValueError(f"{move} is not a legal move here")
        squares = list(self.squares)
        if move != PASS:
            for square in [move, *self._flips(move, self.side)]:
                squares[square] = COLOURS[self.side]
        return replace(self, squares=tuple(squares), side=1 - self.side)

    def over(self) -> bool:
        """Return whether neither player can place a disc."""
        return not self.legal_moves()

    def score(self) -> tuple[int, int]:
        """Return the official final score, Black's count first; empty squares go to the winner."""
        if not self.over():
            raise ValueError("the game is not over")
        black, white = self.squares.count(BLACK), self.squares.count(WHITE)
        empty = self.size * self.size - black - white
        if black > white:
            return black + empty, white
        if white > black:
            return black, white + empty
        return black + empty // 2, white + empty // 2

    def words(self) -> tuple[int, int]:
        """Return the position as two 64-bit words, the mover's discs first."""
        return self._word(self.side), self._word(1 - self.side)

    def _word(self, side: int) -> int:
        """Return the word in which bit n is set if this side has a disc on square n."""
        return sum(2**square for square in range(64) if self.squares[square] == COLOURS[side])

    def _placements(self, side: int) -> list[int]:
        """Return the squares where this side could place a disc."""
        return [square for square in range(64) if self._flips(square, side)]

    def _flips(self, square: int, side: int) -> list[int]:
        """Return the squares that this side would flip with a move on this square; none if the move is illegal."""
        row, column = divmod(square, 8)
        if not self._on_board(row, column) or self.squares[square] != EMPTY:
            return []
        flips = []
        for row_step, column_step in DIRECTIONS:
            flips += self._flips_along(row, column, row_step, column_step, side)
        return flips

    def _flips_along(self, row: int, column: int, row_step: int, column_step: int, side: int) -> list[int]:
        """Return the squares that this side would flip in one direction by a move on this row and column."""
        enclosed: list[int] = []
        while True:
            row, column = row + row_step, column + column_step
            if not self._on_board(row, column):
                return []
            colour = self.squares[8 * row + column]
            if colour == EMPTY:
                return []
            if colour == COLOURS[side]:
                return enclosed
            enclosed.append(8 * row + column)

    def _on_board(self, row: int, column: int) -> bool:
        """Return whether this row and column are on the board, which may be smaller than 8x8."""
        margin = (8 - self.size) // 2
        return margin <= row < 8 - margin and margin <= column < 8 - margin


# ----------------------------------------------------------------------------------------------- Awalé

AWALE_VARIANTS = ("abapa", "tournament", "romein")
MAJORITY, FEW_SEEDS, REPETITION, NO_MOVE = "majority", "few seeds", "repetition", "no move"

Row = tuple[int, ...]
Key = tuple[tuple[Row, Row], tuple[int, int], int]


@dataclass(frozen=True)
class ReferenceAwale:
    """A position of Awalé: both rows, the captured seeds and the side to move.

    `history` contains the previous positions of the game; None disables the repetition rule.
    """

    variant: str
    rows: tuple[Row, Row] = ((4,) * 6, (4,) * 6)
    captured: tuple[int, int] = (0, 0)
    side: int = 0
    history: frozenset[Key] | None = frozenset()

    @classmethod
    def start(cls, variant: str) -> ReferenceAwale:
        """Return the start position of this variant."""
        if variant not in AWALE_VARIANTS:
            raise ValueError(f"no variant {variant!r}: choose one of {AWALE_VARIANTS}")
        return cls(variant)

    def without_repetition(self) -> ReferenceAwale:
        """Return the same position without the repetition rule."""
        return replace(self, history=None)

    def legal_moves(self) -> list[int]:
        """Return the legal moves in ascending order: [] if the game is over."""
        return [] if self.over() else self._permitted_moves()

    def play(self, move: int) -> ReferenceAwale:
        """Return the position after a legal move."""
        if move not in self.legal_moves():
            raise ValueError(f"{move} is not a legal move here")
        own, opponent, captured = self._outcome(move)
        south, north = self.captured
        history = None if self.history is None else self.history | {self._key()}
        if self.side == 0:
            return ReferenceAwale(self.variant, (own, opponent), (south + captured, north), 1, history)
        return ReferenceAwale(self.variant, (opponent, own), (south, north + captured), 0, history)

    def over(self) -> bool:
        """Return whether the game is over."""
        return self.end_reason() is not None

    def end_reason(self) -> str | None:
        """Return the reason why the game is over, or None if it is not."""
        if self.variant != "romein" and max(self.captured) >= 25:
            return MAJORITY
        if self.variant == "tournament" and sum(self.rows[0]) + sum(self.rows[1]) <= 6:
            return FEW_SEEDS
        if self.history is not None and self._key() in self.history:
            return REPETITION
        if not self._permitted_moves():
            return NO_MOVE
        return None

    def score(self) -> tuple[int, int]:
        """Return the final score, South's count first: the captured seeds plus a share of the remaining seeds."""
        if not self.over():
            raise ValueError("the game is not over")
        south_share, north_share = self._shares()
        return self.captured[0] + south_share, self.captured[1] + north_share

    def words(self) -> tuple[int, int]:
        """Return the position as two 64-bit words, the mover's word first."""
        return self._word(self.side), self._word(1 - self.side)

    def _word(self, side: int) -> int:
        """Return this side's word: one byte per pit, pit 0 lowest, then one byte for its captured seeds."""
        return sum(seeds * 256**place for place, seeds in enumerate([*self.rows[side], self.captured[side]]))

    def _key(self) -> Key:
        """Return the key that identifies repeated positions."""
        return self.rows, self.captured, self.side

    def _shares(self) -> tuple[int, int]:
        """Return how many of the remaining seeds count for each player when the game is over."""
        end_reason, south, north = self.end_reason(), sum(self.rows[0]), sum(self.rows[1])
        if end_reason == NO_MOVE or (end_reason == REPETITION and self.variant == "abapa"):
            return south, north
        if end_reason == REPETITION and self.variant == "romein":
            return (south + north) // 2, (south + north) // 2
        return 0, 0

    def _permitted_moves(self) -> list[int]:
        """Return the moves that the variant permits, even if the game is over."""
        moves = [pit for pit in range(6) if self.rows[self.side][pit] > 0]
        feeding = [move for move in moves if sum(self._outcome(move)[1]) > 0]
        if self.variant == "romein":
            return feeding or moves
        opponent_is_empty = sum(self.rows[1 - self.side]) == 0
        return feeding if opponent_is_empty else moves

    def _outcome(self, move: int) -> tuple[Row, Row, int]:
        """Return the mover's row, the opponent's row and the number of seeds captured after a move."""
        ring = [*self.rows[self.side], *self.rows[1 - self.side]]
        last = sow(ring, move)
        before_capture = list(ring)
        captured = capture(ring, last)
        if self.variant != "romein" and sum(ring[6:]) == 0:
            ring, captured = before_capture, 0  # a grand slam captures nothing
        return tuple(ring[:6]), tuple(ring[6:]), captured


def sow(ring: list[int], origin: int) -> int:
    """Sow a pit around the ring (the mover's pits are 0-5, the opponent's 6-11); return the last pit sown."""
    seeds, ring[origin] = ring[origin], 0
    place = origin
    while seeds > 0:
        place = (place + 1) % 12
        if place != origin:
            ring[place] += 1
            seeds -= 1
    return place


def capture(ring: list[int], last: int) -> int:
    """Capture 2 or 3 seeds from each opposing pit, backwards from the last pit sown; return the number of seeds."""
    captured = 0
    place = last
    while place >= 6 and ring[place] in (2, 3):
        captured += ring[place]
        ring[place] = 0
        place -= 1
    return captured


# ------------------------------------------------------------------------------------------------ Perft


def perft(position: ReferenceOthello | ReferenceAwale, depth: int) -> int:
    """Count the leaves of the game tree at this depth; a finished game counts as one leaf.

    A pass is a ply. The repetition rule is disabled.
    """
    if isinstance(position, ReferenceAwale):
        position = position.without_repetition()
    if depth == 0 or position.over():
        return 1
    return sum(perft(position.play(move), depth - 1) for move in position.legal_moves())
