"""How connections are taken, before any request is read: a bounded number, and none that keeps us waiting.

A connection that does not send a whole request in time is closed, headers have a largest size, and nobody can hold
more connections than their share, open them faster than theirs, flood a channel, or let answers pile up that they do
not read.  What is refused is refused early, where it costs least.
"""

import asyncio
import gc
import socket
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from awello.web.rate_limits import ConcurrencyLimit, RateLimit, RateLimits, network_of

MAX_CONNECTIONS, MAX_NETWORK_CONNECTIONS = 7680, 512  # connections at once
NEW_CONNECTIONS = (500, 100)  # connections of an address: at once, and a second
WEBSOCKET_FRAMES = (600, 150)  # of a channel, whatever they are: at once, and a second
READ_SLICE_BYTES = 1 << 12  # bytes of a channel that are looked at before they are counted
RESERVED_FILES = 256  # files that the server needs beside its connections
HEADER_TIMEOUT = 10.0  # seconds in which a request's headers must come
MAX_UNREAD_BYTES = 1 << 20  # bytes that wait on a channel whose client does not read
MAX_NETWORK_UNREAD_BYTES = 1 << 24  # bytes that wait for all clients of a network
IGNORED_UNREAD_BYTES = 1 << 14  # bytes that may wait on a connection for ever
CHECK_INTERVAL = 1.0  # seconds between two looks at unread answers
READ_TIMEOUT, MIN_READ_BYTES = 10.0, 1 << 12  # seconds in which so many bytes of an answer must be read
MAX_HEADER_BYTES = 1 << 15
MAX_WEBSOCKET_BYTES = 1 << 17  # of a channel; what is a little too large for it is answered, not cut off
THREAD_SWITCH_INTERVAL = 0.001  # seconds after which a thread that computes lets the event loop in
BUSY_RESPONSE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\nretry-after: 60\r\n\r\n"

LimitKeys = Mapping[str, int]


class HttpServerConfig(uvicorn.Config):
    """How the server listens; behind a web server, which comes from this machine, that one counts the addresses."""

    def __init__(self, app: Any, behind_proxy: bool = False) -> None:
        super().__init__(
            app,
            http=GuardedConnection,
            ws=GuardedWebSocket,
            log_level="critical",
            access_log=False,
            server_header=False,
            h11_max_incomplete_event_size=MAX_HEADER_BYTES,
            ws_max_size=MAX_WEBSOCKET_BYTES,
            ws_per_message_deflate=False,  # messages are short, and what packs them takes memory and time
            timeout_graceful_shutdown=2,
        )
        self.behind_proxy, self.connection_limit, self.max_connections = (
            behind_proxy,
            ConcurrencyLimit(),
            min(MAX_CONNECTIONS, _raise_file_limit() - RESERVED_FILES),
        )
        self.arrivals = RateLimits(*NEW_CONNECTIONS)
        self.connections: set[GuardedConnection | GuardedWebSocket] = set()
        self._checking = False

    def admit(self, keys: LimitKeys) -> bool:
        """Count a connection, or refuse it."""
        return all(self.arrivals.take(key) for key in keys if key) and self.connection_limit.acquire(keys)

    def limit_keys(self, transport: asyncio.Transport) -> LimitKeys:
        """Under what a connection counts."""
        address = str((transport.get_extra_info("peername") or ("",))[0])
        if self.behind_proxy and address in ("127.0.0.1", "::1"):
            return {"": self.max_connections}
        return {"": self.max_connections, f"from {network_of(address)}": MAX_NETWORK_CONNECTIONS}

    def track(self, connection: "GuardedConnection | GuardedWebSocket") -> None:
        """Look at a connection now and then: its client must read the answers."""
        self.connections.add(connection)
        if not self._checking:
            self._checking = True
            connection.loop.call_later(CHECK_INTERVAL, self._check, connection.loop)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        self.abort_unread(monotonic())
        self._checking = bool(self.connections)
        if self._checking:
            loop.call_later(CHECK_INTERVAL, self._check, loop)

    def abort_unread(self, now: float) -> None:
        """End connections whose answers are not read, and the largest of a network for which too much waits."""
        waiting: dict[str, list[tuple[int, GuardedConnection | GuardedWebSocket]]] = defaultdict(list)
        for connection in list(self.connections):
            size = connection.transport.get_write_buffer_size()
            before, since = connection.unread
            if size <= max(IGNORED_UNREAD_BYTES, before - MIN_READ_BYTES) or not before:
                connection.unread = size, now
            elif now - since >= READ_TIMEOUT:
                connection.transport.abort()
                continue
            if size:
                waiting[_network_of(connection)].append((size, connection))
        for found in waiting.values():
            total = sum(size for size, _ in found)
            for size, connection in sorted(found, key=lambda each: -each[0]):
                if total > MAX_NETWORK_UNREAD_BYTES:
                    connection.transport.abort()
                    total -= size


