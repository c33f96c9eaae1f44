"""The tables of the archive, and how an older archive becomes one of today.

SQLite in one file, unless an address names a PostgreSQL server.  A new archive gets the tables of today.  One that an
older Awello made remembers how many steps it has taken, and takes the others when it is opened.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    ExceptionContext,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
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

metadata = MetaData()
state = Table("state", metadata, Column("steps", Integer, nullable=False))
players = Table("players", metadata, Column("id", Integer, primary_key=True), Column("name", Text, unique=True))
events = Table("events", metadata, Column("id", Integer, primary_key=True), Column("name", Text, unique=True))
sources = Table(
    "sources",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("format", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, unique=True),  # of the content
    Column("head", LargeBinary, nullable=False),  # what a file holds beside its games
)
games = Table(
    "games",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("game", SmallInteger, nullable=False),
    Column("first", ForeignKey("players.id"), index=True),
    Column("second", ForeignKey("players.id"), index=True),
    Column("event", ForeignKey("events.id"), index=True),
    Column("date", Text),  # 1996, 1996-05 or 1996-05-07
    Column("start", Text),  # where it is not the usual one
    Column("moves", LargeBinary, nullable=False),  # a byte each, 255 for a pass
    Column("score", SmallInteger),  # the first player's margin, where the board tells it
    Column("winner", SmallInteger),  # 0 or 1, 2 for a draw
    Column("loser", SmallInteger),
    Column("reason", Text, nullable=False),
    Column("opening", Text),  # its English name
    Column("more", Text, nullable=False),  # other tags, times and values, as JSON
    Index("games_by_moves", "moves"),
    Index("games_by_date", "date"),
    Index("games_by_opening", "opening"),
)
appearances = Table(
    "appearances",
    metadata,
    Column("source", ForeignKey("sources.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("game", ForeignKey("games.id"), nullable=False, index=True),
)
pages = Table(
    "pages",
    metadata,
    Column("game", SmallInteger, primary_key=True),
    Column("bucket", SmallInteger, primary_key=True),
    Column("part", Integer, primary_key=True),
    Column("entries", LargeBinary, nullable=False),
)


STEPS: list[Callable[[Connection], None]] = []  # what an archive of the first version lacks, in order


def connect(place: str | Path) -> Engine:
    """The database at a path or at an address such as `postgresql://user@host/name`, with the tables of today."""
    engine = _open(str(place))

    @event.listens_for(engine, "handle_error")
    def complain(context: ExceptionContext) -> None:
        said = str(context.original_exception).strip() or type(context.original_exception).__name__
        name = engine.url if engine.dialect.name == "postgresql" else place  # an address is shown without its password
        raise ArchiveError(f"the archive {str(name)!r} cannot be used: {said.splitlines()[0]}") from None

    try:
        with engine.connect() as connection:
            current = inspect(connection).has_table("state") and _steps(connection) == len(STEPS)
        if not current:
            with writing(engine) as connection:
                _upgrade(connection, place)
    except AwelloError:
        engine.dispose()
        raise
    return engine


def _open(place: str) -> Engine:
    if "://" not in place:
        file = Path(place).expanduser()
        if not file.parent.is_dir():
            raise ArchiveError(f"there is no folder {str(file.parent)!r} for the archive: make it first")
        if file.is_dir():
            raise ArchiveError(f"{str(file)!r} is a folder: name a file in it for the archive")
        path = str(file)
        if file.exists() and not os.access(file, os.W_OK):  # and perhaps nothing beside it can be written either
            path = f"file:{quote(str(file.absolute()))}?mode=ro&immutable=1&uri=true"
        engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": PATIENCE})
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
        return engine
    try:
        address = make_url(place)
        if address.drivername not in ("postgres", "postgresql", SERVER):
            raise ConfigError(f"no archive at {place!r}: give a file, or postgresql://USER@HOST/NAME")
        return create_engine(address.set(drivername=SERVER))
    except (ArgumentError, NoSuchModuleError, ValueError) as error:
        if isinstance(error, AwelloError):
            raise
        raise ConfigError(f"{place!r} is no address of an archive: write postgresql://USER@HOST/NAME") from None
    except ModuleNotFoundError:
        raise ConfigError("an archive on PostgreSQL needs an extra: pip install 'awello[postgres]'") from None


def _prepare_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where `_begin_sqlite` says
    connection.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own knows no accents
    for setting in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")


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
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(4158)")
        yield connection


def _upgrade(connection: Connection, place: str | Path) -> None:
    """Make the tables, or take the steps that an archive has not taken yet."""
    if not inspect(connection).has_table("state"):
        metadata.create_all(connection)
        connection.execute(state.insert().values(steps=len(STEPS)))
        return
    taken = _steps(connection)
    if taken > len(STEPS):
        raise ConfigError(f"the archive {str(place)!r} was made by a newer Awello: install that one")
    for step in STEPS[taken:]:
        step(connection)
    connection.execute(state.update().values(steps=len(STEPS)))


def _steps(connection: Connection) -> int:
    """The steps that an archive has taken."""
    return int(connection.execute(select(state.c.steps)).scalar_one())
