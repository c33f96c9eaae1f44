"""The threads of a search: each with its own memory, all with one table, one answer from whoever is first."""

import threading
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from awello.engine import block as slots
from awello.engine.endgame import NEAR_BITS
from awello.engine.midgame import BUSY_PLACES, search
from awello.engine.probcut import probcut_words
from awello.engine.stability import fill_edges
from awello.engine.table import NO_MOVE, Table, bucket_of, hash_of, move_of, recall
from awello.evaluate import patterns
from awello.evaluate.settings import Block as Settings
from awello.evaluate.settings import Heuristic
from awello.evaluate.weights import pattern_weights, stage_of
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game, squares_of

HALTED = -(1 << 63)  # the word STOP when the whole search must end
TOGETHER_SOLVING, TOGETHER = 15, 9  # the depths from which more than one thread pays
NO_LIMIT = 1 << 62
# How much the evaluation counts in the order of moves.  Where a solution is near, small trees are preferred in all
# searches: their best moves are the first that the solution tries.
PER_DISC, PER_DISC_NEAR, NEAR_SOLUTION = 10, 4, 30
SCALES = {"positional": 8, "absolute": 128, "mobility": 128, "mixed": 16, "tactical": 8}  # UNITs of a heuristic's point


class Stopped(Exception):
    """A search ended before it had an answer."""


@cache
def edge_table() -> npt.NDArray[np.uint8]:
    """The stable discs of every edge."""
    table = np.zeros(1 << 16, np.uint8)
    fill_edges(table)
    return table


@dataclass(frozen=True)
class Question:
    """What threads are to find out: the value of some moves of a position in a window."""

    position: Position
    moves: U
    alpha: int
    beta: int
    depth: int
    certainty: int
    first: int = NO_MOVE
    """The move to try first."""

    @property
    def empties(self) -> int:
        """The number of empty squares."""
        return empties_of(self.position)


def empties_of(position: Position) -> int:
    """The number of empty squares of a position."""
    return position.game.points - (position.own | position.opp).bit_count()


class Worker:
    """The memory of one thread."""

    def __init__(self, game: Game, table: Table, heuristic: Heuristic | None, busy: npt.NDArray[np.int64]) -> None:
        room = np.zeros(slots.WORDS + 8, np.int64)
        self.words = room[-address_of(room) % 64 // 8 :]
        self.address = address_of(self.words)
        self.near = np.zeros(2 << NEAR_BITS, np.int64)
        self.kept = table, busy  # as long as their addresses are used
        self.words[slots.TABLE], self.words[slots.TABLE_MASK] = address_of(table.words), table.buckets - 1
        self.words[slots.NEAR], self.words[slots.EDGES] = address_of(self.near), address_of(edge_table())
        self.words[slots.BUSY] = address_of(busy)
        self.words.view(np.uint64)[slots.SQUARES] = squares_of(int(game))
        words = probcut_words()
        self.words[slots.PROBCUT : slots.PROBCUT + len(words)] = words
        self._evaluate_by(game, heuristic)

    def _evaluate_by(self, game: Game, heuristic: Heuristic | None) -> None:
        """Use the learnt patterns, or a heuristic where one is given."""
        if heuristic is None:
            for empties in range(61):
                self.words[slots.WEIGHTS + empties] = address_of(pattern_weights()[stage_of(empties)])
            return
        self.settings = Settings(game, heuristic)
        self.words[slots.GAME], self.words[slots.HEURISTIC] = int(game), self.settings.heuristic
        self.words[slots.SETTINGS], self.words[slots.SCALE] = self.settings.address, SCALES[heuristic.name]

    def prepare(self, question: Question, threads: int, age: int) -> None:
        """Get ready to search."""
        own, opp, empties = question.position.own, question.position.opp, question.empties
        row = slots.PATTERNS + patterns.ROW * empties
        patterns.fill_row(own, opp, self.words[row : row + patterns.ROW].view(np.int16))
        self.words[slots.CERTAINTY], self.words[slots.ROOT] = question.certainty, empties
        self.words[slots.BEST], self.words[slots.THREADS] = question.first, threads
        self.words[slots.PER_DISC] = PER_DISC if empties > NEAR_SOLUTION else PER_DISC_NEAR
        self.words[slots.AGE], self.words[slots.STOP] = age, 0
        self.words[slots.STACK : slots.STACK + 64] = 0

    def search(self, question: Question) -> int:
        """The answer, if nobody stops it."""
        own, opp = U(question.position.own), U(question.position.opp)
        window = question.alpha, question.beta
        return int(search(own, opp, question.moves, *window, question.depth, self.address))

    def halt(self) -> None:
        """End the search of this thread."""
        self.words[slots.STOP] = HALTED

    @property
    def halted(self) -> bool:
        """Whether its search has been ended from outside or by its limit of nodes."""
        return bool(self.words[slots.STOP] < 0)


class Team:
    """All threads of an engine."""

    def __init__(self, game: Game, threads: int, table: Table, heuristic: Heuristic | None) -> None:
        self.table = table
        self.busy = np.zeros(BUSY_PLACES, np.int64)
        self.workers = [Worker(game, table, heuristic, self.busy) for _ in range(threads)]
        for worker in self.workers:
            worker.words[slots.OTHERS : slots.OTHERS + threads] = [other.address for other in self.workers]
        self.stopped = False

    def begin(self, nodes: int | None = None) -> None:
        """Count from zero, and be ready to search again after a stop."""
        self.stopped = False
        self.table.grow_older()
        self.busy[:] = 0
        for worker in self.workers:
            worker.words[slots.NODES] = 0
        self.allow(nodes)

    def allow(self, nodes: int | None) -> None:
        """Stop when so many more positions have been visited."""
        for worker in self.workers:
            more = max(1, nodes // len(self.workers)) if nodes is not None else NO_LIMIT
            worker.words[slots.LIMIT] = worker.words[slots.NODES] + more

    def forget(self) -> None:
        """Clear all tables."""
        self.table.clear()
        for worker in self.workers:
            worker.near[:] = 0

    @property
    def nodes(self) -> int:
        """The positions visited since the beginning."""
        return sum(int(worker.words[slots.NODES]) for worker in self.workers)

    def stop(self) -> None:
        """End the search, whichever thread asks."""
        self.stopped = True
        for worker in self.workers:
            worker.halt()

    def best_move(self, position: Position) -> int:
        """The best move that the table remembers for a position, or NO_MOVE."""
        key, address = hash_of(U(position.own), U(position.opp)), self.workers[0].address
        data = int(recall(bucket_of(key, address), key))
        return int(move_of(data)) if data else NO_MOVE

    def ask(self, question: Question) -> tuple[int, int]:
        """The value and the best move; `Stopped` if the search was ended before."""
        depth, solving = question.depth, question.depth >= question.empties
        together = depth >= (TOGETHER_SOLVING if solving else TOGETHER)
        active = self.workers if together else self.workers[:1]
        for worker in active:
            worker.prepare(question, len(active), self.table.age)
        if self.stopped:
            raise Stopped
        found: list[tuple[int, int]] = []

        def answer(worker: Worker) -> None:
            value = worker.search(question)
            if not worker.halted:
                found.append((value, int(worker.words[slots.BEST])))
                for other in active:
                    if other is not worker:
                        other.halt()

        helpers = [threading.Thread(target=answer, args=(worker,), daemon=True) for worker in active[1:]]
        for helper in helpers:
            helper.start()
        answer(active[0])
        for helper in helpers:
            helper.join()
        if not found:
            raise Stopped
        return found[0]
