"""The transposition table: what is known of positions met, shared by all threads without locks.

A bucket is one cache line of four entries, an entry two words: the data, and the position's hash xor the data.  If
two threads write an entry at once its halves do not fit, and it is not found: no lock is needed.  The data are two
bounds on the value, two good moves, the depth, the certainty of the search that found them, and the age of that
search.  A new entry takes its own place, else that of the entry least worth keeping: of an older search, then of the
smallest depth.

The hash has 64 bits, so different positions can share one.  Its multipliers are public by default, which makes searches
repeatable but lets an attacker construct such positions.  A server that searches positions from strangers draws secret
multipliers for each table instead (`Engine(secret=True)`).  An empty entry is two zeros: it matches hash 0, and its
data, 0, mean that nothing is known.
"""

import secrets
from typing import Annotated

from awello.bits import multiply_shift, signed
from awello.engine.othello_state import OthelloState, othello_state_at
from awello.engine.thread_state import NO_MOVE, HashMultipliers
from awello.kernel import U, kernel
from awello.layout import Layout, record_at
from awello.memory import CACHE_LINE, aligned_words

BUCKET_ENTRIES = 4  # in a bucket, which fills one cache line
UNSETTLED = -65  # below every score
SCORE_OFFSET = 64  # a score is stored as a byte above this
PUBLIC_MULTIPLIERS = (
    0x13198A2E03707344,
    0x243F6A8885A308D3,
    0x082EFA98EC4E6C89,
    0xA4093822299F31D0,
)  # the digits of pi


class TableEntry(Layout):
    """What is known of one position."""

    check: U
    """The hash xor the data."""
    packed: U
    """Bounds, moves, depth, certainty and age: one word, because threads may write it at the same time."""


class TableBucket(Layout):
    """The entries where a position may be stored."""

    entries: Annotated[list[TableEntry], BUCKET_ENTRIES]


bucket_at = record_at(TableBucket)


@kernel("uint64(uint64, uint64, HashMultipliers)", inline=True)
def hash_of(own: U, opp: U, multipliers: HashMultipliers) -> U:
    """64 bits for a position of either game."""
    own_low, own_high = multipliers.own_low, multipliers.own_high
    return multiply_shift(own, opp, own_low, own_high, multipliers.opp_low, multipliers.opp_high)


def draw_multipliers() -> tuple[int, ...]:
    """Draw the words of secret multipliers for a hash."""
    return tuple(secrets.randbits(64) for _ in PUBLIC_MULTIPLIERS)


@kernel("TableBucket(uint64, OthelloState)", inline=True)
def bucket_of(key: U, state: OthelloState) -> TableBucket:
    """Where a position with this hash may be stored."""
    return bucket_at(state.tt + CACHE_LINE * signed(key >> U(20) & state.tt_mask))


@kernel("int64(TableBucket, uint64)", inline=True)
def probe_tt(bucket: TableBucket, key: U) -> int:
    """What is known of a position, or 0."""
    for index in range(BUCKET_ENTRIES):
        entry = bucket.entries[U(index)]
        data = entry.packed
        if entry.check ^ data == key:
            return signed(data)
    return 0


@kernel("int64(int64)", inline=True)
def lower_bound_of(data: int) -> int:
    """The value is at least this."""
    return (data & 255) - SCORE_OFFSET


@kernel("int64(int64)", inline=True)
def upper_bound_of(data: int) -> int:
    """The value is at most this."""
    return (data >> 8 & 255) - SCORE_OFFSET


@kernel("int64(int64)", inline=True)
def move_of(data: int) -> int:
    """The best move known, or NO_MOVE."""
    return data >> 16 & 255


@kernel("int64(int64)", inline=True)
def second_move_of(data: int) -> int:
    """The move that was best before, or NO_MOVE."""
    return data >> 24 & 255


@kernel("int64(int64)", inline=True)
def depth_of(data: int) -> int:
    """The plies searched; the number of empty squares if to the end."""
    return data >> 32 & 255


@kernel("int64(int64)", inline=True)
def selectivity_of(data: int) -> int:
    """How sure the search was."""
    return data >> 40 & 255


@kernel("UniTuple(int64, 2)(int64, int64, int64)", inline=True)
def bounds_of(data: int, depth: int, selectivity: int) -> tuple[int, int]:
    """Bounds on the value of a search of this depth, from what is known; the widest if that is of another depth."""
    if data != 0 and depth_of(data) == depth and selectivity_of(data) >= selectivity:
        return lower_bound_of(data), upper_bound_of(data)
    return -SCORE_OFFSET, SCORE_OFFSET


@kernel("int64(int64, int64, int64, int64)", inline=True)
def settled_value(lower: int, upper: int, alpha: int, beta: int) -> int:
    """The value if bounds settle it for a window, else UNKNOWN."""
    if lower >= beta or lower == upper:
        return lower
    return upper if upper <= alpha else UNSETTLED


@kernel("int64(TableBucket, uint64, int64, int64)", inline=True)
def find_entry_to_replace(bucket: TableBucket, key: U, depth: int, age: int) -> int:
    """The index of the position's own entry, or -1 if a deeper search wrote it; else of the one least worth keeping."""
    place, least = 0, 1 << 30
    for index in range(BUCKET_ENTRIES):
        data = bucket.entries[U(index)].packed
        known = signed(data)
        if bucket.entries[U(index)].check ^ data == key:
            return -1 if depth_of(known) > depth else index
        worth = depth_of(known) + (256 if known >> 48 == age else 0)
        if worth < least:
            place, least = index, worth
    return place


@kernel("void(TableBucket, uint64, int64, int64, int64, int64, int64, int64, int64)", inline=True)
def store_tt(
    bucket: TableBucket, key: U, lower: int, upper: int, move: int, second: int, depth: int, selectivity: int, age: int
) -> None:
    """Store what is known of a position, unless a deeper search has stored more."""
    index = find_entry_to_replace(bucket, key, depth, age)
    if index >= 0:
        data = (lower + SCORE_OFFSET) | (upper + SCORE_OFFSET) << 8 | move << 16 | second << 24
        word = U(data | depth << 32 | selectivity << 40 | age << 48)
        bucket.entries[U(index)].check = key ^ word
        bucket.entries[U(index)].packed = word


@kernel("int64(uint64, uint64, int64)")
def probe_best_move(own: U, opp: U, address: int) -> int:
    """The best move that the table of the state at an address knows for a position, or NO_MOVE."""
    state = othello_state_at(address)
    key = hash_of(own, opp, state.multipliers)
    data = probe_tt(bucket_of(key, state), key)
    return move_of(data) if data != 0 else NO_MOVE


class TranspositionTable:
    """The memory of a transposition table, of the largest power of two buckets that fits a size in MiB."""

    def __init__(
        self, hash_mib: int, multipliers: tuple[int, ...] = PUBLIC_MULTIPLIERS, bucket_bytes: int = CACHE_LINE
    ) -> None:
        self.multipliers = multipliers
        self.buckets = 1 << (max(1, (hash_mib << 20) // bucket_bytes).bit_length() - 1)
        self.words = aligned_words(self.buckets * bucket_bytes // 8)
        self.age = 0

    def clear(self) -> None:
        """Forget everything."""
        self.words[:] = 0
        self.age = 0
