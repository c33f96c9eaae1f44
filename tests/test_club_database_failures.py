"""Killed databases, full disks, and databases of older versions."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from database import Postgres, find_programs, new_database
from sqlalchemy import event, inspect
from test_club_server import ClubHarness, play_random_moves, raises_club_error
from waiting import TIMEOUT

from awello import Game
from awello.archive.archive import Archive, GameFilter
from awello.archive.explorer import explore
from awello.archive.files import list_imported_files, read_source, restore_file
from awello.archive.importer import import_games
from awello.archive.schema import ARCHIVE_SCHEMA
from awello.club.accounts import Account, log_event
from awello.club.live_game import ClientConnection
from awello.club.schema import CLUB_SCHEMA
from awello.club.store import ClubStore
from awello.errors import ConfigError
from awello.storage.migrations import STATE_TABLE

DATABASES = Path(__file__).parent / "databases"  # SQLite dumps, one per released version


async def play_through_failure(club: ClubHarness, begin: Callable[[], Any], end: Callable[[], Any]) -> None:
    """Play while the database fails; check that acknowledged moves are kept and that refused moves have no effect."""
    players = [club.connect("Ann"), club.connect("Bob")]
    number = await club.start_game(players[0], players[1])
    with raises_club_error("unknown_tournament"):  # a NUL character is refused before it reaches the database
        await club.server.tournaments.enter(players[0], "\0")
    await play_random_moves(club, number, players, max_moves=4)
    club.clock.advance(7.0)
    await club.wait_for_heartbeat()
    before = await club.server.watch(players[0], number)
    assert before["clocks"][before["mover"]] == 293
    await asyncio.to_thread(begin)
    mover: ClientConnection = players[before["mover"]]
    claim, attempts = club.store.acquire, list[None]()
    club.store.acquire = lambda: attempts.append(None) or claim()  # type: ignore[method-assign, func-returns-value]
    with raises_club_error("storage"):
        while True:  # small writes may still fit on a full disk
            await club.server.store.write(lambda connection: log_event(connection, "x" * 5000))
    club.clock.advance(1000.0)  # the clocks are stopped until the database is available again
    with raises_club_error("storage"):
        await club.server.move(mover, number, before["ply"], before["legal"][0])
    await club.wait_until(lambda: len(attempts) > 1 or not club.server.store.failing)
    assert (await club.server.watch(mover, number))["moves"] == before["moves"]
    await asyncio.to_thread(end)
    await club.wait_until(lambda: not club.server.store.failing)
    after = await club.server.watch(mover, number)
    assert after["moves"] == before["moves"] and after["clocks"] == before["clocks"]
    await play_random_moves(club, number, players)
    await club.close()
    again = await ClubHarness(club.database, club.clock).open()
    assert (await again.server.watch(players[0], number))["over"], "the finished game is still stored after a restart"
    await again.close()


@pytest.mark.skipif(find_programs() is None, reason="PostgreSQL is not installed")
def test_a_killed_database_loses_nothing() -> None:
    server = Postgres()
    try:
        database = new_database(str(server.folder), "club")

        async def play() -> None:
            await play_through_failure(await ClubHarness(database).open(), server.kill, server.start)

        asyncio.run(asyncio.wait_for(play(), 2 * TIMEOUT))
    finally:
        server.remove()


def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    async def play() -> None:
        club = await ClubHarness(tmp_path / "club.sqlite").open()
        most = 0

        def limit(connection: Any, *_: Any) -> None:
            connection.execute(f"PRAGMA max_page_count = {most or 1 << 30}")

        def fill() -> None:
            nonlocal most
            most = club.store.read_blocking(
                lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar_one()
            )

        def empty() -> None:
            nonlocal most
            most = 0

        event.listen(club.store.engine, "checkout", limit)
        await play_through_failure(club, fill, empty)

    asyncio.run(asyncio.wait_for(play(), 2 * TIMEOUT))


# ---- databases of older versions -------------------------------------------------------------------------------------
def restore(file: Path, folder: Path) -> Path:
    database = folder / "old.sqlite"
    with sqlite3.connect(database) as connection:
        connection.executescript(file.read_text())
    return database


def columns(inspected: Any) -> dict[str, set[str]]:
    return {table: {column["name"] for column in inspected.get_columns(table)} for table in inspected.get_table_names()}


@pytest.mark.parametrize("file", sorted(DATABASES.glob("club-[0-9]*.sql")), ids=lambda file: file.stem)
def test_clubs_of_every_version_are_resumed(file: Path, tmp_path: Path) -> None:
    database = restore(file, tmp_path)

    async def play() -> None:
        club = await ClubHarness(database).open()
        assert columns(inspect(club.store.engine)) == {
            table.name: set(table.columns.keys()) for table in (STATE_TABLE, *CLUB_SCHEMA.tables.sorted_tables)
        }, "changed tables need a migration in club/schema.py"
        for name, number in (("Ann", 1), ("Bob", 2), ("rex", 3)):
            club.accounts[name] = Account(number, name, name == "rex")
        ann, bob, rex = map(club.connect, club.accounts)
        assert (await club.server.watch(ann, 1))["over"]
        for number, players in ((2, [ann, rex]), (3, [bob, ann])):
            state = club.server.live_games[number].to_json(club.server.now())
            assert state["ply"] > 5 and state["clocks"] == pytest.approx([300, 300], abs=2)
            await play_random_moves(club, number, players)
        await club.close()

    asyncio.run(asyncio.wait_for(play(), 2 * TIMEOUT))


@pytest.mark.parametrize("file", sorted(DATABASES.glob("archive-[0-9]*.sql")), ids=lambda file: file.stem)
def test_archives_of_every_version_are_read(file: Path, tmp_path: Path) -> None:
    archive = Archive(str(restore(file, tmp_path)))
    assert columns(inspect(archive.engine)) == {
        table.name: set(table.columns.keys()) for table in (STATE_TABLE, *ARCHIVE_SCHEMA.tables.sorted_tables)
    }, "changed tables need a migration in archive/schema.py"
    records = list(archive.load_records(archive.find_numbers(GameFilter())))
    assert [record.start.game for record in records].count(Game.OTHELLO4) == 2 and len(records) == 3
    assert all(record.final.over for record in records)
    assert archive.add(records[0]) == 1, "the game is already in the archive"
    archive.close()


def test_an_archive_of_an_older_version_keeps_its_files_and_tags(tmp_path: Path) -> None:
    archive = Archive(str(restore(DATABASES / "imports-0.1.0.sql", tmp_path)))
    record = archive.load_record(1)
    assert record.tags["Event"] == "Cup" and record.tags["Site"] == "Paris" and record.seconds == (1.5,) * 7
    assert [(file.name, file.games) for file in list_imported_files(archive)] == [("games.txt", 3)]
    assert restore_file(archive, "games.txt") == (3, {".txt": b"f5d6c3d3c4f4f6\nf5d6c5\nf5d6c5\n"})
    assert [move.games for move in explore(archive, record.start).moves] == [3], "positions are found"
    (report,) = import_games(archive, [read_source("games.txt", b"f5d6c3d3c4f4f6\nf5d6c5\nf5d6c5\n")], lambda _: None)
    assert (report.imported_before, report.games) == (3, 3), "the file has already been imported"
    indexes = inspect(archive.engine).get_indexes("source_games")
    assert [index["name"] for index in indexes] == ["ix_source_games_game"]
    archive.close()


def test_databases_of_a_newer_version_are_refused(tmp_path: Path) -> None:
    database = restore(DATABASES / "club-0.1.0.sql", tmp_path)
    with sqlite3.connect(database) as connection:
        connection.execute("UPDATE state SET steps = 99")
    with pytest.raises(ConfigError, match="written by a newer version of Awello"):
        ClubStore(database)
