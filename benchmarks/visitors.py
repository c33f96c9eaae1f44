"""Ordinary visitors of the page, and attacks that need no account, for `benchmarks/club_attacks.py`.

Ordinary visitors, the school class and the attackers connect from different loopback addresses.
"""

import asyncio
import json
import random
import socket
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from functools import cache
from itertools import count
from typing import Any
from urllib.parse import urlsplit

import httpx2 as httpx
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from awello import Game, Position

HOSTILE, ORDINARY, SCHOOL = "127.0.0.2", "127.0.0.3", "127.0.0.4"
HOSTNAME = "club.example.org"
ROUND_SECONDS = 2.0  # average total of a visitor's pauses in a round of four actions
CONNECTION_ERRORS = (OSError, ConnectionClosed, InvalidHandshake, TimeoutError, httpx.TransportError)

Attack = Callable[[str, float], Coroutine[Any, Any, str]]


def split_address(address: str) -> tuple[str, int]:
    """Return the host and port of a URL."""
    parts = urlsplit(address)
    return parts.hostname or "", parts.port or 0


def make_http_client(address: str, source: str) -> httpx.AsyncClient:
    """Create an HTTP client that connects from the address `source`."""
    host, port = split_address(address)
    transport = httpx.AsyncHTTPTransport(local_address=source, limits=httpx.Limits(max_connections=None))
    return httpx.AsyncClient(base_url=f"http://{host}:{port}", transport=transport, timeout=60)


def open_websocket(address: str, source: str, **headers: str) -> Any:
    """Open a WebSocket connection from the address `source`."""
    host, port = split_address(address)
    url = f"ws://{host}:{port}/api/engine"
    return connect(url, local_addr=(source, 0), additional_headers=headers, ping_interval=None)


