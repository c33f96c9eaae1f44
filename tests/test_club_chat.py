"""Chat: off until both players turn it on, private, and limited in length and rate."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from clubs import ClubHttpClient, run_server_thread, sign_up
from test_club_server import ClubHarness, raises_club_error, with_club

from awello.web import club_service

CHAT = "chat"


def chat_lines(club: ClubHarness, name: str) -> list[str]:
    return [message["text"] for message in club.received[name] if message["type"] == CHAT]


@with_club
async def test_chat_is_off_until_both_players_turn_it_on(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    send = club.server.chat.send
    with raises_club_error("chat_off"):
        await send(ann, number, "hello")
    await club.server.chat.set_enabled(ann, True)
    with raises_club_error("opponent_chat_off"):
        await send(ann, number, "hello")
    await club.server.chat.set_enabled(bob, True)
    assert await send(ann, number, "  good luck  ") == {}
    assert club.last_event("Bob", CHAT) == {"type": CHAT, "game": number, "by": "Ann", "text": "good luck"}
    assert chat_lines(club, "Ann") == [], "senders do not receive their own messages"
    await club.server.chat.set_enabled(bob, False)
    with raises_club_error("opponent_chat_off"):
        await send(ann, number, "hello?")
    club.server.disconnect(bob)
    with raises_club_error("opponent_chat_off"):
        await send(ann, number, "hello?")
    assert chat_lines(club, "Bob") == ["good luck"]


@with_club
async def test_each_connection_has_its_own_switch_and_spectators_receive_nothing(club: ClubHarness) -> None:
    spectator, carl = club.connect("spectator"), club.connect("Carl")
    store, bob = club.connect("Ann"), club.connect("Bob")
    received_on_laptop = club.received["Ann"]
    phone = club.connect("Ann")
    received_on_phone = club.received["Ann"]
    number = await club.start_game(store, bob)
    for client in (carl, store, bob):
        await club.server.watch(client, number)
        await club.server.chat.set_enabled(client, True)
    await club.server.watch(spectator, number)
    await club.server.chat.send(bob, number, "one")
    await club.server.chat.set_enabled(phone, True)
    await club.server.chat.send(phone, number, "two")
    words = [
        [each["text"] for each in message if each["type"] == CHAT]
        for message in (received_on_laptop, received_on_phone)
    ]
    assert words == [["one", "two"], []], "the phone had chat off at the first message and sent the second itself"
    assert chat_lines(club, "Bob") == ["two"] and chat_lines(club, "Carl") == chat_lines(club, "spectator") == []
    with raises_club_error("not_your_game"):
        await club.server.chat.send(carl, number, "may I?")
    with raises_club_error("not_logged_in"):
        await club.server.chat.set_enabled(spectator, True)
    with raises_club_error("not_logged_in"):
        await club.server.chat.send(spectator, number, "may I?")


@with_club
async def test_length_and_rate_are_limited(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    number = await club.start_game(ann, bob)
    for client in (ann, bob):
        await club.server.chat.set_enabled(client, True)
    moment = club.server.now()
    club.server.now = lambda: moment  # type: ignore[method-assign]
    for wrong in ("", "   ", "x" * 201):
        with raises_club_error("chat_length"):
            await club.server.chat.send(ann, number, wrong)
    for wrong in ("a\nb", "a\x00b", "a\x1b[31m", "a\u2028b", "a\u202eb", "\ud800"):
        with raises_club_error("chat_characters"):
            await club.server.chat.send(ann, number, wrong)
    right = ["x" * 200, "<b>ça va ?</b>", "שלום", "👩‍🚀", "a\u00a0!"]
    for text in right:
        await club.server.chat.send(ann, number, text)
    assert chat_lines(club, "Bob") == right
    with raises_club_error("chat_rate_limit"):
        await club.server.chat.send(ann, number, "six")
    await club.server.chat.send(bob, number, "each player has a separate limit")
    moment += 2.1
    await club.server.chat.send(ann, number, "six")
    with raises_club_error("chat_rate_limit"):
        await club.server.chat.send(ann, number, "seven")
    moment += 100
    for _ in range(5):
        await club.server.chat.send(ann, number, "again")
    with raises_club_error("chat_rate_limit"):
        await club.server.chat.send(ann, number, "unused messages do not accumulate")


@with_club
async def test_chat_ends_when_the_game_is_no_longer_in_memory(club: ClubHarness) -> None:
    ann, bob = club.connect("Ann"), club.connect("Bob")
    for client in (ann, bob):
        await club.server.chat.set_enabled(client, True)
    number = await club.start_game(ann, bob)
    await club.server.abort(ann, number)
    await club.server.chat.send(bob, number, "a pity")
    assert chat_lines(club, "Ann") == ["a pity"]
    club.server.ended_games.clear()
    with raises_club_error("chat_unavailable"):
        await club.server.chat.send(bob, number, "a pity")


def test_chat_by_websocket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bots can use the chat, too; the club does not store chat messages."""
    monkeypatch.setattr(club_service, "SIGNUP_RATE", (100, 1))
    with run_server_thread(tmp_path / "club.sqlite") as address:
        ann, rex = ClubHttpClient(base_url=address), ClubHttpClient(base_url=address)
        sign_up(ann, "Ann")
        ann.post("/api/club/bots", json={"name": "rex"})
        token = ann.post("/api/club/bots/rex/tokens", json={"label": "x"}).json()["token"]
        with ann.connect() as first, rex.connect(authorization=f"Bearer {token}") as second:
            seek = first.request("seek", variant="othello4", seconds=60)["seek"]
            number = second.request("accept", number=seek)["game"]
            assert first.request("chat", game=number, text="hello")["code"] == "chat_off"
            assert first.request("set_chat", enabled=True) == {"id": 3, "type": "done"}
            refusal = first.request("chat", game=number, text="hello")
            assert (refusal["code"], refusal["message"]) == (
                "opponent_chat_off",
                "rex is offline or has chat off: the message was not delivered",
            )
            assert second.request("set_chat")["type"] == "done"
            assert first.request("chat", game=number, text="the secret of the pond")["type"] == "done"
            message: dict[str, Any] = {"type": "chat", "game": number, "by": "Ann", "text": "the secret of the pond"}
            assert second.wait_for("chat") == message
            assert first.request("chat", game=number, text="x" * 201)["code"] == "chat_length"
            assert first.request("chat", game=number)["code"] == "invalid_field"
            assert (
                second.request("chat", game=number, text="bye")["type"] == "done"
                and first.wait_for("chat")["by"] == "rex"
            )
    with sqlite3.connect(tmp_path / "club.sqlite") as database:
        assert not [line for line in database.iterdump() if "pond" in line]
