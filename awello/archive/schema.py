"""The tables of the archive."""

from collections.abc import Callable

from sqlalchemy import Column, Connection, ForeignKey, Index, Integer, LargeBinary, MetaData, SmallInteger, Table, Text

from awello.archive.database import Schema, state_of

metadata = MetaData()
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
ARCHIVE = Schema("archive", metadata, state_of(metadata), STEPS)
