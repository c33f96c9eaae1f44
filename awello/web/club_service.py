"""The club of this server: its books and its server while the server runs, and who a request comes from."""

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
from awello.web.archive_service import DOWNLOADS, ArchiveService
from awello.web.logins import LoginLimits
from awello.web.rate_limits import ConcurrencyLimit, RateLimits
from awello.web.request_guard import Refusal

EXTRA_MISSING: ConfigError | None = None
try:
    from awello.club.accounts import Account, find_by_session, find_by_token, find_valid_digests
    from awello.club.server import ClubServer
    from awello.club.store import UNAVAILABLE, ClubStore
except ConfigError as error:  # a server without a club does not need the extra
    EXTRA_MISSING = error

NO_CLUB = "this server has no club: start it with --club"
SESSION_COOKIE = "awello_session"
SIGNUP_RATE = (5, 1 / 720)  # of an address: at once, and a second
MAX_CONCURRENT_HASHES = 1  # at once
ACCOUNT_RATE = (200, 60)  # messages of an account: at once, and a second
CONNECTION_RATE = (128, 5)  # connections of an address: at once, and a second
SESSION_CHECK_SECONDS = 5.0  # seconds between two looks whether those who are here may still be

Result = TypeVar("Result")


class ClubService:
    """A club that is open while the server runs; none if there is no database for its books."""

    def __init__(self, database: str | None, archive_service: ArchiveService) -> None:
        self.database, self.archive_service = database, archive_service
        self.open_connections = ConcurrencyLimit()  # by address, by account, those who only watch, and all
        self.connections_by_digest: dict[
            bytes, set[Callable[[str], None]]
        ] = {}  # how to end connections, by what let them in
        self.login_limits, self.signup_limits, self.download_limits = (
            LoginLimits(),
            RateLimits(*SIGNUP_RATE),
            RateLimits(*DOWNLOADS),
        )
        self.connection_limits, self.message_limits = RateLimits(*CONNECTION_RATE), RateLimits(*ACCOUNT_RATE)
        self.export_lock = asyncio.Lock()  # while a file with somebody's games is written
        self._hashing = CapacityLimiter(MAX_CONCURRENT_HASHES)  # few at once, because each takes much memory and time
        self._session_checks: asyncio.Task[None] | None = None
        self._server: ClubServer | None = None

    async def open(self) -> None:
        """Open the books, and take up the games that went on."""
        if self.database is None:
            return
        if EXTRA_MISSING:
            raise EXTRA_MISSING
        store = await asyncio.to_thread(ClubStore, self.database)
        self._server = ClubServer(store, self._archive if self.archive_service.place is not None else None)
        await self._server.open()
        self._session_checks = asyncio.create_task(self._check_sessions())

    async def close(self) -> None:
        """Close the server, then the books."""
        if self._session_checks:
            self._session_checks.cancel()
        if self._server:
            await self._server.close()
            await asyncio.to_thread(self._server.store.close)

    @property
    def server(self) -> "ClubServer":
        """Where games are played."""
        if self._server is None:
            raise Refusal(404, "no_club", NO_CLUB)
        return self._server

    def check_analysis_allowed(self, record: Record, whole: bool = False) -> None:
        """Refuse to analyse the last position of a game, or all of them, if a rated game in progress is there."""
        if self._server is None:
            return
        rated = self._server.rated_positions
        if rated.contains_any(record) if whole else record.final in rated:
            raise Refusal(403, "rated_position", "analysis is off for positions of rated games in progress")

    async def read(self, query: Callable[[Connection], Result]) -> Result:
        """Ask the books something."""
        return await self._translate_errors(asyncio.to_thread(self.server.store.read, query))

    async def write(self, operation: Callable[[Connection], Result]) -> Result:
        """Write something into the books."""
        return await self._translate_errors(asyncio.wrap_future(self.server.store.submit(operation)))

    async def _translate_errors(self, work: Awaitable[Result]) -> Result:
        try:
            return await work
        except StorageError:
            raise Refusal(503, "storage", UNAVAILABLE) from None

    async def authenticate(self, headers: Mapping[str, str], cookies: Mapping[str, str]) -> "Account | None":
        """Whose token or session a request carries; a token that is none is refused."""
        self.server  # noqa: B018  (refused where there is no club)
        secret, is_token = read_secret(headers, cookies)
        if not secret and not is_token:
            return None
        found = await self.read(partial(find_by_token if is_token else find_by_session, secret=secret))
        if is_token and found is None:
            raise Refusal(401, "invalid_token", "the token is not valid: create a new one")
        return found

    async def run_hash(self, work: Callable[..., Result], *passwords: str | None) -> Result:
        """Hash a password or compare it."""
        return await to_thread.run_sync(partial(work, *passwords), limiter=self._hashing)

    async def _check_sessions(self) -> None:
        """End connections whose session has ended, whose token was revoked or whose account was closed."""
        while True:
            await asyncio.sleep(SESSION_CHECK_SECONDS)
            digests = list(self.connections_by_digest)
            for some in (digests[at : at + 500] for at in range(0, len(digests), 500)):
                try:
                    valid = await self.read(partial(find_valid_digests, digests=some))
                except Exception as error:  # at the next look, whatever it was: nobody may stay for ever
                    if not isinstance(error, Refusal):
                        logging.getLogger("awello").exception("sessions could not be looked at")
                    continue
                for digest in set(some) - valid:
                    for end in self.connections_by_digest.pop(digest, ()):
                        end("your session has ended, or your token was revoked: log in again")

    async def _archive(self, record: Record) -> None:
        try:
            await self.archive_service.ask(lambda archive: archive.add(record))
        except Refusal as refusal:
            raise StorageError(refusal.detail) from None


def read_secret(headers: Mapping[str, str], cookies: Mapping[str, str]) -> tuple[str, bool]:
    """The secret that a request carries, and whether it is a token."""
    kind, _, token = headers.get("authorization", "").partition(" ")
    if kind:
        return (token if kind.lower() == "bearer" else ""), True
    return cookies.get(SESSION_COOKIE, ""), False


def get_club_service(request: Request) -> ClubService:
    """What the server that got a request has of a club, perhaps nothing."""
    club: ClubService = request.app.state.clubhouse
    return club


def get_open_club_service(request: Request) -> ClubService:
    """The club of the server that got a request; refused where there is none, before anything of a club is imported."""
    club = get_club_service(request)
    club.server  # noqa: B018
    return club


OptionalClub = Annotated[ClubService, Depends(get_club_service)]
RequiredClub = Annotated[ClubService, Depends(get_open_club_service)]
