"""The club's HTTP API and WebSocket: accounts, cookies, tokens, games, profiles."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from clubs import PASSWORD, ClubHttpClient, run_server_thread, sign_up
from websockets.exceptions import ConnectionClosed, InvalidStatus

from awello import Record
from awello.formats.registry import read_games
from awello.web import club_service
from awello.web.club_service import SESSION_COOKIE


@pytest.fixture
def new_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a function that creates HTTP clients for the same club."""
    monkeypatch.setattr(club_service, "SIGNUP_RATE", (100, 1))
    with run_server_thread(tmp_path / "club.sqlite") as address:
        yield lambda: ClubHttpClient(base_url=address)


def test_accounts_and_cookies(new_client: Any) -> None:
    client = new_client()
    answer = client.post("/api/club/accounts", json={"name": "Ann", "password": PASSWORD})
    cookie = answer.headers["set-cookie"].lower()
    assert answer.status_code == 200 and "httponly" in cookie and "samesite=strict" in cookie
    assert client.get("/api/club/session").json()["name"] == "Ann"
    other = new_client()
    assert other.get("/api/club/session").json()["name"] is None
    taken = other.post("/api/club/accounts", json={"name": "ANN", "password": PASSWORD})
    assert (taken.status_code, taken.json()["code"]) == (400, "name_taken")
    weak = other.post("/api/club/accounts", json={"name": "Bob", "password": "short"})
    assert (weak.status_code, weak.json()["code"]) == (400, "password_length")
    for name, password in (("Ann", "wrong password"), ("Nobody", PASSWORD)):
        wrong = other.post("/api/club/session", json={"name": name, "password": password})
        assert (wrong.status_code, wrong.json()["code"]) == (401, "wrong_credentials")
    assert other.post("/api/club/session", json={"name": "ann", "password": PASSWORD}).json()["name"] == "Ann"
    secret = other.cookies[SESSION_COOKIE]
    other.delete("/api/club/session")
    assert other.get("/api/club/session", headers={"cookie": f"{SESSION_COOKIE}={secret}"}).json()["name"] is None
    assert client.get("/api/club/session").json()["name"] == "Ann", "other sessions are still valid"


def test_guessing_is_slowed_down(new_client: Any, frozen_limits: None) -> None:
    client = new_client()
    sign_up(client, "Ann")
    answers = [client.post("/api/club/session", json={"name": "Ann", "password": "a wrong one"}) for _ in range(12)]
    codes = [answer.status_code for answer in answers]
    assert codes[:10] == [401] * 10 and codes[-1] == 429
    assert answers[-1].json()["message"] == "too many attempts: try again in 6 s"


def test_another_site_cannot_act(new_client: Any) -> None:
    client = new_client()
    sign_up(client, "Ann")
    for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        assert client.post("/api/club/bots", json={"name": "bot"}, headers=headers).status_code == 403
        with pytest.raises((InvalidStatus, ConnectionClosed)), client.connect(**headers) as channel:
            channel.receive()


def test_bots_and_tokens(new_client: Any) -> None:
    client = new_client()
    assert client.post("/api/club/bots", json={"name": "bot"}).status_code == 401
    sign_up(client, "Ann")
    assert client.post("/api/club/bots", json={"name": "Ann-bot"}).json() == {"name": "Ann-bot", "bot": True}
    token = client.post("/api/club/bots/Ann-bot/tokens", json={"label": "laptop"}).json()["token"]
    headers = {"authorization": f"Bearer {token}"}
    anonymous = new_client()
    assert anonymous.get("/api/club/session", headers=headers).json() == {"name": "Ann-bot", "bot": True}
    assert anonymous.post("/api/club/bots", json={"name": "x1"}, headers=headers).status_code == 401
    sign_up(anonymous, "Bob")
    assert anonymous.get("/api/club/bots/Ann-bot/tokens").status_code == 404
    (made,) = client.get("/api/club/bots/Ann-bot/tokens").json()
    assert client.delete(f"/api/club/bots/Ann-bot/tokens/{made['id']}").json() == {"revoked": True}
    for forged in (token, token + "x", "awello_", "none"):
        assert new_client().get("/api/club/session", headers={"authorization": f"Bearer {forged}"}).status_code == 401


