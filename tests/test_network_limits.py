"""Limits per client network on requests, connections and unread bytes; invalid values are refused."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from clubs import run_server_thread
from conftest import random_record
from fastapi.testclient import TestClient
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from awello import Game
from awello.errors import AwelloError
from awello.players.player import Player
from awello.web import app as web
from awello.web import client_players, engine_connection, http_server, rate_limits, request_guard
from awello.web.app import create_app
from awello.web.archive_service import ArchiveService
from awello.web.client_players import make_client_player
from awello.web.club_service import ClubService
from awello.web.connection import TRY_AGAIN
from awello.web.engine_pool import EnginePool
from awello.web.engine_tasks import AnalyseTask
from awello.web.http_server import HttpServerConfig
from awello.web.page_files import STATIC_FOLDER
from awello.web.rate_limits import RateLimit, RateLimits

HOST = "127.0.0.1:8421"


def client_at(address: str, app: Any = None) -> TestClient:
    """Return an HTTP client with this IP address."""
    return TestClient(app or create_app(0, archive=None), f"http://{HOST}", client=(address, 50000))


@pytest.fixture(scope="module")
def remote_client() -> Iterator[TestClient]:
    with client_at("127.0.0.1") as found:
        yield found


# ---- requests -------------------------------------------------------------------------------------------------------
def test_a_rate_limit_gives_the_time_to_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(rate_limits, "monotonic", lambda: now)
    bucket = RateLimit(10, 5)
    assert [bucket.reserve(10, 2.0), bucket.reserve(5, 2.0), bucket.reserve(5, 2.0)] == [0.0, 1.0, 2.0]
    assert bucket.reserve(1, 2.0) is None and bucket.take() is False
    now += 3.0
    assert bucket.reserve(5, 0.0) == 0.0
    bucket.spend(5)
    assert bucket.reserve(5, 2.0) == 2.0


def test_every_request_is_charged_to_its_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_guard, "MAX_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(web, "EVENT_LOOP_RATE", (5.0, 1.0))
    monkeypatch.setattr(rate_limits, "monotonic", lambda: 100.0)
    app = create_app(0, archive=None)
    for path in ("/", "/static/js/server.js", "/api/rules", "/nothing"):
        statuses = [client_at(f"203.0.113.{len(path)}", app).get(path).status_code for _ in range(30)]
        assert statuses[0] != 429 and statuses[-1] == 429, path
    assert client_at("203.0.113.99", app).get("/").status_code == 200, "another network has its own limit"
    assert client_at("127.0.0.1", app).get("/").status_code == 200
    refused = client_at("203.0.113.1", app).get("/")
    assert refused.headers["connection"] == "close" and refused.json()["code"] == "rate_limit"


def test_bytes_without_an_announced_length_are_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limits, "monotonic", lambda: 100.0)
    costs, levels = RateLimits(*request_guard.EVENT_LOOP_RATE), []
    guarded = request_guard.RequestGuard(create_app(0, archive=None), network_limits=costs)
    for address, body in (("203.0.113.1", b" " * 50_000), ("203.0.113.2", iter([b" " * 50_000]))):
        client_at(address, guarded).post("/api/detect", content=body)
        levels.append(costs.get(address).tokens)
    assert levels[0] == pytest.approx(levels[1], abs=0.1) and levels[0] < request_guard.EVENT_LOOP_RATE[0] - 10


def test_expensive_requests_cost_more() -> None:
    cost = request_guard.estimate_cost
    small, file = cost("/api/positions", 100), cost("/static/js/server.js", 0)
    assert file < small < cost("/api/positions", 6000) < cost("/api/games", 6000)


def test_a_class_can_open_the_page_within_its_limit() -> None:
    """Thirty people behind one address can open the page at the same time without long delays."""
    files = [path for path in STATIC_FOLDER.rglob("*") if path.is_file()]
    # the page loads the texts of only one language; the French texts are longer than the English ones
    sizes = [file.stat().st_size for file in files if file.name != "en.js"]
    bucket = RateLimit(*request_guard.EVENT_LOOP_RATE)
    waits = [
        bucket.reserve(
            request_guard.FILE_COST_MS + size / request_guard.BYTES_SENT_PER_MS, request_guard.MAX_DELAY_SECONDS
        )
        for _ in range(30)
        for size in sizes
    ]
    assert None not in waits and max(filter(None, waits), default=0.0) < 2.0


# ---- WebSockets -----------------------------------------------------------------------------------------------------
def test_websockets_are_counted_by_network_behind_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_connection, "MAX_ENGINE_CONNECTIONS_PER_NETWORK", 3)
    with run_server_thread(None, names=["club.example.org"]) as address, ExitStack() as stack:

        def channel_from(client: str) -> ClientConnection:
            headers = {"x-forwarded-for": client}
            where = address.replace("http", "ws") + "api/engine"
            return stack.enter_context(connect(where, additional_headers=headers))

        def is_open(channel: ClientConnection) -> bool:
            try:
                channel.send('{"id": 1, "type": "nothing"}')
                return "nothing" in json.loads(channel.recv(timeout=20))["message"]
            except ConnectionClosed as closed:
                assert closed.rcvd is not None and closed.rcvd.code == TRY_AGAIN
                return False

        of_one = [channel_from(f"2001:db8:1:2:{number}::1") for number in range(4)]
        assert [is_open(channel) for channel in of_one] == [True, True, True, False]
        assert is_open(channel_from("2001:db8:1:3::1")), "another network has its own limit"


def test_a_disconnected_client_causes_no_error() -> None:
    class DisconnectedClient:
        client = None

        async def send_text(self, text: str) -> None:
            raise RuntimeError('Cannot call "send" once a close message has been sent.')

    async def answer() -> None:
        club = ClubService(None, ArchiveService(None))
        disconnected: Any = DisconnectedClient()
        channel = engine_connection.EngineConnection(
            disconnected, EnginePool(0), RateLimits(*request_guard.EVENT_LOOP_RATE), club
        )
        await channel._respond(
            1, AnalyseTask(random_record(Game.OTHELLO4, 1), 1.0)
        )  # one response, as the game is over

    asyncio.run(answer())


# ---- unread answers -------------------------------------------------------------------------------------------------
class FakeTransport:
    """A transport whose client does not read."""

    def __init__(self, unread: int) -> None:
        self.unread, self.aborted = unread, False

    def get_write_buffer_size(self) -> int:
        return self.unread

    def abort(self) -> None:
        self.aborted = True


class FakeConnection:
    def __init__(self, unread: int, address: str = "203.0.113.7") -> None:
        self.transport, self.unread, self.scope = FakeTransport(unread), (0, 0.0), {"client": (address, 1)}
        self.client = address, 1


def test_unread_responses_end_the_connection() -> None:
    config = HttpServerConfig(create_app(0, archive=None))
    stuck, slow, small = FakeConnection(1 << 19), FakeConnection(1 << 19), FakeConnection(100)
    config.connections |= {stuck, slow, small}  # type: ignore[arg-type]
    for second in range(20):
        config.abort_unread(float(second))
        slow.transport.unread -= http_server.MIN_READ_BYTES
    assert [each.transport.aborted for each in (stuck, slow, small)] == [True, False, False]


def test_the_unread_bytes_of_a_network_are_limited() -> None:
    config = HttpServerConfig(create_app(0, archive=None))
    of_one = [FakeConnection(1 << 19, f"2001:db8:1:2::{number}") for number in range(60)]
    other = FakeConnection(1 << 19, "2001:db8:1:3::1")
    config.connections |= {*of_one, other}  # type: ignore[arg-type]
    config.abort_unread(0.0)
    left = sum(each.transport.unread for each in of_one if not each.transport.aborted)
    assert left == http_server.MAX_UNREAD_BYTES_PER_NETWORK and not other.transport.aborted


def test_a_client_that_never_reads_is_disconnected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "CHECK_INTERVAL", 0.01)
    monkeypatch.setattr(http_server, "READ_TIMEOUT", 0.1)
    body = json.dumps({"game": "romein", "moves": [], "search": "minimax@4"}).encode()
    message = b"POST /api/tree HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    message += b"Content-Length: %d\r\n\r\n" % len(body) + body
    with run_server_thread(None) as address, closing(socket.socket()) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", int(address.rstrip("/").rsplit(":", 1)[1])))
        connection.sendall(message)
        with pytest.raises(OSError):  # raised after unread answers have filled the system's buffers
            while True:
                connection.sendall(message)


def test_messages_have_the_time_of_their_arrival() -> None:
    async def hear() -> None:
        channel = http_server.GuardedWebSocket.__new__(http_server.GuardedWebSocket)
        channel.queue, channel.read_paused, channel.received = asyncio.Queue(), False, 12.5
        channel.queue.put_nowait({"type": "websocket.receive", "text": "{}"})
        assert await channel.receive() == {"type": "websocket.receive", "text": "{}", "received": 12.5}

    asyncio.run(hear())


# ---- invalid and valid settings -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "search",
    [
        "alphabeta:mobility@2,corners=99999999999999999999",
        "alphabeta:mobility@2,corners=-99999999999999999999",
        "alphabeta:mobility@2,corners=1e999",
        "alphabeta:mixed@2,thresholds=99999999999999999999-99999999999999999999",
        "alphabeta:mixed@2,thresholds=1e5-nan",
        "alphabeta:mixed@2,thresholds=٣-٤",
        "alphabeta@2,tt_entries=1024",
        "alphabeta@999999999",
    ],
)
def test_numbers_out_of_range_get_a_clear_message(remote_client: TestClient, search: str) -> None:
    answer = remote_client.post("/api/tree", json={"search": search})
    assert answer.status_code in (400, 422) and "\n" not in answer.json()["message"]


def test_trees_are_limited_in_size(remote_client: TestClient) -> None:
    answer = remote_client.post("/api/tree", json={"moves": ["f5", "d6", "c3", "d3", "c4"], "search": "minimax@4"})
    assert answer.status_code == 200 and len(answer.content) < 1 << 20


@pytest.mark.parametrize(
    "spec",
    [
        "champion@1s,threads=4",
        "champion@1s,hash=65536",
        "champion@1s,weights=/etc/passwd",
        "champion@1s,ponder=true",
        "champion@1s,max_loss=1e308",
        "otage@1s,learning=true",
        "uct@1s,max_nodes=67108864",
        "puct@1s,weights=/etc/passwd",
        "minimax@2,square_table=/etc/passwd",
        "nboard@1s,command=sh",
    ],
)
def test_settings_are_validated_before_the_player_is_made(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(spec: Any) -> Player:
        raise AssertionError("the player was made")

    monkeypatch.setattr(client_players, "make_player", make)
    with pytest.raises(AwelloError):
        make_client_player(spec)


@pytest.mark.parametrize(
    "spec", ["champion@level=4,max_loss=4,mistake_percent=20", "alphabeta:mixed@4,thresholds=20-50,move_ordering=false"]
)
def test_ordinary_settings_are_allowed(spec: str) -> None:
    assert str(make_client_player(spec)) == spec
