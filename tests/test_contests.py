"""Contests (running, stopping, resuming after a restart, limits) and drawings of search trees."""

import json
import multiprocessing
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import ROOT
from fastapi import FastAPI
from starlette.testclient import TestClient
from waiting import wait_until

from awello import Game, Position, parse_transcript
from awello.arena.tournament import DRAW_POINTS, WIN_POINTS, play_tournament
from awello.web.app import add_error_handlers
from awello.web.archive_service import ArchiveService
from awello.web.club_service import ClubService
from awello.web.contests import MAX_STORED_CONTESTS, Contest, ContestConfig, ContestRunner, dump_contest
from awello.web.contests_api import router
from awello.web.engine_pool import EnginePool
from awello.web.errors import ApiError

CONFIG = {"game": "othello4", "players": ["greedy", "random"], "rounds": 3, "opening_plies": 1, "seed": 5}
MIDGAME = ["f5", "f4", "e3", "d6", "e6", "f3", "c3", "c4", "b3", "d2", "e2", "b4", "b2", "d3", "e1", "e7"]


@pytest.fixture
def contests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ContestRunner]:
    """Create a runner of contests in a temporary folder, with the misbehaving bots available."""
    monkeypatch.setenv("AWELLO_PLAYERS", str(ROOT / "tests" / "failing_bots.py"))
    made = ContestRunner(tmp_path / "contests")
    yield made
    made.close()


@pytest.fixture
def client(contests: ContestRunner) -> TestClient:
    """Create a client of an application that has only the routes of `contests_api`."""
    app = FastAPI()
    app.state.contests, app.state.workers = contests, EnginePool(0)
    app.state.club_service = ClubService(None, ArchiveService(None))
    app.include_router(router)

    add_error_handlers(app)

    return TestClient(app, client=("127.0.0.1", 50000))


def start(client: TestClient, **plan: Any) -> str:
    answer = client.post("/api/contests", json=plan)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def show(client: TestClient, name: str, after: int = 0) -> Any:
    answer = client.get(f"/api/contests/{name}?after={after}")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_contest_runs_to_its_end(client: TestClient) -> None:
    name = start(client, **CONFIG)
    assert show(client, name)["state"] == "running"
    wait_until(lambda: show(client, name)["state"] != "running")
    seen = show(client, name)
    assert (seen["state"], seen["rounds_played"], seen["rounds_total"], seen["message"]) == ("finished", 3, 3, "")
    assert (seen["game"], seen["players"], seen["seconds_left"]) == ("othello4", ["greedy", "random"], None)
    for bot in seen["standings"]:
        assert bot["points"] == WIN_POINTS * bot["rounds"]["wins"] + DRAW_POINTS * bot["rounds"]["draws"]
        assert sum(bot["rounds"].values()) == 3
        assert bot["games"] == 6
        scores = [game["score"][game["second"] == bot["bot"]] for game in seen["games"]]
        assert bot["mean_score"] == pytest.approx(sum(scores) / 6)
    (pair,) = seen["pairings"]
    greedy = next(bot for bot in seen["standings"] if bot["bot"] == "greedy")
    assert {key: pair[key] for key in greedy["rounds"]} == greedy["rounds"]
    assert [game["number"] for game in seen["games"]] == [1, 2, 3, 4, 5, 6]
    assert [game["round"] for game in seen["games"]] == [1, 1, 2, 2, 3, 3]
    assert [game["first"] for game in seen["games"]] == ["greedy", "random"] * 3
    for game in seen["games"]:
        record = parse_transcript(game["moves"], Position.start(Game.OTHELLO4))
        assert record.final.over
        assert list(record.final.score()) == game["score"]
        assert game["forfeits"] == [None, None]
    assert [game["number"] for game in show(client, name, 4)["games"]] == [5, 6]
    assert client.post(f"/api/contests/{name}/resume").status_code == 400


