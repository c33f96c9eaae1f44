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

from awello.storage.columns import identifier, keys, optional, references, required
from awello.storage.migrations import Schema

metadata = MetaData()
accounts = Table(
    "accounts",
    metadata,
    identifier(),
    *required(Text, "name"),
    *required(Text, "lower_name", unique=True),  # the name in lower case
    *required(Boolean, "bot", "closed"),
    *references("accounts", "owner"),  # of a program
    *optional(Text, "password"),  # hashed; a program has none
    *required(Float, "created"),
)
sessions = Table(
    "sessions",
    metadata,
    *keys(LargeBinary, "digest"),
    *references("accounts", "account", nullable=False, index=True),
    *required(Float, "expires"),
)
tokens = Table(
    "tokens",
    metadata,
    identifier(),
    *required(LargeBinary, "digest", unique=True),
    *references("accounts", "account", nullable=False, index=True),
    *required(Text, "label"),
    *required(Float, "created"),
)
tournaments = Table(
    "tournaments",
    metadata,
    identifier(),
    *required(Text, "name", "system"),
    *required(SmallInteger, "game"),
    *required(Float, "base", "increment", "starts", "grace"),  # grace: seconds in which players must come
    *required(Boolean, "rated"),
    *required(Integer, "rounds"),  # of a round robin 0 until it begins
    *required(Text, "state", index=True),
    *required(Integer, "round"),  # that is played; 0 before the first
)
entries = Table(
    "entries",
    metadata,
    *references("tournaments", "tournament", primary_key=True),
    *references("accounts", "account", primary_key=True, index=True),
    *required(Float, "entered"),
    *optional(Integer, "seed"),  # from 1, the highest rating first; known when it begins
    *optional(Text, "network"),  # from which it was entered, until it begins; none for this machine's own
)
games = Table(
    "games",
    metadata,
    identifier(autoincrement=False),
    *required(SmallInteger, "game"),
    *references("accounts", "first", "second", nullable=False, index=True),
    *required(Float, "base", "increment", "started", "turn_started", "first_clock", "second_clock"),
    *required(Boolean, "rated", "over", "archived"),
    *required(LargeBinary, "moves", "seconds"),  # a byte per move, 255 for a pass; four bytes per time
    *optional(SmallInteger, "offer", "loser"),
    *required(Text, "reason"),
    *references("tournaments", "tournament"),
    Index("games_by_state", "over", "archived"),
    Index("games_by_pair", "first", "second", "started"),
)
pairings = Table(
    "pairings",
    metadata,
    *references("tournaments", "tournament", primary_key=True),
    *keys(Integer, "round", "board"),
    *references("accounts", "first", nullable=False),
    *references("accounts", "second"),  # none for a bye
    *references("games", "game", unique=True),  # none until both are here
    *optional(Float, "first_points", "second_points"),  # none until it is decided
    *required(Boolean, "forfeit"),
)
ratings = Table(
    "ratings",
    metadata,
    *references("accounts", "account", primary_key=True),
    *keys(Text, "pool"),
    *required(Float, "mean", "deviation"),
    *required(Integer, "wins", "draws", "losses"),
    Index("leaderboard", "pool", "mean"),
)
rating_changes = Table(
    "rating_changes",
    metadata,
    *references("games", "game", primary_key=True),
    *keys(SmallInteger, "side"),
    *required(Float, "before", "after"),
)
blocks = Table(
    "blocks", metadata, *references("accounts", "account", "blocked", primary_key=True), *required(Float, "created")
)
audit = Table(
    "audit",
    metadata,
    identifier(),
    *required(Float, "time", index=True),
    *optional(Integer, "account"),
    *required(Text, "address", "event"),
)
heartbeat = Table("heartbeat", metadata, *required(Float, "time"))  # one row: when the club was last known to be open
writer = Table(  # one row: the epoch, one more each time a server opens the club, and its last transaction
    "writer", metadata, *required(Integer, "epoch"), *required(BigInteger, "last_transaction")
)
known_devices = Table(  # devices and networks that have been used to log in
    "known_devices",
    metadata,
    *references("accounts", "account", primary_key=True),
    *keys(LargeBinary, "digest"),
    *required(Float, "expires"),
)


RENAMED_COLUMNS = (
    ("accounts", "key", "lower_name"),
    ("accounts", "program", "bot"),
    ("games", "begun", "started"),
    ("games", "since", "turn_started"),
    ("games", "first_left", "first_clock"),
    ("games", "second_left", "second_clock"),
    ("ratings", "doubt", "deviation"),
    ("audit", "moment", "time"),
    ("audit", "what", "event"),
    ("heartbeat", "moment", "time"),
    ("writer", "batch", "last_transaction"),
)


# ---- migrations: these statements stay as they are, in the names of their time ---------------------------------------
def add_writer_and_devices(connection: Connection) -> None:
    """Add the epoch of the server that may write, and the devices that accounts were used on."""
    connection.exec_driver_sql("CREATE TABLE writer (epoch INTEGER NOT NULL, batch BIGINT NOT NULL)")
    known_devices.create(connection)


def add_fair_play(connection: Connection) -> None:
    """Add blocked players, the networks of entrants, and an index of the games of a pair."""
    blocks.create(connection)
    connection.exec_driver_sql("ALTER TABLE entries ADD COLUMN network TEXT")
    connection.exec_driver_sql("CREATE INDEX games_by_pair ON games (first, second, begun)")


def rename_tables_and_columns(connection: Connection) -> None:
    """Give tables, columns and indexes their present names, and aborted games their present reason."""
    connection.exec_driver_sql("ALTER TABLE changes RENAME TO rating_changes")
    connection.exec_driver_sql("ALTER TABLE pulse RENAME TO heartbeat")
    for table, old, new in RENAMED_COLUMNS:
        connection.exec_driver_sql(f'ALTER TABLE {table} RENAME COLUMN "{old}" TO "{new}"')
    connection.exec_driver_sql("DROP INDEX ladder")
    connection.exec_driver_sql("CREATE INDEX leaderboard ON ratings (pool, mean)")
    connection.exec_driver_sql("DROP INDEX ix_audit_moment")
    connection.exec_driver_sql("CREATE INDEX ix_audit_time ON audit (time)")
    connection.exec_driver_sql("UPDATE games SET reason = 'aborted' WHERE reason = 'was not begun'")


MIGRATIONS = (add_writer_and_devices, add_fair_play, rename_tables_and_columns)
CLUB = Schema("club", metadata, MIGRATIONS, durable=True, private=True)
