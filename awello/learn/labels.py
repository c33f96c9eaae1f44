"""What positions are worth, found by searching: labels in which chance plays no part, unlike results of games.

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

from awello.engine.othello_search import KEY_PER_DISC_NEAR, OthelloWorker
from awello.engine.othello_state import BusyTable
from awello.engine.probcut import SURE
from awello.engine.threads import NO_LIMIT
from awello.engine.transposition_table import TranspositionTable
from awello.kernel import Words
from awello.learn.pattern_kernels import judge
from awello.learn.ridge import Reals
from awello.rules.game import Game

SOLVED, NEARLY = 12, 15  # empty squares up to which a position is solved, and searched to its end
CERTAINTY_NEARLY = 2
PART = 500  # positions that a thread searches at a time, beginning with an empty table: any number of threads will do


class PositionLabeller:
    """Threads that search positions by the same weights, which may change between two questions."""

    def __init__(self, weights: npt.NDArray[np.int16], jobs: int) -> None:
        self.weights, self.jobs, self.free = weights, jobs, SimpleQueue[OthelloWorker]()
        for _ in range(jobs):
            worker = OthelloWorker(Game.OTHELLO, TranspositionTable(1), weights, BusyTable.new_array(1))
            worker.state.limit, worker.state.threads, worker.state.table_age = NO_LIMIT, 1, 1
            worker.state.key_per_disc = KEY_PER_DISC_NEAR
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
            for plies, found in zip(depths, values, strict=True):
                judge(own[part], opp[part], plies, certainty, found[part], worker.state)
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
