"""External engines as players over GTP, NBoard's protocol and UCI, and their failures."""

import gc
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, restore_interrupts
from waiting import TIMEOUT, wait_until

from awello import PASS, Game, Match, Position, make_player, parse_position, parse_transcript, play_match
from awello.arena.duel import Duel, play_duel
from awello.arena.match import MatchResult
from awello.arena.openings import draw_random_opening
from awello.errors import SpecError
from awello.formats.ggf import format_ggf
from awello.limits import Clock
from awello.players.player import Choice, Forfeit
from awello.players.simple import RandomPlayer
from awello.protocols.line_process import LineProcess
from awello.protocols.nboard import GGF_TAGS
from awello.record import Record

FAKE_ENGINE = ROOT / "tests" / "fake_engine.py"
RHINO = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games")
GAMES = {"gtp": Game.OTHELLO, "nboard": Game.OTHELLO, "uci": Game.ABAPA}


def make_spec(log: Path, wrong: str = "", name: str = "gtp", more: str = "") -> str:
    return f"{name},command={sys.executable} {FAKE_ENGINE} {name.split('@')[0]} {log} {wrong}".strip() + more


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def read_log(log: Path) -> list[str]:
    return log.read_text().splitlines()


def processes(log: Path) -> list[str]:
    return log.with_suffix(".processes").read_text().split()


