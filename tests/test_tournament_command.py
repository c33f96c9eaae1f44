"""`awello tournament`: its report on a narrow terminal, and Ctrl-C at any moment."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from conftest import ROOT, restore_interrupts
from waiting import wait_until

from awello import Game
from awello.arena.runner import GameResult
from awello.arena.sandbox import Usage
from awello.arena.tournament import Tournament, TournamentResult, play_tournament
from awello.cli.tournament import print_report

ENGINE = "gtp@5s,command=node /opt/my/engines/othello.js --level 5"
SPECS = (
    "random",
    "greedy",
    "uct@20ms",
    "alphabeta:mixed@6,thresholds=30-55",
    ENGINE,
    "minimax:positional@4,square_table=2",
)


# --- the report -------------------------------------------------------------------------------------------------------
def long_tournament() -> TournamentResult:
    """Return a result: in each pairing, the first bot crashes in ten rounds and the second bot in the others."""
    tournament, results = Tournament(Game.OTHELLO, SPECS, rounds=100), []
    for number in range(tournament.total):
        _, played, game = tournament.locate(number)
        loser = game if played < 10 else 1 - game
        forfeits = tuple(("crash", "it ended") if side == loser else None for side in (0, 1))
        used = Usage(30, 3.0, 1.5, 6.0, 200 << 20, 20.0)
        results.append(GameResult("othello", ("", ""), "", (2, 2), forfeits=forfeits, usage=(used, used)))  # type: ignore
    return TournamentResult(tournament, results)


@pytest.mark.parametrize("columns", [50, 60, 80])
def test_the_report_fits_a_narrow_terminal(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    print_report(long_tournament())
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    words = {word for line in lines for word in line.split()}
    assert {"1.", "points", "draws", "losses", "games", "CPUs", "forfeits", "10-0-90", "90-0-10", "20.00"} <= words
    assert "".join(ENGINE.split()) in "".join("".join(lines).split())
    assert "…" not in "".join(lines)


def test_the_report_is_wide_where_no_terminal_shows_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    print_report(long_tournament())
    assert any(ENGINE in line and "│" in line for line in capsys.readouterr().out.splitlines())


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------
MARK_VARIABLE = "AWELLO_TEST_MARK"


def find_marked(mark: str) -> list[str]:
    """List the command lines of the processes with this mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK_VARIABLE}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text().replace("\0", " "))
        except OSError:
            pass
    return found


def start_marked(mark: str, *words: str) -> "subprocess.Popen[str]":
    """Start a command with this mark in the environment of its processes."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-m", "awello", *words],
        cwd=ROOT,
        env=os.environ | {MARK_VARIABLE: mark},
        preexec_fn=restore_interrupts,
        start_new_session=True,
        stdout=pipe,
        stderr=pipe,
        text=True,
    )


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc to find processes")
@pytest.mark.parametrize(("stage", "jobs"), [("start", 1), ("game", 2)])
def test_ctrl_c_leaves_one_line_and_no_process(stage: str, jobs: int, tmp_path: Path) -> None:
    out, mark = tmp_path / "out", uuid4().hex
    specs = ("uct@20ms", "random", "greedy")
    words = ["tournament", "othello", *specs, "--rounds", "2", "--size", "4", "--jobs", str(jobs), "--out", str(out)]
    with start_marked(mark, *words) as process:
        lines = out / "games.jsonl"
        if stage == "start":
            wait_until(lambda: any("forkserver" in line for line in find_marked(mark)))
        else:
            wait_until(lambda: lines.exists() and lines.read_text().count("\n") > 1)
        for _ in range(3):  # as if Ctrl-C were pressed three times
            os.killpg(process.pid, signal.SIGINT)
        shown, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    lines_shown = [line for line in errors.splitlines() if "compiling kernels" not in line]
    if stage == "start":
        assert (shown, lines_shown, out.exists()) == ("", ["awello: interrupted"], False)
    else:
        assert lines_shown == [f"awello: interrupted; run the same command again to resume from {out}"]
    wait_until(lambda: not find_marked(mark))
    result = play_tournament(Tournament(Game.OTHELLO4, specs, rounds=2), out=out)
    assert result.rounds_played == result.rounds_total


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc to find processes")
def test_a_killed_tournament_leaves_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bots, out, mark = str(ROOT / "tests" / "hostile_bots.py"), tmp_path / "out", uuid4().hex
    specs = (f"hostile,how=changes_group,pids={tmp_path / 'pids'}", "uct@20ms")
    words = ["tournament", "othello", *specs, "--rounds", "2", "--size", "4", "--out", str(out)]
    with start_marked(mark, "--import", bots, *words) as process:
        lines = out / "games.jsonl"
        wait_until(lambda: lines.exists() and lines.read_text().count("\n") > 1)
        process.kill()
    wait_until(lambda: not find_marked(mark))
    monkeypatch.setenv("AWELLO_PLAYERS", bots)
    result = play_tournament(Tournament(Game.OTHELLO4, specs, rounds=2), out=out)
    assert result.rounds_played == result.rounds_total
