"""Words between two players: off until both want them, for nobody else, short, and not too many."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from clubs import Visitor, serving, sign_up
from test_club_server import Club, club, refused

from awello.web import club_service

SAID = "said"


def heard(club: Club, name: str) -> list[str]:
    return [message["text"] for message in club.told[name] if message["type"] == SAID]


@club
async def test_it_is_off_until_both_turn_it_on(club: Club) -> None:
    ann, bob = club.enter("Ann"), club.enter("Bob")
    number = await club.begin(ann, bob)
    say = club.hall.chat.say
    with refused("off"):
        await say(ann, number, "hello")
    await club.hall.chat.turn(ann, True)
    with refused("quiet"):
        await say(ann, number, "hello")
    await club.hall.chat.turn(bob, True)
    assert await say(ann, number, "  good luck  ") == {}
    assert club.last("Bob", SAID) == {"type": SAID, "game": number, "by": "Ann", "text": "good luck"}
    assert heard(club, "Ann") == [], "who says it knows it"
    await club.hall.chat.turn(bob, False)
    with refused("quiet"):
        await say(ann, number, "hello?")
    club.hall.leave(bob)
    with refused("quiet"):
        await say(ann, number, "hello?")
    assert heard(club, "Bob") == ["good luck"]


@club
async def test_each_connection_chooses_and_spectators_hear_nothing(club: Club) -> None:
    eyes, carl = club.enter("eyes"), club.enter("Carl")
    store, bob = club.enter("Ann"), club.enter("Bob")
    told_at_desk = club.told["Ann"]
    phone = club.enter("Ann")
    told_on_phone = club.told["Ann"]
    number = await club.begin(store, bob)
    for guest in (carl, store, bob):
        await club.hall.watch(guest, number)
        await club.hall.chat.turn(guest, True)
    await club.hall.watch(eyes, number)
    await club.hall.chat.say(bob, number, "one")
    await club.hall.chat.turn(phone, True)
    await club.hall.chat.say(phone, number, "two")
    words = [[each["text"] for each in told if each["type"] == SAID] for told in (told_at_desk, told_on_phone)]
    assert words == [["one", "two"], []], "the phone was off, then it was the one that spoke"
    assert heard(club, "Bob") == ["two"] and heard(club, "Carl") == heard(club, "eyes") == []
    with refused("guest"):
        await club.hall.chat.say(carl, number, "may I?")
    with refused("account"):
        await club.hall.chat.turn(eyes, True)
    with refused("account"):
        await club.hall.chat.say(eyes, number, "may I?")


@club
async def test_lines_are_short_and_few(club: Club) -> None:
    ann, bob = club.enter("Ann"), club.enter("Bob")
    number = await club.begin(ann, bob)
    for guest in (ann, bob):
        await club.hall.chat.turn(guest, True)
    moment = club.hall.now()
    club.hall.now = lambda: moment  # type: ignore[method-assign]
    for wrong in ("", "   ", "x" * 201, "a\nb", "a\x00b", "a\x1b[31m", "a\u2028b", "a\u202eb", "\ud800"):
        with refused("text"):
            await club.hall.chat.say(ann, number, wrong)
    right = ["x" * 200, "<b>ça va ?</b>", "שלום", "👩‍🚀", "a\u00a0!"]
    for text in right:
        await club.hall.chat.say(ann, number, text)
    assert heard(club, "Bob") == right
    with refused("often"):
        await club.hall.chat.say(ann, number, "six")
    await club.hall.chat.say(bob, number, "each has their own")
    moment += 2.1
    await club.hall.chat.say(ann, number, "six")
    with refused("often"):
        await club.hall.chat.say(ann, number, "seven")
    moment += 100
    for _ in range(5):
        await club.hall.chat.say(ann, number, "again")
    with refused("often"):
        await club.hall.chat.say(ann, number, "a rest does not add up")


@club
async def test_it_lasts_as_long_as_a_game_is_remembered(club: Club) -> None:
    ann, bob = club.enter("Ann"), club.enter("Bob")
    for guest in (ann, bob):
        await club.hall.chat.turn(guest, True)
    number = await club.begin(ann, bob)
    await club.hall.abort(ann, number)
    await club.hall.chat.say(bob, number, "a pity")
    assert heard(club, "Ann") == ["a pity"]
    club.hall.ended.clear()
    with refused("gone"):
        await club.hall.chat.say(bob, number, "a pity")


def test_on_the_channel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs speak as well; nothing is written down."""
    monkeypatch.setattr(club_service, "SIGN_UPS", (100, 1))
    with serving(tmp_path / "club.sqlite") as address:
        ann, rex = Visitor(base_url=address), Visitor(base_url=address)
        sign_up(ann, "Ann")
        ann.post("/api/club/programs", json={"name": "rex"})
        token = ann.post("/api/club/programs/rex/tokens", json={"label": "x"}).json()["token"]
        with ann.channel() as first, rex.channel(authorization=f"Bearer {token}") as second:
            seek = first.ask("seek", kind="othello4", seconds=60)["seek"]
            number = second.ask("accept", number=seek)["game"]
            assert first.ask("say", game=number, text="hello")["code"] == "off"
            assert first.ask("chat", tell=True) == {"id": 3, "type": "done"}
            refusal = first.ask("say", game=number, text="hello")
            assert (refusal["code"], refusal["message"]) == ("quiet", "rex has chat turned off: nothing was said")
            assert second.ask("chat")["type"] == "done"
            assert first.ask("say", game=number, text="the secret of the pond")["type"] == "done"
            told: dict[str, Any] = {"type": "said", "game": number, "by": "Ann", "text": "the secret of the pond"}
            assert second.hear("said") == told
            assert first.ask("say", game=number, text="x" * 201)["code"] == "text"
            assert first.ask("say", game=number)["code"] == "invalid_field"
            assert second.ask("say", game=number, text="bye")["type"] == "done" and first.hear("said")["by"] == "rex"
    with sqlite3.connect(tmp_path / "club.sqlite") as books:
        assert not [line for line in books.iterdump() if "pond" in line]