class GuardedConnection(H11Protocol):
    """A connection over which requests come."""

    config: HttpServerConfig
    keys: LimitKeys | None = None
    unread: tuple[int, float] = (0, 0.0)
    """The bytes that waited to be read, and since when no fewer have."""

    def __init__(self, config: HttpServerConfig, **options: Any) -> None:
        self.config, self.options = config, options  # the rest is made for those who are let in

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection if there is room for it."""
        keys = self.config.limit_keys(transport)
        if not self.config.admit(keys):
            transport.write(BUSY_RESPONSE)
            transport.close()
            return
        self.keys = keys
        super().__init__(self.config, **self.options)
        super().connection_made(transport)
        self.config.track(self)
        self.loop.call_later(HEADER_TIMEOUT, self._check, None)

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another; a connection that became a channel is lost there."""
        if self.keys is not None:
            self.config.connections.discard(self)
            self.config.connection_limit.release(self.keys)
            super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Become a channel, which is watched instead."""
        self.config.connections.discard(self)
        super().handle_websocket_upgrade(event)

    def _check(self, last: Any) -> None:
        """Close a connection on which no request has come since the last look, and none is being answered."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self.cycle is last and (last is None or last.response_complete):
            self.transport.abort()
        else:
            self.loop.call_later(HEADER_TIMEOUT, self._check, self.cycle)


class BufferedTransport:
    """A transport that sends what is written in one turn of the event loop by one system call."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data at the end of this turn."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def flush(self) -> None:
        """Send what waits."""
        data, self._parts = b"".join(self._parts), []
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """Send what waits, and close."""
        self.flush()
        self._transport.close()

    def get_write_buffer_size(self) -> int:
        """The bytes that wait, here and below."""
        return sum(map(len, self._parts)) + self._transport.get_write_buffer_size()


class GuardedWebSocket(WebSocketsSansIOProtocol):
    """A connection that has become a channel."""

    config: HttpServerConfig
    unread: tuple[int, float] = (0, 0.0)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.frame_limit, self.received = RateLimit(*WEBSOCKET_FRAMES), monotonic()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(cast(asyncio.Transport, BufferedTransport(transport, self.loop)))
        self.config.track(self)

    async def receive(self) -> Any:
        """The next message, with the moment at which it arrived: reading pauses until all that came then are taken."""
        return {**await super().receive(), "received": self.received}

    def connection_lost(self, exc: Exception | None) -> None:
        """Make room for another."""
        self.config.connections.discard(self)
        self.config.connection_limit.release(self.config.limit_keys(self.transport))
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hear somebody, unless they never read the answers."""
        self.received = monotonic()
        for at in range(0, len(data), READ_SLICE_BYTES):
            if self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
                self.transport.abort()
            if self.transport.is_closing():
                return
            super().data_received(data[at : at + READ_SLICE_BYTES])

    def handle_events(self) -> None:
        """Look at what came, unless it is a flood."""
        if self.frame_limit.take(len(self.conn.events)):
            super().handle_events()
        else:
            self.transport.abort()


def _network_of(connection: GuardedConnection | GuardedWebSocket) -> str:
    """The network of a connection's client; behind a web server, of its last request."""
    scope: Any = getattr(connection, "scope", None) or {}
    return network_of(str((scope.get("client") or connection.client or ("",))[0]))


class _Server(uvicorn.Server):
    """The server; it says when it runs."""

    def __init__(self, config: HttpServerConfig, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self.on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        gc.collect()
        gc.freeze()  # or each full collection visits 200,000 objects of modules and stops the server for 70 ms
        self.on_ready()


def serve_app(config: HttpServerConfig, listener: socket.socket, on_ready: Callable[[], object]) -> None:
    """Serve until somebody ends it; an application that cannot start leaves what is wrong in its state."""
    sys.setswitchinterval(THREAD_SWITCH_INTERVAL)
    try:
        _Server(config, on_ready).run(sockets=[listener])
    except SystemExit:
        if error := getattr(config.app.state, "startup_error", None):  # type: ignore[union-attr]
            raise error from None
        raise


def _raise_file_limit() -> int:
    """How many files and connections this process may have open, after it has asked for as many as it may get."""
    try:
        import resource
    except ImportError:  # where there is no such limit
        return MAX_CONNECTIONS + RESERVED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = (
        MAX_CONNECTIONS + RESERVED_FILES
        if hard == resource.RLIM_INFINITY
        else min(MAX_CONNECTIONS + RESERVED_FILES, hard)
    )
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return MAX_CONNECTIONS + RESERVED_FILES if soft == resource.RLIM_INFINITY else soft
