"""The tables of the club."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Connection,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
)

from awello.storage.columns import id_column, optional_columns, primary_keys, reference_columns, required_columns
from awello.storage.migrations import Schema

metadata = MetaData()
accounts = Table(
    "accounts",
    metadata,
    id_column(),
    *required_columns(Text, "name"),
    *required_columns(Text, "key", unique=True),  # the name in lower case
    *required_columns(Boolean, "program", "closed"),
    *reference_columns("accounts", "owner"),  # of a program
    *optional_columns(Text, "password"),  # hashed; a program has none
    *required_columns(Float, "created"),
)
sessions = Table(
    "sessions",
    metadata,
    *primary_keys(LargeBinary, "digest"),
    *reference_columns("accounts", "account", nullable=False, index=True),
    *required_columns(Float, "expires"),
)
tokens = Table(
    "tokens",
    metadata,
    id_column(),
    *required_columns(LargeBinary, "digest", unique=True),
    *reference_columns("accounts", "account", nullable=False, index=True),
    *required_columns(Text, "label"),
    *required_columns(Float, "created"),
)
tournaments = Table(
    "tournaments",
    metadata,
    id_column(),
    *required_columns(Text, "name", "system"),
    *required_columns(SmallInteger, "game"),
    *required_columns(Float, "base", "increment", "starts", "grace"),  # grace: seconds in which players must come
    *required_columns(Boolean, "rated"),
    *required_columns(Integer, "rounds"),  # of a round robin 0 until it begins
    *required_columns(Text, "state", index=True),
    *required_columns(Integer, "round"),  # that is played; 0 before the first
)
entries = Table(
    "entries",
    metadata,
    *reference_columns("tournaments", "tournament", primary_key=True),
    *reference_columns("accounts", "account", primary_key=True, index=True),
    *required_columns(Float, "entered"),
    *optional_columns(Integer, "seed"),  # from 1, the highest rating first; known when it begins
    *optional_columns(Text, "network"),  # from which it was entered, until it begins; none for this machine's own
)
games = Table(
    "games",
    metadata,
    id_column(autoincrement=False),
    *required_columns(SmallInteger, "game"),
    *reference_columns("accounts", "first", "second", nullable=False, index=True),
    *required_columns(Float, "base", "increment", "begun", "since", "first_left", "second_left"),
    *required_columns(Boolean, "rated", "over", "archived"),
    *required_columns(LargeBinary, "moves", "seconds"),  # a byte per move, 255 for a pass; four bytes per time
    *optional_columns(SmallInteger, "offer", "loser"),
    *required_columns(Text, "reason"),
    *reference_columns("tournaments", "tournament"),
    Index("games_by_state", "over", "archived"),
    Index("games_by_pair", "first", "second", "begun"),
)
pairings = Table(
    "pairings",
    metadata,
    *reference_columns("tournaments", "tournament", primary_key=True),
    *primary_keys(Integer, "round", "board"),
    *reference_columns("accounts", "first", nullable=False),
    *reference_columns("accounts", "second"),  # none for a bye
    *reference_columns("games", "game", unique=True),  # none until both are here
    *optional_columns(Float, "first_points", "second_points"),  # none until it is decided
    *required_columns(Boolean, "forfeit"),
)
ratings = Table(
    "ratings",
    metadata,
    *reference_columns("accounts", "account", primary_key=True),
    *primary_keys(Text, "pool"),
    *required_columns(Float, "mean", "doubt"),
    *required_columns(Integer, "wins", "draws", "losses"),
    Index("ladder", "pool", "mean"),
)
changes = Table(
    "changes",
    metadata,
    *reference_columns("games", "game", primary_key=True),
    *primary_keys(SmallInteger, "side"),
    *required_columns(Float, "before", "after"),
)
blocks = Table(
    "blocks",
    metadata,
    *reference_columns("accounts", "account", "blocked", primary_key=True),
    *required_columns(Float, "created"),
)
audit = Table(
    "audit",
    metadata,
    id_column(),
    *required_columns(Float, "moment", index=True),
    *optional_columns(Integer, "account"),
    *required_columns(Text, "address", "what"),
)
pulse = Table("pulse", metadata, *required_columns(Float, "moment"))  # one row: when the club was last known to be open
writer = Table(  # one row: the epoch, one more each time a server opens the club, and its last transaction
    "writer", metadata, *required_columns(Integer, "epoch"), *required_columns(BigInteger, "batch")
)
known_devices = Table(  # devices and networks that have been used to log in
    "known_devices",
    metadata,
    *reference_columns("accounts", "account", primary_key=True),
    *primary_keys(LargeBinary, "digest"),
    *required_columns(Float, "expires"),
)


def add_writer_and_devices(connection: Connection) -> None:
    """Add the epoch of the server that may write, and the devices that accounts were used on."""
    metadata.create_all(connection, [writer, known_devices])


def add_fair_play(connection: Connection) -> None:
    """Add blocked players, the networks of entrants, and an index of the games of a pair."""
    blocks.create(connection)
    connection.exec_driver_sql("ALTER TABLE entries ADD COLUMN network TEXT")
    next(index for index in games.indexes if index.name == "games_by_pair").create(connection)


CLUB = Schema("club", metadata, (add_writer_and_devices, add_fair_play), durable=True, private=True)
