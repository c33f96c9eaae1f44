"""What is stored of one account: its ratings, its last games, and all its games for export."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from awello.club.accounts import Account, get_account
from awello.club.game_state import ABORTED
from awello.club.rating import Rating
from awello.club.schema import accounts, games, rating_changes, ratings
from awello.club.stored_games import game_state_of, record_of
from awello.record import Record

_first, _second = accounts.alias("one"), accounts.alias("other")


def load_profile(connection: Connection, name: str, limit: int, before: int | None = None) -> dict[str, Any]:
    """A player, whose program it is, the ratings, how many games have ended, and the last games."""
    account = get_account(connection, name)
    owner = connection.execute(select(accounts.c.name).where(accounts.c.id == account.owner)).scalar()
    ended = select(func.count()).where(_plays(account.number), games.c.over, games.c.reason != ABORTED)
    return {
        **asdict(account),
        "owner": owner,
        "ratings": load_ratings(connection, account.number),
        "games_played": connection.execute(ended).scalar_one(),
        "recent_games": load_recent_games(connection, account.number, limit, before),
    }


def load_ratings(connection: Connection, account: int) -> list[dict[str, Any]]:
    """What an account is worth in every pool in which it has played, and how its games there ended."""
    found = []
    asked = select(ratings).where(ratings.c.account == account).order_by(ratings.c.pool)
    for row in connection.execute(asked).mappings():
        variant, _, speed = row["pool"].partition(" ")
        found.append({**row, **Rating(row["mean"], row["deviation"]).to_json(), "variant": variant, "speed": speed})
    return found


def load_recent_games(
    connection: Connection, account: int, limit: int, before: int | None = None
) -> list[dict[str, Any]]:
    """The games of an account, the latest first; only those with smaller numbers than `before`."""
    rows = connection.execute(_games(account, limit, before)).all()
    mine = rating_changes.c.game.in_([row.id for row in rows]) if rows else rating_changes.c.game < 0
    changed = {(row.game, row.side): row for row in connection.execute(select(rating_changes).where(mine))}
    found = []
    for row in rows:
        state = game_state_of(row)
        side = state.side_of(account)
        change = changed.get((row.id, side))
        told = {
            "number": row.id,
            "variant": str(state.game),
            "players": (row.first_name, row.second_name),
            "side": side,
        }
        told |= {"seconds": row.base, "increment": row.increment, "rated": row.rated, "started": row.started}
        told |= {"over": state.over, "winner": state.winner if state.over else None, "reason": state.reason}
        told["score"] = state.position.score() if state.over and not state.reason else None
        found.append(told | {"rating_change": round(change.after) - round(change.before) if change else None})
    return found


def load_records(connection: Connection, account: Account, limit: int, before: int | None = None) -> Iterator[Record]:
    """The games of an account that have ended, the latest `limit` of them, in the order in which they began."""
    ended = _games(account.number, limit, before).where(games.c.over, games.c.reason != ABORTED)
    for row in reversed(connection.execute(ended).all()):
        yield record_of(connection, game_state_of(row), (row.first_name, row.second_name))


def _plays(account: int) -> Any:
    return or_(games.c.first == account, games.c.second == account)


def _games(account: int, limit: int, before: int | None) -> Select[Any]:
    """The games of an account with the names of both, the latest first."""
    names = _first.c.name.label("first_name"), _second.c.name.label("second_name")
    joined = select(games, *names).join(_first, _first.c.id == games.c.first)
    joined = joined.join(_second, _second.c.id == games.c.second)
    wanted = joined if before is None else joined.where(games.c.id < before)
    return wanted.where(_plays(account)).order_by(games.c.id.desc()).limit(limit)
