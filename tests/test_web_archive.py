"""The API of the archive: explorer, saved games, lists, files, and errors."""

import gzip
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from conftest import random_record
from fastapi.testclient import TestClient

from awello import Game, Position, Record, format_position, parse_transcript
from awello.archive.archive import Archive, GameFilter, parse_years
from awello.archive.explorer import explore
from awello.errors import ConfigError
from awello.formats.registry import find_format, read_games
from awello.players.player import unregister_user_players
from awello.web import archive_service, files_api, rate_limits
from awello.web.app import create_app
from awello.web.rate_limits import RateLimit, RateLimits
from awello.web.request_guard import IMPORT_PATH, MAX_FILES_BODY_BYTES

HOST = "http://127.0.0.1:8421"
TIGER = "f5d6c3d3c4"
LOSS = {"loser": 0, "reason": "resigned"}


def with_tags(record: Record, first: str, second: str, date: str) -> Record:
    tags = dict(zip(record.start.game.sides, (first, second), strict=True)) | {"Date": date, "Event": "Cup"}
    return Record(record.start, record.moves, record.seconds, (), tags, record.loser, record.reason)


@pytest.fixture
def location(tmp_path: Path) -> str:
    return str(tmp_path / "archive.sqlite")


@pytest.fixture
def client(location: str) -> Iterator[TestClient]:
    with TestClient(create_app(0, archive=location), base_url=HOST, raise_server_exceptions=False) as found:
        yield found


def names_of(record: Record) -> list[str]:
    moves = zip(record.positions(), record.moves, strict=False)
    return [position.format_move(move) for position, move in moves]


def finished_game(game: Game = Game.OTHELLO4, seed: int = 1, **changes: Any) -> dict[str, Any]:
    """Return a finished game as the page sends it."""
    moves = names_of(random_record(game, seed))
    usual = {"game": str(game), "moves": moves, "players": ["Ann", "greedy"], "started": 1_763_251_200}
    return usual | {"seconds": [0.5] * len(moves)} | changes


LEARNER = """
from dataclasses import dataclass
from pathlib import Path
from awello import Choice, Player, register

@register("noting", "notes the games that it learns from")
@dataclass
class NotingPlayer(Player):
    def choose(self, position, clock):
        return Choice(position.legal_moves()[0])

    def learn(self, record, side):
        with Path(FILE).open("a") as file:
            print(side, len(record.moves), file=file)
        return {}
"""


