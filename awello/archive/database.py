"""Databases: SQLite in one file, or a PostgreSQL server, and how one of an older Awello becomes one of today.

A new database gets the tables of today.  One that an older Awello made remembers how many steps it has taken, and takes
the others when it is opened.  A database records which application it belongs to; the others refuse it.
"""

import os
import re
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
    Text,
    create_engine,
    event,
    inspect,
    select,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from awello.errors import ArchiveError, AwelloError, ConfigError

SERVER = "postgresql+psycopg"
PATIENCE = 30  # seconds to wait for another program that writes, or for a server
IDLE = 300  # seconds after which a server ends a transaction in which nothing happens: its client may be gone
KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
PRIVATE = 0o600  # the mode of a file that nobody else may read
LOCK, ALONE = 4158, 4159  # the numbers of PostgreSQL's locks: for transactions that write, for who must be alone
WITHOUT_MARK = {"accounts": "club", "pages": "archive"}  # the application of an old database, by one of its tables
ADDRESS = re.compile(r"(?!/[^/]|[.~\\])(.*://|[\w+.-]{2,}:/|.*:[^/]*@|.*password\s*=)", re.IGNORECASE | re.DOTALL)


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
    """The table that records the application of a database and the steps it has taken."""
    return Table("state", tables, Column("steps", Integer, nullable=False), Column("application", Text))


def connect(place: str | Path, schema: Schema) -> Engine:
    """The database at a path or at an address such as `postgresql://user@host/name`, with the tables of today."""
    engine = _open(str(place), schema)
    on_server = engine.dialect.name == "postgresql"
    name = str(engine.url.set(query={}) if on_server else place)  # an address is shown without its secrets

    @event.listens_for(engine, "handle_error")
    def complain(context: ExceptionContext) -> None:
        said = str(context.original_exception).strip() or type(context.original_exception).__name__
        raise ArchiveError(f"the {schema.what} {name!r} cannot be used: {said.splitlines()[0]}") from None

    try:
        with engine.connect() as connection:
            current = _is_current(connection, name, schema)
        if not current:
            with writing(engine) as connection:
                _upgrade(connection, name, schema)
    except (AwelloError, UnicodeError) as error:
        engine.dispose()
        if isinstance(error, UnicodeError):  # a host name that cannot be looked up
            raise _invalid_address(schema.what) from None
        raise
    return engine


def is_address(place: str) -> bool:
    """Whether a place is, or was meant to be, the address of a server and not a file."""
    return ADDRESS.match(place) is not None


def parse_address(place: str, what: str) -> URL:
    """The address of a database server; an invalid one is not repeated in the error, for it may hold a password."""
    try:
        address = make_url(place)
        misplaced = place.count("@") > 1 or "@" in (address.database or "")  # it would be taken for a host or a name
        valid = not misplaced and place.isprintable() and 0 <= (address.port or 0) < 1 << 16
    except (ArgumentError, ValueError):
        valid = False
    if not valid:
        raise _invalid_address(what)
    if address.drivername not in ("postgres", "postgresql", SERVER):
        raise ConfigError(
            f"the {what} cannot be at an address that begins with {address.drivername}://: "
            "give a file, or postgresql://USER@HOST/NAME"
        )
    return address.set(drivername=SERVER)


def _invalid_address(what: str) -> ConfigError:
    return ConfigError(
        f"the address of the {what} is not valid: write postgresql://USER:PASSWORD@HOST:PORT/NAME, "
        "with special characters of the password as %40 for @"
    )


def _open(place: str, schema: Schema) -> Engine:
    what = schema.what
    if is_address(place):
        try:
            arguments = {"connect_timeout": PATIENCE} | KEEPALIVE
            return create_engine(parse_address(place, what), connect_args=arguments, hide_parameters=True)
        except ModuleNotFoundError:
            raise ConfigError(f"the {what} on PostgreSQL needs an extra: pip install 'awello[postgres]'") from None
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
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": PATIENCE}, hide_parameters=True)
    event.listen(engine, "connect", _prepare_durable if schema.durable else _prepare)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


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
def writing(engine: Engine, idle: float = IDLE) -> Iterator[Connection]:
    """A transaction that writes: one at a time, kept as a whole or not at all.

    On a server it ends after `idle` seconds in which nothing happens, so that a lost client does not hold its lock.
    """
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            limit = f"set_config('idle_in_transaction_session_timeout', '{1000 * idle:.0f}', true)"
            connection.exec_driver_sql(f"SELECT {limit}, pg_advisory_xact_lock({LOCK})")
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
    for setting in ("idle = 30", "interval = 10", "count = 3"):  # a lost client holds it for a minute, not hours
        found.exec_driver_sql(f"SET tcp_keepalives_{setting}")
    if found.exec_driver_sql(f"SELECT pg_try_advisory_lock({ALONE})").scalar_one():
        return found
    found.close()
    return None


def _is_current(connection: Connection, name: str, schema: Schema) -> bool:
    """Whether a database has the tables of today; refuses the database of another application."""
    inspected = inspect(connection)
    tables = set(inspected.get_table_names())
    columns = {column["name"] for column in inspected.get_columns("state")} if "state" in tables else set()
    if "application" in columns:
        application = connection.execute(select(schema.state.c.application)).scalar()
    elif "steps" in columns:
        application = next((kind for table, kind in WITHOUT_MARK.items() if table in tables), None)
    elif not (tables & schema.tables.tables.keys() if connection.dialect.name == "postgresql" else tables):
        return False  # it is new
    else:
        application = None
    if application != schema.what:
        found = {"archive": "an archive", "club": "a club"}.get(application or "", "of another program")
        raise ConfigError(f"the database {name!r} is {found}: the {schema.what} needs a database of its own")
    read_only = "mode" in connection.engine.url.query
    return _taken(connection, schema) == len(schema.steps) and ("application" in columns or read_only)


def _upgrade(connection: Connection, name: str, schema: Schema) -> None:
    """Make the tables, or take the steps that a database has not taken yet."""
    if _is_current(connection, name, schema):
        return  # another program has just done it
    inspected = inspect(connection)
    if not inspected.has_table("state"):
        schema.tables.create_all(connection)
        connection.execute(schema.state.insert().values(steps=len(schema.steps), application=schema.what))
        return
    taken = _taken(connection, schema)
    if taken > len(schema.steps):
        raise ConfigError(f"the {schema.what} {name!r} was made by a newer Awello: install that one")
    if "application" not in {column["name"] for column in inspected.get_columns("state")}:
        connection.execute(text("ALTER TABLE state ADD COLUMN application TEXT"))
    for step in schema.steps[taken:]:
        step(connection)
    connection.execute(schema.state.update().values(steps=len(schema.steps), application=schema.what))


def _taken(connection: Connection, schema: Schema) -> int:
    """The steps that a database has taken."""
    return int(connection.execute(select(schema.state.c.steps)).scalar_one())
