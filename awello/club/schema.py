"""The tables of the club."""

from collections.abc import Callable

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
)

from awello.archive.database import Schema, state_of

metadata = MetaData()
accounts = Table(
    "accounts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False, unique=True),  # the name in small letters
    Column("program", Boolean, nullable=False),
    Column("owner", ForeignKey("accounts.id")),  # of a program
    Column("password", Text),  # hashed; a program has none
    Column("created", Float, nullable=False),
    Column("closed", Boolean, nullable=False, default=False),
)
sessions = Table(
    "sessions",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("account", ForeignKey("accounts.id"), nullable=False, index=True),
    Column("expires", Float, nullable=False),
)
tokens = Table(
    "tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True),
    Column("account", ForeignKey("accounts.id"), nullable=False, index=True),
    Column("label", Text, nullable=False),
    Column("created", Float, nullable=False),
)
tournaments = Table(
    "tournaments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("system", Text, nullable=False),
    Column("game", SmallInteger, nullable=False),
    Column("base", Float, nullable=False),
    Column("increment", Float, nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("rounds", Integer, nullable=False),  # of a round robin 0 until it begins
    Column("starts", Float, nullable=False),
    Column("grace", Float, nullable=False),  # seconds in which players must come
    Column("state", Text, nullable=False, index=True),
    Column("round", Integer, nullable=False),  # that is played; 0 before the first
)
entries = Table(
    "entries",
    metadata,
    Column("tournament", ForeignKey("tournaments.id"), primary_key=True),
    Column("account", ForeignKey("accounts.id"), primary_key=True, index=True),
    Column("entered", Float, nullable=False),
    Column("seed", Integer),  # from 1, the highest rating first; known when it begins
    Column("network", Text),  # from which it was entered, until it begins; none for this machine's own
)
games = Table(
    "games",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("game", SmallInteger, nullable=False),
    Column("first", ForeignKey("accounts.id"), nullable=False, index=True),
    Column("second", ForeignKey("accounts.id"), nullable=False, index=True),
    Column("base", Float, nullable=False),
    Column("increment", Float, nullable=False),
    Column("rated", Boolean, nullable=False),
    Column("begun", Float, nullable=False),
    Column("since", Float, nullable=False),
    Column("first_left", Float, nullable=False),
    Column("second_left", Float, nullable=False),
    Column("moves", LargeBinary, nullable=False),  # a byte each, 255 for a pass
    Column("seconds", LargeBinary, nullable=False),  # four bytes each
    Column("offer", SmallInteger),
    Column("over", Boolean, nullable=False),
    Column("loser", SmallInteger),
    Column("reason", Text, nullable=False),
    Column("archived", Boolean, nullable=False, default=False),
    Column("tournament", ForeignKey("tournaments.id")),
    Index("games_by_state", "over", "archived"),
    Index("games_by_pair", "first", "second", "begun"),
)
pairings = Table(
    "pairings",
    metadata,
    Column("tournament", ForeignKey("tournaments.id"), primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("board", Integer, primary_key=True),
    Column("first", ForeignKey("accounts.id"), nullable=False),
    Column("second", ForeignKey("accounts.id")),  # none for a bye
    Column("game", ForeignKey("games.id"), unique=True),  # none until both are here
    Column("first_points", Float),  # none until it is decided
    Column("second_points", Float),
    Column("forfeit", Boolean, nullable=False, default=False),
)
ratings = Table(
    "ratings",
    metadata,
    Column("account", ForeignKey("accounts.id"), primary_key=True),
    Column("pool", Text, primary_key=True),
    Column("mean", Float, nullable=False),
    Column("doubt", Float, nullable=False),
    Column("wins", Integer, nullable=False),
    Column("draws", Integer, nullable=False),
    Column("losses", Integer, nullable=False),
    Index("ladder", "pool", "mean"),
)
changes = Table(
    "changes",
    metadata,
    Column("game", ForeignKey("games.id"), primary_key=True),
    Column("side", SmallInteger, primary_key=True),
    Column("before", Float, nullable=False),
    Column("after", Float, nullable=False),
)
blocks = Table(
    "blocks",
    metadata,
    Column("account", ForeignKey("accounts.id"), primary_key=True),
    Column("blocked", ForeignKey("accounts.id"), primary_key=True),
    Column("created", Float, nullable=False),
)
audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("moment", Float, nullable=False, index=True),
    Column("account", Integer),
    Column("address", Text, nullable=False),
    Column("what", Text, nullable=False),
)
pulse = Table("pulse", metadata, Column("moment", Float, nullable=False))

writer = Table(  # one row: the server that may write, and its last transaction
    "writer",
    metadata,
    Column("epoch", Integer, nullable=False),  # one more each time a server opens the club
    Column("batch", BigInteger, nullable=False),
)
known_devices = Table(  # devices and networks from which somebody has logged in
    "known_devices",
    metadata,
    Column("account", ForeignKey("accounts.id"), primary_key=True),
    Column("digest", LargeBinary, primary_key=True),
    Column("expires", Float, nullable=False),
)


def add_writer_and_devices(connection: Connection) -> None:
    """Add the tables that tell who may write, and where accounts have been used."""
    metadata.create_all(connection, [writer, known_devices])


def add_fair_play(connection: Connection) -> None:
    """Blocked players, the networks of entrants, and a quick way to the games of a pair."""
    blocks.create(connection)
    connection.exec_driver_sql("ALTER TABLE entries ADD COLUMN network TEXT")
    next(index for index in games.indexes if index.name == "games_by_pair").create(connection)


STEPS: list[Callable[[Connection], None]] = [  # what a club of the first version lacks, in order
    add_writer_and_devices,
    add_fair_play,
]
CLUB = Schema("club", metadata, state_of(metadata), STEPS, durable=True, private=True)