async def run_for(attackers: list[Awaitable[None]], seconds: float) -> None:
    """Run attackers at the same time for this number of seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*attackers)


async def repeat_forever(act: Callable[[], Awaitable[None]]) -> None:
    """Repeat an action forever, ignoring connection errors."""
    while True:
        with suppress(*CONNECTION_ERRORS):
            await act()
        await asyncio.sleep(0.01)


@cache
def make_long_game() -> dict[str, Any]:
    """Generate an Awalé game of up to 600 plies: the longest of 200 random games."""
    best: list[str] = []
    for seed in range(200):
        rng, position, names = random.Random(seed), Position.start(Game.ROMEIN), list[str]()
        while not position.over and len(names) < 600:
            moves = list(position.legal_moves())
            quiet = [move for move in moves if position.after(move).opp >> 48 == position.own >> 48]
            move = rng.choice(quiet or moves)
            names.append(position.format_move(move))
            position = position.after(move)
        best = max(best, names, key=len)
    return {"game": "romein", "moves": best}


MIDGAME = {"moves": ["f5", "d6", "c3", "d3", "c4"]}


# ---- ordinary visitors -----------------------------------------------------------------------------------------------
class SimulatedVisitor:
    """A visitor who plays and analyses, and records response times and refusals."""

    def __init__(self, address: str, source: str = ORDINARY, seed: int = 0) -> None:
        self.address, self.source, self.rng = address, source, random.Random(seed)
        self.response_times: dict[str, list[float]] = defaultdict(list)
        self.refusals: Counter[str] = Counter()

    async def run(self) -> None:
        """Use the page until cancelled."""
        await asyncio.sleep(ROUND_SECONDS * self.rng.random())
        async with make_http_client(self.address, self.source) as client:
            while True:
                for kind, act in (
                    ("page", self._load_page),
                    ("positions", self._load_positions),
                    ("choose", None),
                    ("analyse", None),
                ):
                    started = time.perf_counter()
                    try:
                        await (act(client) if act else self._request(kind))
                    except CONNECTION_ERRORS as error:
                        self.refusals[f"{kind}: {type(error).__name__}"] += 1
                    self.response_times[kind].append(time.perf_counter() - started)
                    await asyncio.sleep(ROUND_SECONDS * self.rng.uniform(0.5, 1.5) / 4)

    async def _load_page(self, client: httpx.AsyncClient) -> None:
        for path in ("/", "/static/js/server.js", "/api/rules"):
            self._record_status("page", (await client.get(path)).status_code)

    async def _load_positions(self, client: httpx.AsyncClient) -> None:
        self._record_status(
            "positions", (await client.post("/api/positions", json={**MIDGAME, "first_ply": 4})).status_code
        )

    def _record_status(self, kind: str, status: int) -> None:
        if status != 200:
            self.refusals[f"{kind}: {status}"] += 1

    async def _request(self, kind: str) -> None:
        fields = {"player": "champion@level=4"} if kind == "choose" else {"seconds": 0.3}
        async with open_websocket(self.address, self.source) as live:
            await live.send(json.dumps({"id": 1, "type": kind, **MIDGAME, **fields}))
            while (response := json.loads(await asyncio.wait_for(live.recv(), 60)))["type"] != "done":
                if response["type"] == "error":
                    self.refusals[f"{kind}: {response['code']}"] += 1
                    return

    def report(self) -> str:
        """Describe the response times (median and longest per action) and refusals since the last report."""
        waits = [
            f"{kind} {statistics.median(each):.2f}/{max(each):.2f} s"
            for kind, each in self.response_times.items()
            if each
        ]
        summary = f"{', '.join(waits)}, refused {dict(self.refusals) or 0}"
        self.response_times.clear()
        self.refusals.clear()
        return summary


async def school_class(address: str, seconds: float) -> str:
    """Simulate thirty ordinary visitors behind one address: legitimate use, not an attack."""
    people = [SimulatedVisitor(address, SCHOOL, seed) for seed in range(30)]
    await run_for([person.run() for person in people], seconds)
    total = SimulatedVisitor(address)
    for person in people:
        total.refusals.update(person.refusals)
        for kind, waits in person.response_times.items():
            total.response_times[kind] += waits
    return f"thirty people: {total.report()}"


# ---- attacks --------------------------------------------------------------------------------------------------------
async def queue_reviews(address: str, seconds: float) -> str:
    """Request 8 reviews on each of 26 connections; repeat refused requests."""
    codes: Counter[str] = Counter()

    async def attack_once() -> None:
        async with open_websocket(address, HOSTILE) as live:
            for number in range(8):
                await live.send(json.dumps({"id": number, "type": "review", "seconds": 10, **make_long_game()}))
            async for text in live:
                response = json.loads(text)
                codes[response.get("code", response["type"])] += 1
                if response["type"] == "error":
                    await asyncio.sleep(0.1)
                    await live.send(
                        json.dumps({"id": response["id"], "type": "review", "seconds": 10, **make_long_game()})
                    )

    await run_for([repeat_forever(attack_once) for _ in range(26)], seconds)
    return f"{dict(codes)}"


def _format_post(path: str, fields: dict[str, Any]) -> bytes:
    body = json.dumps(fields).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


async def close_reviews(address: str, seconds: float) -> str:
    """Request reviews and disconnect immediately."""
    sent, request = count(), _format_post("/api/review", {"seconds": 10, **make_long_game()})

    async def attack_once() -> None:
        _, writer = await asyncio.open_connection(*split_address(address), local_addr=(HOSTILE, 0))
        writer.write(request)
        await writer.drain()
        writer.close()
        next(sent)

    await run_for([repeat_forever(attack_once) for _ in range(20)], seconds)
    return f"{next(sent):,d} reviews"


def flood_with(
    method: str, path: str, fields: Callable[[], dict[str, Any]] | None = None, connections: int = 16
) -> Attack:
    """Return an attack that sends one kind of request over persistent connections as fast as possible."""

    async def attack(address: str, seconds: float) -> str:
        statuses: Counter[int] = Counter()
        body = fields() if fields else None
        async with make_http_client(address, HOSTILE) as client:

            async def attack_once() -> None:
                while True:
                    statuses[(await client.request(method, path, json=body)).status_code] += 1

            await run_for([repeat_forever(attack_once) for _ in range(connections)], seconds)
        return f"{dict(statuses)}"

    return attack


async def analyse_long_games(address: str, seconds: float) -> str:
    """Request analyses of a long game on 8 connections; each request replaces the previous one."""
    sent = count()

    async def attack_once() -> None:
        async with open_websocket(address, HOSTILE) as live:
            text = json.dumps({"id": 1, "type": "analyse", "seconds": 60, **make_long_game()})
            reading = asyncio.create_task(_drain(live))
            try:
                while True:
                    await live.send(text)
                    next(sent)
            finally:
                reading.cancel()

    await run_for([repeat_forever(attack_once) for _ in range(8)], seconds)
    return f"{next(sent):,d} messages"


async def _drain(live: Any) -> None:
    with suppress(*CONNECTION_ERRORS):
        async for _ in live:
            pass


def _make_contest() -> dict[str, Any]:
    players = [f"alphabeta@{depth}" for depth in range(3, 11)]
    return {"game": "othello", "players": players, "rounds": 50, "move_time": 5}


async def never_read(address: str, seconds: float) -> str:
    """Request large responses on 60 connections without reading them; reconnect when the server closes a connection."""
    cut_off, requests = count(), _format_post("/api/tree", {**MIDGAME, "search": "minimax@4"})
    requests += _format_post("/api/positions", make_long_game()) * 5

    async def attack_once() -> None:
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.bind((HOSTILE, 0))
        connection.setblocking(False)
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_connect(connection, split_address(address))
            while True:
                await loop.sock_sendall(connection, requests)
                await asyncio.sleep(0.5)
        finally:
            connection.close()
            next(cut_off)

    await run_for([repeat_forever(attack_once) for _ in range(60)], seconds)
    return f"{max(0, next(cut_off) - 60):,d} cut off"


async def open_many_websockets(address: str, seconds: float) -> str:
    """Open 700 WebSocket connections as a local reverse proxy would for clients of one IPv6 /64."""
    opened, refused = 0, 0
    async with AsyncExitStack() as stack:
        for number in range(700):
            try:
                live = open_websocket(address, "127.0.0.1", **{"x-forwarded-for": f"2001:db8:1:2::{number:x}"})
                one = await stack.enter_async_context(live)
                await one.send('{"id": 1, "type": "analyse", "seconds": 60}')
                await asyncio.wait_for(one.recv(), 0.05)
                opened += 1
            except TimeoutError:
                opened += 1
            except CONNECTION_ERRORS:
                refused += 1
        await asyncio.sleep(max(0.0, seconds - 30))
    return f"{opened} connections, {refused} refused"


ATTACKS: dict[str, Attack] = {
    "a class of thirty": school_class,
    "reviews on WebSockets": queue_reviews,
    "closed reviews": close_reviews,
    "positions": flood_with("POST", "/api/positions", make_long_game),
    "trees": flood_with("POST", "/api/tree", lambda: {**MIDGAME, "search": "minimax@4"}),
    "the page": flood_with("GET", "/"),
    "long analyses": analyse_long_games,
    "contests": flood_with("POST", "/api/contests", _make_contest, connections=4),
    "unread responses": never_read,
    "WebSockets of a /64": open_many_websockets,
}
