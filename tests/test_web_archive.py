"""The archive behind the API: what was played, games that are kept and found again, and what goes wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import random_record
from fastapi.testclient import TestClient

from awello import Game, Position, Record, format_position, parse_transcript
from awello.archive.archive import Archive, Wanted, parse_years
from awello.archive.explorer import explore
from awello.errors import ConfigError
from awello.web import archivist
from awello.web.app import create_app

HOST = "http://127.0.0.1:8421"
TIGER = "f5d6c3d3c4"
LOSS = {"loser": 0, "reason": "resigned"}


def named(record: Record, first: str, second: str, date: str) -> Record:
    tags = dict(zip(record.start.game.sides, (first, second), strict=True)) | {"Date": date, "Event": "Cup"}
    return Record(record.start, record.moves, record.seconds, (), tags, record.loser, record.reason)


@pytest.fixture
def place(tmp_path: Path) -> str:
    return str(tmp_path / "archive.sqlite")


@pytest.fixture
def client(place: str) -> Iterator[TestClient]:
    with TestClient(create_app(0, archive=place), base_url=HOST, raise_server_exceptions=False) as found:
        yield found


def names_of(record: Record) -> list[str]:
    moves = zip(record.positions(), record.moves, strict=False)
    return [position.format_move(move) for position, move in moves]


def finished(game: Game = Game.OTHELLO4, seed: int = 1, **changes: Any) -> dict[str, Any]:
    """A game as the page sends it."""
    moves = names_of(random_record(game, seed))
    usual = {"game": str(game), "moves": moves, "players": ["Ann", "greedy"], "begun": 1_763_251_200}
    return usual | {"seconds": [0.5] * len(moves)} | changes


# ---- what was played ------------------------------------------------------------------------------------------------
def test_explore_says_what_the_explorer_says(client: TestClient, place: str, game: Game) -> None:
    archive = Archive(place)
    for seed in range(12):
        archive.add(random_record(game, seed))
    for plies in (0, 1, 4):
        start = random_record(game, 3)
        line = Record(start.start, start.moves[:plies])
        expected = explore(archive, line.final)
        found = client.post("/api/explore", json={"game": str(game), "moves": names_of(line)}).json()
        assert found["games"] == expected.games > 0
        for told, branch in zip(found["branches"], expected.branches, strict=True):
            assert told["move"] == line.final.format_move(branch.move)
            for part in ("games", "wins", "draws", "losses", "score"):
                assert told[part] == getattr(branch, part)


def test_openings_are_named_in_both_languages(client: TestClient, place: str) -> None:
    Archive(place).add(parse_transcript(TIGER))
    found = client.post("/api/explore", json={"moves": ["f5", "d6", "c3", "d3"]}).json()
    assert found["opening"] is None
    assert found["branches"] == [
        {"move": "c4", "games": 1, "wins": 0, "draws": 0, "losses": 0, "score": None,
         "opening": {"en": "Tiger", "fr": "Tigre"}}
    ]  # fmt: skip
    after = client.post("/api/explore", json={"moves": ["f5", "d6", "c3", "d3", "c4"]}).json()
    assert after["opening"] == {"en": "Tiger", "fr": "Tigre"}


def test_a_position_that_nobody_reached(client: TestClient) -> None:
    assert client.post("/api/explore", json={}).json() == {"games": 0, "opening": None, "branches": []}


# ---- games that are kept --------------------------------------------------------------------------------------------
def test_a_game_is_kept_once(client: TestClient, place: str, game: Game) -> None:
    asked = finished(game)
    assert client.post("/api/games", json=asked).json() == {"number": 1}
    assert client.post("/api/games", json=asked).json() == {"number": 1}, "the same game again"
    assert client.post("/api/games", json=asked | {"begun": asked["begun"] + 1}).json() == {"number": 2}
    record = Archive(place).find(1)
    assert (names_of(record), set(record.seconds)) == (asked["moves"], {0.5})
    assert [record.tags[side] for side in game.sides] == ["Ann", "greedy"]
    assert record.tags["Site"] == "Awello page" and record.tags["Date"].startswith("2025-11-1")
    assert record.loser is None and record.final.over


def test_games_that_were_given_up(client: TestClient, place: str) -> None:
    moves = ["f5", "d6", "c3"]
    for number, (reason, told) in enumerate([("resigned", "resigned"), ("time", "ran out of time")], 1):
        asked = finished(Game.OTHELLO, moves=moves, seconds=[], result={"loser": 1, "reason": reason})
        assert client.post("/api/games", json=asked).json() == {"number": number}
        record = Archive(place).find(number)
        assert (record.loser, record.reason, record.seconds) == (1, told, ())
        assert client.get(f"/api/games/{number}").json()["result"] == {"loser": 1, "reason": reason}


def test_names_stay_in_one_line(client: TestClient) -> None:
    client.post("/api/games", json=finished(players=[" Ann\n\x00 O’Nym\t", "\x1b"]))
    assert client.get("/api/games/1").json()["players"] == ["Ann O’Nym", "guest"]


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"moves": ["b1"], "seconds": []}, 400, "not over"),
        ({"moves": [], "seconds": []}, 400, "no move"),
        ({"moves": [], "seconds": [], "result": LOSS}, 400, "no move"),
        ({"result": LOSS}, 400, "leave the result out"),
        ({"seconds": [1.0]}, 400, "1 times for"),
        ({"seconds": [-1.0]}, 422, "seconds"),
        ({"moves": ["a1"]}, 400, "move 1"),
        ({"players": ["Ann"]}, 422, "players"),
        ({"players": ["Ann", "x" * 121]}, 422, "players"),
        ({"begun": -1}, 422, "begun"),
        ({"begun": 1 << 40}, 422, "begun"),
        ({"result": {"loser": 2, "reason": "resigned"}}, 422, "result"),
        ({"surprise": 1}, 422, "surprise"),
    ],
)
def test_what_is_no_finished_game_is_refused(
    client: TestClient, place: str, changes: dict[str, Any], status: int, words: str
) -> None:
    answer = client.post("/api/games", json=finished(**changes))
    assert answer.status_code == status, answer.text
    assert words in answer.json()["message"] and "\n" not in answer.json()["message"]
    assert Archive(place).numbers(Wanted()) == []


def test_guests_cannot_fill_the_disk(client: TestClient, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(archivist, "monotonic", lambda: now[0])
    monkeypatch.setattr(archivist, "MOST_A_MINUTE", 2)
    monkeypatch.setattr(archivist, "MOST_A_DAY", 3)

    def keep(seed: int) -> int:
        return client.post("/api/games", json=finished(seed=seed)).status_code

    assert [keep(1), keep(2), keep(3)] == [200, 200, 429]
    now[0] += archivist.MINUTE
    answer = client.post("/api/games", json=finished(seed=4))
    assert (answer.status_code, keep(5)) == (200, 429)
    now[0] += archivist.DAY
    assert keep(6) == 200
    assert len(Archive(place).numbers(Wanted())) == 4


# ---- games that are found again -------------------------------------------------------------------------------------
@pytest.fixture
def library(place: str) -> list[Record]:
    games = [random_record(Game.OTHELLO, seed) for seed in range(6)]
    records = [
        named(record, f"Player {n}", "Éva" if n % 2 else "Bob", f"{1990 + n}-01-02") for n, record in enumerate(games)
    ]
    tiger = parse_transcript(TIGER)
    records.append(named(Record(tiger.start, tiger.moves, loser=1, reason="crash: oops"), "Éva", "Bob", "2001"))
    records += [named(random_record(game, 9), "South", "North", "2002") for game in (Game.ABAPA, Game.TOURNAMENT)]
    archive = Archive(place)
    for record in records:
        archive.add(record)
    return records


def numbers(client: TestClient, **asked: Any) -> list[int]:
    answer = client.get("/api/games", params=asked)
    assert answer.status_code == 200, answer.text
    return [row["number"] for row in answer.json()["rows"]]


def test_games_are_found(client: TestClient, library: list[Record]) -> None:
    assert numbers(client) == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert numbers(client, count=2) == [9, 8]
    assert numbers(client, count=2, before=8) == [7, 6]
    assert client.get("/api/games", params={"count": 2, "before": 8}).json()["games"] == 9
    assert numbers(client, player="VA") == [7, 6, 4, 2]
    assert numbers(client, opening="tigre") == numbers(client, opening="tiger") == [7]
    assert numbers(client, years="1992-1994") == [5, 4, 3]
    assert numbers(client, game="abapa") == [8]
    for result, winner in (("first", 0), ("second", 1)):
        expected = [number for number, record in enumerate(library, 1) if record.winner == winner]
        assert numbers(client, result=result) == expected[::-1]
    through = {"game": "othello", "through": format_position(Position.start())}
    assert numbers(client, **through) == [7, 6, 5, 4, 3, 2, 1]
    assert numbers(client, **through, count=2, before=6) == [5, 4]
    assert numbers(client, **through, player="bob", count=3) == [7, 5, 3]
    after = {"game": "othello", "through": format_position(parse_transcript(TIGER).final)}
    assert numbers(client, **after) == [7]


def test_a_list_says_how_games_ended(client: TestClient, library: list[Record]) -> None:
    rows = {row["number"]: row for row in client.get("/api/games").json()["rows"]}
    for number, record in enumerate(library, 1):
        row = rows[number]
        assert row["game"] == str(record.start.game)
        assert row["players"] == [record.tags[side] for side in record.start.game.sides]
        assert (row["date"], row["event"], row["loser"]) == (record.tags["Date"], "Cup", record.loser)
        assert row["score"] == (list(record.final.score()) if record.final.over else None)
        assert row["winner"] == record.winner
    assert rows[7]["opening"] == {"en": "Tiger", "fr": "Tigre"}


def test_a_game_comes_back(client: TestClient, library: list[Record]) -> None:
    for number, record in enumerate(library, 1):
        found = client.get(f"/api/games/{number}").json()
        assert (found["number"], found["game"], found["start"]) == (number, str(record.start.game), None)
        assert found["moves"] == names_of(record)
        assert found["tags"] == {"Date": record.tags["Date"], "Event": "Cup"}
    assert client.get("/api/games/7").json()["result"] == {"loser": 1, "reason": "forfeit"}


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/games/99", 404, "no game 99"),
        ("/api/games/0", 422, "number"),
        ("/api/games/x", 422, "number"),
        ("/api/games/99999999999999999999", 422, "number"),
        ("/api/games?years=now", 400, "no year"),
        ("/api/games?count=1000", 422, "count"),
        ("/api/games?result=nobody", 422, "result"),
        ("/api/games?surprise=1", 422, "surprise"),
        ("/api/games?through=XO", 400, "of which game"),
        ("/api/games?game=othello&through=XO", 400, "board"),
    ],
)
def test_wrong_questions_get_a_clear_line(client: TestClient, path: str, status: int, words: str) -> None:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["message"] and "\n" not in answer.json()["message"]


def test_years() -> None:
    assert [parse_years(text) for text in ("", "1996", "1990-1999")] == [None, (1996, 1996), (1990, 1999)]
    with pytest.raises(ConfigError, match="no year"):
        parse_years("96")


# ---- an archive that is not there -----------------------------------------------------------------------------------
ASKED: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "/api/explore", {}),
    ("GET", "/api/games", None),
    ("GET", "/api/games/1", None),
    ("POST", "/api/games", finished()),
]


def test_a_broken_archive_breaks_nothing_else(place: str, caplog: pytest.LogCaptureFixture) -> None:
    Path(place).write_text("this is no database, and it is longer than a header of one" * 100)
    with TestClient(create_app(0, archive=place), base_url=HOST, raise_server_exceptions=False) as client:
        for method, path, body in ASKED:
            answer = client.request(method, path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (503, "archive")
            assert place not in answer.text, "guests need not know where it lies"
        assert client.post("/api/line", json={}).status_code == 200
    assert place in caplog.text


def test_an_archive_that_is_mended_is_opened(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(place).mkdir()
    with TestClient(create_app(0, archive=place), base_url=HOST, raise_server_exceptions=False) as client:
        assert client.get("/api/games").status_code == 503
        Path(place).rmdir()
        assert client.get("/api/games").status_code == 503, "not tried again at once"
        monkeypatch.setattr(archivist, "RETRY", 0.0)
        assert client.get("/api/games").json() == {"games": 0, "rows": []}


def test_an_archive_that_breaks_later(client: TestClient, place: str) -> None:
    assert client.get("/api/games").status_code == 200
    with Archive(place).engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE pages")
    assert client.post("/api/explore", json={}).status_code == 503
    assert client.get("/api/games").status_code == 200


def test_a_server_without_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWELLO_DATA", str(tmp_path))
    with TestClient(create_app(0, archive=None), base_url=HOST) as client:
        for method, path, body in ASKED:
            answer = client.request(method, path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (404, "noarchive")
    assert list(tmp_path.iterdir()) == []
