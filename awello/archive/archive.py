"""The archive: a database of games with their results and all their tags, such as players and dates.

Identical games are stored once, even if several files contain them.  For each imported file, the archive stores which
games the file contains, so that the file can be restored.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, func, select

from awello.archive.game_rows import WINNER_DRAW, parse_start, row_to_record, store_records
from awello.archive.position_index import find_entries
from awello.archive.schema import ARCHIVE_SCHEMA, events, games, players
from awello.errors import ConfigError
from awello.folders import user_data_folder
from awello.formats.openings import load_opening_names
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game
from awello.storage.database import MAX_QUERY_VALUES, open_database, select_among, write_transaction

WINNER_BY_RESULT = {"first": 0, "second": 1, "draw": WINNER_DRAW, "unfinished": None}  # values of the column `winner`
second_players = players.alias()


def find_default_location() -> str:
    """Return the file or database URL in `AWELLO_ARCHIVE` or, by default, a file in the user's data folder."""
    if named := os.environ.get("AWELLO_ARCHIVE"):
        return named
    folder = user_data_folder()
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder / "archive.sqlite")


def parse_years(text: str) -> tuple[int, int] | None:
    """Parse a year or a range of years; return the first and the last year, or None for an empty text."""
    if not text:
        return None
    if not (match := re.fullmatch(r"([0-9]{4})(?:-([0-9]{4}))?", text.strip())):
        message = f"{text!r} is neither a year nor a range of years: write 1996 or 1990-1999"
        raise ConfigError(message, "invalid_years", text=text)
    first, last = int(match[1]), int(match[2] or match[1])
    if first > last:
        message = f"the first year is after the last: write {last}-{first}, not {text.strip()}"
        raise ConfigError(message, "reversed_years", first=first, last=last)
    return first, last


@dataclass(frozen=True)
class GameFilter:
    """A filter for games; empty fields match every game."""

    games: tuple[Game, ...] = ()
    """Rule sets; empty for all."""
    player: str = ""
    """Part of the name of either player."""
    event: str = ""
    """Part of the name of the event."""
    years: tuple[int, int] | None = None
    """The first and the last year, both included."""
    opening: str = ""
    """Part of the English or French name of the opening."""
    result: str = ""
    """A key of `WINNER_BY_RESULT`; empty for games with any result."""
    position: Position | None = None
    """Only games that reach this position or a symmetric one."""

    def build_conditions(self) -> Iterator[ColumnElement[bool]]:
        """Yield the conditions of the SQL query for all fields except `position`."""
        if self.games:
            yield games.c.variant.in_([int(game) for game in self.games])
        if self.player:
            named = select(players.c.id).where(players.c.name.icontains(self.player, autoescape=True))
            yield games.c.first.in_(named) | games.c.second.in_(named)
        if self.event:
            yield games.c.event.in_(select(events.c.id).where(events.c.name.icontains(self.event, autoescape=True)))
        if self.years:
            yield (games.c.date >= f"{self.years[0]:04d}") & (games.c.date < f"{self.years[1] + 1:04d}")
        if self.opening:
            text = self.opening.casefold()
            names = {each.en for each in load_opening_names().values() if text in f"{each.en}\n{each.fr}".casefold()}
            yield games.c.opening.in_(sorted(names))
        if self.result:
            winner = WINNER_BY_RESULT[self.result]
            yield games.c.winner.is_(None) if winner is None else games.c.winner == winner

    def select_rows(self, connection: Connection, *columns: ColumnElement[Any]) -> list[Any]:
        """Select the `id` and the given columns of the matching games, ordered by `id`."""
        query = select(games.c.id, *columns).where(*self.build_conditions()).order_by(games.c.id)
        if self.position is None:
            return list(connection.execute(query))
        passing = {int(number) for number in find_entries(connection, self.position)["game"]}
        if len(passing) <= MAX_QUERY_VALUES:
            query = query.where(games.c.id.in_(passing))
        return [row for row in connection.execute(query) if row.id in passing]


