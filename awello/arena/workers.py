"""Worker processes: results in order, Ctrl-C heard at once, and a clear word when a worker cannot live."""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from awello.errors import ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 4  # items handed to each worker before their results are waited for


class Each(Protocol):
    """The function of each item, in order: what `map` does."""

    def __call__(self, function: Callable[[Item], Result], items: Iterable[Item], /) -> Iterator[Result]: ...


def work(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, prepare: Callable[..., None], *given: Any
) -> Generator[Result, None, None]:
    """The function of each item, in order, from processes that each call `prepare(*given)` first."""
    with crew(workers, prepare, *given) as each:
        yield from each(function, items)


@contextmanager
def crew(workers: int, prepare: Callable[..., None] | None = None, *given: Any) -> Iterator[Each]:
    """Processes that stay for several rounds of work; each calls `prepare(*given)` first, if there is anything to."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, prepare, given)

    def each(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        pending: deque[Future[Result]] = deque()
        for item in items:
            with deaf():
                pending.append(pool.submit(function, item))
            if len(pending) >= AHEAD * workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()

    try:
        yield each
    except BrokenProcessPool:
        advice = "a player of your own must be registered in a file that they can import, or use one job"
        raise ConfigError(f"a worker process could not start or has died: {advice}") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()


@contextmanager
def deaf() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C: it is for the parent, who hears it a moment later and ends them."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
