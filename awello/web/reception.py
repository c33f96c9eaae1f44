"""How connections are taken, before any request is read: a bounded number, and none that keeps us waiting.

A connection that does not send a whole request in time is closed, headers have a largest size, and nobody can hold
more connections than their share, nor let answers pile up that they do not read.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from awello.web.limits import Turnstile, network_of

MOST, MOST_OF_ADDRESS = 4096, 512  # connections at once
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

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection if there is room for it."""
        keys = self.config.keys(transport)
        if not self.config.turnstile.enter(keys):
            transport.write(BUSY)
            transport.close()
            return
        self.keys = keys
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

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another."""
        self.config.turnstile.leave(self.config.keys(self.transport))
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hear somebody, unless they never read the answers."""
        if self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.transport.abort()
        else:
            super().data_received(data)


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
