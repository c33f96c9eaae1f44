"""Retrograde analysis of Awalé: the value of every position with few seeds, and a winning move for won positions.

The positions with n seeds form a *layer*; their values depend only on this layer and lower ones.  The positions of a
layer are numbered by the combinatorial number system: with s_i the number of seeds in pits 0 to i, the index is the sum
of C(s_i + i, i + 1) for i from 0 to 10.  The value of a position is the number of its seeds that the mover wins, minus
the number that the opponent wins.  The value of a capture is the number of seeds captured minus the value of the
resulting position.  Positions are *settled* (given their value) in order of decreasing absolute value.  For a positive
v, an unsettled position has value v if a capture has value v or if a quiet move, which captures nothing, leads to a
settled position of value -v.  It has value -v if every quiet move leads to a position of value v or more and no capture
has a value above -v.  Positions that are never settled have value 0, because neither side can force a gain (Romein and
Bal 2003).

The *code* of a position is one byte: its value and, if the position is won, the move that settled it.  This move leads
to a position that was settled earlier, and so does every reply to the move.  Playing the stored moves of won positions
therefore never cycles.
"""

from math import comb
from typing import Annotated

import numpy as np
import numpy.typing as npt

from awello.bits import bit_scan, clear_lowest_bit, to_signed
from awello.kernel import U, Words, kernel
from awello.layout import Layout
from awello.memory import compare_and_swap8, fetch_and_subtract8, load8, prefetch
from awello.rules.awale import (
    AT_LEAST_1,
    BYTE_MASK,
    BYTE_ONES,
    LAST_SHIFT,
    PIT_FLAGS,
    ROMEIN,
    SOW_OPP,
    SOW_OWN,
    count_seeds,
    find_captured,
    legal_moves,
    sow,
)

# With up to 28 seeds, a code fits into a byte: there are 29 codes for losses and draws, 6 * 28 for wins, 58 for open
# positions (not settled yet), and WAITING_CODE.
MAX_SEEDS = 28
FIRST_WIN_CODE = MAX_SEEDS + 1  # the codes of wins start here; lower codes are the negated value of a loss or draw
FIRST_OPEN_CODE = FIRST_WIN_CODE + 6 * MAX_SEEDS  # the codes of open positions start here
# The code of an open position whose best capture has value 0.  Open positions without a capture have FIRST_OPEN_CODE.
OPEN_ZERO_CODE = FIRST_OPEN_CODE + MAX_SEEDS + 1
WAITING_CODE = 255  # won by a quiet move, but not settled yet, because the queue was full
MAX_RETRACTIONS = 32  # capacity for the retractions of one position, which has at most one per seed
QUEUE_LENGTH = 1 << 17  # positions per queue (3 MiB); shorter queues overflow, which requires more scans

