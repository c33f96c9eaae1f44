"""Awalé solved backwards: the value of every position of few seeds, and for a win a move that makes progress.

Positions of n seeds are numbered by the combinatorial number system: with s_i the seeds in pits 0 to i, the index is
the sum of C(s_i + i, i + 1).  A level (all positions of n seeds) needs only lower levels and itself.  A value is the
seeds that the mover will still win less the opponent's.  Wins are settled from the largest value down: a position is
worth v if a capture earns v or a quiet move reaches one worth -v that is settled already; it is worth -v if every quiet
move reaches one worth v or more and no capture earns more than -v.  What is never settled is 0: nobody can force
anything (retrograde analysis, Romein and Bal 2003).

One byte holds both value and move.  The move of a win is the one by which it was settled, so it leads to a position
settled earlier, and so does every reply: play that follows it cannot circle.
"""

from math import comb

import numpy as np
import numpy.typing as npt

from awello.bits import index_of, rest_of, signed
from awello.kernel import U, Words, kernel
from awello.memory import load8, prefetch, subtract8, swap8
from awello.rules.awale import (
    ANY,
    BYTE,
    FLAGS,
    LAST,
    ONES,
    ROMEIN,
    SOW_OPP,
    SOW_OWN,
    captured,
    legal_moves,
    seeds_in,
    sow,
)

MOST_SEEDS = 28  # what one byte can hold
WIN = MOST_SEEDS + 1  # codes 0 to 28: the value is minus the code; from here on 6 * (value - 1) + pit
OPEN = WIN + 6 * MOST_SEEDS  # not settled yet and no capture so far; above it the value of the best capture
NOTHING = OPEN + MOST_SEEDS + 1  # a best capture worth 0
WAITING = 255  # won by a quiet move, but the queue was full
LOST = U(1 << 63)  # in a queue, the mark of a position whose mover loses
RETRACTIONS = 32  # the sowings that can end in a position: at most one a seed

