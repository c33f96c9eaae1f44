"""Notation, symmetries and drawing."""

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awello import PASS, Game, Position, format_position, parse_position
from awello.errors import AwelloError, IllegalMoveError, NotationError
from awello.kernel import U
from awello.rules import othello
from awello.rules.game import find_game

WORD = st.integers(0, 2**64 - 1)
FED = "0-0-0-0-1-1-0-0-0-0-0-0-24-22-S"


def test_a_start_is_as_the_rules_say() -> None:
    start = Position.start()
    squares = {start.format_move(s): s for s in range(64)}
    assert {name for name, s in squares.items() if start.own >> s & 1} == {"d5", "e4"}
    assert {name for name, s in squares.items() if start.opp >> s & 1} == {"d4", "e5"}
    assert [start.format_move(move) for move in start.legal_moves()] == ["d3", "c4", "f5", "e6"]


def test_square_names_of_small_boards() -> None:
    small = Position.start(Game.OTHELLO6)
    assert [small.format_move(move) for move in small.legal_moves()] == ["c2", "b3", "e4", "d5"]
    with pytest.raises(NotationError, match="a1 to f6"):
        small.parse_move("g1")


def test_a_pass_is_a_ply() -> None:
    position = parse_position("-OXXXXXX" + "-" * 56 + " O")
    assert position.legal_moves() == (PASS,)
    after = position.play(PASS)
    assert after.side_name == "Black"
    assert after.legal_moves() == (0,)
    assert position.parse_move("pa") == position.parse_move("--") == PASS


def test_the_official_score_gives_empty_squares_to_the_winner() -> None:
    assert parse_position("XXX" + "-" * 61 + " O").score() == (64, 0)
    assert parse_position("X" * 30 + "-" * 4 + "O" * 30 + " X").score() == (32, 32)


def test_a_refused_move_is_explained() -> None:
    with pytest.raises(IllegalMoveError, match=r"a1 is not a legal move: Black can play d3, c4, f5 or e6"):
        Position.start().parse_move("a1")
    hungry = parse_position("3-0-0-0-1-1-0-0-0-0-0-0-24-19-S")
    with pytest.raises(IllegalMoveError, match=r"A would leave the opponent without seeds: South can play F"):
        hungry.parse_move("A")
    with pytest.raises(IllegalMoveError, match=r"B is empty"):
        hungry.parse_move("B")
    with pytest.raises(IllegalMoveError, match="over"):
        parse_position("XXX" + "-" * 61 + " O").play(0)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("-" * 63 + " X", "63 squares"),
        ("-" * 64, "side to move"),
        ("-" * 64 + " Z", "'Z'"),
        ("-" * 62 + "Q- X", "'Q' on g8"),
        ("", "side to move"),
        ("4-4-4-4-4-4-4-4-4-4-4-4-0-S", "14 fields"),
        ("4-4-4-4-4-4-4-4-4-4-4-x-0-0-S", "'x'"),
        ("4-4-4-4-4-4-4-4-4-4-4-4-0-0-Q", "'Q'"),
        ("4-4-4-4-4-4-4-4-4-4-4-5-0-0-S", "49 seeds"),
    ],
)
def test_bad_positions_say_what_is_wrong(text: str, part: str) -> None:
    with pytest.raises(NotationError, match=part):
        parse_position(text)


def test_a_position_of_another_game_is_refused() -> None:
    with pytest.raises(NotationError, match="size 4, not 8"):
        parse_position(format_position(Position.start(Game.OTHELLO4)), Game.OTHELLO)
    with pytest.raises(NotationError, match="side to move, X or O"):
        parse_position(FED, Game.OTHELLO)
    with pytest.raises(NotationError, match="the diagram has"):
        parse_position(format_position(Position.start()), Game.ABAPA)


@given(st.text(alphabet="XO-.*bw 0123456789SN;", max_size=80))
def test_any_text_gives_a_position_or_one_of_our_errors(text: str) -> None:
    try:
        assert parse_position(format_position(parse_position(text))) == parse_position(text)
    except AwelloError as error:
        assert "\n" not in str(error)


@given(st.text(max_size=6))
def test_any_text_gives_a_move_or_one_of_our_errors(text: str) -> None:
    for game in Game:
        with suppress(AwelloError):
            assert Position.start(game).parse_move(text) in Position.start(game).legal_moves()


def test_endings_are_explained() -> None:
    assert parse_position("XXX" + "-" * 61 + " O").describe_end() == "the empty squares go to the winner"
    assert parse_position("0-0-0-0-0-0-1-0-0-0-0-0-23-24-S").describe_end() == "South has no move"
    assert parse_position("0-0-0-0-0-1-1-0-0-0-0-0-25-21-S").describe_end() == "25 seeds win"
    assert parse_position("0-0-0-0-0-1-1-0-0-0-0-0-24-22-S", Game.TOURNAMENT).describe_end() == "few seeds are left"
    assert Position.start().describe_end() == ""


def test_find_game() -> None:
    for game in Game:
        size = game.size if game.family == "othello" else None
        assert find_game(game.family, size, game.variant) is game
    assert find_game("othello") is Game.OTHELLO
    assert find_game("awale") is Game.ABAPA


def square_by_square(word: int, column_first: bool, flip_columns: bool, flip_rows: bool) -> int:
    """Apply a symmetry square by square: flip the columns, flip the rows, then exchange rows and columns."""
    result = 0
    for square in range(64):
        row, column = divmod(square, 8)
        column = 7 - column if flip_columns else column
        row = 7 - row if flip_rows else row
        row, column = (column, row) if column_first else (row, column)
        result |= (word >> square & 1) << (8 * row + column)
    return result


@given(WORD)
def test_symmetries_move_each_square(word: int) -> None:
    for symmetry in range(8):
        slow = square_by_square(word, bool(symmetry & 4), bool(symmetry & 1), bool(symmetry & 2))
        assert int(othello.apply_symmetry(U(word), symmetry)) == slow


@given(WORD, WORD)
def test_symmetric_positions_share_one_key(own: int, other: int) -> None:
    opp = other & ~own
    keys = {
        Position(
            Game.OTHELLO, int(othello.apply_symmetry(U(own), s)), int(othello.apply_symmetry(U(opp), s))
        ).canonical()
        for s in range(8)
    }
    assert len(keys) == 1
    assert keys == {
        min((int(othello.apply_symmetry(U(own), s)), int(othello.apply_symmetry(U(opp), s))) for s in range(8))
    }


def test_symmetric_openings_count_as_one() -> None:
    start = Position.start()
    assert len({start.play(move).canonical() for move in start.legal_moves()}) == 1


def test_a_board_draws_as_text() -> None:
    assert str(Position.start(Game.OTHELLO4)).splitlines() == [
        "   a b c d",
        " 1 - + - -",
        " 2 + O X -",
        " 3 - X O +",
        " 4 - - + -",
        "Black X 2, White O 2; Black to move",
    ]
    assert "|  4 |" in str(Position.start(Game.ABAPA))


def test_pictures_show_every_disc_and_seed() -> None:
    rng, position = random.Random(3), Position.start()
    while moves := position.legal_moves():
        position = position.play(rng.choice(moves))
    assert position._repr_svg_().count("<circle") == sum(position.counts())
    picture = Position.start(Game.ABAPA)._repr_svg_()
    assert picture.count("<circle") == 48 + 12
