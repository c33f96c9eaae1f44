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
from clubs import ClubHttpClient, run_server_thread, sign_up
from conftest import random_record
from websockets.sync.client import connect

from awello import Game, Position, Record, parse_position
from awello.club import rated_positions
from awello.club.accounts import create_account
from awello.club.game_state import GameState, create_game_state
from awello.club.live_game import ClientConnection
from awello.club.offers import GameTerms
from awello.club.rated_positions import MIN_INDEXED_PLY, RatedPositions
from awello.club.server import ClubServer
from awello.club.store import ClubStore
from awello.limits import Clock
from awello.position import format_position
from awello.rules.game import PASS

MOVES = ["f5", "d6", "c3", "d3", "c4", "f4", "f6", "f3", "e6", "e7", "d7", "g6"]


def state_after(record: Record, number: int = 1, rated: bool = True) -> GameState:
    """Return a club game after the moves of a record."""
    state = create_game_state(number, record.start.game, (1, 2), Clock(300), rated, 0.0)
    for position, move in zip(record.positions(), record.moves, strict=False):
        if move != PASS:  # passes are played automatically
            state = state.play(1 + position.side, len(state.moves), position.format_move(move), 0.0)
    return state


def mirrored(position: Position) -> Position:
    """Return a position mirrored left to right."""
    cells, side = format_position(position).split()
    size = position.game.size
    rows = [cells[at : at + size][::-1] for at in range(0, len(cells), size)]
    return parse_position(f"{''.join(rows)} {side}", position.game)


def test_positions_of_rated_games_in_progress_are_indexed(game: Game) -> None:
    index, whole = RatedPositions(), random_record(game, 3)
    plies = min(len(whole.moves) - 2, MIN_INDEXED_PLY + 2)
    if plies < MIN_INDEXED_PLY:
        pytest.skip("the game is too short")
    record = Record(whole.start, whole.moves[:plies])
    state = state_after(record)
    index.update(state)
    *_, earlier, before, now = Record(record.start, state.moves).positions()
    known = [before, now, *(now.after(move) for move in now.legal_moves())]
    assert all(position in index for position in known)
    assert earlier not in index and Position.start(game) not in index
    if game.family == "othello":
        assert all(mirrored(position) in index for position in known)
    assert index.contains_any(Record(record.start, whole.moves)) and not index.contains_any(
        Record(record.start, whole.moves[:3])
    )
    index.update(state.resign(1))
    assert not any(position in index for position in known) and not index._keys


def test_other_variants_share_the_board_of_awale() -> None:
    index, record = RatedPositions(), random_record(Game.ABAPA, 3)
    state = state_after(Record(record.start, record.moves[: MIN_INDEXED_PLY + 2]))
    index.update(state)
    position = state.position
    assert Position(Game.ROMEIN, position.own, position.opp, position.side) in index


def test_captured_seeds_do_not_hide_a_position() -> None:
    index, record = RatedPositions(), random_record(Game.ABAPA, 3)
    state = state_after(Record(record.start, record.moves[: MIN_INDEXED_PLY + 2]))
    index.update(state)
    now = state.position
    for position in (now, *(now.after(move) for move in now.legal_moves())):
        assert Position(now.game, position.own + (1 << 48), position.opp, position.side) in index


def test_the_position_before_a_forced_pass_is_indexed() -> None:
    """The index is updated after each move, as in the club."""
    seen = 0
    for seed in range(40):
        index, record = RatedPositions(), random_record(Game.OTHELLO, seed)
        state = create_game_state(1, Game.OTHELLO, (1, 2), Clock(300), True, 0.0)
        for position, move in zip(record.positions(), record.moves, strict=False):
            if move == PASS:
                continue
            state = state.play(1 + position.side, len(state.moves), position.format_move(move), 0.0)
            index.update(state)
            if not state.over and state.moves[-1] == PASS and len(state.moves) > MIN_INDEXED_PLY:
                *_, before_pass, now = Record(record.start, state.moves).positions()
                assert before_pass in index and now in index
                seen += 1
    assert seen > 5


def test_openings_and_unrated_games_are_not_indexed() -> None:
    index, whole = RatedPositions(), random_record(Game.OTHELLO, 3)
    opening = state_after(Record(whole.start, whole.moves[: MIN_INDEXED_PLY - 1]), 1)
    friendly = state_after(Record(whole.start, whole.moves[: MIN_INDEXED_PLY + 4]), 2, rated=False)
    for state in (opening, friendly):
        index.update(state)
        assert state.position not in index


