"""The club's books: whatever happens at the tables is written down here before anybody is told.

One thread writes.  What is handed in while it writes waits and is then written together, in one transaction, so that
many games share the cost of reaching the disk.
"""

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar, cast

import numpy as np
from sqlalchemy import Connection, func, insert, select, update

from awello.archive.database import connect, lock_beside, lock_within, writing
from awello.club.rating import Rating, pool_of, rate
from awello.club.schema import CLUB, accounts, audit, changes, games, pulse, ratings, tournaments
from awello.club.table import ABORTED, AGREED, Table
from awello.errors import ConfigError
from awello.limits import Clock
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

AT_ONCE = 256  # acts in one transaction

Done = TypeVar("Done")
Act = Callable[[Connection], Any]


class Desk:
    """The database of the club and the thread that writes to it."""

    def __init__(self, place: str | Path) -> None:
        self.engine = connect(place, CLUB)
        self._waiting: SimpleQueue[tuple[Act, Future[Any]] | None] = SimpleQueue()
        self._claim: Any = None  # what keeps other servers out
        self._writer = threading.Thread(target=self._write, name="desk", daemon=True)
        self._writer.start()

    def claim(self) -> None:
        """Be the only server on these books, until they are closed; two would write over each other's games."""
        if self.engine.dialect.name == "sqlite":
            self._claim = self._claim or lock_beside(str(self.engine.url.database))
        else:  # anew each time: a server that was lost has forgotten who held it
            self._let_go()
            self._claim = lock_within(self.engine)
        if self._claim is None:
            raise ConfigError("another server has opened this club: end that one first")

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
            self._keep([act for act in acts if act[1].set_running_or_notify_cancel()])
            if ends:
                return

    def _keep(self, acts: Sequence[tuple[Act, "Future[Any]"]]) -> None:
        """Write acts together; if that fails, each on its own, so that only those fail that must."""
        try:
            with writing(self.engine) as connection:  # nothing happens in it if all were called off
                results = [act(connection) for act, _ in acts]
        except Exception as error:
            if len(acts) == 1:
                acts[0][1].set_exception(error)
            else:
                for act in acts:
                    self._keep([act])
            return
        for (_, future), result in zip(acts, results, strict=True):
            future.set_result(result)


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


def save_table(connection: Connection, table: Table) -> tuple[Rating, Rating] | None:
    """Write down how a game stands; both ratings after it, if it has ended and counts."""
    connection.execute(update(games).where(games.c.id == table.number).values(**_state(table)))
    return _count(connection, table) if table.over and table.reason != ABORTED else None


def load_tables(connection: Connection) -> list[Table]:
    """The games that go on."""
    return [table_of(row) for row in connection.execute(select(games).where(~games.c.over).order_by(games.c.id))]


def table_of(row: Any) -> Table:
    """The game of a row."""
    game, moves = Game(row.game), tuple(np.frombuffer(row.moves, np.int8).tolist())
    position = Position.start(game)
    for move in moves:
        position = position.after(move)
    seconds = tuple(np.frombuffer(row.seconds, np.float32).tolist())
    state = (row.rated, row.since, (row.first_left, row.second_left), position, moves, seconds)
    control = Clock(row.base, row.increment)
    return Table(
        row.id, game, (row.first, row.second), control, *state, row.offer, row.loser, row.reason, row.tournament
    )


def record_of(connection: Connection, table: Table, names: tuple[str, str]) -> Record:
    """A game as archives and files keep it."""
    held = connection.execute(select(tournaments.c.name).where(tournaments.c.id == table.tournament)).scalar()
    moment = time.strftime("%Y-%m-%d", time.gmtime(table.since))
    tags = {"Result": "1/2-1/2"} if table.reason == AGREED else {}  # as OGN says it: the board does not
    return table.record(names, Event=held or "Awello club", Date=moment, Round=str(table.number), **tags)


def _state(table: Table) -> dict[str, Any]:
    """What changes of a game's row."""
    return {
        "since": table.since,
        "first_left": table.clocks[0],
        "second_left": table.clocks[1],
        "moves": np.array(table.moves, np.int8).tobytes(),
        "seconds": np.array(table.seconds, np.float32).tobytes(),
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
    if not table.rated or changed_by(connection, table.number):
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
    """The best of a pool, as they are called; those who are sure first among equals."""
    joined = select(ratings, accounts.c.name, accounts.c.program).join(accounts, accounts.c.id == ratings.c.account)
    asked = joined.where(ratings.c.pool == pool, ~accounts.c.closed)
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
