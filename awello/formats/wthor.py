"""WTHOR, the database format of the French Othello federation: games in `.wtb` files, names in `.jou` and `.trn` files.

A file consists of a 16-byte header and rows of fixed width, all little-endian.  A game takes 68 bytes: the numbers
that identify the event and the players, Black's score, Black's theoretical score, and 60 moves as ten times the row
plus the column, or 0 for no move.  The theoretical score is Black's score with best play from a certain number
of empty squares, which the header gives.  Passes are not stored.  A name takes 20 bytes (players) or 26 bytes (events)
of Latin-1, padded with zeros.

The numbers and scores of a row are kept as tags, so the records and the header suffice to write the same bytes again.
"""

import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from awello.errors import AwelloError, NotationError
from awello.formats.common import ReadResults, check_standard_othello
from awello.position import Position
from awello.record import Record, restore_passes
from awello.rules.game import PASS

HEADER_STRUCT = struct.Struct("<4BIHHBBBB")
GAME_STRUCT = struct.Struct("<HHHBB60s")
PLAYER_NAME_BYTES, EVENT_NAME_BYTES = 20, 26  # length of one name
UNKNOWN_NAME = "???"  # the name with number 0
MAX_NAMES = 1 << 16  # a file has fewer names than this, because the header counts them in 16 bits
PERFECT_SCORE_EMPTIES = 24  # empty squares from which theoretical scores are usually computed