@pytest.mark.parametrize("public", [False, True])
def test_players_learn_from_games_on_a_private_server_only(
    public: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, noted = tmp_path / "noting.py", tmp_path / "noted"
    file.write_text(LEARNER.replace("FILE", repr(str(noted))))
    monkeypatch.setenv("AWELLO_PLAYERS", str(file))
    names = ("127.0.0.1",) if public else ()
    with TestClient(create_app(0, archive=str(tmp_path / "a.sqlite"), hostnames=names), base_url=HOST) as client:
        game = finished_game(players=["Ann", "noting"])
        assert client.post("/api/games", json=game).json() == {"number": 1}
    unregister_user_players()
    assert (noted.read_text() if noted.exists() else "") == ("" if public else f"1 {len(game['moves'])}\n")


# ---- explorer -------------------------------------------------------------------------------------------------------
def test_explore_matches_the_explorer(client: TestClient, location: str, game: Game) -> None:
    archive = Archive(location)
    for seed in range(12):
        archive.add(random_record(game, seed))
    for plies in (0, 1, 4):
        start = random_record(game, 3)
        line = Record(start.start, start.moves[:plies])
        expected = explore(archive, line.final)
        found = client.post("/api/explore", json={"game": str(game), "moves": names_of(line)}).json()
        assert found["games"] == expected.games > 0 and found["value"] == expected.value
        assert (found["value"] is None) == (game >= Game.ABAPA)
        for result, branch in zip(found["moves"], expected.moves, strict=True):
            assert result["move"] == line.final.format_move(branch.move)
            for part in ("games", "wins", "draws", "losses", "mean_margin", "value"):
                assert result[part] == getattr(branch, part)


def test_openings_are_named_in_both_languages(client: TestClient, location: str) -> None:
    Archive(location).add(parse_transcript(TIGER))
    found = client.post("/api/explore", json={"moves": ["f5", "d6", "c3", "d3"]}).json()
    assert found["opening"] is None
    assert found["moves"] == [
        {"move": "c4", "games": 1, "wins": 0, "draws": 0, "losses": 0, "mean_margin": None, "value": None,
         "opening": {"en": "Tiger", "fr": "Tigre"}}
    ]  # fmt: skip
    after = client.post("/api/explore", json={"moves": ["f5", "d6", "c3", "d3", "c4"]}).json()
    assert after["opening"] == {"en": "Tiger", "fr": "Tigre"}


def test_an_unknown_position(client: TestClient) -> None:
    assert client.post("/api/explore", json={}).json() == {"games": 0, "value": None, "opening": None, "moves": []}


# ---- saved games ----------------------------------------------------------------------------------------------------
def test_a_game_is_saved_once(client: TestClient, location: str, game: Game) -> None:
    params = finished_game(game)
    assert client.post("/api/games", json=params).json() == {"number": 1}
    assert client.post("/api/games", json=params).json() == {"number": 1}, "a repeated game is not stored again"
    assert client.post("/api/games", json=params | {"started": params["started"] + 1}).json() == {"number": 2}
    record = Archive(location).load_record(1)
    assert (names_of(record), set(record.seconds)) == (params["moves"], {0.5})
    assert [record.tags[side] for side in game.sides] == ["Ann", "greedy"]
    assert record.tags["Site"] == "Awello page" and record.tags["Date"].startswith("2025-11-1")
    assert record.loser is None and record.final.over


def test_resigned_games(client: TestClient, location: str) -> None:
    moves = ["f5", "d6", "c3"]
    for number, (reason, text) in enumerate([("resigned", "resigned"), ("time", "ran out of time")], 1):
        params = finished_game(Game.OTHELLO, moves=moves, seconds=[], loss={"loser": 1, "reason": reason})
        assert client.post("/api/games", json=params).json() == {"number": number}
        record = Archive(location).load_record(number)
        assert (record.loser, record.reason, record.seconds) == (1, text, ())
        assert client.get(f"/api/games/{number}").json()["loss"] == {"loser": 1, "reason": reason}


def test_names_stay_in_one_line(client: TestClient) -> None:
    client.post("/api/games", json=finished_game(players=[" Ann\n\x00 O’Nym\t", "\x1b"]))
    assert client.get("/api/games/1").json()["players"] == ["Ann O’Nym", "guest"]


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"moves": ["b1"], "seconds": []}, 400, "not over"),
        ({"moves": [], "seconds": []}, 400, "no move"),
        ({"moves": [], "seconds": [], "loss": LOSS}, 400, "no move"),
        ({"loss": LOSS}, 400, "leave 'loss' out"),
        ({"seconds": [1.0]}, 400, "times (1) differ"),
        ({"seconds": [-1.0]}, 422, "seconds"),
        ({"moves": ["a1"]}, 400, "move 1"),
        ({"players": ["Ann"]}, 422, "players"),
        ({"players": ["Ann", "x" * 121]}, 422, "players"),
        ({"started": -1}, 422, "started"),
        ({"started": 1 << 40}, 422, "started"),
        ({"loss": {"loser": 2, "reason": "resigned"}}, 422, "loss"),
        ({"surprise": 1}, 422, "surprise"),
    ],
)
def test_invalid_games_are_refused(
    client: TestClient, location: str, changes: dict[str, Any], status: int, words: str
) -> None:
    answer = client.post("/api/games", json=finished_game(**changes))
    assert answer.status_code == status, answer.text
    assert words in answer.json()["message"] and "\n" not in answer.json()["message"]
    assert Archive(location).find_numbers(GameFilter()) == []


