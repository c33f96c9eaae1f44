"""Databases: SQLite in one file, or a PostgreSQL server, and how one of an older Awello becomes one of today.

A new database gets the tables of today.  One that an older Awello made remembers how many steps it has taken, and takes
the others when it is opened.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ExceptionContext,
    Integer,
    MetaData,
    Table,
    create_engine,
    event,
    inspect,
    select,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from awello.errors import ArchiveError, AwelloError, ConfigError

SERVER = "postgresql+psycopg"
PATIENCE = 30  # seconds to wait for another program that writes
PRIVATE = 0o600  # the mode of a file that nobody else may read
LOCK, ALONE = 4158, 4159  # the numbers of PostgreSQL's locks: for transactions that write, for who must be alone


@dataclass(frozen=True)
class Schema:
    """The tables of a database, what it is called, and what one of the first version lacks, in order."""

    what: str
    tables: MetaData
    state: Table
    steps: Sequence[Callable[[Connection], None]] = ()
    durable: bool = False
    """Whether what was written outlives a power cut at once, and not only a crash of the program."""
    private: bool = False
    """Whether a new file can be read by nobody else on the machine."""


def state_of(tables: MetaData) -> Table:
    """The table that remembers the steps taken."""
    return Table("state", tables, Column("steps", Integer, nullable=False))


def connect(place: str | Path, schema: Schema) -> Engine:
    """The database at a path or at an address such as `postgresql://user@host/name`, with the tables of today."""
    engine = _open(str(place), schema)

    @event.listens_for(engine, "handle_error")
    def complain(context: ExceptionContext) -> None:
        said = str(context.original_exception).strip() or type(context.original_exception).__name__
        name = engine.url if engine.dialect.name == "postgresql" else place  # an address is shown without its password
        raise ArchiveError(f"the {schema.what} {str(name)!r} cannot be used: {said.splitlines()[0]}") from None

    try:
        with engine.connect() as connection:
            current = inspect(connection).has_table("state") and _taken(connection, schema) == len(schema.steps)
        if not current:
            with writing(engine) as connection:
                _upgrade(connection, place, schema)
    except AwelloError:
        engine.dispose()
        raise
    return engine


def _open(place: str, schema: Schema) -> Engine:
    what = schema.what
    if "://" not in place:
        file = Path(place).expanduser()
        if not file.parent.is_dir():
            raise ArchiveError(f"there is no folder {str(file.parent)!r} for the {what}: make it first")
        if file.is_dir():
            raise ArchiveError(f"{str(file)!r} is a folder: name a file in it for the {what}")
        path = str(file)
        if schema.private and not file.exists():
            with suppress(OSError):  # the database will say what is wrong
                file.touch(mode=PRIVATE)
        if file.exists() and not os.access(file, os.W_OK):  # and perhaps nothing beside it can be written either
            path = f"file:{quote(str(file.absolute()))}?mode=ro&immutable=1&uri=true"
        engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": PATIENCE})
        event.listen(engine, "connect", _prepare_durable if schema.durable else _prepare)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        address = make_url(place)
        if address.drivername not in ("postgres", "postgresql", SERVER):
            raise ConfigError(f"no {what} at {place!r}: give a file, or postgresql://USER@HOST/NAME")
        return create_engine(address.set(drivername=SERVER), connect_args={"connect_timeout": PATIENCE})
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        if isinstance(error, AwelloError):
            raise
        raise ConfigError(f"{place!r} is no address of a database: write postgresql://USER@HOST/NAME") from None
    except ModuleNotFoundError:
        raise ConfigError(f"the {what} on PostgreSQL needs an extra: pip install 'awello[postgres]'") from None


def _prepare(connection: Any, _: Any, synchronous: str = "NORMAL") -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says
    connection.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own knows no accents
    for setting in ("journal_mode = WAL", f"synchronous = {synchronous}", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")


def _prepare_durable(connection: Any, record: Any) -> None:
    _prepare(connection, record, "FULL")


def _lower(text: str | None) -> str | None:
    return text.lower() if text else text


def _begin_sqlite(connection: Connection) -> None:
    """A transaction that will write takes its turn before it reads."""
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes: one at a time, kept as a whole or not at all."""
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({LOCK})")
        yield connection


def lock_beside(file: str) -> sqlite3.Connection | None:
    """A lock on an empty file beside a database, held until it is closed or the process ends; None if it is taken.

    SQLite's own lock, because it works on every system; not on the database itself, which others may still read.
    """
    with suppress(OSError):  # the next line will say what is wrong
        Path(f"{file}-open").touch(mode=PRIVATE)
    found = sqlite3.connect(f"{file}-open", timeout=0, isolation_level=None, check_same_thread=False)
    try:
        found.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        found.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return None
        raise ArchiveError(f"the file '{file}-open' cannot be used: {error}") from None
    return found


def lock_within(engine: Engine) -> Connection | None:
    """A lock of PostgreSQL's, held until the connection is closed or lost; None if it is taken."""
    found = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    found.detach()  # to be closed, not to be used by others
    if found.exec_driver_sql(f"SELECT pg_try_advisory_lock({ALONE})").scalar_one():
        return found
    found.close()
    return None


def _upgrade(connection: Connection, place: str | Path, schema: Schema) -> None:
    """Make the tables, or take the steps that a database has not taken yet."""
    if not inspect(connection).has_table("state"):
        schema.tables.create_all(connection)
        connection.execute(schema.state.insert().values(steps=len(schema.steps)))
        return
    taken = _taken(connection, schema)
    if taken > len(schema.steps):
        raise ConfigError(f"the {schema.what} {str(place)!r} was made by a newer Awello: install that one")
    for step in schema.steps[taken:]:
        step(connection)
    connection.execute(schema.state.update().values(steps=len(schema.steps)))


def _taken(connection: Connection, schema: Schema) -> int:
    """The steps that a database has taken."""
    return int(connection.execute(select(schema.state.c.steps)).scalar_one())
