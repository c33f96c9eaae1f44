"""Convert records to database rows and back; identical records are stored once."""

import json
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
from sqlalchemy import Connection, Row, Table, select

from awello.archive.position_index import Entries, add_entries, build_entries
from awello.archive.position_keys import compute_position_key
from awello.archive.schema import events, games, players
from awello.formats.openings import load_opening_names
from awello.kernel import U, Words
from awello.position import Position, format_position, parse_position
from awello.record import Record
from awello.rules.game import PASS, Game
from awello.storage.database import next_id, select_among

RowValues = dict[str, Any]

WINNER_DRAW = 2  # a draw in the column `winner`, whose other values are the sides 0 and 1


# ---- a record and its row -------------------------------------------------------------------------------------------
def record_to_row(record: Record) -> RowValues:
    """Convert a record to a row that has names instead of ids and lacks the columns derived from the moves."""
    tags, start = dict(record.tags), record.start
    first, second = start.game.sides
    names = {"first": tags.pop(first, None), "second": tags.pop(second, None), "event": tags.pop("Event", None)}
    details = {"tags": tags, "seconds": record.seconds, "values": record.values}
    row = {
        "variant": int(start.game),
        **names,
        "start": None if start == Position.start(start.game) else format_position(start),
        "moves": np.array(record.moves, np.int8).tobytes(),
        "loser": record.loser,
        "reason": record.reason,
        "details": json.dumps({key: value for key, value in details.items() if value}, sort_keys=True),
    }
    digest = blake2b(repr(tuple(row.values())).encode(), digest_size=16).digest()
    return row | {"digest": digest, "date": parse_date(tags.get("Date", ""))}


def row_to_record(row: Row[Any]) -> Record:
    """Convert a row to a record; the row must have `first_name`, `second_name` and `event_name`."""
    start, details = parse_start(row), json.loads(row.details)
    moves = tuple(np.frombuffer(row.moves, np.int8).tolist())
    named = zip((*start.game.sides, "Event"), (row.first_name, row.second_name, row.event_name), strict=True)
    tags = {tag: name for tag, name in named if name is not None} | details.get("tags", {})
    seconds, values = (tuple(details.get(part, ())) for part in ("seconds", "values"))
    return Record(start, moves, seconds, values, tags, row.loser, row.reason)


def parse_start(row: Any) -> Position:
    """Return the start position of the game in a row."""
    game = Game(row.variant)
    return Position.start(game) if row.start is None else parse_position(row.start, game)


def parse_date(text: str) -> str | None:
    """Find a date at the start of a text; return `1996`, `1996-05` or `1996-05-07`, or None if there is no date."""
    if re.fullmatch(r"[0-9]{9,10}", text):  # seconds since 1970
        return datetime.fromtimestamp(int(text), UTC).date().isoformat()
    match = re.match(r"\s*([0-9]{4})(?:[-./]([0-9]{2})(?:[-./]([0-9]{2}))?)?", text)
    return "-".join(filter(None, match.groups())) if match else None


# ---- many records ---------------------------------------------------------------------------------------------------
def store_records(connection: Connection, records: Sequence[Record]) -> list[int]:
    """Store the records that are not yet in the archive; return the numbers of all given records.

    Requires a write transaction.
    """
    rows = [record_to_row(record) for record in records]
    query = select(games.c.digest, games.c.id)
    stored = select_among(connection, query, games.c.digest, [row["digest"] for row in rows])
    ids: dict[bytes, int] = {row.digest: row.id for row in stored}
    first, new_games = next_id(connection, games), list[tuple[Record, RowValues]]()
    for record, row in zip(records, rows, strict=True):
        if row["digest"] not in ids:
            ids[row["digest"]] = row["id"] = first + len(new_games)
            new_games.append((record, row))
    for game in sorted({record.start.game for record, _ in new_games}):
        _index_records(connection, game, [new for new in new_games if new[0].start.game == game])
    for table, columns in ((players, ("first", "second")), (events, ("event",))):
        _assign_numbers(connection, table, columns, [row for _, row in new_games])
    if new_games:
        connection.execute(games.insert(), [row for _, row in new_games])
    return [ids[row["digest"]] for row in rows]


def _index_records(connection: Connection, game: Game, new_games: Sequence[tuple[Record, RowValues]]) -> None:
    """Add new games to the position index, and set the results and openings in their rows."""
    entries, margins = build_entries(game, [record for record, _ in new_games], [row["id"] for _, row in new_games])
    add_entries(connection, game, entries)
    names = _find_openings(entries) if game is Game.OTHELLO else {}
    for (record, row), margin in zip(new_games, margins, strict=True):
        board = None if margin is None else WINNER_DRAW if margin == 0 else int(margin < 0)
        row["score"], row["winner"] = margin, board if record.loser is None else 1 - record.loser
        row["opening"] = names.get(row["id"])


def _find_openings(entries: Entries) -> dict[int, str]:
    """Return opening names by game number; a game gets the name of its last position that has a name."""
    keys, names = _load_named_keys()
    named = np.flatnonzero(np.isin(entries["key"], keys))
    at = np.searchsorted(keys, entries["key"][named])
    return {int(number): names[name] for number, name in zip(entries["game"][named], at, strict=True)}


@cache
def _load_named_keys() -> tuple[Words, list[str]]:
    """Load the keys of all positions with opening names, in ascending order, and the corresponding English names."""
    named = {
        int(compute_position_key(0, U(own), U(opp), PASS)[0]): opening.en
        for (own, opp), opening in load_opening_names().items()
    }
    return np.array(sorted(named), np.uint64), [named[key] for key in sorted(named)]


def _assign_numbers(connection: Connection, table: Table, columns: Iterable[str], rows: Sequence[RowValues]) -> None:
    """Replace the names in rows with their ids in a table, and add new names to this table."""
    names = sorted({row[column] for row in rows for column in columns} - {None})
    stored = select_among(connection, select(table.c.name, table.c.id), table.c.name, names)
    numbers: dict[str | None, int | None] = {None: None} | {row.name: row.id for row in stored}
    new = dict(zip((name for name in names if name not in numbers), count(next_id(connection, table))))
    if new:
        connection.execute(table.insert(), [{"id": number, "name": name} for name, number in new.items()])
    numbers |= new
    for row in rows:
        for column in columns:
            row[column] = numbers[row[column]]
