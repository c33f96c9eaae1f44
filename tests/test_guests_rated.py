"""Rated games in progress cannot be analysed, and moves are timed by their arrival."""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from clubs import Visitor, serving, sign_up
from conftest import random_record
from websockets.sync.client import connect

from awello import Game, Position, Record, parse_position
from awello.club import rated_positions
from awello.club.accounts import open_account
from awello.club.game_state import GameState, new_game_state
from awello.club.live_game import ClientConnection
from awello.club.offers import GameTerms
from awello.club.rated_positions import FIRST_PLY, RatedPositions
from awello.club.server import ClubServer
from awello.club.store import ClubStore
from awello.limits import Clock
from awello.position import format_position
from awello.rules.game import PASS

MOVES = ["f5", "d6", "c3", "d3", "c4", "f4", "f6", "f3", "e6", "e7", "d7", "g6"]


def table_after(record: Record, number: int = 1, rated: bool = True) -> GameState:
    """A game of the club after the moves of a record."""
    table = new_game_state(number, record.start.game, (1, 2), Clock(300), rated, 0.0)
    for position, move in zip(record.positions(), record.moves, strict=False):
        if move != PASS:  # passes are played at once
            table = table.play(1 + position.side, len(table.moves), position.format_move(move), 0.0)
    return table


def mirrored(position: Position) -> Position:
    """The position mirrored left to right."""
    cells, side = format_position(position).split()
    size = position.game.size
    rows = [cells[at : at + size][::-1] for at in range(0, len(cells), size)]
    return parse_position(f"{''.join(rows)} {side}", position.game)


def test_positions_of_running_rated_games_are_known(game: Game) -> None:
    index, whole = RatedPositions(), random_record(game, 3)
    plies = min(len(whole.moves) - 2, FIRST_PLY + 2)
    if plies < FIRST_PLY:
        pytest.skip("the game is too short")
    record = Record(whole.start, whole.moves[:plies])
    table = table_after(record)
    index.update(table)
    *_, earlier, before, now = Record(record.start, table.moves).positions()
    known = [before, now, *(now.after(move) for move in now.legal_moves())]
    assert all(position in index for position in known)
    assert earlier not in index and Position.start(game) not in index
    if game.family == "othello":
        assert all(mirrored(position) in index for position in known)
    assert index.meets(Record(record.start, whole.moves)) and not index.meets(Record(record.start, whole.moves[:3]))
    index.update(table.resign(1))
    assert not any(position in index for position in known) and not index._keys


def test_other_variants_share_the_board_of_awale() -> None:
    index, record = RatedPositions(), random_record(Game.ABAPA, 3)
    table = table_after(Record(record.start, record.moves[: FIRST_PLY + 2]))
    index.update(table)
    position = table.position
    assert Position(Game.ROMEIN, position.own, position.opp, position.side) in index


def test_captured_seeds_do_not_hide_a_position() -> None:
    index, record = RatedPositions(), random_record(Game.ABAPA, 3)
    table = table_after(Record(record.start, record.moves[: FIRST_PLY + 2]))
    index.update(table)
    now = table.position
    for position in (now, *(now.after(move) for move in now.legal_moves())):
        assert Position(now.game, position.own + (1 << 48), position.opp, position.side) in index


def test_the_position_before_a_forced_pass_is_known() -> None:
    """After each move, as the club updates the index."""
    seen = 0
    for seed in range(40):
        index, record = RatedPositions(), random_record(Game.OTHELLO, seed)
        table = new_game_state(1, Game.OTHELLO, (1, 2), Clock(300), True, 0.0)
        for position, move in zip(record.positions(), record.moves, strict=False):
            if move == PASS:
                continue
            table = table.play(1 + position.side, len(table.moves), position.format_move(move), 0.0)
            index.update(table)
            if not table.over and table.moves[-1] == PASS and len(table.moves) > FIRST_PLY:
                *_, before_pass, now = Record(record.start, table.moves).positions()
                assert before_pass in index and now in index
                seen += 1
    assert seen > 5


def test_openings_and_friendly_games_are_free() -> None:
    index, whole = RatedPositions(), random_record(Game.OTHELLO, 3)
    opening = table_after(Record(whole.start, whole.moves[: FIRST_PLY - 1]), 1)
    friendly = table_after(Record(whole.start, whole.moves[: FIRST_PLY + 4]), 2, rated=False)
    for table in (opening, friendly):
        index.update(table)
        assert table.position not in index


