"""The transposition table (TT) for Othello, shared by all threads without locks.

The table for Awalé (see `awale_transposition_table`) also uses the hash function and `TranspositionTable`, the memory
of a table.

A bucket is one cache line of four entries.  An entry consists of two words: the data, and the hash of the position xor
the data.  If two threads write an entry at the same time, its words may not match; then the entry is not found, so no
lock is needed.  The data contain two bounds on the value, two moves, and the depth, selectivity and age of the search.
A new entry replaces the entry of the same position, unless the old one has a larger depth.  If the bucket has no entry
for the position, the new entry replaces the one with the smallest depth among the entries of earlier searches or, if
there are none, among all entries.

Hashes have 64 bits, so two positions can have the same hash.  By default, the multipliers of the hash function are
fixed and public: searches are reproducible, but an attacker can construct collisions.  A server that searches positions
from untrusted users should use random multipliers, which are drawn for each table (`Engine(random_hash=True)`).

An empty entry consists of two zeros, so it matches a position with hash 0.  This does no harm: `probe_tt` then returns
0, as it does if the table has no entry for the position.
"""

import secrets
from typing import Annotated

from awello.bits import multiply_shift, to_signed
from awello.engine.othello_state import OthelloState, othello_state_at
from awello.engine.thread_state import NO_MOVE, HashMultipliers
from awello.kernel import U, kernel
from awello.layout import Layout, record_at
from awello.memory import CACHE_LINE, allocate_words

ENTRIES_PER_BUCKET = 4  # a bucket fills one cache line
NO_CUTOFF = -65  # below all scores: returned if the bounds of an entry do not end the search
SCORE_OFFSET = 64  # added to a score, so that it fits into a byte
FIXED_MULTIPLIERS = (
    0x13198A2E03707344,
    0x243F6A8885A308D3,
    0x082EFA98EC4E6C89,
    0xA4093822299F31D0,
)  # hexadecimal digits of pi


class TableEntry(Layout):
    """An entry of the transposition table."""

    check: U
    """The hash xor the data."""
    packed: U
    """The data: bounds, moves, depth, selectivity and age, in one word, which is written atomically."""


class TableBucket(Layout):
    """The entries in which a position can be stored."""

    entries: Annotated[list[TableEntry], ENTRIES_PER_BUCKET]


bucket_at = record_at(TableBucket)


@kernel("uint64(uint64, uint64, HashMultipliers)", inline=True)
def hash_position(own: U, opp: U, multipliers: HashMultipliers) -> U:
    """Return the 64-bit hash of a position of Othello or Awalé."""
    own_low, own_high = multipliers.own_low, multipliers.own_high
    return multiply_shift(own, opp, own_low, own_high, multipliers.opp_low, multipliers.opp_high)


def draw_multipliers() -> tuple[int, ...]:
    """Draw random multipliers for the hash function."""
    return tuple(secrets.randbits(64) for _ in FIXED_MULTIPLIERS)


@kernel("TableBucket(uint64, OthelloState)", inline=True)
def find_bucket(key: U, state: OthelloState) -> TableBucket:
    """Return the bucket for a hash."""
    return bucket_at(state.tt + CACHE_LINE * to_signed(key >> U(20) & state.tt_mask))


@kernel("int64(TableBucket, uint64)", inline=True)
def probe_tt(bucket: TableBucket, key: U) -> int:
    """Return the data of the entry for the position with this hash, or 0 if the table has no entry for it."""
    for index in range(ENTRIES_PER_BUCKET):
        stored = bucket.entries[U(index)]
        data = stored.packed
        if stored.check ^ data == key:
            return to_signed(data)
    return 0


@kernel("int64(int64)", inline=True)
def entry_lower_bound(entry: int) -> int:
    """Return the lower bound on the value."""
    return (entry & 255) - SCORE_OFFSET


@kernel("int64(int64)", inline=True)
def entry_upper_bound(entry: int) -> int:
    """Return the upper bound on the value."""
    return (entry >> 8 & 255) - SCORE_OFFSET


