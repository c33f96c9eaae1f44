"""Import games from files, in batches that are written completely or not at all.

A file is identified by its content, and a game by its number in the file.  Therefore, an interrupted import resumes
after its last complete batch, and importing a file again changes nothing.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from awello.archive.archive import Archive
from awello.archive.game_rows import store_records
from awello.archive.schema import games, source_games, sources
from awello.errors import NotationError
from awello.record import Record
from awello.storage.database import next_id, write_transaction

BATCH_GAMES = 20_000


@dataclass(frozen=True)
class ImportSource:
    """A file to import."""

    name: str
    format: str
    digest: bytes
    """Hash of the file's content."""
    header: bytes
    """Bytes needed to restore the file: the header of a `.wtb` file, or a whole `.jou` or `.trn` file; else empty."""
    records: Iterable[Record | NotationError]
    size_bytes: int = 0
    estimated_games: int = 1
    """An estimate of the number of games, used to report progress."""


PendingGame = tuple[ImportSource, int, Record]  # a file, the number of a game within this file, and the game


@dataclass
class ImportReport:
    """The result of importing a file."""

    source: ImportSource
    imported_before: int
    """The number of games that earlier imports of the same file have stored."""
    errors: list[NotationError] = field(default_factory=list)
    games: int = 0
    duplicates: int = 0
    """The number of games with the same moves as an older game, which is often the same game from another source."""
    unfinished: int = 0


def import_games(
    archive: Archive, files: Iterable[ImportSource], on_progress: Callable[[float], object]
) -> list[ImportReport]:
    """Import games from files; `on_progress` is called with the estimated number of bytes read since the last call."""
    reports, pending = [], list[PendingGame]()
    for source in files:
        with archive.engine.connect() as connection:
            reports.append(report := ImportReport(source, _count_imported(connection, source)))
        number, share = 0, source.size_bytes / max(1, source.estimated_games)
        for record in source.records:
            if isinstance(record, NotationError):
                report.errors.append(record)
                continue
            number += 1
            on_progress(share if number <= source.estimated_games else 0)
            if number > report.imported_before:
                pending.append((source, number, record))
            if len(pending) == BATCH_GAMES:
                _write_batch(archive, pending)
                pending.clear()
        on_progress(max(0, source.estimated_games - number) * share)
        if not (number or report.errors or source.header):
            report.errors.append(NotationError("the file contains no games; check its format and content"))
        if source.header and not (number or report.errors):
            with write_transaction(archive.engine) as connection:
                _store_source(connection, source)
    _write_batch(archive, pending)
    with archive.engine.connect() as connection:
        _complete_reports(connection, reports)
    return reports


def _count_imported(connection: Connection, source: ImportSource) -> int:
    """Count the games of a file that have already been imported."""
    mine = source_games.join(sources, source_games.c.source == sources.c.id)
    query = select(func.max(source_games.c.number)).select_from(mine).where(sources.c.digest == source.digest)
    return connection.execute(query).scalar() or 0


def _write_batch(archive: Archive, pending: Sequence[PendingGame]) -> None:
    """Write a batch of games in one transaction."""
    if not pending:
        return
    with write_transaction(archive.engine) as connection:
        numbers = store_records(connection, [record for _, _, record in pending])
        by_digest: dict[bytes, ImportSource] = {}
        for source, _, _ in pending:
            by_digest.setdefault(source.digest, source)
        ids = {digest: _store_source(connection, source) for digest, source in by_digest.items()}
        last = {digest: _count_imported(connection, source) for digest, source in by_digest.items()}
        rows = {  # a file may occur twice in the batch, or may have been imported by another process
            (ids[source.digest], at): number
            for (source, at, _), number in zip(pending, numbers, strict=True)
            if at > last[source.digest]
        }
        if rows:
            listed = [{"source": file, "number": at, "game": number} for (file, at), number in rows.items()]
            connection.execute(source_games.insert(), listed)


def _store_source(connection: Connection, source: ImportSource) -> int:
    """Add a file to the table `sources` if it is new; return its id."""
    existing = connection.execute(select(sources.c.id).where(sources.c.digest == source.digest)).scalar()
    if existing is not None:
        return int(existing)
    number = next_id(connection, sources)
    row = {"id": number, "name": source.name, "format": source.format, "digest": source.digest, "header": source.header}
    connection.execute(sources.insert().values(row))
    return number


def _complete_reports(connection: Connection, reports: Sequence[ImportReport]) -> None:
    """Set `games`, `duplicates` and `unfinished` of each report by counting the games in the archive."""
    duplicates = _find_duplicates(connection)
    mine = source_games.join(sources, source_games.c.source == sources.c.id).join(
        games, source_games.c.game == games.c.id
    )
    query = select(source_games.c.source, source_games.c.number, games.c.id, games.c.winner).select_from(mine)
    for report in reports:
        rows = connection.execute(query.where(sources.c.digest == report.source.digest)).all()
        report.games = len(rows)
        report.duplicates = sum(row.id in duplicates or (row.source, row.number) in duplicates for row in rows)
        report.unfinished = sum(row.winner is None for row in rows)


def _find_duplicates(connection: Connection) -> set[int | tuple[int, int]]:
    """Return the ids of games with the same moves as an older game, and the duplicate source entries.

    A source entry is a pair of numbers: the id of an imported file, and the number of a game within this file.  An
    entry is a duplicate if an earlier entry refers to the same game.
    """
    line = games.c.variant, func.coalesce(games.c.start, "").label("start"), games.c.moves
    first = select(*line, func.min(games.c.id).label("oldest")).group_by(*line).having(func.count() > 1).subquery()
    same = (games.c.moves == first.c.moves) & (games.c.variant == first.c.variant)
    same &= (func.coalesce(games.c.start, "") == first.c.start) & (games.c.id > first.c.oldest)
    duplicates: set[int | tuple[int, int]] = set(connection.execute(select(games.c.id).join(first, same)).scalars())
    often = select(source_games.c.game).group_by(source_games.c.game).having(func.count() > 1)
    query = select(source_games).where(source_games.c.game.in_(often))
    seen = set()
    for row in connection.execute(query.order_by(source_games.c.source, source_games.c.number)):
        if row.game in seen:
            duplicates.add((row.source, row.number))
        seen.add(row.game)
    return duplicates
