"""`awello games` and `awello explore`: imports and exports, killed imports, and the printed output."""

import gzip
import json
import signal
import subprocess
from datetime import date
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from conftest import ROOT, awello, random_record, run
from test_archive import read_tables

from awello import Game, Position, Record
from awello.archive.archive import Archive, GameFilter
from awello.archive.files import restore_file
from awello.formats.registry import FORMATS
from awello.formats.wthor import build_wthor

DATA = ROOT.parent / "shared/data"
KILLED_IMPORT = """
import os, signal, sys
from itertools import count
from sqlalchemy import Engine, event
from awello.archive import importer
from awello.cli.app import main
importer.BATCH_GAMES = 20
last, statements = int(sys.argv[1]), count(1)

@event.listens_for(Engine, "before_cursor_execute")
def kill(*given):
    number = next(statements)
    print("statement", number)
    if number == last:
        os.kill(os.getpid(), signal.SIGKILL)

sys.argv = ["awello", *sys.argv[2:]]
main()
"""


@pytest.fixture
def location(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Use an archive in a temporary folder as the user's default; return its path."""
    monkeypatch.setenv("AWELLO_ARCHIVE", str(tmp_path / "archive.sqlite"))
    return str(tmp_path / "archive.sqlite")


def make_games(game: Game, count: int, **tags: str) -> list[Record]:
    games = [random_record(game, seed) for seed in range(count)]
    return [Record(each.start, each.moves, tags=tags | {"Round": str(at)}) for at, each in enumerate(games)]


def write_records(file: Path, records: list[Record], form: str) -> Path:
    (content, *_) = FORMATS[form].write(records).values()
    file.write_bytes(content)
    return file


def read_json(*words: str) -> dict[str, object]:
    done = awello(*words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_every_format_is_imported_and_exported(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    write_records(folder / "a.ggf", make_games(Game.OTHELLO, 4, Black="Ann", White="Bob"), "ggf")
    write_records(folder / "b.ogn", make_games(Game.ABAPA, 3, South="Ada", North="Bea"), "ogn")
    write_records(folder / "c.txt", [random_record(Game.OTHELLO, seed) for seed in range(10, 15)], "transcripts")
    book = write_records(tmp_path / "book", [random_record(Game.OTHELLO, 20)], "logbook")
    (folder / "d.gam.gz").write_bytes(gzip.compress(book.read_bytes()))
    (folder / "notes.pdf").write_bytes(b"no games")
    done = awello("games", "import", str(folder))
    assert done.returncode == 0 and "13" in done.stdout, done.stdout + done.stderr
    assert read_json("games", "list")["total"] == 13
    for form, game in (("ggf", "othello"), ("ogn", "awale"), ("txt", "othello"), ("gam", "othello")):
        out = tmp_path / f"out.{form}"
        done = awello("games", "export", "--game", game, "--out", str(out))
        assert done.returncode == 0, done.stderr
        other = Archive(tmp_path / f"{form}.sqlite")
        assert awello("games", "import", str(out), "--archive", other.location).returncode == 0
        mine = Archive(location)
        kind = Game.ABAPA if game == "awale" else Game.OTHELLO
        played = [
            {record.moves for record in each.load_records(each.find_numbers(GameFilter((kind,))))}
            for each in (mine, other)
        ]
        assert played[0] == played[1] and len(played[0]) >= 3


def test_wthor_is_restored_exactly(tmp_path: Path, location: str) -> None:
    folder = tmp_path / "wthor"
    folder.mkdir()
    for year in (1996, 1997):
        records = make_games(Game.OTHELLO, 20, Black="Ann", White=f"Bob {year}", Event="Cup", Date=str(year))
        records += [Record(records[0].start, records[0].moves[:30], tags=records[0].tags), records[3]]
        made = build_wthor(records, date(2026, 1, 2))
        (folder / f"WTH_{year}.wtb").write_bytes(made[".wtb"])
    (folder / "WTHOR.JOU").write_bytes(made[".jou"])
    (folder / "WTHOR.TRN").write_bytes(made[".trn"])
    files = read_json("games", "import", str(folder))["files"]
    assert isinstance(files, list)
    counts = {file["name"]: (file["games"], file["duplicates"], file["unfinished"]) for file in files}
    assert counts == {
        "WTHOR.JOU": (0, 0, 0),
        "WTHOR.TRN": (0, 0, 0),
        "WTH_1996.wtb": (22, 1, 1),
        "WTH_1997.wtb": (22, 22, 1),
    }
    for file in folder.iterdir():
        done = awello("games", "export", "--source", file.name, "--out", str(tmp_path / "again"))
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "again").read_bytes() == file.read_bytes()
    assert "Cup" in awello("games", "show", "1").stdout


@pytest.mark.slow
@pytest.mark.skipif(not DATA.exists(), reason="needs the games of the French federation")
def test_the_whole_of_wthor(tmp_path: Path, location: str) -> None:
    files = read_json("games", "import", str(DATA / "wthor"))["files"]
    assert isinstance(files, list)
    sums = [sum(file[count] for file in files) for count in ("games", "duplicates", "unfinished")]
    assert sums == [137_548, 41, 413] and not any(file["errors"] for file in files)
    archive = Archive(location)
    for file in (DATA / "wthor").iterdir():
        if file.suffix.lower() in (".wtb", ".jou", ".trn"):
            assert list(restore_file(archive, file.name)[1].values()) == [file.read_bytes()]


def test_a_killed_import_is_repeated(tmp_path: Path) -> None:
    file = write_records(tmp_path / "games.ggf", make_games(Game.OTHELLO6, 400), "ggf")
    whole, broken = tmp_path / "whole.sqlite", tmp_path / "broken.sqlite"

    def run_import(archive: Path, last: int = 0) -> subprocess.CompletedProcess[str]:
        """Import the games; kill the process before SQL statement number `last`, unless it is 0."""
        return run("-c", KILLED_IMPORT, str(last), "games", "import", str(file), "--archive", str(archive))

    done = run_import(whole)
    assert done.returncode == 0
    statements = done.stdout.count("statement ")
    for part in (0.2, 0.5, 0.2):  # each import skips the games that are already in the archive
        assert run_import(broken, int(part * statements)).returncode == -signal.SIGKILL
    assert run_import(broken).returncode == 0
    assert read_tables(Archive(broken)) == read_tables(Archive(whole))


def test_a_file_that_comes_twice_is_imported_once(tmp_path: Path, location: str) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("f5d6c3\nf5f6\n")
    done = awello("games", "import", *map(str, sorted(tmp_path.glob("*.txt"))))
    assert done.returncode == 0 and read_json("games", "list")["total"] == 2
    assert read_json("games", "files")["files"] == [{"name": "a.txt", "format": "transcripts", "games": 2}]


def test_damage_is_reported_and_the_rest_is_imported(tmp_path: Path, location: str) -> None:
    (tmp_path / "list.txt").write_text("f5d6c3\nf5f5\nc4c3\n")
    done = awello("games", "import", str(tmp_path / "list.txt"))
    assert done.returncode == 1 and "list.txt, line 2" in done.stdout
    assert read_json("games", "list")["total"] == 2
    (tmp_path / "page.html").write_text("<p>nothing here")
    done = awello("games", "import", str(tmp_path / "page.html"))
    assert done.returncode == 1 and "page.html, expected games in a format such as" in done.stdout
    for name, content in (("empty.txt", b""), ("junk.ggf", b"no game"), ("junk.wtb", b"no game")):
        (tmp_path / name).write_bytes(content)
        done = awello("games", "import", str(tmp_path / name))
        assert done.returncode == 1 and f"{name}, " in done.stdout, "every problem is reported"
    assert read_json("games", "files")["files"] == [{"name": "list.txt", "format": "transcripts", "games": 2}]


def test_a_game_of_every_variant_is_one_of_its_family(tmp_path: Path, location: str) -> None:
    assert "games import" in awello("games", "files").stdout, "an empty archive shows how to import games"
    (tmp_path / "mixed.txt").write_text("f5d6\n# othello6\ne4\n# romein\nFf\n# abapa\nFfBe\n")
    awello("games", "import", str(tmp_path / "mixed.txt"))
    counts = [read_json("games", "list", *words.split())["total"] for words in ("", "--game awale", "--variant romein")]
    assert counts == [4, 2, 1]
    assert read_json("games", "list", "--game", "othello")["total"] == 2
    assert read_json("explore", "FfB")["games"] == read_json("games", "list", "--moves", "FfB")["total"] == 1
    assert read_json("games", "show", "4")["moves"] == ["F", "f", "B", "e"]
    ogn = ["games", "export", "--format", "ogn", "--out", "-"]
    assert "game 1: OGN stores only games of Awalé" in awello(*ogn).stderr
    assert awello(*ogn, "--game", "awale").stdout.count("[Variant ") == 2
    out = str(tmp_path / "all.txt")
    assert read_json("games", "export", "--out", out) == {"games": 4, "files": [out]}


def test_lists_figures_and_the_explorer(tmp_path: Path, location: str) -> None:
    empty = awello("explore")
    assert empty.returncode == 0 and "games import" in empty.stdout
    write_records(tmp_path / "a.ggf", make_games(Game.OTHELLO, 30, Black="Ann", White="Bob", Date="1996.05.07"), "ggf")
    awello("games", "import", str(tmp_path / "a.ggf"))
    listed = awello("games", "list", "--player", "ann", "--year", "1996", "--last", "5")
    assert "Bob" in listed.stdout and "30 games, the latest 5 shown" in listed.stdout
    figures = read_json("games", "stats")
    assert figures["games"] == 30 and figures["players"] == [["Ann", 30], ["Bob", 30]]
    assert "30 of othello" in awello("games", "stats").stdout
    moves = read_json("explore")["moves"]
    assert isinstance(moves, list) and len(moves) == 1
    assert moves[0]["move"] == "f5" and moves[0]["games"] == 30
    assert moves[0]["value"] == read_json("explore")["value"] != read_json("explore", "f5")["value"] is not None
    shown = awello("explore", "f5", "--result", "white")
    assert shown.returncode == 0 and "White to move, minimax value +" in shown.stdout and "value" in shown.stdout
    assert awello("games", "files").stdout.count("a.ggf") == 1


@pytest.mark.parametrize(
    "words, message",
    [
        (["games", "show", "7"], "the archive has no game 7"),
        (["games", "show", "9" * 30], "NUMBER"),
        (["games", "export", "--out", "none.ggf"], "nothing was written"),
        (["games", "export", "--out", "a.ggf", "--source", "b.wtb", "--year", "1996"], "omit --format"),
        (["games", "import", "nowhere"], "there is no file 'nowhere'"),
        (["games", "export", "--out", "games.zip"], "has no known extension"),
        (["games", "export", "--out", "-"], "standard output has no file extension: give --format"),
        (["games", "export", "--out", "no/games.ggf"], "there is no folder 'no'; create it first"),
        (["games", "export", "--out", "games.ggf", "--source", "nothing"], "no file 'nothing' was imported"),
        (["games", "list", "--year", "19"], "is neither a year"),
        (["games", "list", "--year", "1999-1990"], "the first year is after the last"),
        (["games", "list", "--result", "won"], "'won' is not a result"),
        (["explore", "f5f5"], "f5 is not a legal move"),
        (["explore", "--archive", "mysql://a/b"], "give a file, or postgresql"),
        (["games", "list", "--archive", "mistyped.sqlite"], "archive 'mistyped.sqlite' does not exist"),
        (["games", "list", "--archive", ""], "omit --archive to use your own"),
        (["games", "list", "--archive", "."], "is a folder"),
        (["games", "import", __file__, "--archive", "no/where.sqlite"], "there is no folder 'no'"),
    ],
)
def test_errors_are_one_line(words: list[str], message: str, location: str) -> None:
    done = awello(*words)
    assert done.returncode == 2 and message in done.stderr and done.stderr.count("\n") == 1


def test_help_states_the_defaults() -> None:
    for command in ("list", "stats", "export"):
        shown = " ".join(awello("games", command, "--help").stdout.replace("│", " ").split())
        assert "board size 4, 6 or 8; default: all" in shown and "tournament or romein; default: all" in shown
    shown = " ".join(awello("explore", "--help").stdout.replace("│", " ").split())
    assert "default: detected from MOVES, otherwise othello" in shown and "board size 4, 6 or 8; default: 8" in shown


def test_remaining_seeds_do_not_count(location: str) -> None:
    game = next(each for each in map(partial(random_record, Game.TOURNAMENT), count()) if sum(each.final.score()) < 48)
    Archive(location).add(game)
    rows = read_json("games", "list")["games"]
    assert isinstance(rows, list) and rows[0]["score"] == list(game.final.score())


def test_positions_are_found_from_another_start(location: str) -> None:
    archive = Archive(location)
    archive.add(Record(Position.start(Game.ROMEIN), (5, 5)))
    found = read_json("explore", "F", "--variant", "romein")
    assert found["games"] == 1
