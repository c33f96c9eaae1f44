"""The command line: text for people, JSON for programs, and errors."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import awello, fresh_awello, run

from awello.cli.app import COMMANDS

BOARD_WITH_63_SQUARES = "-" * 63 + " X"


def run_json(*words: str, command: Callable[..., Any] = awello) -> Any:
    done = command(*words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_perft_prints_text_or_json() -> None:
    assert "390,216 leaves" in awello("perft", "othello", "8").stdout
    found = run_json("perft", "awale", "6", "--variant", "romein", "--json", command=fresh_awello)
    assert found.keys() == {"game", "variant", "depth", "leaves", "seconds"}
    assert (found["game"], found["depth"], found["leaves"]) == ("awale", 6, 27332)


def test_perft_from_a_position() -> None:
    words = ("perft", "awale", "3", "--position", "0-0-0-0-0-1-0-0-0-0-0-0-24-23-S", "--json")
    assert run_json(*words)["leaves"] == 1


def test_match_gives_the_same_results_twice() -> None:
    words = ("match", "othello", "random", "random", "--games", "40", "--seed", "7", "--json", "--records")
    one, two = run_json(*words), run_json(*words, command=fresh_awello)
    for timing in ("mean_ms", "max_ms"):
        assert one.pop(timing).keys() == two.pop(timing).keys() == {"first", "second"}
    assert one == two
    assert one["games"] == one["wins"] + one["draws"] + one["losses"] == len(one["records"]) == 40
    assert one["board_share"].keys() == {"first", "second", "left"}


def test_match_prints_a_summary() -> None:
    done = awello("match", "awale", "greedy", "random", "--games", "4")
    assert done.returncode == 0
    assert all(
        part in done.stdout for part in ("games won", "seeds held", "average time", "maximum time", "moves played")
    )


def test_players_and_version_and_help() -> None:
    assert {player["name"] for player in run_json("players", "--json")["players"]} >= {"random", "greedy", "human"}
    assert "a random legal move" in awello("players").stdout
    assert fresh_awello("--version").stdout.startswith("awello 0.")
    assert "perft" in fresh_awello().stdout


def test_the_list_of_commands_imports_none_of_them() -> None:
    code = (
        "import sys; sys.argv[1:] = ['--help']\ntry: import awello.cli.app as a; a.main()\nfinally: print(*sys.modules)"
    )
    shown = run("-c", code).stdout  # the help, then the names of the loaded modules
    assert "numba" not in shown.split()
    for name in COMMANDS:
        assert COMMANDS[name][0] in " ".join(shown.split())
        assert f"Usage: awello {name} " in awello(name, "--help").stdout


def test_match_uses_openings_and_clock(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text("f5f6e6f4\n")
    words = ("match", "othello", "random", "random", "--games", "2", "--json", "--records")
    found = run_json(*words, "--openings", str(file))
    assert all(record.startswith("f5f6e6f4") for record in found["records"])
    assert sum(run_json(*words, "--clock", "0.000001ms")["forfeits"].values()) == 2


def test_the_summary_has_a_column_per_player() -> None:
    row = next(
        line
        for line in awello("match", "othello", "alphabeta@2", "random", "--games", "3").stdout.splitlines()
        if "games won" in line
    )
    assert [cell.strip() for cell in row.split("│")[2:4]] == ["3", "0"]  # cells are padded to the width of the column


def test_run_uses_every_key(tmp_path: Path) -> None:
    openings, file = tmp_path / "openings.txt", tmp_path / "run.yaml"
    openings.write_text("f5f6e6f4\n")
    base = f"players: [random, random]\ngames: 2\nopenings: {openings}\n"
    results = {}
    for seed in (1, 2):
        file.write_text(base + f"seed: {seed}\n")
        results[seed] = run_json("run", str(file), "--json", "--records")["records"]
        assert all(record.startswith("f5f6e6f4") for record in results[seed])
    assert results[1] != results[2]
    file.write_text(base + "clock: 0.000001ms\n")
    assert sum(run_json("run", str(file), "--json")["forfeits"].values()) == 2
    file.write_text(base)
    shown = awello("run", str(file)).stdout
    assert shown.count("a b c d e f g h") > 100  # the board is shown at every move of both games
    assert shown.count("moves: f5f6e6f4") == 2
    settings = "square_table: 2, thresholds: [20, 50], settings: {move_ordering: false}"
    mixed = f"{{player: alphabeta, heuristic: mixed, limit: 2, {settings}}}"
    file.write_text(f"players: [{mixed}, random]\ndisplay: false\n")
    assert (
        run_json("run", str(file), "--json")["first"]
        == "alphabeta:mixed@2,square_table=2,thresholds=20-50,move_ordering=False"
    )


def test_run_plays_the_game_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("players: [greedy, {player: random}]\ngame: awale\nvariant: romein\ngames: 3\ndisplay: false\n")
    found = run_json("run", str(file), "--json")
    assert (found["first"], found["second"], found["variant"], found["games"]) == ("greedy", "random", "romein", 3)
    file.write_text("players: [greedy, random]\nsize: 4\n")
    assert "wins" in awello("run", str(file)).stdout


def test_a_person_plays_in_the_terminal() -> None:
    lines = "help\nmoves\nundo\nhint\nz9\n[/x]\na1\nf5\nundo\nd3\nresign\n"
    done = fresh_awello("play", "othello", "--seed", "1", stdin=lines)
    assert done.returncode == 0, done.stderr
    assert "resign the game" in done.stdout
    assert "There is no move to take back." in done.stdout
    assert "Black (d3 c4 f5 e6): " in done.stdout
    assert "): d3 c4 f5 e6\n" in done.stdout  # the answer to `moves`
    hint = next(line for line in done.stdout.splitlines() if "ahead at the end" in line)
    assert sorted(re.findall(r"(\w\d) =?[+-]\d", hint)) == ["c4", "d3", "e6", "f5"]
    assert "'[/x]' is not a square" in done.stdout
    assert "'z9' is not a square of this board" in done.stdout
    assert "a1 is not a legal move: Black can play d3, c4, f5 or e6" in done.stdout
    assert "White wins: Black resigned" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("moves: d3")


def test_hints_include_captures_and_mark_exact_values() -> None:
    position = "0-0-1-0-0-2-1-1-0-0-0-2-22-19-S"
    done = awello("play", "awale", "--variant", "romein", "--position", position, stdin="hint\nquit\n")
    assert done.returncode == 0, done.stderr
    assert "F =+10, C =-4 (seeds ahead at the end; = marks exact values)" in done.stdout


def test_leaving_a_game_is_not_an_error() -> None:
    for words in ("C\n", "C\nquit\n"):
        done = awello("play", "awale", stdin=words)
        assert done.returncode == 0
        assert done.stdout.strip().endswith("The game is unfinished.")


def test_user_players(tmp_path: Path) -> None:
    words = ("match", "othello", "corners", "random", "--games", "4", "--json")
    one = json.loads(fresh_awello("--import", "examples/player.py", *words).stdout)
    two = json.loads(fresh_awello("--import", "examples/player.py", *words, "--jobs", "2").stdout)
    assert one["wins"] == two["wins"]
    assert one["first"] == "corners"
    assert "'missing.py' is not a Python file" in fresh_awello(*words, AWELLO_PLAYERS="missing.py").stderr


def test_an_error_is_one_line_and_an_exit_status() -> None:
    done = fresh_awello("match", "chess", "random", "random")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "awello: unknown game 'chess': choose othello or awale\n"


INVALID_COMMANDS = [
    (("match", "othello", "random", "missing"), "unknown player 'missing'"),
    (("match", "othello", "random", "random:mixed"), "'random' has no setting 'heuristic'"),
    (("match", "chess", "random", "random"), "unknown game 'chess': choose othello or awale"),
    (("match", "othello", "random", "random", "--openings", "missing.txt"), "missing.txt"),
    (("match", "othello", "random", "random", "--games", "0"), "--games 0 is too small: give at least 1\n"),
    (("serve", "--port", "99999"), "--port 99999 is too large: give at most 65535\n"),
    (("match", "othello", "random", "random", "--seed", "x"), "--seed 'x' is not a whole number: give a number"),
    (("duel", "othello", "random", "random", "--alpha", "x"), "--alpha 'x' is not a number: give a number"),
    (("engine", "foo"), "PROTOCOL 'foo' is unknown: choose nboard, gtp or uci\n"),
    (("match", "othello", "random", "champion@2,threads=x"), "'champion': threads 'x' is not a whole number: give"),
    (("match", "othello", "random", "champion@2,hash=0"), "player 'champion': hash 0 is too small: give at least 1\n"),
    (("match", "othello", "random", "random", "--clock", "soon"), "'soon' is not a duration"),
    (("perft", "othello", "3", "--position", BOARD_WITH_63_SQUARES), "the board has 63 squares"),
    (("perft", "othello", "three"), "DEPTH 'three' is not a whole number: give a number such as 7\n"),
    (("perft", "othello", "3", "--size", "5"), "size 5: choose 4, 6 or 8"),
    (("perft", "awale", "3", "--variant", "ouri"), "unknown variant 'ouri'"),
    (("match", "othello", "human", "random"), "awello play"),
    (("match", "othello", "minimax@100ms", "random"), "needs a depth"),
    (("match", "othello", "random", "random", "--records"), "--json"),
    (("perft", "awale", "3", "--position", BOARD_WITH_63_SQUARES), "the diagram has"),
    (("run", "missing.yaml"), "missing.yaml"),
    (("serve", "--no-archive", "--archive", "a.sqlite"), "--archive and --no-archive are mutually exclusive: omit one"),
    (("match", "othello", "alphabeta@2.5", "random"), "player alphabeta@2.5 needs a depth from 1 to 64, such as"),
    (("match", "othello", "random", "champion@2,weights=no"), "weights file 'no' does not exist: check the path, or"),
    (("match", "awale", "random", "champion@2,weights=no"), "weights file 'no' does not exist: check the path, or"),
    (("probcut", "--out", "README.md"), "README.md: this is a file; give a folder"),
    (
        ("tournament", "othello", "random", "greedy", "--max-memory", "-1"),
        "--max-memory -1 is too small: give at least 1",
    ),
    (("nonsense",), "awello: there is no command nonsense; see 'awello --help'\n"),
    (("matc",), "awello: there is no command matc (did you mean match?); see 'awello --help'\n"),
    (("perft",), "awello: GAME is missing; see 'awello perft --help'\n"),
    (("perft", "othello", "3", "--foo"), "awello: there is no option --foo; see 'awello perft --help'\n"),
    (("perft", "othello", "3", "--jsn"), "awello: there is no option --jsn (did you mean --json?); see"),
    (("perft", "othello", "3", "x", "y"), "awello: too many arguments: remove x y; see 'awello perft --help'\n"),
    (("perft", "othello", "3", "--size"), "awello: --size needs a value: write it after the option\n"),
    (("perft", "othello", "3", "--json=x"), "awello: --json takes no value: write only the option\n"),
]


def test_a_server_that_cannot_start_prints_the_reason(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database")
    databases = {
        str(tmp_path / "text"): "file is not a database",
        str(tmp_path): "is a folder",
        str(tmp_path / "none" / "club.sqlite"): "create it first",
    }
    for database, part in databases.items():
        done = awello("serve", "--no-browser", "--port", "0", "--club", database)
        assert (done.returncode, done.stdout) == (2, "")
        assert part in done.stderr and done.stderr.count("\n") == 1
    for name in ("https://club.example.org", "club.example.org:8443"):
        assert "is not a host name" in awello("serve", "--hostname", name).stderr


@pytest.mark.parametrize(("words", "part"), INVALID_COMMANDS, ids=[part for _, part in INVALID_COMMANDS])
def test_invalid_input_is_a_one_line_error(words: tuple[str, ...], part: str) -> None:
    done = awello(*words)
    errors = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(errors) == 1
    assert part in f"{errors[0]}\n"


@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("gmes: 3", "unknown key 'gmes'"),
        (
            "players: [random, {player: random, dept: 2}]",
            "unknown key 'players.1.dept'; use only the keys player, heuristic",
        ),
        ("", "run.yaml is empty: write lines such as 'game: othello'"),
        ("players: [random]", "players has too few values (1): give at least 2"),
        ("players: [random, missing]", "unknown player 'missing'"),
        ("players: [random, {player: random, limit: 2}]", "has no setting 'limit'"),
        ("games: many", "games 'many' is not a whole number: give a number such as 7"),
        ("games: [", "line"),
        ("- random", "keys and values"),
        ("size: 7", "run.yaml: Othello has no board of size 7"),
        ("1: 2", "1"),
        ("game: " + "[" * 5000, "not a configuration"),
        ("seed: " + "9" * 5000, "run.yaml"),
        ("players: [human, random]\ndisplay: false", "awello play"),
    ],
)
def test_an_invalid_configuration_is_a_one_line_error(content: str, part: str, tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text(content)
    done = awello("run", str(file))
    assert done.returncode == 2
    assert done.stdout == ""
    assert part in done.stderr
    assert "Traceback" not in done.stderr