def test_clients_cannot_fill_the_disk(client: TestClient, location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(rate_limits, "monotonic", lambda: now[0])
    service = client.app.state.archive_service  # type: ignore[attr-defined]
    service.save_limits, service.total_save_limit = RateLimits(2, 2 / 60), RateLimit(3, 3 / 86400)

    def keep(seed: int) -> int:
        return client.post("/api/games", json=finished_game(seed=seed)).status_code

    assert [keep(1), keep(2), keep(3)] == [200, 200, 429]
    now[0] += 60
    answer = client.post("/api/games", json=finished_game(seed=4))
    assert (answer.status_code, keep(5)) == (200, 429)
    now[0] += 86400
    assert keep(6) == 200
    assert len(Archive(location).find_numbers(GameFilter())) == 4


# ---- list of games --------------------------------------------------------------------------------------------------
@pytest.fixture
def library(location: str) -> list[Record]:
    games = [random_record(Game.OTHELLO, seed) for seed in range(6)]
    records = [
        with_tags(record, f"Player {n}", "Éva" if n % 2 else "Bob", f"{1990 + n}-01-02")
        for n, record in enumerate(games)
    ]
    tiger = parse_transcript(TIGER)
    records.append(with_tags(Record(tiger.start, tiger.moves, loser=1, reason="crash: oops"), "Éva", "Bob", "2001"))
    records += [with_tags(random_record(game, 9), "South", "North", "2002") for game in (Game.ABAPA, Game.TOURNAMENT)]
    archive = Archive(location)
    for record in records:
        archive.add(record)
    return records


def numbers(client: TestClient, **params: Any) -> list[int]:
    answer = client.get("/api/games", params=params)
    assert answer.status_code == 200, answer.text
    return [row["number"] for row in answer.json()["games"]]


def test_games_are_found(client: TestClient, library: list[Record]) -> None:
    assert numbers(client) == [9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert numbers(client, last=2) == [9, 8]
    assert numbers(client, last=2, before=8) == [7, 6]
    assert client.get("/api/games", params={"last": 2, "before": 8}).json()["total"] == 9
    assert numbers(client, player="VA") == [7, 6, 4, 2]
    assert numbers(client, opening="tigre") == numbers(client, opening="tiger") == [7]
    assert numbers(client, year="1992-1994") == [5, 4, 3]
    assert numbers(client, game="abapa") == [8]
    for result, winner in (("first", 0), ("second", 1)):
        expected = [number for number, record in enumerate(library, 1) if record.winner == winner]
        assert numbers(client, result=result) == expected[::-1]
    reached = {"game": "othello", "position": format_position(Position.start())}
    assert numbers(client, **reached) == [7, 6, 5, 4, 3, 2, 1]
    assert numbers(client, **reached, last=2, before=6) == [5, 4]
    assert numbers(client, **reached, player="bob", last=3) == [7, 5, 3]
    after = {"game": "othello", "position": format_position(parse_transcript(TIGER).final)}
    assert numbers(client, **after) == [7]


def test_a_list_contains_results(client: TestClient, library: list[Record]) -> None:
    rows = {row["number"]: row for row in client.get("/api/games").json()["games"]}
    for number, record in enumerate(library, 1):
        row = rows[number]
        assert row["game"] == str(record.start.game)
        assert row["players"] == [record.tags[side] for side in record.start.game.sides]
        assert (row["date"], row["event"], row["loser"]) == (record.tags["Date"], "Cup", record.loser)
        assert row["score"] == (list(record.final.score()) if record.final.over else None)
        assert row["winner"] == record.winner
    assert rows[7]["opening"] == {"en": "Tiger", "fr": "Tigre"}


def test_a_saved_game_is_shown(client: TestClient, library: list[Record]) -> None:
    for number, record in enumerate(library, 1):
        found = client.get(f"/api/games/{number}").json()
        assert (found["number"], found["game"], found["start"]) == (number, str(record.start.game), None)
        assert found["moves"] == names_of(record)
        assert found["tags"] == {"Date": record.tags["Date"], "Event": "Cup"}
    assert client.get("/api/games/7").json()["loss"] == {"loser": 1, "reason": "forfeit"}


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/games/99", 404, "no game 99"),
        ("/api/games/0", 422, "number"),
        ("/api/games/x", 422, "number"),
        ("/api/games/99999999999999999999", 422, "number"),
        ("/api/games?year=now", 400, "neither a year"),
        ("/api/games?last=1000", 422, "last"),
        ("/api/games?result=nobody", 422, "result"),
        ("/api/games?surprise=1", 422, "surprise"),
        ("/api/games?position=XO", 400, "the rules of its game"),
        ("/api/games?game=othello&position=XO", 400, "board"),
    ],
)
def test_invalid_queries_get_a_clear_message(client: TestClient, path: str, status: int, words: str) -> None:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["message"] and "\n" not in answer.json()["message"]


