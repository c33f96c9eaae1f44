"""The club's store: lost answers to COMMIT, servers that displace each other, and refused operations in a batch."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psycopg
import pytest
from database import find_programs, new_database, postgres
from postgres_proxy import AFTER, BEFORE, DURING, FORGET, PostgresProxy, postgres_proxy
from sqlalchemy import Connection, event, func, select, update
from test_club_server import ClubHarness, raises_club_error
from waiting import wait_until

from awello import Game
from awello.club import store as store_module
from awello.club.accounts import create_account, log_event
from awello.club.game_state import ClubError, GameState, create_game_state
from awello.club.schema import audit, games
from awello.club.store import ClubStore
from awello.club.stored_games import add_game, save_heartbeat
from awello.errors import StorageError
from awello.limits import Clock
from awello.storage.database import SERVER_LOCK, WRITE_LOCK

needs_postgres = pytest.mark.skipif(find_programs() is None, reason="PostgreSQL is not installed")


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    """Run a PostgreSQL server; yield its folder."""
    with postgres() as found:
        yield found


@pytest.fixture
def database(folder: str, request: pytest.FixtureRequest) -> str:
    """Return the URL of an empty database on the server."""
    return new_database(folder, f"{request.node.originalname[-40:]}-{time.monotonic_ns()}")


@pytest.fixture
def proxy(folder: str) -> Iterator[PostgresProxy]:
    with postgres_proxy(folder) as found:
        yield found


def name_of(database: str) -> str:
    return database.split("?")[0].rsplit("/", 1)[1]


def query_directly(database: str, question: str) -> list[Any]:
    """Query the database over a separate connection, not through the store."""
    with psycopg.connect(database.replace("+psycopg", ""), autocommit=True) as connection:
        return list(connection.execute(question.encode()).fetchall())


def write_together(store: ClubStore, *operations: Callable[[Connection], Any]) -> list["Future[Any]"]:
    """Submit operations so that they are written in one transaction; return their futures."""
    held, go = threading.Event(), threading.Event()

    def hold(_: Connection) -> None:
        held.set()
        go.wait(30)

    first = store.submit(hold)
    held.wait(30)
    futures = [store.submit(operation) for operation in operations]
    go.set()
    first.result(30)
    return futures


def begin_game(connection: Connection) -> GameState:
    """Store a rated game between the first two accounts."""

    def make(number: int) -> GameState:
        return create_game_state(number, Game.OTHELLO4, (1, 2), Clock(300.0), True, 100.0)

    return add_game(connection, make)


def count(store: ClubStore, table: Any) -> int:
    return store.read_blocking(
        lambda connection: int(connection.execute(select(func.count()).select_from(table)).scalar_one())
    )


def open_store(database: str, claim: bool = True) -> ClubStore:
    """Open a store, with the server lock if `claim` is set, and create two accounts."""
    store = ClubStore(database)
    if claim:
        store.acquire()
    for name in ("Ann", "Bob"):
        store.submit(lambda connection, name=name: create_account(connection, name, "hash")).result()  # type: ignore[misc]
    return store


# ---- lost answers to COMMIT ------------------------------------------------------------------------------------------
@needs_postgres
@pytest.mark.parametrize("moment", [BEFORE, AFTER])
def test_a_lost_answer_to_commit_is_not_written_twice(database: str, proxy: PostgresProxy, moment: str) -> None:
    store = open_store(proxy.make_url(name_of(database)))

    def cut_here(connection: Connection) -> None:
        proxy.cut = None if proxy.cuts else moment
        log_event(connection, "cut")

    futures = write_together(store, begin_game, cut_here, lambda connection: log_event(connection, "fine"))
    assert futures[0].result(30).number == 1
    assert all(future.exception(30) is None for future in futures)
    assert proxy.cuts == 1
    assert (count(store, games), count(store, audit)) == (1, 2)
    store.close()


@needs_postgres
def test_a_transaction_lost_by_the_network_does_not_block_the_club(
    database: str, proxy: PostgresProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a timeout, the database server would hold the write lock for hours while it waits for a lost client."""
    monkeypatch.setattr(store_module, "IDLE_TIMEOUT", 0.5)
    store = open_store(proxy.make_url(name_of(database)))

    def cut_here(connection: Connection) -> None:
        proxy.cut = None if proxy.cuts else FORGET
        log_event(connection, "cut")

    futures = write_together(store, begin_game, cut_here)
    assert futures[0].result(30).number == 1 and futures[1].exception(30) is None
    assert (proxy.cuts, count(store, games), count(store, audit)) == (1, 1, 1)
    store.close()


