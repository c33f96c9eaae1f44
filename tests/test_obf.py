"""OBF files: round trips, the FForum test suites, tolerant reading, precise errors."""

import random
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st

from awello import PASS, Game, Position, parse_position
from awello.errors import NotationError
from awello.formats.obf import Problem, format_obf, parse_obf

SUITES = ROOT.parent / "shared" / "data" / "suites"
BOARD = "O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------"
START4 = "-----OX--XO----- X"
PASSING = "XXXXXXXXXXXXXXO- O"  # White must pass


def random_position(game: Game, rng: random.Random) -> Position:
    position = Position.start(game)
    for _ in range(rng.randrange(game.max_score)):
        if legal := position.legal_moves():
            position = position.after(rng.choice(legal))
    return position


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    game = draw(st.sampled_from([Game.OTHELLO, Game.OTHELLO6, Game.OTHELLO4]))
    position = random_position(game, random.Random(draw(st.integers(0, 10**6))))
    score = st.integers(-game.max_score, game.max_score)
    if not draw(st.booleans()):
        return Problem(position, score=draw(st.none() | score))
    moves = draw(st.lists(st.sampled_from(position.legal_moves() or (PASS,)), unique=True))
    return Problem(position, tuple((move, draw(score)) for move in moves if not position.over))


@given(st.lists(problems(), max_size=3))
def test_problems_read_back(several: list[Problem]) -> None:
    text = "\n".join(map(format_obf, several))
    assert parse_obf(text) == several
    assert "\n".join(map(format_obf, parse_obf(text))) == text


def test_lines_are_formatted_as_in_the_suites() -> None:
    line = f"{BOARD} X; A2:+38; C7:+36; A6:-24; B1:+0;"
    assert format_obf(parse_obf(line)[0]) == line
    assert format_obf(Problem(parse_position(START4), score=-10)) == f"{START4}; -10;"
    assert format_obf(Problem(parse_position(START4))) == f"{START4};"
    assert format_obf(Problem(parse_position(PASSING), ((PASS, -16),))) == f"{PASSING}; PA:-16;"


def test_the_best_score_and_the_moves_that_reach_it() -> None:
    listed = parse_obf(f"{BOARD} X; C1:+30; A2:+38; C7:+38;")[0]
    assert (listed.best_score, listed.score) == (38, None)
    assert [listed.position.format_move(move) for move in listed.best_moves] == ["a2", "c7"]
    bare = parse_obf(f"{BOARD} X; +38;")[0]
    assert (bare.best_score, bare.best_moves) == (38, ())
    assert (parse_obf(f"{BOARD} X;")[0].best_score, parse_obf(f"{BOARD} X; +0;")[0].best_score) == (None, 0)


@pytest.mark.parametrize(
    "text",
    [
        f"{BOARD} X; A2:+38; C7:-6;",
        f"{BOARD} X;A2:38;C7:-6",
        f"\n% a comment; with: fields\r\n  {BOARD} *; a2 : +38 ;; c7: -6;  % the first\r\n\n",
        f"{BOARD.replace('X', '*').replace('-', '.').lower()} b; a2:+38; c7:-06;",
        f"{BOARD[:32]} {BOARD[32:]} X; A2:+38; C7:-6;",
    ],
)
def test_reading_is_tolerant(text: str) -> None:
    assert [format_obf(problem) for problem in parse_obf(text)] == [f"{BOARD} X; A2:+38; C7:-6;"]


def test_empty_files_have_no_problems() -> None:
    assert parse_obf("") == parse_obf("\n  \n% nothing\n") == []


