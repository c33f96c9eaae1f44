"""What is stored of one account: its ratings, its last games, and all its games for export."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from awello.club.accounts import Account, need_account
from awello.club.game_state import ABORTED
from awello.club.rating import Rating
from awello.club.schema import accounts, changes, games, ratings
from awello.club.stored_games import game_state_of, record_of
from awello.record import Record

_first, _second = accounts.alias("one"), accounts.alias("other")


def load_profile(connection: Connection, name: str, limit: int, before: int | None = None) -> dict[str, Any]:
    """A player, whose program it is, the ratings, how many games have ended, and the last games."""
    account = need_account(connection, name)
    owner = connection.execute(select(accounts.c.name).where(accounts.c.id == account.owner)).scalar()
    ended = select(func.count()).where(_plays(account.number), games.c.over, games.c.reason != ABORTED)
    return {
        **asdict(account),
        "owner": owner,
        "ratings": ratings_of(connection, account.number),
        "games": connection.execute(ended).scalar_one(),
        "last": last_games(connection, account.number, limit, before),
    }


def ratings_of(connection: Connection, account: int) -> list[dict[str, Any]]:
    """What an account is worth in every pool in which it has played, and how its games there ended."""
    found = []
    asked = select(ratings).where(ratings.c.account == account).order_by(ratings.c.pool)
    for row in connection.execute(asked).mappings():
        game, _, speed = row["pool"].partition(" ")
        found.append({**row, **Rating(row["mean"], row["doubt"]).view(), "game": game, "speed": speed})
    return found


def last_games(connection: Connection, account: int, limit: int, before: int | None = None) -> list[dict[str, Any]]:
    """The games of an account, the latest first; only those with smaller numbers than `before`."""
    rows = connection.execute(_games(account, limit, before)).all()
    mine = changes.c.game.in_([row.id for row in rows]) if rows else changes.c.game < 0
    changed = {(row.game, row.side): row for row in connection.execute(select(changes).where(mine))}
    found = []
    for row in rows:
        table = game_state_of(row)
        side = table.side_of(account)
        change = changed.get((row.id, side))
        told = {"number": row.id, "game": str(table.game), "players": (row.first_name, row.second_name), "side": side}
        told |= {"seconds": row.base, "increment": row.increment, "rated": row.rated, "begun": row.begun}
        told |= {"over": table.over, "winner": table.winner if table.over else None, "reason": table.reason}
        told["score"] = table.position.score() if table.over and not table.reason else None
        found.append(told | {"change": round(change.after) - round(change.before) if change else None})
    return found


def records_of(connection: Connection, account: Account, limit: int, before: int | None = None) -> Iterator[Record]:
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