def test_a_game_by_websocket(new_client: Any) -> None:
    ann, bob, anonymous = new_client(), new_client(), new_client()
    sign_up(ann, "Ann")
    sign_up(bob, "Bob")
    with ann.connect() as first, bob.connect() as second, anonymous.connect() as spectator:
        assert first.wait_for("welcome")["name"] == "Ann" and spectator.wait_for("welcome")["name"] is None
        seek = first.request("seek", variant="othello4", seconds=60, side=0)
        while not (seeks := spectator.wait_for("lobby")["seeks"]):
            pass
        assert (seeks[0]["from"], seeks[0]["rating"], seeks[0]["established"], seeks[0]["bot"]) == (
            "Ann",
            1500,
            False,
            False,
        )
        number = second.request("accept", number=seek["seek"])["game"]
        assert spectator.request("watch", game=number)["players"][0]["name"] == "Ann"
        assert spectator.request("resign", game=number)["code"] == "not_logged_in"
        play_out(number, first, second)
        ended = spectator.request("watch", game=number)
        assert ended["over"] and len(ended["seconds"]) == len(ended["moves"]) and min(ended["seconds"]) >= 0
        for player in first.state(number)["players"]:
            assert (player["rating"], player["established"]) == (1500, False) and player["rating_after"] != 1500
        rows = ann.get("/api/club/leaderboard", params={"variant": "othello4"}).json()
        assert rows == [], "provisional ratings are not on the leaderboard"


def test_metrics(new_client: Any) -> None:
    ann = new_client()
    sign_up(ann, "Ann")
    with ann.connect() as channel:
        channel.wait_for("welcome")
        lines = ann.get("/metrics").text.splitlines()
        assert "awello_club_accounts_online 1" in lines and "awello_club_live_games 0" in lines
        assert all(line.startswith("#") or len(line.split()) == 2 for line in lines)


def test_only_configured_host_names_are_served(tmp_path: Path) -> None:
    with (
        run_server_thread(tmp_path / "club.sqlite", names=["club.example.org"]) as address,
        ClubHttpClient(base_url=address) as client,
    ):
        codes = [client.get("/", headers={"host": name}).status_code for name in ("club.example.org", "evil.example")]
        assert codes == [200, 403]


def play_out(number: int, first: Any, second: Any) -> None:
    """Play the first legal move at every turn until the game is over."""
    while not (state := first.state(number))["over"]:
        mover = (first, second)[state["mover"]]
        answer = mover.request("move", game=number, ply=state["ply"], move=state["legal"][0])
        assert answer["type"] == "done" and answer["ply"] > state["ply"]
        while first.state(number)["ply"] < answer["ply"]:
            first.wait_for("game")


def test_offers_are_withdrawn_when_their_author_disconnects(new_client: Any) -> None:
    ann, bob = new_client(), new_client()
    sign_up(ann, "Ann")
    sign_up(bob, "Bob")
    with ann.connect() as first:
        with bob.connect() as second:
            while first.wait_for("lobby")["online"] != ["Ann", "Bob"]:
                pass
            number = second.request("challenge", name="ann", variant="abapa", seconds=300)["challenge"]
            assert first.wait_for("challenge")["number"] == number
        assert first.wait_for("declined") == {"type": "declined", "number": number, "by": "Bob"}
        assert first.wait_for("lobby")["online"] == ["Ann"]
        assert first.request("accept", number=number)["code"] == "offer_gone"


