"""The page's server: positions, the API with valid and invalid input, origins, and static files."""

import random
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from browser import run_server_process
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, given, settings
from starlette.websockets import WebSocketDisconnect
from waiting import TIMEOUT

from awello import Game, Position
from awello.position import format_position
from awello.rules import awale
from awello.web.app import create_app
from awello.web.client_players import TERMINAL_PLAYERS
from awello.web.errors import error_fields
from awello.web.page_files import STATIC_FOLDER
from awello.web.request_guard import MAX_TEXT_BODY_BYTES

HOST = "127.0.0.1:8421"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(create_app(), base_url=f"http://{HOST}", raise_server_exceptions=False) as found:
        yield found


def random_game(game: Game, seed: int) -> tuple[list[Position], list[str]]:
    rng = random.Random(seed)
    positions, names = [Position.start(game)], []
    while not positions[-1].over:
        move = rng.choice(positions[-1].legal_moves())
        names.append(positions[-1].format_move(move))
        positions.append(positions[-1].after(move))
    return positions, names


# ---- positions ------------------------------------------------------------------------------------------------------
def predict(view: dict[str, Any], name: str) -> dict[str, Any]:
    """Compute the board after a move from the description of the position alone."""
    effect, board, side = view["moves"][name], view["board"], view["side"]
    if "cells" in board:
        cells, size = list(board["cells"]), board["size"]
        for square in [] if name == "pass" else [name, *effect["flips"]]:
            cells[size * (int(square[1]) - 1) + "abcdefgh".index(square[0])] = "XO"[side]
        return {"size": size, "cells": "".join(cells)}
    pits, captured, names = list(board["pits"]), list(board["captured"]), "".join(awale.PIT_NAMES)
    pits[names.index(name)] = 0
    for pit in effect["sown"]:
        pits[names.index(pit)] += 1
    for pit, seeds in effect["captured"]:
        assert pits[names.index(pit)] == seeds
        pits[names.index(pit)] = 0
        captured[side] += seeds
    return {"pits": pits, "captured": captured}


@pytest.mark.parametrize("seed", range(3))
def test_positions_predict_every_move(client: TestClient, game: Game, seed: int) -> None:
    positions, names = random_game(game, seed)
    answer = client.post("/api/positions", json={"game": str(game), "moves": names}).json()
    views = answer["positions"]
    for view, name, after in zip(views, names, views[1:], strict=False):
        assert predict(view, name) == after["board"]
    for position, view in zip(positions, views, strict=True):
        assert view["position"] == format_position(position)
        assert list(view["moves"]) == [position.format_move(move) for move in position.legal_moves()]
        pits = set() if game.family == "othello" or position.over else set(awale.PIT_NAMES[position.side])
        assert set(view["illegal_pits"]) == pits - set(view["moves"])
    assert views[-1]["over"] and tuple(views[-1]["score"]) == positions[-1].score()
    assert [view["over"] for view in views[:-1]] == [False] * len(names)


def test_positions_from_a_ply(client: TestClient) -> None:
    answer = client.post("/api/positions", json={"moves": ["f5", "d6", "c3"], "first_ply": 3}).json()
    assert len(answer["positions"]) == 1 and answer["transcript"] == "f5d6c3"


def test_choices_analyses_and_reviews(client: TestClient) -> None:
    line = {"game": "othello4", "moves": []}
    chosen = client.post("/api/choose", json={**line, "player": "greedy", "seed": 5}).json()
    assert chosen["move"] in ("b1", "a2", "d3", "c4") and chosen["seconds"] >= 0
    found = client.post("/api/analyse", json={**line, "seconds": 5}).json()
    assert found["exact"] and found["value"] == -10 and len(found["moves"]) == 4
    judged = client.post("/api/review", json={**line, "moves": ["b1", "a1", "a2"], "seconds": 0.2}).json()
    assert [judgement["ply"] for judgement in judged["moves"]] == [1, 2, 3]
    assert [side["moves"] for side in judged["sides"]] == [2, 1]
    over = client.post("/api/choose", json={"game": "othello4", "start": "XXXXXXXXXXXXXXXX X", "player": "greedy"})
    assert over.status_code == 400 and "over" in over.json()["message"]


def test_reading_and_drawing(client: TestClient) -> None:
    found = client.post("/api/detect", json={"text": "1. F5 d6 2. c3"}).json()
    assert (found["format"], found["games"], found["moves"]) == ("transcript", 1, ["f5", "d6", "c3"])
    assert (found["game"], found["start"]) == ("othello", None)
    wrong = client.post("/api/detect", json={"text": "hello"})
    assert wrong.status_code == 400 and wrong.json()["message"]
    picture = client.post("/api/picture", json={"game": "abapa"})
    assert picture.headers["content-type"] == "image/svg+xml" and picture.text.startswith("<svg")


