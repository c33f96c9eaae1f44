"""The threads of a search: each with its own memory, all with one table, and the first answer counts."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from awello.engine.thread_state import NO_MOVE, STOP_BIT
from awello.engine.transposition_table import TranspositionTable
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position

NO_NODE_LIMIT = 1 << 62


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
    selectivity: int
    first_move: int = NO_MOVE
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

    def __init__(self, records: npt.NDArray[Any], tt: TranspositionTable) -> None:
        self.records, self.address, self.state = records, address_of(records), records[0]
        self.fields = {name: records[name] for name in records.dtype.names or ()}
        self.state.multipliers = tt.multipliers

    def set(self, **values: int | U) -> None:
        """Set fields of the state."""
        for name, value in values.items():
            self.fields[name][0] = value

    def get(self, name: str) -> int:
        """The value of a field of the state."""
        return int(self.fields[name][0])

    @abstractmethod
    def prepare(self, request: SearchRequest, threads: int, age: int) -> None:
        """Get ready to search."""

    @abstractmethod
    def search(self, request: SearchRequest) -> SearchResult:
        """The answer, unless the search is stopped."""

    @abstractmethod
    def probe_best_move(self, position: Position) -> int:
        """The best move that the table remembers for a position, or NO_MOVE."""

    @abstractmethod
    def is_worth_sharing(self, request: SearchRequest) -> bool:
        """Whether a question is worth more than one thread."""

    def start(self) -> None:
        """Count from zero."""
        self.set(nodes=0)

    @abstractmethod
    def clear(self) -> None:
        """Clear what this thread alone remembers."""

    def stop(self) -> None:
        """End the search of this thread."""
        self.set(stop=STOP_BIT)


class SearchThreads:
    """All threads of an engine."""

    def __init__(self, workers: Sequence[SearchWorker], tt: TranspositionTable) -> None:
        self.workers, self.tt = workers, tt
        self.stopped = False

    def start(self, max_nodes: int | None = None) -> None:
        """Count from zero, and be ready to search again after a stop."""
        self.stopped = False
        self.tt.age = (self.tt.age + 1) % 128  # what earlier searches found may be overwritten first
        for worker in self.workers:
            worker.start()
        self.limit_nodes(max_nodes)

    def limit_nodes(self, max_nodes: int | None) -> None:
        """Stop when so many more positions have been visited."""
        for worker in self.workers:
            more = max(1, max_nodes // len(self.workers)) if max_nodes is not None else NO_NODE_LIMIT
            worker.set(max_nodes=worker.get("nodes") + more)

    def clear(self) -> None:
        """Clear all tables."""
        self.tt.clear()
        for worker in self.workers:
            worker.clear()

    @property
    def nodes(self) -> int:
        """The positions visited since the beginning."""
        return sum(worker.get("nodes") for worker in self.workers)

    def stop(self) -> None:
        """End the search, whichever thread asks."""
        self.stopped = True
        for worker in self.workers:
            worker.stop()

    def probe_best_move(self, position: Position) -> int:
        """The best move that the table remembers for a position, or NO_MOVE."""
        return self.workers[0].probe_best_move(position)

    def search(self, request: SearchRequest) -> SearchResult:
        """The answer of the first thread that finishes; `Stopped` if the search was stopped before."""
        active = self.workers if self.workers[0].is_worth_sharing(request) else self.workers[:1]
        for worker in active:
            worker.prepare(request, len(active), self.tt.age)
        if self.stopped:
            raise SearchStopped
        results: list[SearchResult] = []

        def run(worker: SearchWorker) -> None:
            result = worker.search(request)
            if worker.get("stop") < STOP_BIT:  # neither ended from outside nor by its limit of nodes
                results.append(result)
                for other in active:
                    if other is not worker:
                        other.stop()

        helpers = [threading.Thread(target=run, args=(worker,), daemon=True) for worker in active[1:]]
        for helper in helpers:
            helper.start()
        run(active[0])
        for helper in helpers:
            helper.join()
        if not results:
            raise SearchStopped
        return results[0]
