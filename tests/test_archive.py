"""The archive on SQLite and, if it is installed, on a real PostgreSQL server."""

import os
import random
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from conftest import random_record
from database import find_programs, new_database, postgres
from sqlalchemy import Connection, select, text

from awello import PASS, Game, Position, Record, parse_position, parse_transcript
from awello.archive import archive as archives
from awello.archive import importer, position_index, schema
from awello.archive.archive import Archive, GameFilter
from awello.archive.explorer import explore
from awello.archive.game_rows import parse_date
from awello.archive.importer import ImportReport, ImportSource, import_games
from awello.errors import AwelloError, ConfigError, NotationError, StorageError
from awello.kernel import U
from awello.rules.othello import apply_symmetry

GAMES = list(Game)


@pytest.fixture(scope="module")
def server() -> Iterator[str | None]:
    if find_programs() is None:
        yield None
    else:
        with postgres() as folder:
            yield folder


@pytest.fixture(params=["sqlite", "postgresql"])
def archive(request: pytest.FixtureRequest, server: str | None, tmp_path: Path) -> Iterator[Archive]:
    location = str(tmp_path / "archive.sqlite")
    if request.param == "postgresql":
        if server is None:
            pytest.skip("PostgreSQL is not installed")
        location = new_database(server, tmp_path.name)
    archive = Archive(location)
    yield archive
    archive.close()


def make_source(name: str, *records: Record | NotationError) -> ImportSource:
    return ImportSource(name, "test", name.encode(), b"head", records)


def import_sources(archive: Archive, *sources: ImportSource) -> list[ImportReport]:
    return import_games(archive, sources, lambda looked_at: None)


def read_tables(archive: Archive) -> dict[str, list[str]]:
    """Return the contents of all tables of an archive, for comparison."""
    with archive.engine.connect() as connection:
        tables = schema.metadata.sorted_tables
        return {table.name: sorted(map(str, connection.execute(select(table)))) for table in tables}


def full_record() -> Record:
    moves = parse_transcript("f5d6c3d3c4").moves
    tags = {"Black": "Ann O'Nym", "White": "Éva", "Event": "Cup; final", "Date": "1996.05.07", "RB": "2001.5"}
    times, values = (1.5, None, 0.25, 3.0, 2.0), (None, 0.5, -2.0, None, 4.0)
    return Record(Position.start(), moves, times, values, tags, 1, "ran out of time")


def test_records_are_stored_completely(archive: Archive) -> None:
    records = [random_record(game, seed) for game in GAMES for seed in range(3)]
    start = parse_position("-" * 26 + "XO" + "-" * 6 + "OX" + "-" * 28 + " O")
    records += [full_record(), Record(start), Record(start, (start.legal_moves()[0],))]
    numbers = [archive.add(record) for record in records]
    assert numbers == list(range(1, len(records) + 1))
    assert list(archive.load_records(numbers)) == records
    assert [archive.add(record) for record in reversed(records)] == numbers[::-1], "no game is stored twice"
    assert list(archive.load_records([3, 1, 99, 2])) == [records[2], records[0], records[1]]
    with pytest.raises(ConfigError, match="the archive has no game 99"):
        archive.load_record(99)


def test_a_repeated_import_changes_nothing(archive: Archive) -> None:
    records = [random_record(Game.OTHELLO, seed) for seed in range(30)]
    unfinished = Record(records[0].start, records[0].moves[:20])
    wrong = NotationError("line 3: no game")
    first = make_source("first", *records[:20], wrong, unfinished, records[3])
    second = make_source("second", *records[10:])
    reports = import_sources(archive, first, second)
    assert [(r.games, r.duplicates, r.unfinished, r.imported_before, r.errors) for r in reports] == [
        (22, 1, 1, 0, [wrong]),
        (20, 10, 0, 0, []),
    ]
    before = read_tables(archive)
    again = import_sources(archive, first, second)
    assert [(r.games, r.duplicates, r.unfinished, r.imported_before) for r in again] == [
        (22, 1, 1, 22),
        (20, 10, 0, 20),
    ]
    assert read_tables(archive) == before
    assert len(archive.find_numbers(GameFilter())) == 31