@pytest.mark.parametrize(
    "spec",
    [
        "champion,avoided_moves=x",
        "champion,weights=x",
        "minimax,weights=x",
        "champion,threads=9",
        "champion,hash=9",
        "human",
        "gtp,command=x",
        "nboard,command=x",
        "uci,command=x",
        "uci,log=x",
    ],
)
def test_clients_cannot_use_unsafe_settings(client: TestClient, spec: str) -> None:
    answer = client.post("/api/choose", json={"player": spec})
    code = "terminal_player" if spec.split(",")[0] in TERMINAL_PLAYERS else "setting_not_allowed"
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert not {"human", "gtp", "nboard", "uci"} & {player["name"] for player in client.get("/api/players").json()}


@pytest.mark.parametrize("spec", ["nobody", "human", "champion,threads=9", "champion@", "alphabeta:nonsense"])
def test_http_and_websocket_refuse_the_same_specs(client: TestClient, spec: str) -> None:
    refused = client.post("/api/choose", json={"player": spec}).json()
    with client.websocket_connect("/api/engine", headers={"host": HOST}) as socket:
        socket.send_json({"id": 1, "type": "choose", "player": spec})
        answers = [socket.receive_json()]
        while answers[-1]["type"] != "error":
            answers.append(socket.receive_json())
    assert answers[-1] == {"id": 1, "type": "error", **refused}


# ---- invalid input --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "path, body, status",
    [
        ("/api/positions", {"moves": ["a1"]}, 400),
        ("/api/positions", {"moves": ["f5"] * 2100}, 422),
        ("/api/positions", {"moves": ["../../x"]}, 422),
        ("/api/positions", {"game": "chess"}, 422),
        ("/api/positions", {"start": "x" * 101}, 422),
        ("/api/positions", {"start": "4-4"}, 400),
        ("/api/positions", {"surprise": 1}, 422),
        ("/api/choose", {"player": "nobody"}, 422),
        ("/api/choose", {}, 422),
        ("/api/detect", {"text": "x" * 70000}, 422),
        ("/api/tree", {"search": "minimax@40"}, 400),
        ("/api/nowhere", {}, 404),
    ],
)
def test_invalid_input_gets_a_clear_message(client: TestClient, path: str, body: Any, status: int) -> None:
    answer = client.post(path, json=body)
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"code", "message", "params"} and "\n" not in answer.json()["message"]
    assert "Traceback" not in answer.text and ".py" not in answer.text


@pytest.mark.parametrize(
    ("path", "body", "code", "params"),
    [
        (
            "positions",
            {"first_ply": -1},
            "invalid_field",
            {"field": "first_ply", "reason": "greater_than_equal", "ge": 0},
        ),
        ("positions", {"moves": ["f5", "x9"]}, "invalid_move", {"field": "moves.1", "move": "x9"}),
        ("positions", {"moves": ["f5", "f5"]}, "illegal_move", {"number": 2, "move": "f5"}),
        ("choose", {"player": "human"}, "terminal_player", {"player": "human"}),
        ("choose", {"player": "champion,hash=\\ud800"}, "setting_not_allowed", {"setting": "hash"}),
        ("tree", {"search": "minimax@9"}, "tree_too_deep", {"depth": 9, "limit": 4}),
        ("detect", {"text": "hello"}, "no_game_in_text", {}),
        ("detect", {"text": "f5d6a1"}, "illegal_move", {"number": 3, "move": "a1"}),
        ("detect", {"text": "FfF"}, "illegal_move", {"number": 3, "move": "F"}),
        ("detect", {"text": "f5", "game": None, "x": 1}, "invalid_field", {"field": "x", "reason": "extra_forbidden"}),
    ],
)
def test_errors_have_codes_and_params(client: TestClient, path: str, body: Any, code: str, params: Any) -> None:
    answer = client.post(f"/api/{path}", json=body).json()
    assert answer["code"] == code and answer["params"].items() >= params.items(), answer


def test_lone_surrogates_in_errors_are_escaped() -> None:
    assert error_fields("x", "\ud800", {"move": "\ud800", "n": 1})["params"] == {"move": "\\ud800", "n": 1}


def test_invalid_json_is_refused(client: TestClient) -> None:
    for content in (b"", b"{", b"\xff\xfe", b"[" * 15000):
        answer = client.post("/api/positions", content=content, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), answer.text


