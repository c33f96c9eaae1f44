"""The engines' WebSocket: requests, responses, and invalid messages."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocket, WebSocketDisconnect
from waiting import wait_until

from awello.web.archive_service import ArchiveService
from awello.web.club_service import ClubService
from awello.web.connection import MAX_INVALID_MESSAGES
from awello.web.engine_connection import MAX_OPEN_SEARCHES, serve_engine
from awello.web.engine_pool import EnginePool
from awello.web.rate_limits import ConcurrencyLimit, RateLimits
from awello.web.request_guard import EVENT_LOOP_RATE

LONG = 60  # seconds: longer than any test
OVER = ["f5", "d6", "c5", "f4", "e7", "f6", "g5", "e6", "e3"]  # the game is over: White has no disc left


class LiveClient:
    """A client that sends requests and receives responses."""

    def __init__(self, socket: WebSocketTestSession) -> None:
        self.socket = socket

    def send(self, **message: Any) -> None:
        self.socket.send_text(json.dumps(message))

    def receive(self) -> dict[str, Any]:
        response: dict[str, Any] = json.loads(self.socket.receive_text())
        return response

    def receive_all(self) -> list[dict[str, Any]]:
        """Return all messages up to and including `done` or `error`."""
        responses = [self.receive()]
        while responses[-1]["type"] not in ("done", "error"):
            responses.append(self.receive())
        return responses


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[TestClient, EnginePool]]:
    engines = EnginePool(1)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        await engines.start()
        yield
        await engines.close()

    async def endpoint(socket: WebSocket) -> None:
        await serve_engine(
            socket, engines, RateLimits(*EVENT_LOOP_RATE), ConcurrencyLimit(), ClubService(None, ArchiveService(None))
        )

    with TestClient(Starlette(routes=[WebSocketRoute("/live", endpoint)], lifespan=life)) as client:
        yield client, engines


@pytest.fixture
def client(server: tuple[TestClient, EnginePool]) -> Iterator[LiveClient]:
    with server[0].websocket_connect("/live") as socket:
        yield LiveClient(socket)


def test_each_type_of_request(client: LiveClient) -> None:
    client.send(id=1, type="choose", moves=["f5"], player="greedy", clock=30, increment=1, seed=5)
    position, choice, done = client.receive_all()
    assert position["position"].endswith(" O") and choice["after"]["side"] == 0
    assert choice["id"] == 1 and choice["move"] in ("d6", "f4", "f6") and done == {"id": 1, "type": "done"}
    client.send(id="two", type="analyse", game="abapa", moves=["C", "f"], seconds=0.2)
    *analyses, done = client.receive_all()
    assert done["id"] == "two" and {response["type"] for response in analyses} == {"analysis"}
    client.send(id=3, type="review", game="romein", moves=["F", "a"], seconds=0.05)
    *judgements, summary, done = client.receive_all()
    assert [(item["ply"], item["move"]) for item in judgements] == [(2, "a"), (1, "F")] and done["type"] == "done"
    assert [side["moves"] for side in summary["sides"]] == [1, 1]


def test_several_open_requests(client: LiveClient) -> None:
    client.send(id=1, type="analyse", seconds=LONG)
    assert client.receive()["id"] == 1
    client.send(id=2, type="choose", player="champion@level=2")
    while (response := client.receive())["id"] == 1:
        assert response["type"] == "analysis"
    assert response["type"] == "position"


def test_a_stopped_request_gets_no_more_responses(client: LiveClient) -> None:
    client.send(id=1, type="analyse", seconds=LONG)
    client.receive()
    client.send(id=1, type="stop")
    client.send(id=99, type="stop")
    client.send(id=2, type="choose", player="nobody")
    while (response := client.receive())["id"] == 1:
        pass
    assert (response["id"], response["code"]) == (2, "unknown_player")
    client.send(id=3, type="choose", player="greedy")
    assert [response["id"] for response in client.receive_all()] == [3, 3, 3]


def test_a_request_replaces_the_one_with_its_id(client: LiveClient) -> None:
    client.send(id=1, type="analyse", seconds=LONG)
    client.receive()
    client.send(id=1, type="analyse", game="othello4", seconds=LONG)
    *_, last, done = client.receive_all()
    assert last["exact"] and len(last["moves"]) == 4 and done["type"] == "done"


def test_too_many_open_requests(client: LiveClient) -> None:
    for number in range(MAX_OPEN_SEARCHES + 1):
        client.send(id=number, type="review", moves=["f5", "d6"], seconds=10)
    while (response := client.receive())["type"] != "error":
        pass
    assert (response["id"], response["code"]) == (MAX_OPEN_SEARCHES, "too_many_searches")


def test_searches_end_when_the_connection_closes(server: tuple[TestClient, EnginePool]) -> None:
    test_client, engines = server
    with test_client.websocket_connect("/live") as socket:
        client = LiveClient(socket)
        for number in range(3):
            client.send(id=number, type="analyse", seconds=LONG)
        client.receive()
        assert any(process.job for process in engines._processes)
    wait_until(lambda: not engines._waiting and not any(process.job for process in engines._processes))


@pytest.mark.parametrize(
    ("text", "identity", "code", "word"),
    [
        ("", None, "invalid_json", "JSON"),
        ("{", None, "invalid_json", "JSON"),
        ("[" * 15_000, None, "invalid_json", "JSON"),
        ("9" * 5000, None, "invalid_json", "JSON"),
        ("[1, 2]", None, "not_an_object", "object"),
        ('{"type": "analyse"}', None, "invalid_id", "the id is missing or invalid:"),
        ('{"id": true, "type": "analyse"}', None, "invalid_id", "the id is missing or invalid:"),
        ('{"id": 1.5, "type": "analyse"}', None, "invalid_id", "the id is missing or invalid:"),
        (f'{{"id": "{"x" * 41}", "type": "analyse"}}', None, "invalid_id", "the id is missing or invalid:"),
        ('{"id": 1}', 1, "unknown_type", "is not a type of request:"),
        (
            '{"id": 1, "type": "dance"}',
            1,
            "unknown_type",
            "'dance' is not a type of request: choose analyse,",
        ),
        ('{"id": 1, "type": ["stop"]}', 1, "unknown_type", "is not a type of request:"),
        ('{"id": 1, "type": "choose"}', 1, "invalid_field", "player: field required"),
        ('{"id": 1, "type": "choose", "player": "\\ud800"}', 1, "invalid_field", "player:"),
        ('{"id": 1, "type": "analyse", "seconds": NaN}', 1, "invalid_field", "seconds:"),
        ('{"id": 1, "type": "analyse", "seconds": 1e9}', 1, "invalid_field", "seconds:"),
        ('{"id": 1, "type": "analyse", "depth": 4}', 1, "invalid_field", "depth: extra"),
        ('{"id": 1, "type": "analyse", "moves": ["f5", "z9"]}', 1, "invalid_move", "moves.1: 'z9' is not a move"),
        ('{"id": 1, "type": "analyse", "moves": ["f5", "f5"]}', 1, "illegal_move", "move 2: f5 is not a legal move"),
        ('{"id": 1, "type": "analyse", "start": "nothing"}', 1, "notation", "nothing"),
        (json.dumps({"id": 1, "type": "analyse", "moves": OVER}), 1, "final_position", "the game is over"),
        (json.dumps({"id": 1, "type": "analyse", "start": " " * 70_000}), None, "message_too_large", "16 KiB"),
    ],
)
def test_invalid_messages_get_a_clear_error(client: LiveClient, text: str, identity: Any, code: str, word: str) -> None:
    client.socket.send_text(text)
    response = client.receive()
    assert (response["id"], response["type"], response["code"]) == (identity, "error", code)
    assert word in response["message"] and "\n" not in response["message"]
    client.send(id=2, type="choose", player="greedy")
    assert [response["type"] for response in client.receive_all()] == ["position", "choice", "done"]


def test_binary_messages_are_refused(client: LiveClient) -> None:
    client.socket.send_bytes(b'{"id": 1, "type": "analyse"}')
    assert client.receive() == {
        "id": None,
        "type": "error",
        "code": "binary_message",
        "message": "the message is binary: send text",
        "params": {},
    }


def test_too_many_invalid_messages_end_the_connection(client: LiveClient) -> None:
    client.send(id=1, type="analyse", seconds=LONG)
    for wrong in range(MAX_INVALID_MESSAGES):
        if wrong == MAX_INVALID_MESSAGES - 1:
            client.send(id=2, type="stop")  # a valid message resets the count of invalid ones
        client.send(id=3, type="wrong")
    for _ in range(MAX_INVALID_MESSAGES - 1):
        client.send(id=4, type="wrong")
    with pytest.raises(WebSocketDisconnect) as closed:
        while True:
            client.receive()
    assert closed.value.code == 1008


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner))
REQUESTS = st.fixed_dictionaries(
    {"id": st.just(1) | ANYTHING, "type": st.sampled_from(["analyse", "choose", "review"]) | ANYTHING},
    optional={
        "game": st.sampled_from(["othello", "othello4", "abapa", "romein"]) | ANYTHING,
        "start": st.text("XO-*.0123456789 SN", max_size=70) | ANYTHING,
        "moves": st.lists(st.sampled_from(["f5", "d6", "C", "c", "pass", "A"]) | ANYTHING, max_size=5),
        "player": st.sampled_from(["greedy", "champion@level=1", "random@3"]) | ANYTHING,
        "seconds": st.just(0.01) | ANYTHING,
        "clock": st.just(0.01) | ANYTHING,
        "seed": st.just(1) | ANYTHING,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=REQUESTS | ANYTHING)
def test_anything_gets_a_response(client: LiveClient, message: Any) -> None:
    """Every message except `stop` gets a response, and the connection stays open."""
    if isinstance(message, dict) and message.get("type") == "analyse":
        message.setdefault("seconds", 0.01)
    client.socket.send_text(json.dumps(message))
    assert client.receive_all()[-1]["type"] in ("done", "error")
    client.send(id="right", type="stop")