def has_ended(process: int) -> bool:
    """Return whether a process has ended."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    return False


def choose_move(player: Any, record: Record, clock: Clock | None = None) -> Choice:
    player.follow(record)
    choice: Choice = player.choose(record.final, clock or Clock())
    return choice


# ---- games ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "habit"),
    [("gtp", "is old"), ("gtp", "refuses passes"), ("nboard", "is Edax"), ("nboard", "greets"), ("uci", "greets")],
)
def test_it_plays_whole_games_with_openings_and_passes(log: Path, name: str, habit: str) -> None:
    game = GAMES[name]
    openings = tuple(draw_random_opening(game, 16, str(number)) for number in range(2))
    result = play_match(Match(game, make_spec(log, habit, name), "random", 4, seed=4, openings=openings))
    assert result.forfeits == (0, 0)
    assert game == Game.ABAPA or sum(PASS in record.moves for record in result.records) > 0
    assert len(processes(log)) == 1, "the engine is started once"
    begun = {"gtp": "clear_board", "nboard": "ping 1", "uci": "ucinewgame"}[name]
    assert read_log(log).count(begun) == 4
    for number, record in enumerate(result.records):
        for ply, position in enumerate(list(record.positions())[:-1]):
            if ply >= 16 and ply % 2 == number % 2 and record.moves[ply] != PASS:
                assert record.moves[ply] == position.legal_moves()[0], "both boards agree"


def test_lines_sent_by_each_protocol(log: Path) -> None:
    expected = {
        "gtp@5s": [
            *("set_game Othello", "boardsize 8", "clear_board", "time_settings 0 5 1"),
            *("play black f5", "time_left white 5 1", "genmove white"),
        ],
        "nboard": [
            "nboard 2",
            "set depth 12",
            "ping 1",
            "set game " + format_ggf(replace(parse_transcript("f5"), tags=GGF_TAGS)),
            "go",
        ],
        "uci@5s": ["uci", "ucinewgame", "isready", "position startpos moves F", "go movetime 5000"],
        "uci@7": ["uci", "ucinewgame", "isready", "position startpos moves F", "go depth 7"],
        "uci": ["uci", "ucinewgame", "isready", "position startpos moves F", "go movetime 1000"],
    }
    for number, (name, lines) in enumerate(expected.items()):
        game, file = GAMES[name.split("@")[0]], log.with_name(f"log{number}")
        player = make_player(make_spec(file, "", name))
        player.begin(game, 1)
        choose_move(player, parse_transcript("f5" if game == Game.OTHELLO else "F", Position.start(game)))
        assert read_log(file) == lines


def test_the_time_left_is_sent(log: Path) -> None:
    player = make_player(make_spec(log))
    player.begin(Game.OTHELLO, 1)
    player.choose(Position.start(), Clock(90.5))
    assert read_log(log)[-2:] == ["time_left black 90 0", "genmove black"]
    limited = make_player(make_spec(log, "", "gtp@5s"))
    limited.begin(Game.OTHELLO, 1)
    limited.choose(Position.start(), Clock(3.0))
    assert read_log(log)[-2] == "time_left black 3 0"


def test_uci_gets_a_share_of_the_clock(log: Path) -> None:
    player = make_player(make_spec(log, "", "uci"))
    player.begin(Game.ABAPA, 1)
    player.choose(Position.start(Game.ABAPA), Clock(60.0))
    sent = re.fullmatch(r"go movetime (\d+)", read_log(log)[-1])
    assert sent and 100 < int(sent[1]) < 10_000


def test_moves_may_be_taken_back(log: Path) -> None:
    player = make_player(make_spec(log))
    player.begin(Game.OTHELLO, 1)
    first = choose_move(player, parse_transcript("f5"))
    choose_move(player, parse_transcript("f5d6c3"))
    assert read_log(log)[-1] == "genmove white"
    assert choose_move(player, parse_transcript("f5")) == first
    assert read_log(log)[-3:] == ["clear_board", "play black f5", "genmove white"]


def test_positions_without_their_moves(log: Path) -> None:
    board = parse_position("O" * 4 + "X" * 4 + "-" * 56 + " X")
    player = make_player(make_spec(log))
    player.begin(Game.OTHELLO, 1)
    with pytest.raises(SpecError, match="plays only from the start"):
        player.choose(board, Clock())
    player = make_player(make_spec(log.with_name("other"), "", "uci"))
    player.begin(Game.ABAPA, 1)
    player.choose(parse_position("4-4-4-4-4-4-4-4-4-4-4-4-0-0-N"), Clock())
    assert "position fen 4-4-4-4-4-4-4-4-4-4-4-4-0-0-N" in read_log(log.with_name("other"))


def test_all_lines_can_be_logged(log: Path) -> None:
    file = log.with_name("talk.txt")
    for _ in range(2):
        player = make_player(make_spec(log, "", "uci", f",log={file}"))
        player.begin(Game.ABAPA, 1)
        player.choose(Position.start(Game.ABAPA), Clock())
    lines = read_log(file)
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} [<>]", line) for line in lines)
    logged = [line[24:] for line in lines]
    assert logged[:2] == ["> uci", "< id name first"] and logged.count("< bestmove A ponder a") == 2
    with pytest.raises(SpecError, match="cannot write to log="):
        make_player(make_spec(log, "", "uci", f",log={log.parent}")).begin(Game.ABAPA, 1)


# ---- failures -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("name", "wrong", "reason"),
    [
        ("gtp", "cheats", "illegal: .* answered 'A1': a1 is not a legal move"),
        ("gtp", "passes", "illegal: .*pass is not a legal move"),
        ("gtp", "babbles", "illegal: .*what a lovely day"),
        ("gtp", "dies", "crash: .* ended with exit status 3"),
        ("gtp", "is killed", "crash: .* ended by SIGKILL"),
        ("gtp", "refuses", "crash: .* refused 'play (black|white) .*': illegal move"),
        ("gtp", "resigns", "resigned"),
        ("nboard", "is killed", "crash: .* ended by SIGKILL"),
        ("nboard", "babbles", "illegal: .* answered 'what'"),
        ("uci", "dies", "crash: .* ended with exit status 3"),
        ("uci", "cheats", "illegal: .* answered 'A1'"),
    ],
)
def test_a_failure_loses_only_that_game(log: Path, name: str, wrong: str, reason: str) -> None:
    result = play_match(Match(GAMES[name], "greedy", make_spec(log, wrong, name), 3, seed=1))
    assert (result.wins, result.forfeits) == (3, (0, 3))
    for record in result.records:
        assert re.match(reason, record.reason) and "\n" not in record.reason


def completed_games(result: MatchResult) -> list[bool]:
    return [record.loser is None for record in result.records]


@pytest.mark.parametrize("name", ["gtp", "nboard", "uci"])
def test_the_next_game_starts_a_new_process(log: Path, name: str) -> None:
    result = play_match(Match(GAMES[name], make_spec(log, "dies once", name), "random", 3, seed=1))
    assert completed_games(result) == [False, True, True]
    assert len(processes(log)) == 2


def test_an_engine_killed_during_a_game_loses_only_that_game(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    games = []
    begin, choose = RandomPlayer.begin, RandomPlayer.choose

    def count(player: RandomPlayer, game: Game, seed: int) -> None:
        games.append(game)
        begin(player, game, seed)

    def kill(player: RandomPlayer, position: Position, clock: Clock) -> Choice:
        if len(games) == 2 and sum(position.counts()) > 20:
            os.kill(int(processes(log)[0]), signal.SIGKILL)
        return choose(player, position, clock)

    monkeypatch.setattr(RandomPlayer, "begin", count)
    monkeypatch.setattr(RandomPlayer, "choose", kill)
    result = play_match(Match(Game.OTHELLO, "random", make_spec(log), 3, seed=1))
    assert completed_games(result) == [True, False, True]
    assert result.records[1].reason.endswith("ended by SIGKILL: run it in a shell to see why")
    assert len(result.records[1].moves) > 10
    assert len(processes(log)) == 2


def test_a_duel_continues_after_a_failure(log: Path) -> None:
    result = play_duel(Duel(Game.OTHELLO, "random", make_spec(log, "dies once"), 4, fixed=True))
    assert [bool(game.reason) for game in result.results] == [True, False, False, False]
    assert result.points[0] == 1 and result._lead(0) == 64


@pytest.mark.parametrize(("name", "wrong"), [("gtp", "sleeps"), ("nboard", "floods"), ("uci", "drones")])
def test_an_engine_that_exceeds_its_clock_loses(log: Path, name: str, wrong: str) -> None:
    match = Match(GAMES[name], make_spec(log, wrong, f"{name}@100ms"), "random", 2)
    result = play_match(match)
    assert [record.reason for record in result.records] == ["ran out of time"] * 2
    assert result.losses == 2
    assert len(processes(log)) == 2
    wait_until(lambda: has_ended(int(log.with_suffix(".process").read_text())))


def test_the_clock_applies_in_addition_to_the_limit(log: Path) -> None:
    result = play_match(Match(Game.OTHELLO, make_spec(log, "sleeps"), "random", clock=Clock(0.2)))
    assert result.records[0].reason == "ran out of time"


def test_an_engine_that_cannot_restart_loses_its_games(log: Path) -> None:
    player: Any = make_player(make_spec(log))
    player.begin(Game.OTHELLO, 1)
    player.command = player.command.replace(str(log), f"{log} plays draughts")
    player.process.kill()
    player.begin(Game.OTHELLO, 2)
    with pytest.raises(Forfeit, match="refused 'boardsize 8'"):
        player.choose(Position.start(), Clock())


# ---- startup and shutdown -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["gtp", "nboard", "uci"])
def test_an_engine_with_another_protocol_is_an_error(log: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("awello.protocols.line_process.ANSWER_SECONDS", 0.1)
    with pytest.raises(SpecError, match=r"gave no answer: check that it speaks (GTP|NBoard|UCI)"):
        play_match(Match(GAMES[name], make_spec(log, "is silent", name), "random"))


def test_an_engine_that_rejects_the_game_is_an_error(log: Path) -> None:
    with pytest.raises(SpecError, match="refused 'boardsize 8': unacceptable size"):
        make_player(make_spec(log, "plays draughts")).begin(Game.OTHELLO, 1)
    with pytest.raises(SpecError, match="plays only abapa: it has no Variant option"):
        make_player(make_spec(log.with_name("other"), "", "uci")).begin(Game.ROMEIN, 1)


@pytest.mark.parametrize("habit", ["", "stays"])
def test_its_process_ends_with_the_player(log: Path, habit: str) -> None:
    player: Any = make_player(make_spec(log, habit))
    player.begin(Game.OTHELLO, 1)
    process = player.process._process.pid
    del player
    gc.collect()
    wait_until(lambda: has_ended(process))


def test_its_child_processes_end_with_it(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read_lines = LineProcess.read_lines

    def read_late(process: LineProcess, *words: Any) -> Iterator[str]:
        wait_until(lambda: log.exists() and log.read_text())  # the child process has started
        return read_lines(process, *words)

    monkeypatch.setattr("awello.protocols.line_process.ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(LineProcess, "read_lines", read_late)
    with pytest.raises(SpecError, match="gave no answer"):
        make_player(make_spec(log, "has a child")).begin(Game.OTHELLO, 1)
    wait_until(lambda: has_ended(int(log.read_text())))


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs POSIX process groups")
def test_ctrl_c_ends_the_engine(log: Path) -> None:
    words = [sys.executable, "-m", "awello", "match", "othello", make_spec(log, "sleeps"), "random"]
    ours = subprocess.Popen(
        words, cwd=ROOT, preexec_fn=restore_interrupts, stderr=subprocess.PIPE, stdout=subprocess.PIPE
    )
    wait_until(lambda: log.exists() and "genmove black" in read_log(log))
    ours.send_signal(signal.SIGINT)
    _, errors = ours.communicate(timeout=TIMEOUT)
    assert (ours.returncode, b"interrupted" in errors) == (130, True)
    wait_until(lambda: has_ended(int(log.with_suffix(".process").read_text())))


@pytest.mark.parametrize(
    ("spec", "game", "part"),
    [
        ("gtp", Game.OTHELLO, "needs a command: write gtp,command=COMMAND"),
        (
            "gtp,command=no-such-engine -x",
            Game.OTHELLO,
            "cannot start 'no-such-engine -x': No such file or directory; check the command",
        ),
        ("nboard,command=play 'it", Game.OTHELLO, "cannot start .*: No closing quotation"),
        ("gtp@6,command=x", Game.OTHELLO, "needs a time per move as its limit: write gtp@5s"),
        ("uci@6n,command=x", Game.ABAPA, "needs a time per move"),
        ("gtp,command=x", Game.ABAPA, "does not play abapa, only othello, othello6, othello4:"),
        ("nboard,command=x", Game.OTHELLO6, "does not play othello6, only othello:"),
        ("uci,command=x", Game.OTHELLO, "does not play othello, only abapa, tournament, romein:"),
    ],
)
def test_invalid_settings_are_refused(spec: str, game: Game, part: str) -> None:
    with pytest.raises(SpecError, match=part):
        make_player(spec).begin(game, 1)


@pytest.mark.skipif(RHINO is None, reason="GRhino is not installed")
def test_grhino() -> None:
    match = Match(Game.OTHELLO, f"gtp@10s,command={RHINO} -l 1", "random", 2, seed=4)
    result = play_match(match)
    assert (result.wins, result.forfeits) == (2, (0, 0))
