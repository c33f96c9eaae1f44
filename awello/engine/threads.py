"""Search threads: each has its own state, all share one transposition table, and the first result is used."""

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
    """Raised if a search is stopped before it has a result."""


@dataclass(frozen=True)
class SearchRequest:
    """A request to search some moves of a position to a depth with a window."""

    position: Position
    moves: U
    alpha: int
    beta: int
    depth: int
    precision: int
    """Othello: the ProbCut selectivity.  Awalé: the largest number of seeds for which the tablebase is used."""
    first_move: int = NO_MOVE
    """The move to search first."""


class SearchResult(NamedTuple):
    """The value of a search, the best move, and (Awalé only) whether the value was found without any estimate."""

    value: int
    move: int
    exact: bool = False


class SearchWorker(ABC):
    """A search thread and its state: a structured array of length one, whose dtype extends `ThreadState`.

    Accessing an attribute of its element takes 1 us in Python; fields that every request uses are accessed through
    `fields`, which is faster.
    """

    def __init__(self, records: npt.NDArray[Any], tt: TranspositionTable) -> None:
        self.records, self.address, self.state = records, address_of(records), records[0]
        self.fields = {name: records[name] for name in records.dtype.names or ()}
        self.state.multipliers = tt.multipliers

    def set_fields(self, **values: int | U) -> None:
        """Set fields of the state."""
        for name, value in values.items():
            self.fields[name][0] = value

    def get_field(self, name: str) -> int:
        """Return a field of the state."""
        return int(self.fields[name][0])

    @abstractmethod
    def prepare(self, request: SearchRequest, threads: int, age: int) -> None:
        """Prepare the state for a search."""

    @abstractmethod
    def search(self, request: SearchRequest) -> SearchResult:
        """Run a search; if the search is stopped, the result is meaningless."""

    @abstractmethod
    def probe_best_move(self, position: Position) -> int:
        """Return the best move that the transposition table holds for a position, or NO_MOVE."""

    @abstractmethod
    def uses_all_threads(self, request: SearchRequest) -> bool:
        """Return whether a search is long enough to use more than one thread."""

    def begin_search(self) -> None:
        """Reset the node count."""
        self.set_fields(nodes=0)

    @abstractmethod
    def clear(self) -> None:
        """Clear the tables of this thread."""

    def stop(self) -> None:
        """Stop the search of this thread."""
        self.set_fields(stop=STOP_BIT)


class SearchThreads:
    """All search threads of an engine."""

    def __init__(self, workers: Sequence[SearchWorker], tt: TranspositionTable) -> None:
        self.workers, self.tt = workers, tt
        self.stopped = False

    def begin_search(self, node_limit: int | None = None) -> None:
        """Prepare for a search: reset the node count and the stop flag, and set the node limit."""
        self.stopped = False
        self.tt.age = (self.tt.age + 1) % 128  # entries of earlier searches are replaced first
        for worker in self.workers:
            worker.begin_search()
        self.limit_nodes(node_limit)

    def limit_nodes(self, node_limit: int | None) -> None:
        """Let the search visit about this many more positions; with None, any number."""
        for worker in self.workers:
            more = max(1, node_limit // len(self.workers)) if node_limit is not None else NO_NODE_LIMIT
            worker.set_fields(node_limit=worker.get_field("nodes") + more)

    def clear(self) -> None:
        """Clear all tables."""
        self.tt.clear()
        for worker in self.workers:
            worker.clear()

    @property
    def nodes(self) -> int:
        """The number of positions visited since `begin_search` was called."""
        return sum(worker.get_field("nodes") for worker in self.workers)

    def stop(self) -> None:
        """Stop the search; may be called from any thread."""
        self.stopped = True
        for worker in self.workers:
            worker.stop()

    def probe_best_move(self, position: Position) -> int:
        """Return the best move that the transposition table holds for a position, or NO_MOVE."""
        return self.workers[0].probe_best_move(position)

    def search(self, request: SearchRequest) -> SearchResult:
        """Return the result of the first thread that finishes, or raise `SearchStopped` if none does."""
        active = self.workers if self.workers[0].uses_all_threads(request) else self.workers[:1]
        for worker in active:
            worker.prepare(request, len(active), self.tt.age)
        if self.stopped:
            raise SearchStopped
        results: list[SearchResult] = []

        def run(worker: SearchWorker) -> None:
            result = worker.search(request)
            if worker.get_field("stop") < STOP_BIT:  # stopped neither from outside nor by its node limit
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
