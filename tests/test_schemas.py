"""Commands and the API give the same JSON for positions, games, statistics and reviews."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import awello, random_record
from fastapi.testclient import TestClient

from awello import Game, Record
from awello.archive.archive import Archive
from awello.schemas import BotStandingJson, GameJson, RulesJson
from awello.web.app import create_app

HOST = "http://127.0.0.1:8421"


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Create an archive with games of every variant, one of them resigned; return its path."""
    location = str(tmp_path_factory.mktemp("archive") / "archive.sqlite")
    archive = Archive(location)
    for game in Game:
        for seed in range(3):
            record = random_record(game, seed)
            first, second = game.sides
            archive.add(Record(record.start, record.moves, tags={first: "Ann", second: "Bob", "Date": "1996-05-07"}))
    record = random_record(Game.OTHELLO, 5)
    archive.add(Record(record.start, record.moves[:9], (0.5,) * 9, (1.0,) * 9, {}, 1, "resigned"))
    return location


@pytest.fixture(scope="module")
def client(location: str) -> Iterator[TestClient]:
    with TestClient(create_app(1, archive=location), base_url=HOST) as found:
        yield found


@pytest.fixture
def command(location: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a command with --json and parses its output."""
    monkeypatch.setenv("AWELLO_ARCHIVE", location)

    def read(*words: str) -> Any:
        done = awello(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return read


def test_a_game_and_a_list_of_games(client: TestClient, command: Any) -> None:
    listed = client.get("/api/games", params={"last": 100}).json()
    assert listed == command("games", "list", "--last", "100") and listed["total"] == 19
    for row in listed["games"]:
        assert client.get(f"/api/games/{row['number']}").json() == command("games", "show", str(row["number"]))


@pytest.mark.parametrize("moves", ["", "f5", "f5d6"])
def test_an_exploration(client: TestClient, command: Any, moves: str) -> None:
    body = {"moves": [moves[at : at + 2] for at in range(0, len(moves), 2)]}
    assert client.post("/api/explore", json=body).json() == command("explore", moves)


def test_a_review(client: TestClient, command: Any) -> None:
    record = random_record(Game.OTHELLO4, 2)
    moves = record.start.format_moves(record.moves)
    found = client.post("/api/review", json={"game": "othello4", "moves": moves, "seconds": 10}).json()
    by_command = command("analyse", "".join(name for name in moves if name != "pass"), "--size", "4", "--limit", "10s")
    assert found == by_command and found["complete"]


def test_an_analysis(client: TestClient, command: Any) -> None:
    start = "-----OX--XO----- X"
    found = client.post("/api/analyse", json={"game": "othello4", "start": start, "seconds": 10}).json()
    solved = command("solve", "othello", start)
    assert solved.keys() - found.keys() == {"score"} and not found.keys() - solved.keys()
    same = ("position", "value", "exact", "confidence")
    assert {name: found[name] for name in same} == {name: solved[name] for name in same}
    assert solved["score"] == solved["value"] == -10


def test_standings(command: Any, tmp_path: Path) -> None:
    words = ("tournament", "othello", "greedy", "random", "--size", "4", "--rounds", "1", "--out", str(tmp_path))
    standings = command(*words)["standings"]
    assert [BotStandingJson.model_validate(row).model_dump() for row in standings] == standings, "as in the API"


def test_the_api_documents_its_models(client: TestClient) -> None:
    paths = client.get("/api/openapi.json").json()["paths"]
    for path, method, form in (
        ("/api/rules", "get", "RulesJson"),
        ("/api/positions", "post", "PositionsJson"),
        ("/api/analyse", "post", "AnalysisJson"),
        ("/api/choose", "post", "ChoiceJson"),
        ("/api/review", "post", "ReviewJson"),
        ("/api/explore", "post", "ExplorationJson"),
        ("/api/games/{number}", "get", "GameJson"),
    ):
        answer = paths[path][method]["responses"]["200"]["content"]["application/json"]["schema"]
        assert form in json.dumps(answer)


def test_rules_contain_what_the_page_needs(client: TestClient) -> None:
    rules = client.get("/api/rules").json()
    assert rules == [RulesJson.of(game).model_dump(mode="json") for game in Game]
    assert {one["unit"] for one in rules} == {"discs", "seeds"}


def test_a_lost_game_has_a_reason() -> None:
    record = random_record(Game.ABAPA, 1)
    form = GameJson.of(Record(record.start, record.moves[:4], loser=0, reason="ran out of time"))
    assert form.loss and (form.loss.loser, form.loss.reason) == (0, "time") and form.score is None
