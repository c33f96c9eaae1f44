"""Games that have ended go into the archive, each once; those that cannot be written are tried again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from sqlalchemy import Connection, select, update

from awello.club.schema import games
from awello.club.seat import Seat, load_seat
from awello.club.store import ClubStore
from awello.club.stored_games import record_of
from awello.club.table import ABORTED
from awello.errors import AwelloError
from awello.record import Record

PATIENCE = 60.0  # seconds before an archive that could not be written is tried again

Archiver = Callable[[Record], Awaitable[Any]]


class Archiving:
    """What of the club's games still has to be archived."""

    def __init__(self, store: ClubStore) -> None:
        self.store = store
        self._ended = asyncio.Event()

    def wake(self) -> None:
        """A game has ended."""
        self._ended.set()

    async def run(self, archive: Callable[[], Archiver | None]) -> None:
        """Archive games for as long as there is an archive."""
        while write := archive():
            self._ended.clear()
            last = 0
            with suppress(AwelloError):
                while numbers := await self.store.fetch(partial(_list_unarchived, after=last)):
                    for last in numbers:
                        with suppress(AwelloError):  # one that cannot be does not keep the others
                            await self._archive(await self.store.fetch(partial(load_seat, number=last)), write)
            with suppress(TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    await self._ended.wait()

    async def _archive(self, seat: Seat, archive: Archiver) -> None:
        table, names = seat.table, (seat.people[0].name, seat.people[1].name)
        if table.reason != ABORTED and table.moves:
            await archive(await self.store.fetch(partial(record_of, table=table, names=names)))
        done = update(games).where(games.c.id == table.number).values(archived=True)
        await self.store.write(lambda connection: connection.execute(done).rowcount)


def _list_unarchived(connection: Connection, after: int) -> Sequence[int]:
    left = select(games.c.id).where(games.c.over, ~games.c.archived, games.c.id > after)
    return connection.execute(left.order_by(games.c.id).limit(100)).scalars().all()