def test_an_interrupted_import_resumes(archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importer, "BATCH_GAMES", 7)
    monkeypatch.setattr(position_index, "PAGE_ENTRIES", 3)
    records = [random_record(GAMES[seed % 3], seed) for seed in range(40)]

    def cut(after: int) -> Iterator[Record]:
        yield from records[:after]
        raise KeyboardInterrupt

    for after in (3, 12, 33):
        with pytest.raises(KeyboardInterrupt):
            import_sources(archive, ImportSource("games", "test", b"games", b"", cut(after)))
    import_sources(archive, ImportSource("games", "test", b"games", b"", records))
    other = Archive(tmp_path / "other.sqlite")
    import_sources(other, ImportSource("games", "test", b"games", b"", records))
    assert read_tables(other) == read_tables(archive)
    other.close()


def test_the_explorer_counts_what_was_played(archive: Archive) -> None:
    records = [random_record(game, seed) for game in (Game.OTHELLO, Game.OTHELLO4, Game.ABAPA) for seed in range(60)]
    resigned = Record(Position.start(), parse_transcript("f5f6").moves, loser=0, reason="resigned")
    import_sources(archive, make_source("games", *records, resigned))
    seen: dict[tuple[Game, tuple[int, int]], Counter[tuple[int, int]]] = defaultdict(Counter)
    for record in (*records, resigned):
        for position, move in zip(record.positions(), record.moves, strict=False):
            after = position.after(move)
            won = 1 if record.winner == position.side else 0 if record.winner is None else -1
            seen[position.game, position.canonical()][hash(after.canonical()), won] += 1
    for record in records[::7]:
        for position in list(record.positions())[:-1:5]:
            counts, found = seen[position.game, position.canonical()], explore(archive, position)
            assert found.games == sum(counts.values()) == sum(branch.games for branch in found.moves)
            for branch in found.moves:
                following = hash(position.after(branch.move).canonical())
                text = (branch.wins, branch.draws, branch.losses)
                assert text == tuple(counts[following, won] for won in (1, 0, -1)) and sum(text) == branch.games


def test_symmetric_games_are_one(archive: Archive) -> None:
    played = random_record(Game.OTHELLO, 5)
    turned = [
        Record(played.start, tuple(transform_move(move, symmetry) for move in played.moves))
        for symmetry in (0, 3, 4, 7)
    ]
    assert len({record.moves for record in turned}) == 4
    import_sources(archive, make_source("games", *turned))
    (start,) = explore(archive, Position.start()).moves
    assert (Position.start().format_move(start.move), start.games) == ("f5", 4)
    for record in turned:
        for position, move in zip(record.positions(), record.moves, strict=False):
            (branch,) = explore(archive, position).moves
            assert branch.games == 4 and position.after(branch.move).canonical() == position.after(move).canonical()
    assert archive.find_numbers(GameFilter(position=turned[2].final)) == [1, 2, 3, 4]


def transform_move(move: int, symmetry: int) -> int:
    return move if move == PASS else int(apply_symmetry(U(1 << move), symmetry)).bit_length() - 1


def test_filters(archive: Archive) -> None:
    tiger = "f5d6c3d3c4f4f6f3e6e7d7g6"
    record = Record(Position.start(), parse_transcript(tiger).moves, tags={"Black": "Tamenori", "Date": "1990"})
    cup = Record(record.start, record.moves[:4], tags={"White": "tamenori 100%", "Event": "Open d'Été", "Date": "?"})
    awale = Record(Position.start(Game.ROMEIN), (0, 1), tags={"South": "Ada", "Date": "1991.02"})
    small = next(game for game in map(partial(random_record, Game.OTHELLO4), count()) if game.winner == 1)
    numbers = {archive.add(each): each for each in (record, cup, awale, small, full_record())}

    def found(**wanted: object) -> list[int]:
        return archive.find_numbers(GameFilter(**wanted))  # type: ignore[arg-type]

    assert found() == sorted(numbers) == [1, 2, 3, 4, 5]
    assert found(player="TAMENORI") == [1, 2] and found(player="100%") == [2] and found(player="_") == []
    assert found(event="OPEN D'ÉTÉ") == [2] and found(games=(Game.ROMEIN, Game.ABAPA)) == [3]
    assert found(years=(1990, 1990)) == [1] and found(years=(1991, 1996)) == [3, 5]
    assert (found(opening="tiger"), found(opening="TIGRE"), found(opening="no such")) == ([5], [1, 5], [])
    assert [found(result=result) for result in ("first", "second", "draw", "unfinished")] == [[5], [4], [], [1, 2, 3]]
    position = parse_transcript("f5d6c3d3").final
    assert found(position=position) == [1, 2, 5] and found(position=position, player="ann") == [5]
    assert explore(archive, position, GameFilter(player="tamenori")).games == 2
    with pytest.raises(ConfigError):
        archive.load_record(0)


