"""Connections to SQLite and PostgreSQL databases: write transactions, locks and errors."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, ExceptionContext, Select, Table, create_engine, event, func, select
from sqlalchemy.engine import make_url

from awello.errors import AwelloError, ConfigError, StorageError
from awello.storage.database_urls import is_database_url, make_invalid_url_error, parse_database_url
from awello.storage.migrations import Schema, is_current, migrate, needs_views

LOCK_TIMEOUT = 30  # seconds to wait for another writer of an SQLite file, or for a connection to a database server
IDLE_TIMEOUT = 300  # seconds after which PostgreSQL aborts an idle transaction, because its client may be gone
KEEPALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
MAX_QUERY_VALUES = 500  # values per statement of `select_among`, which splits longer lists
PRIVATE_FILE_MODE = 0o600  # readable only by its owner
WRITE_LOCK, SERVER_LOCK = (
    4158,
    4159,
)  # keys of PostgreSQL's advisory locks: one for write transactions, one for the web server that uses the club


# ---- opening ---------------------------------------------------------------------------------------------------------
def open_database(location: str | Path, schema: Schema) -> Engine:
    """Open the database at a path or a URL, and create or migrate its tables.

    Every database error becomes a `StorageError`, which contains the location of the database without its password.
    """
    is_server = is_database_url(str(location))
    engine = _open_server(str(location), schema) if is_server else _open_file(Path(location).expanduser(), schema)
    name = str(make_url(str(location)).set(query={}) if is_server else location)
    advice = "check the URL and the server" if is_server else "check the file, or give another one"

    @event.listens_for(engine, "handle_error")
    def translate(context: ExceptionContext) -> None:
        cause = str(context.original_exception).strip() or type(context.original_exception).__name__
        raise StorageError(
            f"the {schema.application} {name!r} cannot be used: {cause.splitlines()[0]}; {advice}"
        ) from None

    try:
        with engine.connect() as connection:
            current, views = is_current(connection, name, schema), needs_views(connection, schema)
        if views and not current:
            _create_views(engine, schema)
        elif not current:
            with write_transaction(engine) as connection:
                migrate(connection, name, schema)
    except (AwelloError, UnicodeError) as error:
        engine.dispose()
        if isinstance(error, UnicodeError):  # an invalid host name
            raise make_invalid_url_error(schema.application) from None
        raise
    return engine


def _open_server(location: str, schema: Schema) -> Engine:
    try:
        arguments = {"connect_timeout": LOCK_TIMEOUT} | KEEPALIVE
        url = parse_database_url(location, schema.application)
        return create_engine(url, connect_args=arguments, hide_parameters=True)
    except ModuleNotFoundError:
        command = "pip install 'awello[postgres]'"
        message = f"the {schema.application} cannot use PostgreSQL without the extra 'postgres': run {command}"
        raise ConfigError(message) from None


def _open_file(file: Path, schema: Schema) -> Engine:
    if not file.parent.is_dir():
        raise StorageError(f"there is no folder {str(file.parent)!r} for the {schema.application}: create it first")
    if file.is_dir():
        raise StorageError(f"{str(file)!r} is a folder: give a file in it for the {schema.application}")
    if schema.private and not file.exists():
        with suppress(OSError):  # if this fails, opening the database raises a clearer error
            file.touch(mode=PRIVATE_FILE_MODE)
    path = str(file)
    # A read-only file is opened as immutable, because SQLite may be unable to create its auxiliary files.
    if file.exists() and not os.access(file, os.W_OK):
        path = f"file:{quote(str(file.absolute()))}?mode=ro&immutable=1&uri=true"
    engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": LOCK_TIMEOUT}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # `begin` below starts the transactions
        connection.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own `lower` handles only ASCII
        for setting in ("journal_mode = WAL", f"synchronous = {schema.durable + 1}", "foreign_keys = ON"):
            connection.execute(f"PRAGMA {setting}")  # synchronous: 1 is NORMAL, 2 is FULL

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:  # write transactions take their lock before they read
        connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get("writes") else "BEGIN")

    return engine


def _create_views(engine: Engine, schema: Schema) -> None:
    """Create the temporary views of a schema on every new connection; close the existing connections."""
    engine.dispose()

    @event.listens_for(engine, "connect")
    def create(connection: Any, _: Any) -> None:
        for view in schema.views:
            connection.execute(view)


def _lower(text: str | None) -> str | None:
    return text.lower() if text else text


# ---- reading and writing ---------------------------------------------------------------------------------------------
def select_among(connection: Connection, query: Select[Any], column: Any, values: Sequence[Any]) -> Iterator[Any]:
    """Yield those rows of a query whose `column` has one of the values; split a long list among several statements."""
    for at in range(0, len(values), MAX_QUERY_VALUES):
        yield from connection.execute(query.where(column.in_(values[at : at + MAX_QUERY_VALUES])))


@contextmanager
def write_transaction(engine: Engine, idle: float = IDLE_TIMEOUT) -> Iterator[Connection]:
    """Wait until no other write transaction is open, then open one.

    PostgreSQL aborts the transaction after `idle` seconds without a statement.
    """
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            limit = f"set_config('idle_in_transaction_session_timeout', '{1000 * idle:.0f}', true)"
            connection.exec_driver_sql(f"SELECT {limit}, pg_advisory_xact_lock({WRITE_LOCK})")
        yield connection


def next_id(connection: Connection, table: Table) -> int:
    """Return the next free id of a table; must be called in a write transaction."""
    return int(connection.execute(select(func.coalesce(func.max(table.c.id), 0) + 1)).scalar_one())


def lock_exclusively(engine: Engine) -> sqlite3.Connection | Connection | None:
    """Lock a database for one web server; return the lock, or None if another server has locked the database.

    Commands can still read and write the database.  Closing the lock or ending the process releases it.
    """
    return _lock_file(f"{engine.url.database}-open") if engine.dialect.name == "sqlite" else _lock_server(engine)


def _lock_file(file: str) -> sqlite3.Connection | None:
    """Lock an empty file with SQLite: this works on every system and leaves the database itself unlocked."""
    with suppress(OSError):  # if this fails, connecting raises a clearer error
        Path(file).touch(mode=PRIVATE_FILE_MODE)
    lock = sqlite3.connect(file, timeout=0, isolation_level=None, check_same_thread=False)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        lock.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return None
        message = f"the lock file {file!r} cannot be used ({error}): make it and its folder writable"
        raise StorageError(message) from None
    return lock


def _lock_server(engine: Engine) -> Connection | None:
    """Take an advisory lock; return the connection that holds it, or None if another connection holds it.

    PostgreSQL releases the lock if the connection is lost.
    """
    lock = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    lock.detach()  # `close` closes the connection instead of returning it to the pool
    for setting in (
        "idle = 30",
        "interval = 10",
        "count = 3",
    ):  # so that the lock of a lost client is released after a minute, not after hours
        lock.exec_driver_sql(f"SET tcp_keepalives_{setting}")
    if lock.exec_driver_sql(f"SELECT pg_try_advisory_lock({SERVER_LOCK})").scalar_one():
        return lock
    lock.close()
    return None
