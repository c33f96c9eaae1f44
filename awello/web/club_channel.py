"""The channel of the club: what a page or a program asks for, and what it is told, over one WebSocket.

A message is one JSON text, `{"id": 7, "do": "move", "game": 3, "ply": 12, "move": "f5"}`; its answer carries the id and
`ok`.  Whatever happens in between is told as `{"event": ...}`.  Whoever does not listen is disconnected, and finds
everything as it was when they come back.
"""

import asyncio
import ipaddress
import json
import logging
from collections import deque
from contextlib import suppress
from time import monotonic
from typing import Any

from pydantic import ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect

from awello.club.accounts import Account, digest_of
from awello.club.hall import Hall
from awello.club.seat import Guest, Telling
from awello.club.table import Refused
from awello.errors import AwelloError
from awello.web.club_messages import MESSAGES, Move, Pong
from awello.web.clubhouse import (
    MOST_CONNECTIONS,
    MOST_OF_ACCOUNT,
    MOST_OF_ADDRESS,
    MOST_WATCHERS,
    WATCHER,
    Clubhouse,
    secret_of,
)
from awello.web.complaints import complaint
from awello.web.door import Refusal, address_of
from awello.web.limits import Bucket, Buckets, network_of
from awello.web.live import MOST_WRONG, POLICY_VIOLATION, WrongMessage, afford, read_message, take_identity

WAITING = 256  # messages that wait for somebody who listens slowly
PING = 5.0  # seconds between two looks at how long the network takes
PATIENCE = 30.0  # seconds without an answer to them, after which a connection is dead
TRY_AGAIN = 1013
WATCHER_COST = 4.0  # milliseconds of the event loop that a message without an account costs its network


async def attend(socket: WebSocket, house: Clubhouse, costs: Buckets) -> None:
    """Let a connection into the club, and serve it until it ends."""
    network = network_of(address_of(socket))
    if not house.arrivals.take(network):
        await socket.close(TRY_AGAIN)  # who comes that often is not even told why
        return
    try:
        account = await house.who(socket.headers, socket.cookies)
        hall = house.hall
    except Refusal as refusal:
        await _refuse(socket, refusal)
        return
    keys = {"": MOST_CONNECTIONS, f"from {network}": MOST_OF_ADDRESS}
    keys |= {f"of {account.number}": MOST_OF_ACCOUNT} if account else {"watch": MOST_WATCHERS}
    if not house.connections.enter(keys):
        await _refuse(socket, Refusal(503, "many", "there are too many connections: close some, or come back later"))
        return
    bucket = house.messages.find(f"of {account.number}") if account else Bucket(*WATCHER)
    outside = None if is_loopback(network) else network
    share = costs.find(network) if outside and not account else None
    attendance = Attendance(socket, hall, account, bucket, outside, share)
    digest = digest_of(secret_of(socket.headers, socket.cookies)[0])
    if account:
        house.attending.setdefault(digest, set()).add(attendance.end)
    try:
        await socket.accept()
        await attendance.serve()
    finally:
        house.connections.leave(keys)
        if attending := house.attending.get(digest):
            attending.discard(attendance.end)
            if not attending:
                del house.attending[digest]


async def _refuse(socket: WebSocket, refusal: Refusal) -> None:
    await socket.accept()
    with suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_text(json.dumps({"event": "refused", "code": refusal.code, "message": refusal.detail}))
        await socket.close(TRY_AGAIN if refusal.status_code == 503 else POLICY_VIOLATION, refusal.detail)


