"""The transposition table (TT) for Awalé, with entries of one word.

Threads share the table without locks, because reading or writing one word is atomic.  A new entry always replaces the
old one.  The fields of an entry, from the lowest bit up:

| bits | field |
|---|---|
| 3 | the pit of the best move |
| 7 | the depth of the search; SOLVED_DEPTH if the value needed no estimate, 0 in an empty entry |
| 2 | BOUND_LOWER, BOUND_UPPER or BOUND_EXACT |
| 12 | the value plus INFINITY |
| 40 | the upper bits of the position's hash |

The lower bits of the hash select the entry.  About one lookup in 2^40 returns the entry of a different position
(see `engine.transposition_table` for constructed collisions), so the search checks that a move from the table is legal.
"""

from awello.bits import to_signed
from awello.engine.awale_state import INFINITY, NO_PIT, AwaleState
from awello.kernel import U, kernel
from awello.layout import Layout, record_at

BOUND_LOWER, BOUND_UPPER, BOUND_EXACT = 1, 2, 3  # the value of an entry is a lower or upper bound, or exact
SOLVED_DEPTH = 127  # the depth of a proven value, deeper than any search
HASH_MASK = U(0xFFFFFFFFFF000000)  # the 40 bits of the hash that an entry stores
DEPTH_SHIFT, BOUND_SHIFT, VALUE_SHIFT = U(3), U(10), U(12)
PIT_MASK, DEPTH_MASK, BOUND_MASK, VALUE_MASK = U(7), U(127), U(3), U(4095)
EMPTY_ENTRY = U(NO_PIT)  # its depth of 0 is never sufficient, and its move is never legal


class AwaleEntry(Layout):
    """An entry of the table.  Entries are accessed by address, because the table size is chosen at run time."""

    word: U


ENTRY_BYTES = AwaleEntry.dtype.itemsize
entry_at = record_at(AwaleEntry)


@kernel("int64(uint64, AwaleState)", inline=True)
def entry_address(key: U, state: AwaleState) -> int:
    """Return the address of the entry for a hash."""
    return state.tt + ENTRY_BYTES * (to_signed(key) & state.tt_mask)


@kernel("uint64(uint64, AwaleState)", inline=True)
def probe_tt(key: U, state: AwaleState) -> U:
    """Return the entry of the position with this hash, or EMPTY_ENTRY."""
    entry = entry_at(entry_address(key, state)).word
    return entry if (entry ^ key) & HASH_MASK == U(0) else EMPTY_ENTRY


@kernel("void(uint64, int64, int64, int64, int64, AwaleState)", inline=True)
def store_tt(key: U, value: int, bound: int, depth: int, pit: int, state: AwaleState) -> None:
    """Store the result of a search."""
    entry = U(value + INFINITY) << VALUE_SHIFT | U(bound) << BOUND_SHIFT | U(depth) << DEPTH_SHIFT | U(pit)
    entry_at(entry_address(key, state)).word = key & HASH_MASK | entry


@kernel("int64(uint64)", inline=True)
def entry_pit(entry: U) -> int:
    """Return the pit of the best move."""
    return to_signed(entry & PIT_MASK)


@kernel("int64(uint64)", inline=True)
def entry_depth(entry: U) -> int:
    """Return the depth of the search in plies, or SOLVED_DEPTH."""
    return to_signed(entry >> DEPTH_SHIFT & DEPTH_MASK)


@kernel("int64(uint64)", inline=True)
def entry_value(entry: U) -> int:
    """Return the value, or a bound on it."""
    return to_signed(entry >> VALUE_SHIFT & VALUE_MASK) - INFINITY


@kernel("boolean(uint64, int64, int64, int64)", inline=True)
def allows_cutoff(entry: U, alpha: int, beta: int, depth: int) -> bool:
    """Return whether an entry makes a search to this depth with the window (alpha, beta) unnecessary."""
    if entry_depth(entry) < depth:
        return False
    bound, value = to_signed(entry >> BOUND_SHIFT & BOUND_MASK), entry_value(entry)
    return bool(bound == BOUND_EXACT or (value >= beta if bound == BOUND_LOWER else value <= alpha))
