"""WTHOR: byte-for-byte round trips, names, files from arbitrary games, damaged files."""

from datetime import date
from pathlib import Path

import pytest
from conftest import ROOT
from random_games import play_random_moves

from awello import PASS, Game, Position, Record, format_transcript, parse_transcript
from awello.errors import NotationError
from awello.formats.wthor import (
    EVENT_NAME_BYTES,
    PLAYER_NAME_BYTES,
    WthorHeader,
    WthorNames,
    build_wthor,
    format_names,
    parse_header,
    parse_names,
    read_wthor,
    write_wthor,
)

DATA = ROOT.parent / "shared" / "data" / "wthor"
PLAYERS = ("???", "Tastet Marc", "Rose Brian")
CREATED = date(2024, 5, 17)
PASSING = next(
    record for record in (play_random_moves(Game.OTHELLO, seed, 99) for seed in range(99)) if PASS in record.moves
)


def make_small_file() -> bytes:
    """Return the content of a file with three games of 1999: the second has a pass, the last is unfinished."""
    rows = [(5, 1, 2, 40, 33), (5, 2, 1, 0, 64), (65535, 0, 7, 255, 0)]
    games = [play_random_moves(Game.OTHELLO, 1, 99).moves, PASSING.moves, parse_transcript("f5d6c3").moves]
    content = (
        bytes([20, 1, 2, 3])
        + (3).to_bytes(4, "little")
        + bytes(2)
        + (1999).to_bytes(2, "little")
        + bytes([8, 0, 24, 9])
    )
    for (event, black, white, *scores), moves in zip(rows, games, strict=True):
        squares = bytes(10 * (move // 8 + 1) + move % 8 + 1 for move in moves if move != PASS)
        content += b"".join(number.to_bytes(2, "little") for number in (event, black, white))
        content += bytes(scores) + squares.ljust(60, b"\0")
    return content


def read_intact(content: bytes) -> list[Record]:
    games = list(read_wthor(content, PLAYERS, ("Diverses parties",)))
    assert all(isinstance(game, Record) for game in games)
    return [game for game in games if isinstance(game, Record)]


def test_files_are_reproduced_byte_for_byte() -> None:
    content = make_small_file()
    games = read_intact(content)
    assert games[1].moves == PASSING.moves
    assert format_transcript(games[2]) == "f5d6c3"
    assert b"".join(write_wthor(games, parse_header(content))) == content
    assert parse_header(content) == WthorHeader(20, 1, 2, 3, games=3, year=1999, spare=9)


def test_names_and_numbers_are_tags() -> None:
    first, second, third = read_intact(make_small_file())
    assert first.tags == {
        "EventNumber": "5",
        "BlackNumber": "1",
        "WhiteNumber": "2",
        "Score": "40",
        "Theoretical": "33",
        "Black": "Tastet Marc",
        "White": "Rose Brian",
        "Date": "1999",
    }
    assert (second.tags["Black"], second.tags["White"]) == ("Rose Brian", "Tastet Marc")
    assert "Black" not in third.tags
    assert "White" not in third.tags


def check_file(file: Path) -> None:
    content = file.read_bytes()
    assert b"".join(write_wthor(read_intact(content), parse_header(content))) == content


@pytest.mark.parametrize("year", [1977, 1981, 2020])
@pytest.mark.skipif(not DATA.exists(), reason="needs the federation's files")
def test_federation_games_of_a_year(year: int) -> None:
    check_file(DATA / f"WTH_{year}.wtb")


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="needs the federation's files")
def test_all_federation_games() -> None:
    files = sorted(DATA.glob("*.wtb"))
    assert files
    for file in files:
        check_file(file)


@pytest.mark.skipif(not DATA.exists(), reason="needs the federation's files")
def test_federation_names() -> None:
    for name, width in (("WTHOR.JOU", PLAYER_NAME_BYTES), ("WTHOR.TRN", EVENT_NAME_BYTES)):
        content = (DATA / name).read_bytes()
        assert parse_names(content).width == width
        assert format_names(parse_names(content)) == content


def test_names_read_back() -> None:
    for width in (PLAYER_NAME_BYTES, EVENT_NAME_BYTES):
        names = WthorNames(WthorHeader(20, 24, 5, 17, names=3, size=0), width, ("", "Préqualif", "x" * (width - 1)))
        assert parse_names(format_names(names)) == names
    for name in ("x" * 20, "石", "a\0b"):
        with pytest.raises(NotationError, match="use at most 19 Latin-1 characters"):
            format_names(WthorNames(WthorHeader(), PLAYER_NAME_BYTES, (name,)))
    with pytest.raises(NotationError, match="stores at most 65535 names"):
        format_names(WthorNames(WthorHeader(), PLAYER_NAME_BYTES, ("x",) * 65536))


def test_files_from_arbitrary_games() -> None:
    start = Position.start()
    tags = [
        {"Black": "Ann", "White": "Bob", "Event": "Open", "Date": "2024-05-01", "CO": "x"},
        {"Black": "Bob", "White": "Zoé", "Event": "Cup", "Date": "2024"},
        {"White": "Ann", "Date": "2024.01.01", "BlackNumber": "77"},
    ]
    games = [
        Record(start, play_random_moves(Game.OTHELLO, seed, 99).moves, tags=kept) for seed, kept in enumerate(tags)
    ]
    files = build_wthor(games, CREATED)
    players, events = parse_names(files[".jou"]), parse_names(files[".trn"])
    assert players.names == ("???", "Ann", "Bob", "Zoé")
    assert events.names == ("???", "Open", "Cup")
    header = parse_header(files[".wtb"])
    assert (header[:4], header.games, header.year) == ((20, 24, 5, 17), 3, 2024)
    for game, found in zip(games, read_wthor(files[".wtb"], players.names, events.names), strict=True):
        assert isinstance(found, Record)
        assert found.moves == game.moves
        for tag in ("Black", "White", "Event"):
            assert found.tags.get(tag) == game.tags.get(tag)
        assert int(found.tags["Score"]) == game.final.score()[0]
        assert found.tags["Date"] == "2024"
    assert list(read_wthor(build_wthor([], CREATED)[".wtb"])) == []


def test_games_that_wthor_cannot_store_are_rejected() -> None:
    start = Position.start()
    for record, message in [
        (Record(Position.start(Game.OTHELLO6)), "from the standard start, not from parse_position"),
        (Record(start.play("f5")), "from the standard start"),
        (
            Record(start, loser=0, reason="resigned"),
            r"cannot store a loss by resignation, on time or by forfeit \(resigned\): omit the game",
        ),
        (Record(start, tags={"Score": "256"}), "the tag Score is '256': give a number from 0 to 255"),
        (Record(start, tags={"EventNumber": "-1"}), "give a number from 0 to 65535"),
    ]:
        with pytest.raises(NotationError, match=message):
            list(write_wthor([record]))
    with pytest.raises(NotationError, match=r"games of one year: write .* \(unknown, 1999, 2000\) to a separate file"):
        build_wthor([Record(start, tags={"Date": day}) for day in ("2000", "1999-01-02", "?")], CREATED)


def change_bytes(at: int, *values: int) -> bytes:
    content = bytearray(make_small_file())
    content[at : at + len(values)] = values
    return bytes(content)


@pytest.mark.parametrize(
    ("content", "games", "message"),
    [
        (b"", 0, "byte 0: expected a header of 16 bytes, found 0 bytes"),
        (make_small_file()[:15], 0, "byte 0: expected a header of 16 bytes, found 15 bytes"),
        (make_small_file()[:-1], 2, "byte 4: expected 3 games according to the header, found 2 and 67 extra bytes"),
        (make_small_file()[:84], 1, "byte 4: expected 3 games according to the header, found 1"),
        (change_bytes(4, 2), 3, "byte 4: expected 2 games according to the header, found 3"),
        (change_bytes(12, 10), 0, "byte 12: expected a board of size 8, found size 10"),
        (change_bytes(92, 99), 2, "byte 84: expected a row and a column from 1 to 8 as move 1, found 99"),
        (change_bytes(92, 56, 9), 2, "byte 84: expected a row and a column from 1 to 8 as move 2, found 09"),
        (change_bytes(160, 56, 0), 2, "byte 152: expected a row and a column from 1 to 8 as move 2, found 00"),
        (change_bytes(160, 11), 2, "byte 152: move 1: a1 is not a legal move: Black can play d3, c4, f5 or e6"),
    ],
)
def test_damage_is_reported_and_the_other_games_are_read(content: bytes, games: int, message: str) -> None:
    found = list(read_wthor(content))
    assert [str(one) for one in found if isinstance(one, NotationError)] == [message]
    assert len(found) == games + 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x", "byte 0: expected a header of 16 bytes, found 1 bytes"),
        (
            format_names(WthorNames(WthorHeader(), 20, ("a", "b")))[:-1],
            "byte 8: expected 2 names according to the header, each of 20 or 26 bytes, found 39 bytes",
        ),
        (
            format_names(WthorNames(WthorHeader(), 26, ("a",))) + b"x",
            "byte 8: expected 1 names according to the header, each of 20 or 26 bytes, found 27 bytes",
        ),
        (bytes(17), "byte 8: expected 0 names according to the header, each of 20 or 26 bytes, found 1 bytes"),
    ],
)
def test_damaged_names(content: bytes, message: str) -> None:
    with pytest.raises(NotationError) as caught:
        parse_names(content)
    assert str(caught.value) == message
