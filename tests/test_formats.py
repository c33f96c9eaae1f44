"""Game files in all formats: detection, decompression, damaged and hostile files."""

import gzip
import random
import tracemalloc

import pytest
from random_games import damage_content, generate_damaged_files, play_random_moves

from awello import Game, Position, Record, parse_transcript
from awello.errors import NotationError
from awello.formats import registry
from awello.formats.registry import FORMATS, decompress, detect_format, find_format, read_games
from awello.formats.wthor import parse_names

OTHELLO = [
    Record(record.start, record.moves, tags={"Black": "Ann", "White": "Zoé", "Difference": "+04", "Date": "2024"})
    for record in (play_random_moves(Game.OTHELLO, seed, 99) for seed in range(4))
]
AWALE = [
    Record(
        record.start,
        record.moves,
        (0.5,) * len(record.moves),
        (1.25,) * len(record.moves),
        {"South": "Kofi"},
        1,
        "resigned",
    )
    for record in (
        play_random_moves(game, seed, 200) for seed, game in enumerate((Game.ABAPA, Game.ROMEIN, Game.TOURNAMENT))
    )
]
SMALL_BOARDS = [
    Record(record.start, record.moves, (0.5,) * len(record.moves), (), {"Synchro": half})
    for record, half in ((play_random_moves(Game.OTHELLO6, 1, 99), "1"), (play_random_moves(Game.OTHELLO4, 2, 99), "2"))
]
GAMES = {
    "wthor": OTHELLO,
    "ggf": OTHELLO + SMALL_BOARDS,
    "ogn": AWALE,
    "jsonl": OTHELLO + SMALL_BOARDS + AWALE,
    "logbook": OTHELLO,
    "transcripts": OTHELLO + SMALL_BOARDS + AWALE,
}


def make_small_file(name: str) -> bytes:
    """Return the content of a small file in the given format."""
    return next(iter(FORMATS[name].write(GAMES[name]).values()))


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_detected_and_reads_back(name: str) -> None:
    content = make_small_file(name)
    suffix = FORMATS[name].suffixes[0]
    found = list(read_games(content))
    assert [game.moves for game in found if isinstance(game, Record)] == [game.moves for game in GAMES[name]]
    assert detect_format(content) is detect_format(content, "x.txt") is find_format(name)
    assert detect_format(b"?", f"X{suffix.upper()}") is detect_format(b"", f"a.b{suffix}.gz") is find_format(name)
    packed = gzip.compress(content)
    assert list(read_games(packed, f"games{suffix}.gz")) == list(read_games(packed)) == found
    if name not in ("wthor", "transcripts"):  # these two formats do not store everything
        assert next(iter(FORMATS[name].write(game for game in found if isinstance(game, Record)).values())) == content


def test_wthor_is_three_files_and_takes_names() -> None:
    written = FORMATS["wthor"].write(OTHELLO)
    assert list(written) == [".wtb", ".jou", ".trn"]
    names = [parse_names(written[".jou"]), parse_names(written[".trn"])]
    found = [game for game in read_games(written[".wtb"], names=names) if isinstance(game, Record)]
    assert [game.tags["White"] for game in found] == ["Zoé"] * 4


def test_unknown_format_names_and_files() -> None:
    with pytest.raises(
        NotationError, match="unknown format 'pgn': choose wthor, ggf, ogn, jsonl, logbook or transcripts"
    ):
        find_format("pgn")
    (error,) = read_games(b"Hello", "letter.doc")
    assert str(error) == "expected games in a format such as .wtb, .ggf, .ogn, .jsonl, .gam, .txt or .xot, found none"


def test_text_encodings() -> None:
    latin = "1 (;GM[Othello]PB[Zoé];)".encode("latin-1")
    (record,) = read_games(latin)
    assert isinstance(record, Record)
    assert record.tags == {"Black": "Zoé"}
    assert list(read_games(b"\xef\xbb\xbff5d6\n", "x.txt")) == [parse_transcript("f5d6")]
    with pytest.raises(NotationError, match="cannot be encoded as UTF-8"):
        FORMATS["ggf"].write([Record(Position.start(), tags={"Black": "\ud800"})])


