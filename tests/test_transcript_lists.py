"""Lists of transcripts and logbooks: round trips, tolerant reading, precise errors."""

import gzip

import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from random_games import SLOW_EXAMPLES, play_random_moves, records

from awello import PASS, Game, Position, Record, format_transcript, parse_position, parse_transcript
from awello.errors import NotationError
from awello.formats.logbook import read_logbook, write_logbook
from awello.formats.transcript_lists import read_transcripts, write_transcripts

DATA = ROOT.parent / "shared" / "data"
NOTES = st.sampled_from(["Ann - Bob", "10", "f5", "é # no", "FfB x", " x", "", "a\nb", "x  y", "+3 discs"])
GAME_LINE = "+d3-c3+c4-e3: -04 10"


@st.composite
def listable_records(draw: st.DrawFn) -> Record:
    """Generate records with moves and, optionally, the tags Difference and Note."""
    record = draw(records(*Game))
    tags = {}
    if draw(st.booleans()):
        tags["Difference"] = draw(st.sampled_from(["0", "-12", "+04", "x"]))
    if draw(st.booleans()):
        tags["Note"] = draw(NOTES)
    return Record(record.start, record.moves, tags=tags)


@SLOW_EXAMPLES
@given(st.lists(listable_records(), max_size=4))
def test_lists_read_back(games: list[Record]) -> None:
    kept = []
    for game in games:
        try:
            list(write_transcripts([game]))
        except NotationError:
            assert game.tags  # only the tags Difference and Note can be invalid
        else:
            kept.append(game)
    assert list(read_transcripts("".join(write_transcripts(kept)))) == kept


def test_moves_after_the_end_are_ignored() -> None:
    ending = parse_position("0-0-0-0-0-2-1-1-0-4-0-0-23-17-S", Game.ABAPA)
    game, notice, after = read_transcripts("0-0-0-0-0-2-1-1-0-4-0-0-23-17-S FdAe -3\nFf\n")
    assert game == Record(ending, (5,), tags={"Difference": "-3"})
    assert str(notice) == "line 1: the game is over after move 1 (25 seeds win); later moves are ignored"
    assert isinstance(after, Record) and format_transcript(after) == "Ff"


def test_lists_as_they_are_usually_written() -> None:
    text = "# openings\n\nf5d6c3 -12\r\nF5 D6 1 Ann - Bob # a comment\n1. f5 d6 2. c3\nf5d6c3\n"
    text += "4-4-4-4-4-4-4-4-4-4-4-4-0-0-S FfB\nFfB +3\n"
    games = [game for game in read_transcripts(text) if isinstance(game, Record)]
    assert [format_transcript(game) for game in games] == ["f5d6c3", "f5d6", "f5d6c3", "f5d6c3", "FfB", "FfB"]
    assert [dict(game.tags) for game in games] == [
        {"Difference": "-12"},
        {"Difference": "1", "Note": "Ann - Bob"},
        {},
        {},
        {},
        {"Difference": "+3"},
    ]
    assert "".join(write_transcripts(games)) == "f5d6c3 -12\nf5d6 1 Ann - Bob\nf5d6c3\nf5d6c3\n# abapa\nFfB\nFfB +3\n"


def test_a_pass_at_the_very_end() -> None:
    whole = next(
        game for game in (play_random_moves(Game.OTHELLO, seed, 99) for seed in range(99)) if PASS in game.moves
    )
    begun = Record(whole.start, whole.moves[: whole.moves.index(PASS) + 1])
    assert list(read_transcripts("".join(write_transcripts([begun, whole])))) == [begun, whole]


