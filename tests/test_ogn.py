"""OGN: round trips, comments and variations, checked captures, precise errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import SLOW_EXAMPLES, play_random_moves, records

from awello import Game, Position, Record, format_transcript, parse_position, parse_transcript
from awello.errors import NotationError
from awello.formats.ogn import format_ogn, parse_ogn, read_ogn, write_ogn

GAME = """[Variant "Abapa"]
[Event "?"]
[Site "Accra"]
[South "Ann \\"A\\""]
[North "Bob"]
[Result "*"]

1. F f 2. B! { a note } e 3. B
(3. A c (3... d) {or ) so} 4. B) c *
"""
TAGS = ("South", "North", "Event", "Site", "Date", "Round", "Opening")
AWALE = (Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN)


@SLOW_EXAMPLES
@given(st.lists(records(*AWALE, tags=TAGS), max_size=3))
def test_games_read_back(games: list[Record]) -> None:
    text = "".join(write_ogn(games))
    assert list(read_ogn(text)) == games
    moves = [line for line in text.split("\n") if not line.startswith("[")]
    assert all(len(line) < 80 or " " not in line for line in moves)


def test_a_typical_game() -> None:
    record = parse_ogn(GAME)
    assert format_transcript(record) == "FfBeBc"
    assert (record.start, record.tags) == (
        Position.start(Game.ABAPA),
        {"Site": "Accra", "South": 'Ann "A"', "North": "Bob"},
    )
    whole = play_random_moves(Game.ABAPA, 3, 300)
    south, north = whole.final.score()
    text = format_ogn(whole)
    assert text.startswith(
        '[Variant "Abapa"]\n[Event "?"]\n[Site "?"]\n[Date "?"]\n[Round "?"]\n[South "?"]\n[North "?"]\n'
    )
    assert f'[Result "{south}-{north}"]\n\n1. ' in text
    assert text.endswith(f"{south}-{north}\n")
    assert "+" in text
    assert parse_ogn(text) == whole


def test_games_follow_each_other_and_moves_alone_are_a_game() -> None:
    assert [format_transcript(r) for r in read_ogn(GAME + GAME.replace(" c *", "")) if isinstance(r, Record)] == [
        "FfBeBc",
        "FfBeB",
    ]
    assert format_transcript(parse_ogn("1. F f\n2. B")) == "FfB"
    assert list(read_ogn("")) == list(read_ogn(" \r\n\n")) == []
    assert parse_ogn('[Variant "romein"]').start.game is Game.ROMEIN


def test_values_and_times_in_notes() -> None:
    record = parse_ogn("1. F {[%eval -2.5] good} f {[%emt 0.25]} 2. B {[%emt 0:00:05] [%eval]}")
    assert (record.values, record.seconds) == ((-2.5, None, None), (None, 0.25, None))


@pytest.mark.parametrize(("name", "game"), [("ABAPA", Game.ABAPA), ("Oware", Game.ABAPA), (" Romein ", Game.ROMEIN)])
def test_names_of_variants(name: str, game: Game) -> None:
    assert parse_ogn(f'[Variant "{name}"]\n\n*').start.game is game


@pytest.mark.parametrize(
    ("result", "kept"), [("*", False), ("?", False), ("30-18", True), ("1/2-1/2", True), ("a draw", True)]
)
def test_results(result: str, kept: bool) -> None:
    record = parse_ogn(GAME.replace('Result "*"', f'Result "{result}"'))
    assert record.tags.get("Result") == (result if kept else None)
    assert parse_ogn(format_ogn(record)) == record


def test_captures_may_count_what_the_end_brings() -> None:
    start = parse_position("0-0-0-0-0-1-0-0-0-0-0-1-23-23-S")
    ended = parse_transcript("FfAaBbCcDdEe", start)
    assert (ended.final.repeated, ended.final.score()) == (True, (24, 24))
    text = format_ogn(ended)
    assert "E e 24-24" in text
    found = [next(read_ogn(text.replace("e 24", f"e+{taken} 24"))) for taken in range(4)]
    assert [isinstance(game, Record) for game in found] == [True, True, False, False]


def test_moves_after_the_end_are_ignored() -> None:
    text = '[Variant "Abapa"]\n[FEN "0-0-0-0-0-2-1-1-0-4-0-0-23-17-S"]\n\n1. F+4 d 2. A e 27-21\n'
    game, notice, after = read_ogn(text + GAME)
    assert isinstance(game, Record) and game.final.over
    assert (format_transcript(game), game.tags) == ("F", {"Result": "27-21"})
    assert str(notice) == "line 4: the game is over after move 1 (25 seeds win); later moves are ignored"
    assert after == parse_ogn(GAME)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Abapa", "Nam-nam", "line 1: expected a variant (abapa, tournament or romein), found 'Nam-nam'"),
        ("2. B!", "2. F!", "line 8: move 3: F is empty: South can play A, B, C, D or E"),
        ("2. B!", "2. b!", "line 8: move 3: expected a pit of South, found b"),
        ("2. B!", "2. B+2", "line 8: move 3: expected B+0, found B+2"),
        (
            "2. B!",
            "2. X",
            "line 8: expected a move such as C or d+3, or a result, found 'X { a note } e 3. B\\n(3. ...'",
        ),
        ("4. B)", "4. B", "line 9: expected a ) at the end of the variation, found nothing"),
        ("c *", "c * d", "line 9: expected the end of the game, found 'd'"),
        ('"Bob"', '"Bob', 'line 5: expected a tag such as [South "Ann"], found \'[North "Bob]\''),
        (
            "[Site",
            '[FEN "1-2-3"]\n[Site',
            "line 1: the diagram has 3 fields, not 15: "
            "write 12 pits, 2 numbers of captured seeds, and S or N, separated by hyphens",
        ),
        ("[Site", '[Lost "x"]\n[Site', "line 1: expected a loss such as 'South resigned', found 'x'"),
    ],
)
def test_damage_is_reported_and_the_other_games_are_read(old: str, new: str, message: str) -> None:
    good = parse_ogn(GAME)
    found = list(read_ogn(f"{GAME.replace(old, new, 1)}\n{GAME}"))
    assert (str(found[0]), found[1:]) == (message, [good])


def test_what_ogn_cannot_store() -> None:
    with pytest.raises(NotationError, match="not of Othello: omit the game"):
        format_ogn(parse_transcript("f5"))
    with pytest.raises(NotationError, match="put it on one line"):
        format_ogn(Record(Position.start(Game.ABAPA), tags={"South": "a\nb"}))
    for tag in ("FEN", "Variant", "a b", ""):
        with pytest.raises(NotationError, match="cannot store a tag named"):
            format_ogn(Record(Position.start(Game.ABAPA), tags={tag: "x"}))
