"""The club's books: whatever happens at the tables is written down here before anybody is told.

One thread writes.  What is handed in while it writes waits and is then written together, in one transaction, so that
many games share the cost of reaching the disk.

The row of the table `writer` holds the epoch of the server that opened the club last and the number of its last
transaction.  Every transaction of a server begins by writing its number there.  If another server has opened the club
since, the epoch differs and the transaction is refused.  If the connection is lost during COMMIT, the number tells
whether the transaction was kept.
"""

import threading
import time
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

from sqlalchemy import Connection, bindparam, func, insert, select, update

from awello.archive.database import connect, lock_beside, lock_within, writing
from awello.club.fair_play import counts
from awello.club.rating import SURE, Rating, pool_of, rate
from awello.club.schema import CLUB, accounts, audit, changes, games, pulse, ratings, tournaments, writer
from awello.club.table import AGREED, DRAWN, LIMIT, Table
from awello.errors import ArchiveError, ConfigError
from awello.limits import Clock
from awello.position import Position
from awello.record import Record, replay
from awello.rules.game import Game

AT_ONCE = 256  # acts in one transaction
SAVE = update(games).where(games.c.id == bindparam("number"))  # the columns to set come with each execution
IDLE = 20.0  # seconds after which a server ends a transaction that is not continued

Done = TypeVar("Done")
Act = Callable[[Connection], Any]


class Displaced(ArchiveError):
    """Another server has opened the club, and this one may not write any more."""

    def __init__(self) -> None:
        super().__init__("another server has opened this club, and this one stops writing: end one of the two")


@dataclass
class Batch:
    """Acts that are written in one transaction."""

    acts: Sequence[tuple[Act, "Future[Any]"]]
    number: int = 0
    outcomes: list[Any] = field(default_factory=list)
    """The result of each act, or the exception that it raised."""
    complete: bool = False
    """Whether all acts have been done, so that COMMIT may have been sent."""

    def answer(self) -> None:
        """Pass the outcomes on to those who wait for them."""
        for (_, future), outcome in zip(self.acts, self.outcomes, strict=True):
            if isinstance(outcome, Exception):
                future.set_exception(outcome)
            else:
                future.set_result(outcome)


class Desk:
    """The database of the club and the thread that writes to it."""

    def __init__(self, place: str | Path) -> None:
        self.engine = connect(place, CLUB)
        self._waiting: SimpleQueue[tuple[Act, Future[Any]] | None] = SimpleQueue()
        self._claim: Any = None  # what keeps other servers out
        self._epoch: int | None = None  # of this server; a command has none, and may write beside a server
        self._batch = 0  # the number of the last transaction
        self._turn = threading.Lock()  # held while a batch is written or an epoch begins
        self._writer = threading.Thread(target=self._write, name="desk", daemon=True)
        self._writer.start()

    def claim(self) -> None:
        """Be the only server on these books, until they are closed; two would write over each other's games."""
        self._let_go()  # anew each time: a server that was lost has forgotten who held it, and a file may be removed
        on_file = self.engine.dialect.name == "sqlite"
        self._claim = lock_beside(str(self.engine.url.database)) if on_file else lock_within(self.engine)
        if self._claim is None:
            raise ConfigError("another server has opened this club: end that one first")
        with self._turn:
            with writing(self.engine, IDLE) as connection:
                epoch, batch = _begin_epoch(connection)
            self._epoch, self._batch = epoch, batch

    def _let_go(self) -> None:
        if self._claim is not None:
            with suppress(Exception):  # a database that is gone has let go by itself
                self._claim.close()
            self._claim = None

    def write(self, act: Callable[[Connection], Done]) -> "Future[Done]":
        """Do something in a transaction; the future is done when it has been kept."""
        future: Future[Done] = Future()
        self._waiting.put((act, cast("Future[Any]", future)))
        return future

    def read(self, question: Callable[[Connection], Done]) -> Done:
        """Ask the database something."""
        with self.engine.connect() as connection:
            return question(connection)

    def close(self) -> None:
        """Write what waits, and let go of the database."""
        self._waiting.put(None)
        self._writer.join()
        self._let_go()
        self.engine.dispose()

    def _write(self) -> None:
        while (first := self._waiting.get()) is not None:
            acts, ends = [first], False
            while len(acts) < AT_ONCE and not ends:
                try:
                    if (another := self._waiting.get_nowait()) is None:
                        ends = True
                    else:
                        acts.append(another)
                except Empty:
                    break
            if wanted := [act for act in acts if act[1].set_running_or_notify_cancel()]:
                self._keep(Batch(wanted))
            if ends:
                return

    def _keep(self, batch: Batch) -> None:
        """Write a batch in one transaction, twice at most; nothing is repeated that may have been kept."""
        try:
            with self._turn:
                self._write_batch(batch)
        except Exception as error:
            batch.outcomes = [error] * len(batch.acts)
        batch.answer()

    def _write_batch(self, batch: Batch) -> None:
        try:
            self._attempt(batch)
        except Exception as error:
            if len(batch.acts) == 1 and not isinstance(error, ArchiveError):
                raise  # no other act is in the batch
            if not (batch.complete and self._was_kept(batch, error)):
                self._attempt(batch, apart=True)

    def _attempt(self, batch: Batch, apart: bool = False) -> None:
        """Do all acts in one transaction; `apart` puts a savepoint before each, so that one can fail alone.

        Savepoints nearly double the time of a hundred moves, so they are used only after something has failed.
        """
        batch.complete = False
        with writing(self.engine, IDLE) as connection:
            if self._epoch is not None:
                self._batch = batch.number = self._batch + 1
                mine = update(writer).where(writer.c.epoch == self._epoch).values(batch=batch.number)
                if not connection.execute(mine).rowcount:
                    raise Displaced
            do = _do_apart if apart else _do_together
            batch.outcomes = do(connection, [act for act, _ in batch.acts])
            batch.complete = True

    def _was_kept(self, batch: Batch, error: Exception) -> bool:
        """Whether a transaction was kept though its COMMIT was not answered; raises if that cannot be found out."""
        if self._epoch is None:
            raise error
        with writing(self.engine, IDLE) as connection:  # its lock waits until the database has decided
            row = connection.execute(select(writer)).one()
        if row.batch != batch.number and row.epoch != self._epoch:
            raise Displaced
        return bool(row.batch == batch.number)