# ---- origins, hosts and body sizes ----------------------------------------------------------------------------------
FOREIGN = [
    {"host": "evil.example"},
    {"host": "127.0.0.1.evil.example"},
    {"host": "[::1"},
    {"origin": "http://evil.example"},
    {"origin": f"http://{HOST}.evil.example"},
    {"origin": "null"},
    {"origin": "http://["},
    {"origin": "http://127.0.0.1:1"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_cross_origin_requests_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    assert client.post("/api/positions", json={}, headers=headers).status_code == 403
    assert client.get("/api/players", headers=headers).status_code == 403
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/engine", headers=headers) as socket:
        socket.receive_json()


def test_the_own_page_is_accepted(client: TestClient) -> None:
    headers = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
    assert client.post("/api/positions", json={}, headers=headers).status_code == 200
    with client.websocket_connect("/api/engine", headers={**headers, "host": HOST}) as socket:
        socket.send_json({"id": 1, "type": "nothing"})
        assert socket.receive_json()["type"] == "error"


def test_host_names_of_a_public_server() -> None:
    with TestClient(create_app(host="0.0.0.0"), base_url="http://192.168.0.7:8421") as client:
        assert client.get("/api/health").status_code == 200
        assert client.get("/api/health", headers={"host": "evil.example"}).status_code == 403


def test_bodies_are_limited_in_size(client: TestClient) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * (MAX_TEXT_BODY_BYTES // 20)

    assert client.post("/api/detect", content=b"x" * (MAX_TEXT_BODY_BYTES + 1)).status_code == 413
    assert client.post("/api/detect", content=chunks(), headers={"content-type": "application/json"}).status_code == 413
    assert client.get("/api/health").status_code == 200


def test_every_response_has_security_headers(client: TestClient) -> None:
    for path in ("/", "/api", "/static/js/app.js", "/api/health", "/nowhere"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy and "unsafe" not in policy and "http" not in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["x-frame-options"] == "DENY"


def test_pages_use_no_external_and_no_inline_resources() -> None:
    for file in STATIC_FOLDER.rglob("*"):
        text = file.read_text("utf-8") if file.is_file() else ""
        assert not re.search(r"https?://(?!www\.w3\.org/)", text), file
        if file.suffix == ".html":
            assert not re.search(r"<script(?![^>]*\bsrc=)|\bstyle=|<style|\son\w+=", text), file


def test_all_modules_are_preloaded() -> None:
    """All modules are preloaded except the entry points and the modules of the club, which not every server has."""
    wanted = set(
        re.findall(r'modulepreload" href="/static/js/([^"]+)"', (STATIC_FOLDER / "index.html").read_text("utf-8"))
    )
    modules = {path.relative_to(STATIC_FOLDER / "js").as_posix() for path in STATIC_FOLDER.glob("js/**/*.js")}
    assert wanted == {name for name in modules if not re.match(r"app\.|api-reference\.|club[.-]", name)}


def test_a_file_that_has_not_changed_is_not_sent_again(client: TestClient) -> None:
    first = client.get("/static/js/app.js")
    again = client.get("/static/js/app.js", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_static_files_stay_in_their_folder(client: TestClient) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert client.get(path).status_code == 404


# ---- conformance of the API to its schema ---------------------------------------------------------------------------
OPENAPI = create_app().openapi()
OPERATIONS = [(method, path) for path, methods in OPENAPI["paths"].items() for method in methods]
WITH_BODY = [(method, path) for method, path in OPERATIONS if "requestBody" in OPENAPI["paths"][path][method]]
CASES = [
    *product(OPERATIONS, ["positive"]),
    *product(WITH_BODY, ["negative"]),
]  # requests without a body have few invalid variations
SEARCH_PATHS = ("/api/analyse", "/api/choose", "/api/review")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with run_server_process("--port", "0", "--jobs", "1") as found:
        yield found


@pytest.fixture(scope="module")
def schema() -> Any:
    import schemathesis  # loading takes seconds, so only this test does it

    return schemathesis.openapi.from_dict(OPENAPI)


@pytest.mark.parametrize(("operation", "mode"), CASES, ids=[f"{' '.join(one)} {mode}" for one, mode in CASES])
def test_api_conforms_to_its_schema(operation: tuple[str, str], mode: str, schema: Any, address: str) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.generation import GenerationMode
    from schemathesis.specs.openapi import checks

    answer = [checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance]
    method, path = operation

    @settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
    @given(schema[path][method].as_strategy(generation_mode=GenerationMode(mode)))
    def check(case: Any) -> None:
        if path in SEARCH_PATHS and isinstance(case.body, dict):
            case.body["seconds"] = 0.01  # keep searches short
        case.call_and_validate(base_url=address.rstrip("/"), checks=[not_a_server_error, *answer], timeout=TIMEOUT)

    check()
