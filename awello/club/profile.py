"""The profile of an account: ratings, recent games, and games for export."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from sqlalchemy import Connection, Select, func, or_, select

from awello.club.accounts import Account, get_account
from awello.club.game_state import ABORTED
from awello.club.rating import Rating
from awello.club.schema import accounts, games, rating_changes, ratings
from awello.club.stored_games import load_record, row_to_game_state
from awello.record import Record

_first, _second = accounts.alias("one"), accounts.alias("other")


def load_profile(connection: Connection, name: str, last: int, before: int | None = None) -> dict[str, Any]:
    """Load a player's profile: owner, ratings, number of games played, and recent games."""
    account = get_account(connection, name)
    owner = connection.execute(select(accounts.c.name).where(accounts.c.id == account.owner)).scalar()
    ended = select(func.count()).where(_plays(account.id), games.c.over, games.c.reason != ABORTED)
    return {
        **asdict(account),
        "owner": owner,
        "ratings": load_ratings(connection, account.id),
        "games_played": connection.execute(ended).scalar_one(),
        "recent_games": load_recent_games(connection, account.id, last, before),
    }


def load_ratings(connection: Connection, account: int) -> list[dict[str, Any]]:
    """Load all ratings of an account, one per rating pool, with the wins, draws and losses in each pool."""
    entries = []
    query = select(ratings).where(ratings.c.account == account).order_by(ratings.c.pool)
    for row in connection.execute(query).mappings():
        variant, _, speed = row["pool"].partition(" ")
        entries.append({**row, **Rating(row["mean"], row["deviation"]).to_json(), "variant": variant, "speed": speed})
    return entries


def load_recent_games(
    connection: Connection, account: int, last: int, before: int | None = None
) -> list[dict[str, Any]]:
    """Load the latest `last` games of an account, latest first; with `before`, only games with a lower number."""
    rows = connection.execute(_games(account, last, before)).all()
    mine = rating_changes.c.game.in_([row.id for row in rows]) if rows else rating_changes.c.game < 0
    changed = {(row.game, row.side): row for row in connection.execute(select(rating_changes).where(mine))}
    entries = []
    for row in rows:
        state = row_to_game_state(row)
        side = state.side_of(account)
        change = changed.get((row.id, side))
        entry = {
            "number": row.id,
            "variant": str(state.game),
            "players": (row.first_name, row.second_name),
            "side": side,
        }
        entry |= {"seconds": row.clock, "increment": row.increment, "rated": row.rated, "started": row.started}
        entry |= {"over": state.over, "winner": state.winner if state.over else None, "reason": state.reason}
        entry["score"] = state.position.score() if state.over and not state.reason else None
        entries.append(entry | {"rating_change": round(change.after) - round(change.before) if change else None})
    return entries


def load_records(connection: Connection, account: Account, last: int, before: int | None = None) -> Iterator[Record]:
    """Yield the latest `last` ended games of an account, oldest first; with `before`, only games with a lower number.

    Aborted games are left out.
    """
    ended = _games(account.id, last, before).where(games.c.over, games.c.reason != ABORTED)
    for row in reversed(connection.execute(ended).all()):
        yield load_record(connection, row_to_game_state(row), (row.first_name, row.second_name))


def _plays(account: int) -> Any:
    return or_(games.c.first == account, games.c.second == account)


def _games(account: int, last: int, before: int | None) -> Select[Any]:
    """Select the latest `last` games of an account, latest first, with the names of both players."""
    names = _first.c.name.label("first_name"), _second.c.name.label("second_name")
    joined = select(games, *names).join(_first, _first.c.id == games.c.first)
    joined = joined.join(_second, _second.c.id == games.c.second)
    query = joined if before is None else joined.where(games.c.id < before)
    return query.where(_plays(account)).order_by(games.c.id.desc()).limit(last)
