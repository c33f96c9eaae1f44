"""Hostile clients: their messages have no effect, and others can continue to play."""

import json
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from clubs import PASSWORD, ClubChannel, ClubHttpClient, run_server_thread, sign_up
from waiting import TIMEOUT, wait_until
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from awello.club import accounts
from awello.web import club_connection, club_service, http_server, request_guard
from awello.web.club_service import SESSION_COOKIE

CONNECTIONS = 10_000
HEALTH = b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class HostileClub:
    """A club in which Ann and Bob play each other, and Eve is hostile."""

    def __init__(self, address: str, stack: ExitStack) -> None:
        self.address, self.stack = address, stack
        self.people = [self.visitor(name) for name in ("Ann", "Bob", "Eve")]
        self.eve = self.people[2]
        self.channels = [stack.enter_context(person.connect()) for person in self.people[:2]]
        self.begin()

    def begin(self) -> None:
        """Start a new game."""
        offer = self.channels[0].request("seek", variant="othello", seconds=300, side=0)["seek"]
        self.game, self.ply = self.channels[1].request("accept", number=offer)["game"], 0

    def visitor(self, name: str = "") -> ClubHttpClient:
        visitor = self.stack.enter_context(ClubHttpClient(base_url=self.address))
        if name:
            sign_up(visitor, name)
        return visitor

    def state(self) -> dict[str, Any]:
        """Return the state of the game without its clocks."""
        found = self.channels[0].request("watch", game=self.game)
        return {key: found[key] for key in ("moves", "over", "draw_offer", "ply", "legal", "mover", "players")}

    def play_on(self) -> None:
        """Make one legal move, and check that nothing else has changed."""
        before = self.state()
        assert before["ply"] == self.ply
        if before["over"]:
            self.begin()
            before = self.state()
        move = before["legal"][0]
        answer = self.channels[before["mover"]].request("move", game=self.game, ply=self.ply, move=move)
        assert answer["type"] == "done"
        self.ply = answer["ply"]
        assert self.state()["moves"][: before["ply"] + 1] == [*before["moves"], move]

    def call(self, first: bytes = b"", address: str = "127.0.0.1") -> socket.socket:
        """Open a raw TCP connection and send `first`."""
        found = socket.create_connection(("127.0.0.1", urlsplit(self.address).port or 0), source_address=(address, 0))
        found.settimeout(TIMEOUT)
        found.sendall(first)
        return found

    def connect_with(self, secret: str = "", cookie: str = "", scheme: str = "Bearer") -> dict[str, Any]:
        """Connect with these credentials; return the first message from the server."""
        headers = {"authorization": f"{scheme} {secret}"} if secret else {}
        headers |= {"cookie": f"{SESSION_COOKIE}={cookie}"} if cookie else {}
        with connect(self.address.replace("http", "ws") + "api/club/live", additional_headers=headers) as channel:
            found: dict[str, Any] = json.loads(channel.recv(timeout=TIMEOUT))
            return found


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HostileClub]:
    file = tmp_path_factory.mktemp("club") / "club.sqlite"
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr(club_service, "SIGNUP_RATE", (100, 1))
        patch.setattr(club_service, "SESSION_CHECK_SECONDS", 0.2)
        yield HostileClub(stack.enter_context(run_server_thread(file)), stack)


def is_closed(connection: socket.socket) -> bool:
    """Return whether the server closes a connection, possibly after sending data."""
    try:
        while connection.recv(1 << 16):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


# ---- unanswered pings -----------------------------------------------------------------------------------------------
def test_clients_that_do_not_answer_pings_are_disconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(club_connection, "PING_TIMEOUT", 0.5)
    monkeypatch.setattr(club_connection, "PING_SECONDS", 0.2)
    with (
        run_server_thread(tmp_path / "club.sqlite") as address,
        ClubHttpClient(base_url=address).connect() as channel,
        pytest.raises(ConnectionClosed),
    ):
        while True:
            channel.receive()


