"""What differs between the games outside the kernels: one adapter per family, reached as `game.adapter`.

General code never asks which game it has: it asks the adapter for facts (units, sides, whether there is a pass) and for
what depends on the rules (notation, scores, endings).  Higher layers have tables by family for what they add: engines,
heuristics, drawings.
"""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from awello.bits import FULL
from awello.errors import NotationError
from awello.kernel import U
from awello.rules import awale, othello

Pair = tuple[int, int]


@dataclass(frozen=True)
class GameAdapter(ABC):
    """The facts of a game, and its rules for words that belong to a position: the mover's first unless named else."""

    number: int
    """The game as kernels know it."""
    size: int
    """The rows of the board."""
    points: int
    """What the players share: the squares of the board, or the seeds."""
    moves: tuple[int, ...]
    """All moves that have a name, legal or not."""
    variant: str | None = None
    """The rule set, if the family has several."""

    family: ClassVar[str]
    title: ClassVar[str]
    sides: ClassVar[tuple[str, str]]
    unit: ClassVar[str]
    """What scores count."""
    holding: ClassVar[str]
    """What the players hold a share of at the end."""
    move_example: ClassVar[str]
    name_length: ClassVar[int]
    """The letters of a move's name."""
    start: ClassVar[Pair]
    board_bits: ClassVar[int] = FULL
    """The bits of a word on which legal moves depend."""
    has_passes: ClassVar[bool] = False
    has_repetition: ClassVar[bool] = False
    """Whether a repeated position ends the game."""
    has_symmetries: ClassVar[bool] = False
    has_draw_offers: ClassVar[bool] = True
    """Whether players may agree on a draw."""

    @property
    def board(self) -> str:
        """What tells boards apart: variants of the rules share one."""
        return self.family

    def lead(self, own: int, opp: int) -> int:
        """What the mover has already and cannot lose."""
        return 0

    @abstractmethod
    def check(self, own: int, opp: int) -> None:
        """Raise `NotationError` if two words are not a position."""

    @abstractmethod
    def holdings(self, own: int, opp: int, repeated: bool) -> Pair:
        """What both sides hold."""

    def score(self, first: int, second: int) -> Pair:
        """The official score of two holdings."""
        return first, second

    @abstractmethod
    def end(self, own: int, opp: int, repeated: bool) -> str:
        """What ended a finished game; empty if it needs no explanation."""

    def canonical(self, own: int, opp: int) -> Pair:
        """The two words that all symmetric positions share."""
        return own, opp

    def explain(self, own: int, move: int) -> str:
        """What is wrong with an illegal move, to be said after its name."""
        return "is no legal move"

    @abstractmethod
    def format_move(self, move: int, side: int) -> str:
        """The name of a move that is not a pass."""

    @abstractmethod
    def parse_move(self, text: str, side: int) -> int:
        """The move of a name; `NotationError` if it is not a name."""

    def owner_of(self, name: str) -> int | None:
        """The side that the name of a move belongs to, if it tells."""
        return None

    def is_position(self, text: str) -> bool:
        """Whether a text looks like a position of this family alone."""
        return False

    @abstractmethod
    def format_position(self, first: int, second: int, side: int) -> str:
        """A position as text."""

    @abstractmethod
    def parse_position(self, text: str) -> tuple[int, int, int, int]:
        """Both players' words, the side to move and the number of the game of a position's text."""


class OthelloAdapter(GameAdapter):
    """Othello on a board of 8x8, 6x6 or 4x4."""

    family, title, sides, unit, holding = "othello", "Othello", ("Black", "White"), "discs", "board"
    move_example, name_length = "a square, such as f5", 2
    start = othello.BLACK_START, othello.WHITE_START
    has_passes, has_symmetries, has_draw_offers = True, True, False

    @property
    def board(self) -> str:
        return self.family if self.size == 8 else f"{self.family}{self.size}"

    def check(self, own: int, opp: int) -> None:
        if (own | opp) & ~othello.BOARD[self.size]:
            raise NotationError(f"a disc lies outside the board: keep to its {self.points} squares")
        if both := own & opp:
            square = othello.format_square(both.bit_length() - 1, self.size)
            raise NotationError(f"two discs lie on {square}: a square holds one at most")

    def holdings(self, own: int, opp: int, repeated: bool) -> Pair:
        return own.bit_count(), opp.bit_count()

    def score(self, first: int, second: int) -> Pair:
        empty = self.points - first - second
        share = empty if first > second else empty // 2 if first == second else 0
        return first + share, second + empty - share

    def end(self, own: int, opp: int, repeated: bool) -> str:
        return "" if (own | opp).bit_count() == self.points else "blocked"

    def canonical(self, own: int, opp: int) -> Pair:
        own_word, opp_word = othello.canonical(U(own), U(opp))
        return int(own_word), int(opp_word)

    def format_move(self, move: int, side: int) -> str:
        return othello.format_square(move, self.size)

    def parse_move(self, text: str, side: int) -> int:
        return othello.PASS if text.strip().lower() in othello.PASSES else othello.parse_square(text, self.size)

    def format_position(self, first: int, second: int, side: int) -> str:
        return othello.format_board(first, second, side, self.size)

    def parse_position(self, text: str) -> tuple[int, int, int, int]:
        black, white, side, size = othello.parse_board(text)
        return black, white, side, SIZES.index(size)


