"""The tables of the club and their migrations."""

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
    *required(Text, "lower_name", unique=True),  # of which each exists once
    *required(Boolean, "bot", "closed"),
    *references("accounts", "owner"),  # of a bot
    *optional(Text, "password"),  # hashed; None for a bot
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
    *required(Float, "base", "increment", "starts", "grace"),  # grace: seconds until a missing player forfeits
    *required(Boolean, "rated"),
    *required(Integer, "rounds"),  # 0 for a round robin until it starts
    *required(Text, "state", index=True),
    *required(Integer, "round"),  # the current one; 0 before the first
)
entries = Table(
    "entries",
    metadata,
    *references("tournaments", "tournament", primary_key=True),
    *references("accounts", "account", primary_key=True, index=True),
    *required(Float, "entered"),
    *optional(Integer, "seed"),  # from 1, highest rating first; set at the start
    *optional(Text, "network"),  # cleared at the start; None for the server's own machine
)
games = Table(
    "games",
    metadata,
    identifier(autoincrement=False),
    *required(SmallInteger, "game"),
    *references("accounts", "first", "second", nullable=False, index=True),
    *required(Float, "base", "increment", "started", "turn_started", "first_clock", "second_clock"),
    *required(Boolean, "rated", "over", "archived"),
    *required(LargeBinary, "moves", "seconds"),  # one byte per move, 255 for a pass; four per time
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
    *references("accounts", "second"),  # None for a bye
    *references("games", "game", unique=True),  # None until both are online
    *optional(Float, "first_points", "second_points"),  # None until decided
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
    """Add the table of the writing server, and known devices."""
    connection.exec_driver_sql("CREATE TABLE writer (epoch INTEGER NOT NULL, batch BIGINT NOT NULL)")
    known_devices.create(connection)


def add_fair_play(connection: Connection) -> None:
    """Add blocks, the networks of entrants, and an index of the games of two players."""
    blocks.create(connection)
    connection.exec_driver_sql("ALTER TABLE entries ADD COLUMN network TEXT")
    connection.exec_driver_sql("CREATE INDEX games_by_pair ON games (first, second, begun)")


def rename_tables_and_columns(connection: Connection) -> None:
    """Rename tables, columns and indexes; the reason of aborted games is `aborted`."""
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
