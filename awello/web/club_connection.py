"""The club over a WebSocket: what a page or a bot asks for, and the events it is sent.

A client that reads too slowly is disconnected, and finds everything as it was when it connects again.
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
from awello.web.club_service import ClubService, secret_of
from awello.web.connection import DISCONNECTED, POLICY_VIOLATION, TRY_AGAIN, Fields, MessageConnection, RequestId
from awello.web.errors import ApiError, describe_error
from awello.web.rate_limits import RateLimit, RateLimits
from awello.web.request_guard import network_of_client

MOST_CONNECTIONS, MOST_WATCHERS, MOST_OF_ADDRESS, MOST_OF_ACCOUNT = 5000, 1000, 256, 16
PING = 5.0  # seconds between two measurements of the round trip
PATIENCE = 30.0  # seconds without any message, after which a connection is dead
WATCHER = (40, 5)  # messages of a connection without an account: at once, and a second
WATCHER_COST = 4.0  # milliseconds of the event loop that a message without an account costs its network


class ClubConnection(MessageConnection):
    """A connection to the club, with an account or only to watch."""

    requests = {type: request for type, (request, _) in REQUESTS.items()} | {"pong": Pong}
    without_id = ("pong",)

    def __init__(
        self, socket: WebSocket, hall: ClubServer, account: Account | None, rate: RateLimit, budget: RateLimit | None
    ) -> None:
        super().__init__(socket, rate, budget, WATCHER_COST)
        self.hall = hall
        network = network_of_client(socket)
        outside = None if is_loopback(network) else network
        self.guest = ClientConnection(
            account, self.post, network=outside, curious=account is None or not account.program
        )
        self.pings: deque[tuple[int, float]] = deque(maxlen=8)
        self.trips: deque[float] = deque(maxlen=5)
        self.heard = monotonic()

    async def serve(self) -> None:
        """Be in the club until the connection ends."""
        self.hall.enter(self.guest)
        self.running["ping"] = asyncio.create_task(self._ping())
        await super().serve()

    def on_close(self) -> None:
        """Leave the club."""
        self.hall.leave(self.guest)

    async def handle(self, request_id: RequestId, type: str, request: Any) -> None:
        """Carry out a request, and answer what came of it."""
        if isinstance(request, Pong):
            self._measure(request)
        else:
            found = await REQUESTS[type][1](self.hall, self.guest, request)
            self.post({"id": request_id, "type": "done", **found})

    def on_receive(self, event: Mapping[str, Any]) -> None:
        """Remember when a message arrived: a move is charged by that."""
        self.heard, self.guest.received = monotonic(), event.get("received")

    def is_exempt(self, fields: Fields) -> bool:
        """Whether a message is the move that a game waits for: the game itself limits these to one per turn."""
        try:
            move = MoveRequest.model_validate({name: value for name, value in fields.items() if name != "type"})
        except ValidationError:
            return False
        return fields.get("type") == "move" and self.hall.awaits(self.guest, move.game, move.ply, move.move)

    async def _ping(self) -> None:
        """Measure the round trip; a connection that does not answer ends."""
        number = 0
        while monotonic() - self.heard < PATIENCE:
            number += 1
            self.pings.append((number, monotonic()))
            self.post({"type": "ping", "number": number})
            await asyncio.sleep(PING)
        self.close("you did not answer pings")

    def _measure(self, pong: Pong) -> None:
        """Take the round trip of a ping; the shortest of the recent ones counts, since none can be too short."""
        for number, moment in self.pings:
            if number == pong.number:
                self.trips.append(monotonic() - moment)
                self.guest.lag = min(self.trips)
        while self.pings and self.pings[0][0] <= pong.number:
            self.pings.popleft()


async def serve_club(socket: WebSocket, house: ClubService, budgets: RateLimits) -> None:
    """Let a connection into the club, and serve it until it ends."""
    network = network_of_client(socket)
    if not house.arrivals.take(network):
        await socket.close(TRY_AGAIN)  # clients that come that often are not even told why
        return
    try:
        account = await house.who(socket.headers, socket.cookies)
        hall = house.hall
    except ApiError as refusal:
        await _refuse(socket, refusal)
        return
    keys = {"": MOST_CONNECTIONS, f"from {network}": MOST_OF_ADDRESS}
    keys |= {f"of {account.number}": MOST_OF_ACCOUNT} if account else {"watch": MOST_WATCHERS}
    if not house.connections.acquire(keys):
        await _refuse(
            socket, ApiError(503, "too_many_connections", "too many connections: close some, or try again later")
        )
        return
    rate = house.messages.get(f"of {account.number}") if account else RateLimit(*WATCHER)
    budget = None if account or is_loopback(network) else budgets.get(network)
    connection = ClubConnection(socket, hall, account, rate, budget)
    digest = digest_of(secret_of(socket.headers, socket.cookies)[0])
    if account:
        house.attending.setdefault(digest, set()).add(connection.close)
    try:
        await socket.accept()
        await connection.serve()
    finally:
        house.connections.release(keys)
        if attending := house.attending.get(digest):
            attending.discard(connection.close)
            if not attending:
                del house.attending[digest]


async def _refuse(socket: WebSocket, refusal: ApiError) -> None:
    await socket.accept()
    with suppress(*DISCONNECTED):
        await socket.send_text(json.dumps({"type": "refused", **describe_error(refusal)}))
        await socket.close(TRY_AGAIN if refusal.status_code == 503 else POLICY_VIOLATION, refusal.detail)


def is_loopback(network: str) -> bool:
    """Whether a connection comes from this machine, or from nowhere that is known."""
    try:
        return ipaddress.ip_address(network).is_loopback
    except ValueError:
        return not network
