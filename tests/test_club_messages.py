"""A busy club: expected moves are never refused, malformed messages are answered, and bots resend refused moves."""

import asyncio
import importlib.util
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from clubs import ClubHttpClient, run_server_thread, sign_up
from conftest import ROOT

from awello.protocols import club_bot
from awello.protocols.club_bot import ClubBot
from awello.web import app as web
from awello.web import club_service, connection

LIMITED = "message_rate_limit"
MALFORMED = [
    '{"id": 1, "type": ["x"]}',
    '{"id": 1, "type": {"x": 1}}',
    '{"id": 1, "type": null}',
    '{"id": 1, "type": 7}',
    '{"id": 1, "type": NaN}',
    '{"id": 1, "type": true}',
    '{"id": 1, "type": "\\ud800"}',
    '{"id": 1, "type": ' + "[" * 2000 + "]" * 2000 + "}",
    '{"id": 1, "type": ' + "9" * 4000 + "}",
    '{"id": 1, "type": ' + "9" * 9000 + "}",
    '{"id": [1], "type": "lobby"}',
    '{"id": {}, "type": "lobby"}',
    '{"id": NaN, "type": "lobby"}',
    '{"id": "\\udfff", "type": "lobby"}',
    '{"id": 1e400, "type": "lobby"}',
    '{"type": "pong"}',
    '{"type": "pong", "number": []}',
    '{"type": "pong", "number": 1e999}',
    '{"type": "pong", "number": NaN}',
    '{"id": 1, "type": "seek", "variant": "othello", "seconds": NaN}',
    '{"id": 1, "type": "seek", "variant": "othello", "seconds": Infinity}',
    '{"id": 1, "type": "seek", "variant": ["othello"], "seconds": 60}',
    '{"id": 1, "type": "seek", "seconds": 60, "increment": -Infinity}',
    '{"id": 1, "type": "seek", "seconds": 60, "side": 1e308}',
    '{"id": 1, "type": "seek", "seconds": 60, "\\ud800": 1}',
    '{"id": 1, "type": "challenge", "name": "\\ud800\\udc00\\ud800", "seconds": 60}',
    '{"id": 1, "type": "challenge", "name": "\\u0000", "seconds": 60}',
    '{"id": 1, "type": "move", "game": 1, "ply": 1e30, "move": "f5"}',
    '{"id": 1, "type": "move", "game": 99999999999999999999, "ply": 0, "move": "f5"}',
    '{"id": 1, "type": "move", "game": 1, "ply": 0, "move": ["f5"]}',
    '{"id": 1, "type": "move", "game": 1, "ply": 0, "move": "\\ud800"}',
    '{"id": 1, "type": "draw", "game": 1, "accept": "\\ud800"}',
    '{"id": 1, "type": "chat", "game": 1, "text": "\\ud800"}',
    '{"id": 1, "type": "watch", "game": null}',
    '{"id": 1, "type": "enter", "tournament": "\\ud800"}',
    '{"id": 1, "type": "enter", "tournament": NaN}',
    '{"id": 1, "type": "tournament", "tournament": "\\u0000"}',
    '{"id": 1, "type": "tournament", "tournament": [[[]]]}',
    "null",
    "[]",
    "7",
    '"lobby"',
    "NaN",
    "",
    "\u0000",
]


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(club_service, "SIGNUP_RATE", (100, 1))
    with run_server_thread(tmp_path / "club.sqlite") as address:
        yield address


def answer_to(channel: Any, text: str) -> dict[str, Any]:
    """Send a raw message; return the response."""
    channel.socket.send(text)
    while "id" not in (answer := channel.receive()):
        pass
    return dict(answer)


def test_malformed_messages_are_answered_and_the_connection_survives(address: str) -> None:
    ann = ClubHttpClient(base_url=address)
    sign_up(ann, "Ann")
    with ann.connect() as channel:
        for text in MALFORMED:
            answer = answer_to(channel, text)
            if answer["type"] == "error":
                assert answer["code"] not in ("server", "storage"), (text[:80], answer)
            channel.number += 1000
            assert channel.request("lobby")["type"] == "done", text[:80]


