"""The threads of a search: each with its own memory, all with one table, one answer from whoever is first."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from awello.engine.block import LIMIT, MULTIPLIERS, NODES, STOP
from awello.engine.table import NO_MOVE, Table
from awello.kernel import U
from awello.memory import address_of, aligned_words
from awello.position import Position

HALTED = -(1 << 63)  # the word STOP when the whole search must end
NO_LIMIT = 1 << 62


class Stopped(Exception):
    """A search ended before it had an answer."""


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


class Found(NamedTuple):
    """An answer: a value, the move that has it, and whether the search needed no estimate for it."""

    value: int
    move: int
    proved: bool = False


class Worker(ABC):
    """The memory of one thread: a block of words, aligned to cache lines, that begins as `block` says."""

    def __init__(self, words: int, table: Table) -> None:
        self.words = aligned_words(words)
        self.address = address_of(self.words)
        self.words.view(np.uint64)[MULTIPLIERS : MULTIPLIERS + 4] = table.multipliers

    @abstractmethod
    def prepare(self, question: Question, threads: int, age: int) -> None:
        """Get ready to search."""

    @abstractmethod
    def search(self, question: Question) -> Found:
        """The answer, if nobody stops it."""

    @abstractmethod
    def best_move(self, position: Position) -> int:
        """The best move that the table remembers for a position, or NO_MOVE."""

    @abstractmethod
    def pays_together(self, question: Question) -> bool:
        """Whether a question is worth more than one thread."""

    def begin(self) -> None:
        """Count from zero."""
        self.words[NODES] = 0

    @abstractmethod
    def forget(self) -> None:
        """Clear what this thread alone remembers."""

    def halt(self) -> None:
        """End the search of this thread."""
        self.words[STOP] = HALTED


class Team:
    """All threads of an engine."""

    def __init__(self, workers: Sequence[Worker], table: Table) -> None:
        self.workers, self.table = workers, table
        self.stopped = False

    def begin(self, nodes: int | None = None) -> None:
        """Count from zero, and be ready to search again after a stop."""
        self.stopped = False
        self.table.age = (self.table.age + 1) % 128  # what earlier searches found may be overwritten first
        for worker in self.workers:
            worker.begin()
        self.allow(nodes)

    def allow(self, nodes: int | None) -> None:
        """Stop when so many more positions have been visited."""
        for worker in self.workers:
            more = max(1, nodes // len(self.workers)) if nodes is not None else NO_LIMIT
            worker.words[LIMIT] = worker.words[NODES] + more

    def forget(self) -> None:
        """Clear all tables."""
        self.table.clear()
        for worker in self.workers:
            worker.forget()

    @property
    def nodes(self) -> int:
        """The positions visited since the beginning."""
        return sum(int(worker.words[NODES]) for worker in self.workers)

    def stop(self) -> None:
        """End the search, whichever thread asks."""
        self.stopped = True
        for worker in self.workers:
            worker.halt()

    def best_move(self, position: Position) -> int:
        """The best move that the table remembers for a position, or NO_MOVE."""
        return self.workers[0].best_move(position)

    def ask(self, question: Question) -> Found:
        """The answer of whoever is first; `Stopped` if the search was ended before."""
        active = self.workers if self.workers[0].pays_together(question) else self.workers[:1]
        for worker in active:
            worker.prepare(question, len(active), self.table.age)
        if self.stopped:
            raise Stopped
        found: list[Found] = []

        def answer(worker: Worker) -> None:
            result = worker.search(question)
            if worker.words[STOP] >= 0:  # neither ended from outside nor by its limit of nodes
                found.append(result)
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