def test_years() -> None:
    assert [parse_years(text) for text in ("", "1996", "1990-1999")] == [None, (1996, 1996), (1990, 1999)]
    with pytest.raises(ConfigError, match="neither a year"):
        parse_years("96")


# ---- import ---------------------------------------------------------------------------------------------------------
FORMATS = {
    "transcripts": (Game.OTHELLO, Game.OTHELLO6, Game.ABAPA, Game.ROMEIN),
    "ggf": (Game.OTHELLO, Game.OTHELLO4),
    "ogn": (Game.ABAPA, Game.TOURNAMENT),
    "logbook": (Game.OTHELLO,),
    "wthor": (Game.OTHELLO,),
}


def games_for(format_name: str) -> list[Record]:
    """Return games that a format stores without loss."""
    records = [random_record(game, seed) for seed, game in enumerate(FORMATS[format_name] * 3)]
    if format_name in ("ggf", "ogn", "wthor"):
        return [with_tags(record, "Ann", f"Bob {n}", "1996") for n, record in enumerate(records)]
    return records


def send(client: TestClient, *files: tuple[str, bytes]) -> list[dict[str, Any]]:
    params = {"name": [name for name, _ in files], "size": [str(len(content)) for _, content in files]}
    answer = client.post(IMPORT_PATH, params=params, content=b"".join(content for _, content in files))
    assert answer.status_code == 200, answer.text
    return list(answer.json()["files"])


def without_numbers(record: Record) -> dict[str, str]:
    """Return only the tags that every format keeps: the players and the event."""
    return {name: value for name, value in record.tags.items() if name in (*record.start.game.sides, "Event")}


@pytest.mark.parametrize("format_name", FORMATS)
def test_files_of_every_format(client: TestClient, location: str, format_name: str) -> None:
    """A file that is sent twice is imported only once; its games can be exported in the same format."""
    records = games_for(format_name)
    contents = find_format(format_name).write(records)
    files = [(f"games{suffix}", content) for suffix, content in contents.items()]
    expected = {"games": len(records), "duplicates": 0, "unfinished": 0, "error_count": 0, "errors": []}
    result = send(client, *files)
    assert result[0] == {"name": files[0][0], "format": format_name, "new": len(records), **expected}
    assert [one["format"] for one in result[1:]] == ["names"] * (len(files) - 1)
    assert send(client, *files)[0] == result[0] | {"new": 0}
    kept = list(Archive(location).load_records(range(1, 100)))
    assert [(one.start, one.moves) for one in kept] == [(one.start, one.moves) for one in records]
    assert [*map(without_numbers, kept)] == [*map(without_numbers, records)]

    answer = client.get("/api/games/export", params={"format": format_name})
    assert answer.status_code == 200, answer.text
    if format_name == "wthor":
        assert 'filename="awello.zip"' in answer.headers["content-disposition"]
        with ZipFile(BytesIO(answer.content)) as packed:
            again = [(name, packed.read(name)) for name in packed.namelist()]
        assert [name for name, _ in again] == ["awello.wtb", "awello.jou", "awello.trn"]
        assert [content for _, content in again] == list(contents.values())
    else:
        ((suffix, content),) = contents.items()
        assert f'filename="awello{suffix}"' in answer.headers["content-disposition"]
        assert list(read_games(answer.content, f"x{suffix}")) == list(read_games(content, f"x{suffix}"))


