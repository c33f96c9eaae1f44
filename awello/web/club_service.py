"""The club of the web server: its database, its club server and the authentication of requests."""

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
from awello.web.archive_service import DOWNLOAD_RATE, ArchiveService
from awello.web.errors import ApiError
from awello.web.logins import LoginLimits
from awello.web.rate_limits import ConcurrencyLimit, RateLimits

EXTRA_MISSING: ConfigError | None = None
try:
    from awello.club.accounts import Account, find_by_session, find_by_token, find_valid_digests
    from awello.club.server import ClubServer
    from awello.club.store import ClubStore
except ConfigError as error:  # without the extra, a server without a club still works
    EXTRA_MISSING = error

NO_CLUB = "this server has no club: start it with --club"
SESSION_COOKIE = "awello_session"
SIGNUP_RATE = (5, 1 / 720)  # new accounts per client network: burst size, and rate per second
MAX_CONCURRENT_HASHES = 1
MESSAGE_RATE = (200, 60)  # messages per account: burst size, and rate per second
CONNECTION_RATE = (128, 5)  # new connections per client network: burst size, and rate per second
SESSION_CHECK_SECONDS = 5.0  # seconds between checks of the sessions of open connections

Result = TypeVar("Result")


class ClubService:
    """The club of the web server; if `database` is None, there is no club."""

    def __init__(self, database: str | None, archive_service: ArchiveService) -> None:
        self.database, self.archive_service = database, archive_service
        self.open_connections = ConcurrencyLimit()  # per client network, per account, for visitors, and in total
        # For the digest of each session or token: the functions that close its connections.
        self.connections_by_digest: dict[bytes, set[Callable[[str], None]]] = {}
        self.login_limits, self.signup_limits = LoginLimits(), RateLimits(*SIGNUP_RATE)
        self.download_limits = RateLimits(*DOWNLOAD_RATE)
        self.connection_limits, self.message_limits = RateLimits(*CONNECTION_RATE), RateLimits(*MESSAGE_RATE)
        self.export_lock = asyncio.Lock()  # one export at a time
        self._hashing = CapacityLimiter(MAX_CONCURRENT_HASHES)  # a hash uses much memory and CPU time
        self._session_checks: asyncio.Task[None] | None = None
        self._server: ClubServer | None = None

    async def open(self) -> None:
        """Open the database, and resume the games in progress."""
        if self.database is None:
            return
        if EXTRA_MISSING:
            raise EXTRA_MISSING
        store = await asyncio.to_thread(ClubStore, self.database)
        self._server = ClubServer(store, self._archive if self.archive_service.location is not None else None)
        await self._server.open()
        self._session_checks = asyncio.create_task(self._check_sessions())

    async def close(self) -> None:
        """Close the club server, then the database."""
        if self._session_checks:
            self._session_checks.cancel()
        if self._server:
            await self._server.close()
            await asyncio.to_thread(self._server.store.close)

    @property
    def server(self) -> "ClubServer":
        """The club server; raises `ApiError` if there is no club."""
        if self._server is None:
            raise ApiError(404, "no_club", NO_CLUB)
        return self._server

    def check_analysis_allowed(self, record: Record, whole: bool = False) -> None:
        """Raise `ApiError` if the last position of a record may not be analysed because of a rated live game.

        With `whole`, check all positions of the record.
        """
        if self._server is None:
            return
        rated = self._server.rated_positions
        if rated.contains_any(record) if whole else record.final in rated:
            message = "analysis is off for positions of rated games in progress: wait until the game is over"
            raise ApiError(403, "rated_game", message)

    async def read(self, query: Callable[[Connection], Result]) -> Result:
        """Run a query on the database."""
        return await self._translate_errors(asyncio.to_thread(self.server.store.read_blocking, query))

    async def write(self, operation: Callable[[Connection], Result]) -> Result:
        """Run an operation on the database in a transaction."""
        return await self._translate_errors(asyncio.wrap_future(self.server.store.submit(operation)))

    async def _translate_errors(self, work: Awaitable[Result]) -> Result:
        try:
            return await work
        except StorageError:
            raise ApiError(503, "storage", "the club's database is not available: try again in a moment") from None

    async def authenticate(self, headers: Mapping[str, str], cookies: Mapping[str, str]) -> "Account | None":
        """Return the account of a request's session or token; None if it has no token and no valid session.

        Raises `ApiError` if the token is invalid or there is no club.
        """
        self.server  # noqa: B018  (raises `ApiError` if there is no club)
        secret, is_token = read_secret(headers, cookies)
        if not secret and not is_token:
            return None
        found = await self.read(partial(find_by_token if is_token else find_by_session, secret=secret))
        if is_token and found is None:
            raise ApiError(401, "invalid_token", "the token is not valid: create a new one")
        return found

    async def run_hash(self, work: Callable[..., Result], *passwords: str | None) -> Result:
        """Hash or verify a password in a thread."""
        return await to_thread.run_sync(partial(work, *passwords), limiter=self._hashing)

    async def _check_sessions(self) -> None:
        """Close connections whose session or token is no longer valid."""
        while True:
            await asyncio.sleep(SESSION_CHECK_SECONDS)
            digests = list(self.connections_by_digest)
            for some in (digests[at : at + 500] for at in range(0, len(digests), 500)):
                try:
                    valid = await self.read(partial(find_valid_digests, digests=some))
                except Exception as error:  # the next check retries; no error may end this loop
                    if not isinstance(error, ApiError):
                        logging.getLogger("awello").exception("sessions could not be checked")
                    continue
                for digest in set(some) - valid:
                    for end in self.connections_by_digest.pop(digest, ()):
                        end("your session has ended or your token was revoked: log in again, or create a new token")

    async def _archive(self, record: Record) -> None:
        try:
            await self.archive_service.run(lambda archive: archive.add(record))
        except ApiError as refusal:
            raise StorageError(refusal.detail) from None


def read_secret(headers: Mapping[str, str], cookies: Mapping[str, str]) -> tuple[str, bool]:
    """Return the secret of a request's session or token (empty if missing), and whether the request uses a token."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme:
        return (token if scheme.lower() == "bearer" else ""), True
    return cookies.get(SESSION_COOKIE, ""), False


def get_club_service(request: Request) -> ClubService:
    """Return the club service of the application, whether or not the server has a club."""
    club: ClubService = request.app.state.club_service
    return club


def get_open_club_service(request: Request) -> ClubService:
    """Return the club service, or raise `ApiError` if the server has no club.

    A server that has a club also has the `club` extra installed.
    """
    club = get_club_service(request)
    club.server  # noqa: B018
    return club


OptionalClub = Annotated[ClubService, Depends(get_club_service)]
RequiredClub = Annotated[ClubService, Depends(get_open_club_service)]
