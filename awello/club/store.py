"""The club's database: each change to a game is stored here before clients are notified.

One thread writes.  Operations that are submitted while the writer thread is busy are queued and then written together
in one transaction, so that many games share the cost of a commit.

The table `writer` has one row: the epoch, a number that grows by one whenever a server opens the club, and the number
of the last server transaction.  Every transaction of a server starts by storing its own number in `writer`.  If another
server has opened the club in the meantime, the epoch has changed, and the transaction is refused.  If the connection is
lost during COMMIT, the stored number shows whether the transaction was committed.

After a failed write, the content of the database is uncertain, so `write` refuses all operations until the server has
loaded the games from the database again.
"""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, insert, select, update

from awello.club.game_state import ClubError
from awello.club.schema import CLUB_SCHEMA, writer
from awello.club.stored_games import SaveGame, save_games
from awello.errors import ConfigError, StorageError
from awello.storage.database import lock_exclusively, open_database, write_transaction

MAX_BATCH = 256  # operations in one transaction
UNAVAILABLE = "the club cannot reach its database, and nothing was saved: try again in a moment"
IDLE_TIMEOUT = 20.0  # seconds after which a database server ends an idle transaction

Result = TypeVar("Result")
Operation = Callable[[Connection], Any]
BatchRunner = Callable[[Connection, Sequence[Operation]], list[Any]]


class ClubTakenOverError(StorageError):
    """Raised if another server has opened the club; this server can no longer write."""

    def __init__(self) -> None:
        super().__init__("another server has opened this club, so this server no longer writes: stop one of the two")


def unavailable_error() -> ClubError:
    """Return the error for a request while the database is unavailable."""
    return ClubError("storage", UNAVAILABLE)


