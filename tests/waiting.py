"""Wait for conditions instead of fixed times, so that tests do not depend on the speed of the machine."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

TIMEOUT = 120.0  # seconds; only a test that fails waits this long
POLL = 0.01  # seconds between two looks at a condition

Result = TypeVar("Result")


def wait_until(condition: Callable[[], Result]) -> Result:
    """Wait until a condition is true; return what it returned."""
    deadline = time.monotonic() + TIMEOUT
    while not (found := condition()):
        assert time.monotonic() < deadline, f"still false after {TIMEOUT:g} s"
        time.sleep(POLL)  # other threads and processes cannot set an event of ours
    return found


async def wait_until_async(condition: Callable[[], Result]) -> Result:
    """Wait until a condition is true while the event loop runs; return what it returned."""
    deadline = time.monotonic() + TIMEOUT
    while not (found := condition()):
        assert time.monotonic() < deadline, f"still false after {TIMEOUT:g} s"
        await asyncio.sleep(POLL)  # as above
    return found


class ManualClock:
    """A clock that stands still until a test advances it, in seconds since 1970."""

    def __init__(self) -> None:
        self.moment = time.time()

    def __call__(self) -> float:
        return self.moment

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.moment += seconds


class SteppingTime:
    """Stands in for the module `time`: each look at its clock is so many seconds later."""

    def __init__(self, step: float) -> None:
        self.step, self.moment = step, 0.0

    def perf_counter(self) -> float:
        self.moment += self.step
        return self.moment