def test_the_intact_part_of_a_compressed_file_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"f5d6\n" * 4_000 + random.Random(0).randbytes(100_000).hex().encode()
    packed = gzip.compress(text)
    assert decompress(packed) == (text, None)
    assert decompress(packed + packed) == (text + text, None)
    short, error = decompress(packed[:-40_000])
    assert text.startswith(short)
    assert len(short) > 50_000
    assert str(error) == f"byte {len(packed) - 40_000}: expected more compressed data, found the end"
    broken = bytearray(packed)
    broken[-4] ^= 1
    assert str(decompress(bytes(broken))[1]).endswith("expected compressed data, found damaged data")
    assert str(next(read_games(gzip.compress(b"")[:5]))) == "byte 5: expected more compressed data, found the end"
    monkeypatch.setattr(registry, "MAX_UNPACKED_BYTES", 1 << 20)
    bomb, error = decompress(gzip.compress(bytes(1 << 24)))
    assert len(bomb) == (1 << 20) + 1
    assert str(error) == "expected at most 1 MiB of decompressed data, found more: decompress the file first"
    *games, last = read_games(packed[:-40_000], "x.txt")
    assert sum(isinstance(game, Record) for game in games) == 4_000
    assert isinstance(last, NotationError)


# ---- damaged files --------------------------------------------------------------------------------------------------
def make_file_of_short_games(name: str) -> bytes:
    """Return the content of a file of short games, for fast tests of many damaged copies."""
    games = [
        Record(game.start, game.moves[:24], game.seconds[:24], game.values[:24], game.tags) for game in GAMES[name]
    ]
    return next(iter(FORMATS[name].write(games[-3:]).values()))


def check_damaged(name: str, count: int, seed: int) -> tuple[int, int]:
    """Check that readers of damaged files yield only games and one-line errors; return the number of each."""
    games = errors = 0
    for content in generate_damaged_files(make_file_of_short_games(name), count, seed):
        for found in FORMATS[name].read(content):
            if isinstance(found, Record):
                assert len(found.moves) < 500
                games += 1
            else:
                assert isinstance(found, NotationError)
                assert "\n" not in str(found)
                assert 0 < len(str(found)) < 400
                errors += 1
    return games, errors


@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files_give_games_and_errors(name: str) -> None:
    games, errors = check_damaged(name, 150, seed=1)
    assert games > 100
    assert errors > 50


@pytest.mark.parametrize("name", FORMATS)
def test_games_from_damaged_files_can_be_written(name: str) -> None:
    for content in generate_damaged_files(make_file_of_short_games(name), 40, seed=2):
        games = [game for game in FORMATS[name].read(content) if isinstance(game, Record)]
        for game in games:
            try:
                (text, *_) = FORMATS[name].write([game]).values()
            except NotationError:
                continue  # the format cannot store every damaged tag
            (again,) = FORMATS[name].read(text)
            assert isinstance(again, Record)
            assert (again.start, again.moves) == (game.start, game.moves)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_many_damaged_files(name: str) -> None:
    games, errors = check_damaged(name, 100_000, seed=3)
    print(f"{name}: {games} games, {errors} errors")
    assert errors > 30_000


HOSTILE_FILES = [
    "(;",
    "(;A[",
    "B[f5]",
    ";",
    "[",
    "[A ",
    '[A "',
    "(",
    "{",
    "({",
    "1.",
    "C d ",
    "\\",
    "+d3",
    "f5d6",
    "-",
    "\n",
    " ",
    "0",
    "XO-",
    "f5 ",
]


@pytest.mark.parametrize("name", FORMATS)
def test_hostile_files_are_read_with_little_time_and_memory(name: str) -> None:
    tracemalloc.start()
    for piece in HOSTILE_FILES:
        for before in ("", "(;GM[Othello]", '[Variant "Abapa"]\n\n'):
            for _ in FORMATS[name].read((before + piece * (10_000 // len(piece))).encode()):
                pass
    for _ in FORMATS[name].read(damage_content(random.Random(1).randbytes(100_000), random.Random(2))):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 << 20
