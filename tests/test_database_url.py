"""Database URLs: no error shows the password, and databases of other applications are refused."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from conftest import awello
from database import find_programs, new_database, postgres
from sqlalchemy import inspect
from test_club_database_failures import DATABASES, restore

from awello.archive import archive as archives
from awello.archive.archive import Archive, GameFilter
from awello.archive.explorer import explore
from awello.archive.files import list_imported_files
from awello.archive.schema import ARCHIVE_SCHEMA
from awello.club.store import ClubStore
from awello.errors import AwelloError, ConfigError
from awello.storage.database_urls import is_database_url

SECRET = "s3cr3t"
INVALID_URLS = [
    "postgresql+psycog://user:s3cr3t@127.0.0.1:1/db",
    "postgresql+asyncpg://user:s3cr3t@127.0.0.1:1/db",
    "postgressql://user:s3cr3t@127.0.0.1:1/db",
    "mysql://user:s3cr3t@127.0.0.1:1/db",
    "postgresql://user:s3cr3t@127.0.0.1:54x2/db",
    "postgresql://user:s3cr3t@127.0.0.1:/db",
    "postgresql://user:s3cr3t@127.0.0.1:99999999/db",
    "postgresql://user:s3cr3t@127.0.0.1:1/db",
    "postgresql://user:s3cr3t@127.0.0.1:1",
    "postgresql://user:s3cr3t@",
    "postgresql://user:s3cr3t/db",
    "postgresql://user:s3cr3t",
    "postgresql://user:s@s3cr3t@127.0.0.1:1/db",
    "postgresql://user:1@s3cr3t:1/x@127.0.0.1:1/db",
    "postgresql://user:s3cr3t/x?y#z@127.0.0.1:1/db",
    "postgresql://user:s3cr3t@@127.0.0.1:1/db",
    "postgresql://user:s3cr3t @127.0.0.1:1/db",
    "postgresql://user:s3cr3t\n@127.0.0.1:1/db",
    "postgresql://user:s3cr3t%00@127.0.0.1:1/db",
    "postgresql://user:s3cr3t@127.0.0..1:1/db",
    "postgresql://user:s3cr3t@[::1/db",
    "postgresql://user@127.0.0.1:1/db?password=s3cr3t",
    "postgresql://user@127.0.0.1:1/db?pasword=s3cr3t",
    "postgresql://user@127.0.0.1:1/db?sslpassword=s3cr3t&password=s3cr3t",
    "postgresql:/user:s3cr3t@127.0.0.1:1/db",
    "postgresql:///user:s3cr3t@127.0.0.1:1/db",
    "postgresql//user:s3cr3t@127.0.0.1:1/db",
    "postgresql:user:s3cr3t@127.0.0.1:1/db",
    "postgresql;//user:s3cr3t@127.0.0.1:1/db",
    "://user:s3cr3t@127.0.0.1:1/db",
    "//user:s3cr3t@127.0.0.1:1/db",
    "user:s3cr3t@127.0.0.1:1/db",
    " postgresql://user:s3cr3t@127.0.0.1:1/db",
    "host=127.0.0.1 port=1 user=user password=s3cr3t",
]
MISSPELT_URL = "postgresql+psycog://user:s3cr3t@127.0.0.1:1/db"
COMMANDS = [
    ["games", "list", "--archive", "DATABASE"],
    ["games", "import", "README.md", "--archive", "DATABASE"],
    ["games", "files", "--archive", "DATABASE"],
    ["games", "show", "1", "--archive", "DATABASE"],
    ["games", "export", "x.ggf", "--archive", "DATABASE"],
    ["explore", "--archive", "DATABASE"],
    ["autoplay", "--out", "FOLDER", "--games", "1", "--archive", "DATABASE"],
    ["train", "cnn", "DATABASE", "--out", "FOLDER/x"],
    ["serve", "--port", "0", "--no-browser", "--club", "DATABASE"],
    ["club", "create-account", "DATABASE", "Ann"],
    ["club", "set-password", "DATABASE", "Ann"],
    ["club", "create-bot", "DATABASE", "Ann", "rex"],
    ["club", "close-account", "DATABASE", "Ann"],
    ["club", "accounts", "DATABASE"],
    ["club", "audit", "DATABASE"],
    ["club", "create-tournament", "DATABASE", "Cup", "--start", "10m"],
    ["club", "tournaments", "DATABASE"],
    ["club", "cancel-tournament", "DATABASE", "1"],
    ["club", "backup", "DATABASE", "FOLDER/copy"],
    ["club", "DATABASE", "accounts"],
    ["games", "list", "DATABASE"],
    ["serve", "--clubs=DATABASE"],
]


def check_refusal(command: list[str], location: str, folder: Path) -> None:
    """Check that a command fails with an error message, and that no output contains the password."""
    words = [word.replace("DATABASE", location).replace("FOLDER", str(folder)) for word in command]
    done = awello(*words, stdin="correct horse\n")
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("awello: "), done.stderr
    assert SECRET not in done.stdout + done.stderr


@pytest.mark.parametrize("location", INVALID_URLS)
@pytest.mark.parametrize("command", [COMMANDS[0], ["club", "accounts", "DATABASE"]], ids=["archive", "club"])
def test_a_wrong_url_does_not_show_its_password(
    location: str, command: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    check_refusal(command, location, tmp_path)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_command_shows_the_password_of_a_url(
    command: list[str], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    check_refusal(command, MISSPELT_URL, tmp_path)
    assert SECRET not in caplog.text


@pytest.mark.parametrize("location", INVALID_URLS)
def test_no_error_holds_the_password(location: str) -> None:
    """The password is neither in the message nor in the logged traceback, which includes the causes."""
    for make in (Archive, ClubStore):
        with pytest.raises(AwelloError) as caught:
            make(location)
        shown = logging.Formatter().formatException((caught.type, caught.value, None))
        assert SECRET not in shown


def test_files_may_have_odd_names(tmp_path: Path) -> None:
    for name in ("a:b@c.sqlite", "games.sqlite", "password=x"):
        Archive(tmp_path / name).close()
    assert not any(map(is_database_url, ("games.sqlite", "C:/games.sqlite", "./a:b@c", "~/x", "a/b", "/a:b@c")))


# ---- databases of other applications ---------------------------------------------------------------------------------
@pytest.mark.parametrize("old", [False, True], ids=["new", "of the first version"])
def test_a_file_of_another_application_is_refused(tmp_path: Path, old: bool) -> None:
    club, archive = tmp_path / "club.sqlite", tmp_path / "archive.sqlite"
    if old:
        for file in (club, archive):
            restore(DATABASES / f"{file.stem}-0.1.0.sql", tmp_path).rename(file)
    else:
        ClubStore(club).close()
        Archive(archive).close()
    with pytest.raises(ConfigError, match=r"club.sqlite' belongs to a club: give another database for the archive"):
        Archive(club)
    with pytest.raises(ConfigError, match=r"archive.sqlite' belongs to an archive: give another database for the club"):
        ClubStore(archive)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE state (colour TEXT)")
    for make in (Archive, ClubStore):
        with pytest.raises(ConfigError, match="belongs to another application"):
            make(other)
    ClubStore(club).close()
    Archive(archive).close()
    for file, kind in ((club, "club"), (archive, "archive")):
        with sqlite3.connect(file) as connection:
            assert connection.execute("SELECT application FROM state").fetchall() == [(kind,)]


@pytest.fixture(scope="module")
def folder() -> Iterator[str]:
    with postgres() as found:
        yield found


@pytest.mark.skipif(find_programs() is None, reason="PostgreSQL is not installed")
def test_one_database_of_a_server_holds_one_application(folder: str) -> None:
    location = new_database(folder, "both")
    ClubStore(location).close()
    with pytest.raises(ConfigError, match="belongs to a club: give another database for the archive"):
        Archive(location)
    ClubStore(location).close()
    other = new_database(folder, "other")
    Archive(other).close()
    with pytest.raises(ConfigError, match="belongs to an archive: give another database for the club"):
        ClubStore(other)


@pytest.mark.skipif(find_programs() is None, reason="PostgreSQL is not installed")
def test_two_schemas_of_one_database_hold_both(folder: str) -> None:
    location = new_database(folder, "schemas")
    with psycopg.connect(location, autocommit=True) as connection:
        for name in ("club", "archive"):
            connection.execute(f"CREATE SCHEMA {name}".encode())
    for _ in range(2):
        store = ClubStore(f"{location}&options=-csearch_path%3Dclub")
        archive = Archive(f"{location}&options=-csearch_path%3Darchive")
        store.acquire()
        assert archive.is_empty
        store.close()
        archive.close()


def test_an_old_archive_that_cannot_be_written_is_still_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    location = restore(DATABASES / "archive-0.1.0.sql", tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)  # simulated, because root can write to read-only files
    archive = Archive(location)
    records = list(archive.load_records(archive.find_numbers(GameFilter())))
    assert len(records) == 3 and explore(archive, records[0].start).games == 2 and not list_imported_files(archive)
    archive.close()
    with sqlite3.connect(location) as connection:
        assert "application" not in str(connection.execute("SELECT sql FROM sqlite_master").fetchall())


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_interrupted_upgrade_changes_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if kind == "postgresql" and find_programs() is None:
        pytest.skip("PostgreSQL is not installed")
    location = str(tmp_path / "a") if kind == "sqlite" else new_database(request.getfixturevalue("folder"), "half")

    def half(connection: object) -> None:
        connection.exec_driver_sql("CREATE TABLE half (id INTEGER)")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    Archive(location).close()
    with monkeypatch.context() as patch:
        patch.setattr(
            archives, "ARCHIVE_SCHEMA", replace(ARCHIVE_SCHEMA, migrations=[*ARCHIVE_SCHEMA.migrations, half])
        )
        with pytest.raises(KeyboardInterrupt):
            Archive(location)
    again = Archive(location)
    assert not inspect(again.engine).has_table("half") and again.is_empty
    again.close()
