"""Replaying a whole game gives the same result as playing it move by move."""

import pytest
from conftest import random_record

from awello import Game, Position, Record, parse_position
from awello.errors import AwelloError
from awello.record import replay
from awello.web.messages import MovesRequest


@pytest.mark.parametrize("seed", range(5))
def test_a_replay_equals_the_game(game: Game, seed: int) -> None:
    record = random_record(game, seed)
    positions = list(record.positions())
    for plies in range(0, len(positions), 7):
        legal, found = replay(record.start, record.moves[:plies])
        assert (legal, found, found.past) == (plies, positions[plies], positions[plies].past)
    final = Record(record.start, record.moves).final
    assert (final, final.past) == (positions[-1], positions[-1].past)


def test_a_replay_stops_at_the_first_illegal_move(game: Game) -> None:
    record = random_record(game, 1)
    for wrong in (64, 63, 7, -1, -5):
        moves = (*record.moves[:5], wrong, *record.moves[6:])
        position = list(Record(record.start, moves[:5]).positions())[-1]
        if wrong not in position.legal_moves():
            assert replay(record.start, moves) == (5, position)


def test_a_replay_stops_at_a_repetition() -> None:
    start = parse_position("0-0-0-0-0-1-1-0-0-0-0-0-23-23-S", Game.ABAPA)
    position, moves = start, list[int]()
    while not position.repeated and position.legal_moves() and len(moves) < 200:
        moves.append(position.legal_moves()[0])
        position = position.after(moves[-1])
    assert position.over
    assert replay(start, [*moves, 0]) == (len(moves), position)


def test_the_wrong_move_is_named() -> None:
    for moves, message in (
        (["f5", "f5"], "move 2: f5 is not a legal move"),
        (["f5", "C"], "move 2: 'C' is not a square"),
    ):
        with pytest.raises(AwelloError, match=message):
            MovesRequest(moves=moves).to_record()
    assert MovesRequest(moves=["f5", "d6"]).to_record().final == Position.start().play("f5").play("d6")
