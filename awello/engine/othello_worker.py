"""Othello's threads: what each needs to search, and how a question is asked of the kernels."""

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.engine import block as slots
from awello.engine.endgame import NEAR_BITS
from awello.engine.midgame import BUSY_PLACES, search
from awello.engine.probcut import probcut_words
from awello.engine.stability import fill_edges
from awello.engine.table import NO_MOVE, Table, bucket_of, hash_of, move_of, recall
from awello.engine.threads import Found, Question, Team, Worker
from awello.evaluate import patterns
from awello.evaluate.settings import Block as Settings
from awello.evaluate.settings import Heuristic
from awello.evaluate.weights import Weights, pattern_weights, stage_of
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game, squares_of
from awello.search.knowing import ENTRY

TOGETHER_SOLVING, TOGETHER = 15, 9  # the depths from which more than one thread pays
# How much the evaluation counts in the order of moves.  Where a solution is near, small trees are preferred in all
# searches: their best moves are the first that the solution tries.
PER_DISC, PER_DISC_NEAR, NEAR_SOLUTION = 10, 4, 30
SCALES = {"positional": 8, "absolute": 128, "mobility": 128, "mixed": 16, "tactical": 8}  # UNITs of a heuristic's point


@cache
def edge_table() -> npt.NDArray[np.uint8]:
    """The stable discs of every edge."""
    table = np.zeros(1 << 16, np.uint8)
    fill_edges(table)
    return table


class OthelloWorker(Worker):
    """The memory of one thread that searches Othello."""

    def __init__(self, game: Game, table: Table, evaluator: Heuristic | Weights, busy: npt.NDArray[np.int64]) -> None:
        super().__init__(slots.WORDS, table)
        self.near = np.zeros(ENTRY << NEAR_BITS, np.int64)
        self.board = 0, 0
        self.table, self.busy, self.edges = table, busy, edge_table()  # kept as long as their addresses are used
        self.words[slots.TABLE], self.words[slots.TABLE_MASK] = address_of(table.words), table.buckets - 1
        self.words[slots.NEAR], self.words[slots.EDGES] = address_of(self.near), address_of(self.edges)
        self.words[slots.BUSY] = address_of(busy)
        self.words.view(np.uint64)[slots.SQUARES] = squares_of(int(game))
        words = probcut_words()
        self.words[slots.PROBCUT : slots.PROBCUT + len(words)] = words
        self._evaluate_by(game, evaluator)

    def _evaluate_by(self, game: Game, evaluator: Heuristic | Weights) -> None:
        """Use learnt patterns, which are kept for good, or a heuristic."""
        if isinstance(evaluator, Heuristic):
            self.settings = Settings(game, evaluator)
            self.words[slots.GAME], self.words[slots.HEURISTIC] = int(game), self.settings.heuristic
            self.words[slots.SETTINGS], self.words[slots.SCALE] = self.settings.address, SCALES[evaluator.name]
            return
        for empties in range(64):  # a board that somebody made up may hold fewer discs than the start
            self.words[slots.WEIGHTS + empties] = address_of(evaluator[stage_of(empties)])

    def prepare(self, question: Question, threads: int, age: int) -> None:
        board, empties = (question.position.own, question.position.opp), question.position.empties
        if board != self.board:  # a search leaves the row of its root as it was
            row = slots.PATTERNS + patterns.ROW * empties
            patterns.fill_row(*board, self.words[row : row + patterns.ROW].view(np.int16))
            self.board = board
        self.words[slots.CERTAINTY], self.words[slots.ROOT] = question.certainty, empties
        self.words[slots.BEST], self.words[slots.THREADS] = question.first, threads
        self.words[slots.PER_DISC] = PER_DISC if empties > NEAR_SOLUTION else PER_DISC_NEAR
        self.words[slots.AGE], self.words[slots.STOP] = age, 0
        self.words[slots.STACK : slots.STACK + 64] = 0

    def search(self, question: Question) -> Found:
        own, opp = U(question.position.own), U(question.position.opp)
        window = question.alpha, question.beta
        value = search(own, opp, question.moves, *window, question.depth, self.address)
        return Found(int(value), int(self.words[slots.BEST]))

    def best_move(self, position: Position) -> int:
        key = hash_of(U(position.own), U(position.opp), self.address)
        data = int(recall(bucket_of(key, self.address), key))
        return int(move_of(data)) if data else NO_MOVE

    def pays_together(self, question: Question) -> bool:
        solving = question.depth >= question.position.empties
        return question.depth >= (TOGETHER_SOLVING if solving else TOGETHER)

    def begin(self) -> None:
        super().begin()
        self.busy[:] = 0

    def forget(self) -> None:
        self.near[:] = 0


def othello_team(
    game: Game, threads: int, size: int, heuristic: Heuristic | None, weights: Path | None, multipliers: tuple[int, ...]
) -> Team:
    """The threads of an engine with a table of so many MiB; without a heuristic they judge by learnt patterns."""
    table, busy = Table(size, multipliers), np.zeros(BUSY_PLACES, np.int64)
    evaluator = heuristic or pattern_weights(weights)
    workers = [OthelloWorker(game, table, evaluator, busy) for _ in range(threads)]
    for worker in workers:
        worker.words[slots.OTHERS : slots.OTHERS + threads] = [other.address for other in workers]
    return Team(workers, table)