def test_the_expected_move_is_never_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All other messages above the limit are refused with an error that contains the id of the message."""
    monkeypatch.setattr(club_service, "MESSAGE_RATE", (12, 0.001))
    with ExitStack() as stack:
        address = stack.enter_context(run_server_thread(tmp_path / "club.sqlite"))
        ann, bob = ClubHttpClient(base_url=address), ClubHttpClient(base_url=address)
        sign_up(ann, "Ann")
        sign_up(bob, "Bob")
        first, second = stack.enter_context(ann.connect()), stack.enter_context(bob.connect())
        number = second.request("accept", number=first.request("seek", variant="othello", seconds=60, side=0)["seek"])[
            "game"
        ]
        for channel in (first, second):
            while channel.request("lobby")["type"] == "done":
                pass
            refused = channel.request("lobby")
            assert refused["code"] == LIMITED and refused["id"] == channel.number
        for _ in range(15):
            state = first.state(number)
            mover = (first, second)[state["mover"]]
            answer = mover.request("move", game=number, ply=state["ply"], move=state["legal"][0])
            assert answer["type"] == "done", answer
            while first.state(number)["ply"] < answer["ply"]:
                first.wait_for("game")
        state = first.state(number)
        mover = (first, second)[state["mover"]]
        for move in ("a1", "h8"):
            assert mover.request("move", game=number, ply=state["ply"], move=move)["code"] == LIMITED, (
                "illegal moves are not exempt from the limit"
            )
        other = (second, first)[state["mover"]]
        assert other.request("move", game=number, ply=state["ply"], move=state["legal"][0])["code"] == LIMITED


def test_messages_without_an_account_are_charged_to_their_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen_limits: None
) -> None:
    """Connections without an account share a limit per client network; other networks and accounts are not affected."""
    monkeypatch.setattr(connection, "MAX_DELAY_SECONDS", 0.0)
    monkeypatch.setattr(web, "EVENT_LOOP_RATE", (40.0, 1.0))
    with (
        run_server_thread(tmp_path / "club.sqlite", names=["club.example.org"]) as address,
        ClubHttpClient(base_url=address) as client,
    ):

        def codes(network: str) -> list[str | None]:
            found = []
            for _ in range(3):
                with client.connect(**{"x-forwarded-for": network}) as channel:
                    found += [channel.request("lobby").get("code") for _ in range(4)]
            return found

        spent = codes("203.0.113.7")
        assert spent[0] is None and spent[-4:] == ["message_rate_limit"] * 4
        assert codes("203.0.113.8")[0] is None
        sign_up(client, "Ann")
        with client.connect(**{"x-forwarded-for": "203.0.113.7"}) as channel:
            assert channel.request("lobby")["type"] == "done"


class FakeClub:
    """A fake WebSocket of a bot, with queues of the messages that the bot receives and sends."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self.received: asyncio.Queue[str | None] = asyncio.Queue()
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        for message in messages:
            self.deliver(message)

    def deliver(self, message: dict[str, Any]) -> None:
        self.received.put_nowait(json.dumps(message))

    async def send(self, text: str) -> None:
        self.sent.put_nowait(json.loads(text))

    def __aiter__(self) -> "FakeClub":
        return self

    async def __anext__(self) -> str:
        text = await self.received.get()
        if text is None:
            raise StopAsyncIteration
        return text


STATE = {
    "type": "game",
    "game": 1,
    "variant": "othello",
    "players": [{"name": "rex"}, {"name": "max"}],
    "mover": 0,
    "ply": 0,
    "moves": [],
    "clocks": [60.0, 60.0],
    "control": {"seconds": 60.0, "increment": 0.0},
    "over": False,
}


def busy(code: str, number: int) -> dict[str, Any]:
    return {"id": number, "type": "error", "code": code, "message": "later", "params": {}}


def test_a_bot_sends_a_refused_move_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(club_bot, "RESEND_SECONDS", 0.01)

    async def play() -> None:
        club = FakeClub({"type": "welcome", "name": "rex"}, STATE)
        bot = ClubBot("http://127.0.0.1", "token", "random", log=lambda line: None)
        listening = asyncio.create_task(bot._listen(club))  # type: ignore[arg-type]
        first = await club.sent.get()
        for code in ("message_rate_limit", "storage"):
            club.deliver(busy(code, first["id"]))
            assert await club.sent.get() == first and first["type"] == "move"
        club.deliver(busy("wrong_ply", first["id"]))  # the game has advanced: the bot has nothing to resend
        club.deliver({"type": "ping", "number": 3})
        assert (await club.sent.get())["type"] == "pong"
        listening.cancel()

    asyncio.run(asyncio.wait_for(play(), 30))


def test_the_example_client_sends_a_refused_move_again() -> None:
    spec = importlib.util.spec_from_file_location("club_bot", ROOT / "examples" / "club_bot.py")
    assert spec and spec.loader
    client = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(client)

    async def play() -> None:
        club = FakeClub({"type": "welcome", "name": "rex"}, STATE | {"legal": ["f5"]})
        listening = asyncio.create_task(client.play(club))
        first = await club.sent.get()
        club.deliver(busy("message_rate_limit", first["id"]))
        assert await club.sent.get() == first
        listening.cancel()

    asyncio.run(asyncio.wait_for(play(), 30))


def test_a_bot_claims_the_win_when_its_opponent_has_left() -> None:
    log = list[str]()

    async def play() -> None:
        club = FakeClub({"type": "welcome", "name": "max"}, STATE)
        bot = ClubBot("http://127.0.0.1", "token", "random", log=log.append)
        listening = asyncio.create_task(bot._listen(club))  # type: ignore[arg-type]
        gone = {"type": "opponent_presence", "game": 1, "name": "rex", "online": False, "claim_in_seconds": 0.0}
        club.deliver(gone | {"claim_in_seconds": 60.0})
        club.deliver(gone | {"online": True, "claim_in_seconds": None})
        club.deliver({"type": "ping", "number": 1})
        assert (await club.sent.get())["type"] == "pong" and not bot.claim_tasks, (
            "no claim is pending after the opponent has returned"
        )
        club.deliver(gone)
        claim = await club.sent.get()
        assert (claim["type"], claim["game"]) == ("claim", 1)
        club.deliver({"type": "early_exit_warning", "exits": 4, "free_exits": 3, "minutes": 5})
        club.deliver(STATE | {"over": True, "winner": 1, "score": None, "reason": "left"})
        club.deliver({"type": "ping", "number": 2})
        assert (await club.sent.get())["type"] == "pong" and not bot.claim_tasks
        listening.cancel()

    asyncio.run(asyncio.wait_for(play(), 30))
    assert "rated games left early within an hour: 4 (no rated games for 5 min)" in log
