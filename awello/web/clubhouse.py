"""The club of this server: its books and its hall while the server runs, and who a request comes from."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Depends, Request
from sqlalchemy import Connection

from awello.errors import ArchiveError, ConfigError
from awello.record import Record
from awello.web.archivist import Archivist
from awello.web.door import Refusal
from awello.web.limits import Buckets

if TYPE_CHECKING:
    from awello.club.accounts import Account
    from awello.club.desk import Desk
    from awello.club.hall import Hall

COOKIE = "awello_session"
LOGINS, SIGN_UPS = (10, 1 / 6), (5, 1 / 720)  # of an address or name: at once, and a second
DOWNLOADS = (5, 1 / 30)  # of an address
MOST_CONNECTIONS, MOST_OF_ADDRESS, MOST_OF_ACCOUNT = 2000, 256, 16

Done = TypeVar("Done")


class Clubhouse:
    """A club that is open while the server runs; none if there is no place for its books."""

    def __init__(self, place: str | None, archivist: Archivist) -> None:
        self.place, self.archivist = place, archivist
        self.connections: Counter[str] = Counter()  # by address, by account, and all
        self.logins, self.signups, self.downloads = Buckets(*LOGINS), Buckets(*SIGN_UPS), Buckets(*DOWNLOADS)
        self.writing = asyncio.Lock()  # while a file with somebody's games is written
        self._desk: Desk | None = None
        self._hall: Hall | None = None

    async def open(self) -> None:
        """Open the books, and take up the games that went on."""
        if self.place is None:
            return
        try:
            from awello.club.desk import Desk
            from awello.club.hall import Hall
        except ImportError:
            raise ConfigError("a club needs an extra: pip install 'awello[club]'") from None
        self._desk = await asyncio.to_thread(Desk, self.place)
        self._hall = Hall(self._desk, self._archive if self.archivist.place is not None else None)
        await self._hall.open()

    async def close(self) -> None:
        """Close the hall, then the books."""
        if self._hall and self._desk:
            await self._hall.close()
            await asyncio.to_thread(self._desk.close)

    @property
    def hall(self) -> "Hall":
        """Where games are played."""
        if self._hall is None:
            raise Refusal(404, "noclub", "this server has no club: start it with --club")
        return self._hall

    async def read(self, question: Callable[[Connection], Done]) -> Done:
        """Ask the books something."""
        return await self._kept(asyncio.to_thread(self.hall.desk.read, question))

    async def write(self, act: Callable[[Connection], Done]) -> Done:
        """Write something into the books."""
        return await self._kept(asyncio.wrap_future(self.hall.desk.write(act)))

    async def _kept(self, work: Awaitable[Done]) -> Done:
        try:
            return await work
        except ArchiveError:
            raise Refusal(503, "storage", "the club cannot read or write now: try again in a moment") from None

    async def who(self, headers: Mapping[str, str], cookies: Mapping[str, str]) -> "Account | None":
        """Whose token or session a request carries; a token that is none is refused."""
        from awello.club.accounts import by_session, by_token

        self.hall  # noqa: B018  (refused where there is no club)
        kind, _, token = headers.get("authorization", "").partition(" ")
        if kind:
            found = await self.read(partial(by_token, secret=token)) if kind.lower() == "bearer" else None
            if found is None:
                raise Refusal(401, "token", "this token is not valid: make a new one")
            return found
        if secret := cookies.get(COOKIE):
            return await self.read(partial(by_session, secret=secret))
        return None

    def admit(self, keys: Mapping[str, int]) -> bool:
        """Count a connection under some keys, each with its limit; False if one is exceeded."""
        if any(self.connections[key] >= most for key, most in keys.items()):
            return False
        self.connections.update(keys.keys())
        return True

    def dismiss(self, keys: Mapping[str, int]) -> None:
        """A connection is gone."""
        self.connections.subtract(keys.keys())
        self.connections += Counter()  # those that are zero are forgotten

    async def _archive(self, record: Record) -> None:
        await self.archivist.ask(lambda archive: archive.add(record))


def clubhouse_of(request: Request) -> Clubhouse:
    """The club of the server that got a request."""
    house: Clubhouse = request.app.state.clubhouse
    return house


House = Annotated[Clubhouse, Depends(clubhouse_of)]


def address_of(client: Any) -> str:
    """Where a request or a connection comes from."""
    return client.client.host if client.client else ""
