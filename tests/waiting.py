"""Wait for conditions instead of fixed times, so that tests do not depend on the speed of the machine."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

TIMEOUT = 120.0  # seconds; only failing tests wait this long
POLL = 0.01  # seconds between two checks of a condition

Result = TypeVar("Result")


def wait_until(condition: Callable[[], Result]) -> Result:
    """Wait until a condition is true; return its result."""
    deadline = time.monotonic() + TIMEOUT
    while not (found := condition()):
        assert time.monotonic() < deadline, f"still false after {TIMEOUT:g} s"
        time.sleep(POLL)  # polls, because other processes cannot set an event in this process
    return found


async def wait_until_async(condition: Callable[[], Result]) -> Result:
    """Wait until a condition is true while the event loop runs; return its result."""
    deadline = time.monotonic() + TIMEOUT
    while not (found := condition()):
        assert time.monotonic() < deadline, f"still false after {TIMEOUT:g} s"
        await asyncio.sleep(POLL)  # polls for the same reason
    return found


class ManualClock:
    """A clock in seconds since 1970 that a test advances."""

    def __init__(self) -> None:
        self.time = time.time()

    def __call__(self) -> float:
        return self.time

    def advance(self, seconds: float) -> None:
        """Advance the clock."""
        self.time += seconds


class SteppingTime:
    """A replacement for the module `time` whose `perf_counter` advances by `step` seconds at each call."""

    def __init__(self, step: float) -> None:
        self.step, self.time = step, 0.0

    def perf_counter(self) -> float:
        self.time += self.step
        return self.time
