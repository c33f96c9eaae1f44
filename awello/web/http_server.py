"""The HTTP server: uvicorn with limits on connections and on the data that clients leave unread.

The number of connections and the rate of new connections of each client network are limited.  A connection is closed if
a request does not arrive in time, if its headers are too large, or if the client floods a WebSocket or reads its
responses too slowly.  Excess connections are refused before any data is read, which costs least.
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

from awello.web.rate_limits import ConcurrencyLimit, RateLimit, RateLimits, to_client_network

MAX_CONNECTIONS, MAX_CONNECTIONS_PER_NETWORK = 7680, 512  # open at the same time
CONNECTION_RATE = (500, 100)  # new connections of one client network: in a burst, and per second
FRAME_RATE = (600, 150)  # frames of one WebSocket, of any type: in a burst, and per second
READ_SLICE_BYTES = 1 << 12  # WebSocket data parsed before the limits are checked again
RESERVED_FILES = 256  # open files that the server needs besides its connections
HEADER_TIMEOUT = 10.0  # seconds within which the headers of a request must arrive
MAX_UNREAD_BYTES = 1 << 20  # buffered for the client of one WebSocket
MAX_UNREAD_BYTES_PER_NETWORK = 1 << 24  # buffered for all clients of one client network
IGNORED_UNREAD_BYTES = 1 << 14  # up to this size, unread data may stay buffered without a time limit
CHECK_INTERVAL = 1.0  # seconds between checks for unread responses
READ_TIMEOUT = 10.0  # seconds in which a client with unread data must read at least `MIN_READ_BYTES`
MIN_READ_BYTES = 1 << 12
MAX_HEADER_BYTES = 1 << 15
MAX_WEBSOCKET_BYTES = 1 << 17  # above `MAX_MESSAGE_CHARS`, so that messages that are slightly too long get a response
THREAD_SWITCH_INTERVAL = 0.001  # seconds after which a computing thread yields to the event loop
BUSY_RESPONSE = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\nretry-after: 60\r\n\r\n"

LimitKeys = Mapping[str, int]


class HttpServerConfig(uvicorn.Config):
    """The configuration and limits of the server.

    With `behind_proxy`, connections from this machine are not limited per client network: the proxy itself must limit
    the connections of each client network.
    """

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
            ws_per_message_deflate=False,  # messages are short: compression would only cost memory and time
            timeout_graceful_shutdown=2,
        )
        self.behind_proxy, self.connection_limit, self.max_connections = (
            behind_proxy,
            ConcurrencyLimit(),
            min(MAX_CONNECTIONS, _raise_file_limit() - RESERVED_FILES),
        )
        self.arrivals = RateLimits(*CONNECTION_RATE)
        self.connections: set[GuardedConnection | GuardedWebSocket] = set()
        self._checking = False

    def admit(self, keys: LimitKeys) -> bool:
        """Return whether a connection is accepted; if so, count it."""
        return all(self.arrivals.take(key) for key in keys if key) and self.connection_limit.acquire(keys)

    def limit_keys(self, transport: asyncio.Transport) -> LimitKeys:
        """Return the keys under which a connection is counted, with the limit of each."""
        address = str((transport.get_extra_info("peername") or ("",))[0])
        if self.behind_proxy and address in ("127.0.0.1", "::1"):
            return {"": self.max_connections}
        return {"": self.max_connections, f"from {to_client_network(address)}": MAX_CONNECTIONS_PER_NETWORK}

    def track(self, connection: "GuardedConnection | GuardedWebSocket") -> None:
        """Check regularly that the client of a connection reads its responses."""
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
        """Abort connections whose clients read too slowly.

        In client networks with too much unread data, also abort the connections with the largest buffers.
        """
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
                waiting[_client_network_of(connection)].append((size, connection))
        for unread in waiting.values():
            total = sum(size for size, _ in unread)
            for size, connection in sorted(unread, key=lambda each: -each[0]):
                if total > MAX_UNREAD_BYTES_PER_NETWORK:
                    connection.transport.abort()
                    total -= size


class GuardedConnection(H11Protocol):
    """An HTTP connection to which the limits of the configuration apply."""

    config: HttpServerConfig
    keys: LimitKeys | None = None
    unread: tuple[int, float] = (0, 0.0)
    """The number of unread bytes at the last check, and the time since which the client has not read enough."""

    def __init__(self, config: HttpServerConfig, **options: Any) -> None:
        self.config, self.options = config, options  # H11Protocol is only initialised for accepted connections

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection unless a limit is reached."""
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
        """Release the connection; after an upgrade, `GuardedWebSocket.connection_lost` releases it instead."""
        if self.keys is not None:
            self.config.connections.discard(self)
            self.config.connection_limit.release(self.keys)
            super().connection_lost(exc)

    def handle_websocket_upgrade(self, event: Any) -> None:
        """Hand the connection over to `GuardedWebSocket`."""
        self.config.connections.discard(self)
        super().handle_websocket_upgrade(event)

    def _check(self, last: Any) -> None:
        """Abort the connection if no request has arrived since the previous check and none is being answered."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return
        if self.cycle is last and (last is None or last.response_complete):
            self.transport.abort()
        else:
            self.loop.call_later(HEADER_TIMEOUT, self._check, self.cycle)


class BufferedTransport:
    """A transport that combines the writes of one event loop iteration into one system call."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._parts: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Collect data, to be sent in the next iteration of the event loop."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)

    def flush(self) -> None:
        """Send the collected data."""
        data, self._parts = b"".join(self._parts), []
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def close(self) -> None:
        """Send the collected data and close the connection."""
        self.flush()
        self._transport.close()

    def get_write_buffer_size(self) -> int:
        """Return the number of bytes buffered here and by the underlying transport."""
        return sum(map(len, self._parts)) + self._transport.get_write_buffer_size()


class GuardedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket connection to which the limits of the configuration apply."""

    config: HttpServerConfig
    unread: tuple[int, float] = (0, 0.0)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.frame_limit, self.received = RateLimit(*FRAME_RATE), monotonic()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Open the connection with a buffered transport."""
        super().connection_made(cast(asyncio.Transport, BufferedTransport(transport, self.loop)))
        self.config.track(self)

    async def receive(self) -> Any:
        """Return the next message; its arrival time is the time at which data was last received.

        This time is correct because no further data is read until all received messages are handled.
        """
        return {**await super().receive(), "received": self.received}

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection."""
        self.config.connections.discard(self)
        self.config.connection_limit.release(self.config.limit_keys(self.transport))
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data; abort the connection if the client leaves too many bytes unread."""
        self.received = monotonic()
        for at in range(0, len(data), READ_SLICE_BYTES):
            if self.transport.get_write_buffer_size() > MAX_UNREAD_BYTES:
                self.transport.abort()
            if self.transport.is_closing():
                return
            super().data_received(data[at : at + READ_SLICE_BYTES])

    def handle_events(self) -> None:
        """Handle the parsed frames; abort the connection if they exceed the rate limit."""
        if self.frame_limit.take(len(self.conn.events)):
            super().handle_events()
        else:
            self.transport.abort()


def _client_network_of(connection: GuardedConnection | GuardedWebSocket) -> str:
    """Return the client network of a connection; behind a proxy, that of the last request's client."""
    scope: Any = getattr(connection, "scope", None) or {}
    return to_client_network(str((scope.get("client") or connection.client or ("",))[0]))


class _Server(uvicorn.Server):
    """A uvicorn server that calls `on_ready` as soon as it accepts connections."""

    def __init__(self, config: HttpServerConfig, on_ready: Callable[[], object]) -> None:
        super().__init__(config)
        self.on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, then call `on_ready`."""
        await super().startup(sockets)
        gc.collect()
        gc.freeze()  # otherwise each full garbage collection visits 200,000 objects and blocks the server for 70 ms
        self.on_ready()


def serve_app(config: HttpServerConfig, listener: socket.socket, on_ready: Callable[[], object]) -> None:
    """Serve until interrupted; raise the error that the application stored in `app.state.startup_error`, if any."""
    sys.setswitchinterval(THREAD_SWITCH_INTERVAL)
    try:
        _Server(config, on_ready).run(sockets=[listener])
    except SystemExit:
        if error := getattr(config.app.state, "startup_error", None):  # type: ignore[union-attr]
            raise error from None
        raise


def _raise_file_limit() -> int:
    """Raise the limit on open files as far as needed and allowed; return the resulting limit."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return MAX_CONNECTIONS + RESERVED_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = (
        MAX_CONNECTIONS + RESERVED_FILES
        if hard == resource.RLIM_INFINITY
        else min(MAX_CONNECTIONS + RESERVED_FILES, hard)
    )
    if soft != resource.RLIM_INFINITY and soft < needed:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
            soft = needed
    return MAX_CONNECTIONS + RESERVED_FILES if soft == resource.RLIM_INFINITY else soft
