"""The tables of the archive."""

from sqlalchemy import Column, Connection, Index, Integer, LargeBinary, MetaData, SmallInteger, Table, Text

from awello.storage.columns import foreign_keys, id_column, nullable_columns, primary_keys, required_columns
from awello.storage.migrations import Schema

metadata = MetaData()
players = Table("players", metadata, id_column(), Column("name", Text, unique=True))
events = Table("events", metadata, id_column(), Column("name", Text, unique=True))
sources = Table(
    "sources",
    metadata,
    id_column(),
    *required_columns(Text, "name", "format"),
    *required_columns(LargeBinary, "digest", unique=True),  # hash of the content
    *required_columns(LargeBinary, "header"),  # the header of a `.wtb` file, or a whole `.jou` or `.trn` file
)
games = Table(
    "games",
    metadata,
    id_column(autoincrement=False),
    *required_columns(LargeBinary, "digest", unique=True),
    *required_columns(SmallInteger, "variant"),
    *foreign_keys("players", "first", "second", index=True),
    *foreign_keys("events", "event", index=True),
    *nullable_columns(Text, "date", "start"),  # date: 1996, 1996-05 or 1996-05-07; start: null for the standard start
    *required_columns(LargeBinary, "moves"),  # one byte per move, 255 for a pass
    *nullable_columns(SmallInteger, "score"),  # the first player's margin, if the game was played to the end
    *nullable_columns(SmallInteger, "winner"),  # a side, or 2 for a draw; null if the game is unfinished
    *nullable_columns(SmallInteger, "loser"),  # the side that resigned, ran out of time or forfeited, else null
    *required_columns(Text, "reason"),
    *nullable_columns(Text, "opening"),  # English name
    *required_columns(Text, "details"),  # JSON: times, values, and all tags except the players and the event
    Index("games_by_moves", "moves"),
    Index("games_by_date", "date"),
    Index("games_by_opening", "opening"),
)
source_games = Table(
    "source_games",
    metadata,
    *foreign_keys("sources", "source", primary_key=True),
    *primary_keys(Integer, "number"),
    *foreign_keys("games", "game", nullable=False, index=True),
)
index_pages = Table(
    "index_pages",
    metadata,
    *primary_keys(SmallInteger, "variant", "bucket"),
    *primary_keys(Integer, "page"),
    *required_columns(LargeBinary, "entries"),
)


def rename_tables(connection: Connection) -> None:
    """Rename the tables and columns of version 0.1.0 to their current names."""
    for statement in (
        "ALTER TABLE appearances RENAME TO source_games",
        "ALTER TABLE pages RENAME TO index_pages",
        "ALTER TABLE index_pages RENAME COLUMN part TO page",
        "ALTER TABLE sources RENAME COLUMN head TO header",
        "ALTER TABLE games RENAME COLUMN more TO details",
        "DROP INDEX ix_appearances_game",
        "CREATE INDEX ix_source_games_game ON source_games (game)",
    ):
        connection.exec_driver_sql(statement)


def rename_variant(connection: Connection) -> None:
    """Rename the column `game` of the tables `games` and `index_pages` to `variant`."""
    for table in ("games", "index_pages"):
        connection.exec_driver_sql(f"ALTER TABLE {table} RENAME COLUMN game TO variant")


VERSION_0_1_0_VIEWS = (  # the tables of version 0.1.0 under their current names
    "CREATE TEMP VIEW source_games AS SELECT * FROM main.appearances",
    "CREATE TEMP VIEW index_pages AS SELECT game AS variant, bucket, part AS page, entries FROM main.pages",
    "CREATE TEMP VIEW sources AS SELECT id, name, format, digest, head AS header FROM main.sources",
    "CREATE TEMP VIEW games AS SELECT id, digest, game AS variant, first, second, event, date, start, moves, score, "
    "winner, loser, reason, opening, more AS details FROM main.games",
)
ARCHIVE_SCHEMA = Schema("archive", metadata, (rename_tables, rename_variant), views=VERSION_0_1_0_VIEWS)