# The index in the tablebase at which each layer begins.
LAYER_OFFSETS = np.array([comb(seeds + 11, 12) for seeds in range(MAX_SEEDS + 2)], np.int64)
BINOMIALS = np.array([[comb(seeds + pit, pit + 1) for seeds in range(32)] for pit in range(12)], np.int64)
VALUE_OF_CODE = np.array(
    [-code for code in range(FIRST_WIN_CODE)]
    + [(code - FIRST_WIN_CODE) // 6 + 1 for code in range(FIRST_WIN_CODE, FIRST_OPEN_CODE)]
    + [0] * (256 - FIRST_OPEN_CODE),
    np.int64,
)

Bytes = npt.NDArray[np.uint8]


class SettledPosition(Layout):
    """A settled position whose predecessors have not been examined yet."""

    own: U
    opp: U
    is_lost: int
    """1 if its mover loses, 0 if its mover wins."""


class Retraction(Layout):
    """A position from which a quiet move leads to a settled position."""

    own: U
    opp: U
    index: int
    """The index of the position in the layer."""
    pit: int
    """The quiet move."""


class LayerPart(Layout):
    """A part of a layer for one thread: the positions [begin, end) and a queue of settled ones.

    Codes and counts are accessed by address, because their number is known only at run time and threads change
    individual bytes atomically.
    """

    game: int
    seeds: int
    begin: int
    end: int
    codes: int
    """The address of the layer's codes."""
    counts: int
    """The address of the counts of quiet moves that are not refuted yet, with four bits per position."""
    value: int
    """The absolute value of the positions that are being settled."""
    overflowed: int
    """1 if positions were left for the next scan because the queue was full."""
    block_begin: int
    """The index of the first position of the current block.  The positions of a block share the opponent's row."""
    block_end: int
    """The index of the first position of the next block."""
    block_seeds: int
    """The seeds in the mover's row in this block."""
    block_opp: U
    """The opponent's row in this block."""
    head: U
    """The number of positions taken from the queue so far."""
    tail: U
    """The number of positions put into the queue so far."""
    queue_mask: U
    """The length of the queue, a power of two, minus one."""
    retractions: Annotated[list[Retraction], MAX_RETRACTIONS]
    queue: Annotated[list[SettledPosition], QUEUE_LENGTH]


# ---- codes ----------------------------------------------------------------------------------------------------------
@kernel("int64(int64, int64)", inline=True)
def win_code(value: int, pit: int) -> int:
    """Return the code of a position that is won by `value` seeds; `pit` is the move that settled it."""
    return FIRST_WIN_CODE + 6 * (value - 1) + pit


@kernel("int64(int64)", inline=True)
def capture_code(value: int) -> int:
    """Return the code of a position that is not settled yet and whose best capture has this value."""
    return OPEN_ZERO_CODE + value


# ---- the index of a position ----------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64)", inline=True)
def rank(own: U, opp: U) -> int:
    """Return the index of a position in its layer; one multiplication computes six prefix sums."""
    sums = own * BYTE_ONES
    index = 0
    for pit in range(6):
        index += BINOMIALS[U(pit), sums >> U(8 * pit) & BYTE_MASK]
    sums = (opp + (sums >> U(40) & BYTE_MASK)) * BYTE_ONES
    for pit in range(5):
        index += BINOMIALS[U(pit + 6), sums >> U(8 * pit) & BYTE_MASK]
    return index


@kernel("UniTuple(uint64, 2)(int64, int64)")
def unrank(index: int, seeds: int) -> tuple[U, U]:
    """Return the position with this index in the layer with this many seeds."""
    own, opp = U(0), U(0)
    below = seeds
    for pit in range(10, -1, -1):
        seeds = below
        while BINOMIALS[U(pit), U(below)] > index:
            below -= 1
        index -= BINOMIALS[U(pit), U(below)]
        byte = U(seeds - below) << U(8 * ((pit + 1) % 6))
        if pit >= 5:
            opp |= byte
        else:
            own |= byte
    return own | U(below), opp


@kernel("UniTuple(uint64, 2)(uint64, uint64)", inline=True)
def next_position(own: U, opp: U) -> tuple[U, U]:
    """Return the position with the next index in the same layer."""
    first = own & BYTE_MASK
    high = own ^ first
    if high != U(0):
        one = U(1) << (U(bit_scan(high)) & U(56))
        return high - one + ((first + U(1)) * (one >> U(8))), opp
    one = U(1) << (U(bit_scan(opp | U(1) << U(48))) & U(56))  # after the last position, the result is arbitrary
    moved = (first + U(1)) << U(40) if one == U(1) else U(0)
    return moved, opp - one + (first + U(1)) * (one >> U(8))


@kernel("int64(int64)", inline=True)
def count_rows(seeds: int) -> int:
    """Count the distributions of this many seeds over the pits of a row."""
    return int(BINOMIALS[U(4), U(seeds + 1)])


@kernel("int64(int64)", inline=True)
def count_rows_below(seeds: int) -> int:
    """Count the distributions of fewer than this many seeds over the pits of a row."""
    return int(BINOMIALS[U(5), U(seeds)])


@kernel("void(uint64[::1], int64)")
def fill_rows(rows: Words, seeds: int) -> None:
    """Store in `rows` all rows with up to `seeds` seeds, sorted by their number of seeds and then by `rank`."""
    place = 0
    for row_seeds in range(seeds + 1):
        row = U(row_seeds) << U(40)
        for _ in range(count_rows(row_seeds)):
            rows[place] = row
            place += 1
            row, _ = next_position(row, U(0))


# ---- a layer --------------------------------------------------------------------------------------------------------
@kernel("void(uint8[::1], uint8[::1], LayerPart)")
def prepare_part(table: Bytes, counts: Bytes, part: LayerPart) -> None:
    """For each position of a part, store the value of its best capture and the number of its quiet moves."""
    game, seeds = part.game, part.seeds
    base = U(LAYER_OFFSETS[seeds])
    own, opp = unrank(part.begin, seeds)
    for number in range(part.begin, part.end):
        index = U(number)
        best, quiet = FIRST_OPEN_CODE - OPEN_ZERO_CODE, 0
        moves = legal_moves(game, own, opp)
        if moves == U(0):
            best = seeds if own != U(0) else -seeds
        while moves != U(0):
            child, other, captures = sow(game, own, opp, bit_scan(moves))
            moves = clear_lowest_bit(moves)
            if child == U(0):
                best = seeds  # the opponent has no seeds to sow, so the mover gets all the seeds
            elif captures != U(0):
                gain = count_seeds(captures)
                best = max(best, gain - VALUE_OF_CODE[table[U(LAYER_OFFSETS[U(seeds - gain)] + rank(child, other))]])
            else:
                quiet += 1
        table[base + index] = capture_code(best)
        byte = index >> U(1)
        counts[byte] = counts[byte] | quiet << 4 if index & U(1) else quiet
        own, opp = next_position(own, opp)


@kernel("int64(int64, LayerPart)", inline=True)
def code_at(index: int, part: LayerPart) -> int:
    """Return the code of a position of the layer."""
    return to_signed(load8(part.codes, U(index)))


@kernel("boolean(int64, LayerPart)", inline=True)
def has_quiet_moves(index: int, part: LayerPart) -> bool:
    """Return whether a position has quiet moves that are not refuted yet."""
    return bool(load8(part.counts, U(index >> 1)) >> U((index & 1) * 4) & U(15) != U(0))


@kernel("boolean(int64, LayerPart)", inline=True)
def refute_quiet_move(index: int, part: LayerPart) -> bool:
    """Subtract one quiet move from the count of a position; return whether it was the last."""
    nibble = (index & 1) * 4
    return bool(fetch_and_subtract8(part.counts + (index >> 1), 1 << nibble) >> nibble & 15 <= 1)


@kernel("int64(uint64, uint64, LayerPart)")
def find_quiet_win(own: U, opp: U, part: LayerPart) -> int:
    """Return the highest-numbered quiet move to a position that its mover loses by `part.value` seeds."""
    moves, found = legal_moves(part.game, own, opp), 0
    while moves != U(0):
        pit = bit_scan(moves)
        moves = clear_lowest_bit(moves)
        child, other, captures = sow(part.game, own, opp, pit)
        if captures == U(0) and code_at(rank(child, other), part) == part.value:
            found = pit
    return found


# ---- retractions ----------------------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64, LayerPart)")
def list_retractions(own: U, opp: U, part: LayerPart) -> int:
    """List the positions from which a quiet move leads to this one; prefetch their codes and return their number."""
    count = U(0)
    origins = ~(own + AT_LEAST_1) & PIT_FLAGS
    while origins != U(0):
        shift = U(bit_scan(origins)) - U(7)
        origins = clear_lowest_bit(origins)
        entry = shift << U(3)
        while True:
            entry += U(1)
            before = (own | PIT_FLAGS) - SOW_OWN[entry]
            other = (opp | PIT_FLAGS) - SOW_OPP[entry]
            if before & other & PIT_FLAGS != PIT_FLAGS:
                break
            if find_captured(opp, LAST_SHIFT[entry], part.game == ROMEIN) != U(0):
                continue  # this move would have captured
            retraction = part.retractions[count]
            retraction.own, retraction.opp = (before ^ PIT_FLAGS) + ((entry & U(63)) << shift), other ^ PIT_FLAGS
            retraction.index, retraction.pit = rank(retraction.own, retraction.opp), to_signed(shift >> U(3))
            prefetch(part.codes + retraction.index)
            prefetch(part.counts + (retraction.index >> 1))
            count += U(1)
    return to_signed(count)


@kernel("void(uint64, uint64, int64, LayerPart)", inline=True)
def enqueue(own: U, opp: U, is_lost: int, part: LayerPart) -> None:
    """Put a settled position into the queue."""
    place = part.queue[part.tail & part.queue_mask]
    place.own, place.opp, place.is_lost = own, opp, is_lost
    part.tail += U(1)


@kernel("void(Retraction, int64, int64, int64, int64, LayerPart)", inline=True)
def settle_position(origin: Retraction, old: int, new: int, waiting: int, is_lost: int, part: LayerPart) -> None:
    """Settle a position unless another thread has changed its code; if the queue is full, the next scan settles it."""
    if part.tail - part.head > part.queue_mask:
        compare_and_swap8(part.codes + origin.index, old, waiting)
        part.overflowed = 1
    elif compare_and_swap8(part.codes + origin.index, old, new):
        enqueue(origin.own, origin.opp, is_lost, part)


@kernel("void(LayerPart)")
def propagate(part: LayerPart) -> None:
    """Take positions from the queue until it is empty, and settle their predecessors whose value is now known."""
    while part.head != part.tail:
        settled = part.queue[part.head & part.queue_mask]
        own, opp, is_lost = settled.opp, settled.own, settled.is_lost  # from the previous mover's view
        part.head += U(1)
        if opp == U(0):
            continue  # no quiet move leaves the opponent without seeds
        for number in range(list_retractions(own, opp, part)):
            origin = part.retractions[U(number)]
            code = code_at(origin.index, part)
            if code < FIRST_OPEN_CODE:
                continue
            # A quiet move to a lost position wins.  A position is lost if every quiet move leads to a won position and
            # no capture loses less than the current value.
            if is_lost:
                settle_position(origin, code, win_code(part.value, origin.pit), WAITING_CODE, 0, part)
            elif refute_quiet_move(origin.index, part) and code <= capture_code(-part.value):
                settle_position(origin, code, part.value, capture_code(-part.value), 1, part)


# ---- scanning -------------------------------------------------------------------------------------------------------
@kernel("void(LayerPart)")
def begin_scan(part: LayerPart) -> None:
    """Clear the queue and find the block that contains the first position of the part."""
    own, part.block_opp = unrank(part.begin, part.seeds)
    part.block_seeds = count_seeds(own)
    first_row = U(part.block_seeds) << U(40)
    part.block_begin = part.begin - (rank(own, part.block_opp) - rank(first_row, part.block_opp))
    part.block_end = part.block_begin + count_rows(part.block_seeds)
    part.head = part.tail = U(0)
    part.overflowed = 0


@kernel("uint64(int64, uint64[::1], LayerPart)", inline=True)
def seek_row(index: int, rows: Words, part: LayerPart) -> U:
    """Advance the scan to the block of a position, and return the mover's row."""
    while index >= part.block_end:
        own, part.block_opp = next_position(U(part.block_seeds), part.block_opp)
        part.block_seeds = count_seeds(own)
        part.block_begin, part.block_end = part.block_end, part.block_end + count_rows(part.block_seeds)
    return U(rows[U(count_rows_below(part.block_seeds) + index - part.block_begin)])


@kernel("int64(uint64[::1], LayerPart)")
def settle_part(rows: Words, part: LayerPart) -> int:
    """Settle positions with the current absolute value, starting from those in this part that captures decide.

    Return 1 if the queue overflowed and the part must be scanned again.  Threads can share a layer: if several try to
    settle a position, only the compare-and-swap of one succeeds.  If a position is won by a capture, its stored move is
    meaningless, because `Tablebase.choose` tries captures first.
    """
    value = part.value
    begin_scan(part)
    for index in range(part.begin, part.end):
        code = code_at(index, part)
        loses = code == capture_code(-value)
        if (code != capture_code(value) and code != WAITING_CODE and not loses) or (
            loses and has_quiet_moves(index, part)
        ):
            continue
        own, new = seek_row(index, rows, part), value
        if not loses:
            new = win_code(value, find_quiet_win(own, part.block_opp, part) if code == WAITING_CODE else 0)
        if compare_and_swap8(part.codes + index, code, new):
            enqueue(own, part.block_opp, 1 if loses else 0, part)
            if part.tail - part.head >= part.queue_mask >> U(1):
                propagate(part)
    propagate(part)
    return part.overflowed


@kernel("void(uint8[::1], int64)")
def settle_draws(table: Bytes, seeds: int) -> None:
    """Give the value 0 to all positions of a layer that were never settled."""
    for index in range(LAYER_OFFSETS[seeds], LAYER_OFFSETS[seeds + 1]):
        if table[U(index)] >= FIRST_OPEN_CODE:
            table[U(index)] = 0
