"""The tables of the club."""

from collections.abc import Callable

from sqlalchemy import (
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

STEPS: list[Callable[[Connection], None]] = []  # what a club of the first version lacks, in order
CLUB = Schema("club", metadata, state_of(metadata), STEPS, durable=True, private=True)
