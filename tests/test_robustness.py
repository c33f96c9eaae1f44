"""Robust commands: interrupts, closed streams, narrow terminals, invalid values, unusable folders."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from conftest import ROOT, awello, fresh_awello, run

import awello as package
from awello import AwelloError, Game, Match, Position, Record, folders
from awello.archive.archive import Archive
from awello.arena.duel import Duel
from awello.arena.tournament import Tournament
from awello.cli import app, perft
from awello.cli.output import print_json
from awello.cli.streams import to_ascii
from awello.engine import tablebase
from awello.engine.engine import Engine
from awello.lab.review_charts import draw_chart
from awello.limits import Limit, parse_limit
from awello.review.review import MoveReview
from awello.web import http_server

AS_MAIN = "import runpy; runpy.run_module('awello', run_name='__main__')"


# ---- interrupts and streams ------------------------------------------------------------------------------------------
def test_an_interrupt_while_modules_load_is_one_line() -> None:
    interrupt = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
"""
    done = run("-c", f"{interrupt}\n{AS_MAIN}")
    assert (done.returncode in (130, -2), done.stderr) == (True, "awello: interrupted\n")


def test_the_package_itself_loads_nothing() -> None:
    """If `import awello` loaded other modules, Ctrl-C could interrupt it before an error handler is active."""
    loaded = run("-c", "import sys; before = set(sys.modules); import awello; print(set(sys.modules) - before)")
    assert loaded.stdout.strip() == "{'awello'}"


def test_closed_streams_are_no_error() -> None:
    closed = "import sys; sys.stdin = sys.stdout = None; sys.argv = ['awello', 'play', 'othello']"
    done = run("-c", f"{closed}\n{AS_MAIN}")
    assert (done.returncode, done.stderr) == (0, "")