def test_small_boards_and_passes() -> None:
    text = f"{START4}; B1:-10;\n{PASSING}; pass:-16;\n{'-' * 14}OX----XO{'-' * 14} X; +0;\n"
    small, passing, middle = parse_obf(text)
    assert (small.position.game, small.position) == (Game.OTHELLO4, Position.start(Game.OTHELLO4))
    assert [small.position.format_move(move) for move in small.best_moves] == ["b1"]
    assert passing.scores == ((PASS, -16),)
    assert (middle.position, middle.score) == (Position.start(Game.OTHELLO6), 0)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        (f"{BOARD[1:]} X;", "the board has 63 squares"),
        (f"{BOARD};", "the side to move, X or O"),
        (f"{BOARD} Y;", "the side to move, X or O, not 'Y'"),
        (f"Q{BOARD[1:]} X;", "unknown character 'Q' on a1"),
        ("0-0-0-0-1-1-0-0-0-0-0-0-24-22-S;", "the side to move, X or O"),
        ("; A2:+38;", "the side to move"),
        (f"{BOARD} X; A1:+38;", "a1 is not a legal move: Black can play b1"),
        (f"{BOARD} X; PA:+38;", "pass is not a legal move"),
        (f"{BOARD} X; I9:+38;", "'I9' is not a square of this board"),
        (f"{START4}; E5:+2;", "'E5' is not a square of this board: write a column and a row, from a1 to d4"),
        (f"{BOARD} X; :+38;", "'' is not a square"),
        (f"{PASSING}; D4:-16;", "White has no move and must pass"),
        (f"{'X' * 16} X; A1:+16;", "the game is over"),
        (f"{BOARD} X; A2:;", "'' is not a score: write a number of discs from -64 to \\+64"),
        (f"{BOARD} X; A2:+3 8;", "'\\+3 8' is not a score"),
        (f"{BOARD} X; A2:+65;", "'\\+65' is not a score"),
        (f"{START4}; -17;", "'-17' is not a score: write a number of discs from -16 to \\+16"),
        (f"{BOARD} X; A2;", "'A2' is not a score"),
        (f"{BOARD} X; ٣;", "is not a score"),
        (f"{BOARD} X; A2:+38; a2:+38;", "'a2:\\+38' repeats a move: list each move once"),
        (f"{BOARD} X; +38; +38;", "found too many scores"),
        (f"{BOARD} X; A2:+38; +38;", "found too many scores"),
    ],
)
def test_errors_name_the_line_and_what_is_wrong(line: str, part: str) -> None:
    with pytest.raises(NotationError, match=f"^line 3: .*{part}"):
        parse_obf(f"% a comment\n{START4};\n{line}\n")


def test_errors_stay_short() -> None:
    for line in ("X" * 10**5, f"{BOARD} {'X' * 10**5}", f"{BOARD} X; {'A2' * 10**5}:+3", f"{BOARD} X; {'9' * 10**5}"):
        with pytest.raises(NotationError) as caught:
            parse_obf(line)
        assert len(str(caught.value)) < 120


FIELDS = st.sampled_from([f"{BOARD} X", START4, PASSING, "A2:+38", "b1:-10", "PA:-16", "+4", "", "%", ":", "a2:", "x"])
LINES = st.lists(FIELDS, max_size=5).map("; ".join) | st.text(
    alphabet="XO-*.bw ;:%+-0123456789aA\n\r\x0b²٣", max_size=90
)


@given(st.lists(LINES | st.text(), max_size=4).map("\n".join))
def test_any_text_gives_problems_or_our_error(text: str) -> None:
    try:
        found = parse_obf(text)
    except NotationError as error:
        assert "\n" not in str(error)
    else:
        assert parse_obf("\n".join(map(format_obf, found))) == found


@pytest.mark.skipif(not SUITES.is_dir(), reason="needs the suites")
@pytest.mark.parametrize(("name", "count"), [("1-19", 19), ("20-39", 20), ("40-59", 20), ("60-79", 20)])
def test_the_fforum_suites(name: str, count: int) -> None:
    text = Path(SUITES / f"fforum-{name}.obf").read_text("utf-8")
    found = parse_obf(text)
    assert len(found) == count
    assert [format_obf(problem) for problem in found] == [line.strip() for line in text.splitlines() if line.strip()]
    for problem in found:
        assert problem.position.game is Game.OTHELLO
        assert problem.scores[0][0] in problem.best_moves
        assert problem.best_score == problem.scores[0][1]
