"""Worker pools, local or on a cluster.

A pool yields results in order, stops promptly after Ctrl-C, and raises a clear error if a worker fails.  A result must
depend only on the item and the arguments of `prepare`, because any worker may compute it, possibly more than once.
"""

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any, Protocol, TypeVar

from awello.errors import ConfigError
from awello.players.process_tree import adopt_orphans, kill_tree

Item = TypeVar("Item")
Result = TypeVar("Result")
Handle = TypeVar("Handle")
Jobs = int | str  # number of local processes, or the address of a cluster's scheduler
Prepare = Callable[..., Callable[[], None] | None]  # cluster workers call the returned function when the run ends
QUEUED_PER_WORKER = 4  # items per worker that are submitted before the first result is awaited
EXIT_TIMEOUT = 5.0  # seconds to wait for a worker to exit


class OrderedMap(Protocol):
    """A callable that applies a function to items and yields the results in order, like `map`."""

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]: ...


def open_worker_pool(jobs: Jobs, prepare: Prepare | None = None, *args: Any) -> AbstractContextManager[OrderedMap]:
    """Open a worker pool.  Each worker first calls `prepare(*args)`, if `prepare` is given."""
    if isinstance(jobs, int):
        return _process_pool(jobs, prepare, *args)
    from awello.arena.cluster import cluster_pool

    return cluster_pool(jobs, prepare, *args)


class _Context(SpawnContext):
    """Creates processes for a pool and records them, so that `end_all` ends only these."""

    def __init__(self) -> None:
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """Create a process for the pool to start."""
        self.started.append(SpawnProcess(*args, **options))
        return self.started[-1]

    def end_all(self) -> None:
        """End the started processes and their descendants."""
        started = [process for process in self.started if process.pid is not None]
        for process in started:
            if process.is_alive():
                kill_tree(process.pid or 0)
        for process in started:
            process.join(EXIT_TIMEOUT)


def _init_worker(prepare: Prepare | None, *args: Any) -> None:
    """Initialise a worker process."""
    adopt_orphans()
    if prepare:
        prepare(*args)


@contextmanager
def _process_pool(workers: int, prepare: Prepare | None, *args: Any) -> Iterator[OrderedMap]:
    context = _Context()
    pool = ProcessPoolExecutor(workers, context, _init_worker, (prepare, *args))

    def map_items(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        def submit(item: Item) -> Future[Result]:
            with block_interrupts():
                return pool.submit(function, item)

        return map_ordered(submit, Future.result, items, lambda: workers)

    try:
        yield map_items
    except BrokenProcessPool:
        advice = (
            "if memory ran out, use fewer jobs; in a script, protect the entry point with if __name__ == '__main__'"
        )
        raise ConfigError(f"a worker process died or could not start: {advice}") from None
    finally:
        with ignore_interrupts():
            pool.shutdown(wait=False, cancel_futures=True)
            context.end_all()


def map_ordered(
    submit: Callable[[Item], Handle],
    get_result: Callable[[Handle], Result],
    items: Iterable[Item],
    workers: Callable[[], int],
) -> Iterator[Result]:
    """Submit items before their results are needed, and yield the results in order."""
    pending: deque[Handle] = deque()
    for item in items:
        pending.append(submit(item))
        if len(pending) >= QUEUED_PER_WORKER * workers():
            yield get_result(pending.popleft())
    while pending:
        yield get_result(pending.popleft())


@contextmanager
def block_interrupts() -> Iterator[None]:
    """Block SIGINT while processes start, so that they inherit the signal mask.

    If SIGINT arrives meanwhile, this process receives it afterwards.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # starting the resource tracker unblocks SIGINT, so start it first
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Ignore Ctrl-C during a cleanup that must not be interrupted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