def write_to(output: IO[str], *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose standard output is an open file, buffered as usual."""
    command, environment = [sys.executable, "-m", "awello", *words], os.environ | {"PYTHONUNBUFFERED": ""}
    return subprocess.run(
        command, stdout=output, stderr=subprocess.PIPE, cwd=ROOT, env=environment, text=True, timeout=120
    )


def test_a_closed_pipe_is_not_reported() -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as output:
        done = write_to(output, "--version")
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = write_to(full, "--version")
    assert (done.returncode, done.stderr) == (2, "awello: output: No space left on device\n")


def awello_in(encoding: str, monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """Return the output of a command on a terminal with a given encoding."""
    output = io.TextIOWrapper(io.BytesIO(), encoding, write_through=True)
    monkeypatch.setattr(sys, "stdin", io.StringIO("moves\nquit\n"))
    monkeypatch.setattr(sys, "stdout", output)
    monkeypatch.setattr(sys, "argv", ["awello", *words])
    with pytest.raises(SystemExit) as left:
        app.main()
    assert left.value.code == 0
    assert isinstance(output.buffer, io.BytesIO)
    return output.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
@pytest.mark.parametrize(
    "words",
    [
        ("--help",),
        ("tablebase", "--help"),
        ("tree", "othello", "--search", "alphabeta@2", "--windows"),
        ("play", "awale"),
        ("analyse", "f5d6c3d3", "--limit", "2"),
        ("players",),
    ],
    ids=" ".join,
)
def test_output_fits_any_encoding(words: tuple[str, ...], encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = awello_in(encoding, monkeypatch, *words)
    assert len(shown.splitlines()) > 3


def test_characters_are_replaced_by_similar_ones() -> None:
    assert to_ascii("├─ ≥5 │ Awalé …█ 犬") == "+- >=5 | Awale ...# ?"


def test_json_keeps_every_character_in_any_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", output)
    print_json({"name": "Awalé 犬"})
    assert isinstance(output.buffer, io.BytesIO)
    assert json.loads(output.buffer.getvalue()) == {"name": "Awalé 犬"}


# ---- perft -----------------------------------------------------------------------------------------------------------
def test_perft_shows_each_depth() -> None:
    lines = awello("perft", "othello", "5").stdout.splitlines()
    assert [line.split(" leaves")[0] for line in lines] == [
        f"othello perft {depth}: {leaves}" for depth, leaves in enumerate(("4", "12", "56", "244", "1,396"), 1)
    ]


def test_an_interrupted_perft_keeps_its_results(monkeypatch: pytest.MonkeyPatch) -> None:
    count = perft.count_interruptibly

    def interrupt_at_three(start: Position, depth: int) -> tuple[int, float]:
        if depth == 3:
            raise KeyboardInterrupt
        return count(start, depth)

    monkeypatch.setattr(perft, "count_interruptibly", interrupt_at_three)
    done = awello("perft", "othello", "20")
    assert (done.returncode, len(done.stdout.splitlines()), done.stderr) == (130, 2, "awello: interrupted\n")
    found = json.loads(awello("perft", "othello", "20", "--json").stdout)
    assert (found["depth"], found["leaves"]) == (2, 12)


# ---- invalid values --------------------------------------------------------------------------------------------------
BOT_COMMAND = ("bot", "random", "--token", "t", "--server")
INVALID_COMMANDS = [
    (("perft", "othello", "1000"), "DEPTH 1000 is too large: give at most 120"),
    ((*BOT_COMMAND, "banana"), "--server 'banana' is not a club address: write https://HOST or http://HOST:PORT"),
    ((*BOT_COMMAND, "ftp://127.0.0.1"), "is not a club address"),
    ((*BOT_COMMAND, "http://"), "is not a club address"),
    ((*BOT_COMMAND, "http://127.0.0.1:http"), "is not a club address"),
    ((*BOT_COMMAND, "http://a..b"), "--server 'http://a..b' is not a club address"),
    ((*BOT_COMMAND, "http://127.0.0.1:1", "--token", "a\nb"), "the token is not valid"),
    (("serve", "--host", "é" * 70, "--port", "0"), "not a valid host name; choose another --host"),
    ((*BOT_COMMAND, "http://127.0.0.1:1", "--seek", "othello 0s"), "the clock '0s' has no main time"),
    (("play", "othello", "--clock", "0s"), "the clock '0s' has no main time"),
    (("match", "othello", "random", "random", "--clock", "0s"), "the clock '0s' has no main time"),
    (("analyse", "f5d6c3", "--limit", "@soon"), "'soon' is not a limit: write 6 (plies), 100ms"),
    (("--import", "missing.py", "players"), "--import missing.py is not a file"),
    (
        ("train", "perceptron", "--game", "othello", "--duration", "1s", "--out", "tests"),
        "cannot write 'tests': it is a folder",
    ),
    (("train", "awale-network", "--out", "none/awale_network.npz"), "there is no folder 'none'; create it first"),
]


@pytest.mark.parametrize(("words", "part"), INVALID_COMMANDS, ids=[" ".join(words) for words, _ in INVALID_COMMANDS])
def test_an_invalid_value_is_a_one_line_error(words: tuple[str, ...], part: str) -> None:
    done = fresh_awello(*words) if "--seek" in words else awello(*words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert part in done.stderr


def test_a_limit_may_begin_with_an_at_sign() -> None:
    assert parse_limit("@6") == parse_limit("6") == Limit(depth=6)
    assert awello("analyse", "f5d6c3", "--limit", "@2").returncode == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("import sys\n\n1 / 0\n", "3: ZeroDivisionError: division by zero"),
        ("import sys\ndef broken(:\n", "2: SyntaxError: invalid syntax"),
        ("def one():\n    return none\none()\n", "2: NameError: name 'none' is not defined"),
        ("from awello import register\nregister('Bad name', '')(int)\n", "2: SpecError: player 'Bad name' must be"),
    ],
)
def test_an_error_in_a_players_file_names_its_line(content: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(content)
    done = fresh_awello("--import", str(file), "match", "othello", "mine", "random")
    assert done.returncode == 2
    assert done.stderr.startswith(f"awello: {file}:{message}") and done.stderr.count("\n") == 1


# ---- the Python API --------------------------------------------------------------------------------------------------
def test_a_game_may_be_given_by_its_name() -> None:
    assert Position.start("othello6") == Position.start(Game.OTHELLO6)
    assert Game("awale") is Game("Abapa") is Game.ABAPA  # type: ignore[arg-type]
    with Engine("othello4", heuristic="mobility") as engine:
        assert engine.game is Game.OTHELLO4
    assert package.play_match(Match("othello4", "random", "random")).match.game is Game.OTHELLO4  # type: ignore[arg-type]
    assert Duel("romein", "random", "greedy").game is Game.ROMEIN  # type: ignore[arg-type]
    assert Tournament("othello", ("random", "greedy")).game is Game.OTHELLO  # type: ignore[arg-type]


def test_an_unknown_name_is_refused() -> None:
    for make in (Engine, Position.start, lambda game: Match(game, "random", "random")):
        with pytest.raises(AwelloError, match="unknown game 'chess': choose othello"):
            make("chess")
    with pytest.raises(AwelloError, match="'h1' is not a heuristic for othello"):
        Engine(heuristic="h1")


# ---- folders ---------------------------------------------------------------------------------------------------------
@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Use a private folder for temporary files; return it."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv(folders.TEMPORARY_CACHE_VARIABLE, "")
    return tmp_path


def test_without_a_writable_cache_a_private_folder_is_used(temporary: Path) -> None:
    (temporary / "file").touch()
    found = folders.writable_cache_folder(temporary / "file", "kernels")
    assert found == temporary / f"awello-{os.getuid()}" / "kernels"
    assert found.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("trap", ["open to all", "link", "file", "of another"])
def test_a_folder_that_others_could_fill_is_not_used(
    trap: str, temporary: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted = temporary / f"awello-{os.getuid()}"
    if trap == "link":
        (temporary / "theirs").mkdir(0o700)
        planted.symlink_to(temporary / "theirs")
    elif trap == "file":
        planted.touch(0o700)
    else:
        planted.mkdir()
        planted.chmod(0o777 if trap == "open to all" else 0o700)
    if trap == "of another":
        if os.getuid() != 0:
            pytest.skip("only root can give a folder to another user")
        os.chown(planted, 12345, 12345)
    (temporary / "nowhere").touch()
    found = folders.writable_cache_folder(temporary / "nowhere", "kernels")
    assert found.parent.resolve() not in (planted, planted.resolve())
    assert found.parent.stat().st_mode & 0o777 == 0o700
    assert os.environ[folders.TEMPORARY_CACHE_VARIABLE] == str(found.parent)  # worker processes use the same folder
    assert "is not a private, writable folder of this user" in capsys.readouterr().err


def test_tablebases_work_without_a_cache(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (temporary / "file").touch()
    monkeypatch.setattr(tablebase, "user_cache_folder", lambda: temporary / "file")
    assert tablebase.load_or_build_tablebase(Game.ABAPA).seeds == tablebase.DEFAULT_SEEDS
    assert tablebase.find_tablebase(Game.ABAPA) is not None


def test_a_server_refuses_an_archive_that_cannot_be_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "serve_app", lambda *given: None)
    serve = ("serve", "--no-browser", "--port", "0")
    done = awello(*serve, "--archive", str(tmp_path / "none" / "games.sqlite"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "create it first" in done.stderr
    (tmp_path / "file").touch()
    monkeypatch.setenv("AWELLO_DATA", str(tmp_path / "file"))
    done = awello(*serve)  # uses the default archive
    assert done.returncode == 0
    assert "games are not saved" in done.stderr


def test_a_server_refuses_an_invalid_niceness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "serve_app", lambda *given: None)
    for text in ("-1", "20", "low"):
        monkeypatch.setenv("AWELLO_NICE", text)
        done = awello("serve", "--no-browser", "--port", "0")
        assert (done.returncode, done.stderr) == (
            2,
            f"awello: AWELLO_NICE='{text}' is not a niceness: set a number from 0 to 19, or unset it\n",
        )


def test_a_server_refuses_damaged_tablebases(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_server, "serve_app", lambda *given: None)
    monkeypatch.setattr(tablebase, "user_cache_folder", lambda: temporary)
    (temporary / "tablebases").mkdir()
    (temporary / "tablebases" / "abapa.table").write_text("damaged")
    done = awello("serve", "--no-browser", "--port", "0", "--no-archive")
    assert done.returncode == 2
    assert "is not a valid tablebase for abapa: remove it" in done.stderr


# ---- other systems ---------------------------------------------------------------------------------------------------
WINDOWS = """
import os, signal, sys
for name in ("resource", "fcntl", "pwd", "grp", "termios", "readline"):
    sys.modules[name] = None
for name in ("getuid", "geteuid", "nice", "killpg", "fork", "sched_getaffinity"):
    delattr(os, name)
for name in ("SIGKILL", "SIGHUP", "SIGALRM", "pthread_sigmask"):
    delattr(signal, name)
import awello.web.app, awello.web.metrics, awello.web.http_server, awello.arena.sandbox, awello.protocols.uci
from awello.cli.app import main
print(awello.web.metrics._peak_memory_bytes())
sys.argv = ["awello", "play", "othello", "--first", "random", "--second", "random"]
main()
"""


def test_all_modules_load_without_unix_functions() -> None:
    done = run("-c", WINDOWS)
    assert (done.returncode, done.stderr) == (0, "")


# ---- narrow terminals ------------------------------------------------------------------------------------------------
GAME = "f5d6c3d3c4f4f6f3e6e7d7c6"


@pytest.mark.parametrize(("width", "left_out"), [(60, ()), (40, ("best line", "side"))])
def test_a_review_fits_a_narrow_terminal(
    width: int, left_out: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    lines = awello("analyse", GAME, "--limit", "2").stdout.splitlines()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    moves = {row[0]: row for row in rows if row[0]}  # a row may continue on the next line
    assert list(moves) == [str(ply) for ply in range(1, 13)]
    assert [row[1 if left_out else 2].split()[0] for row in moves.values()] == [
        GAME[at : at + 2] for at in range(0, len(GAME), 2)
    ]
    assert not any("…" in cell for row in moves.values() for cell in row[:-1])
    assert any("narrow" in line for line in lines) == bool(left_out)
    assert all(len(line) <= width for line in lines if line[4:6] in (" ┤", " ┼") or line[:1] in "┏┃┡│└")


def test_a_long_game_is_charted_in_parts() -> None:
    plies = [MoveReview(ply, Position.start(), 19, 1.0, 1.0, 19, 0.0, False, ()) for ply in range(1, 91)]
    rows = draw_chart(plies, 90, 60).plain.splitlines()
    assert max(map(len, rows[1:])) <= 60
    assert [row.split()[0] for row in rows if row.split()[0].isdecimal() and "┼" not in row] == ["1", "55"]


def test_a_table_of_games_fits_a_narrow_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("AWELLO_ARCHIVE", str(tmp_path / "games.sqlite"))
    tags = {"Black": "Tamenori Hideshi", "White": "Brightwell Graham", "Date": "1999.10.03", "Event": "World Final"}
    Archive().add(Record(Position.start(), (), tags=tags))
    shown = awello("games", "list").stdout
    assert "…" not in shown and "1999-10-03" in shown
    assert "omitted on this narrow terminal: opening, event" in shown