def test_profiles_and_exported_games(new_client: Any, frozen_limits: None) -> None:
    ann, bob, anonymous = new_client(), new_client(), new_client()
    sign_up(ann, "Ann")
    sign_up(bob, "Bob")
    ann.post("/api/club/bots", json={"name": "rex"})
    assert ann.get("/api/club/bots").json() == [{"name": "rex", "bot": True}]
    assert anonymous.get("/api/club/bots").status_code == 401
    assert anonymous.get("/api/club/players/ann/games").json()["code"] == "no_finished_games", (
        "there are no finished games yet"
    )
    with ann.connect() as first, bob.connect() as second:
        seek = first.request("seek", variant="othello4", seconds=60, side=0)["seek"]
        won = second.request("accept", number=seek)["game"]
        play_out(won, first, second)
        only = anonymous.get("/api/club/players/ann/games")
        assert only.headers["content-disposition"] == 'attachment; filename="awello-Ann.ggf"'
        seek = second.request("seek", variant="abapa", seconds=1800, side=0, rated=False)["seek"]
        drawn = first.request("accept", number=seek)["game"]
        second.request("move", game=drawn, ply=0, move="A")
        first.request("draw", game=drawn)
        second.request("draw", game=drawn)
        seek = first.request("seek", variant="othello", seconds=60, side=1)["seek"]
        left = second.request("accept", number=seek)["game"]
        first.request("abort", game=left)
        seek = first.request("seek", variant="othello", seconds=60, side=0)["seek"]
        going = second.request("accept", number=seek)["game"]
        found = anonymous.get("/api/club/players/ann").json()
    assert (found["name"], found["bot"], found["owner"], found["games_played"]) == ("Ann", False, None, 2)
    assert found["online"] and not anonymous.get("/api/club/players/rex").json()["online"]
    assert anonymous.get("/api/club/players/rex").json()["owner"] == "Ann"
    (pool,) = found["ratings"]
    assert (pool["variant"], pool["speed"], pool["wins"] + pool["draws"] + pool["losses"]) == ("othello4", "blitz", 1)
    assert [game["number"] for game in found["recent_games"]] == [going, left, drawn, won]
    assert [(game["over"], game["reason"]) for game in found["recent_games"]] == [
        (False, ""),
        (True, "aborted"),
        (True, "draw_agreed"),
        (True, ""),
    ]
    assert [game["side"] for game in found["recent_games"]] == [0, 1, 1, 0] and found["recent_games"][3][
        "score"
    ] is not None
    assert [game["rating_change"] for game in found["recent_games"]] == [None, None, None, pool["rating"] - 1500]
    fewer = anonymous.get("/api/club/players/ann", params={"last": 1, "before": drawn}).json()["recent_games"]
    assert [game["number"] for game in fewer] == [won]
    assert anonymous.get("/api/club/players/anonymous").status_code == 404

    answer = anonymous.get("/api/club/players/ann/games")
    assert answer.headers["content-disposition"] == 'attachment; filename="awello-Ann.zip"'
    with ZipFile(BytesIO(answer.content)) as box:
        (othello,) = read_games(box.read("awello-Ann.ggf"))
        (awale,) = read_games(box.read("awello-Ann.ogn"))
    assert isinstance(othello, Record) and isinstance(awale, Record)
    assert othello.final.over and othello.tags["Black"] == "Ann" and othello.tags["Event"] == "Awello club"
    assert (awale.tags["South"], awale.tags["North"], awale.tags["Result"]) == ("Bob", "Ann", "1/2-1/2")
    assert [anonymous.get("/api/club/players/ann/games").status_code for _ in range(5)][-1] == 429


def test_invalid_messages_are_answered_and_finally_close_the_connection(new_client: Any) -> None:
    ann = new_client()
    sign_up(ann, "Ann")
    with ann.connect() as channel:
        assert channel.request("dance")["code"] == "unknown_type"
        assert channel.request("move", game=1, ply=0, move="f5")["code"] == "game_not_live"
        assert channel.request("seek", variant="othello", seconds=-5)["code"] == "invalid_field"
        assert channel.request("seek", variant="chess", seconds=60)["code"] == "invalid_field"
        for text in ("", "{", "[]", '{"id": {}}', '{"type": "seek"}', "x" * 70000):
            channel.socket.send(text)
            while "id" not in (answer := channel.receive()):
                pass
            assert answer["type"] == "error"
        with pytest.raises(ConnectionClosed):
            for _ in range(60):
                channel.socket.send("{")
                channel.receive()


def test_without_a_club() -> None:
    with run_server_thread(None) as address, ClubHttpClient(base_url=address) as client:
        login = {"name": "Ann", "password": PASSWORD}
        asked = ["leaderboard", "session", "bots", "players/ann", "players/ann/games"]
        for answer in (
            client.post("/api/club/accounts", json=login),
            *(client.get(f"/api/club/{one}") for one in asked),
        ):
            assert (answer.status_code, answer.json()["code"]) == (404, "no_club"), answer.url
        health = client.get("/api/health").json()
        assert health["ok"] and not health["club"]
        with pytest.raises((InvalidStatus, ConnectionClosed)), client.connect() as channel:
            channel.receive()