INVALID_SQUARE = 255
SQUARE_BY_BYTE = bytes(
    8 * (n // 10) + n % 10 - 9 if n % 10 in range(1, 9) and n // 10 in range(1, 9) else INVALID_SQUARE
    for n in range(256)
)
BYTE_BY_SQUARE = bytes(10 * (square // 8) + square % 8 + 11 if square < 64 else 0 for square in range(256))
NUMBER_TAGS = ("EventNumber", "BlackNumber", "WhiteNumber", "Score", "Theoretical")
NAME_TAGS = ("Event", "Black", "White")


class WthorHeader(NamedTuple):
    """The first 16 bytes of a file."""

    century: int = 20
    """The creation date consists of `century`, `year_made`, `month` and `day`."""
    year_made: int = 0
    month: int = 0
    day: int = 0
    games: int = 0
    """The number of games; 0 in a file of names."""
    names: int = 0
    """The number of names; 0 in a file of games."""
    year: int = 0
    """The year of the games, 0 if unknown."""
    size: int = 8
    """The board size; 0 also means 8."""
    kind: int = 0
    """1 for solitaire problems, 0 for games."""
    depth: int = PERFECT_SCORE_EMPTIES
    """The number of empty squares from which the theoretical scores are computed."""
    spare: int = 0


@dataclass(frozen=True)
class WthorNames:
    """The names of players or events in a file, by number."""

    header: WthorHeader
    width: int
    """The length of a name in bytes: 20 for players, 26 for events."""
    names: tuple[str, ...]


# ---- reading --------------------------------------------------------------------------------------------------------
def parse_header(content: bytes) -> WthorHeader:
    """Parse the header of a file."""
    if len(content) < HEADER_STRUCT.size:
        raise NotationError(f"byte 0: expected a header of {HEADER_STRUCT.size} bytes, found {len(content)} bytes")
    return WthorHeader(*HEADER_STRUCT.unpack_from(content))


def is_wthor(content: bytes) -> bool:
    """Return whether the length of a file matches the number of games in its header, as in a `.wtb` file."""
    return (
        len(content) > HEADER_STRUCT.size
        and len(content) == HEADER_STRUCT.size + GAME_STRUCT.size * parse_header(content).games
    )


def read_wthor(content: bytes, players: Sequence[str] = (), events: Sequence[str] = ()) -> ReadResults:
    """Read the games of a `.wtb` file, using the given names of players and events."""
    try:
        header = parse_header(content)
        if header.size not in (0, 8):
            raise NotationError(f"byte 12: expected a board of size 8, found size {header.size}")
    except NotationError as error:
        yield error
        return
    games, extra_bytes = divmod(len(content) - HEADER_STRUCT.size, GAME_STRUCT.size)
    if games != header.games or extra_bytes:
        rest = f" and {extra_bytes} extra bytes" if extra_bytes else ""
        yield NotationError(f"byte 4: expected {header.games} games according to the header, found {games}{rest}")
    date, start = {"Date": str(header.year)} if header.year else {}, Position.start()
    for at in range(HEADER_STRUCT.size, HEADER_STRUCT.size + games * GAME_STRUCT.size, GAME_STRUCT.size):
        *numbers, row = GAME_STRUCT.unpack_from(content, at)
        try:
            moves = _parse_moves(row, start)
        except AwelloError as error:
            yield NotationError(f"byte {at}: {error}")
            continue
        event, black, white, _, _ = numbers
        tags = date | dict(zip(NUMBER_TAGS, map(str, numbers), strict=True))
        for tag, number, names in (("Event", event, events), ("Black", black, players), ("White", white, players)):
            if number < len(names) and names[number] != UNKNOWN_NAME:
                tags[tag] = names[number]
        yield Record(start, moves, tags=tags)


def _parse_moves(row: bytes, start: Position) -> tuple[int, ...]:
    """Parse the moves of a row and insert passes."""
    given = row.rstrip(b"\0")
    squares = given.translate(SQUARE_BY_BYTE)
    invalid = squares.find(INVALID_SQUARE)
    if invalid >= 0:
        raise NotationError(
            f"expected a row and a column from 1 to 8 as move {invalid + 1}, found {given[invalid]:02d}"
        )
    return restore_passes(start, memoryview(squares))


def parse_names(content: bytes) -> WthorNames:
    """Parse the names of a `.jou` or `.trn` file."""
    header = parse_header(content)
    size = len(content) - HEADER_STRUCT.size
    width = size // header.names if header.names else PLAYER_NAME_BYTES
    if width not in (PLAYER_NAME_BYTES, EVENT_NAME_BYTES) or size != width * header.names:
        raise NotationError(
            f"byte 8: expected {header.names} names according to the header, "
            f"each of {PLAYER_NAME_BYTES} or {EVENT_NAME_BYTES} bytes, found {size} bytes"
        )
    rows = (content[at : at + width] for at in range(HEADER_STRUCT.size, len(content), width))
    return WthorNames(header, width, tuple(row.partition(b"\0")[0].decode("latin-1") for row in rows))


# ---- writing --------------------------------------------------------------------------------------------------------
def write_wthor(records: Iterable[Record], header: WthorHeader | None = None) -> Iterator[bytes]:
    """Format a `.wtb` file; a missing number is written as 0, but a missing `Score` as Black's final score."""
    rows = [_format_row(record) for record in records]
    yield HEADER_STRUCT.pack(*(header or WthorHeader())._replace(games=len(rows)))
    yield from rows


def _format_row(record: Record) -> bytes:
    """Format a game in 68 bytes."""
    check_standard_othello(record, "WTHOR")
    numbers = [_parse_number_tag(record.tags, name) for name in NUMBER_TAGS]
    if numbers[3] is None:
        numbers[3] = record.final.score()[0]
    squares = bytes(move for move in record.moves if move != PASS)
    return GAME_STRUCT.pack(*(number or 0 for number in numbers), squares.translate(BYTE_BY_SQUARE))


def _parse_number_tag(tags: Mapping[str, str], name: str) -> int | None:
    """Parse a numeric tag; return None if it is missing."""
    if name not in tags:
        return None
    largest = 255 if name in ("Score", "Theoretical") else MAX_NAMES - 1
    if not re.fullmatch(r"[0-9]{1,5}", tags[name], re.A) or int(tags[name]) > largest:
        raise NotationError(f"the tag {name} is {tags[name][:12]!r}: give a number from 0 to {largest}")
    return int(tags[name])


def format_names(names: WthorNames) -> bytes:
    """Format a `.jou` or `.trn` file."""
    rows = [_format_name(name, names.width) for name in names.names]
    if len(rows) >= MAX_NAMES:
        raise NotationError(
            f"a WTHOR file stores at most {MAX_NAMES - 1} names, not {len(rows)}: write fewer games per file"
        )
    return HEADER_STRUCT.pack(*names.header._replace(names=len(rows))) + b"".join(rows)


def _format_name(name: str, width: int) -> bytes:
    try:
        row = name.encode("latin-1")
    except UnicodeEncodeError:
        row = bytes(width)
    if len(row) >= width or b"\0" in row:
        raise NotationError(f"WTHOR cannot store the name {name[:40]!r}: use at most {width - 1} Latin-1 characters")
    return row.ljust(width, b"\0")


def build_wthor(records: Iterable[Record], created: date) -> dict[str, bytes]:
    """Format games of one year as three files, keyed by file extension; players and events get new numbers."""
    rows, numbers = [], [{UNKNOWN_NAME: 0}, {UNKNOWN_NAME: 0}]
    years: set[int] = set()
    for record in records:
        tags = {name: record.tags[name] for name in ("Score", "Theoretical") if name in record.tags}
        for tag, number in zip(NAME_TAGS, NUMBER_TAGS, strict=False):
            numbers_by_name = numbers[tag == "Event"]
            tags[number] = str(numbers_by_name.setdefault(record.tags.get(tag, UNKNOWN_NAME), len(numbers_by_name)))
        year = re.match(r"[0-9]{4}", record.tags.get("Date", ""), re.A)
        years.add(int(year[0]) if year else 0)
        rows.append(replace(record, tags=tags))
    if len(years) > 1:
        listed = ", ".join(str(year or "unknown") for year in sorted(years))
        raise NotationError(
            f"a WTHOR file stores games of one year: write the games of each year ({listed}) to a separate file"
        )
    header = WthorHeader(created.year // 100, created.year % 100, created.month, created.day)
    names = [
        WthorNames(header._replace(size=0, depth=0), width, tuple(numbers_by_name))
        for width, numbers_by_name in zip((PLAYER_NAME_BYTES, EVENT_NAME_BYTES), numbers, strict=True)
    ]
    players, events = map(format_names, names)
    games = b"".join(write_wthor(rows, header._replace(year=max(years, default=0))))
    return {".wtb": games, ".jou": players, ".trn": events}
