"""Statistics of an archive: games, results, players, events, openings and years."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from awello.archive.archive import Archive, GameFilter
from awello.archive.game_rows import WINNER_DRAW
from awello.archive.schema import events, games, players
from awello.rules.game import Game


@dataclass(frozen=True)
class ArchiveStatistics:
    """Numbers of games; all lists except `years` are sorted by number of games, in descending order."""

    games: int
    first_wins: int
    second_wins: int
    draws: int
    unfinished: int
    mean_margin: float | None
    """The first player's mean margin in games played to the end."""
    by_game: list[tuple[Game, int]]
    players: list[tuple[str, int]]
    events: list[tuple[str, int]]
    openings: list[tuple[str, int]]
    years: list[tuple[str, int]]
    """In chronological order."""


def compute_statistics(archive: Archive, game_filter: GameFilter) -> ArchiveStatistics:
    """Compute the statistics of the games that match a filter."""
    columns = ("variant", "first", "second", "event", "date", "winner", "score", "opening")
    with archive.engine.connect() as connection:
        rows = game_filter.select_rows(connection, *(games.c[name] for name in columns))
        tables = [connection.execute(select(table.c.id, table.c.name)) for table in (players, events)]
        names = [{row.id: row.name for row in table} for table in tables]
    won = Counter(row.winner for row in rows)
    scores = [row.score for row in rows if row.score is not None]
    return ArchiveStatistics(
        len(rows),
        won[0],
        won[1],
        won[WINNER_DRAW],
        won[None],
        sum(scores) / len(scores) if scores else None,
        [(Game(game), count) for game, count in Counter(row.variant for row in rows).most_common()],
        _count_names([number for row in rows for number in {row.first, row.second}], names[0]),
        _count_names([row.event for row in rows], names[1]),
        Counter(row.opening for row in rows if row.opening).most_common(),
        sorted(Counter(row.date[:4] for row in rows if row.date).items()),
    )


def _count_names(numbers: list[Any], names: dict[Any, Any]) -> list[tuple[str, int]]:
    """Count the occurrences of each id; return the names with their counts, the most frequent first."""
    return [(names[number], count) for number, count in Counter(numbers).most_common() if number is not None]
