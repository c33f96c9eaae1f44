"""Helpers shared by the readers and writers of game files: errors, numbers, forfeits.

A reader yields a `Record` for each game. In place of a damaged game, the reader yields a `NotationError` and continues
with the next game. The error message names the location, what was expected and what was found.
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

MAX_GAME_CHARS = 1 << 18  # longer games are truncated
NUMBER_PATTERN = re.compile(r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})", re.A)
COLUMN_BY_LETTER = bytes((letter - ord("a")) % 8 for letter in range(256))
ROW_BY_DIGIT = bytes(8 * ((digit - ord("1")) % 8) for digit in range(256))
MAX_QUOTED_CHARS = 24  # characters of invalid input that error messages quote


class DamagedFileError(NotationError):
    """An error whose message already names its location in the damaged file."""


def make_damage_error(where: str, expected: str, found: str) -> DamagedFileError:
    """Create the error for unexpected content."""
    shown = found[:MAX_QUOTED_CHARS] + "..." * (len(found) > MAX_QUOTED_CHARS)
    return DamagedFileError(f"{where}: expected {expected}, found {repr(shown) if found else 'nothing'}")


def read_first_game(reading: ReadResults) -> Record:
    """Return the first game of a text; raise `NotationError` if there is none or if it is damaged."""
    found = next(reading, None)
    if found is None:
        raise NotationError("the text contains no game: give at least one")
    if isinstance(found, NotationError):
        raise found
    return found


def describe_extra_moves(record: Record) -> str:
    """Return the error message for moves after the end of a game."""
    reason = f" ({end})" if (end := record.final.describe_end()) else ""
    return f"the game is over after move {len(record.moves)}{reason}; later moves are ignored"


def iter_lines(content: str) -> Iterator[str]:
    """Yield the lines of a text one by one, without building a list of them."""
    at = 0
    while (end := content.find("\n", at)) >= 0:
        yield content[at:end]
        at = end + 1
    yield content[at:]


def parse_squares(columns: str, rows: str) -> memoryview:
    """Convert letters and digits to squares of an 8x8 board without a loop: `("fd", "56")` is f5 and d6."""
    letters, digits = columns.encode("ascii").translate(COLUMN_BY_LETTER), rows.encode("ascii").translate(ROW_BY_DIGIT)
    both = int.from_bytes(letters) + int.from_bytes(digits)  # at most 63 in each byte, so there is no carry
    return memoryview(both.to_bytes(len(letters)))


def parse_number(text: str) -> float | None:
    """Parse a number such as `-2.50`; return None if it is invalid."""
    number = float(text) if NUMBER_PATTERN.fullmatch(text) else math.inf
    return number if math.isfinite(number) else None


def format_number(number: float) -> str:
    """Format a number without an exponent, with enough digits to restore it exactly."""
    if not math.isfinite(number):
        raise NotationError(f"{number} is not a valid value or time: give a finite number")
    text = repr(float(number)).removesuffix(".0")
    return f"{Decimal(text):f}" if "e" in text else text


def check_standard_othello(record: Record, format: str) -> None:
    """Raise `NotationError` for a non-standard start, or if a side lost by resignation, on time or by forfeit."""
    if record.start != Position.start():
        raise NotationError(
            f"{format} stores only games of Othello from the standard start, not from {record.start!r}: omit the game"
        )
    if record.loser is not None:
        reason = record.reason or "no reason given"
        raise NotationError(
            f"{format} cannot store a loss by resignation, on time or by forfeit ({reason}): omit the game"
        )


def keep_if_any_known(numbers: Iterable[float | None]) -> tuple[float | None, ...]:
    """Return the values or times for a record, or an empty tuple if all are unknown."""
    kept = tuple(numbers)
    return kept if any(number is not None for number in kept) else ()


def format_loss(record: Record) -> str:
    """Format a loss by resignation, on time or by forfeit, such as `Black resigned`; return "" for other results."""
    return "" if record.loser is None else f"{record.start.game.sides[record.loser]} {record.reason}"


def parse_loss(text: str, game: Game) -> tuple[int | None, str]:
    """Parse the side that lost and the reason, as written by `format_loss`."""
    side, _, reason = text.partition(" ")
    if not text:
        return None, ""
    if side not in game.sides:
        raise NotationError(f"expected a loss such as '{game.sides[0]} resigned', found {text[:MAX_QUOTED_CHARS]!r}")
    return game.sides.index(side), reason