class Archive:
    """An open archive, stored in a file or in a PostgreSQL database."""

    def __init__(self, location: str | Path | None = None) -> None:
        self.location = str(location or find_default_location())
        self.engine = open_database(self.location, ARCHIVE_SCHEMA)

    def add(self, record: Record) -> int:
        """Add a game and return its number; a game that is already in the archive keeps its number."""
        with write_transaction(self.engine) as connection:
            return store_records(connection, [record])[0]

    def find_numbers(self, game_filter: GameFilter) -> list[int]:
        """Find the numbers of the matching games, in ascending order."""
        with self.engine.connect() as connection:
            return [row.id for row in game_filter.select_rows(connection)]

    def find_latest(
        self, game_filter: GameFilter, last: int, before_number: int | None = None
    ) -> tuple[int, list[Any]]:
        """Return the count of matching games, and the rows of the latest of them, in descending order of game number.

        Returns at most `last` rows; with `before_number`, only rows with lower numbers.  The count ignores both limits.
        """
        with self.engine.connect() as connection:
            counted, numbers = _find_latest(connection, game_filter, last, before_number)
        return counted, list(self.load_rows(numbers))

    def load_record(self, number: int) -> Record:
        """Load the game with the given number, or raise `ConfigError`."""
        for record in self.load_records([number]):
            return record
        raise ConfigError(f"the archive has no game {number}: 'awello games list' lists its games")

    def load_records(self, numbers: Sequence[int]) -> Iterator[Record]:
        """Load the games with these numbers, in the given order."""
        return map(row_to_record, self.load_rows(numbers))

    def load_rows(self, numbers: Sequence[int]) -> Iterator[Any]:
        """Load the rows of the games with these numbers, in the given order, with the names of players and events."""
        with self.engine.connect() as connection:
            for at in range(0, len(numbers), MAX_QUERY_VALUES):
                part = numbers[at : at + MAX_QUERY_VALUES]
                rows = {row.id: row for row in select_among(connection, _select_with_names(), games.c.id, part)}
                yield from (rows[number] for number in part if number in rows)

    def load_bare_records(self, numbers: Sequence[int]) -> Iterator[Record]:
        """Load only the start positions and moves of the games with these numbers, in no particular order.

        This is faster than `load_records`.
        """
        with self.engine.connect() as connection:
            query = select(games.c.variant, games.c.start, games.c.moves)
            for row in select_among(connection, query, games.c.id, numbers):
                yield Record(parse_start(row), tuple(np.frombuffer(row.moves, np.int8).tolist()))

    @property
    def is_empty(self) -> bool:
        """Whether the archive has no games."""
        with self.engine.connect() as connection:
            return connection.execute(select(games.c.id).limit(1)).first() is None

    def close(self) -> None:
        """Close the database."""
        self.engine.dispose()


def _find_latest(
    connection: Connection, game_filter: GameFilter, last: int, before_number: int | None
) -> tuple[int, list[int]]:
    """Return the count of matching games, and the game numbers of the latest of them, in descending order.

    Returns at most `last` game numbers; with `before_number`, only numbers below it.  The count ignores both limits.
    """
    number, conditions = games.c.id, list(game_filter.build_conditions())
    if game_filter.position is None:
        counted: int = connection.execute(select(func.count(number)).where(*conditions)).scalar_one()
        below = [] if before_number is None else [number < before_number]
        query = select(number).where(*conditions, *below).order_by(number.desc()).limit(last)
        return counted, list(connection.execute(query).scalars())
    passing = np.unique(find_entries(connection, game_filter.position)["game"])
    if conditions:
        passing = np.intersect1d(passing, list(connection.execute(select(number).where(*conditions)).scalars()))
    end = len(passing) if before_number is None else np.searchsorted(passing, before_number)
    return len(passing), passing[max(0, end - last) : end][::-1].tolist()


def _select_with_names() -> Select[Any]:
    """Build a query that selects games together with the names of their players and events."""
    joined = games.outerjoin(players, games.c.first == players.c.id)
    joined = joined.outerjoin(second_players, games.c.second == second_players.c.id)
    names = (
        players.c.name.label("first_name"),
        second_players.c.name.label("second_name"),
        events.c.name.label("event_name"),
    )
    return select(games, *names).select_from(joined.outerjoin(events, games.c.event == events.c.id))
