"""Pasted text: common forms of games and positions are detected; all other text quickly raises a one-line error."""

import random

import pytest
from conftest import random_record
from hypothesis import given
from hypothesis import strategies as st

from awello import PASS, Game, Position, Record, format_position, format_transcript, parse_position, parse_transcript
from awello.errors import NotationError
from awello.formats.detection import MAX_TEXT_CHARS, DetectedGame, detect_game
from awello.formats.obf import Problem, format_obf

OTHELLO = (Game.OTHELLO, Game.OTHELLO6, Game.OTHELLO4)
WEB_PAGE_TEXT = (
    "Black: Ann (1810)  White: Bob B4\nParis 2024-05-01\n1. f5 d6 2. c3 d3 {tiger} 3. c4\nBlack to move, 12:30 left"
)
GGF = "(;GM[Othello]PB[a]PW[b]BO[8 {} O]W[d6/1.5/0.2]B[c3//];)".format("-" * 27 + "O*------***" + "-" * 26)


def format_variants(record: Record) -> dict[str, str]:
    """Return the moves of a game in common text forms, by the name of the form."""
    pairs = list(zip(record.positions(), record.moves, strict=False))
    names = [position.format_move(move) for position, move in pairs]
    pieces = [f"{ply // 2 + 1}. {name}" if ply % 2 == 0 else name for ply, name in enumerate(names)]
    return {
        "together": format_transcript(record),
        "with passes": " ".join("--" if name == "pass" else name for name in names),
        "numbered": " ".join(pieces),
        "glued numbers": " ".join(piece.replace(" ", "") for piece in pieces),
        "in lines": "\n".join(pieces),
        "in a page": "Ann against Bob\r\n" + " ".join(pieces) + "\r\nThanks to all!",
    }


def test_games_in_every_form(game: Game) -> None:
    for seed in range(6):
        record = random_record(game, seed)
        for form, text in format_variants(record).items():
            found = detect_game(text, game)
            assert found.record.final == record.final, form
            assert found.format == ("transcript" if game in OTHELLO else "moves"), form
            if game in OTHELLO:
                assert detect_game(text.upper()).record.moves == record.moves, form
            elif game is Game.ABAPA:
                assert detect_game(text).record.moves == record.moves, form


def test_positions_in_every_form(game: Game) -> None:
    for seed in range(6):
        moves = random_record(game, seed).moves
        position = Record(Position.start(game), moves[: random.Random(seed).randrange(len(moves))]).final
        board = format_position(position)
        after = position.after(position.legal_moves()[0]) if position.legal_moves() != (PASS,) else position
        played = f"{board}\n{position.format_move(position.legal_moves()[0])}"
        forms = {"plain": board, "repr": repr(position), "drawn": str(position), "quoted": f'"{board}",'}
        for form, text in forms.items():
            assert detect_game(text, game).record == Record(position), form
        assert detect_game(repr(position)).record.start == position
        if after is not position:
            assert detect_game(played, game).record.final == after
        if game in OTHELLO:
            assert detect_game(format_obf(Problem(position))) == DetectedGame("obf", Record(position))
            assert detect_game(str(position)).record.start == position


BOARD = "---------------------------OX------XXX--------------------------"
POSITION_AFTER_F5 = parse_transcript("f5").final


@pytest.mark.parametrize(
    "text",
    [
        f"{BOARD} O",
        f"{BOARD}O",
        BOARD,
        BOARD.replace("X", "*").replace("-", "."),
        BOARD.replace("X", "b").replace("O", "w") + " w",
        " ".join(BOARD) + " o",
        "\n".join(BOARD[at : at + 8] for at in range(0, 64, 8)),
        "\n".join(BOARD[at : at + 8] for at in range(0, 64, 8)) + "\n\nO\n",
        "White to move:\n" + "\n".join(f"{at // 8 + 1}|{'|'.join(BOARD[at : at + 8])}|" for at in range(0, 64, 8)),
        f"% a problem\n{BOARD.lower()} o; D6:+0; F4:-2; % known\n{'X' * 64} X;",
        f"----------------\nthe board is {BOARD} and it is White to play",
        f"{BOARD} O\nWhat about a1 in this position?",
    ],
)
def test_boards_in_any_letters(text: str) -> None:
    found = detect_game(text)
    assert (found.record.start, found.record.moves) == (POSITION_AFTER_F5, ())
    assert found.format == ("obf" if ";" in text else "board")


