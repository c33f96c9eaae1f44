"""Other programs as players: a real process that speaks GTP, and all that can go wrong with one."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, listen

from awello import PASS, Game, Match, Position, make_player, parse_position, parse_transcript, play_match
from awello.arena.openings import random_opening
from awello.errors import AwelloError, IllegalMoveError, SpecError
from awello.limits import Clock
from awello.players.gtp import moves_between

PROGRAM = ROOT / "tests" / "gtp_program.py"
RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")


def spec(log: Path, wrong: str = "") -> str:
    return f"gtp,command={sys.executable} {PROGRAM} {log} {wrong}".strip()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def heard(log: Path) -> list[str]:
    return log.read_text().splitlines()


def gone(process: int) -> bool:
    """Whether nothing is left of a process, or soon will be."""
    for _ in range(100):
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.parametrize("habit", ["", "is old", "knows no pass", "greets"])
def test_it_plays_whole_games_with_openings_and_passes(log: Path, habit: str) -> None:
    openings = tuple(random_opening(Game.OTHELLO, 6, str(number)) for number in range(3))
    result = play_match(Match(Game.OTHELLO, spec(log, habit), "random", 6, seed=4, openings=openings))
    assert sum(PASS in record.moves for record in result.records) > 0
    told = heard(log)
    assert told[:3] == ["set_game Othello", "boardsize 8", "clear_board"]
    assert told.count("set_game Othello") == 1, "the program is started once"
    assert told.count("clear_board") == 7, "a match begins once to see whether all is well"
    for number, record in enumerate(result.records):
        for ply, position in enumerate(list(record.positions())[:-1]):
            if ply >= 6 and ply % 2 == number % 2 and record.moves[ply] != PASS:
                assert record.moves[ply] == position.legal_moves()[0], "our board is its board"


def test_it_is_told_the_time_that_is_left(log: Path) -> None:
    player = make_player(spec(log))
    player.begin(Game.OTHELLO, 1)
    player.choose(Position.start(), Clock(90.5))
    assert heard(log)[-2:] == ["time_left black 90 0", "genmove black"]


def test_moves_may_be_taken_back(log: Path) -> None:
    player = make_player(spec(log))
    player.begin(Game.OTHELLO, 1)
    first = player.choose(parse_transcript("f5").final, Clock())
    player.choose(parse_transcript("f5d6c3").final, Clock())
    assert heard(log)[-1] == "genmove white"
    assert player.choose(parse_transcript("f5").final, Clock()) == first
    assert heard(log)[-3:] == ["clear_board", "play black f5", "genmove white"]


@pytest.mark.parametrize(
    ("wrong", "kind", "part"),
    [
        ("cheats", IllegalMoveError, "a1 is no legal move"),
        ("passes", IllegalMoveError, "pass is no legal move"),
        ("babbles", IllegalMoveError, "what a lovely day"),
        ("dies", AwelloError, "has ended with exit status 3"),
        ("is killed", AwelloError, "has ended by SIGKILL"),
        ("refuses", AwelloError, "refuses 'play black .*': illegal move"),
        ("plays draughts", AwelloError, "refuses 'boardsize 8': unacceptable size"),
    ],
)
def test_misbehaviour_is_told_in_a_line(log: Path, wrong: str, kind: type[AwelloError], part: str) -> None:
    with pytest.raises(kind, match=part) as error:
        play_match(Match(Game.OTHELLO, "greedy", spec(log, wrong), seed=1))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("wrong", "limit"), [("is silent", "READY"), ("sleeps", "THINKING"), ("floods", "THINKING")])
def test_an_answer_that_never_comes(log: Path, wrong: str, limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"awello.players.gtp.{limit}", 2.0)
    player: Any = make_player(spec(log, wrong))
    with pytest.raises(AwelloError, match="gives no answer: does it speak GTP"):
        player.begin(Game.OTHELLO, 1)
        player.choose(Position.start(), Clock())
    assert not player.program.alive


def test_it_may_resign(log: Path) -> None:
    result = play_match(Match(Game.OTHELLO, spec(log, "resigns"), "random"))
    assert (result.losses, result.forfeits) == (1, (1, 0))


def test_the_next_game_has_another_program(log: Path) -> None:
    player: Any = make_player(spec(log, "dies"))
    for _ in range(2):
        player.begin(Game.OTHELLO, 1)
        with pytest.raises(AwelloError, match="exit status 3"):
            player.choose(Position.start(), Clock())
    assert heard(log).count("set_game Othello") == 2


@pytest.mark.parametrize("habit", ["", "stays"])
def test_nothing_is_left_of_it(log: Path, habit: str) -> None:
    player: Any = make_player(spec(log, habit))
    player.begin(Game.OTHELLO, 1)
    process = player.program._process.pid
    del player
    gc.collect()
    assert gone(process)


def test_what_it_has_started_ends_with_it(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("awello.players.gtp.READY", 2.0)
    with pytest.raises(AwelloError, match="gives no answer"):
        make_player(spec(log, "has a child")).begin(Game.OTHELLO, 1)
    assert gone(int(log.read_text()))


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="Windows")
def test_ctrl_c_ends_it_too(log: Path) -> None:
    words = [sys.executable, "-m", "awello", "match", "othello", spec(log, "sleeps"), "random"]
    ours = subprocess.Popen(words, cwd=ROOT, preexec_fn=listen, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    while not log.exists() or "genmove black" not in heard(log):
        time.sleep(0.05)
    ours.send_signal(signal.SIGINT)
    _, errors = ours.communicate(timeout=30)
    assert (ours.returncode, b"interrupted" in errors) == (130, True)
    assert gone(int(log.with_suffix(".process").read_text()))


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("gtp", "needs a program"),
        ("gtp,command=no-such-program -x", "cannot start 'no-such-program -x': No such file"),
        ("gtp,command=play 'it", "is no command: No closing quotation"),
    ],
)
def test_programs_that_cannot_be_started(command: str, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        make_player(command).begin(Game.OTHELLO, 1)


def test_what_it_does_not_play(log: Path) -> None:
    with pytest.raises(SpecError, match="plays Othello on 8x8 alone"):
        make_player(spec(log)).begin(Game.OTHELLO6, 1)
    player = make_player(spec(log))
    player.begin(Game.OTHELLO, 1)
    with pytest.raises(SpecError, match="plays games from the start"):
        player.choose(parse_position("O" * 4 + "X" * 4 + "-" * 56 + " X"), Clock())


def test_moves_are_found_between_positions() -> None:
    for seed in range(20):
        moves = random_opening(Game.OTHELLO, 10, str(seed))
        positions = [Position.start()]
        for move in moves:
            positions.append(positions[-1].play(move))
        found = moves_between(positions[0], positions[-1])
        assert found is not None
        position = Position.start()
        for move in found:
            position = position.play(move)
        assert position == positions[-1]
        assert moves_between(positions[7], positions[8]) == [moves[7]]
        assert moves_between(positions[-1], positions[0]) is None


@pytest.mark.skipif(RHINO is None, reason="GRhino is not installed")
def test_grhino() -> None:
    match = Match(Game.OTHELLO, f"gtp,command={RHINO} -l 1", "random", 8, seed=4)
    result = play_match(match)
    assert result.wins >= 7
    assert any(PASS in record.moves for record in result.records)
