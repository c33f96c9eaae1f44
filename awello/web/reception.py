"""How connections are taken, before any request is read: a bounded number, and none that keeps us waiting.

A connection that does not send a whole request in time is closed, headers have a largest size, and nobody can hold
more connections than their share, open them faster than theirs, flood a channel, or let answers pile up that they do
not read.  What is refused is refused early, where it costs least.
"""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from awello.web.limits import Bucket, Buckets, Turnstile, network_of

MOST, MOST_OF_ADDRESS = 4096, 512  # connections at once
ARRIVALS = (1000, 100)  # connections of an address: at once, and a second
FRAMES = (600, 150)  # of a channel, whatever they are: at once, and a second
SLICE = 1 << 12  # bytes of a channel that are looked at before they are counted
SPARE = 256  # files that the server needs beside its connections
PATIENCE = 10.0  # seconds in which a request's headers must come
MOST_UNREAD = 1 << 20  # bytes that wait for somebody who does not read
LARGEST_HEADERS = 1 << 15
LARGEST_MESSAGE = 1 << 17  # of a channel; what is a little too large for it is answered, not cut off
BUSY = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\nretry-after: 60\r\n\r\n"

Keys = Mapping[str, int]


class Reception(uvicorn.Config):
    """How the server listens; behind a web server, which comes from this machine, that one counts the addresses."""

    def __init__(self, app: Any, behind: bool = False) -> None:
        super().__init__(
            app,
            http=Caller,
            ws=Channel,
            log_level="critical",
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=LARGEST_HEADERS,
            ws_max_size=LARGEST_MESSAGE,
            ws_per_message_deflate=False,  # messages are short, and what packs them takes memory and time
            timeout_graceful_shutdown=2,
        )
        self.behind, self.turnstile, self.most = behind, Turnstile(), min(MOST, _allow_files() - SPARE)
        self.arrivals = Buckets(*ARRIVALS)

    def admit(self, keys: Keys) -> bool:
        """Count a connection, or refuse it."""
        return all(self.arrivals.take(key) for key in keys if key) and self.turnstile.enter(keys)

    def keys(self, transport: asyncio.Transport) -> Keys:
        """Under what a connection counts."""
        address = str((transport.get_extra_info("peername") or ("",))[0])
        if self.behind and address in ("127.0.0.1", "::1"):
            return {"": self.most}
        return {"": self.most, f"from {network_of(address)}": MOST_OF_ADDRESS}


class Caller(H11Protocol):
    """A connection over which requests come."""

    config: Reception
    keys: Keys | None = None

    def __init__(self, config: Reception, **rest: Any) -> None:
        self.config, self.rest = config, rest  # the rest is made for those who are let in

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection if there is room for it."""
        keys = self.config.keys(transport)
        if not self.config.admit(keys):
            transport.write(BUSY)
            transport.close()
            return
        self.keys = keys
        super().__init__(self.config, **self.rest)
        super().connection_made(transport)
        self._look_later(None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another; a connection that became a channel is lost there."""
        if self.keys is not None:
            self.config.turnstile.leave(self.keys)
            super().connection_lost(exc)

    def _look_later(self, last: Any) -> None:
        self.loop.call_later(PATIENCE, self._look, last)

    def _look(self, last: Any) -> None:
        """Close a connection on which no request has come since the last look, and none is being answered."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self.cycle is last and (last is None or last.response_complete):
            self.transport.abort()
        else:
            self._look_later(self.cycle)


class Channel(WebSocketsSansIOProtocol):
    """A connection that has become a channel."""

    config: Reception

    def __init__(self, *words: Any, **rest: Any) -> None:
        super().__init__(*words, **rest)
        self.frames_left = Bucket(*FRAMES)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another."""
        self.config.turnstile.leave(self.config.keys(self.transport))
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hear somebody, unless they never read the answers."""
        for at in range(0, len(data), SLICE):
            if self.transport.get_write_buffer_size() > MOST_UNREAD:
                self.transport.abort()
            if self.transport.is_closing():
                return
            super().data_received(data[at : at + SLICE])

    def handle_events(self) -> None:
        """Look at what came, unless it is a flood."""
        if self.frames_left.take(len(self.conn.events)):
            super().handle_events()
        else:
            self.transport.abort()


class _Server(uvicorn.Server):
    """The server; it says when it runs."""

    def __init__(self, config: Reception, announce: Callable[[], object]) -> None:
        super().__init__(config)
        self.announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        self.announce()


def serve_app(config: Reception, door: socket.socket, announce: Callable[[], object]) -> None:
    """Serve until somebody ends it; an application that cannot start leaves what is wrong in its state."""
    try:
        _Server(config, announce).run(sockets=[door])
    except SystemExit:
        if wrong := getattr(config.app.state, "wrong", None):  # type: ignore[union-attr]
            raise wrong from None
        raise


def _allow_files() -> int:
    """How many files and connections this process may have open, after it has asked for as many as it may get."""
    try:
        import resource
    except ImportError:  # where there is no such limit
        return MOST + SPARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + SPARE if hard == resource.RLIM_INFINITY else min(MOST + SPARE, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MOST + SPARE if soft == resource.RLIM_INFINITY else soft
