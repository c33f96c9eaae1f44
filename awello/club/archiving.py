"""Archiving: each finished game is added to the archive once, and failures are retried.

Aborted games and games without moves are left out.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from sqlalchemy import Connection, select, update

from awello.club.game_state import ABORTED
from awello.club.live_game import load_game
from awello.club.schema import games
from awello.club.store import ClubStore
from awello.club.stored_games import load_record
from awello.errors import AwelloError
from awello.record import Record

ARCHIVE_RETRY_SECONDS = 60.0  # seconds before another attempt after a failure

Archiver = Callable[[Record], Awaitable[Any]]


async def archive_games(
    store: ClubStore, game_ended: asyncio.Event, get_archiver: Callable[[], Archiver | None]
) -> None:
    """Archive finished games with the function that `get_archiver` returns, until `get_archiver` returns None.

    `game_ended` signals that another game has ended.
    """
    while archive := get_archiver():
        game_ended.clear()
        last = 0
        with suppress(AwelloError):
            while numbers := await store.read(partial(_list_unarchived, after=last)):
                for last in numbers:
                    with suppress(AwelloError):  # a failure does not block the other games
                        await _archive(store, last, archive)
        with suppress(TimeoutError):
            async with asyncio.timeout(ARCHIVE_RETRY_SECONDS):
                await game_ended.wait()


async def _archive(store: ClubStore, number: int, archive: Archiver) -> None:
    live_game = await store.read(partial(load_game, number=number))
    state, names = live_game.state, (live_game.accounts[0].name, live_game.accounts[1].name)
    if state.reason != ABORTED and state.moves:
        await archive(await store.read(partial(load_record, state=state, names=names)))
    done = update(games).where(games.c.id == number).values(archived=True)
    await store.write(lambda connection: connection.execute(done).rowcount)


def _list_unarchived(connection: Connection, after: int) -> Sequence[int]:
    left = select(games.c.id).where(games.c.over, ~games.c.archived, games.c.id > after)
    return connection.execute(left.order_by(games.c.id).limit(100)).scalars().all()
