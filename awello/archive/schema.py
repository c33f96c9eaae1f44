"""The tables of the archive."""

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, SmallInteger, Table, Text

from awello.storage.columns import identifier, keys, references, required
from awello.storage.migrations import Schema

metadata = MetaData()
players = Table("players", metadata, identifier(), Column("name", Text, unique=True))
events = Table("events", metadata, identifier(), Column("name", Text, unique=True))
sources = Table(
    "sources",
    metadata,
    identifier(),
    *required(Text, "name", "format"),
    *required(LargeBinary, "digest", unique=True),  # of the content
    *required(LargeBinary, "head"),  # what a file holds beside its games
)
games = Table(
    "games",
    metadata,
    identifier(autoincrement=False),
    *required(LargeBinary, "digest", unique=True),
    *required(SmallInteger, "game"),
    *references("players", "first", "second", index=True),
    *references("events", "event", index=True),
    Column("date", Text),  # 1996, 1996-05 or 1996-05-07
    Column("start", Text),  # where it is not the usual one
    *required(LargeBinary, "moves"),  # a byte each, 255 for a pass
    Column("score", SmallInteger),  # the first player's margin, where the board tells it
    Column("winner", SmallInteger),  # 0 or 1, 2 for a draw
    Column("loser", SmallInteger),
    *required(Text, "reason"),
    Column("opening", Text),  # its English name
    *required(Text, "more"),  # other tags, times and values, as JSON
    Index("games_by_moves", "moves"),
    Index("games_by_date", "date"),
    Index("games_by_opening", "opening"),
)
appearances = Table(
    "appearances",
    metadata,
    *references("sources", "source", primary_key=True),
    *keys(Integer, "number"),
    *references("games", "game", nullable=False, index=True),
)
pages = Table(
    "pages",
    metadata,
    *keys(SmallInteger, "game", "bucket"),
    *keys(Integer, "part"),
    *required(LargeBinary, "entries"),
)
ARCHIVE = Schema("archive", metadata)