def test_the_side_to_move_is_the_one_that_can() -> None:
    passing = "XXXXXXXXXXXXXXO-"
    assert detect_game(passing).record.start.side == 0
    assert detect_game(f"{passing} O").record.start.side == 1


def test_moves_in_a_page_and_after_a_position() -> None:
    assert format_transcript(detect_game(WEB_PAGE_TEXT).record) == "f5d6c3d3c4"
    assert format_transcript(detect_game("https://example.org/board?size=8#f5d6c3").record) == "f5d6c3"
    assert format_transcript(detect_game("f 5, d 6, c 3").record) == "f5d6c3"
    ggf = detect_game(GGF)
    assert (ggf.format, ggf.record.start, format_transcript(ggf.record)) == ("ggf", POSITION_AFTER_F5, "d6c3")
    diagram = detect_game("The start 4-4-4-4-4-4-4-4-4-4-4-4-0-0-S: 1. F f 2. B", Game.ROMEIN)
    assert (diagram.format, format_transcript(diagram.record)) == ("diagram", "FfB")
    assert diagram.record.start.game is Game.ROMEIN


def test_games_in_ggf_and_ogn() -> None:
    assert detect_game(GGF).record.values == (1.5, None)
    assert detect_game(GGF, Game.OTHELLO).record.tags == {"Black": "a", "White": "b"}
    ogn = detect_game('[Variant "Romein"]\n[South "Ann"]\n\n1. F f 2. B')
    assert (ogn.format, ogn.record.start.game, format_transcript(ogn.record)) == ("ogn", Game.ROMEIN, "FfB")


def test_the_size_is_one_on_which_the_game_is_legal() -> None:
    assert [detect_game(text).record.start.game for text in ("d3c3", "b1a1", "c2b2")] == [
        Game.OTHELLO,
        Game.OTHELLO4,
        Game.OTHELLO6,
    ]
    assert detect_game("d3", Game.OTHELLO4).record.start.game is Game.OTHELLO4


def test_the_first_of_several_games_is_taken() -> None:
    assert format_transcript(detect_game("f5d6c3d3\nf5f6e6f4\nc4c3\n").record) == "f5d6c3d3"


