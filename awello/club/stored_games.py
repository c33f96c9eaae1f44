"""Games and ratings as rows of the club's database; each function runs inside one transaction."""

import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from awello.club.fair_play import affects_ratings
from awello.club.game_state import DRAW_AGREED, DRAW_AT_LIMIT, DRAW_CLAIMED, GameState
from awello.club.rating import MAX_ESTABLISHED_DEVIATION, Rating, compute_ratings_after, pool_of
from awello.club.schema import accounts, games, heartbeat, rating_changes, ratings, tournaments
from awello.errors import StorageError
from awello.limits import Clock
from awello.position import Position
from awello.record import REASON_TEXTS, Record, replay
from awello.rules.game import Game
from awello.storage.database import next_id

UPDATE_GAME = update(games).where(games.c.id == bindparam("number"))  # each execution passes the values to set


@dataclass(frozen=True)
class SaveGame:
    """An operation that saves a game and, if its result affects ratings, updates and returns the players' ratings."""

    state: GameState

    def __call__(self, connection: Connection) -> tuple[Rating, Rating] | None:
        save_games(connection, [self.state])
        return self.rate(connection)

    def rate(self, connection: Connection) -> tuple[Rating, Rating] | None:
        """Update and return the players' ratings; return None if the game affects no ratings or is already rated."""
        return _rate_game(connection, self.state) if affects_ratings(self.state) else None


# ---- games -----------------------------------------------------------------------------------------------------------
def add_game(connection: Connection, make: Callable[[int], GameState]) -> GameState:
    """Insert a new game; `make` receives the next free game number and creates the game's state."""
    state = make(next_id(connection, games))
    players = {"first": state.players[0], "second": state.players[1], "tournament": state.tournament}
    control = {"clock": state.control.seconds, "increment": state.control.increment, "rated": state.rated}
    values = {"id": state.number, "variant": int(state.game), "started": state.turn_started, "archived": False}
    connection.execute(insert(games).values(**values, **players, **control, **_changing_columns(state)))
    return state


def save_games(connection: Connection, states: Sequence[GameState]) -> None:
    """Write the given states to the rows of their games."""
    if states:
        connection.execute(UPDATE_GAME, [{"number": state.number, **_changing_columns(state)} for state in states])


def load_live_games(connection: Connection) -> list[GameState]:
    """Load the games in progress."""
    live = select(games).where(~games.c.over).order_by(games.c.id)
    return [row_to_game_state(row) for row in connection.execute(live)]


def row_to_game_state(row: Any) -> GameState:
    """Convert a row to a game state; raise `StorageError` if a move is not legal."""
    game, moves = Game(row.variant), tuple(array("b", row.moves))
    legal, position = replay(Position.start(game), moves)
    if legal < len(moves):
        message = f"game {row.id} of the club is damaged: move {legal + 1} is not legal"
        raise StorageError(f"{message}; restore the club's database from a backup")
    seconds = tuple(array("f", row.move_seconds))
    state = (row.rated, row.turn_started, (row.first_clock, row.second_clock), position, moves, seconds)
    control = Clock(row.clock, row.increment)
    return GameState(
        row.id, game, (row.first, row.second), control, *state, row.draw_offer, row.loser, row.reason, row.tournament
    )


def load_record(connection: Connection, state: GameState, names: tuple[str, str]) -> Record:
    """Convert a game state to a record with the name of its tournament, for the archive or an exported file."""
    tournament = connection.execute(select(tournaments.c.name).where(tournaments.c.id == state.tournament)).scalar()
    date = time.strftime("%Y-%m-%d", time.gmtime(state.turn_started))
    tags = dict(zip(state.game.sides, names, strict=True))
    tags |= {"Event": tournament or "Awello club", "Date": date, "Round": str(state.number)}
    if state.reason in (DRAW_AGREED, DRAW_CLAIMED, DRAW_AT_LIMIT):
        tags["Result"] = "1/2-1/2"  # needed in OGN, since the result does not follow from the board
    start = Position.start(state.game)
    reason = REASON_TEXTS[state.reason] if state.reason else ""
    return Record(start, state.moves, state.seconds, (), tags, state.loser, reason)


