"""Boards of Othello as learning sees them: the weights that each names, and what a search finds it to be worth.

Unlike results of games, the values that a search finds leave nothing to chance.

With few empty squares a position is solved; with some more it is searched to the end with probable cuts; else to a
depth, by the weights that later stages have learnt.  Whomever these favour, the mover or the opponent, they favour the
other one after one ply more: so a value is the mean of two depths, and no such error grows from stage to stage.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt

from awello.bits import index_of, moves_of, popcount, rest_of
from awello.engine import block as slots
from awello.engine.midgame import BUSY_PLACES, search
from awello.engine.othello_worker import PER_DISC_NEAR, OthelloWorker
from awello.engine.probcut import SURE
from awello.engine.table import NO_MOVE, Table
from awello.engine.threads import NO_LIMIT
from awello.evaluate.patterns import CENTRES, INDICES, MOVES, ROW, STEPS, VIEWS, WEIGHTS
from awello.kernel import U, Words, kernel
from awello.learn.ridge import Places, Reals
from awello.memory import store
from awello.rules.game import Game

SOLVED, NEARLY = 12, 15  # empty squares up to which a position is solved, and searched to its end
CERTAINTY_NEARLY = 2
PART = 500  # positions that a thread searches at a time, beginning with an empty table: any number of threads will do
ZERO_AT = np.repeat(np.array(CENTRES, np.int64), VIEWS)


@kernel("void(uint64, uint64, int16[::1])", inline=True)
def fill(own: U, opp: U, row: npt.NDArray[np.int16]) -> None:
    """Write the row of a board."""
    row[:INDICES] = 0
    while own != U(0):
        row[:INDICES] += STEPS[index_of(own)]
        own = rest_of(own)
    while opp != U(0):
        row[:INDICES] -= STEPS[index_of(opp)]
        opp = rest_of(opp)


@kernel("void(uint64[::1], uint64[::1], int32[::1], int32[:, ::1])")
def find_places(owns: Words, opps: Words, ties: npt.NDArray[np.int32], places: Places) -> None:
    """The places of each position's weights in a file: those of its 48 patterns and of both sides' moves."""
    row = np.empty(INDICES, np.int16)
    for position in range(owns.size):
        own, opp = owns[position], opps[position]
        fill(own, opp, row)
        for lane in range(INDICES):
            places[position, lane] = ties[ZERO_AT[lane] + row[lane]]
        places[position, INDICES] = ties[WEIGHTS + min(popcount(moves_of(own, opp)), MOVES - 1)]
        places[position, INDICES + 1] = ties[WEIGHTS + MOVES + min(popcount(moves_of(opp, own)), MOVES - 1)]


@kernel("void(uint64[::1], uint64[::1], int64, int64, int16[:, ::1], float32[::1], int64)")
def judge(
    owns: Words,
    opps: Words,
    depth: int,
    certainty: int,
    rows: npt.NDArray[np.int16],
    values: Reals,
    block: int,
) -> None:
    """Search positions in which there is a move; their values in discs for the mover."""
    for place in range(owns.size):
        own, opp = owns[place], opps[place]
        empties = 64 - popcount(own | opp)
        fill(own, opp, rows[empties])
        store(block, slots.ROOT, empties)
        store(block, slots.BEST, NO_MOVE)
        store(block, slots.CERTAINTY, certainty)
        values[place] = search(own, opp, moves_of(own, opp), -64, 64, depth, block)


class Judge:
    """Threads that search positions by the same weights, which may change between two questions."""

    def __init__(self, weights: npt.NDArray[np.int16], jobs: int) -> None:
        self.weights, self.jobs, self.free = weights, jobs, SimpleQueue[OthelloWorker]()
        for _ in range(jobs):
            worker = OthelloWorker(Game.OTHELLO, Table(1), weights, np.zeros(BUSY_PLACES, np.int64))
            worker.words[slots.LIMIT], worker.words[slots.THREADS], worker.words[slots.AGE] = NO_LIMIT, 1, 1
            worker.words[slots.PER_DISC] = PER_DISC_NEAR
            self.free.put(worker)

    def values(self, own: Words, opp: Words, depth: int, step: Callable[[int], object]) -> Reals:
        """The values of positions of one number of empty squares; `step` is told how many have been found."""
        empties = 64 - int(np.bitwise_count(own[0] | opp[0])) if len(own) else 0
        certainty = CERTAINTY_NEARLY if SOLVED < empties <= NEARLY else SURE
        depths = [empties] if empties <= NEARLY else [max(1, depth - 1), depth]
        values = np.empty((len(depths), len(own)), np.float32)

        def search_part(start: int) -> int:
            worker, part = self.free.get(), slice(start, start + PART)
            worker.table.clear()
            worker.forget()
            rows = worker.words[slots.PATTERNS : slots.WORDS].view(np.int16).reshape(-1, 4 * ROW)
            for plies, found in zip(depths, values, strict=True):
                judge(own[part], opp[part], plies, certainty, rows, found[part], worker.address)
            self.free.put(worker)
            return len(own[part])

        pool = ThreadPoolExecutor(self.jobs)
        try:
            for done in accumulate(pool.map(search_part, range(0, len(own), PART))):
                step(done)
        finally:
            pool.shutdown(cancel_futures=True)
        mean: Reals = values.mean(axis=0)
        return mean