@pytest.mark.parametrize(
    ("text", "game", "part"),
    [
        ("", None, "the text contains no game and no position: paste"),
        ("Hello, how are you?", None, "the text contains no game"),
        ("f5d6a1", None, "move 3: a1 is not a legal move: Black can play"),
        ("Ann: 1. f5 d6 2. a1 c4", None, "move 3: a1 is not a legal move"),
        ("f5d6x9c3 d3", None, "'x9c3' after f5d6 is not a move"),
        ("b1a1a2c1a1", None, "move 5: a1 is not a legal move"),
        ("FfF", None, "move 3: F is empty: South can play A"),
        ("FF", None, "move 2: F is not a pit of North, who is to move: choose a, b, c, d, e or f"),
        ("f5d6", Game.ABAPA, "this is a game of Othello, not of Awalé: choose the other game"),
        ("f5x9", Game.OTHELLO, "'x9' after f5 is not a move: write moves such as f5d6c3 or FfBe"),
        ("FfBe", Game.OTHELLO, "this is a game of Awalé, not of Othello: choose the other game"),
        ("bad", Game.OTHELLO, "the text contains no game"),
        (BOARD[1:], None, "the board has 63 squares: give 64"),
        ("\n".join(BOARD[at : at + 8] for at in range(0, 56, 8)), None, "the board has 7 rows of 8 squares"),
        (f"{BOARD} O f5", None, "move 1: f5 is not a legal move: White can play"),
        (f"{BOARD} O", Game.OTHELLO6, "the board has size 8, not 6"),
        (f"{BOARD} O", Game.ABAPA, "this is a position of Othello"),
        ("4-4-4-4-4-4-4-4-4-4-4-4-0-0-S", Game.OTHELLO, "this is a position of Awalé"),
        ("4-4-4-4-4-4-4-4-4-4-4-4-0-S", None, "the diagram has 14 fields"),
        ("4-4-4-4-4-4-4-4-4-4-4-4-0-1-S", None, "the diagram has 49 seeds"),
        (GGF, Game.ROMEIN, "this is a game of othello, not of romein: choose othello"),
        (GGF.replace("d6", "a1"), None, "line 1: move 1: a1 is not a legal move: White can play"),
        ('[South "Ann"]\n1. F g', None, "line 2: expected a move such as C or d+3, or a result, found 'g'"),
        ("f5" * MAX_TEXT_CHARS, None, f"paste one game of at most {MAX_TEXT_CHARS} characters"),
    ],
)
def test_errors_explain_the_likely_mistake(text: str, game: Game | None, part: str) -> None:
    with pytest.raises(NotationError) as caught:
        detect_game(text, game)
    assert part in str(caught.value)
    assert len(str(caught.value)) < 200


INPUT_CHARACTERS = "abcdefghABCDEFXOxow*.-+|=_;:%#0123456789 \n\r\t'()[]SNpas٣²ſé"
VALID_TEXTS = [
    *(text for game in (Game.OTHELLO4, Game.ABAPA) for text in format_variants(random_record(game, 1)).values()),
    *(repr(Position.start(game)) for game in Game),
    *(str(Position.start(game)) for game in Game),
    format_obf(Problem(POSITION_AFTER_F5)),
    WEB_PAGE_TEXT,
    GGF,
]


@st.composite
def mutated_texts(draw: st.DrawFn) -> str:
    """Generate valid texts with a few pieces deleted, inserted or repeated."""
    text = draw(st.sampled_from(VALID_TEXTS))
    for _ in range(draw(st.integers(1, 4))):
        begin, end = sorted((draw(st.integers(0, len(text))), draw(st.integers(0, len(text)))))
        piece = draw(st.text(INPUT_CHARACTERS, max_size=6) | st.just(text[begin:end]) | st.sampled_from(VALID_TEXTS))
        text = text[:begin] + piece + text[draw(st.sampled_from([begin, min(begin + 2, end), end])) :]
    return text


@given(
    st.text(INPUT_CHARACTERS, max_size=120) | st.text(max_size=60) | mutated_texts(),
    st.none() | st.sampled_from(list(Game)),
)
def test_any_text_is_understood_or_refused_in_one_line(text: str, game: Game | None) -> None:
    try:
        record = detect_game(text, game).record
    except NotationError as error:
        assert len(str(error).splitlines()) == 1
        assert len(str(error)) < 300
    else:
        assert game in (None, record.start.game)
        assert parse_position(format_position(record.start), record.start.game) == record.start
        for position, move in zip(record.positions(), record.moves, strict=False):
            assert move in position.legal_moves()


@pytest.mark.parametrize(
    "piece",
    ["1", "f5", "Ff", "-", "X ", "1-", "a b ", "\n", "F f\n", "f5d6\n", "X", "South 1 ", "a1 ", "--------\n", "OX--\n"],
)
def test_long_texts_are_read_in_one_go(piece: str) -> None:
    text = piece * (MAX_TEXT_CHARS // len(piece))
    try:
        assert detect_game(text).record.start.game in Game
    except NotationError as error:
        assert len(str(error)) < 200
