"""Transcripts: round trips, tolerant reading, precise errors."""

import pytest
from conftest import random_record
from hypothesis import given
from hypothesis import strategies as st

from awello import PASS, Game, Position, format_transcript, parse_transcript
from awello.errors import AwelloError, IllegalMoveError, NotationError
from awello.record import restore_passes


def test_games_read_back(game: Game) -> None:
    for seed in range(40):
        record = random_record(game, seed)
        again = parse_transcript(format_transcript(record), record.start)
        assert again.final == record.final
        assert again.moves == record.moves


def test_passes_may_be_omitted_or_written() -> None:
    records = [random_record(Game.OTHELLO6, seed) for seed in range(60)]
    record = next(record for record in records if PASS in record.moves)
    pairs = zip(record.positions(), record.moves, strict=False)
    written = "".join("--" if move == PASS else position.format_move(move) for position, move in pairs)
    assert parse_transcript(written, record.start).moves == record.moves


@pytest.mark.parametrize("game", [Game.OTHELLO, Game.OTHELLO6, Game.OTHELLO4])
def test_passes_are_restored(game: Game) -> None:
    for seed in range(60):
        record = random_record(game, seed)
        squares = [move for move in record.moves if move != PASS]
        found = restore_passes(record.start, squares)
        assert found == (record.moves[:-1] if record.moves[-1] == PASS else record.moves)
        wrong = seed % len(squares)
        squares[wrong] = squares[wrong - 1] if wrong else 27
        with pytest.raises(IllegalMoveError, match=rf"^move {wrong + 1}: "):
            restore_passes(record.start, squares)
    finished = [move for move in record.moves if move != PASS]
    with pytest.raises(IllegalMoveError, match="the game is over"):
        restore_passes(record.start, [*finished, finished[0]])


@pytest.mark.parametrize("text", ["F5D6C3", "f5 d6 c3", "1. f5 d6 2. c3", "f5,d6;\nc3\n", " 1.F5 2.d6 3.C3 "])
def test_reading_is_tolerant(text: str) -> None:
    assert parse_transcript(text).moves == parse_transcript("f5d6c3").moves


def test_awale_letters_say_whose_pit_it_is() -> None:
    start = Position.start(Game.ABAPA)
    assert parse_transcript("FfBe", start).moves == (5, 5, 1, 4)
    with pytest.raises(NotationError, match="move 2: B is not a pit of North, who is to move: choose a, b"):
        parse_transcript("FB", start)


@pytest.mark.parametrize(
    ("text", "error", "part"),
    [
        ("f5d6z9", NotationError, "move 3: 'z9' is not a move: write moves such as f5d6c3 or FfBe"),
        ("not-a-move at all", NotationError, "move 1: 'not-a-move' is not a move: write"),
        ("f5f5", IllegalMoveError, "move 2: f5 is not a legal move"),
        ("f5d", NotationError, "move 2: 'd' is not a move"),
        ("f5pa", IllegalMoveError, "move 2: pass is not a legal move"),
    ],
)
def test_errors_name_the_move(text: str, error: type[Exception], part: str) -> None:
    with pytest.raises(error, match=part):
        parse_transcript(text)


@given(st.text(alphabet="abcdefghABCDEFGH12345678 .-paPS\n", max_size=40))
def test_any_text_gives_a_record_or_one_of_our_errors(text: str) -> None:
    for game in (Game.OTHELLO, Game.ROMEIN):
        try:
            record = parse_transcript(text, Position.start(game))
            assert parse_transcript(format_transcript(record), record.start).final == record.final
        except AwelloError as error:
            assert "\n" not in str(error)
