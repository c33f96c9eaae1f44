"""The tables of the archive."""

from sqlalchemy import Column, Index, Integer, LargeBinary, MetaData, SmallInteger, Table, Text

from awello.storage.columns import identifier, keys, optional, references, required
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
    *optional(Text, "date", "start"),  # 1996, 1996-05 or 1996-05-07; where it is not the usual one
    *required(LargeBinary, "moves"),  # a byte each, 255 for a pass
    *optional(SmallInteger, "score"),  # the first player's margin, where the board tells it
    *optional(SmallInteger, "winner", "loser"),  # 0 or 1; winner is 2 for a draw
    *required(Text, "reason"),
    *optional(Text, "opening"),  # its English name
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