def test_two_games_may_share_a_position() -> None:
    index, whole = RatedPositions(), random_record(Game.OTHELLO, 3)
    one, two = (state_after(Record(whole.start, whole.moves[: MIN_INDEXED_PLY + 2]), number) for number in (1, 2))
    index.update(one)
    index.update(two)
    index.update(one.resign(1))
    assert two.position in index


# ---- analysis requests -----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[str]]]:
    """Run a club with a rated game in progress; yield its address and the moves of the game."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rated_positions, "MIN_INDEXED_PLY", 8)
        with run_server_thread(tmp_path_factory.mktemp("club") / "club.sqlite") as address:
            people = [ClubHttpClient(base_url=address) for _ in range(2)]
            for person, name in zip(people, ("Ann", "Bob"), strict=True):
                sign_up(person, name)
            with people[0].connect() as ann, people[1].connect() as bob:
                offer = ann.request("seek", variant="othello", seconds=300, side=0)["seek"]
                number = bob.request("accept", number=offer)["game"]
                for ply in range(9):
                    assert [ann, bob][ply % 2].request("move", game=number, ply=ply, move=MOVES[ply])["type"] == "done"
                yield address, MOVES[:9]


@pytest.mark.parametrize("path", ["choose", "analyse", "review", "tree"])
def test_a_rated_game_in_progress_is_not_analysed(club: tuple[str, list[str]], path: str) -> None:
    address, moves = club
    fields: dict[str, Any] = {"choose": {"player": "greedy"}, "tree": {"search": "alphabeta@1"}}.get(path, {})
    with ClubHttpClient(base_url=address) as client:
        for sent_moves in (moves, moves[:-1], [*moves, MOVES[9]]):
            answer = client.post(f"/api/{path}", json={"moves": sent_moves, **fields})
            assert (answer.status_code, answer.json()["code"]) == (403, "rated_game"), sent_moves
        if path == "review":
            later = client.post("/api/review", json={"moves": MOVES})
            assert later.json()["code"] == "rated_game", (
                "a longer game with positions of the rated game is refused, too"
            )
        if path == "tree":
            assert client.post("/api/tree", json={"moves": moves[:4], **fields}).status_code == 200


@pytest.mark.parametrize("request_type", ["choose", "analyse", "review"])
def test_a_rated_game_in_progress_is_not_analysed_by_websocket(club: tuple[str, list[str]], request_type: str) -> None:
    address, moves = club
    with connect(address.replace("http", "ws") + "api/engine") as channel:
        fields = {"player": "greedy"} if request_type == "choose" else {}
        channel.send(json.dumps({"id": 1, "type": request_type, "moves": moves, **fields}))
        answer = json.loads(channel.recv(timeout=20))
    assert (answer["type"], answer["code"]) == ("error", "rated_game")
    assert answer["message"] == "analysis is off for positions of rated games in progress: wait until the game is over"


def test_lines_of_a_rated_game_are_shown(club: tuple[str, list[str]]) -> None:
    address, moves = club
    with ClubHttpClient(base_url=address) as client:
        assert client.post("/api/positions", json={"moves": moves}).status_code == 200


# ---- arrival of moves ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("late", "least", "most"),
    [(15.0, 294.0, 296.0), (-1000.0, 200.0, 281.0), (1000.0, 300.0, 300.0)],
    ids=["handled 15 s after it arrived", "never later than now", "never before the clock started"],
)
def test_a_move_counts_from_its_arrival(tmp_path: Path, late: float, least: float, most: float) -> None:
    async def play() -> None:
        store = ClubStore(tmp_path / "club.sqlite")
        server = ClubServer(store, seed=1)
        create = partial(create_account, password_hash="hash")
        people = [store.submit(partial(create, name=name)).result() for name in ("Ann", "Bob")]
        ann = ClientConnection(people[0], lambda message: None)
        number = (await server.start_game((people[0], people[1]), GameTerms(Game.OTHELLO, Clock(300.0))))["game"]
        live_game = server.live_games[number]
        # The clock has been running for 20 seconds.
        live_game.state = replace(live_game.state, turn_started=live_game.state.turn_started - 20)
        ann.received_at = time.monotonic() - late
        clocks = (await server.move(ann, number, 0, "f5"))["clocks"]
        await server.close()
        store.close()
        assert least <= clocks[0] <= most

    asyncio.run(play())
