"""The tables of the club and their migrations."""

from collections.abc import Iterable

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
    text,
)

from awello.storage.columns import foreign_keys, id_column, nullable_columns, primary_keys, required_columns
from awello.storage.migrations import Schema

metadata = MetaData()
accounts = Table(
    "accounts",
    metadata,
    id_column(),
    *required_columns(Text, "name"),
    *required_columns(Text, "lower_name", unique=True),  # unique, regardless of case
    *required_columns(Boolean, "bot", "closed"),
    *foreign_keys("accounts", "owner"),  # of a bot
    *nullable_columns(Text, "password_hash"),  # None for a bot
    *required_columns(Float, "created"),
)
sessions = Table(
    "sessions",
    metadata,
    *primary_keys(LargeBinary, "digest"),
    *foreign_keys("accounts", "account", nullable=False, index=True),
    *required_columns(Float, "expires"),
)
tokens = Table(
    "tokens",
    metadata,
    id_column(),
    *required_columns(LargeBinary, "digest", unique=True),
    *foreign_keys("accounts", "account", nullable=False, index=True),
    *required_columns(Text, "label"),
    *required_columns(Float, "created"),
)
tournaments = Table(
    "tournaments",
    metadata,
    id_column(),
    *required_columns(Text, "name", "system"),
    *required_columns(SmallInteger, "variant"),
    *required_columns(Float, "clock", "increment", "starts", "grace"),  # grace: seconds until an absent player forfeits
    *required_columns(Boolean, "rated"),
    *required_columns(Integer, "rounds"),  # 0 for a round robin until it starts
    *required_columns(Text, "state", index=True),
    *required_columns(Integer, "round"),  # number of the current round; 0 before the first round
)
entrants = Table(
    "entrants",
    metadata,
    *foreign_keys("tournaments", "tournament", primary_key=True),
    *foreign_keys("accounts", "account", primary_key=True, index=True),
    *required_columns(Float, "entered"),
    *nullable_columns(Integer, "seed"),  # 1 for the highest rating; set when the tournament starts
    *nullable_columns(Text, "client_network"),  # None for a client on the server's machine, and after the start
)
games = Table(
    "games",
    metadata,
    id_column(autoincrement=False),
    *required_columns(SmallInteger, "variant"),
    *foreign_keys("accounts", "first", "second", nullable=False, index=True),
    *required_columns(Float, "clock", "increment", "started", "turn_started", "first_clock", "second_clock"),
    *required_columns(Boolean, "rated", "over", "archived"),
    *required_columns(LargeBinary, "moves", "move_seconds"),  # one byte per move (255: a pass); four bytes per time
    *nullable_columns(SmallInteger, "draw_offer", "loser"),
    *required_columns(Text, "reason"),
    *foreign_keys("tournaments", "tournament"),
    Index("games_by_state", "over", "archived"),
    Index("games_by_pair", "first", "second", "started"),
)
pairings = Table(
    "pairings",
    metadata,
    *foreign_keys("tournaments", "tournament", primary_key=True),
    *primary_keys(Integer, "round", "board"),
    *foreign_keys("accounts", "first", nullable=False),
    *foreign_keys("accounts", "second"),  # None for a bye
    *foreign_keys("games", "game", unique=True),  # None until both players are online
    *nullable_columns(Float, "first_points", "second_points"),  # None until decided
    *required_columns(Boolean, "forfeit"),
)
ratings = Table(
    "ratings",
    metadata,
    *foreign_keys("accounts", "account", primary_key=True),
    *primary_keys(Text, "pool"),
    *required_columns(Float, "mean", "deviation"),
    *required_columns(Integer, "wins", "draws", "losses"),
    Index("leaderboard", "pool", "mean"),
)
rating_changes = Table(
    "rating_changes",
    metadata,
    *foreign_keys("games", "game", primary_key=True),
    *primary_keys(SmallInteger, "side"),
    *required_columns(Float, "before", "after"),
)
blocks = Table(
    "blocks",
    metadata,
    *foreign_keys("accounts", "account", "blocked", primary_key=True),
    *required_columns(Float, "created"),
)
audit = Table(
    "audit",
    metadata,
    id_column(),
    *required_columns(Float, "time", index=True),
    *nullable_columns(Integer, "account"),
    *required_columns(Text, "address", "event"),
)
heartbeat = Table(
    "heartbeat", metadata, *required_columns(Float, "time")
)  # one row: when the club was last known to be open
# One row: the epoch, incremented when a server opens the club, and the number of the last transaction.
writer = Table(
    "writer", metadata, *required_columns(Integer, "epoch"), *required_columns(BigInteger, "last_transaction")
)
known_devices = Table(  # devices and client networks from which accounts have logged in
    "known_devices",
    metadata,
    *foreign_keys("accounts", "account", primary_key=True),
    *primary_keys(LargeBinary, "digest"),
    *required_columns(Float, "expires"),
)


