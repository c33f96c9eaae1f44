"""A busy club: moves that a game waits for are never refused, odd messages are answered, and bots send again."""

import asyncio
import importlib.util
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from clubs import Visitor, serving, sign_up
from conftest import ROOT

from awello.protocols import club as protocol
from awello.protocols.club import ClubBot
from awello.web import app as web
from awello.web import club_service, connection

ODD = [
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
    '{"id": 1, "type": "seek", "kind": "othello", "seconds": NaN}',
    '{"id": 1, "type": "seek", "kind": "othello", "seconds": Infinity}',
    '{"id": 1, "type": "seek", "kind": ["othello"], "seconds": 60}',
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
    '{"id": 1, "type": "say", "game": 1, "text": "\\ud800"}',
    '{"id": 1, "type": "watch", "game": null}',
    '{"id": 1, "type": "join", "tournament": "\\ud800"}',
    '{"id": 1, "type": "join", "tournament": NaN}',
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
    monkeypatch.setattr(club_service, "SIGN_UPS", (100, 1))
    with serving(tmp_path / "club.sqlite") as address:
        yield address


def answer_to(talk: Any, text: str) -> dict[str, Any]:
    """The answer to a text, whatever it is."""
    talk.socket.send(text)
    while "id" not in (answer := talk.read()):
        pass
    return dict(answer)


def test_odd_messages_are_answered_and_the_channel_survives(address: str) -> None:
    ann = Visitor(base_url=address)
    sign_up(ann, "Ann")
    with ann.channel() as talk:
        for text in ODD:
            answer = answer_to(talk, text)
            if answer["type"] == "error":
                assert answer["code"] not in ("server", "storage"), (text[:80], answer)
            talk.number += 1000
            assert talk.ask("lobby")["type"] == "done", text[:80]


def test_the_move_that_a_game_waits_for_is_never_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other messages above the limit are, and their answers carry their ids."""
    monkeypatch.setattr(club_service, "MEMBER", (12, 0.001))
    with ExitStack() as stack:
        address = stack.enter_context(serving(tmp_path / "club.sqlite"))
        ann, bob = Visitor(base_url=address), Visitor(base_url=address)
        sign_up(ann, "Ann")
        sign_up(bob, "Bob")
        first, second = stack.enter_context(ann.channel()), stack.enter_context(bob.channel())
        number = second.ask("accept", number=first.ask("seek", kind="othello", seconds=60, side=0)["seek"])["game"]
        for talk in (first, second):
            while talk.ask("lobby")["type"] == "done":
                pass
            refused = talk.ask("lobby")
            assert refused["code"] == "often" and refused["id"] == talk.number
        for _ in range(15):
            state = first.state(number)
            mover = (first, second)[state["mover"]]
            answer = mover.ask("move", game=number, ply=state["ply"], move=state["legal"][0])
            assert answer["type"] == "done", answer
            while first.state(number)["ply"] < answer["ply"]:
                first.hear("game")
        state = first.state(number)
        mover = (first, second)[state["mover"]]
        for move in ("a1", "h8"):
            assert mover.ask("move", game=number, ply=state["ply"], move=move)["code"] == "often", "it is not legal"
        other = (second, first)[state["mover"]]
        assert other.ask("move", game=number, ply=state["ply"], move=state["legal"][0])["code"] == "often"


def test_messages_without_an_account_are_paid_by_their_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, frozen_limits: None
) -> None:
    """However many connections it has; another network and accounts are not affected."""
    monkeypatch.setattr(connection, "PATIENCE", 0.0)
    monkeypatch.setattr(web, "COSTS", (40.0, 1.0))
    with serving(tmp_path / "club.sqlite", names=["club.example.org"]) as address, Visitor(base_url=address) as guest:

        def codes(network: str) -> list[str | None]:
            found = []
            for _ in range(3):
                with guest.channel(**{"x-forwarded-for": network}) as talk:
                    found += [talk.ask("lobby").get("code") for _ in range(4)]
            return found

        spent = codes("203.0.113.7")
        assert spent[0] is None and spent[-4:] == ["often"] * 4
        assert codes("203.0.113.8")[0] is None
        sign_up(guest, "Ann")
        with guest.channel(**{"x-forwarded-for": "203.0.113.7"}) as talk:
            assert talk.ask("lobby")["type"] == "done"


class Connection:
    """What a bot sends, and what it is sent."""

    def __init__(self, *heard: dict[str, Any]) -> None:
        self.heard: asyncio.Queue[str | None] = asyncio.Queue()
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        for message in heard:
            self.tell(message)

    def tell(self, message: dict[str, Any]) -> None:
        self.heard.put_nowait(json.dumps(message))

    async def send(self, text: str) -> None:
        self.sent.put_nowait(json.loads(text))

    def __aiter__(self) -> "Connection":
        return self

    async def __anext__(self) -> str:
        text = await self.heard.get()
        if text is None:
            raise StopAsyncIteration
        return text


STATE = {
    "type": "game",
    "game": 1,
    "kind": "othello",
    "players": [{"name": "rex"}, {"name": "max"}],
    "mover": 0,
    "ply": 0,
    "moves": [],
    "clocks": [60.0, 60.0],
    "control": {"seconds": 60.0, "increment": 0.0},
    "over": False,
}


def busy(code: str, number: int) -> dict[str, Any]:
    return {"id": number, "type": "error", "code": code, "message": "later"}


def test_a_bot_sends_a_refused_move_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "RESEND_SECONDS", 0.01)

    async def play() -> None:
        club = Connection({"type": "welcome", "name": "rex"}, STATE)
        bot = ClubBot("http://127.0.0.1", "token", "random", report=lambda line: None)
        listening = asyncio.create_task(bot._listen(club))  # type: ignore[arg-type]
        first = await club.sent.get()
        for code in ("often", "storage"):
            club.tell(busy(code, first["id"]))
            assert await club.sent.get() == first and first["type"] == "move"
        club.tell(busy("ply", first["id"]))  # the game is further by now: nothing to send
        club.tell({"type": "ping", "number": 3})
        assert (await club.sent.get())["type"] == "pong"
        listening.cancel()

    asyncio.run(asyncio.wait_for(play(), 30))


def test_the_example_client_sends_a_refused_move_again() -> None:
    spec = importlib.util.spec_from_file_location("club_client", ROOT / "examples" / "club_client.py")
    assert spec and spec.loader
    client = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(client)

    async def play() -> None:
        club = Connection({"type": "welcome", "name": "rex"}, STATE | {"legal": ["f5"]})
        listening = asyncio.create_task(client.play(club))
        first = await club.sent.get()
        club.tell(busy("often", first["id"]))
        assert await club.sent.get() == first
        listening.cancel()

    asyncio.run(asyncio.wait_for(play(), 30))


def test_a_bot_claims_the_win_when_its_opponent_has_left() -> None:
    said = list[str]()

    async def play() -> None:
        club = Connection({"type": "welcome", "name": "max"}, STATE)
        bot = ClubBot("http://127.0.0.1", "token", "random", report=said.append)
        listening = asyncio.create_task(bot._listen(club))  # type: ignore[arg-type]
        gone = {"type": "opponent", "game": 1, "name": "rex", "here": False, "claim": 0.0}
        club.tell(gone | {"claim": 60.0})
        club.tell(gone | {"here": True, "claim": None})
        club.tell({"type": "ping", "number": 1})
        assert (await club.sent.get())["type"] == "pong" and not bot.claims, "the opponent came back"
        club.tell(gone)
        claim = await club.sent.get()
        assert (claim["type"], claim["game"]) == ("claim", 1)
        club.tell({"type": "warning", "left": 4, "free": 3, "minutes": 5})
        club.tell(STATE | {"over": True, "winner": 1, "score": None, "reason": "left the game"})
        club.tell({"type": "ping", "number": 2})
        assert (await club.sent.get())["type"] == "pong" and not bot.claims
        listening.cancel()

    asyncio.run(asyncio.wait_for(play(), 30))
    assert "rated games left early within an hour: 4 (no rated games for 5 min)" in said