class Attendance:
    """A connection to the club."""

    def __init__(
        self,
        socket: WebSocket,
        hall: Hall,
        account: Account | None,
        bucket: Bucket,
        network: str | None,
        share: Bucket | None,
    ) -> None:
        self.socket, self.hall = socket, hall
        self.share = share  # the network's share of the event loop, which pays for messages without an account
        self.guest = Guest(account, self._tell, network=network, curious=account is None or not account.program)
        self.waiting: asyncio.Queue[Any] = asyncio.Queue(WAITING)
        self.bucket, self.wrong, self.reason = bucket, 0, ""
        self.pings: deque[tuple[int, float]] = deque(maxlen=8)
        self.trips: deque[float] = deque(maxlen=5)
        self.heard = monotonic()
        self.ended = asyncio.Event()

    def end(self, reason: str) -> None:
        """Let the connection end, whatever it does."""
        self.reason = reason
        self.ended.set()

    async def serve(self) -> None:
        """Hear and tell until the connection ends."""
        self.hall.enter(self.guest)
        tasks = [asyncio.create_task(work) for work in (self._hear(), self._say(), self._ping(), self.ended.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self.hall.leave(self.guest)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with suppress(WebSocketDisconnect, RuntimeError):
                await self.socket.close(POLICY_VIOLATION if self.wrong >= MOST_WRONG else TRY_AGAIN, self.reason)

    def _tell(self, message: dict[str, Any]) -> None:
        """Let a message wait its turn; who lets too many wait is disconnected."""
        try:
            self.waiting.put_nowait(message)
        except asyncio.QueueFull:
            self.end("you listen too slowly")

    async def _say(self) -> None:
        while True:
            message = await self.waiting.get()
            await self.socket.send_text(message.text if isinstance(message, Telling) else json.dumps(message))

    async def _ping(self) -> None:
        """Look how long the network takes; a connection that does not answer ends."""
        number = 0
        while monotonic() - self.heard < PATIENCE:
            number += 1
            self.pings.append((number, monotonic()))
            self._tell({"event": "ping", "number": number})
            await asyncio.sleep(PING)
        self.reason = "you did not answer pings"

    async def _hear(self) -> None:
        while self.wrong < MOST_WRONG:
            received = await self.socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            self.heard = monotonic()
            self.guest.received = received.get("received")
            await self._answer(received.get("text"))
        self.reason = "too many wrong messages"

    async def _answer(self, text: str | None) -> None:
        """Carry out a message; its answer says whether that was possible."""
        identity: Any = None
        allowed = self.bucket.take() and await afford(self.share, text, WATCHER_COST)
        try:
            fields = read_message(text)
            identity = None if fields.get("do") == "pong" else take_identity(fields)
            request = parse_request(fields)
            if not allowed and not self._is_due(request):
                self.wrong += 1
                raise Refused("often", f"at most {self.bucket.rate:.0f} messages a second: send this one again later")
            if isinstance(request, Pong):
                self._measure(request)
                return
            found = await request.act(self.hall, self.guest)
            self.wrong = 0
            self._tell({"id": identity, "ok": True, **found})
        except Refused as error:
            self._tell({"id": identity, "ok": False, "code": error.code, "message": str(error), **error.facts})
        except (ValidationError, AwelloError) as error:
            self.wrong += not isinstance(error, AwelloError) or isinstance(error, WrongMessage)
            code, message = complaint(error)
            self._tell({"id": identity, "ok": False, "code": code, "message": message})
        except Exception:
            logging.getLogger("awello").exception("a message to the club failed")
            self.wrong += 1
            message = "the club could not handle this message: see the server's log"
            self._tell({"id": identity, "ok": False, "code": "server", "message": message})

    def _is_due(self, request: Any) -> bool:
        """Whether a message is the move that a game waits for: the game itself limits these to one per turn."""
        return isinstance(request, Move) and self.hall.awaits(self.guest, request.game, request.ply, request.move)

    def _measure(self, pong: Pong) -> None:
        """Measure the round trip of a ping; the shortest of the recent ones counts, since none can be too short."""
        for number, moment in self.pings:
            if number == pong.number:
                self.trips.append(monotonic() - moment)
                self.guest.lag = min(self.trips)
        while self.pings and self.pings[0][0] <= pong.number:
            self.pings.popleft()


def parse_request(fields: dict[str, Any]) -> Any:
    """The request of a message; an error says what is wrong with it."""
    do = fields.pop("do", None)
    if not isinstance(do, str) or do not in MESSAGES:
        given = repr(do[:20]) if isinstance(do, str) else "this"
        raise WrongMessage(f"do: {given} is not one of {', '.join(MESSAGES)}")
    return MESSAGES[do].model_validate(fields)


def is_loopback(network: str) -> bool:
    """Whether a connection comes from this machine, or from nowhere that is known."""
    try:
        return ipaddress.ip_address(network).is_loopback
    except ValueError:
        return not network