def test_one_file_needs_no_size(client: TestClient, location: str) -> None:
    content = gzip.compress(b"f5d6c3\nf5f6e6\nf5d6\n")
    answer = client.post(IMPORT_PATH, params={"name": "C:\\a\x00b.txt.gz"}, content=content)
    (result,) = answer.json()["files"]
    assert (result["name"], result["games"], result["unfinished"]) == ("C:\\ab.txt.gz", 3, 3)
    assert client.post("/api/explore", json={}).json()["games"] == 3


def test_damage_is_reported_and_the_rest_is_imported(client: TestClient) -> None:
    lines = ["f5d6c3", *["f5a1"] * 12, "f5d6c3"]
    (result,) = send(client, ("list.txt", "\n".join(lines).encode()))
    assert (result["games"], result["duplicates"], result["error_count"], len(result["errors"])) == (2, 1, 12, 10)
    assert result["errors"][0].startswith("line 2: ")
    (result,) = send(client, ("letter.doc", b"Dear Ann,\n\nthank you"))
    assert (result["format"], result["games"]) == ("unknown", 0)
    assert "expected games in a format such as" in result["errors"][0]
    assert numbers(client) == [1]


@pytest.mark.parametrize(
    ("params", "body", "status", "words"),
    [
        ({"name": ["a.txt", "b.txt"]}, b"f5d6", 400, "size of each"),
        ({"name": ["a.txt", "b.txt"], "size": [1, 1]}, b"f5d6", 400, "the body (4 bytes) do not match"),
        ({"name": "a.txt", "size": [2, 2]}, b"f5d6", 400, "size of each"),
        ({"name": "a.txt", "size": -1}, b"f5d6", 422, "size"),
        ({"name": "x.jou"}, b"f5d6", 400, "x.jou: byte 0"),
        ({"name": ""}, b"f5d6", 422, "name"),
        ({"name": "x" * 201}, b"f5d6", 422, "name"),
        ({"name": ["x"] * 21}, b"f5d6", 422, "name"),
        ({}, b"f5d6", 422, "name"),
        ({"name": "a.txt"}, b"x" * (MAX_FILES_BODY_BYTES + 1), 413, "16384 KiB"),
    ],
)
def test_files_that_cannot_be_imported(
    client: TestClient, params: dict[str, Any], body: bytes, status: int, words: str
) -> None:
    answer = client.post(IMPORT_PATH, params=params, content=body)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["message"] and "\n" not in answer.json()["message"]
    assert numbers(client) == []


def test_only_files_may_be_large(client: TestClient) -> None:
    content = b"#".ljust(MAX_FILES_BODY_BYTES - 6, b"x") + b"\nf5d6\n"
    assert send(client, ("long.txt", content))[0]["games"] == 1
    assert client.post("/api/games", content=content).status_code == 413
    assert client.post(f"{IMPORT_PATH}/", params={"name": "long.txt"}, content=content).status_code == 413


def test_a_public_server_imports_no_files(location: str) -> None:
    """A public server refuses imports; exports still work."""
    Archive(location).add(parse_transcript(TIGER))
    app = create_app(0, host="0.0.0.0", archive=location)
    with TestClient(app, base_url="http://192.168.0.7:8421") as client:
        answer = client.post(IMPORT_PATH, params={"name": "a.txt"}, content=b"f5d6\n" * 100_000)
        assert (answer.status_code, answer.json()["code"]) == (403, "import_disabled")
        assert numbers(client) == [1]
        assert client.get("/api/games/export?format=ggf").status_code == 200
    foreign = {"origin": "http://evil.example"}
    with TestClient(create_app(0, archive=location), base_url=HOST) as client:
        answer = client.post(IMPORT_PATH, params={"name": "a.txt"}, content=b"f5d6\n", headers=foreign)
        assert (answer.status_code, answer.json()["code"]) == (403, "cross_origin")


