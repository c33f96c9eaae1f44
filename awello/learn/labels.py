"""Label positions with values from searches, which are less noisy than game results.

Positions with few empty squares are solved; positions with a few more are searched to the end with ProbCut; all others
are searched to a fixed depth with the weights learnt for later stages.  If the weights favour or disfavour the mover,
the bias in a search's value changes sign with each ply of depth.  The label of a position that is searched to a fixed
depth is therefore the mean of its values at two successive depths, so that the bias does not grow from stage to stage.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from queue import SimpleQueue

import numpy as np
import numpy.typing as npt

from awello.engine.othello_search import SORT_KEY_PER_DISC_NEAR_END, OthelloWorker
from awello.engine.othello_state import BusyTable
from awello.engine.probcut import NO_SELECTIVITY
from awello.engine.threads import NO_NODE_LIMIT
from awello.engine.transposition_table import TranspositionTable
from awello.kernel import Float32Array, Words
from awello.learn.pattern_kernels import search_positions
from awello.rules.game import Game

MAX_SOLVED_EMPTIES = 12  # positions with at most this many empties are solved
MAX_ENDGAME_EMPTIES = 15  # other positions with at most this many empties are searched to the end with ProbCut
ENDGAME_SELECTIVITY = 2
BATCH_POSITIONS = 500  # labels do not depend on the thread count, because the TT is cleared before each batch


class PositionLabeller:
    """Labels positions by search in several threads; the caller may change the array of weights between calls."""

    def __init__(self, weights: npt.NDArray[np.int16], threads: int) -> None:
        self.weights, self.threads, self.idle_workers = weights, threads, SimpleQueue[OthelloWorker]()
        for _ in range(threads):
            worker = OthelloWorker(Game.OTHELLO, TranspositionTable(1), weights, BusyTable.new_array(1))
            worker.state.node_limit, worker.state.thread_count, worker.state.tt_age = NO_NODE_LIMIT, 1, 1
            worker.state.sort_key_per_disc = SORT_KEY_PER_DISC_NEAR_END
            self.idle_workers.put(worker)

    def label(self, own: Words, opp: Words, depth: int, on_progress: Callable[[int], object]) -> Float32Array:
        """Label positions with the same number of empty squares; `on_progress` receives the number of labels so far."""
        empties = 64 - int(np.bitwise_count(own[0] | opp[0])) if len(own) else 0
        selectivity = ENDGAME_SELECTIVITY if MAX_SOLVED_EMPTIES < empties <= MAX_ENDGAME_EMPTIES else NO_SELECTIVITY
        depths = [empties] if empties <= MAX_ENDGAME_EMPTIES else [max(1, depth - 1), depth]
        values = np.empty((len(depths), len(own)), np.float32)

        def search_batch(start: int) -> int:
            worker, batch = self.idle_workers.get(), slice(start, start + BATCH_POSITIONS)
            worker.tt.clear()
            worker.clear()
            for plies, results in zip(depths, values, strict=True):
                search_positions(own[batch], opp[batch], plies, selectivity, results[batch], worker.state)
            self.idle_workers.put(worker)
            return len(own[batch])

        pool = ThreadPoolExecutor(self.threads)
        try:
            for done in accumulate(pool.map(search_batch, range(0, len(own), BATCH_POSITIONS))):
                on_progress(done)
        finally:
            pool.shutdown(cancel_futures=True)
        mean: Float32Array = values.mean(axis=0)
        return mean
