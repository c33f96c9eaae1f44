"""What the readers and writers of games share: how damage is told, numbers, and how a game was lost.

A reader yields a `Record` for each game and, where a file is damaged, a `NotationError` in place of the game: one line
that says where, what was expected and what was found.  It goes on with the next game that it can find.
"""

import math
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal

from awello.errors import NotationError
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

ReadResults = Iterator[Record | NotationError]

MAX_GAME_CHARS = 1 << 18  # characters of one game; a longer one is no game
NUMBER = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})", re.A)
COLUMN_BY_LETTER = bytes((letter - ord("a")) % 8 for letter in range(256))
ROW_BY_DIGIT = bytes(8 * ((digit - ord("1")) % 8) for digit in range(256))
MAX_QUOTED_CHARS = 24  # characters of what was found


class DamagedFileError(NotationError):
    """A damaged file: the message says where already."""


def damage_error(where: str, expected: str, found: str) -> DamagedFileError:
    """The error for a place where a file does not hold what it should."""
    shown = found[:MAX_QUOTED_CHARS] + "..." * (len(found) > MAX_QUOTED_CHARS)
    return DamagedFileError(f"{where}: expected {expected}, found {repr(shown) if found else 'nothing'}")


def read_first_game(reading: ReadResults) -> Record:
    """The first game of a text that must hold one; what is wrong with it is raised."""
    found = next(reading, None)
    if found is None:
        raise NotationError("there is no game in this text")
    if isinstance(found, NotationError):
        raise found
    return found


def describe_extra_moves(record: Record) -> str:
    """What to say of a game with moves behind its end."""
    ending = f" ({why})" if (why := record.final.describe_end()) else ""
    return f"the game is over after move {len(record.moves)}{ending}, what follows is left out"


def iter_lines(content: str) -> Iterator[str]:
    """The lines of a text one after the other, without a copy of all of them."""
    at = 0
    while (end := content.find("\n", at)) >= 0:
        yield content[at:end]
        at = end + 1
    yield content[at:]


def parse_squares(columns: str, rows: str) -> memoryview:
    """The squares of 8x8 whose names have these letters and these digits, fast: `("fd", "56")` is f5 and d6."""
    letters, digits = columns.encode("ascii").translate(COLUMN_BY_LETTER), rows.encode("ascii").translate(ROW_BY_DIGIT)
    both = int.from_bytes(letters) + int.from_bytes(digits)  # 63 at most in each byte, so that none is carried
    return memoryview(both.to_bytes(len(letters)))


def parse_number(text: str) -> float | None:
    """The number of a text such as `-2.50`, None if it is none."""
    number = float(text) if NUMBER.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def format_number(number: float) -> str:
    """A number in plain digits, as many as it needs to be read back exactly."""
    if not math.isfinite(number):
        raise NotationError(f"{number} is no value and no time: give a finite number")
    text = repr(float(number)).removesuffix(".0")
    return f"{Decimal(text):f}" if "e" in text else text


def check_standard_othello(record: Record, format: str) -> None:
    """Refuse a game that a format cannot hold: from another start than Othello's usual one, or lost off the board."""
    if record.start != Position.start():
        raise NotationError(f"{format} holds games of Othello from the usual start, not from {record.start!r}")
    if record.loser is not None:
        raise NotationError(f"{format} cannot tell that a player {record.reason or 'lost'}: leave the game out")


def keep_if_any_known(numbers: Iterable[float | None]) -> tuple[float | None, ...]:
    """Values or times as a record keeps them: none at all if all are unknown."""
    kept = tuple(numbers)
    return kept if any(number is not None for number in kept) else ()


def format_loss(record: Record) -> str:
    """Who lost and how, if the board does not decide: `Black resigned`."""
    return "" if record.loser is None else f"{record.start.game.sides[record.loser]} {record.reason}"


def parse_loss(text: str, game: Game) -> tuple[int | None, str]:
    """The side that lost, and how."""
    side, _, reason = text.partition(" ")
    if not text:
        return None, ""
    if side not in game.sides:
        raise NotationError(f"expected {' or '.join(game.sides)} and how they lost, found {text[:MAX_QUOTED_CHARS]!r}")
    return game.sides.index(side), reason