@kernel("int64(int64)", inline=True)
def entry_move(entry: int) -> int:
    """Return the best move, or NO_MOVE."""
    return entry >> 16 & 255


@kernel("int64(int64)", inline=True)
def entry_second_move(entry: int) -> int:
    """Return the second move, which was the TT move when the search began, or NO_MOVE."""
    return entry >> 24 & 255


@kernel("int64(int64)", inline=True)
def entry_depth(entry: int) -> int:
    """Return the depth of the search; for a search to the end, this is the number of empty squares."""
    return entry >> 32 & 255


@kernel("int64(int64)", inline=True)
def entry_selectivity(entry: int) -> int:
    """Return the selectivity of the search."""
    return entry >> 40 & 255


@kernel("UniTuple(int64, 2)(int64, int64, int64)", inline=True)
def entry_bounds(entry: int, depth: int, selectivity: int) -> tuple[int, int]:
    """Return the bounds of an entry if it has this depth and at least this selectivity, otherwise the widest bounds."""
    if entry != 0 and entry_depth(entry) == depth and entry_selectivity(entry) >= selectivity:
        return entry_lower_bound(entry), entry_upper_bound(entry)
    return -SCORE_OFFSET, SCORE_OFFSET


@kernel("int64(int64, int64, int64, int64)", inline=True)
def cutoff_value(lower: int, upper: int, alpha: int, beta: int) -> int:
    """Return the bound that ends a search with the window (alpha, beta), or NO_CUTOFF if neither bound does."""
    if lower >= beta or lower == upper:
        return lower
    return upper if upper <= alpha else NO_CUTOFF


@kernel("int64(TableBucket, uint64, int64, int64)", inline=True)
def find_entry_to_replace(bucket: TableBucket, key: U, depth: int, age: int) -> int:
    """Return the index of the entry to replace: the position's own (-1 if that is deeper), else the least valuable."""
    worst, lowest = 0, 1 << 30
    for index in range(ENTRIES_PER_BUCKET):
        data = bucket.entries[U(index)].packed
        entry = to_signed(data)
        if bucket.entries[U(index)].check ^ data == key:
            return -1 if entry_depth(entry) > depth else index
        priority = entry_depth(entry) + (256 if entry >> 48 == age else 0)
        if priority < lowest:
            worst, lowest = index, priority
    return worst


@kernel("void(TableBucket, uint64, int64, int64, int64, int64, int64, int64, int64)", inline=True)
def store_tt(
    bucket: TableBucket, key: U, lower: int, upper: int, move: int, second: int, depth: int, selectivity: int, age: int
) -> None:
    """Store an entry, unless the position already has one with a larger depth."""
    index = find_entry_to_replace(bucket, key, depth, age)
    if index >= 0:
        data = (lower + SCORE_OFFSET) | (upper + SCORE_OFFSET) << 8 | move << 16 | second << 24
        word = U(data | depth << 32 | selectivity << 40 | age << 48)
        bucket.entries[U(index)].check = key ^ word
        bucket.entries[U(index)].packed = word


@kernel("int64(uint64, uint64, int64)")
def probe_best_move(own: U, opp: U, address: int) -> int:
    """Return the best move that the transposition table of a state holds for a position, or NO_MOVE."""
    state = othello_state_at(address)
    key = hash_position(own, opp, state.multipliers)
    entry = probe_tt(find_bucket(key, state), key)
    return entry_move(entry) if entry != 0 else NO_MOVE


class TranspositionTable:
    """The memory of a table: as many buckets as fit in `hash_mib` MiB, rounded down to a power of two."""

    def __init__(
        self, hash_mib: int, multipliers: tuple[int, ...] = FIXED_MULTIPLIERS, bucket_bytes: int = CACHE_LINE
    ) -> None:
        self.multipliers = multipliers
        self.buckets = 1 << (max(1, (hash_mib << 20) // bucket_bytes).bit_length() - 1)
        self.words = allocate_words(self.buckets * bucket_bytes // 8)
        self.age = 0

    def clear(self) -> None:
        """Clear the table."""
        self.words[:] = 0
        self.age = 0
