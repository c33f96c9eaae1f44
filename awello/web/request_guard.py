"""The outermost middleware, which checks the origin, the size and the rate of requests.

Pages of other sites in the user's browser must not be able to control the server.  So the `Host` header must name this
server, which prevents DNS rebinding, and requests to the API must come from the server's own page or from a client that
is not a browser.  A body must not be too large and must arrive in time, and a content security policy lets the page
load only its own files.

The client network is charged for the estimated time that the event loop spends on each request.  Requests above the
limit of the client network (`EVENT_LOOP_RATE`) are delayed, or refused if the delay would be too long.  Requests from
this machine are not charged.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from awello.web.errors import MAX_QUOTED_CHARS, ApiError, describe_error
from awello.web.rate_limits import ConcurrencyLimit, RateLimits, to_client_network

MAX_BODY_BYTES, MAX_TEXT_BODY_BYTES, MAX_FILES_BODY_BYTES = 1 << 14, 1 << 17, 1 << 24
IMPORT_PATH = "/api/games/import"  # this path accepts files
TEXT_PATHS = ("/api/detect", "/api/export")  # these accept long texts
BODY_TIMEOUT = 60.0  # seconds within which a body must arrive
EVENT_LOOP_RATE = (500.0, 150.0)  # event loop milliseconds per client network: in a burst, and per second
MAX_DELAY_SECONDS = 6.0  # requests that would be delayed for longer are refused
MAX_OPEN_REQUESTS_PER_NETWORK = 256
FILE_COST_MS, API_COST_MS = 0.25, 1.5  # milliseconds per file of the page, and per request to the API
PATH_COSTS_MS = {  # milliseconds per request to API paths with these prefixes
    "/api/contests": 8.0,
    "/api/games": 8.0,
    "/api/explore": 8.0,
    "/api/club/players": 20.0,
    "/api/club": 4.0,
}
BYTES_READ_PER_MS, BYTES_SENT_PER_MS = 1 << 12, 1 << 16
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")
SECURITY_HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class RequestGuard:
    """Middleware that checks every request before the application handles it."""

    def __init__(
        self,
        app: ASGIApp,
        host: str = "127.0.0.1",
        hostnames: Sequence[str] = (),
        network_limits: RateLimits | None = None,
    ) -> None:
        self.app = app
        self.accepts_addresses = host in ("0.0.0.0", "::")  # nosec # noqa: S104 - nothing is bound here
        self.network_limits, self.open_requests = network_limits or RateLimits(*EVENT_LOOP_RATE), ConcurrencyLimit()
        self.hosts = {*LOCAL_HOSTS, host.lower(), socket.gethostname().lower(), *(name.lower() for name in hostnames)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check and handle a request; charge requests from other machines to their client network."""
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        headers, address = Headers(scope=scope), (scope.get("client") or ("",))[0]
        try:
            if address in LOCAL_HOSTS:
                return await self._handle(scope, headers, receive, send)
            return await self._handle_remote(to_client_network(address), scope, headers, receive, send)
        except ApiError as error:
            return await send_error(error, scope, receive, send)

    async def _handle_remote(
        self, client_network: str, scope: Scope, headers: Headers, receive: Receive, send: Send
    ) -> None:
        """Handle a request when the limit of its client network allows it."""
        network_limit = self.network_limits.get(client_network)
        wait = network_limit.reserve(estimate_cost(scope["path"], _content_length(headers)), MAX_DELAY_SECONDS)
        key = {client_network: MAX_OPEN_REQUESTS_PER_NETWORK}
        if wait is None or not self.open_requests.acquire(key):
            raise ApiError(429, "rate_limit", "too many requests: wait a few seconds and try again")

        async def send_counted(event: Message) -> None:
            network_limit.spend(len(event.get("body") or event.get("text") or "") / BYTES_SENT_PER_MS)
            await send(event)

        async def receive_counted() -> Message:
            event = await receive()
            if "content-length" not in headers:  # otherwise, the length has already been charged
                network_limit.spend(len(event.get("body", b"")) / BYTES_READ_PER_MS)
            return event

        try:
            if wait:
                await asyncio.sleep(wait)
            if scope["type"] == "websocket":
                self.open_requests.release(key)
                key = {}
            await self._handle(scope, headers, receive_counted, send_counted)
        finally:
            self.open_requests.release(key)

    def check(self, scope: Scope, headers: Headers) -> None:
        """Raise an `ApiError` for a request to another host, from another site, or with too large a body."""
        host = headers.get("host", "")
        if not self.is_own_host(host):
            name = host[:MAX_QUOTED_CHARS]
            message = f"this server cannot be used at {name!r}: open the address that it printed when it started"
            raise ApiError(403, "wrong_host", message, host=name)
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and not scope["path"].startswith("/api/"):
            return
        origin = headers.get("origin")
        own = origin is None or origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())
        if not own or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise ApiError(403, "cross_origin", "requests from other sites are refused: use the page of this server")
        if _content_length(headers) > (limit := _max_body_bytes(scope)):
            raise _too_large_error(limit)

    def is_own_host(self, host: str) -> bool:
        """Return whether a `Host` header names this server."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self.hosts or (self.accepts_addresses and _is_address(name))

    async def _handle(self, scope: Scope, headers: Headers, receive: Receive, send: Send) -> None:
        """Check a request and pass it on, with its body limited and security headers added to the response."""
        self.check(scope, headers)
        if scope["type"] == "websocket":
            return await self.app(scope, receive, send)
        size, limit, more = 0, _max_body_bytes(scope), True
        deadline = asyncio.get_running_loop().time() + BODY_TIMEOUT

        async def receive_limited() -> Message:
            nonlocal size, more
            try:
                async with asyncio.timeout_at(deadline if more else None):
                    event = await receive()
            except TimeoutError:
                message = f"the request did not arrive completely within {BODY_TIMEOUT:.0f} s: try again"
                raise ApiError(408, "request_timeout", message, seconds=BODY_TIMEOUT) from None
            size, more = size + len(event.get("body", b"")), event.get("more_body", False)
            if size > limit:
                raise _too_large_error(limit)
            return event

        async def send_with_headers(event: Message) -> None:
            if event["type"] == "http.response.start":
                MutableHeaders(scope=event).update(SECURITY_HEADERS)
            await send(event)

        return await self.app(scope, receive_limited, send_with_headers)


def client_address_of(client: HTTPConnection) -> str:
    """Return the IP address of a client."""
    return client.client.host if client.client else ""


def client_network_of(client: HTTPConnection) -> str:
    """Return the client network to which the requests and connections of a client are charged."""
    return to_client_network(client_address_of(client))


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _max_body_bytes(scope: Scope) -> int:
    """Return the size limit of a request's body: low for most paths, because the event loop parses the body."""
    if scope["path"] == IMPORT_PATH:
        return MAX_FILES_BODY_BYTES
    return MAX_TEXT_BODY_BYTES if scope["path"] in TEXT_PATHS else MAX_BODY_BYTES


def _content_length(headers: Headers) -> int:
    """Return the `Content-Length` of a request; 0 if it is missing or invalid."""
    length = headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 20 else 0


def estimate_cost(path: str, length: int) -> float:
    """Estimate the time that the event loop spends on a request, in milliseconds."""
    if not path.startswith("/api/"):
        return FILE_COST_MS
    costs = (cost for prefix, cost in PATH_COSTS_MS.items() if path.startswith(prefix))
    return next(costs, API_COST_MS) + min(length, MAX_TEXT_BODY_BYTES) / BYTES_READ_PER_MS


def _too_large_error(limit: int) -> ApiError:
    message = f"the request is too large: send at most {limit >> 10} KiB"
    return ApiError(413, "too_large", message, limit_kib=limit >> 10)


async def send_error(error: ApiError, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a refused request."""
    if scope["type"] == "websocket":
        await receive()
        await WebSocketClose(1008, error.detail)(scope, receive, send)
        return
    headers = {
        **SECURITY_HEADERS,
        "connection": "close",
    }  # the next request then needs a new connection, which is rate-limited too
    await JSONResponse(describe_error(error), error.status_code, headers)(scope, receive, send)
