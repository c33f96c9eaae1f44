"""The club's database: what happens in the club is written here first, and told to the players afterwards.

One thread writes.  Acts that are submitted while it writes wait and are then written together, in one transaction, so
that many games share the cost of reaching the disk.

The row of the table `writer` holds the epoch of the server that opened the club last and the number of its last
transaction.  Every transaction of a server begins by writing its number there.  If another server has opened the club
since, the epoch differs and the transaction is refused.  If the connection is lost during COMMIT, the number tells
whether the transaction was kept.

When the server of a club cannot write an act, it cannot know whether the database kept it.  From then on `write`
refuses everything, until the server has read the database again.
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
from awello.club.schema import CLUB, writer
from awello.club.stored_games import SaveGame, save_games
from awello.errors import ConfigError, StorageError
from awello.storage.database import lock_exclusively, open_database, write_transaction

AT_ONCE = 256  # acts in one transaction
IDLE = 20.0  # seconds after which a server ends a transaction that is not continued

Done = TypeVar("Done")
Act = Callable[[Connection], Any]
Do = Callable[[Connection, Sequence[Act]], list[Any]]


class ClubTakenOverError(StorageError):
    """Another server has opened the club, and this one may not write any more."""

    def __init__(self) -> None:
        super().__init__("another server has opened this club, and this one stops writing: end one of the two")


class ClubStore:
    """The database of a club: the thread that writes to it, and the same for coroutines."""

    def __init__(self, place: str | Path) -> None:
        self.engine = open_database(place, CLUB)
        self.now: Callable[[], float] = time.time  # the clock of the club
        self.failed_at: float | None = None  # by that clock: when the first act that failed was submitted
        self.failures = 0
        self.waits: deque[float] = deque(maxlen=10_000)  # seconds until acts were written
        self._queue: SimpleQueue[tuple[Act, Future[Any]] | None] = SimpleQueue()
        self._lock: Any = None  # what keeps other servers out
        self._epoch: int | None = None  # of this server; a command has none, and may write beside a server
        self._batch = 0  # the number of the last transaction
        self._turn = threading.Lock()  # held while a batch is written or an epoch begins
        self._writer = threading.Thread(target=self._write_batches, name="club writer", daemon=True)
        self._writer.start()

    def claim(self) -> None:
        """Be the only server of this club until the store is closed; two would overwrite each other's games."""
        self._unlock()  # anew each time: a restarted database has forgotten the lock, and a file may be removed
        self._lock = lock_exclusively(self.engine)
        if self._lock is None:
            raise ConfigError("another server has opened this club: end that one first")
        with self._turn:
            with write_transaction(self.engine, IDLE) as connection:
                epoch, batch = _begin_epoch(connection)
            self._epoch, self._batch = epoch, batch

    def _unlock(self) -> None:
        if self._lock is not None:
            with suppress(Exception):  # a database that is gone has let go by itself
                self._lock.close()
            self._lock = None

    def close(self) -> None:
        """Write what waits, and close the database."""
        self._queue.put(None)
        self._writer.join()
        self._unlock()
        self.engine.dispose()

    # ---- for threads -------------------------------------------------------------------------------------------------
    def submit(self, act: Callable[[Connection], Done]) -> "Future[Done]":
        """Do something in a transaction; the future is done when it has been committed."""
        future: Future[Done] = Future()
        self._queue.put((act, cast("Future[Any]", future)))
        return future

    def read(self, question: Callable[[Connection], Done]) -> Done:
        """Ask the database something."""
        with self.engine.connect() as connection:
            return question(connection)

    # ---- for coroutines ----------------------------------------------------------------------------------------------
    @property
    def failing(self) -> bool:
        """Whether an act could not be written, and the database has not been read again since."""
        return self.failed_at is not None

    def check(self) -> None:
        """Refuse what cannot be written now."""
        if self.failing:
            raise ClubError("storage", "the club cannot write now, and all clocks stand still: try again in a moment")

    async def write(self, act: Callable[[Connection], Done]) -> Done:
        """Write something, or refuse it as a whole."""
        self.check()
        return await self.retry(act)

    async def retry(self, act: Callable[[Connection], Done]) -> Done:
        """Write something, even if an act before it could not be written."""
        begun, submitted = time.monotonic(), self.now()
        try:
            done = await asyncio.wrap_future(self.submit(act))
        except StorageError as error:
            if self.failed_at is None:
                logging.getLogger("awello").error("the club stands still: %s", error)
                self.failed_at = submitted
            self.failures += 1
            self.check()
            raise
        self.waits.append(time.monotonic() - begun)
        return done

    async def fetch(self, question: Callable[[Connection], Done]) -> Done:
        """Ask the database something."""
        try:
            return await asyncio.to_thread(self.read, question)
        except StorageError:
            raise ClubError("storage", "the club cannot read its database now: try again in a moment") from None

    # ---- the thread that writes --------------------------------------------------------------------------------------
    def _write_batches(self) -> None:
        batch: list[tuple[Act, Future[Any]] | None] = []
        while None not in batch:
            batch = [self._queue.get()]
            while len(batch) < AT_ONCE and not self._queue.empty():
                batch.append(self._queue.get())
            wanted = [each for each in batch if each and each[1].set_running_or_notify_cancel()]
            for (_, future), outcome in zip(wanted, self._write_batch([act for act, _ in wanted]), strict=True):
                if isinstance(outcome, Exception):
                    future.set_exception(outcome)
                else:
                    future.set_result(outcome)

    def _write_batch(self, acts: Sequence[Act]) -> list[Any]:
        """The result of each act, or the exception that it raised."""
        try:
            with self._turn:
                return self._try_twice(acts) if acts else []
        except Exception as error:
            return [error] * len(acts)

    def _try_twice(self, acts: Sequence[Act]) -> list[Any]:
        """Write acts in one transaction, twice at most; nothing is repeated that may have been kept."""
        outcomes: list[Any] = []
        try:
            self._try(acts, outcomes, _do_together)
        except Exception as error:
            if len(acts) == 1 and not isinstance(error, StorageError):
                raise  # no other act is in the batch
            if not (outcomes and self._was_kept(error)):
                outcomes = []
                self._try(acts, outcomes, _do_apart)
        return outcomes

    def _try(self, acts: Sequence[Act], outcomes: list[Any], do: Do) -> None:
        """Do all acts in one transaction; when there are outcomes, COMMIT may have been sent."""
        with write_transaction(self.engine, IDLE) as connection:
            if self._epoch is not None:
                self._batch += 1
                mine = update(writer).where(writer.c.epoch == self._epoch).values(batch=self._batch)
                if not connection.execute(mine).rowcount:
                    raise ClubTakenOverError
            outcomes += do(connection, acts)

    def _was_kept(self, error: Exception) -> bool:
        """Whether a transaction was kept though its COMMIT was not answered; raises if that cannot be found out."""
        if self._epoch is None:
            raise error
        with write_transaction(self.engine, IDLE) as connection:  # its lock waits until the database has decided
            row = connection.execute(select(writer)).one()
        if row.batch != self._batch and row.epoch != self._epoch:
            raise ClubTakenOverError
        return bool(row.batch == self._batch)