# ---- export ---------------------------------------------------------------------------------------------------------
def test_downloads_are_limited_per_network(location: str, frozen_limits: None) -> None:
    Archive(location).add(parse_transcript(TIGER))
    app = create_app(0, host="0.0.0.0", archive=location)
    with TestClient(app, base_url="http://192.168.0.7:8421", client=("203.0.113.7", 1)) as client:
        statuses = [client.get("/api/games/export?format=ggf").status_code for _ in range(6)]
        assert statuses == [200] * 5 + [429]
        other = TestClient(app, base_url="http://192.168.0.7:8421", client=("203.0.113.8", 1))
        assert other.get("/api/games/export?format=ggf").status_code == 200


def test_an_export_contains_the_games_of_the_list(client: TestClient, library: list[Record]) -> None:
    def exported(**params: Any) -> list[Any]:
        answer = client.get("/api/games/export", params=params)
        assert answer.status_code == 200, answer.text
        return [(one.start, one.moves) for one in read_games(answer.content) if isinstance(one, Record)]

    played = [(record.start, record.moves) for record in library]
    assert exported(format="transcripts", game="othello") == played[:7]
    assert exported(format="ggf", player="va", year="1991-1995") == played[1:6:2]
    after = format_position(parse_transcript(TIGER).final)
    assert exported(format="ggf", game="othello", position=after) == played[6:7]
    assert exported(format="ogn", game="abapa") == played[7:8]


@pytest.mark.parametrize(
    ("params", "status", "words"),
    [
        ({"format": "ggf"}, 400, "game 8: GGF stores only games of Othello, not of abapa"),
        ({"format": "ogn"}, 400, "game 1: OGN stores only games of Awalé"),
        ({"format": "logbook", "game": "othello"}, 400, "game 7: a logbook cannot store"),
        ({"format": "wthor", "year": "1990-1995"}, 400, "one year"),
        ({"format": "ggf", "player": "nobody"}, 400, "no games match"),
        ({"format": "pdf"}, 422, "format"),
        ({}, 422, "format"),
        ({"format": "ggf", "count": 3}, 422, "count"),
        ({"format": "ggf", "year": "now"}, 400, "neither a year"),
    ],
)
def test_exports_that_are_refused(
    client: TestClient, library: list[Record], params: dict[str, Any], status: int, words: str
) -> None:
    answer = client.get("/api/games/export", params=params)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["message"] and "\n" not in answer.json()["message"]


def test_exports_are_limited_in_games(
    client: TestClient, library: list[Record], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files_api, "MAX_EXPORTED_GAMES", 6)
    assert client.get("/api/games/export", params={"format": "ggf", "year": "1990-1995"}).status_code == 200
    answer = client.get("/api/games/export", params={"format": "ggf", "game": "othello"})
    assert (answer.status_code, answer.json()["code"]) == (400, "too_many_games_found")
    assert answer.json()["message"].startswith("a file holds at most ")


def test_a_game_as_a_file(client: TestClient, game: Game) -> None:
    """A game is exported in every format that supports it, finished or not."""
    params = finished_game(game) | {"tags": {"Event": "Cup", "Site": "elsewhere"}}
    whole = random_record(game, 1)
    for format_name in ("ggf" if game.family == "othello" else "ogn", "transcripts"):
        answer = client.post("/api/export", json=params | {"format": format_name})
        assert answer.status_code == 200, answer.text
        (record,) = read_games(answer.content)
        assert isinstance(record, Record) and (record.start, record.moves) == (whole.start, whole.moves)
        if format_name == "ggf":
            assert record.seconds == (0.5,) * len(record.moves)
            assert dict(record.tags).items() >= {"Black": "Ann", "White": "greedy", "Site": "Awello page"}.items()
            assert record.tags["Event"] == "Cup" and record.tags["Date"].startswith("2025-11-1")
        started_game = {"game": str(game), "moves": params["moves"][:3], "format": format_name}
        (record,) = read_games(client.post("/api/export", json=started_game).content)
        assert isinstance(record, Record) and record.moves == whole.moves[:3]
        given_up = started_game | {"players": [None, "Bob"], "loss": LOSS}
        (record,) = read_games(client.post("/api/export", json=given_up).content)
        assert isinstance(record, Record) and record.moves == whole.moves[:3]
        if format_name != "transcripts":
            assert (record.loser, record.tags.get(game.sides[0]), record.tags[game.sides[1]]) == (0, None, "Bob")