class ClubStore:
    """The database of a club, with a queue of writes, and with methods for threads and for coroutines."""

    def __init__(self, database: str | Path) -> None:
        self.engine = open_database(database, CLUB_SCHEMA)
        self.now: Callable[[], float] = time.time  # the club's clock
        # When the first write that failed was submitted; None if no write has failed since the games were last loaded.
        self.failed_at: float | None = None
        self.write_failures = 0
        self.write_seconds: deque[float] = deque(maxlen=10_000)  # duration of recent writes
        self._queue: SimpleQueue[tuple[Operation, Future[Any]] | None] = SimpleQueue()
        self._lock: Any = None  # locks out other servers
        self._epoch: int | None = None  # None before `acquire`; writing is then possible while a server is running
        self._last_transaction = 0  # the number of this server's last transaction
        self._write_lock = threading.Lock()  # held while a batch is written or an epoch starts
        self._writer = threading.Thread(target=self._write_batches, name="club writer", daemon=True)
        self._writer.start()

    def acquire(self) -> None:
        """Lock the club for this server until the store is closed; two servers would overwrite each other's games."""
        self._unlock()  # a restarted database has lost the lock, and a lock file may have been deleted
        self._lock = lock_exclusively(self.engine)
        if self._lock is None:
            raise ConfigError("another server has opened this club: stop it first")
        with self._write_lock:
            with write_transaction(self.engine, IDLE_TIMEOUT) as connection:
                epoch, last_transaction = _begin_epoch(connection)
            self._epoch, self._last_transaction = epoch, last_transaction

    def _unlock(self) -> None:
        if self._lock is not None:
            with suppress(Exception):  # the database may be unreachable
                self._lock.close()
            self._lock = None

    def close(self) -> None:
        """Write the queued operations and close the database."""
        self._queue.put(None)
        self._writer.join()
        self._unlock()
        self.engine.dispose()

    # ---- for threads -------------------------------------------------------------------------------------------------
    def submit(self, operation: Callable[[Connection], Result]) -> "Future[Result]":
        """Queue an operation; the future resolves when its transaction has been committed."""
        future: Future[Result] = Future()
        self._queue.put((operation, cast("Future[Any]", future)))
        return future

    def read_blocking(self, query: Callable[[Connection], Result]) -> Result:
        """Run a query in this thread."""
        with self.engine.connect() as connection:
            return query(connection)

    # ---- for coroutines ----------------------------------------------------------------------------------------------
    @property
    def failing(self) -> bool:
        """Whether a write has failed and the games have not been loaded again since."""
        return self.failed_at is not None

    def require_available(self) -> None:
        """Raise `ClubError` if `failing` is true."""
        if self.failing:
            raise unavailable_error()

    async def write(self, operation: Callable[[Connection], Result]) -> Result:
        """Run an operation in a transaction; raise `ClubError` if `failing` is true or if the write fails."""
        self.require_available()
        return await self.force_write(operation)

    async def force_write(self, operation: Callable[[Connection], Result]) -> Result:
        """Run an operation in a transaction, even if `failing` is true; raise `ClubError` if the write fails."""
        started, submitted = time.monotonic(), self.now()
        try:
            result = await asyncio.wrap_future(self.submit(operation))
        except StorageError as error:
            if self.failed_at is None:
                logging.getLogger("awello").error("a write failed, and the club refuses further changes (%s)", error)
                self.failed_at = submitted
            self.write_failures += 1
            self.require_available()
            raise
        self.write_seconds.append(time.monotonic() - started)
        return result

    async def read(self, query: Callable[[Connection], Result]) -> Result:
        """Run a query in another thread; raise `ClubError` if the database is unavailable."""
        try:
            return await asyncio.to_thread(self.read_blocking, query)
        except StorageError:
            raise unavailable_error() from None

    # ---- the writer thread -------------------------------------------------------------------------------------------
    def _write_batches(self) -> None:
        batch: list[tuple[Operation, Future[Any]] | None] = []
        while None not in batch:
            batch = [self._queue.get()]
            while len(batch) < MAX_BATCH and not self._queue.empty():
                batch.append(self._queue.get())
            pending = [each for each in batch if each and each[1].set_running_or_notify_cancel()]
            for (_, future), outcome in zip(
                pending, self._write_batch([operation for operation, _ in pending]), strict=True
            ):
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)

    def _write_batch(self, operations: Sequence[Operation]) -> list[Any]:
        """Write a batch; return the result of each operation, or the exception if it failed."""
        try:
            with self._write_lock:
                return self._write_with_retry(operations) if operations else []
        except Exception as error:
            return [error] * len(operations)

    def _write_with_retry(self, operations: Sequence[Operation]) -> list[Any]:
        """Write a batch in one transaction; if it was not committed, retry once with a savepoint per operation."""
        outcomes: list[Any] = []
        try:
            self._write_transaction(operations, outcomes, _run_together)
        except Exception as error:
            if len(operations) == 1 and not isinstance(error, StorageError):
                raise  # the only operation failed, so there is nothing else to write
            if not (outcomes and self._was_committed(error)):
                outcomes = []
                self._write_transaction(operations, outcomes, _run_separately)
        return outcomes

    def _write_transaction(self, operations: Sequence[Operation], outcomes: list[Any], run: BatchRunner) -> None:
        """Run a batch in one transaction and add its results to `outcomes`.

        If an error is raised and `outcomes` contains the results, COMMIT may already have been sent.
        """
        with write_transaction(self.engine, IDLE_TIMEOUT) as connection:
            if self._epoch is not None:
                self._last_transaction += 1
                claimed = (
                    update(writer).where(writer.c.epoch == self._epoch).values(last_transaction=self._last_transaction)
                )
                if not connection.execute(claimed).rowcount:
                    raise ClubTakenOverError
            outcomes += run(connection, operations)

    def _was_committed(self, error: Exception) -> bool:
        """Return whether the last transaction was committed, although an error was raised.

        Raises `error` before `acquire`: transactions then have no numbers, so their outcome cannot be determined.
        """
        if self._epoch is None:
            raise error
        with write_transaction(self.engine, IDLE_TIMEOUT) as connection:  # waits for the lock of a commit in progress
            row = connection.execute(select(writer)).one()
        if row.last_transaction != self._last_transaction and row.epoch != self._epoch:
            raise ClubTakenOverError
        return bool(row.last_transaction == self._last_transaction)


@contextmanager
def open_transaction(database: str | Path, write: bool) -> Iterator[Connection]:
    """Open a transaction for a command of `awello club`; `write` allows it to write, even while a server is running."""
    engine = open_database(database, CLUB_SCHEMA)
    try:
        with write_transaction(engine) if write else engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _run_together(connection: Connection, operations: Sequence[Operation]) -> list[Any]:
    """Run a batch; one statement saves the games of all `SaveGame` operations."""
    save_games(connection, [operation.state for operation in operations if isinstance(operation, SaveGame)])
    return [
        operation.rate(connection) if isinstance(operation, SaveGame) else operation(connection)
        for operation in operations
    ]


def _run_separately(connection: Connection, operations: Sequence[Operation]) -> list[Any]:
    """Run a batch with a savepoint per operation; failed operations are rolled back, with the exception as result.

    Savepoints nearly double the time to write a hundred moves, so they are used only after a failure.
    """
    outcomes: list[Any] = []
    for operation in operations:
        savepoint = connection.begin_nested()
        try:
            result = operation(connection)
            savepoint.commit()
        except Exception as error:
            if connection.invalidated:
                raise
            savepoint.rollback()  # raises if the whole transaction is lost
            result = error
        outcomes.append(result)
    return outcomes


def _begin_epoch(connection: Connection) -> tuple[int, int]:
    """Start a new epoch, which locks out older servers; return it and the number of the last transaction."""
    if not connection.execute(update(writer).values(epoch=writer.c.epoch + 1)).rowcount:
        connection.execute(insert(writer).values(epoch=1, last_transaction=0))
    row = connection.execute(select(writer)).one()
    return row.epoch, row.last_transaction
