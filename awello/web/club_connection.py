"""The club over a WebSocket: requests from pages and bots, and the events sent to them.

A client that reads too slowly is disconnected; when it reconnects, it receives the current state of its games.
"""

import asyncio
import ipaddress
import json
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from time import monotonic
from typing import Any

from pydantic import ValidationError
from starlette.websockets import WebSocket

from awello.club.accounts import Account, digest_of
from awello.club.live_game import ClientConnection
from awello.club.server import ClubServer
from awello.web.club_messages import REQUESTS, MoveRequest, Pong
from awello.web.club_service import ClubService, read_secret
from awello.web.connection import DISCONNECTED, POLICY_VIOLATION, TRY_AGAIN, Fields, MessageConnection, RequestId
from awello.web.errors import ApiError, describe_error
from awello.web.rate_limits import RateLimit, RateLimits
from awello.web.request_guard import client_network_of

MAX_CONNECTIONS, MAX_VISITOR_CONNECTIONS = 5000, 1000  # in total, and without an account
MAX_CONNECTIONS_PER_NETWORK, MAX_CONNECTIONS_PER_ACCOUNT = 256, 16
PING_SECONDS = 5.0  # seconds between measurements of the round-trip time
PING_TIMEOUT = 30.0  # seconds without a message after which a connection is closed
VISITOR_RATE = (40, 5)  # messages of a connection without an account: burst size, and rate per second
VISITOR_MESSAGE_COST_MS = 4.0  # charged to the client network per message of a connection without an account


class ClubConnection(MessageConnection):
    """A connection to the club; without an account, it can only watch games and read the lobby and the tournaments."""

    requests = {type: request for type, (request, _) in REQUESTS.items()} | {"pong": Pong}
    without_id = ("pong",)

    def __init__(
        self,
        socket: WebSocket,
        server: ClubServer,
        account: Account | None,
        message_limit: RateLimit,
        network_limit: RateLimit | None,
    ) -> None:
        super().__init__(socket, message_limit, network_limit, VISITOR_MESSAGE_COST_MS)
        self.server = server
        client_network = client_network_of(socket)
        external = None if is_loopback(client_network) else client_network
        self.client = ClientConnection(
            account, self.post, client_network=external, lobby_updates=account is None or not account.bot
        )
        self.pings: deque[tuple[int, float]] = deque(maxlen=8)
        self.round_trips: deque[float] = deque(maxlen=5)
        self.last_received = monotonic()

    async def serve(self) -> None:
        """Register with the club server and serve the connection until it ends."""
        self.server.connect(self.client)
        self.running["ping"] = asyncio.create_task(self._ping())
        await super().serve()

    def on_close(self) -> None:
        """Unregister from the club server."""
        self.server.disconnect(self.client)

    async def handle(self, request_id: RequestId, type: str, request: Any) -> None:
        """Carry out a request and send the response."""
        if isinstance(request, Pong):
            self._record_round_trip(request)
        else:
            result = await REQUESTS[type][1](self.server, self.client, request)
            self.post({"id": request_id, "type": "done", **result})

    def on_receive(self, event: Mapping[str, Any]) -> None:
        """Record when a message arrived: a move stops the player's clock at this time."""
        self.last_received, self.client.received_at = monotonic(), event.get("received")

    def is_exempt(self, fields: Fields) -> bool:
        """Return whether a message is a move that the server expects: such moves are exempt from the rate limits."""
        try:
            move = MoveRequest.model_validate({name: value for name, value in fields.items() if name != "type"})
        except ValidationError:
            return False
        return fields.get("type") == "move" and self.server.is_expected_move(
            self.client, move.game, move.ply, move.move
        )

    async def _ping(self) -> None:
        """Measure the round-trip time regularly; close the connection if nothing has been received for too long."""
        number = 0
        while monotonic() - self.last_received < PING_TIMEOUT:
            number += 1
            self.pings.append((number, monotonic()))
            self.post({"type": "ping", "number": number})
            await asyncio.sleep(PING_SECONDS)
        self.close("ping timeout")

    def _record_round_trip(self, pong: Pong) -> None:
        """Record the round-trip time of a ping; the lag is the shortest of the recent round-trip times."""
        for number, sent in self.pings:
            if number == pong.number:
                self.round_trips.append(monotonic() - sent)
                self.client.lag = min(self.round_trips)
        while self.pings and self.pings[0][0] <= pong.number:
            self.pings.popleft()


async def serve_club(socket: WebSocket, club: ClubService, network_limits: RateLimits) -> None:
    """Authenticate a connection and serve it until it ends."""
    client_network = client_network_of(socket)
    if not club.connection_limits.take(client_network):
        await socket.close(TRY_AGAIN)  # without a reason, which would require accepting the connection first
        return
    try:
        account = await club.authenticate(socket.headers, socket.cookies)
        server = club.server
    except ApiError as refusal:
        await _refuse(socket, refusal)
        return
    keys = {"": MAX_CONNECTIONS, f"from {client_network}": MAX_CONNECTIONS_PER_NETWORK}
    keys |= {f"of {account.id}": MAX_CONNECTIONS_PER_ACCOUNT} if account else {"watch": MAX_VISITOR_CONNECTIONS}
    if not club.open_connections.acquire(keys):
        await _refuse(
            socket, ApiError(503, "too_many_connections", "too many connections: close some, or try again later")
        )
        return
    message_limit = club.message_limits.get(f"of {account.id}") if account else RateLimit(*VISITOR_RATE)
    network_limit = None if account or is_loopback(client_network) else network_limits.get(client_network)
    connection = ClubConnection(socket, server, account, message_limit, network_limit)
    digest = digest_of(read_secret(socket.headers, socket.cookies)[0])
    if account:
        club.connections_by_digest.setdefault(digest, set()).add(connection.close)
    try:
        await socket.accept()
        await connection.serve()
    finally:
        club.open_connections.release(keys)
        if closers := club.connections_by_digest.get(digest):
            closers.discard(connection.close)
            if not closers:
                del club.connections_by_digest[digest]


async def _refuse(socket: WebSocket, refusal: ApiError) -> None:
    await socket.accept()
    with suppress(*DISCONNECTED):
        await socket.send_text(json.dumps({"type": "refused", **describe_error(refusal)}))
        await socket.close(TRY_AGAIN if refusal.status_code == 503 else POLICY_VIOLATION, refusal.detail)


def is_loopback(client_network: str) -> bool:
    """Return whether a client network is a loopback address, or is empty because the address is unknown."""
    try:
        return ipaddress.ip_address(client_network).is_loopback
    except ValueError:
        return not client_network