def test_comments_set_the_game_of_the_lines() -> None:
    assert next(read_transcripts("c2b2", Game.OTHELLO6)) == parse_transcript("c2b2", Position.start(Game.OTHELLO6))
    said = [
        game.start.game
        for game in read_transcripts("#romein\nFf\n# tournament \nFf\nf5\n# words\nFf")
        if isinstance(game, Record)
    ]
    assert said == [Game.ROMEIN, Game.TOURNAMENT, Game.OTHELLO, Game.TOURNAMENT]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("f5d6a1", "line 2: move 3: a1 is not a legal move: Black can play c3, c4, c5, c6 or c7"),
        ("f5 d6 a1", "line 2: move 3: a1 is not a legal move: Black can play c3, c4, c5, c6 or c7"),
        ("f5d6x9", "line 2: expected moves such as f5d6c3 or FfBe, found 'f5d6x9'"),
        ("Ann - Bob", "line 2: expected moves such as f5d6c3 or FfBe, found 'Ann - Bob'"),
        ("FfF", "line 2: move 3: F is empty: South can play A, B, C, D or E"),
        (
            "4-4-4-4-4-4-4-4-4-4-4-4-0-1-S F",
            "line 2: the diagram has 49 seeds: pits and captured seeds must add up to 48",
        ),
    ],
)
def test_damage_is_reported_and_the_other_games_are_read(line: str, message: str) -> None:
    first, wrong, last = read_transcripts(f"f5d6\n{line}\nf5f6\n")
    assert isinstance(first, Record)
    assert isinstance(last, Record)
    assert str(wrong) == message


def test_logbooks_read_back() -> None:
    games = []
    for seed in range(60):
        record = play_random_moves(Game.OTHELLO, seed, 99)
        black, white = record.final.counts()
        tags = {"Difference": f"{black - white:+03d}"} | ({"Note": "10 x"} if seed % 2 else {})
        games.append(Record(record.start, record.moves, tags=tags))
    assert any(PASS in game.moves for game in games)
    text = "".join(write_logbook(games))
    assert list(read_logbook(text)) == games
    plain = [
        Record(game.start, game.moves, tags={tag: game.tags[tag] for tag in game.tags if tag == "Note"})
        for game in games
    ]
    assert "".join(write_logbook(plain)) == text
    assert (
        "".join(write_logbook(r for r in read_logbook(f"# games\n\n{GAME_LINE}") if isinstance(r, Record)))
        == f"{GAME_LINE}\n"
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (GAME_LINE.replace("+c4", "+a1"), "line 2: move 3: a1 is not a legal move: Black can play c4, d6, f4... "),
        (GAME_LINE.replace("-c3", "+c3"), "line 2: move 2: expected - for White, found +"),
        (
            GAME_LINE.replace(":", ""),
            "line 2: expected moves and a disc difference, such as '+d3-c3: -04', found '+d3-c3+c4-e3 -04 10'",
        ),
        (
            GAME_LINE.replace("d3", "d9"),
            "line 2: expected moves and a disc difference, such as '+d3-c3: -04', "
            f"found '{GAME_LINE.replace('d3', 'd9')}'",
        ),
    ],
)
def test_damaged_logbooks(line: str, message: str) -> None:
    first, wrong, last = read_logbook(f"{GAME_LINE}\n{line}\n{GAME_LINE}\n")
    assert first == last
    assert isinstance(first, Record)
    assert str(wrong).startswith(message.split("Black can play")[0])


def test_what_a_logbook_cannot_store() -> None:
    start = Position.start()
    for record, message in [
        (Record(Position.start(Game.ABAPA)), "from the standard start, not from parse_position"),
        (Record(parse_position("-----OX--XO----- X")), "from the standard start"),
        (
            Record(start, loser=1, reason="ran out of time"),
            r"cannot store a loss by resignation, on time or by forfeit \(ran out of time\)",
        ),
        (Record(start, tags={"Difference": "many"}), "a disc difference and a one-line note, not ': many'"),
        (Record(start, tags={"Note": "a\nb"}), "a one-line note"),
        (Record(start, tags={"Note": " a"}), "a one-line note"),
    ]:
        with pytest.raises(NotationError, match=message):
            list(write_logbook([record]))


@pytest.mark.skipif(not DATA.exists(), reason="needs the game files")
def test_the_lists_of_others() -> None:
    openings = (DATA / "openings" / "xot_small.txt").read_text()
    assert "".join(write_transcripts(r for r in read_transcripts(openings) if isinstance(r, Record))) == openings
    with gzip.open(DATA / "games" / "logistello_logbook.gam.gz", "rt") as lines:
        logbook = "".join(line for _, line in zip(range(2000), lines, strict=False))
    assert "".join(write_logbook(r for r in read_logbook(logbook) if isinstance(r, Record))) == logbook
    with gzip.open(DATA / "games" / "egaroucid3_selfplay.txt.gz", "rt") as lines:
        games = "".join(line for _, line in zip(range(2000), lines, strict=False))
    assert "".join(write_transcripts(r for r in read_transcripts(games) if isinstance(r, Record))) == games
