"""Who may come in: every request passes here before anything else sees it.

The server is for the person at this machine.  A page from elsewhere in the same browser must not command it: so the
host asked for must be one of ours (a foreign name that was pointed at this machine is not), and a request that changes
or starts anything must come from our own page or from no page at all.  Bodies have a largest size and must come in
time, an address that is not this machine's may ask so often, and answers carry a policy that lets the page run nothing
but its own files.
"""

import asyncio
import ipaddress
import json
import socket
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from awello.web.limits import Buckets, network_of

Scope = MutableMapping[str, Any]
Event = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Event]]
Send = Callable[[Event], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

LARGEST_BODY, LARGEST_FILES = 1 << 17, 1 << 24
FILES = "/api/games/files"  # the one address where files are sent
BODY_TIME = 60.0  # seconds in which a body must come
QUESTIONS = (400, 40)  # to the API, of an address: at once, and a second
OWN = ("localhost", "127.0.0.1", "::1")
HEADERS = {
    "content-security-policy": "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Refusal(HTTPException):
    """A request that must not go on: the status, a code for programs and a line for people."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(status, message)
        self.code = code


class Door:
    """The outermost layer of the server."""

    def __init__(self, inside: Application, host: str = "127.0.0.1", names: Sequence[str] = ()) -> None:
        self.inside = inside
        self.anywhere = host in ("0.0.0.0", "::")  # nosec # noqa: S104 - nothing is bound here
        self.questions = Buckets(*QUESTIONS)
        self.hosts = {*OWN, host.lower(), socket.gethostname().lower(), *(name.lower() for name in names)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, with its body counted and its answer sealed, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            return await self.inside(scope, receive, send)
        try:
            self.check(scope)
        except Refusal as refusal:
            return await refuse(refusal, scope, receive, send)
        if scope["type"] == "websocket":
            return await self.inside(scope, receive, send)
        return await self._serve(scope, receive, send)

    def check(self, scope: Scope) -> None:
        """Raise a `Refusal` for what comes from elsewhere."""
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "")
        if not self.knows(host):
            raise Refusal(403, "host", "this name is not mine: open the address that the server printed")
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD") and not scope["path"].startswith("/api/"):
            return
        address = (scope.get("client") or ("",))[0]
        if address not in OWN and not self.questions.take(network_of(address)):
            raise Refusal(429, "often", "too many questions: wait a little")
        origin = headers.get("origin")
        own = origin is None or origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower())
        if not own or headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise Refusal(403, "origin", "another site asked for this: use the page of this server")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > (largest := _largest(scope)):
            raise _too_large(largest)

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self.hosts or (self.anywhere and _is_address(name))

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        size, largest, more = 0, _largest(scope), True
        deadline = asyncio.get_running_loop().time() + BODY_TIME

        async def counted() -> Event:
            nonlocal size, more
            try:
                async with asyncio.timeout_at(deadline if more else None):
                    event = await receive()
            except TimeoutError:
                raise Refusal(408, "slow", f"the request did not come within {BODY_TIME:.0f} seconds") from None
            size, more = size + len(event.get("body", b"")), event.get("more_body", False)
            if size > largest:
                raise _too_large(largest)
            return event

        async def sealed(event: Event) -> None:
            if event["type"] == "http.response.start":
                event["headers"] = [*event["headers"], *((k.encode(), v.encode()) for k, v in HEADERS.items())]
            await send(event)

        await self.inside(scope, counted, sealed)


def address_of(client: HTTPConnection) -> str:
    """Where a request or a connection comes from."""
    return client.client.host if client.client else ""


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _largest(scope: Scope) -> int:
    """The largest body that may be sent to an address."""
    return LARGEST_FILES if scope["path"] == FILES else LARGEST_BODY


def _too_large(largest: int) -> Refusal:
    return Refusal(413, "large", f"too much at once: send at most {largest >> 10} KiB")


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request that was not let in."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": refusal.detail})
        return
    body = json.dumps({"code": refusal.code, "message": refusal.detail}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if refusal.status_code == 429:
        headers.append((b"connection", b"close"))  # who asks too often begins anew, and connections are counted too
    sealed = [*headers, *((name.encode(), value.encode()) for name, value in HEADERS.items())]
    await send({"type": "http.response.start", "status": refusal.status_code, "headers": sealed})
    await send({"type": "http.response.body", "body": body})
