"""The position index: the games that reach each position, with the moves played there and the results.

An entry has 14 bytes.  Entries are grouped into buckets by the first bits of their key.  Each row of the database holds
one page of a bucket; pages are filled in order.  So a hundred thousand games need a few thousand rows, adding games
only appends to pages, and a query reads the pages of a single bucket.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, bindparam, func, select

from awello.archive.position_keys import UNKNOWN_SCORE, compute_position_key, write_position_keys
from awello.archive.schema import index_pages
from awello.kernel import U
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game
from awello.storage.database import select_among

ENTRY_DTYPE = np.dtype([("key", "<u8"), ("game", "<u4"), ("move", "i1"), ("score", "i1")])
BUCKET_BITS = 12
PAGE_ENTRIES = 2048  # maximum entries per page, unless a single call of `add_entries` adds more to a bucket
OFF_BOARD_WIN_SCORE = 100  # stored instead of a margin if the game was won by resignation, on time or by forfeit

Entries = npt.NDArray[np.void]


def build_entries(game: Game, records: Sequence[Record], ids: Sequence[int]) -> tuple[Entries, list[int | None]]:
    """Return the index entries of records of one rule set, and the margin of each game.

    The score of an entry is from the mover's view.  Margins are from the first player's view; a margin is None if
    the game was not played to the end.
    """
    starts, lengths = [record.start for record in records], np.array([len(record.moves) for record in records])
    owns, opps = (np.array([getattr(start, word) for start in starts], np.uint64) for word in ("own", "opp"))
    moves = np.array([move for record in records for move in record.moves], np.int8)
    entries = np.zeros(len(moves) + len(records), ENTRY_DTYPE)
    keys, canonical_moves = np.empty(len(entries), np.uint64), np.empty(len(entries), np.int8)
    scores = np.empty(len(records), np.int64)
    write_position_keys(int(game), owns, opps, lengths, moves, keys, canonical_moves, scores)
    if game.adapter.has_repetition:
        # the words of the last position do not show whether the game ended by repetition
        finals = (record.final for record in records)
        scores[:] = [final.margin if final.over else UNKNOWN_SCORE for final in finals]
    turned = (lengths + [start.side for start in starts]) % 2 == 1
    for_first = np.where(turned & (scores != UNKNOWN_SCORE), -scores, scores)
    margins = [None if score == UNKNOWN_SCORE else score for score in for_first.tolist()]
    for at, record in enumerate(records):
        if record.loser is not None:
            scores[at] = -OFF_BOARD_WIN_SCORE if record.loser == turned[at] else OFF_BOARD_WIN_SCORE
    ends = np.repeat(np.cumsum(lengths + 1) - 1, lengths + 1)
    back = np.where((ends - np.arange(len(entries))) % 2 == 0, 1, -1)
    spread = np.repeat(scores, lengths + 1)
    entries["key"], entries["move"], entries["game"] = keys, canonical_moves, np.repeat(ids, lengths + 1)
    entries["score"] = np.where(spread == UNKNOWN_SCORE, UNKNOWN_SCORE, spread * back)
    return entries, margins


def add_entries(connection: Connection, game: Game, entries: Entries) -> None:
    """Append entries to the pages of their buckets."""
    buckets = entries["key"] >> U(64 - BUCKET_BITS)
    order = np.argsort(buckets, kind="stable")
    touched, first = np.unique(buckets[order], return_index=True)
    parts = np.split(entries[order], first[1:])
    pending = {bucket: part.tobytes() for bucket, part in zip(touched.tolist(), parts, strict=True)}
    fuller, more = [], []
    for bucket, page, content in list(_load_last_pages(connection, game, list(pending))):
        added = pending.pop(bucket)
        if len(content) + len(added) <= PAGE_ENTRIES * ENTRY_DTYPE.itemsize:
            fuller.append({"_bucket": bucket, "_page": page, "entries": content + added})
        else:
            more.append({"variant": int(game), "bucket": bucket, "page": page + 1, "entries": added})
    more += [{"variant": int(game), "bucket": bucket, "page": 0, "entries": first} for bucket, first in pending.items()]
    if fuller:
        same = (index_pages.c.bucket == bindparam("_bucket")) & (index_pages.c.page == bindparam("_page"))
        connection.execute(index_pages.update().where((index_pages.c.variant == int(game)) & same), fuller)
    if more:
        connection.execute(index_pages.insert(), more)


def _load_last_pages(connection: Connection, game: Game, buckets: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
    """For each given bucket that has pages, yield the bucket's number, and the number and content of its last page."""
    others = index_pages.alias()
    last = select(func.max(others.c.page)).where(
        others.c.variant == index_pages.c.variant, others.c.bucket == index_pages.c.bucket
    )
    query = select(index_pages).where(index_pages.c.variant == int(game), index_pages.c.page == last.scalar_subquery())
    for row in select_among(connection, query, index_pages.c.bucket, buckets):
        yield row.bucket, row.page, row.entries


def find_entries(connection: Connection, position: Position) -> Entries:
    """Find the entries of a position and its symmetric positions."""
    key, _ = compute_position_key(int(position.game), U(position.own), U(position.opp), PASS)
    bucket = int(key) >> 64 - BUCKET_BITS
    query = select(index_pages.c.entries).where(
        (index_pages.c.variant == int(position.game)) & (index_pages.c.bucket == bucket)
    )
    content = b"".join(connection.execute(query.order_by(index_pages.c.page)).scalars())
    entries: Entries = np.frombuffer(content, ENTRY_DTYPE)
    return np.compress(entries["key"] == key, entries)


def canonical_move(position: Position, move: int) -> int:
    """Return the canonical move: of `move` and all moves symmetric to it, the one that the index stores."""
    return int(compute_position_key(int(position.game), U(position.own), U(position.opp), move)[1])
