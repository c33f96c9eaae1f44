"""A club database that is older than the renaming of tables and columns is migrated with all its data."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from database import find_programs, new_database, postgres
from sqlalchemy import MetaData, create_engine, insert, inspect, select
from sqlalchemy.pool import NullPool
from test_club_server import ClubHarness, play_random_moves
from waiting import TIMEOUT

from awello.club.accounts import (
    Account,
    find_account,
    find_by_session,
    find_by_token,
    find_known_login_origin,
    load_password_hash,
)
from awello.club.live_game import load_game
from awello.club.schema import CLUB_SCHEMA, CODES_BY_OLD_REASON, audit
from awello.club.store import ClubStore
from awello.club.stored_games import load_heartbeat, load_live_games, load_rating, load_rating_changes
from awello.club.tournament import PLAYING
from awello.club.tournament_store import find_tournament
from awello.storage.database_urls import parse_database_url

DUMP = Path(__file__).parent / "databases" / "club-before-renaming.sql"
ANN, BOB, REX = Account(1, "Ann"), Account(2, "Bob"), Account(3, "rex", True, 1)


def restore(file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(DUMP.read_text())


def copy_to_postgres(file: Path, url: str) -> None:
    """Copy the tables of a SQLite file, with the same columns and rows, to a PostgreSQL database."""
    tables = MetaData()
    source = create_engine(f"sqlite:///{file}", poolclass=NullPool)
    target = create_engine(parse_database_url(url, "club"), poolclass=NullPool)
    tables.reflect(source)
    for table in tables.tables.values():
        for column in table.columns:
            column.type = column.type.as_generic()
    with source.connect() as old, target.begin() as new:
        tables.create_all(new)
        for table in tables.sorted_tables:
            if rows := [dict(row) for row in old.execute(select(table)).mappings()]:
                new.execute(insert(table), rows)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Yield the location of the old database, as a SQLite file or on a PostgreSQL server."""
    file = tmp_path / "club.sqlite"
    restore(file)
    if request.param == "sqlite":
        yield str(file)
    elif find_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    else:
        with postgres() as folder:
            url = new_database(folder, "club")
            copy_to_postgres(file, url)
            yield url


def test_everything_is_found(database: str) -> None:
    with closing(ClubStore(database)) as store:
        inspected = inspect(store.engine)
        for table in CLUB_SCHEMA.tables.sorted_tables:
            assert {column["name"] for column in inspected.get_columns(table.name)} == set(table.columns.keys())
            names = {index["name"] for index in inspected.get_indexes(table.name)}
            assert {index.name for index in table.indexes} <= names
        accounts = [store.read_blocking(partial(find_account, name=name)) for name in ("ANN", "bob", "rex")]
        assert accounts == [ANN, BOB, REX]
        assert store.read_blocking(partial(load_password_hash, name="Ann")) == (ANN, "hash")
        assert store.read_blocking(partial(find_by_token, secret="token of rex")) == REX
        assert store.read_blocking(partial(find_by_session, secret="session of Ann")) == ANN
        find_origin = partial(find_known_login_origin, account=1)
        assert store.read_blocking(partial(find_origin, device="device", client_network="x")) == "device"
        assert store.read_blocking(partial(find_origin, device="x", client_network="network")) == "client_network"
        events = store.read_blocking(lambda connection: connection.execute(select(audit)).all())
        assert [(row.address, row.event) for row in events] == [("192.0.2.7", "account opened")]
        first, second = store.read_blocking(load_live_games)
        assert (first.number, first.players, len(first.moves), first.clocks) == (4, (2, 1), 9, (302.5, 302.0))
        assert (second.number, second.tournament, len(second.moves)) == (5, 1, 7)
        rating = store.read_blocking(partial(load_rating, account=2, pool="othello blitz"))
        assert (round(rating.mean), round(rating.deviation)) == (1617, 337)
        changes = store.read_blocking(partial(load_rating_changes, game=3))
        assert changes and [round(after) for _, after in changes] == [1383, 1617]
        tournament = store.read_blocking(partial(find_tournament, key="Friday"))
        (pairing,) = tournament.pairings
        assert (tournament.state, tournament.entrants, pairing.game) == (PLAYING, (BOB, ANN), 5)
        assert store.read_blocking(load_heartbeat) == pytest.approx(1795037597.3, abs=0.1)


@pytest.mark.parametrize(("reason", "code"), [("resigned", "resigned"), ("", ""), *CODES_BY_OLD_REASON.items()])
def test_end_reasons_become_codes(tmp_path: Path, reason: str, code: str) -> None:
    file = tmp_path / "club.sqlite"
    restore(file)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE games SET reason = ? WHERE id = 3", (reason,))
    with closing(ClubStore(file)) as store:
        assert store.read_blocking(partial(load_game, number=3)).state.reason == code


def test_its_games_are_resumed(database: str) -> None:
    async def play() -> None:
        club = await ClubHarness(database).open()
        club.accounts |= {account.name: account for account in (ANN, BOB, REX)}
        ann, bob = club.connect("Ann"), club.connect("Bob")
        assert (await club.server.watch(ann, 2))["reason"] == "aborted"
        for number, players in ((4, [bob, ann]), (5, [ann, bob])):
            await play_random_moves(club, number, players)
        await club.wait_until(lambda: not club.server.tournaments.tournaments)
        details = await club.server.tournaments.show(1)
        assert details["state"] == "ended" and details["pairings"][0]["points"] is not None
        assert club.server.blocks.blocked_names(ANN) == ["rex"]
        await club.close()

    asyncio.run(asyncio.wait_for(play(), 2 * TIMEOUT))
