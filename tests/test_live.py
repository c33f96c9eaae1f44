"""The live channel: questions and answers over a WebSocket, and whatever else may come through it."""

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
from awello.web.request_guard import NETWORK_BUDGET

LONG = 60  # seconds: longer than any test
OVER = ["f5", "d6", "c5", "f4", "e7", "f6", "g5", "e6", "e3"]  # Black has taken every disc


class Client:
    """A page: it asks, and hears answers."""

    def __init__(self, socket: WebSocketTestSession) -> None:
        self.socket = socket

    def say(self, **message: Any) -> None:
        self.socket.send_text(json.dumps(message))

    def hear(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self.socket.receive_text())
        return answer

    def hear_all(self) -> list[dict[str, Any]]:
        """Everything up to an end."""
        answers = [self.hear()]
        while answers[-1]["type"] not in ("done", "error"):
            answers.append(self.hear())
        return answers


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[TestClient, EnginePool]]:
    thinkers = EnginePool(1)

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        await thinkers.start()
        yield
        await thinkers.close()

    async def endpoint(socket: WebSocket) -> None:
        await serve_engine(
            socket, thinkers, RateLimits(*NETWORK_BUDGET), ConcurrencyLimit(), ClubService(None, ArchiveService(None))
        )

    with TestClient(Starlette(routes=[WebSocketRoute("/live", endpoint)], lifespan=life)) as client:
        yield client, thinkers


@pytest.fixture
def client(server: tuple[TestClient, EnginePool]) -> Iterator[Client]:
    with server[0].websocket_connect("/live") as socket:
        yield Client(socket)


def test_each_kind_of_question(client: Client) -> None:
    client.say(id=1, type="choose", moves=["f5"], player="greedy", seconds=30, increment=1, seed=5)
    position, choice, done = client.hear_all()
    assert position["position"].endswith(" O") and choice["after"]["side"] == 0
    assert choice["id"] == 1 and choice["move"] in ("d6", "f4", "f6") and done == {"id": 1, "type": "done"}
    client.say(id="two", type="analyse", game="abapa", moves=["C", "f"], seconds=0.2)
    *analyses, done = client.hear_all()
    assert done["id"] == "two" and {answer["type"] for answer in analyses} == {"analysis"}
    client.say(id=3, type="review", game="romein", moves=["F", "a"], seconds=0.05)
    *judgements, summary, done = client.hear_all()
    assert [(item["ply"], item["move"]) for item in judgements] == [(2, "a"), (1, "F")] and done["type"] == "done"
    assert [side["moves"] for side in summary["sides"]] == [1, 1]


def test_several_questions_at_once(client: Client) -> None:
    client.say(id=1, type="analyse", seconds=LONG)
    assert client.hear()["id"] == 1
    client.say(id=2, type="choose", player="champion@level=2")
    while (answer := client.hear())["id"] == 1:
        assert answer["type"] == "analysis"
    assert answer["type"] == "position"


def test_a_stopped_question_is_silent(client: Client) -> None:
    client.say(id=1, type="analyse", seconds=LONG)
    client.hear()
    client.say(id=1, type="stop")
    client.say(id=99, type="stop")
    client.say(id=2, type="choose", player="nobody")
    while (answer := client.hear())["id"] == 1:
        pass
    assert (answer["id"], answer["code"]) == (2, "unknown_player")
    client.say(id=3, type="choose", player="greedy")
    assert [answer["id"] for answer in client.hear_all()] == [3, 3, 3]


def test_a_question_replaces_the_one_of_its_id(client: Client) -> None:
    client.say(id=1, type="analyse", seconds=LONG)
    client.hear()
    client.say(id=1, type="analyse", game="othello4", seconds=LONG)
    *_, last, done = client.hear_all()
    assert last["exact"] and len(last["moves"]) == 4 and done["type"] == "done"


def test_too_many_questions_at_once(client: Client) -> None:
    for number in range(MAX_OPEN_SEARCHES + 1):
        client.say(id=number, type="review", moves=["f5", "d6"], seconds=10)
    while (answer := client.hear())["type"] != "error":
        pass
    assert (answer["id"], answer["code"]) == (MAX_OPEN_SEARCHES, "too_many_searches")


def test_nobody_thinks_for_a_closed_channel(server: tuple[TestClient, EnginePool]) -> None:
    test_client, thinkers = server
    with test_client.websocket_connect("/live") as socket:
        client = Client(socket)
        for number in range(3):
            client.say(id=number, type="analyse", seconds=LONG)
        client.hear()
        assert any(process.job for process in thinkers._processes)
    wait_until(lambda: not thinkers._waiting and not any(process.job for process in thinkers._processes))


