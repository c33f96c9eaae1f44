"""The club on the web: accounts, cookies, tokens, and the channel, by a client that speaks HTTP and WebSocket."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from clubs import PASSWORD, Visitor, serving, sign_up
from websockets.exceptions import ConnectionClosed, InvalidStatus

from awello import Record
from awello.formats.files import read_games
from awello.web import club_service
from awello.web.club_service import COOKIE


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A way to come to a club."""
    monkeypatch.setattr(club_service, "SIGN_UPS", (100, 1))
    with serving(tmp_path / "club.sqlite") as address:
        yield lambda: Visitor(base_url=address)


def test_accounts_and_cookies(visit: Any) -> None:
    client = visit()
    answer = client.post("/api/club/accounts", json={"name": "Ann", "password": PASSWORD})
    cookie = answer.headers["set-cookie"].lower()
    assert answer.status_code == 200 and "httponly" in cookie and "samesite=strict" in cookie
    assert client.get("/api/club/session").json()["name"] == "Ann"
    other = visit()
    assert other.get("/api/club/session").json()["name"] is None
    taken = other.post("/api/club/accounts", json={"name": "ANN", "password": PASSWORD})
    assert (taken.status_code, taken.json()["code"]) == (400, "taken")
    weak = other.post("/api/club/accounts", json={"name": "Bob", "password": "short"})
    assert (weak.status_code, weak.json()["code"]) == (400, "weak")
    for name, password in (("Ann", "wrong password"), ("Nobody", PASSWORD)):
        wrong = other.post("/api/club/session", json={"name": name, "password": password})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "password")
    assert other.post("/api/club/session", json={"name": "ann", "password": PASSWORD}).json()["name"] == "Ann"
    secret = other.cookies[COOKIE]
    other.delete("/api/club/session")
    assert other.get("/api/club/session", headers={"cookie": f"{COOKIE}={secret}"}).json()["name"] is None
    assert client.get("/api/club/session").json()["name"] == "Ann", "other sessions stay"


def test_guessing_is_slowed_down(visit: Any, frozen_limits: None) -> None:
    client = visit()
    sign_up(client, "Ann")
    codes = [
        client.post("/api/club/session", json={"name": "Ann", "password": "a wrong one"}).status_code for _ in range(12)
    ]
    assert codes[:10] == [401] * 10 and codes[-1] == 429


def test_another_site_cannot_act(visit: Any) -> None:
    client = visit()
    sign_up(client, "Ann")
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.post("/api/club/programs", json={"name": "bot"}, headers=headers).status_code == 403
        with pytest.raises((InvalidStatus, ConnectionClosed)), client.channel(**headers) as talk:
            talk.read()


def test_programs_and_tokens(visit: Any) -> None:
    client = visit()
    assert client.post("/api/club/programs", json={"name": "bot"}).status_code == 401
    sign_up(client, "Ann")
    assert client.post("/api/club/programs", json={"name": "Ann-bot"}).json() == {"name": "Ann-bot", "program": True}
    token = client.post("/api/club/programs/Ann-bot/tokens", json={"label": "laptop"}).json()["token"]
    program = {"authorization": f"Bearer {token}"}
    nobody = visit()
    assert nobody.get("/api/club/session", headers=program).json() == {"name": "Ann-bot", "program": True}
    assert nobody.post("/api/club/programs", json={"name": "x1"}, headers=program).status_code == 401
    sign_up(nobody, "Bob")
    assert nobody.get("/api/club/programs/Ann-bot/tokens").status_code == 404
    (made,) = client.get("/api/club/programs/Ann-bot/tokens").json()
    assert client.delete(f"/api/club/programs/Ann-bot/tokens/{made['id']}").json() == {"revoked": True}
    for forged in (token, token + "x", "awello_", "none"):
        assert visit().get("/api/club/session", headers={"authorization": f"Bearer {forged}"}).status_code == 401


