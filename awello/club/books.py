"""The club's books for the hall, which cannot wait: what is written and read beside the other work.

When something cannot be written, nobody knows whether it was: a server that was lost may have kept it.  From then on
everything is refused, until whoever opened the books has looked at what they say.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from sqlalchemy import Connection

from awello.club.desk import Desk
from awello.club.table import Refused
from awello.errors import ArchiveError

Done = TypeVar("Done")


class Books:
    """What the desk keeps, for those who go on meanwhile."""

    def __init__(self, desk: Desk, now: Callable[[], float]) -> None:
        self.desk, self.now = desk, now
        self.failed_at: float | None = None  # by the club's clock: when the first act that failed was handed in
        self.failures = 0
        self.waits: deque[float] = deque(maxlen=10_000)  # seconds that acts took until they were written

    @property
    def failing(self) -> bool:
        """Whether something could not be written, and the books have not been looked at since."""
        return self.failed_at is not None

    async def write(self, act: Callable[[Connection], Done]) -> Done:
        """Write something, or refuse it as a whole."""
        self.check()
        return await self.retry(act)

    def check(self) -> None:
        """Refuse what cannot be written now."""
        if self.failing:
            raise Refused("storage", "the club cannot write now, and all clocks stand still: try again in a moment")

    async def retry(self, act: Callable[[Connection], Done]) -> Done:
        """Write something, even if what came before it could not be."""
        begun, handed_in = time.monotonic(), self.now()
        try:
            done = await asyncio.wrap_future(self.desk.write(act))
        except ArchiveError as error:
            if self.failed_at is None:
                logging.getLogger("awello").error("the club stands still: %s", error)
                self.failed_at = handed_in
            self.failures += 1
            self.check()
            raise
        self.waits.append(time.monotonic() - begun)
        return done

    async def read(self, question: Callable[[Connection], Done]) -> Done:
        """Ask something."""
        try:
            return await asyncio.to_thread(self.desk.read, question)
        except ArchiveError:
            raise Refused("storage", "the club cannot read its books now: try again in a moment") from None