OFFSET = np.array([comb(seeds + 11, 12) for seeds in range(MOST_SEEDS + 2)], np.int64)  # where a level begins
RANK = np.array([comb(seeds + pit, pit + 1) for pit in range(12) for seeds in range(32)], np.int64)
VALUE = np.array(
    [-code if code < WIN else (code - WIN) // 6 + 1 if code < OPEN else 0 for code in range(256)], np.int64
)

Bytes = npt.NDArray[np.uint8]


# ---- the number of a position ---------------------------------------------------------------------------------------
@kernel("int64(uint64, uint64)", inline=True)
def rank(own: U, opp: U) -> int:
    """The index of a position in its level; one multiplication makes six prefix sums."""
    sums = own * ONES
    index = 0
    for pit in range(6):
        index += RANK[(sums >> U(8 * pit) & BYTE) + U(32 * pit)]
    sums = (opp + (sums >> U(40) & BYTE)) * ONES
    for pit in range(5):
        index += RANK[(sums >> U(8 * pit) & BYTE) + U(32 * (pit + 6))]
    return index


@kernel("UniTuple(uint64, 2)(int64, int64)")
def unrank(index: int, seeds: int) -> tuple[U, U]:
    """The position of an index in the level of so many seeds."""
    own, opp = U(0), U(0)
    below = seeds
    for pit in range(10, -1, -1):
        seeds = below
        while RANK[U(32 * pit + below)] > index:
            below -= 1
        index -= RANK[U(32 * pit + below)]
        byte = U(seeds - below) << U(8 * ((pit + 1) % 6))
        if pit >= 5:
            opp |= byte
        else:
            own |= byte
    return own | U(below), opp


@kernel("UniTuple(uint64, 2)(uint64, uint64)", inline=True)
def successor(own: U, opp: U) -> tuple[U, U]:
    """The position after this one in its level."""
    first = own & BYTE
    high = own ^ first
    if high != U(0):
        one = U(1) << (U(index_of(high)) & U(56))
        return high - one + ((first + U(1)) * (one >> U(8))), opp
    one = U(1) << (U(index_of(opp | U(1) << U(48))) & U(56))  # past the last position nothing matters
    moved = (first + U(1)) << U(40) if one == U(1) else U(0)
    return moved, opp - one + (first + U(1)) * (one >> U(8))


@kernel("void(uint64[::1], int64)")
def fill_rows(rows: Words, seeds: int) -> None:
    """Every row of up to so many seeds, by their number, then in the order of `rank`."""
    place = 0
    for level in range(seeds + 1):
        row = U(level) << U(40)
        for _ in range(RANK[U(32 * 4 + level + 1)]):
            rows[place] = row
            place += 1
            row, _ = successor(row, U(0))


# ---- a level --------------------------------------------------------------------------------------------------------
@kernel("void(int64, uint8[::1], uint8[::1], int64, int64, int64)")
def prepare(game: int, table: Bytes, counts: Bytes, seeds: int, begin: int, end: int) -> None:
    """Give each position of [begin, end) in a level its best capture, and count its quiet moves."""
    base = U(OFFSET[seeds])
    own, opp = unrank(begin, seeds)
    for number in range(begin, end):
        index = U(number)
        best, quiet = OPEN - NOTHING, 0
        moves = legal_moves(game, own, opp)
        if moves == U(0):
            best = seeds if own != U(0) else -seeds
        while moves != U(0):
            child, other, prize = sow(game, own, opp, index_of(moves))
            moves = rest_of(moves)
            if child == U(0):
                best = seeds  # an opponent with nothing left to sow: the mover gets everything
            elif prize != U(0):
                gain = seeds_in(prize)
                best = max(best, gain - VALUE[table[U(OFFSET[U(seeds - gain)] + rank(child, other))]])
            else:
                quiet += 1
        table[base + index] = NOTHING + best
        byte = index >> U(1)
        counts[byte] = counts[byte] | quiet << 4 if index & U(1) else quiet
        own, opp = successor(own, opp)


@kernel("int64(int64, uint8[::1], uint64, uint64, int64, int64)")
def quiet_win(game: int, table: Bytes, own: U, opp: U, seeds: int, value: int) -> int:
    """The last quiet move to a position settled as worth `-value`."""
    moves, found = legal_moves(game, own, opp), 0
    while moves != U(0):
        pit = index_of(moves)
        moves = rest_of(moves)
        child, other, prize = sow(game, own, opp, pit)
        if prize == U(0) and table[U(OFFSET[U(seeds)] + rank(child, other))] == value:
            found = pit
    return found


@kernel("int64(int64, uint64, uint64, uint64[:, ::1], int64, int64)")
def list_retractions(game: int, own: U, opp: U, places: Words, table: int, counts: int) -> int:
    """Take back every quiet move that can have led here: list (own, opp, index, pit), and ask for their bytes."""
    count = U(0)
    origins = ~(own + ANY) & FLAGS
    while origins != U(0):
        shift = U(index_of(origins)) - U(7)
        origins = rest_of(origins)
        entry = shift << U(3)
        while True:
            entry += U(1)
            before = (own | FLAGS) - SOW_OWN[entry]
            other = (opp | FLAGS) - SOW_OPP[entry]
            if before & other & FLAGS != FLAGS:
                break
            if captured(opp, LAST[entry], game == ROMEIN) != U(0):
                continue  # this move captured
            before = (before ^ FLAGS) + ((entry & U(63)) << shift)
            other ^= FLAGS
            place = rank(before, other)
            prefetch(table + place)
            prefetch(counts + (place >> 1))
            places[count, U(0)], places[count, U(1)] = before, other
            places[count, U(2)], places[count, U(3)] = U(place), shift >> U(3)
            count += U(1)
    return signed(count)


@kernel("int64(int64, uint8[::1], int64, int64, uint64[:, ::1], uint64[::1], int64, int64, int64, int64)")
def settle(
    game: int,
    table: Bytes,
    address: int,
    tally: int,
    queue: Words,
    rows: Words,
    seeds: int,
    value: int,
    begin: int,
    stop: int,
) -> int:
    """Settle what is worth plus or minus `value`, from the positions [begin, stop) of a level.

    `address` is where the level begins in the table, `tally` where its counts of quiet moves begin.  The answer is 1
    if the queue was too short: then settle must run again.  Threads may share a level: whoever swaps the byte of a
    position settles it.  Where a capture wins, the move stored means nothing: a player looks at captures first.
    """
    places = np.empty((RETRACTIONS, 4), np.uint64)
    room = U(len(queue) - 1)  # a power of two less one
    head = tail = U(0)
    full = 0
    front, back = unrank(begin, seeds)  # a block: the positions that share the opponent's row
    block = begin - (rank(front, back) - rank(U(seeds_in(front)) << U(40), back))
    end = block + RANK[U(32 * 4 + 1 + seeds_in(front))]
    for index in range(begin, stop + 1):
        # Step 1. What captures alone decide starts the queue.
        if index < stop:
            code = signed(load8(address, U(index)))
            quiet = load8(tally, U(index >> 1)) >> U((index & 1) * 4) & U(15)
            if code != NOTHING + value and code != WAITING and (code != NOTHING - value or quiet != U(0)):
                continue
            while index >= end:
                front, back = successor(U(seeds_in(front)), back)
                block, end = end, end + RANK[U(32 * 4 + 1 + seeds_in(front))]
            mine = rows[U(RANK[U(32 * 5 + seeds_in(front))] + index - block)]
            lost, settled = LOST, value
            if code != NOTHING - value:
                move = quiet_win(game, table, mine, back, seeds, value) if code == WAITING else 0
                lost, settled = U(0), WIN + 6 * (value - 1) + move
            if not swap8(address + index, code, settled):
                continue
            queue[tail & room, U(0)], queue[tail & room, U(1)] = mine | lost, back
            tail += U(1)
            if tail - head < room >> U(1):
                continue
        # Step 2. Oldest first, take back every quiet move that leads to a settled position.
        while head != tail:
            opp, own = queue[head & room, U(0)], queue[head & room, U(1)]  # the last mover comes first
            head += U(1)
            lost, opp = opp & LOST, opp & ~LOST
            if opp == U(0):
                continue  # no quiet move leaves the opponent nothing
            for number in range(list_retractions(game, own, opp, places, address, tally)):
                item = U(number)
                place = signed(places[item, U(2)])
                code = signed(load8(address, U(place)))
                if code < OPEN:
                    continue
                # Step 3. A quiet move to a lost position wins; the last quiet move to a won one loses.
                if lost != U(0):
                    settled, waiting = WIN + 6 * (value - 1) + signed(places[item, U(3)]), WAITING
                else:
                    nibble = (place & 1) * 4
                    if subtract8(tally + (place >> 1), 1 << nibble) >> nibble & 15 > 1:
                        continue
                    settled, waiting = value, NOTHING - value
                    if code > waiting:
                        continue
                if tail - head > room:
                    settled, full = waiting, 1
                if swap8(address + place, code, settled) and settled != waiting:
                    queue[tail & room, U(0)] = places[item, U(0)] | (lost ^ LOST)
                    queue[tail & room, U(1)] = places[item, U(1)]
                    tail += U(1)
    return full


@kernel("void(uint8[::1], int64)")
def finish(table: Bytes, seeds: int) -> None:
    """What is open at the end is worth nothing to anybody."""
    for index in range(OFFSET[seeds], OFFSET[seeds + 1]):
        if table[U(index)] >= OPEN:
            table[U(index)] = 0