def test_a_game_on_the_channel(visit: Any) -> None:
    ann, bob, eyes = visit(), visit(), visit()
    sign_up(ann, "Ann")
    sign_up(bob, "Bob")
    with ann.channel() as first, bob.channel() as second, eyes.channel() as watcher:
        assert first.hear("welcome")["name"] == "Ann" and watcher.hear("welcome")["name"] is None
        seek = first.ask("seek", kind="othello4", seconds=60, side=0)
        while not (seeks := watcher.hear("lobby")["seeks"]):
            pass
        assert (seeks[0]["from"], seeks[0]["rating"], seeks[0]["sure"], seeks[0]["program"]) == (
            "Ann",
            1500,
            False,
            False,
        )
        number = second.ask("accept", number=seek["seek"])["game"]
        assert watcher.ask("watch", game=number)["players"][0]["name"] == "Ann"
        assert watcher.ask("resign", game=number)["code"] == "account"
        play_out(number, first, second)
        ended = watcher.ask("watch", game=number)
        assert ended["over"] and len(ended["seconds"]) == len(ended["moves"]) and min(ended["seconds"]) >= 0
        for player in first.state(number)["players"]:
            assert (player["rating"], player["sure"]) == (1500, False) and player["after"] != 1500
        rows = ann.get("/api/club/ladder", params={"game": "othello4"}).json()
        assert rows == [], "provisional ratings are not on the ladder"


def test_who_watches_the_server_finds_numbers(visit: Any) -> None:
    ann = visit()
    sign_up(ann, "Ann")
    with ann.channel() as talk:
        talk.hear("welcome")
        lines = ann.get("/metrics").text.splitlines()
        assert "awello_club_members 1" in lines and "awello_club_games 0" in lines
        assert all(line.startswith("#") or len(line.split()) == 2 for line in lines)


def test_it_answers_to_the_names_it_was_given(tmp_path: Path) -> None:
    with serving(tmp_path / "club.sqlite", names=["club.example.org"]) as address, Visitor(base_url=address) as client:
        codes = [client.get("/", headers={"host": name}).status_code for name in ("club.example.org", "evil.example")]
        assert codes == [200, 403]


def play_out(number: int, first: Any, second: Any) -> None:
    """Play a game to its end, by the first legal move each time."""
    while not (state := first.state(number))["over"]:
        mover = (first, second)[state["mover"]]
        answer = mover.ask("move", game=number, ply=state["ply"], move=state["legal"][0])
        assert answer["type"] == "done" and answer["ply"] > state["ply"]
        while first.state(number)["ply"] < answer["ply"]:
            first.hear("game")


def test_who_is_here_and_offers_that_leave_with_them(visit: Any) -> None:
    ann, bob = visit(), visit()
    sign_up(ann, "Ann")
    sign_up(bob, "Bob")
    with ann.channel() as first:
        with bob.channel() as second:
            while first.hear("lobby")["members"] != ["Ann", "Bob"]:
                pass
            number = second.ask("challenge", name="ann", kind="abapa", seconds=300)["challenge"]
            assert first.hear("challenge")["number"] == number
        assert first.hear("declined") == {"type": "declined", "number": number, "by": "Bob"}
        assert first.hear("lobby")["members"] == ["Ann"]
        assert first.ask("accept", number=number)["code"] == "gone"