def test_a_contest_is_stopped_and_resumed_after_a_restart(client: TestClient, contests: ContestRunner) -> None:
    name = start(client, **CONFIG | {"rounds": 50, "game": "abapa"})
    busy = client.post("/api/contests", json=CONFIG)
    assert (busy.status_code, busy.json()["message"]) == (
        409,
        "too many contests are running: wait until one ends, or stop one of yours",
    )
    assert client.delete(f"/api/contests/{name}").status_code == 409
    wait_until(lambda: show(client, name)["rounds_played"])
    assert show(client, name)["seconds_left"] > 0
    stopped = client.post(f"/api/contests/{name}/stop").json()
    assert stopped["state"] == "stopped"
    assert 0 < stopped["rounds_played"] < 50
    games = show(client, name)["games"]

    again = ContestRunner(contests.folder)
    assert [contest.folder.name for contest in again.list()] == [name]
    assert to_json(again.get(name))["games"] == games
    again.resume(name)
    wait_until(lambda: again.get(name).rounds_played > stopped["rounds_played"])
    again.close()
    contest = again.get(name)
    assert contest.state == "stopped"
    assert to_json(contest)["games"][: len(games)] == games
    again.delete(name)
    assert again.list() == []
    assert client.get(f"/api/contests/{name}").status_code == 404


def test_a_killed_contest_resumes_with_the_same_games(contests: ContestRunner) -> None:
    plan = ContestConfig(
        game="othello4", players=["greedy", "random", "alphabeta@2"], rounds=4, opening_plies=1, seed=3
    )
    name, _ = contests.start(plan)
    wait_until(lambda: contests.get(name).rounds_played > 1)
    process = contests.get(name)._process
    assert process is not None and process.pid is not None
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert contests.get(name).state == "stopped"
    contests.resume(name)
    wait_until(lambda: contests.get(name).state == "finished")
    whole = play_tournament(plan.to_tournament())
    assert [game.moves for game in contests.get(name).results().results] == [game.moves for game in whole.results]


def to_json(contest: Contest) -> Any:
    return json.loads(dump_contest(contest.summary(), contest.folder))


@pytest.mark.parametrize("where", ["begin", "choose"])
def test_stopping_does_not_wait_for_bots(client: TestClient, where: str) -> None:
    bot = f"first,failure=endless,where={where}"
    name = start(client, game="othello4", players=[bot, "random"], rounds=1, move_time=5)
    wait_until(multiprocessing.active_children)
    assert client.post(f"/api/contests/{name}/stop").json()["state"] == "stopped"
    seen = show(client, name)
    assert (seen["rounds_played"], seen["games"]) == (0, []), "bots of a stopped contest do not forfeit"
    assert client.post(f"/api/contests/{name}/stop").status_code == 200, "stopping a stopped contest is not an error"


def test_a_bot_that_cannot_be_made_is_named(client: TestClient) -> None:
    name = start(client, **CONFIG | {"players": ["random", "alphabeta:nonsense@2"]})
    wait_until(lambda: show(client, name)["state"] == "failed")
    (listed,) = client.get("/api/contests").json()
    assert listed["state"] == "failed"
    assert "'nonsense' is not a heuristic" in listed["message"]
    assert client.delete(f"/api/contests/{name}").status_code == 204
    assert client.get("/api/contests").json() == []


@pytest.mark.parametrize(
    ("change", "status", "part"),
    [
        ({"players": ["random"]}, 422, "at least 2"),
        ({"players": ["random"] * 9}, 422, "at most 8"),
        ({"players": ["random", "random"]}, 400, "'random' appears twice"),
        ({"players": ["random", "human"]}, 400, "choose another player"),
        ({"players": ["random", "nobody"]}, 400, "unknown player 'nobody'"),
        ({"players": ["random", "alphabeta@2,file=/etc/passwd"]}, 400, "'file' cannot be changed on this server"),
        (
            {"players": ["random", "minimax@2,square_table=/etc/passwd"]},
            400,
            "'square_table=/etc/passwd' is not allowed",
        ),
        ({"players": ["random", "champion@2s"]}, 400, "the time limit of champion@2s exceeds the 1s per move"),
        ({"rounds": 0}, 422, "greater than or equal to 1"),
        ({"rounds": 51}, 422, "less than or equal to 50"),
        ({"opening_plies": 13}, 422, "less than or equal to 12"),
        ({"move_time": 6}, 422, "less than or equal to 5"),
        ({"move_time": 0}, 422, "greater than or equal to 0.01"),
        ({"game": "chess"}, 422, "game"),
        ({"jobs": 4}, 422, "jobs"),
    ],
)
def test_invalid_configs_are_refused(client: TestClient, change: dict[str, Any], status: int, part: str) -> None:
    answer = client.post("/api/contests", json=CONFIG | change)
    assert answer.status_code == status
    assert part in answer.text
    assert client.get("/api/contests").json() == []