# ---- moves ----------------------------------------------------------------------------------------------------------
def test_moves_for_others_out_of_turn_or_repeated_are_refused(hostile: HostileClub) -> None:
    with hostile.eve.connect() as eve, hostile.visitor().connect() as spectator:
        for _ in range(4):
            before = hostile.state()
            move, ply = before["legal"][0], before["ply"]
            for intruder, code in ((eve, "not_your_game"), (spectator, "not_logged_in")):
                for do, fields in (
                    ("move", {"ply": ply, "move": move}),
                    ("resign", {}),
                    ("abort", {}),
                    ("draw", {}),
                    ("draw", {"accept": False}),
                ):
                    assert intruder.request(do, game=hostile.game, **fields)["code"] == code, do
            waiting = hostile.channels[1 - before["mover"]]
            assert waiting.request("move", game=hostile.game, ply=ply, move=move)["code"] == "not_your_turn"
            for wrong in (ply - 1, ply + 1, ply + 2, 999):
                assert (
                    hostile.channels[before["mover"]].request("move", game=hostile.game, ply=wrong, move=move)["type"]
                    == "error"
                )
            for spoof in ({"account": 1}, {"by": "Ann"}, {"side": 0}, {"now": 0.0}, {"lag": 9.0}):
                assert eve.request("move", game=hostile.game, ply=ply, move=move, **spoof)["code"] == "invalid_field"
            assert hostile.state() == before
            hostile.play_on()


def test_replayed_messages_change_nothing(hostile: HostileClub) -> None:
    ann, bob = hostile.channels
    sent = []
    for _ in range(4):
        before = hostile.state()
        mover = hostile.channels[before["mover"]]
        sent.append((mover, {"game": hostile.game, "ply": before["ply"], "move": before["legal"][0]}))
        hostile.play_on()
    before = hostile.state()
    for mover, fields in sent * 3:
        answer = mover.request("move", **fields)
        assert answer["type"] == "done" and answer["ply"] == before["ply"], (
            "the move is acknowledged again, but not played again"
        )
        other = bob if mover is ann else ann
        assert other.request("move", **fields)["type"] == "error"
    assert hostile.state() == before
    offer = ann.request("seek", variant="abapa", seconds=60)["seek"]
    assert bob.request("accept", number=offer)["type"] == "done"
    assert bob.request("accept", number=offer)["code"] == "offer_gone", "an offer is accepted once"
    hostile.play_on()


# ---- authentication -------------------------------------------------------------------------------------------------
def test_forged_secrets_are_refused(hostile: HostileClub) -> None:
    ann = hostile.people[0]
    ann.post("/api/club/bots", json={"name": "rex"})
    token = ann.post("/api/club/bots/rex/tokens", json={"label": "one"}).json()["token"]
    session = ann.cookies[SESSION_COOKIE]
    assert hostile.connect_with(token)["name"] == "rex" and hostile.connect_with(cookie=session)["name"] == "Ann"
    flipped = token[:-1] + ("A" if token[-1] != "A" else "B")
    forged = [
        flipped,
        token[:-1],
        token + "A",
        token.upper(),
        "awello_",
        "' OR '1'='1",
        "x" * 5000,
        session,
        "\xff\xfe",
    ]
    for secret in forged:
        assert hostile.connect_with(secret)["code"] == "invalid_token", secret[:40]
        headers = [(b"authorization", f"Bearer {secret}".encode())]
        assert ann.get("/api/club/session", headers=headers).status_code == 401
    for scheme in ("Basic", "Token", "bearerx"):
        assert hostile.connect_with(token, scheme=scheme)["code"] == "invalid_token"
    for cookie in (flipped, token, session[:-1], session.swapcase(), "' OR 1=1 --"):
        assert hostile.connect_with(cookie=cookie)["name"] is None, "the client is a visitor without an account"
    eve = hostile.eve
    assert eve.get("/api/club/bots/rex/tokens").status_code == 404
    assert eve.post("/api/club/bots/rex/tokens", json={"label": "mine"}).status_code == 404
    assert eve.delete("/api/club/bots/rex/tokens/1").status_code == 404
    assert hostile.connect_with(token)["name"] == "rex"
    hostile.play_on()


def test_connections_end_with_their_session_or_token(hostile: HostileClub) -> None:
    mal = hostile.visitor("Mal")
    mal.post("/api/club/bots", json={"name": "max"})
    token = mal.post("/api/club/bots/max/tokens", json={"label": "one"}).json()["token"]

    def ends(channel: ClubChannel) -> bool:
        with suppress(ConnectionClosed):
            for _ in range(50):
                channel.receive()
            return False
        return True

    credentials = {"authorization": f"Bearer {token}"}
    with hostile.visitor().connect(**credentials) as channel:
        number = mal.get("/api/club/bots/max/tokens").json()[0]["id"]
        assert mal.delete(f"/api/club/bots/max/tokens/{number}").json() == {"revoked": True}
        assert ends(channel)
    assert hostile.connect_with(token)["code"] == "invalid_token"
    with mal.connect() as channel:
        other = hostile.visitor()
        other.post("/api/club/session", json={"name": "Mal", "password": PASSWORD})
        wrong = other.put("/api/club/password", json={"old": "not this one", "new": "battery staple"})
        assert (wrong.status_code, wrong.json()["code"]) == (403, "wrong_password")
        assert other.put("/api/club/password", json={"old": PASSWORD, "new": "battery staple"}).json()["name"] == "Mal"
        assert ends(channel), "sessions with the old password have ended"
    with other.connect() as channel:
        other.delete("/api/club/session")
        assert ends(channel)
    for password, status in ((PASSWORD, 401), ("battery staple", 200)):
        assert other.post("/api/club/session", json={"name": "Mal", "password": password}).status_code == status
    hostile.play_on()


