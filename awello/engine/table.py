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

from awello.bits import multiply_shift, signed
from awello.engine.block import AGE, MULTIPLIERS, TABLE, TABLE_MASK
from awello.kernel import U, kernel
from awello.memory import aligned_words, load, load_word, store

ENTRIES, BUCKET = 4, 64  # entries and bytes of a bucket
NO_MOVE = 64
OFFSET = 64  # a score is stored as a byte above this
PUBLIC_MULTIPLIERS = (
    0x13198A2E03707344,
    0x243F6A8885A308D3,
    0x082EFA98EC4E6C89,
    0xA4093822299F31D0,
)  # the digits of pi


@kernel("uint64(uint64, uint64, int64)", inline=True)
def hash_of(own: U, opp: U, block: int) -> U:
    """64 bits for a position of either game."""
    low1, high1 = load_word(block, MULTIPLIERS), load_word(block, MULTIPLIERS + 1)
    return multiply_shift(own, opp, low1, high1, load_word(block, MULTIPLIERS + 2), load_word(block, MULTIPLIERS + 3))


def draw_multipliers() -> tuple[int, ...]:
    """Draw the words of secret multipliers for a hash."""
    return tuple(secrets.randbits(64) for _ in PUBLIC_MULTIPLIERS)


@kernel("int64(uint64, int64)", inline=True)
def bucket_of(key: U, block: int) -> int:
    """The address of the four places where a board may be remembered."""
    return load(block, TABLE) + BUCKET * (signed(key >> U(20)) & load(block, TABLE_MASK))


@kernel("int64(int64, uint64)", inline=True)
def recall(bucket: int, key: U) -> int:
    """What is known of a board, or 0."""
    for entry in range(ENTRIES):
        data = load_word(bucket, 2 * entry + 1)
        if load_word(bucket, 2 * entry) ^ data == key:
            return signed(data)
    return 0


@kernel("int64(int64)", inline=True)
def lower_of(data: int) -> int:
    """The value is at least this."""
    return (data & 255) - OFFSET


@kernel("int64(int64)", inline=True)
def upper_of(data: int) -> int:
    """The value is at most this."""
    return (data >> 8 & 255) - OFFSET


@kernel("int64(int64)", inline=True)
def move_of(data: int) -> int:
    """The best move known, or NO_MOVE."""
    return data >> 16 & 255


@kernel("int64(int64)", inline=True)
def second_of(data: int) -> int:
    """The move that was best before, or NO_MOVE."""
    return data >> 24 & 255


@kernel("int64(int64)", inline=True)
def depth_of(data: int) -> int:
    """The plies searched; the number of empty squares if to the end."""
    return data >> 32 & 255


@kernel("int64(int64)", inline=True)
def certainty_of(data: int) -> int:
    """How sure the search was."""
    return data >> 40 & 255


@kernel("void(int64, uint64, int64, int64, int64, int64, int64, int64, int64)", inline=True)
def remember(
    bucket: int, key: U, lower: int, upper: int, move: int, second: int, depth: int, certainty: int, block: int
) -> None:
    """Write down what is known of a board."""
    age = load(block, AGE)
    place, least = 0, 1 << 30
    for entry in range(ENTRIES):
        data = load_word(bucket, 2 * entry + 1)
        if load_word(bucket, 2 * entry) ^ data == key:
            if depth_of(signed(data)) > depth:
                return  # a shallow search on the way must not wipe out a deep one
            place = entry
            break
        known = signed(data)
        worth = depth_of(known) + (256 if known >> 48 == age else 0)
        if worth < least:
            place, least = entry, worth
    fresh = (lower + OFFSET) | (upper + OFFSET) << 8 | move << 16 | second << 24
    fresh |= depth << 32 | certainty << 40 | age << 48
    store(bucket, 2 * place, signed(key) ^ fresh)
    store(bucket, 2 * place + 1, fresh)


class Table:
    """The memory of a transposition table, of the largest power of two buckets that fits a size in MiB."""

    def __init__(self, size: int, multipliers: tuple[int, ...] = PUBLIC_MULTIPLIERS, bucket: int = BUCKET) -> None:
        self.multipliers = multipliers
        self.buckets = 1 << (max(1, (size << 20) // bucket).bit_length() - 1)
        self.words = aligned_words(self.buckets * bucket // 8)
        self.age = 0

    def clear(self) -> None:
        """Forget everything."""
        self.words[:] = 0
        self.age = 0