@pytest.mark.parametrize("name", ["12345678", "1234567", "..%2F..%2Fetc", "%2E%2E", "0123456G", "contest.json"])
def test_unknown_ids(client: TestClient, name: str) -> None:
    assert client.get(f"/api/contests/{name}").status_code == 404
    assert client.post(f"/api/contests/{name}/stop").status_code == 404
    assert client.post(f"/api/contests/{name}/resume").status_code == 404
    assert client.delete(f"/api/contests/{name}").status_code in (404, 405)  # 405 if the name leads to another path


def store_contest(contests: ContestRunner, number: int) -> Path:
    folder = contests.folder / f"{number:08x}"
    folder.mkdir(parents=True)
    config = ContestConfig(game="othello4", players=["greedy", "random"], rounds=1).model_dump_json()
    (folder / "contest.json").write_text(f'{{"config": {config}, "started": "2024-01-01T00:00:00Z"}}')
    return folder


def test_ids_cannot_escape_the_folder(contests: ContestRunner) -> None:
    store_contest(contests, 7).rename(contests.folder.parent / "outside")
    for name in ("../outside", "..", ".", ""):
        with pytest.raises(ApiError, match="there is no contest"):
            contests.get(name)
        with pytest.raises(ApiError, match="there is no contest"):
            contests.delete(name)


def test_stored_contests_are_limited(client: TestClient, contests: ContestRunner) -> None:
    for number in range(MAX_STORED_CONTESTS):
        store_contest(contests, number)
    answer = client.post("/api/contests", json=CONFIG)
    assert (answer.status_code, answer.json()["message"]) == (400, "200 contests are already stored: delete some first")


@pytest.mark.parametrize(("file", "content"), [("contest.json", "{"), ("games.jsonl", "no\n"), ("games.jsonl", "{}\n")])
def test_a_damaged_contest_can_be_deleted(client: TestClient, contests: ContestRunner, file: str, content: str) -> None:
    folder = store_contest(contests, 7)
    (folder / file).write_text(content)
    answer = client.get("/api/contests/00000007")
    assert (answer.status_code, answer.json()["message"]) == (400, "contest 00000007 is damaged: delete it")
    assert client.get("/api/contests").status_code == 200
    assert client.delete("/api/contests/00000007").status_code == 204
    assert not folder.exists()


def test_a_contest_of_another_version_cannot_be_resumed(client: TestClient, contests: ContestRunner) -> None:
    folder = store_contest(contests, 7)
    (folder / "configuration.json").write_text('{"awello": "0.0.0"}')
    answer = client.post("/api/contests/00000007/resume")
    assert answer.status_code == 400
    assert "another version of Awello" in answer.json()["message"]
    assert str(folder) not in answer.text
    assert show(client, "00000007")["state"] == "stopped"


# --- search trees -----------------------------------------------------------------------------------------------------
def test_a_tree_is_drawn(client: TestClient) -> None:
    answer = client.post("/api/tree", json={"moves": ["f5", "d6"], "search": "alphabeta:mobility@2"}).json()
    assert answer["lines"][0].startswith("alphabeta:mobility@2: value ")
    assert "Black" in answer["lines"][0]
    texts = [text.text for text in ElementTree.fromstring(answer["svg"]).iter("{http://www.w3.org/2000/svg}text")]
    assert "c3" in texts and not set(texts) & {*answer["lines"], "MAX chooses"}, "the page has its own captions"
    assert client.post("/api/tree", json={"game": "romein"}).json()["lines"][0].startswith("alphabeta:diffscore@2")


@pytest.mark.parametrize(
    ("body", "part"),
    [
        ({"search": "minimax@5"}, "a tree of 5 plies is too large: choose at most 4"),
        ({"search": "uct"}, "'uct' is not a textbook search: choose minimax"),
        ({"search": "alphabeta@1s"}, "needs a depth"),
        ({"search": "alphabeta:nonsense"}, "nonsense"),
        ({"search": "alphabeta,weights=/etc/passwd"}, "'weights' cannot be changed on this server"),
        (
            {"search": "alphabeta,square_table=/etc/passwd"},
            "'square_table=/etc/passwd' is not allowed on this server: choose one of 1, 2",
        ),
        ({"search": "alphabeta,move_ordering=false"}, "move_ordering cannot be set for a search tree"),
        ({"moves": ["a1"]}, "move 1: "),
        ({"search": "minimax@4", "moves": MIDGAME}, "lower the depth"),
    ],
)
def test_bad_trees_are_refused(client: TestClient, body: dict[str, Any], part: str) -> None:
    answer = client.post("/api/tree", json=body)
    assert answer.status_code in (400, 422) and part in answer.text
