"""The club on the web: accounts, cookies, tokens, and the channel, by a client that speaks HTTP and WebSocket."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from clubs import PASSWORD, Visitor, serving, sign_up
from websockets.exceptions import ConnectionClosed, InvalidStatus

from awello.web import clubhouse
from awello.web.clubhouse import COOKIE


@pytest.fixture
def visit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A way to come to a club."""
    monkeypatch.setattr(clubhouse, "SIGN_UPS", (100, 1))
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
    for name, password in (("Ann", "wrong password"), ("Nobody", PASSWORD)):
        wrong = other.post("/api/club/session", json={"name": name, "password": password})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "password")
    assert other.post("/api/club/session", json={"name": "ann", "password": PASSWORD}).json()["name"] == "Ann"
    secret = other.cookies[COOKIE]
    other.delete("/api/club/session")
    assert other.get("/api/club/session", headers={"cookie": f"{COOKIE}={secret}"}).json()["name"] is None
    assert client.get("/api/club/session").json()["name"] == "Ann", "other sessions stay"


def test_guessing_is_slowed_down(visit: Any) -> None:
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
        number = second.ask("accept", number=seek["seek"])["game"]
        assert watcher.ask("watch", game=number)["players"][0]["name"] == "Ann"
        assert watcher.ask("resign", game=number)["code"] == "account"
        talks = (first, second)
        while not (state := first.state(number))["over"]:
            mover = talks[state["mover"]]
            answer = mover.ask("move", game=number, ply=state["ply"], move=state["legal"][0])
            assert answer["ok"] and answer["ply"] > state["ply"]
            while first.state(number)["ply"] < answer["ply"]:
                first.hear("game")
        assert watcher.ask("watch", game=number)["over"]
        rows = ann.get("/api/club/ladder", params={"game": "othello4"}).json()
        assert {row["name"] for row in rows} == {"Ann", "Bob"} and rows[0]["rating"] >= rows[1]["rating"]


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


def test_wrong_messages_are_answered_and_at_last_end_it(visit: Any) -> None:
    ann = visit()
    sign_up(ann, "Ann")
    with ann.channel() as talk:
        assert talk.ask("dance")["code"] == "message"
        assert talk.ask("move", game=1, ply=0, move="f5")["code"] == "absent"
        assert talk.ask("seek", kind="othello", seconds=-5)["code"] == "message"
        assert talk.ask("seek", kind="chess", seconds=60)["code"] == "message"
        for text in ("", "{", "[]", '{"id": {}}', '{"do": "seek"}', "x" * 70000):
            talk.socket.send(text)
            while "event" in (answer := talk.read()):
                pass
            assert not answer["ok"]
        with pytest.raises(ConnectionClosed):
            for _ in range(60):
                talk.socket.send("{")
                talk.read()


def test_without_a_club_everything_is_as_before() -> None:
    with serving(None) as address, Visitor(base_url=address) as client:
        login = {"name": "Ann", "password": PASSWORD}
        for answer in (client.post("/api/club/accounts", json=login), client.get("/api/club/ladder")):
            assert (answer.status_code, answer.json()["code"]) == (404, "noclub")
        assert client.get("/api/health").json()["ok"]
        with pytest.raises((InvalidStatus, ConnectionClosed)), client.channel() as talk:
            talk.read()