RENAMED_COLUMNS = (
    ("accounts", "key", "lower_name"),
    ("accounts", "program", "bot"),
    ("accounts", "password", "password_hash"),
    ("entrants", "network", "client_network"),
    ("games", "begun", "started"),
    ("games", "offer", "draw_offer"),
    ("games", "since", "turn_started"),
    ("games", "first_left", "first_clock"),
    ("games", "second_left", "second_clock"),
    ("ratings", "doubt", "deviation"),
    ("audit", "moment", "time"),
    ("audit", "what", "event"),
    ("heartbeat", "moment", "time"),
    ("writer", "batch", "last_transaction"),
)
RENAMED_GAME_COLUMNS = (
    ("tournaments", "game", "variant"),
    ("tournaments", "base", "clock"),
    ("games", "game", "variant"),
    ("games", "base", "clock"),
    ("games", "seconds", "move_seconds"),
)
CODES_BY_OLD_REASON = {
    "was not begun": "aborted",
    "ran out of time": "time",
    "left the game": "left",
    "was behind at the move limit": "behind_at_limit",
    "a draw was agreed": "draw_agreed",
    "a draw was claimed": "draw_claimed",
    "the move limit was reached": "draw_at_limit",
}


# ---- migrations: do not change them; they use the table and column names of their own version --------------------
def add_writer_and_devices(connection: Connection) -> None:
    """Add the tables `writer` and `known_devices`."""
    connection.exec_driver_sql("CREATE TABLE writer (epoch INTEGER NOT NULL, batch BIGINT NOT NULL)")
    known_devices.create(connection)


def add_fair_play(connection: Connection) -> None:
    """Add the table `blocks`, a column for entrants' client networks, and an index of games by players."""
    blocks.create(connection)
    connection.exec_driver_sql("ALTER TABLE entries ADD COLUMN network TEXT")
    connection.exec_driver_sql("CREATE INDEX games_by_pair ON games (first, second, begun)")


def rename_tables_and_columns(connection: Connection) -> None:
    """Rename tables, columns and indexes, and replace the texts of end reasons with codes."""
    connection.exec_driver_sql("ALTER TABLE changes RENAME TO rating_changes")
    connection.exec_driver_sql("ALTER TABLE pulse RENAME TO heartbeat")
    connection.exec_driver_sql("ALTER TABLE entries RENAME TO entrants")
    _rename_columns(connection, RENAMED_COLUMNS)
    connection.exec_driver_sql("DROP INDEX ladder")
    connection.exec_driver_sql("CREATE INDEX leaderboard ON ratings (pool, mean)")
    connection.exec_driver_sql("DROP INDEX ix_entries_account")
    connection.exec_driver_sql("CREATE INDEX ix_entrants_account ON entrants (account)")
    connection.exec_driver_sql("DROP INDEX ix_audit_moment")
    connection.exec_driver_sql("CREATE INDEX ix_audit_time ON audit (time)")
    for reason, code in CODES_BY_OLD_REASON.items():
        connection.execute(
            text("UPDATE games SET reason = :code WHERE reason = :reason"), {"code": code, "reason": reason}
        )


def rename_game_columns(connection: Connection) -> None:
    """Rename the columns for the rules, the clock and the move times in the tables of games and tournaments."""
    _rename_columns(connection, RENAMED_GAME_COLUMNS)


def _rename_columns(connection: Connection, renamed: Iterable[tuple[str, str, str]]) -> None:
    for table, old, new in renamed:
        connection.exec_driver_sql(f'ALTER TABLE {table} RENAME COLUMN "{old}" TO "{new}"')


MIGRATIONS = (add_writer_and_devices, add_fair_play, rename_tables_and_columns, rename_game_columns)
CLUB_SCHEMA = Schema("club", metadata, MIGRATIONS, durable=True, private=True)
