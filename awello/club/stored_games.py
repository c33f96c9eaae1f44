"""Games and ratings of the club as rows of its database, and back; each function is part of one transaction."""

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from awello.club.fair_play import counts
from awello.club.game_state import AGREED, DRAWN, LIMIT, GameState
from awello.club.rating import SURE, Rating, pool_of, rate
from awello.club.schema import accounts, changes, games, pulse, ratings, tournaments
from awello.errors import StorageError
from awello.limits import Clock
from awello.position import Position
from awello.record import Record, replay
from awello.rules.game import Game
from awello.storage.database import next_id

SAVE = update(games).where(games.c.id == bindparam("number"))  # the columns to set come with each execution


@dataclass(frozen=True)
class SaveGame:
    """Write the state of a game; the result is both ratings after it, if it has ended and is rated."""

    table: GameState

    def __call__(self, connection: Connection) -> tuple[Rating, Rating] | None:
        save_games(connection, [self.table])
        return self.rate(connection)

    def rate(self, connection: Connection) -> tuple[Rating, Rating] | None:
        """Count a game that has ended."""
        return _count(connection, self.table) if counts(self.table) else None


# ---- tables ----------------------------------------------------------------------------------------------------------
def add_game(connection: Connection, make: Callable[[int], GameState]) -> GameState:
    """Write a game that begins down; it gets the next number."""
    table = make(next_id(connection, games))
    players = {"first": table.players[0], "second": table.players[1], "tournament": table.tournament}
    control = {"base": table.control.seconds, "increment": table.control.increment, "rated": table.rated}
    values = {"id": table.number, "game": int(table.game), "begun": table.since, "archived": False}
    connection.execute(insert(games).values(**values, **players, **control, **_state(table)))
    return table


def save_games(connection: Connection, tables: Sequence[GameState]) -> None:
    """Write the states of games."""
    if tables:
        connection.execute(SAVE, [{"number": table.number, **_state(table)} for table in tables])


def load_games(connection: Connection) -> list[GameState]:
    """The games that go on."""
    return [game_state_of(row) for row in connection.execute(select(games).where(~games.c.over).order_by(games.c.id))]


def game_state_of(row: Any) -> GameState:
    """The game of a row."""
    game, moves = Game(row.game), tuple(array("b", row.moves))
    legal, position = replay(Position.start(game), moves)
    if legal < len(moves):
        raise StorageError(f"game {row.id} of the club is damaged: its move {legal + 1} is not legal")
    seconds = tuple(array("f", row.seconds))
    state = (row.rated, row.since, (row.first_left, row.second_left), position, moves, seconds)
    control = Clock(row.base, row.increment)
    return GameState(
        row.id, game, (row.first, row.second), control, *state, row.offer, row.loser, row.reason, row.tournament
    )


def record_of(connection: Connection, table: GameState, names: tuple[str, str]) -> Record:
    """A game as archives and files keep it."""
    held = connection.execute(select(tournaments.c.name).where(tournaments.c.id == table.tournament)).scalar()
    moment = time.strftime("%Y-%m-%d", time.gmtime(table.since))
    tags = dict(zip(table.game.sides, names, strict=True))
    tags |= {"Event": held or "Awello club", "Date": moment, "Round": str(table.number)}
    if table.reason in (AGREED, DRAWN, LIMIT):
        tags["Result"] = "1/2-1/2"  # as OGN says it: the board does not
    start = Position.start(table.game)
    return Record(start, table.moves, table.seconds, (), tags, table.loser, table.reason)


def _state(table: GameState) -> dict[str, Any]:
    """What changes of a game's row."""
    clocks = {"since": table.since, "first_left": table.clocks[0], "second_left": table.clocks[1]}
    moves = {"moves": array("b", table.moves).tobytes(), "seconds": array("f", table.seconds).tobytes()}
    ended = {"over": table.over, "loser": table.loser, "reason": table.reason}
    return {**clocks, **moves, **ended, "offer": table.offer}


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


def _count(connection: Connection, table: GameState) -> tuple[Rating, Rating] | None:
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
    return [{**row, **Rating(row["mean"], row["doubt"]).view()} for row in rows.mappings()]


# ---- what else is written --------------------------------------------------------------------------------------------
def save_heartbeat(connection: Connection, moment: float) -> None:
    """Note that the club is open at a moment."""
    if not connection.execute(update(pulse).values(moment=moment)).rowcount:
        connection.execute(insert(pulse).values(moment=moment))


def last_heartbeat(connection: Connection) -> float | None:
    """When the club was last known to be open: by a note of it, or by a clock that began to run."""
    noted = connection.execute(select(pulse.c.moment)).scalar()
    begun = connection.execute(select(func.max(games.c.since)).where(~games.c.over)).scalar()
    return None if noted is None else max(noted, begun or noted)