@pytest.mark.parametrize(
    "text, date",
    [
        ("1996", "1996"),
        ("2004.09.18_05:54:38.MDT", "2004-09-18"),
        ("2004-09-18T05:54:38Z", "2004-09-18"),
        ("1095486878", "2004-09-18"),
        ("1996/05", "1996-05"),
        ("", None),
        ("May 1996", None),
    ],
)
def test_dates(text: str, date: str | None) -> None:
    assert parse_date(text) == date


def test_an_older_archive_runs_the_missing_migrations(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    archive.add(full_record())

    def add_column(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE games ADD COLUMN mood TEXT"))

    monkeypatch.setattr(
        archives,
        "ARCHIVE_SCHEMA",
        replace(schema.ARCHIVE_SCHEMA, migrations=[*schema.ARCHIVE_SCHEMA.migrations, add_column]),
    )
    for _ in range(2):
        newer = Archive(archive.location)
        with newer.engine.connect() as connection:
            assert connection.execute(text("SELECT mood, reason FROM games")).all() == [(None, "ran out of time")]
        assert newer.load_record(1) == full_record()
        newer.close()
    monkeypatch.undo()
    with pytest.raises(ConfigError, match="newer version of Awello"):
        Archive(archive.location)


def test_two_processes_can_write_concurrently(archive: Archive) -> None:
    records = [random_record(Game.OTHELLO, seed) for seed in range(40)]

    def write(part: list[Record]) -> None:
        other = Archive(archive.location)
        for record in part:
            other.add(record)
        other.close()

    writers = [threading.Thread(target=write, args=(records[at : at + 20],)) for at in (0, 10, 20)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert len(archive.find_numbers(GameFilter())) == 40
    assert explore(archive, Position.start()).games == 40


def test_invalid_locations(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database " * 100)
    for location, message in (
        (tmp_path / "text", "text' cannot be used: file is not a database; check the file, or give another one"),
        ("mysql://host/name", "give a file, or postgresql"),
        (
            "postgresql://nobody:secret@127.0.0.1:1/none",
            "archive 'postgresql://nobody:.*/none' cannot be used: .*; check",
        ),
        (tmp_path, "is a folder"),
        (tmp_path / "none" / "file", "there is no folder"),
    ):
        with pytest.raises(AwelloError, match=message) as caught:
            Archive(location)
        assert "\n" not in str(caught.value) and "secret" not in str(caught.value)


def test_an_archive_that_cannot_be_written_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(tmp_path / "a name with %.sqlite")
    archive.add(Record(Position.start(), (26,)))
    archive.close()
    monkeypatch.setattr(os, "access", lambda file, mode: mode != os.W_OK)
    archive = Archive(tmp_path / "a name with %.sqlite")
    assert archive.find_numbers(GameFilter()) == [1] and explore(archive, Position.start()).games == 1
    with pytest.raises(StorageError, match="readonly"):
        archive.add(Record(Position.start(), (19,)))
    archive.close()


def test_pages_are_filled_before_new_ones_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(position_index, "PAGE_ENTRIES", 4)
    archive = Archive(tmp_path / "archive.sqlite")
    rng = random.Random(1)
    for seed in range(9):
        archive.add(Record(Position.start(), (rng.choice(Position.start().legal_moves()),), tags={"n": str(seed)}))
    connection = sqlite3.connect(tmp_path / "archive.sqlite")
    sizes = [
        size // 14 for (size,) in connection.execute("SELECT length(entries) FROM index_pages ORDER BY bucket, page")
    ]
    assert sizes == [4, 4, 1] * 2, (
        "nine entries for each of two positions: the start position and the one after the first move"
    )
    connection.close()
    archive.close()
