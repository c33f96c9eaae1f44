"""The club of this server: its books and its hall while the server runs, and who a request comes from."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Annotated, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import Depends, Request
from sqlalchemy import Connection

from awello.errors import ConfigError, StorageError
from awello.record import Record
from awello.web.archive_service import DOWNLOAD_LIMIT, ArchiveService
from awello.web.errors import ApiError
from awello.web.logins import LoginLimits
from awello.web.rate_limits import ConcurrencyLimit, RateLimits

EXTRA_MISSING: ConfigError | None = None
try:
    from awello.club.accounts import Account, by_session, by_token, valid_secrets
    from awello.club.server import ClubServer
    from awello.club.store import ClubStore
except ConfigError as error:  # a server without a club does not need the extra
    EXTRA_MISSING = error

NO_CLUB = "this server has no club: start it with --club"
COOKIE = "awello_session"
SIGN_UPS = (5, 1 / 720)  # of an address: at once, and a second
HASHES = 1  # at once
MEMBER = (200, 60)  # messages of an account: at once, and a second
ARRIVALS = (128, 5)  # connections of an address: at once, and a second
LOOK = 5.0  # seconds between two looks whether those who are here may still be

Done = TypeVar("Done")


class ClubService:
    """A club that is open while the server runs; none if there is no place for its books."""

    def __init__(self, place: str | None, archive_service: ArchiveService) -> None:
        self.place, self.archive_service = place, archive_service
        self.connections = ConcurrencyLimit()  # by address, by account, those who only watch, and all
        self.attending: dict[bytes, set[Callable[[str], None]]] = {}  # how to end connections, by what let them in
        self.logins, self.signups, self.downloads = LoginLimits(), RateLimits(*SIGN_UPS), RateLimits(*DOWNLOAD_LIMIT)
        self.arrivals, self.messages = RateLimits(*ARRIVALS), RateLimits(*MEMBER)
        self.writing = asyncio.Lock()  # while a file with somebody's games is written
        self._hashing = CapacityLimiter(HASHES)  # few at once, because each takes much memory and time
        self._looking: asyncio.Task[None] | None = None
        self._hall: ClubServer | None = None

    async def open(self) -> None:
        """Open the books, and take up the games that went on."""
        if self.place is None:
            return
        if EXTRA_MISSING:
            raise EXTRA_MISSING
        store = await asyncio.to_thread(ClubStore, self.place)
        self._hall = ClubServer(store, self._archive if self.archive_service.location is not None else None)
        await self._hall.open()
        self._looking = asyncio.create_task(self._look_at_secrets())

    async def close(self) -> None:
        """Close the hall, then the books."""
        if self._looking:
            self._looking.cancel()
        if self._hall:
            await self._hall.close()
            await asyncio.to_thread(self._hall.store.close)

    @property
    def hall(self) -> "ClubServer":
        """Where games are played."""
        if self._hall is None:
            raise ApiError(404, "no_club", NO_CLUB)
        return self._hall

    def refuse_analysis(self, record: Record, whole: bool = False) -> None:
        """Refuse to analyse the last position of a game, or all of them, if a rated game in progress is there."""
        if self._hall is None:
            return
        rated = self._hall.rated_positions
        if rated.meets(record) if whole else record.final in rated:
            raise ApiError(403, "rated_game", "analysis is off for positions of rated games in progress")

    async def read(self, question: Callable[[Connection], Done]) -> Done:
        """Ask the books something."""
        return await self._kept(asyncio.to_thread(self.hall.store.read, question))

    async def write(self, act: Callable[[Connection], Done]) -> Done:
        """Write something into the books."""
        return await self._kept(asyncio.wrap_future(self.hall.store.submit(act)))

    async def _kept(self, work: Awaitable[Done]) -> Done:
        try:
            return await work
        except StorageError:
            raise ApiError(503, "storage", "the club's database is not available: try again in a moment") from None

    async def who(self, headers: Mapping[str, str], cookies: Mapping[str, str]) -> "Account | None":
        """Whose token or session a request carries; a token that is none is refused."""
        self.hall  # noqa: B018  (refused where there is no club)
        secret, is_token = secret_of(headers, cookies)
        if not secret and not is_token:
            return None
        found = await self.read(partial(by_token if is_token else by_session, secret=secret))
        if is_token and found is None:
            raise ApiError(401, "invalid_token", "the token is not valid: create a new one")
        return found

    async def hash(self, work: Callable[..., Done], *words: str | None) -> Done:
        """Hash a password or compare it."""
        return await to_thread.run_sync(partial(work, *words), limiter=self._hashing)

    async def _look_at_secrets(self) -> None:
        """End connections whose session has ended, whose token was revoked or whose account was closed."""
        while True:
            await asyncio.sleep(LOOK)
            digests = list(self.attending)
            for some in (digests[at : at + 500] for at in range(0, len(digests), 500)):
                try:
                    valid = await self.read(partial(valid_secrets, digests=some))
                except Exception as error:  # at the next look, whatever it was: nobody may stay for ever
                    if not isinstance(error, ApiError):
                        logging.getLogger("awello").exception("sessions could not be looked at")
                    continue
                for digest in set(some) - valid:
                    for end in self.attending.pop(digest, ()):
                        end("your session has ended, or your token was revoked: log in again")

    async def _archive(self, record: Record) -> None:
        try:
            await self.archive_service.run(lambda archive: archive.add(record))
        except ApiError as refusal:
            raise StorageError(refusal.detail) from None


def secret_of(headers: Mapping[str, str], cookies: Mapping[str, str]) -> tuple[str, bool]:
    """The secret that a request carries, and whether it is a token."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind:
        return (token if kind.lower() == "bearer" else ""), True
    return cookies.get(COOKIE, ""), False


def club_service_of(request: Request) -> ClubService:
    """What the server that got a request has of a club, perhaps nothing."""
    house: ClubService = request.app.state.club_service
    return house


def open_club_service_of(request: Request) -> ClubService:
    """The club of the server that got a request; refused where there is none, before anything of a club is imported."""
    house = club_service_of(request)
    house.hall  # noqa: B018
    return house


AnyHouse = Annotated[ClubService, Depends(club_service_of)]
House = Annotated[ClubService, Depends(open_club_service_of)]