def test_two_games_may_share_a_position() -> None:
    index, whole = RatedPositions(), random_record(Game.OTHELLO, 3)
    one, two = (table_after(Record(whole.start, whole.moves[: FIRST_PLY + 2]), number) for number in (1, 2))
    index.update(one)
    index.update(two)
    index.update(one.resign(1))
    assert two.position in index


# ---- on the page ----------------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """A club with a rated game in progress, and its moves."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rated_positions, "FIRST_PLY", 8)
        with serving(tmp_path_factory.mktemp("club") / "club.sqlite") as address:
            people = [Visitor(base_url=address) for _ in range(2)]
            for person, name in zip(people, ("Ann", "Bob"), strict=True):
                sign_up(person, name)
            with people[0].channel() as ann, people[1].channel() as bob:
                offer = ann.ask("seek", kind="othello", seconds=300, side=0)["seek"]
                number = bob.ask("accept", number=offer)["game"]
                for ply in range(9):
                    assert [ann, bob][ply % 2].ask("move", game=number, ply=ply, move=MOVES[ply])["type"] == "done"
                yield address, MOVES[:9]


@pytest.mark.parametrize("path", ["choose", "analyse", "review", "tree"])
def test_a_running_rated_game_is_not_analysed(club: tuple[str, list[str]], path: str) -> None:
    address, moves = club
    fields: dict[str, Any] = {"choose": {"player": "greedy"}, "tree": {"search": "alphabeta@1"}}.get(path, {})
    with Visitor(base_url=address) as guest:
        for asked in (moves, moves[:-1], [*moves, MOVES[9]]):
            answer = guest.post(f"/api/{path}", json={"moves": asked, **fields})
            assert (answer.status_code, answer.json()["code"]) == (403, "rated_game"), asked
        if path == "review":
            later = guest.post("/api/review", json={"moves": MOVES})
            assert later.json()["code"] == "rated_game", "the game goes on in it"
        if path == "tree":
            assert guest.post("/api/tree", json={"moves": moves[:4], **fields}).status_code == 200


@pytest.mark.parametrize("request_type", ["choose", "analyse", "review"])
def test_a_running_rated_game_is_not_analysed_live(club: tuple[str, list[str]], request_type: str) -> None:
    address, moves = club
    with connect(address.replace("http", "ws") + "api/live") as channel:
        fields = {"player": "greedy"} if request_type == "choose" else {}
        channel.send(json.dumps({"id": 1, "type": request_type, "moves": moves, **fields}))
        answer = json.loads(channel.recv(timeout=20))
    assert (answer["type"], answer["code"]) == ("error", "rated_game")
    assert answer["message"] == "analysis is off for positions of rated games in progress"


def test_lines_of_a_rated_game_are_shown(club: tuple[str, list[str]]) -> None:
    address, moves = club
    with Visitor(base_url=address) as guest:
        assert guest.post("/api/positions", json={"moves": moves}).status_code == 200


# ---- when a move arrived ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("late", "least", "most"),
    [(15.0, 294.0, 296.0), (-1000.0, 200.0, 281.0), (1000.0, 300.0, 300.0)],
    ids=["handled 15 s after it arrived", "never later than now", "never before the clock started"],
)
def test_a_move_counts_from_its_arrival(tmp_path: Path, late: float, least: float, most: float) -> None:
    async def play() -> None:
        store = ClubStore(tmp_path / "club.sqlite")
        hall = ClubServer(store, seed=1)
        people = [store.submit(partial(open_account, name=name, hashed="hash")).result() for name in ("Ann", "Bob")]
        ann = ClientConnection(people[0], lambda message: None)
        number = (await hall.start((people[0], people[1]), GameTerms(Game.OTHELLO, Clock(300.0))))["game"]
        seat = hall.seats[number]
        seat.table = replace(seat.table, since=seat.table.since - 20)  # her clock has run for 20 seconds
        ann.received = time.monotonic() - late
        clocks = (await hall.move(ann, number, 0, "f5"))["clocks"]
        await hall.close()
        store.close()
        assert least <= clocks[0] <= most

    asyncio.run(play())
