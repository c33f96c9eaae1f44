"""GGF: round trips, synchro pairs, tolerant reading, precise errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_games import SLOW_EXAMPLES, play_random_moves, records

from awello import PASS, Game, Position, Record, format_transcript, parse_transcript
from awello.errors import NotationError
from awello.formats.ggf import format_ggf, parse_ggf, read_ggf, write_ggf

BOARD = "-" * 27 + "O*------*O" + "-" * 27 + " *"
NBOARD = f"(;GM[Othello]PC[NBoard]PB[a]PW[b]RE[?]TI[15:00]TY[8]BO[8 {BOARD}]B[F5]W[F6];)"
TAGS = ("Black", "White", "Event", "Site", "Date", "Round", "RB", "RW", "TI", "KM", "CO", "BlackNumber")


@SLOW_EXAMPLES
@given(st.lists(records(Game.OTHELLO, Game.OTHELLO6, Game.OTHELLO4, tags=TAGS), max_size=3))
def test_games_read_back(games: list[Record]) -> None:
    assert list(read_ggf("".join(write_ggf(games)))) == games


@pytest.mark.parametrize(
    "value", ["a]b", "\\", "\\]", "(;", "(\\;", "x;)", "nice ;) \n(;GM[", "]]", "é — 石", "[", "1 (;"]
)
def test_tag_values_can_contain_any_character(value: str) -> None:
    games = [Record(Position.start(), (), tags={"CO": value, "Black": value})] * 2
    assert list(read_ggf("".join(write_ggf(games)))) == games


def test_a_typical_game() -> None:
    record = parse_ggf(NBOARD)
    assert format_transcript(record) == "f5f6"
    assert record.tags == {"Site": "NBoard", "Black": "a", "White": "b", "TI": "15:00"}
    assert (record.seconds, record.values, record.loser) == ((), (), None)
    assert format_ggf(record) == f"(;GM[Othello]PC[NBoard]PB[a]PW[b]TI[15:00]RE[?]TY[8]BO[8 {BOARD}]B[F5]W[F6];)"


def test_values_times_and_passes_in_any_form() -> None:
    start = "-----OX--XO----- X".replace("X", "*")
    text = f"(;BO[4 {start[:8]} {start[8:]}]B[b1/-2.50/1]W[ A1 /+3 ]B[a2//.25];B[x];)".replace(";B[x]", "")
    record = parse_ggf(text)
    assert (record.values, record.seconds) == ((-2.5, 3.0, None), (1.0, None, 0.25))
    whole = next(r for r in (play_random_moves(Game.OTHELLO6, seed, 99) for seed in range(99)) if PASS in r.moves)
    for name in ("PA", "pass", "--", "Ps", None):
        written = format_ggf(whole)
        for side in "BW":
            written = written.replace(f"{side}[PA]", f"{side}[{name}]" if name else "")
        assert parse_ggf(written).moves == whole.moves
    after_the_end = format_ggf(whole).replace(";)", "B[PA]W[PA];)")
    assert parse_ggf(after_the_end) == whole


def test_a_pass_at_the_very_end() -> None:
    whole = next(r for r in (play_random_moves(Game.OTHELLO, seed, 99) for seed in range(99)) if PASS in r.moves)
    begun = Record(whole.start, whole.moves[: whole.moves.index(PASS) + 1])
    assert parse_ggf(format_ggf(begun)) == begun


def test_synchro_pairs_are_read_and_written() -> None:
    single, first, second = (NBOARD.replace("[a]", f"[{name}]") for name in "xyz")
    text = f"1 {single}\nsome words\n2 {first}{second}\n2 {second} {first}\n1 {single}\n"
    games = list(read_ggf(text))
    assert [r.tags.get("Synchro") for r in games if isinstance(r, Record)] == [None, "1", "2", "1", "2", None]
    written = "".join(write_ggf(r for r in games if isinstance(r, Record)))
    assert [line[:2] for line in written.splitlines()] == ["1 ", "2 ", "2 ", "1 "]
    assert list(read_ggf(written)) == games
    half = [game for game in (games[1], games[0]) if isinstance(game, Record)]
    assert [r.tags.get("Synchro") for r in read_ggf("".join(write_ggf(half))) if isinstance(r, Record)] == [None, None]


@pytest.mark.parametrize(
    ("result", "loser", "reason", "kept"),
    [
        ("+64.00:r", 1, "resigned", False),
        ("-64:t", 0, "ran out of time", False),
        ("-40.00:r", 0, "resigned", True),
        ("0.00:s", None, "", True),
        ("+0.00:r", None, "", True),
        ("?", None, "", False),
        ("+12.00", None, "", True),
        ("what?", None, "", True),
    ],
)
def test_results(result: str, loser: int | None, reason: str, kept: bool) -> None:
    record = parse_ggf(NBOARD.replace("RE[?]", f"RE[{result}]"))
    assert (record.loser, record.reason, record.tags.get("RE")) == (loser, reason, result if kept else None)
    assert parse_ggf(format_ggf(record)) == record


def test_the_board_decides_the_result_of_a_finished_game() -> None:
    whole = play_random_moves(Game.OTHELLO, 1, 99)
    black, white = whole.final.score()
    assert f"RE[{black - white:+d}.00]" in format_ggf(whole)
    komi = format_ggf(whole).replace(f"RE[{black - white:+d}.00]", "RE[+1.00]KM[3]TY[8k]").replace("TY[8]", "")
    assert parse_ggf(komi).tags == {"RE": "+1.00", "KM": "3", "TY": "8k"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Othello", "Amazons", "line 1: expected GM[Othello], found another game"),
        ("W[F6]", "W[A1]", "line 1: move 2: a1 is not a legal move: White can play f4, d6 or f6"),
        ("W[F6]", "B[F6]", "line 1: move 2: expected a move by White, found one by Black"),
        ("W[F6]", "\nW[PA]", "line 1: move 2: pass is not a legal move: White can play f4, d6 or f6"),
        ("B[F5]", "B[PA]", "line 1: move 1: pass is not a legal move: Black can play d3, c4, f5 or e6"),
        ("W[F6]", "\nW[Z9]", "line 2: expected a move such as W[f5], W[f5/value/seconds] or W[PA], found 'Z9'"),
        ("[F6]", "[F6/x]", "line 1: expected a move such as W[f5], W[f5/value/seconds] or W[PA], found 'F6/x'"),
        ("[F6];)", "[F6", "line 1: expected a tag such as PB[name], or ;) at the end, found 'W[F6'"),
        (
            "PB[a]",
            "\nPB{a}",
            "line 2: expected a tag such as PB[name], or ;) at the end, found 'PB{a}PW[b]RE[?]TI[15:00]...'",
        ),
        ("BO[8", "BO[10", "line 1: expected a board of size 8, 6 or 4, found '10'"),
        (f"BO[8 {BOARD}]", "BO[]", "line 1: expected a board of size 8, 6 or 4, found ''"),
        ("BO[8 -", "BO[8 ", "line 1: the board has 63 squares: give 64, 36 or 16 squares, each X, O or -"),
        ("BO[8", "BO[6", "line 1: the board has size 8, not 6: give a board of size 6, or choose the game othello"),
        ("RE[?]", "Lost[Nobody at all]", "line 1: expected a loss such as 'Black resigned', found 'Nobody at all'"),
    ],
)
def test_damage_is_reported_and_the_other_games_are_read(old: str, new: str, message: str) -> None:
    good = parse_ggf(NBOARD)
    found = list(read_ggf(f"{NBOARD.replace(old, new, 1)}\n{NBOARD}"))
    assert (str(found[0]), found[1:]) == (message, [good])


def test_games_that_ggf_cannot_store_are_rejected() -> None:
    with pytest.raises(NotationError, match="not of abapa: omit the game, or write OGN"):
        format_ggf(Record(Position.start(Game.ABAPA)))
    for tag in ("PB", "BO", "W", "a b", "", "é"):
        with pytest.raises(NotationError, match="cannot store a tag named"):
            format_ggf(Record(Position.start(), tags={tag: "x"}))
    with pytest.raises(NotationError, match="give a finite number"):
        format_ggf(Record(Position.start(), parse_transcript("f5").moves, (float("nan"),)))
    with pytest.raises(NotationError, match="the text contains no game"):
        parse_ggf("nothing")
