"""Workers, here or on a cluster: results in order, Ctrl-C heard at once, and a clear word when one cannot live.

A result must follow from the item and from what `prepare` was given alone: it may be found anywhere, and twice.
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
Jobs = int | str  # so many processes here, or the address of the scheduler of a cluster
Prepare = Callable[..., Callable[[], None] | None]  # what it returns, workers of a cluster call when the work is over
QUEUED_PER_WORKER = 4  # items handed to each worker before their results are waited for
EXIT_TIMEOUT = 5.0  # seconds for a worker to end


class OrderedMap(Protocol):
    """The function of each item, in order: what `map` does."""

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]: ...


def worker_pool(jobs: Jobs, prepare: Prepare | None = None, *args: Any) -> AbstractContextManager[OrderedMap]:
    """Workers that stay for several rounds of work; each calls `prepare(*given)` first, if there is anything to."""
    if isinstance(jobs, int):
        return _process_pool(jobs, prepare, *args)
    from awello.arena.cluster import cluster_pool

    return cluster_pool(jobs, prepare, *args)


class _Context(SpawnContext):
    """Starts processes and remembers them: the program may have other children, which are not ours to end."""

    def __init__(self) -> None:
        self.started: list[SpawnProcess] = []

    def Process(self, *args: Any, **options: Any) -> SpawnProcess:  # type: ignore[override]  # noqa: N802
        """A process that is about to be started."""
        self.started.append(SpawnProcess(*args, **options))
        return self.started[-1]

    def end_all(self) -> None:
        """End the processes with all that they have started."""
        started = [process for process in self.started if process.pid is not None]
        for process in started:
            if process.is_alive():
                kill_tree(process.pid or 0)
        for process in started:
            process.join(EXIT_TIMEOUT)


def _init_worker(prepare: Prepare | None, *args: Any) -> None:
    """The first thing that a worker does."""
    adopt_orphans()
    if prepare:
        prepare(*args)


@contextmanager
def _process_pool(workers: int, prepare: Prepare | None, *args: Any) -> Iterator[OrderedMap]:
    context = _Context()
    pool = ProcessPoolExecutor(workers, context, _init_worker, (prepare, *args))

    def map_items(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        def submit(item: Item) -> Future[Result]:
            with ignore_interrupts():
                return pool.submit(function, item)

        return map_ordered(submit, Future.result, items, lambda: workers)

    try:
        yield map_items
    except BrokenProcessPool:
        advice = "a player of your own must be registered in a file that they can import, or use one job"
        raise ConfigError(f"a worker process could not start or has died: {advice}") from None
    finally:
        with uninterrupted():
            pool.shutdown(wait=False, cancel_futures=True)
            context.end_all()


def map_ordered(
    submit: Callable[[Item], Handle],
    get_result: Callable[[Handle], Result],
    items: Iterable[Item],
    workers: Callable[[], int],
) -> Iterator[Result]:
    """Hand items over, some ahead of the results, which are taken in order."""
    pending: deque[Handle] = deque()
    for item in items:
        pending.append(submit(item))
        if len(pending) >= QUEUED_PER_WORKER * workers():
            yield get_result(pending.popleft())
    while pending:
        yield get_result(pending.popleft())


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C: it is for the parent, who hears it a moment later and ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # started later, within the block, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C while something ends that must not be left half ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)