def test_an_unknown_name_takes_as_long_as_a_wrong_password(
    hostile: HostileClub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile.people[0].post("/api/club/bots", json={"name": "lux"})
    seen: list[str] = []

    class Counted:
        def verify(self, hashed: str, password: str) -> bool:
            seen.append(hashed.rsplit("$", 2)[0])  # the algorithm and the parameters that determine its duration
            return real.verify(hashed, password)

    real = accounts._hasher
    monkeypatch.setattr(accounts, "_hasher", Counted())
    answers = [
        hostile.eve.post("/api/club/session", json={"name": name, "password": "guess guess"})
        for name in ("Ann", "Nobody", "lux", "'; DROP TABLE accounts; --")
    ]
    assert {(answer.status_code, answer.text) for answer in answers} == {(401, answers[0].text)}
    assert len(seen) == 4 and len(set(seen)) == 1


# ---- messages -------------------------------------------------------------------------------------------------------
HUGE: dict[str, Callable[[Any], None]] = {
    "a frame of 16 MiB": lambda channel: channel.send("x" * (1 << 24)),
    "a message in many pieces": lambda channel: channel.send("x" * 1000 for _ in range(10_000)),
    "bytes": lambda channel: channel.send(bytes(1 << 24)),
}


@pytest.mark.parametrize("sort", HUGE)
def test_huge_messages_end_the_connection(hostile: HostileClub, sort: str) -> None:
    with hostile.eve.connect() as channel, pytest.raises(ConnectionClosed):
        HUGE[sort](channel.socket)
        for _ in range(10):
            channel.receive()
    hostile.play_on()


def test_odd_messages_get_a_clear_error(hostile: HostileClub) -> None:
    odd = [
        "[" * 30_000,
        '{"a":' * 10_000,
        '{"id": 1, "type": "move", "game": ' + "9" * 5000 + "}",
        '{"id": 1, "type": "seek", "seconds": NaN}',
        '{"id": 1, "type": "seek", "seconds": Infinity}',
        '{"id": 1, "type": "move", "game": 1, "ply": 0, "move": "' + "a" * 5000 + '"}',
        '{"id": 1, "type": "challenge", "name": "\\u0000", "seconds": 60}',
        '{"id": 1, "type": "challenge", "name": "\\ud800", "seconds": 60}',
        '{"id": "\\ud800", "type": "lobby"}',
        '{"id": 1, "type": "__class__"}',
        '{"type": "pong", "number": 123456789012345678901234567890}',
        "\x00" * 100,
    ]
    for text in odd:
        with hostile.eve.connect() as channel:
            channel.socket.send(text)
            channel.socket.send('{"id": "end", "type": "lobby", "subscribe": false}')
            while (answer := channel.receive()).get("id") != "end":
                assert "id" not in answer or "\n" not in answer.get("message", "")
            assert answer["type"] == "done"
    hostile.play_on()


def test_floods_end_the_connection(hostile: HostileClub, frozen_limits: None) -> None:
    with hostile.eve.connect() as channel, pytest.raises(ConnectionClosed):
        for _ in range(400):
            channel.socket.send('{"id": 1, "type": "lobby", "subscribe": false}')
        for _ in range(1000):
            channel.receive()
    hostile.play_on()


def test_clients_that_do_not_read_are_disconnected(hostile: HostileClub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "MAX_UNREAD_BYTES", 1 << 16)
    cookie = hostile.eve.cookies[SESSION_COOKIE]
    handshake = "GET /api/club/live HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    handshake += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n"
    handshake += f"Cookie: {SESSION_COOKIE}={cookie}\r\n"
    ping = bytes([0x89, 0xFD, 0, 0, 0, 0]) + bytes(125)  # the server answers with pongs of about the same size
    with closing(hostile.call(handshake.encode())) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with pytest.raises(OSError):
            for _ in range(2000):
                connection.sendall(ping * 100)
    hostile.play_on()


HANDSHAKE = "HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
HANDSHAKE += "Sec-WebSocket-Key: MTIzNDU2Nzg5MDEyMzQ1Ng==\r\n\r\n"
MASK = bytes(4)


@pytest.mark.parametrize("opcode", [0x89, 0x8A, 0x00], ids=["pings", "pongs", "pieces of a message"])
def test_empty_frames_do_not_delay_others(hostile: HostileClub, opcode: int, frozen_limits: None) -> None:
    with closing(hostile.call(f"GET /api/engine {HANDSHAKE}".encode())) as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 101")
        connection.sendall(bytes([0x01, 0x81]) + MASK + b"x" if opcode == 0 else b"")
        frames = (bytes([opcode, 0x80]) + MASK) * 10_000
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            for _ in range(1000):  # sixty megabytes exceed all buffers
                connection.sendall(frames)
    hostile.play_on()


def test_floods_of_requests_end_the_connection(hostile: HostileClub, frozen_limits: None) -> None:
    address = hostile.address.replace("http", "ws") + "api/engine"
    with connect(address, close_timeout=0) as channel, pytest.raises(ConnectionClosed):
        for _ in range(1500):
            channel.send('{"id": 1, "type": "stop"}')
        for _ in range(1000):
            channel.recv(timeout=TIMEOUT)
    hostile.play_on()


# ---- connections ----------------------------------------------------------------------------------------------------
def test_slow_senders_are_disconnected(hostile: HostileClub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HEADER_TIMEOUT", 0.2)
    monkeypatch.setattr(request_guard, "BODY_TIMEOUT", 0.2)
    post = b"POST /api/club/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    for first in (
        b"",
        b"G",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        post,
        post + b"Content-Length: 1000\r\n\r\n{",
        post + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /api/he",  # the second request is incomplete
    ):
        with closing(hostile.call(first)) as connection:
            wait_until(partial(is_closed_slowly, connection))
    hostile.play_on()


def is_closed_slowly(connection: socket.socket) -> bool:
    """Send one more byte; return whether the server has closed the connection."""
    connection.settimeout(0.1)
    try:
        connection.sendall(b"a")
        return not connection.recv(1000)
    except TimeoutError:
        return False
    except OSError:
        return True


@pytest.mark.parametrize(
    "first",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100),
        b"\x00" * 1000,
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
        b"GET / HTTP/1.1\r\nX: " + b"y" * 200_000,
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
        b"POST /api/club/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /api/club/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /x",
    ],
    ids=lambda first: repr(first[:24]),
)
def test_invalid_requests_are_refused(hostile: HostileClub, first: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HEADER_TIMEOUT", 0.2)
    with closing(hostile.call()) as connection:
        with suppress(OSError):
            connection.sendall(first)
        assert is_closed(connection)
    hostile.play_on()


@contextmanager
def max_open_files() -> Iterator[int]:
    """Raise the limit on open files; yield the number of connections that the limit allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 2 * CONNECTIONS if hard == resource.RLIM_INFINITY else hard
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    yield min(CONNECTIONS, most - 2000)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_ten_thousand_connections_do_not_lock_out_others(hostile: HostileClub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "HEADER_TIMEOUT", 10 * TIMEOUT)  # no connection is closed before all are open
    silent: list[socket.socket] = []
    with max_open_files() as count:
        for number in range(count):
            with suppress(OSError):  # a refused connection may be closed immediately
                silent.append(hostile.call(address="127.0.0.3"))
            if number % 500 == 0:
                hostile.play_on()
        assert len(silent) > 0.9 * count
        hostile.play_on()
        with closing(hostile.call(HEALTH)) as other:
            assert other.recv(1000).startswith(b"HTTP/1.1 200"), "another address has its own share"
        with closing(hostile.call(address="127.0.0.3")) as one_more:
            assert one_more.recv(1000).startswith(b"HTTP/1.1 503")
        for connection in silent:
            connection.close()

    def is_let_in() -> bool:
        with closing(hostile.call(HEALTH, "127.0.0.3")) as again:
            return again.recv(1000).startswith(b"HTTP/1.1 200")

    wait_until(is_let_in)
    hostile.play_on()


def test_ten_thousand_spectators_do_not_lock_out_players(hostile: HostileClub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(club_connection, "MAX_VISITOR_CONNECTIONS", 20)
    monkeypatch.setattr(club_connection, "MAX_CONNECTIONS_PER_ACCOUNT", 5)
    with ExitStack() as stack:
        spectator = hostile.visitor()
        channels = [stack.enter_context(spectator.connect()) for _ in range(30)]
        events = [channel.receive()["type"] for channel in channels]
        assert events == ["welcome"] * 20 + ["refused"] * 10
        mine = [stack.enter_context(hostile.eve.connect()).receive()["type"] for _ in range(7)]
        assert mine == ["welcome"] * 5 + ["refused"] * 2
    hostile.play_on()