def test_profiles_and_games_to_take_home(visit: Any, frozen_limits: None) -> None:
    ann, bob, eyes = visit(), visit(), visit()
    sign_up(ann, "Ann")
    sign_up(bob, "Bob")
    ann.post("/api/club/programs", json={"name": "rex"})
    assert ann.get("/api/club/programs").json() == [{"name": "rex", "program": True}]
    assert eyes.get("/api/club/programs").status_code == 401
    assert eyes.get("/api/club/players/ann/games").json()["code"] == "absent", "there is nothing to write yet"
    with ann.channel() as first, bob.channel() as second:
        seek = first.ask("seek", kind="othello4", seconds=60, side=0)["seek"]
        won = second.ask("accept", number=seek)["game"]
        play_out(won, first, second)
        only = eyes.get("/api/club/players/ann/games")
        assert only.headers["content-disposition"] == 'attachment; filename="awello-Ann.ggf"'
        seek = second.ask("seek", kind="abapa", seconds=1800, side=0, rated=False)["seek"]
        drawn = first.ask("accept", number=seek)["game"]
        second.ask("move", game=drawn, ply=0, move="A")
        first.ask("draw", game=drawn)
        second.ask("draw", game=drawn)
        seek = first.ask("seek", kind="othello", seconds=60, side=1)["seek"]
        left = second.ask("accept", number=seek)["game"]
        first.ask("abort", game=left)
        seek = first.ask("seek", kind="othello", seconds=60, side=0)["seek"]
        going = second.ask("accept", number=seek)["game"]
        found = eyes.get("/api/club/players/ann").json()
    assert (found["name"], found["program"], found["owner"], found["games"]) == ("Ann", False, None, 2)
    assert found["here"] and not eyes.get("/api/club/players/rex").json()["here"]
    assert eyes.get("/api/club/players/rex").json()["owner"] == "Ann"
    (pool,) = found["ratings"]
    assert (pool["game"], pool["speed"], pool["wins"] + pool["draws"] + pool["losses"]) == ("othello4", "blitz", 1)
    assert [game["number"] for game in found["last"]] == [going, left, drawn, won]
    assert [(game["over"], game["reason"]) for game in found["last"]] == [
        (False, ""),
        (True, "was not begun"),
        (True, "a draw was agreed"),
        (True, ""),
    ]
    assert [game["side"] for game in found["last"]] == [0, 1, 1, 0] and found["last"][3]["score"] is not None
    assert [game["change"] for game in found["last"]] == [None, None, None, pool["rating"] - 1500]
    fewer = eyes.get("/api/club/players/ann", params={"limit": 1, "before": drawn}).json()["last"]
    assert [game["number"] for game in fewer] == [won]
    assert eyes.get("/api/club/players/nobody").status_code == 404

    answer = eyes.get("/api/club/players/ann/games")
    assert answer.headers["content-disposition"] == 'attachment; filename="awello-Ann.zip"'
    with ZipFile(BytesIO(answer.content)) as box:
        (othello,) = read_games(box.read("awello-Ann.ggf"))
        (awale,) = read_games(box.read("awello-Ann.ogn"))
    assert isinstance(othello, Record) and isinstance(awale, Record)
    assert othello.final.over and othello.tags["Black"] == "Ann" and othello.tags["Event"] == "Awello club"
    assert (awale.tags["South"], awale.tags["North"], awale.tags["Result"]) == ("Bob", "Ann", "1/2-1/2")
    assert [eyes.get("/api/club/players/ann/games").status_code for _ in range(5)][-1] == 429


def test_wrong_messages_are_answered_and_at_last_end_it(visit: Any) -> None:
    ann = visit()
    sign_up(ann, "Ann")
    with ann.channel() as talk:
        assert talk.ask("dance")["code"] == "unknown_type"
        assert talk.ask("move", game=1, ply=0, move="f5")["code"] == "absent"
        assert talk.ask("seek", kind="othello", seconds=-5)["code"] == "invalid_field"
        assert talk.ask("seek", kind="chess", seconds=60)["code"] == "invalid_field"
        for text in ("", "{", "[]", '{"id": {}}', '{"type": "seek"}', "x" * 70000):
            talk.socket.send(text)
            while "id" not in (answer := talk.read()):
                pass
            assert answer["type"] == "error"
        with pytest.raises(ConnectionClosed):
            for _ in range(60):
                talk.socket.send("{")
                talk.read()


def test_without_a_club_everything_is_as_before() -> None:
    with serving(None) as address, Visitor(base_url=address) as client:
        login = {"name": "Ann", "password": PASSWORD}
        asked = ["ladder", "session", "programs", "players/ann", "players/ann/games"]
        for answer in (
            client.post("/api/club/accounts", json=login),
            *(client.get(f"/api/club/{one}") for one in asked),
        ):
            assert (answer.status_code, answer.json()["code"]) == (404, "no_club"), answer.url
        health = client.get("/api/health").json()
        assert health["ok"] and not health["club"]
        with pytest.raises((InvalidStatus, ConnectionClosed)), client.channel() as talk:
            talk.read()