@pytest.mark.parametrize(
    ("text", "identity", "code", "word"),
    [
        ("", None, "invalid_json", "JSON"),
        ("{", None, "invalid_json", "JSON"),
        ("[" * 15_000, None, "invalid_json", "JSON"),
        ("9" * 5000, None, "invalid_json", "JSON"),
        ("[1, 2]", None, "not_an_object", "object"),
        ('{"type": "analyse"}', None, "invalid_id", "id:"),
        ('{"id": true, "type": "analyse"}', None, "invalid_id", "id:"),
        ('{"id": 1.5, "type": "analyse"}', None, "invalid_id", "id:"),
        (f'{{"id": "{"x" * 41}", "type": "analyse"}}', None, "invalid_id", "id:"),
        ('{"id": 1}', 1, "unknown_type", "type:"),
        ('{"id": 1, "type": "dance"}', 1, "unknown_type", "'dance' is not one of analyse, choose, review, stop"),
        ('{"id": 1, "type": ["stop"]}', 1, "unknown_type", "type:"),
        ('{"id": 1, "type": "choose"}', 1, "invalid_field", "player: field required"),
        ('{"id": 1, "type": "choose", "player": "\\ud800"}', 1, "invalid_field", "player:"),
        ('{"id": 1, "type": "analyse", "seconds": NaN}', 1, "invalid_field", "seconds:"),
        ('{"id": 1, "type": "analyse", "seconds": 1e9}', 1, "invalid_field", "seconds:"),
        ('{"id": 1, "type": "analyse", "depth": 4}', 1, "invalid_field", "depth: extra"),
        ('{"id": 1, "type": "analyse", "moves": ["f5", "z9"]}', 1, "invalid_move", "moves.1: 'z9' is not a move"),
        ('{"id": 1, "type": "analyse", "moves": ["f5", "f5"]}', 1, "illegal_move", "move 2: f5 is no legal move"),
        ('{"id": 1, "type": "analyse", "start": "nothing"}', 1, "notation", "nothing"),
        (json.dumps({"id": 1, "type": "analyse", "moves": OVER}), 1, "game_over", "the game is over"),
        (json.dumps({"id": 1, "type": "analyse", "start": " " * 70_000}), None, "message_too_large", "16 KiB"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(client: Client, text: str, identity: Any, code: str, word: str) -> None:
    client.socket.send_text(text)
    answer = client.hear()
    assert (answer["id"], answer["type"], answer["code"]) == (identity, "error", code)
    assert word in answer["message"] and "\n" not in answer["message"]
    client.say(id=2, type="choose", player="greedy")
    assert [answer["type"] for answer in client.hear_all()] == ["position", "choice", "done"]


def test_binary_messages_are_refused(client: Client) -> None:
    client.socket.send_bytes(b'{"id": 1, "type": "analyse"}')
    assert client.hear() == {
        "id": None,
        "type": "error",
        "code": "binary_message",
        "message": "a message must be text, not binary",
        "params": {},
    }


def test_who_is_always_wrong_is_shown_the_door(client: Client) -> None:
    client.say(id=1, type="analyse", seconds=LONG)
    for wrong in range(MAX_INVALID_MESSAGES):
        if wrong == MAX_INVALID_MESSAGES - 1:
            client.say(id=2, type="stop")  # one that is right, and the count begins again
        client.say(id=3, type="wrong")
    for _ in range(MAX_INVALID_MESSAGES - 1):
        client.say(id=4, type="wrong")
    with pytest.raises(WebSocketDisconnect) as closed:
        while True:
            client.hear()
    assert closed.value.code == 1008


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner))
QUESTIONS = st.fixed_dictionaries(
    {"id": st.just(1) | ANYTHING, "type": st.sampled_from(["analyse", "choose", "review"]) | ANYTHING},
    optional={
        "game": st.sampled_from(["othello", "othello4", "abapa", "romein"]) | ANYTHING,
        "start": st.text("XO-*.0123456789 SN", max_size=70) | ANYTHING,
        "moves": st.lists(st.sampled_from(["f5", "d6", "C", "c", "pass", "A"]) | ANYTHING, max_size=5),
        "player": st.sampled_from(["greedy", "champion@level=1", "random@3"]) | ANYTHING,
        "seconds": st.just(0.01) | ANYTHING,
        "seed": st.just(1) | ANYTHING,
    },
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(message=QUESTIONS | ANYTHING)
def test_anything_gets_an_answer(client: Client, message: Any) -> None:
    """Every message but a stop ends in an answer, and the channel goes on."""
    if isinstance(message, dict) and message.get("type") == "analyse":
        message.setdefault("seconds", 0.01)
    client.socket.send_text(json.dumps(message))
    assert client.hear_all()[-1]["type"] in ("done", "error")
    client.say(id="right", type="stop")