class AwaleAdapter(GameAdapter):
    """Awalé under one of its variants.

    A position is written as `4-4-4-4-4-4-4-4-4-4-4-4-0-0-S`: South's pits, North's, the seeds taken, who moves.
    """

    family, title, sides, unit, holding = "awale", "Awalé", ("South", "North"), "seeds", "seeds"
    move_example, name_length = "a pit, such as C", 1
    start = awale.START, awale.START
    board_bits = int(awale.ROW)
    has_repetition = True

    def lead(self, own: int, opp: int) -> int:
        return (own >> 48) - (opp >> 48)

    def check(self, own: int, opp: int) -> None:
        if not (0 <= own < 1 << 56 and 0 <= opp < 1 << 56):
            raise NotationError("a row is no word of seven bytes: give six pits and the seeds taken")
        if (seeds := sum(own.to_bytes(7)) + sum(opp.to_bytes(7))) != awale.SEEDS:
            raise NotationError(f"the position holds {seeds} seeds: pits and seeds taken must add up to {awale.SEEDS}")

    def holdings(self, own: int, opp: int, repeated: bool) -> Pair:
        if not repeated and awale.legal_moves(self.number, U(own), U(opp)):
            return own >> 48, opp >> 48
        return awale.share_out(self.number, own, opp, repeated)

    def end(self, own: int, opp: int, repeated: bool) -> str:
        if repeated:
            return "repetition"
        if not awale.is_stopped(self.number, U(own), U(opp)):
            return "stuck"
        return "majority" if max(own, opp) >= awale.WON else "few"

    def explain(self, own: int, move: int) -> str:
        if move not in self.moves:
            return super().explain(own, move)
        return "would leave the opponent without seeds" if own >> 8 * move & 0xFF else "is empty"

    def format_move(self, move: int, side: int) -> str:
        return awale.PITS[side][move]

    def parse_move(self, text: str, side: int) -> int:
        name = text.strip()
        if len(name) == 1 and name.upper() in awale.PITS[0]:
            return awale.PITS[0].index(name.upper())
        raise NotationError(f"{text!r} is no pit: name one of {', '.join(awale.PITS[side])}")

    def owner_of(self, name: str) -> int | None:
        return int(name.islower())

    def is_position(self, text: str) -> bool:
        return re.match(r"\s*\d+-", text) is not None

    def format_position(self, first: int, second: int, side: int) -> str:
        fields = [*awale.pits_of(first), *awale.pits_of(second), first >> 48, second >> 48]
        return "-".join(map(str, fields)) + "-" + "SN"[side]

    def parse_position(self, text: str) -> tuple[int, int, int, int]:
        fields = text.strip().split("-")
        if len(fields) != 15:
            raise NotationError(f"the diagram has {len(fields)} parts: give 12 pits, 2 numbers of seeds taken, S or N")
        *numbers, mover = fields
        for number in numbers:
            if not re.fullmatch(r"[0-9]{1,2}", number):
                raise NotationError(f"{number[:12]!r} in the diagram is not a number of seeds")
        if mover.upper() not in ("S", "N"):
            raise NotationError(f"the diagram must end with the side to move, S or N, not {mover!r}")
        seeds = [int(number) for number in numbers]
        if (held := sum(seeds)) != self.points:
            raise NotationError(f"the diagram holds {held} seeds: pits and seeds taken must add up to {self.points}")
        south, north = (
            int.from_bytes(bytes([*pits, taken, 0]), "little")
            for pits, taken in ((seeds[:6], seeds[12]), (seeds[6:12], seeds[13]))
        )
        return south, north, "SN".index(mover.upper()), self.number


SIZES = (8, 6, 4)
VARIANTS = {"abapa": awale.ABAPA, "tournament": awale.TOURNAMENT, "romein": awale.ROMEIN}
ADAPTERS: dict[int, GameAdapter] = {
    number: OthelloAdapter(number, size, size**2, othello.squares_of(size)) for number, size in enumerate(SIZES)
} | {number: AwaleAdapter(number, 2, awale.SEEDS, tuple(range(6)), variant) for variant, number in VARIANTS.items()}
