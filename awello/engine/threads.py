"""The threads of a search: each with its own memory, all with one table, and the first answer counts."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from awello.engine.state import HALTED, NO_MOVE
from awello.engine.transposition_table import TranspositionTable
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position

NO_LIMIT = 1 << 62


class SearchStopped(Exception):
    """A search ended before it had an answer."""


@dataclass(frozen=True)
class SearchRequest:
    """What threads are to find out: the value of some moves of a position in a window."""

    position: Position
    moves: U
    alpha: int
    beta: int
    depth: int
    certainty: int
    first: int = NO_MOVE
    """The move to try first."""


class SearchResult(NamedTuple):
    """An answer: a value, the move that has it, and whether the search needed no estimate for it."""

    value: int
    move: int
    proved: bool = False


class SearchWorker(ABC):
    """One thread and its memory, an array of one state that extends `ThreadState`.

    Python takes 1 us for an attribute of a record.  So what each question touches is read and written by `fields`.
    """

    def __init__(self, memory: npt.NDArray[Any], table: TranspositionTable) -> None:
        self.memory, self.address, self.state = memory, address_of(memory), memory[0]
        self.fields = {name: memory[name] for name in memory.dtype.names or ()}
        self.state.multipliers = table.multipliers

    def set(self, **values: int | U) -> None:
        """Set fields of the state."""
        for name, value in values.items():
            self.fields[name][0] = value

    def get(self, name: str) -> int:
        """The value of a field of the state."""
        return int(self.fields[name][0])

    @abstractmethod
    def prepare(self, question: SearchRequest, threads: int, age: int) -> None:
        """Get ready to search."""

    @abstractmethod
    def search(self, question: SearchRequest) -> SearchResult:
        """The answer, unless the search is stopped."""

    @abstractmethod
    def best_move(self, position: Position) -> int:
        """The best move that the table remembers for a position, or NO_MOVE."""

    @abstractmethod
    def pays_together(self, question: SearchRequest) -> bool:
        """Whether a question is worth more than one thread."""

    def begin(self) -> None:
        """Count from zero."""
        self.set(nodes=0)

    @abstractmethod
    def forget(self) -> None:
        """Clear what this thread alone remembers."""

    def halt(self) -> None:
        """End the search of this thread."""
        self.set(stop=HALTED)


class SearchThreads:
    """All threads of an engine."""

    def __init__(self, workers: Sequence[SearchWorker], table: TranspositionTable) -> None:
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
            worker.set(limit=worker.get("nodes") + more)

    def forget(self) -> None:
        """Clear all tables."""
        self.table.clear()
        for worker in self.workers:
            worker.forget()

    @property
    def nodes(self) -> int:
        """The positions visited since the beginning."""
        return sum(worker.get("nodes") for worker in self.workers)

    def stop(self) -> None:
        """End the search, whichever thread asks."""
        self.stopped = True
        for worker in self.workers:
            worker.halt()

    def best_move(self, position: Position) -> int:
        """The best move that the table remembers for a position, or NO_MOVE."""
        return self.workers[0].best_move(position)

    def ask(self, question: SearchRequest) -> SearchResult:
        """The answer of the first thread that finishes; `Stopped` if the search was stopped before."""
        active = self.workers if self.workers[0].pays_together(question) else self.workers[:1]
        for worker in active:
            worker.prepare(question, len(active), self.table.age)
        if self.stopped:
            raise SearchStopped
        found: list[SearchResult] = []

        def answer(worker: SearchWorker) -> None:
            result = worker.search(question)
            if worker.get("stop") < HALTED:  # neither ended from outside nor by its limit of nodes
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
            raise SearchStopped
        return found[0]
