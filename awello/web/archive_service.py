"""The archive of the server: opened once, queried in threads, with limits on saved games.

If the archive cannot be opened or read, only the requests that use it fail.  Error messages of the database can
contain file names and other private data, so they are logged and not sent to clients.
"""

import logging
import threading
from asyncio import Lock
from collections.abc import Callable
from time import monotonic
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from awello.archive.archive import Archive
from awello.errors import AwelloError, StorageError
from awello.web.errors import ApiError
from awello.web.rate_limits import RateLimit, RateLimits

DOWNLOAD_RATE = (5, 1 / 30)  # downloads per client network: burst size, and rate per second
MAX_CONCURRENT_QUERIES = 4  # further queries wait without blocking the server
RETRY_DELAY = 10.0  # seconds before another attempt to open an archive that could not be opened
MAX_SAVES_PER_MINUTE = 20  # per client network
MAX_SAVES_PER_DAY = 2000  # by all client networks together

Result = TypeVar("Result")


class ArchiveService:
    """The archive at a location; an empty location means the default archive, and None means no archive."""

    def __init__(self, location: str | None = "", public: bool = False) -> None:
        self.location = location
        self.public = public  # whether other machines can reach the server
        self.import_lock, self.export_lock = Lock(), Lock()  # one import and one export at a time
        self.download_limits = RateLimits(*DOWNLOAD_RATE)
        self._archive: Archive | None = None
        self._failed_at = -RETRY_DELAY
        self._opening = threading.Lock()
        self._query_limiter: CapacityLimiter | None = None
        self.save_limits = RateLimits(MAX_SAVES_PER_MINUTE, MAX_SAVES_PER_MINUTE / 60)
        self.total_save_limit = RateLimit(MAX_SAVES_PER_DAY, MAX_SAVES_PER_DAY / 86400)

    async def run(self, query: Callable[[Archive], Result]) -> Result:
        """Run a query in a thread."""
        if self.location is None:
            raise ApiError(404, "no_archive", "this server has no archive: start it without --no-archive")
        if self._query_limiter is None:
            self._query_limiter = CapacityLimiter(MAX_CONCURRENT_QUERIES)
        return await to_thread.run_sync(self._run, query, limiter=self._query_limiter)

    def check_save_limits(self, client_network: str) -> None:
        """Count a game that a client network saves, or raise `ApiError` if a limit is reached."""
        if not self.save_limits.take(client_network):
            message = (
                f"your network may save at most {MAX_SAVES_PER_MINUTE} games per minute: wait a minute and try again"
            )
            raise ApiError(429, "save_rate_limit", message, limit=MAX_SAVES_PER_MINUTE)
        if not self.total_save_limit.take():
            message = f"this server saves at most {MAX_SAVES_PER_DAY} games per day: try again later"
            raise ApiError(429, "daily_save_limit", message, limit=MAX_SAVES_PER_DAY)

    def close(self) -> None:
        """Close the database."""
        if self._archive:
            self._archive.close()

    def _run(self, query: Callable[[Archive], Result]) -> Result:
        archive = self._open()
        try:
            return query(archive)
        except (StorageError, OSError) as error:
            raise _unavailable_error(error) from None

    def _open(self) -> Archive:
        with self._opening:
            if self._archive is None:
                if monotonic() < self._failed_at + RETRY_DELAY:
                    raise _unavailable_error()
                try:
                    self._archive = Archive(self.location or None)
                except (AwelloError, OSError) as error:
                    self._failed_at = monotonic()
                    raise _unavailable_error(error) from None
            return self._archive


def _unavailable_error(error: Exception | None = None) -> ApiError:
    """Return the error for clients, and log its cause."""
    if error:
        logging.getLogger("awello").error("the archive is not available: %s", error)
    return ApiError(503, "archive_unavailable", "the archive is not available: see the server's log")