@dataclass(frozen=True)
class SaveGame:
    """Write the state of a game; the result is both ratings after it, if it has ended and is rated."""

    table: Table

    def __call__(self, connection: Connection) -> tuple[Rating, Rating] | None:
        save_tables(connection, [self.table])
        return self.rate(connection)

    def rate(self, connection: Connection) -> tuple[Rating, Rating] | None:
        """Count a game that has ended."""
        return _count(connection, self.table) if counts(self.table) else None


def _do_together(connection: Connection, acts: Sequence[Act]) -> list[Any]:
    """Do acts: games, which are most of them, are saved by one statement."""
    save_tables(connection, [act.table for act in acts if isinstance(act, SaveGame)])
    return [act.rate(connection) if isinstance(act, SaveGame) else act(connection) for act in acts]


def _do_apart(connection: Connection, acts: Sequence[Act]) -> list[Any]:
    """Do acts, each after a savepoint; one that fails gives its exception, and what it wrote is taken back."""
    return [_do_after_savepoint(connection, act) for act in acts]


def _do_after_savepoint(connection: Connection, act: Act) -> Any:
    savepoint = connection.begin_nested()
    try:
        result = act(connection)
        savepoint.commit()
        return result
    except Exception as error:
        if connection.invalidated:
            raise
        savepoint.rollback()  # which fails if the whole transaction is gone
        return error


def _begin_epoch(connection: Connection) -> tuple[int, int]:
    """The number of a new epoch, in which no older server can write, and that of the last transaction."""
    if not connection.execute(update(writer).values(epoch=writer.c.epoch + 1)).rowcount:
        connection.execute(insert(writer).values(epoch=1, batch=0))
    row = connection.execute(select(writer)).one()
    return row.epoch, row.batch


# ---- tables ----------------------------------------------------------------------------------------------------------
def add_table(connection: Connection, make: Callable[[int], Table]) -> Table:
    """Write a game that begins down; it gets the next number."""
    last: int = connection.execute(select(func.coalesce(func.max(games.c.id), 0))).scalar_one()
    table = make(last + 1)
    values: dict[str, Any] = {
        "id": table.number,
        "game": int(table.game),
        "first": table.players[0],
        "second": table.players[1],
        "begun": table.since,
        "archived": False,
        "tournament": table.tournament,
    }
    values |= {"base": table.control.seconds, "increment": table.control.increment, "rated": table.rated}
    connection.execute(insert(games).values(**values, **_state(table)))
    return table


def save_tables(connection: Connection, tables: Sequence[Table]) -> None:
    """Write the states of games."""
    if tables:
        connection.execute(SAVE, [{"number": table.number, **_state(table)} for table in tables])


def load_tables(connection: Connection) -> list[Table]:
    """The games that go on."""
    return [table_of(row) for row in connection.execute(select(games).where(~games.c.over).order_by(games.c.id))]


