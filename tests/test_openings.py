"""Names of openings: the table is valid, and symmetric positions and transpositions have the same name."""

from importlib.resources import files

import pytest

from awello import Game, Position, parse_position, parse_transcript
from awello.formats.openings import Opening, find_opening, find_opening_at, load_opening_names
from awello.kernel import U
from awello.rules import othello

ROWS = [line.split("\t") for line in files("awello").joinpath("data/openings.tsv").read_text("utf-8").splitlines()]
TIGER = Opening("Tiger", "Tigre")


def transform(position: Position, symmetry: int) -> Position:
    own, opp = (int(othello.apply_symmetry(U(word), symmetry)) for word in (position.own, position.opp))
    return Position(position.game, own, opp, position.side)


def test_the_table_names_each_position_once() -> None:
    assert ROWS[0] == ["moves", "en", "fr"]
    assert 80 <= len(ROWS) - 1 == len(load_opening_names()) <= 120
    for moves, en, fr in ROWS[1:]:
        assert find_opening(parse_transcript(moves)) == Opening(en, fr)
        assert en == en.strip() != ""
        assert fr == fr.strip() != ""


@pytest.mark.parametrize("symmetry", range(8))
def test_a_name_holds_under_every_symmetry(symmetry: int) -> None:
    assert find_opening_at(transform(parse_transcript("f5d6c3d3c4").final, symmetry)) == TIGER


def test_the_last_name_of_a_game_counts() -> None:
    assert find_opening(parse_transcript("f5d6c3d3c4f4c5b3c2f6")) == Opening("Rose-Bill", "Triangle")
    assert (
        find_opening(parse_transcript("e6f6"))
        == find_opening(parse_transcript("f5f6"))
        == Opening("Diagonal", "Diagonale")
    )
    assert find_opening(parse_transcript("f5d6c3d3c4").positions()) == TIGER
    assert find_opening(parse_transcript("f5d6c4d3c5b4")) == Opening("Nicolet", "Nicolet")


def test_positions_without_a_name() -> None:
    assert find_opening(parse_transcript("f5")) is None
    assert find_opening([]) is None
    assert find_opening(parse_transcript("Ff", Position.start(Game.ABAPA))) is None
    tiger = parse_transcript("f5d6c3d3c4").final
    assert find_opening_at(parse_position("-----OX--XO----- X")) is None
    assert find_opening_at(Position(Game.OTHELLO6, tiger.own, tiger.opp, tiger.side)) is None