@contextmanager
def transaction(place: str | Path, write: bool) -> Iterator[Connection]:
    """One transaction of a command, which can write to the database of a club beside a server."""
    engine = open_database(place, CLUB)
    try:
        with write_transaction(engine) if write else engine.connect() as connection:
            yield connection
    finally:
        engine.dispose()


def _do_together(connection: Connection, acts: Sequence[Act]) -> list[Any]:
    """Do acts: games, which are most of them, are saved by one statement."""
    save_games(connection, [act.table for act in acts if isinstance(act, SaveGame)])
    return [act.rate(connection) if isinstance(act, SaveGame) else act(connection) for act in acts]


def _do_apart(connection: Connection, acts: Sequence[Act]) -> list[Any]:
    """Do acts, each after a savepoint; one that fails gives its exception, and what it wrote is rolled back.

    Savepoints nearly double the time of a hundred moves, so they are used only after something has failed.
    """
    outcomes: list[Any] = []
    for act in acts:
        savepoint = connection.begin_nested()
        try:
            result = act(connection)
            savepoint.commit()
        except Exception as error:
            if connection.invalidated:
                raise
            savepoint.rollback()  # which fails if the whole transaction is gone
            result = error
        outcomes.append(result)
    return outcomes


def _begin_epoch(connection: Connection) -> tuple[int, int]:
    """The number of a new epoch, in which no older server can write, and that of the last transaction."""
    if not connection.execute(update(writer).values(epoch=writer.c.epoch + 1)).rowcount:
        connection.execute(insert(writer).values(epoch=1, batch=0))
    row = connection.execute(select(writer)).one()
    return row.epoch, row.batch