@needs_postgres
def test_the_store_waits_for_a_commit_in_progress(database: str, proxy: PostgresProxy) -> None:
    store = open_store(proxy.make_url(name_of(database)))
    trigger = """
        CREATE FUNCTION wait() RETURNS trigger AS
            'BEGIN PERFORM pg_advisory_xact_lock(99); RETURN NULL; END' LANGUAGE plpgsql;
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON games DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION wait()"""
    waits = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND objid = {}"

    def cut_here(connection: Connection) -> None:
        proxy.cut = DURING
        log_event(connection, "cut")

    with psycopg.connect(database, autocommit=True) as control:
        control.execute(trigger.encode())
        control.execute(b"SELECT pg_advisory_lock(99)")
        futures = write_together(store, begin_game, cut_here)
        wait_until(lambda: control.execute(waits.format(99).encode()).fetchall())  # COMMIT is in progress
        wait_until(lambda: control.execute(waits.format(WRITE_LOCK).encode()).fetchall())  # the store waits for COMMIT
        control.execute(b"SELECT pg_advisory_unlock(99)")
        assert futures[0].result(30).number == 1 and futures[1].exception(30) is None
    assert (count(store, games), count(store, audit)) == (1, 1)
    store.close()


@needs_postgres
@pytest.mark.parametrize("claim", [True, False], ids=["server", "command"])
def test_operations_that_may_be_committed_are_not_repeated(database: str, proxy: PostgresProxy, claim: bool) -> None:
    """Commands, and servers that cannot reconnect, have no way to know whether an unanswered COMMIT succeeded."""
    store = open_store(proxy.make_url(name_of(database)), claim)
    proxy.refuse_after_cut = claim

    def cut_here(connection: Connection) -> None:
        proxy.cut = AFTER
        log_event(connection, "cut")

    futures = write_together(store, begin_game, cut_here)
    for future in futures:
        with pytest.raises(StorageError):
            future.result(30)
    assert query_directly(database, "SELECT count(*) FROM games") == [(1,)]
    proxy.refusing = False
    assert store.submit(begin_game).result(30).number == 2, "the store continues to work"
    store.close()


# ---- two servers -----------------------------------------------------------------------------------------------------
def cut_claim(database: str) -> None:
    """End the connection that holds the server lock."""
    here = "(SELECT oid FROM pg_database WHERE datname = current_database())"
    (pid,) = query_directly(database, f"SELECT pid FROM pg_locks WHERE objid = {SERVER_LOCK} AND database = {here}")
    assert query_directly(database, f"SELECT pg_terminate_backend({pid[0]}, 10000)") == [(True,)]


@needs_postgres
def test_a_server_that_lost_its_lock_cannot_write(database: str) -> None:
    first = open_store(database)
    cut_claim(database)
    assert first.submit(begin_game).result().number == 1, "writing is allowed while no other server has opened the club"
    second = ClubStore(database)
    second.acquire()
    with pytest.raises(StorageError, match="another server has opened this club"):
        first.submit(begin_game).result()
    assert second.submit(begin_game).result().number == 2
    command = ClubStore(database)
    command.submit(lambda connection: log_event(connection, "by hand")).result()
    assert (count(second, games), count(second, audit)) == (2, 1)
    for store in (command, first, second):
        store.close()


def test_a_lock_file_that_is_removed_does_not_let_two_servers_write(tmp_path: Path) -> None:
    database = tmp_path / "club.sqlite"
    first = open_store(str(database))
    Path(f"{database}-open").unlink()
    second = ClubStore(database)
    second.acquire()
    with pytest.raises(StorageError, match="another server has opened this club"):
        first.submit(begin_game).result()
    with pytest.raises(ValueError, match="another server has opened this club"):
        first.acquire()
    assert second.submit(begin_game).result().number == 1
    second.close()
    first.acquire()
    assert first.submit(begin_game).result().number == 2, "writing is allowed after the other server has ended"
    first.close()