@pytest.mark.parametrize(
    ("changes", "status", "words"),
    [
        ({"format": "ogn"}, 400, "OGN stores only games of Awalé"),
        ({"format": "logbook"}, 400, "standard start"),
        ({"format": "ggf", "tags": {"so so": "x"}}, 400, "so so"),
        ({"format": "ggf", "tags": {str(n): "" for n in range(61)}}, 422, "tags"),
        ({"format": "ggf", "loss": LOSS}, 400, "leave 'loss' out"),
        ({}, 422, "format"),
    ],
)
def test_games_that_a_format_cannot_store(client: TestClient, changes: dict[str, Any], status: int, words: str) -> None:
    answer = client.post("/api/export", json=finished_game() | changes)
    assert answer.status_code == status, answer.text
    assert words in answer.json()["message"] and "\n" not in answer.json()["message"]


def test_the_number_of_games_in_a_text(client: TestClient) -> None:
    def games(text: str) -> int:
        return int(client.post("/api/detect", json={"text": text}).json()["games"])

    (three,) = find_format("ggf").write([random_record(Game.OTHELLO4, seed) for seed in range(3)]).values()
    assert games(three.decode()) == 3
    assert [games(text) for text in ("f5d6c3\nf5f6\n", "f5d6c3\nd3c4", "f5 d6\nc3 d3")] == [2, 1, 1]


# ---- unavailable archive --------------------------------------------------------------------------------------------
REQUESTS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "/api/explore", {}),
    ("GET", "/api/games", None),
    ("GET", "/api/games/1", None),
    ("POST", "/api/games", finished_game()),
    ("POST", f"{IMPORT_PATH}?name=x.txt", None),
    ("GET", "/api/games/export?format=ggf", None),
]


def test_a_broken_archive_breaks_nothing_else(location: str, caplog: pytest.LogCaptureFixture) -> None:
    Path(location).write_text("this is not a database, although it is long enough for a header" * 100)
    with TestClient(create_app(0, archive=location), base_url=HOST, raise_server_exceptions=False) as client:
        for method, path, body in REQUESTS:
            answer = client.request(method, path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (503, "archive_unavailable")
            assert location not in answer.text, "clients must not see the location"
        assert client.post("/api/positions", json={}).status_code == 200
    assert location in caplog.text


def test_a_repaired_archive_is_opened_again(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(location).mkdir()
    with TestClient(create_app(0, archive=location), base_url=HOST, raise_server_exceptions=False) as client:
        assert client.get("/api/games").status_code == 503
        Path(location).rmdir()
        assert client.get("/api/games").status_code == 503, "the archive is not opened again immediately"
        monkeypatch.setattr(archive_service, "RETRY_DELAY", 0.0)
        assert client.get("/api/games").json() == {"total": 0, "games": []}


def test_an_archive_that_breaks_later(client: TestClient, location: str) -> None:
    assert client.get("/api/games").status_code == 200
    with Archive(location).engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE index_pages")
    assert client.post("/api/explore", json={}).status_code == 503
    assert client.get("/api/games").status_code == 200


def test_a_server_without_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWELLO_DATA", str(tmp_path))
    with TestClient(create_app(0, archive=None), base_url=HOST) as client:
        for method, path, body in REQUESTS:
            answer = client.request(method, path, json=body)
            assert (answer.status_code, answer.json()["code"]) == (404, "no_archive")
    assert list(tmp_path.iterdir()) == []