def _changing_columns(state: GameState) -> dict[str, Any]:
    """Return the values of the columns that change during a game."""
    clocks = {"turn_started": state.turn_started, "first_clock": state.clocks[0], "second_clock": state.clocks[1]}
    moves = {"moves": array("b", state.moves).tobytes(), "move_seconds": array("f", state.seconds).tobytes()}
    ended = {"over": state.over, "loser": state.loser, "reason": state.reason}
    return {**clocks, **moves, **ended, "draw_offer": state.draw_offer}


# ---- ratings ---------------------------------------------------------------------------------------------------------
def load_rating(connection: Connection, account: int, pool: str) -> Rating:
    """Load the rating of an account in a pool; return the initial rating if the account has no rated game there."""
    query = select(ratings.c.mean, ratings.c.deviation).where(ratings.c.account == account, ratings.c.pool == pool)
    row = connection.execute(query).first()
    return Rating(row.mean, row.deviation) if row else Rating()


def load_rating_changes(connection: Connection, game: int) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """Load each side's rating before and after a game; None if the game did not change ratings."""
    query = (
        select(rating_changes.c.before, rating_changes.c.after)
        .where(rating_changes.c.game == game)
        .order_by(rating_changes.c.side)
    )
    rows = connection.execute(query).all()
    return ((rows[0].before, rows[0].after), (rows[1].before, rows[1].after)) if len(rows) == 2 else None


def _rate_game(connection: Connection, state: GameState) -> tuple[Rating, Rating] | None:
    """Update and return the players' ratings after a game; return None if the game has already been rated."""
    if load_rating_changes(connection, state.number):
        return None
    pool = pool_of(state.game, state.control)
    before = [load_rating(connection, account, pool) for account in state.players]
    after = compute_ratings_after(before[0], before[1], state.winner)
    for side, account in enumerate(state.players):
        result = "draws" if state.winner is None else "wins" if state.winner == side else "losses"
        values = {"mean": after[side].mean, "deviation": after[side].deviation}
        mine = ratings.c.account == account, ratings.c.pool == pool
        counted = update(ratings).where(*mine).values(**values, **{result: ratings.c[result] + 1})
        if not connection.execute(counted).rowcount:
            tally = {"wins": 0, "draws": 0, "losses": 0} | {result: 1}
            connection.execute(insert(ratings).values(account=account, pool=pool, **values, **tally))
        was = {"game": state.number, "side": side, "before": before[side].mean, "after": after[side].mean}
        connection.execute(insert(rating_changes).values(**was))
    return after


def load_leaderboard(connection: Connection, pool: str, count: int) -> list[dict[str, Any]]:
    """Load the `count` highest established ratings of a pool, highest first."""
    joined = select(ratings, accounts.c.name, accounts.c.bot).join(accounts, accounts.c.id == ratings.c.account)
    query = joined.where(ratings.c.pool == pool, ratings.c.deviation <= MAX_ESTABLISHED_DEVIATION, ~accounts.c.closed)
    rows = connection.execute(query.order_by(ratings.c.mean.desc(), ratings.c.deviation).limit(count))
    return [{**row, **Rating(row["mean"], row["deviation"]).to_json()} for row in rows.mappings()]


# ---- heartbeat -------------------------------------------------------------------------------------------------------
def save_heartbeat(connection: Connection, now: float) -> None:
    """Store the time at which the club was last known to be open."""
    if not connection.execute(update(heartbeat).values(time=now)).rowcount:
        connection.execute(insert(heartbeat).values(time=now))


def load_heartbeat(connection: Connection) -> float | None:
    """Return when the club was last known to be open, or None if it has no heartbeat.

    The time is the later of the last heartbeat and the latest start of a turn in a live game.
    """
    recorded = connection.execute(select(heartbeat.c.time)).scalar()
    started = connection.execute(select(func.max(games.c.turn_started)).where(~games.c.over)).scalar()
    return None if recorded is None else max(recorded, started or recorded)
