"""The NBoard, GTP and UCI servers: requests and answers, interruptions, and games against our players."""

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path

import pytest
from conftest import ROOT, awello, restore_interrupts
from waiting import TIMEOUT, wait_until

from awello import Game, Match, Position, __version__, parse_position, parse_transcript, play_match
from awello.engine.engine import Engine
from awello.formats.ggf import format_ggf
from awello.limits import Clock
from awello.protocols.engine_server import EngineServer
from awello.protocols.gtp import GtpServer, TimeLeft
from awello.protocols.nboard import NBoardServer
from awello.protocols.uci import UciServer

QUICK_SETTINGS: dict[str, int] = {"level": 2, "hash": 1}
PASSING_GAME = "c4c3e6b4a4a5b2a3"  # afterwards Black must pass


@dataclass
class EngineClient:
    """A client of an engine server: writes lines and reads the answers."""

    input: TextIOWrapper
    answers: list[str]

    def write(self, *lines: str) -> None:
        self.input.writelines(f"{line}\n" for line in lines)
        self.input.flush()

    def wait(self, pattern: str) -> None:
        """Wait for a line that matches the pattern."""
        wait_until(lambda: any(re.match(pattern, line) for line in self.answers))


class Output:
    """A standard output that stores its lines."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def write(self, text: str) -> None:
        self.lines += text.removesuffix("\n").split("\n")

    def flush(self) -> None:
        pass


@contextmanager
def serve_engine(
    server_class: Callable[..., EngineServer], settings: Mapping[str, int] = QUICK_SETTINGS
) -> Iterator[EngineClient]:
    """Run a server in this process, which has loaded the kernels; check that it stops when its input ends."""
    ours, theirs = os.pipe()
    answers: list[str] = []
    with pytest.MonkeyPatch.context() as patch, os.fdopen(theirs, "w") as input, os.fdopen(ours) as output:
        patch.setattr(sys, "stdin", output)
        patch.setattr(sys, "stdout", Output(answers))
        failures: list[BaseException] = []

        def serve() -> None:
            try:
                server_class(**settings).serve()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield EngineClient(input, answers)
        input.close()
        thread.join(60)
        assert not thread.is_alive(), "the server stops when its input ends"
        assert not failures


def run_script(server_class: Callable[..., EngineServer], *lines: str) -> list[str]:
    """Send lines to a server; return its answers."""
    with serve_engine(server_class) as client:
        client.write(*lines)
    return client.answers


def legal(text: str, position: Position) -> bool:
    return position.parse_move(text) in position.legal_moves()


# ---- NBoard ---------------------------------------------------------------------------------------------------------
def test_nboard() -> None:
    game = format_ggf(parse_transcript("f5d6"))
    answers = run_script(
        NBoardServer, "nboard 2", "set depth 3", f"set game {game}", "ping 7", "set contempt 10", "learn", "hint 2"
    )
    assert answers[:5] == ["set myname Awello2", "set myname Awello3", "pong 7", "learned", "status Analysing"]
    position = parse_transcript("f5d6").final
    searches = [line.split() for line in answers if line.startswith("search")]
    assert [words[4] for words in searches] == ["1", "1", "2", "2", "3", "3"]
    for _, line, value, games, _ in searches:
        assert parse_transcript(line, position).moves and re.fullmatch(r"[+-]\d+\.\d\d", value) and games == "0"
    assert len({words[1][:2] for words in searches[-2:]}) == 2
    assert float(searches[-2][2]) >= float(searches[-1][2])
    assert re.fullmatch(r"nodestats \d+ \d+\.\d\d", answers[-2]) and answers[-1] == "status"


def test_nboard_does_not_play_its_move() -> None:
    answers = run_script(NBoardServer, "go", "go", "move F5/1.20/3.5", "d6", "move c3//0.1", "go")
    moves = [re.fullmatch(r"=== ([A-H][1-8])/(-?\d+\.\d\d)/(\d+\.\d\d)", line) for line in answers if line[:3] == "==="]
    assert all(moves) and len(moves) == 3
    for move, moved in zip(moves, ("", "", "f5d6c3"), strict=True):
        assert move and legal(move[1], parse_transcript(moved).final)


def test_nboard_analyses_every_position() -> None:
    record = play_match(Match(Game.OTHELLO4, "random", "random", seed=1)).records[0]
    answers = run_script(NBoardServer, f"set game {format_ggf(record)}", "analyze")
    lines = [line.split() for line in answers if line.startswith("analysis")]
    assert [int(words[1]) for words in lines] == list(range(len(record.moves), -1, -1))
    first, second = record.final.score()
    assert float(lines[0][2]) == (second - first if record.final.side else first - second)
    assert "status the game is over" in run_script(NBoardServer, f"set game {format_ggf(record)}", "go", "hint 3")


def test_nboard_passes() -> None:
    record = parse_transcript(PASSING_GAME)
    assert record.final.legal_moves() == (-1,)
    answers = run_script(NBoardServer, f"set game {format_ggf(record)}", "go", "move PA", "go", "analyze")
    (one, other) = [line for line in answers if line[:3] == "==="]
    assert one.startswith("=== PA/") and legal(other[4:6], record.final.play("pass"))
    assert next(line.split()[1] for line in answers if line.startswith("analysis")) == str(len(record.moves) + 1)


def test_nboard_ignores_unknown_lines() -> None:
    wrong = ["", "what", "set", "set game", "set game (;)", "set depth x", "move", "move a1", "a1", "hint x", "\0\xff"]
    wrong += ["set depth " + "9" * 5000, "x" * 200_000, "(;", "=== F5"]
    answers = run_script(NBoardServer, *wrong, "ping 1", "go")
    assert "pong 1" in answers and answers[-2].startswith("===")
    assert all(line.startswith(("status ", "set myname")) for line in answers[: answers.index("pong 1")])


def test_ping_ends_a_search(monkeypatch: pytest.MonkeyPatch) -> None:
    stop, stopping = Engine.stop, set[threading.Thread]()

    def stop_by(engine: Engine) -> None:
        stopping.add(threading.current_thread())
        stop(engine)

    monkeypatch.setattr(Engine, "stop", stop_by)
    with serve_engine(NBoardServer, {"level": 30, "hash": 1}) as client:
        client.write("hint 60")
        client.wait("search")
        client.write("ping 2", "set depth 1", "go", "ping 3")
        client.wait("pong 3")
        assert len(stopping) == 2, "the reading thread stops the search immediately"
        client.write(f"set game {format_ggf(parse_transcript('f5d6c3d3c4'))}", "set depth 30", "analyze", "ping 4")
        client.wait("pong 4")
        client.write("quit")
    answers = client.answers
    assert answers.index("pong 2") > answers.index("status") and answers[-1] == "pong 4"
    assert answers[answers.index("pong 3") - 2].startswith("==="), "earlier requests are answered first"
    assert sum(line.startswith("analysis") for line in answers) < 2


# ---- GTP ------------------------------------------------------------------------------------------------------------
def gtp(*lines: str) -> list[str]:
    """Send lines to a GTP server; return its answers, which are separated by empty lines."""
    return "\n".join(run_script(GtpServer, *lines)).removesuffix("\n").split("\n\n")


def test_gtp() -> None:
    answers = gtp("protocol_version", "2 name", "version # a comment", "", "# nothing", "known_command play")
    assert answers == ["= 2", "=2 Awello", f"= {__version__}", "= true"]
    assert gtp(
        "known_command fly", "KNOWN_COMMAND undo", "list_games", "set_game Reversi", "komi 6.5", "77 quit", "name"
    ) == [
        *("= false", "= true", "= Othello", "=", "=", "=77"),
    ]
    assert "\ngogui-rules_board\n" in gtp("list_commands")[0]


def test_gtp_plays() -> None:
    lines = "play b f5", "play white d6", "reg_genmove b", "gogui-rules_side_to_move", "genmove black", "undo", "undo"
    answers = gtp(*lines, "gogui-rules_legal_moves", "undo", "undo", "final_score", "play w d3")
    position = parse_transcript("f5d6").final
    assert answers[:2] == ["=", "="] and answers[3] == "= black"
    assert answers[2] == answers[4] and legal(answers[4][2:], position)
    assert answers[5:] == [
        "=",
        "=",
        "= f4 d6 f6",
        "=",
        "? cannot undo",
        "= 0",
        "? it is black's turn",
    ]


def test_gtp_shows() -> None:
    board, size, name, result, score = gtp(
        *("play b f5", "gogui-rules_board", "gogui-rules_board_size", "gogui-rules_game_id"),
        *("gogui-rules_final_result", "final_score"),
    )[1:]
    assert board == "= " + "\n".join(["........"] * 3 + ["...XXX..", "...OX..."] + ["........"] * 3)
    assert (size, name, result, score) == ("= 8", "= Othello", "=", "= B+62")
    assert "Black X 2, White O 2; Black to move" in gtp("showboard")[0]


@pytest.mark.parametrize("size", [8, 6, 4])
def test_gtp_plays_a_whole_game_against_itself(size: int) -> None:
    answers = gtp(f"boardsize {size}", *["genmove b", "genmove w"] * (size * size // 2), "gogui-rules_final_result")
    assert all(answer.startswith("=") for answer in answers)
    assert re.search(r"wins \d+-\d+|draw", answers[-1])


def test_gtp_inserts_passes() -> None:
    record = parse_transcript(PASSING_GAME)
    moves = [f"play {'bw'[ply % 2]} {PASSING_GAME[2 * ply : 2 * ply + 2]}" for ply in range(len(PASSING_GAME) // 2)]
    after = record.final.play("pass")
    explicit = gtp(*moves, "genmove b", "genmove w", "undo", "undo", "play b pass", "reg_genmove w")
    assert explicit[len(moves)] == "= pass" and legal(explicit[-1][2:], after)
    implicit = gtp(*moves, "genmove w", "undo", "gogui-rules_side_to_move")
    assert legal(implicit[-3][2:], after) and implicit[-1] == "= black"


def test_gtp_errors_are_one_line() -> None:
    wrong = [
        "fly",
        "5 fly",
        "play",
        "play b",
        "play b z9",
        "play x f5",
        "play b a1",
        "genmove",
        "genmove red",
        "boardsize 9",
    ]
    wrong += [
        "boardsize x",
        "komi x",
        "time_settings 1 2",
        "time_settings -1 0 0",
        "time_left b nan 0",
        "time_left b 1 -1",
    ]
    wrong += [
        "set_game chess",
        "loadsgf no-such-file",
        "undo",
        "known_command",
        "\x01\x02fly",
        "x" * 200_000,
        "play b pass",
    ]
    answers = gtp(*wrong, "name")
    assert len(answers) >= len(wrong) + 1 and answers[-1] == "= Awello"
    assert all(answer.startswith("?") and "\n" not in answer for answer in answers[:-1])
    assert answers[1] == "?5 unknown command"


def test_gtp_loads_a_game(tmp_path: Path) -> None:
    file = tmp_path / "game.ggf"
    file.write_text(format_ggf(parse_transcript("f5d6c3")))
    answers = gtp(f"loadsgf {file}", "gogui-rules_side_to_move", f"loadsgf {file} 2", "gogui-rules_legal_moves")
    start = parse_transcript("f5").final
    assert answers == ["=", "= white", "=", "= " + " ".join(map(start.format_move, start.legal_moves()))]
    file.write_text("(;GM[1]SZ[19];B[pd])")
    assert gtp(f"loadsgf {file}")[0].startswith("? cannot load file as a game in GGF")


def test_gtp_keeps_to_the_clock() -> None:
    assert TimeLeft().limits() == gtp_time("0 0 0") == gtp_time("60 10 0")
    clock, seconds = gtp_time("60 0 0")
    assert (clock.seconds, clock.increment, seconds) == (60, 0, None)
    clock, seconds = gtp_time("60 10 5")
    assert (clock.seconds, clock.increment, seconds) == (60, 2, None)
    assert gtp_time("0 10 5")[1] == 2
    left = TimeLeft(1.0, 0, 10.0, 5).spend(2.0)
    assert left == TimeLeft(10.0, 5, 10.0, 5) and left.spend(4.0) == TimeLeft(6.0, 4, 10.0, 5)
    assert TimeLeft(3.0, 1, 10.0, 5).spend(2.0) == TimeLeft(10.0, 5, 10.0, 5)
    with serve_engine(GtpServer, {"level": 30, "hash": 1}) as client:  # without a clock, level 30 would take hours
        client.write("time_settings 0 1 2", "genmove b", "time_left w 1 0", "genmove w")
        client.wait("= [a-h][1-8]")
    assert len([line for line in client.answers if re.match("= [a-h]", line)]) == 2


def gtp_time(words: str) -> tuple[Clock, float | None]:
    server_class = GtpServer(level=2, hash=1)
    server_class._set_time(*words.split())
    return server_class.times[1].limits()


# ---- UCI ------------------------------------------------------------------------------------------------------------
def test_uci() -> None:
    answers = run_script(UciServer, "uci", "isready", "ucinewgame", "position startpos moves FfEd", "go depth 3", "go")
    assert answers[0] == "id name Awello" and answers[6:8] == ["uciok", "readyok"]
    assert {line.split()[2] for line in answers[2:6]} == {"Hash", "Threads", "OwnBook", "Variant"}
    position = parse_transcript("FfEd", Position.start(Game.ABAPA)).final
    for line in answers[8:]:
        if line.startswith("info"):
            info = re.fullmatch(r"info depth \d+ score cp -?\d+ pv ([A-Fa-f]+)", line)
            assert info and parse_transcript(info[1], position).moves
        else:
            best = re.fullmatch(r"bestmove ([A-F])(?: ponder ([a-f]))?", line)
            assert best and parse_transcript("".join(filter(None, best.groups())), position)
    assert sum(line.startswith("bestmove") for line in answers) == 2


def test_uci_scores_are_hundredths_of_a_seed() -> None:
    answers = run_script(UciServer, "position fen 0-0-0-0-0-2-0-1-0-0-0-0-22-23-S", "go depth 9")
    found = re.match(r"info depth \d+ score cp (-?\d+) ", answers[-2])
    assert found and int(found[1]) in (-400, -300, -200, -100, 0, 100, 200)
    assert int(found[1]) == 100 * (22 - 23 + remaining_margin("0-0-0-0-0-2-0-1-0-0-0-0-22-23-S"))


def remaining_margin(diagram: str) -> float:
    with Engine(Game.ABAPA, hash=1) as engine:
        *_, last = engine.solve(parse_position(diagram))
    return last.value


def test_uci_options_and_variants() -> None:
    stuck = "0-0-0-0-0-1-0-0-0-0-0-0-24-23-N"
    answers = run_script(
        UciServer,
        *("setoption name Variant value romein", "setoption name OwnBook value false", "setoption name Hash value 2"),
        *("setoption name Threads value 2", "position startpos", "go movetime 50", f"position fen {stuck}", "go"),
    )
    assert answers[-1] == "bestmove 0000" and answers[-2].startswith("bestmove")
    assert not any(line.startswith("info string") for line in answers)
    with serve_engine(UciServer, {"hash": 1}) as client:
        client.write("position startpos", "go movetime 60000", "setoption name OwnBook value false", "go depth 2")
    assert client.answers[:2] == ["info depth 0 score cp 56 pv F", "bestmove F"], "the book answers immediately"
    assert client.answers[-1].startswith("bestmove") and not client.answers[2].startswith("info depth 0")


def test_uci_ignores_unknown_lines() -> None:
    wrong = [
        "",
        "what",
        "setoption",
        "setoption name Hash value 0",
        "setoption name Hash value x",
        "setoption name Fly value 1",
    ]
    wrong += ["position", "position fen", "position fen 1-2", "position startpos moves Zz", "position startpos FfEd"]
    wrong += ["position startpos", "go movetime x", "go depth", "\0", "x" * 200_000]
    answers = run_script(UciServer, *wrong, "setoption name Hash value " + "9" * 400, "position bad", "go", "isready")
    assert answers[-1] == "readyok" and answers[-2] == "bestmove 0000"
    assert "info string syntax error: expected a number of milliseconds, found 'x'" in answers
    assert all(line.startswith(("info ", "bestmove", "readyok")) for line in answers)


@pytest.mark.parametrize("how", ["infinite", "ponder", "depth 99"])
def test_stop_ends_a_search(how: str) -> None:
    with serve_engine(UciServer, {"hash": 1}) as client:
        client.write("setoption name OwnBook value false", "position startpos moves Ff", f"go {how}")
        client.wait("info depth")
        client.write("isready")
        client.wait("readyok")
        assert not any(line.startswith("bestmove") for line in client.answers)
        client.write("stop")
        client.wait("bestmove [A-F]")
        client.write("stop", "isready")  # one `stop` more than needed
    assert sum(line.startswith("bestmove") for line in client.answers) == 1


def test_an_infinite_search_waits_for_stop_even_if_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    waiting, wait = threading.Event(), UciServer.wait_for_stop

    def wait_for_stop(server_class: UciServer) -> None:
        waiting.set()
        wait(server_class)

    monkeypatch.setattr(UciServer, "wait_for_stop", wait_for_stop)
    with serve_engine(UciServer) as client:
        client.write("position fen 0-0-0-0-0-2-0-1-0-0-0-0-22-23-S", "go infinite")
        client.wait("info depth")
        assert waiting.wait(TIMEOUT)
        client.write("isready")
        client.wait("readyok")
        assert not any(line.startswith("bestmove") for line in client.answers)
        client.write("stop")
        client.wait("bestmove F")


# ---- shutdown -------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("server_class", "lines", "answer"),
    [
        (NBoardServer, ["hint 1"], "nodestats"),
        (GtpServer, ["genmove b"], "= [a-h]"),
        (UciServer, ["position startpos", "go infinite"], "bestm"),
    ],
)
@pytest.mark.parametrize("last", ["quit", ""])
def test_searches_end_with_the_input(
    server_class: Callable[..., EngineServer], lines: list[str], answer: str, last: str
) -> None:
    with serve_engine(server_class, {"level": 30, "hash": 1}) as client:
        client.write(*lines, *filter(None, [last]))
    assert any(re.match(answer, line) for line in client.answers), "the request is answered anyway"


def command(protocol: str, *words: str) -> list[str]:
    return [sys.executable, "-m", "awello", "engine", protocol, *words]


@pytest.mark.parametrize(
    ("player", "game", "words"),
    [
        ("nboard@30s,depth=1", Game.OTHELLO, "nboard"),
        ("gtp@30s", Game.OTHELLO, "gtp --limit level=1"),
        ("uci@1", Game.ROMEIN, "uci --limit level=1"),
    ],
)
def test_our_engine_plays_our_players(player: str, game: Game, words: str, tmp_path: Path) -> None:
    log = tmp_path / "talk.txt"
    spec = f"{player},command={' '.join(command(*words.split()))} --hash 1,log={log}"
    result = play_match(Match(game, spec, "random", 2, seed=3))
    assert result.forfeits == (0, 0), [record.reason for record in result.records]
    assert result.wins == 2
    logged = log.read_text()
    assert "> " in logged and not re.search(r" < (\?|status [^TA\n]|info string)", logged)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_ctrl_c_ends_it_cleanly() -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    ours = subprocess.Popen(command("uci"), cwd=ROOT, preexec_fn=restore_interrupts, text=True, **pipes)  # type: ignore[call-overload]
    ours.stdin.write("setoption name OwnBook value false\nposition startpos\ngo infinite\n")
    ours.stdin.flush()
    assert ours.stdout.readline().startswith("info depth 1 ")
    ours.send_signal(signal.SIGINT)
    assert ours.wait(60) == 130
    assert ours.stderr.read() == "awello: interrupted\n"
    ours.stdin.close()
    ours.stdout.close()
    ours.stderr.close()


def test_invalid_options_are_refused() -> None:
    for words, part in (
        (["chess"], "PROTOCOL 'chess' is unknown: choose nboard, gtp or uci"),
        (["gtp", "--limit", "level=31"], "level 31 does not exist"),
        (["gtp", "--threads", "99"], "99 is not a valid number of threads"),
        (["nboard", "--weights", "no-such-file"], "no-such-file"),
    ):
        ended = awello("engine", *words)
        assert ended.returncode == 2 and ended.stdout == "" and part in ended.stderr
        assert ended.stderr.count("\n") == 1