def table_of(row: Any) -> Table:
    """The game of a row."""
    game, moves = Game(row.game), tuple(array("b", row.moves))
    legal, position = replay(Position.start(game), moves)
    if legal < len(moves):
        raise ArchiveError(f"game {row.id} of the club is damaged: its move {legal + 1} is not legal")
    seconds = tuple(array("f", row.seconds))
    state = (row.rated, row.since, (row.first_left, row.second_left), position, moves, seconds)
    control = Clock(row.base, row.increment)
    return Table(
        row.id, game, (row.first, row.second), control, *state, row.offer, row.loser, row.reason, row.tournament
    )


def record_of(connection: Connection, table: Table, names: tuple[str, str]) -> Record:
    """A game as archives and files keep it."""
    held = connection.execute(select(tournaments.c.name).where(tournaments.c.id == table.tournament)).scalar()
    moment = time.strftime("%Y-%m-%d", time.gmtime(table.since))
    drawn = table.reason in (AGREED, DRAWN, LIMIT)
    tags = {"Result": "1/2-1/2"} if drawn else {}  # as OGN says it: the board does not
    return table.record(names, Event=held or "Awello club", Date=moment, Round=str(table.number), **tags)


def _state(table: Table) -> dict[str, Any]:
    """What changes of a game's row."""
    return {
        "since": table.since,
        "first_left": table.clocks[0],
        "second_left": table.clocks[1],
        "moves": array("b", table.moves).tobytes(),
        "seconds": array("f", table.seconds).tobytes(),
        "offer": table.offer,
        "over": table.over,
        "loser": table.loser,
        "reason": table.reason,
    }


# ---- ratings ---------------------------------------------------------------------------------------------------------
def rating_of(connection: Connection, account: int, pool: str) -> Rating:
    """What an account is worth."""
    asked = select(ratings.c.mean, ratings.c.doubt).where(ratings.c.account == account, ratings.c.pool == pool)
    row = connection.execute(asked).first()
    return Rating(row.mean, row.doubt) if row else Rating()


def changed_by(connection: Connection, game: int) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """The ratings of both sides before and after a game; None if it does not count."""
    asked = select(changes.c.before, changes.c.after).where(changes.c.game == game).order_by(changes.c.side)
    rows = connection.execute(asked).all()
    return ((rows[0].before, rows[0].after), (rows[1].before, rows[1].after)) if len(rows) == 2 else None


def _count(connection: Connection, table: Table) -> tuple[Rating, Rating] | None:
    """Let a game that has ended count, once; both ratings after it."""
    if changed_by(connection, table.number):
        return None
    pool = pool_of(table.game, table.control)
    before = [rating_of(connection, account, pool) for account in table.players]
    after = rate(before[0], before[1], table.winner)
    for side, account in enumerate(table.players):
        result = "draws" if table.winner is None else "wins" if table.winner == side else "losses"
        values = {"mean": after[side].mean, "doubt": after[side].doubt}
        mine = ratings.c.account == account, ratings.c.pool == pool
        counted = update(ratings).where(*mine).values(**values, **{result: ratings.c[result] + 1})
        if not connection.execute(counted).rowcount:
            tally = {"wins": 0, "draws": 0, "losses": 0} | {result: 1}
            connection.execute(insert(ratings).values(account=account, pool=pool, **values, **tally))
        was = {"game": table.number, "side": side, "before": before[side].mean, "after": after[side].mean}
        connection.execute(insert(changes).values(**was))
    return after


def ladder(connection: Connection, pool: str, count: int) -> list[dict[str, Any]]:
    """The best of a pool, by their ratings; provisional ratings are left out."""
    joined = select(ratings, accounts.c.name, accounts.c.program).join(accounts, accounts.c.id == ratings.c.account)
    asked = joined.where(ratings.c.pool == pool, ratings.c.doubt <= SURE, ~accounts.c.closed)
    rows = connection.execute(asked.order_by(ratings.c.mean.desc(), ratings.c.doubt).limit(count))
    return [dict(row._mapping) for row in rows]


# ---- what else is written --------------------------------------------------------------------------------------------
def note(connection: Connection, what: str, address: str = "", account: int | None = None) -> None:
    """Write into the audit log."""
    connection.execute(insert(audit).values(moment=time.time(), account=account, address=address, what=what))


def beat(connection: Connection, moment: float) -> None:
    """Note that the club is open at a moment."""
    if not connection.execute(update(pulse).values(moment=moment)).rowcount:
        connection.execute(insert(pulse).values(moment=moment))


def last_beat(connection: Connection) -> float | None:
    """When the club was last known to be open: by a note of it, or by a clock that began to run."""
    noted = connection.execute(select(pulse.c.moment)).scalar()
    begun = connection.execute(select(func.max(games.c.since)).where(~games.c.over)).scalar()
    return None if noted is None else max(noted, begun or noted)
