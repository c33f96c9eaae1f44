"""Worker processes: results in order, Ctrl-C heard at once, and a clear word when a worker cannot live."""

import multiprocessing
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from awello.errors import ConfigError

Item = TypeVar("Item")
Result = TypeVar("Result")
AHEAD = 4  # items handed to each worker before their results are waited for


def work(
    function: Callable[[Item], Result], items: Iterable[Item], workers: int, prepare: Callable[..., None], *given: Any
) -> Generator[Result, None, None]:
    """The function of each item, in order, from processes that each call `prepare(*given)` first."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, prepare, given)
    pending: deque[Future[Result]] = deque()
    try:
        for item in items:
            with deaf():
                pending.append(pool.submit(function, item))
            if len(pending) >= AHEAD * workers:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
    except BrokenProcessPool:
        advice = "a player of your own must be registered in a file that they can import, or use one job"
        raise ConfigError(f"a worker process could not start or has died: {advice}") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for child in multiprocessing.active_children():
            child.terminate()


@contextmanager
def deaf() -> Iterator[None]:
    """Start processes that do not hear Ctrl-C: it is for the parent, who ends them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