@needs_postgres
def test_a_displaced_server_suspends_its_games_and_logs_once(database: str, caplog: pytest.LogCaptureFixture) -> None:
    async def play() -> None:
        first = await ClubHarness(database).open()
        ann, bob = first.connect("Ann"), first.connect("Bob")
        number = await first.start_game(ann, bob)
        state = await first.server.watch(ann, number)
        await asyncio.to_thread(cut_claim, database)
        second = await ClubHarness(database).open()
        second.accounts = first.accounts
        with raises_club_error("storage"):
            await first.server.move(ann, number, 0, state["legal"][0])
        other = second.connect("Ann")
        assert (await second.server.move(other, number, 0, state["legal"][0]))["ply"] == 1
        tries = first.server.store.write_failures
        await first.wait_until(lambda: first.store._lock is None)  # until `first` has tried to open the club again
        assert first.server.store.failing and tries == 1
        with raises_club_error("storage"):
            await first.server.resign(bob, number)
        await second.close()
        await first.wait_until(lambda: not first.server.store.failing)
        assert first.server.live_games[number].move_names == [state["legal"][0]], (
            "the games continue with the moves that the other server has stored"
        )
        await first.close()

    with caplog.at_level(logging.ERROR, "awello"):
        asyncio.run(asyncio.wait_for(play(), 60))
    assert [record.getMessage() for record in caplog.records if "another server" in record.getMessage()] == [
        "a write failed, and the club refuses further changes (another server has opened this club, "
        "so this server no longer writes: stop one of the two)"
    ]


# ---- refused operations ----------------------------------------------------------------------------------------------
def refuse(connection: Connection) -> None:
    log_event(connection, "taken back")
    raise ClubError("no", "not this")


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=needs_postgres)])
def test_a_refused_operation_needs_no_further_commit(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    database = str(tmp_path / "club.sqlite") if kind == "sqlite" else request.getfixturevalue("database")
    store = open_store(database)
    commits: list[object] = []
    event.listen(store.engine, "commit", commits.append)
    fine = [lambda connection: log_event(connection, "fine")] * 50
    futures = write_together(store, *fine, refuse, *fine)
    for at, future in enumerate(futures):
        if at == 50:
            with raises_club_error("no"):
                future.result()
        else:
            future.result()
    assert len(commits) == 2, "one commit for the operation that delayed the others, and one for all the others"
    assert count(store, audit) == 100
    store.close()


@needs_postgres
def test_an_operation_refused_by_the_database_affects_no_other(database: str) -> None:
    store = open_store(database)
    fine, wrong = (lambda connection: log_event(connection, "fine")), (lambda connection: log_event(connection, "\0"))
    first, second, third = write_together(store, fine, wrong, fine)
    assert first.exception() is None and third.exception() is None
    with pytest.raises(StorageError):
        second.result()
    assert count(store, audit) == 2
    store.close()


# ---- clocks ----------------------------------------------------------------------------------------------------------
def test_clocks_stop_at_the_write_that_failed(tmp_path: Path) -> None:
    """A clock runs until the write that failed, not only until the last heartbeat, which may be older."""

    def fail(connection: Connection) -> None:
        raise StorageError("the disk is full")

    async def play() -> None:
        club = await ClubHarness(tmp_path / "club.sqlite").open()
        number = await club.start_game(club.connect("Ann"), club.connect("Bob"))
        for task in club.server._tasks:
            task.cancel()
        since = club.server.now() - 100

        def move_back(connection: Connection) -> None:  # pretend that Ann has been thinking for 100 seconds
            connection.execute(update(games).values(turn_started=since))
            save_heartbeat(connection, since)

        await club.server.store.write(move_back)
        with raises_club_error("storage"):
            await club.server.store.write(fail)
        assert club.server.store.failed_at is not None
        club.server.store.failed_at -= 40  # pretend that the games have been suspended for 40 seconds
        await club.server._resume_games()
        assert club.server.live_games[number].to_json(club.server.now())["clocks"] == pytest.approx([240, 300], abs=15)
        await club.close()

    asyncio.run(asyncio.wait_for(play(), 60))
