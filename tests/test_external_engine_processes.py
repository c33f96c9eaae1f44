"""External engines as players: their child processes are measured, and killed when the engine ends."""

import gc
import sys
from pathlib import Path

import pytest
from test_arena_processes import is_running

from awello import Game, Position, Resignation, make_player
from awello.arena.sandbox import ResourceLimits, SandboxedPlayer, Usage
from awello.limits import Clock
from awello.players.player import Forfeit

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are measured on Linux only")
ENGINE = r'''
import os, signal, subprocess, sys
how, pids = sys.argv[1:]
CHILD = """
import os, signal, subprocess, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if len(sys.argv) > 1:
    os.setsid()
    subprocess.Popen([sys.executable, "-c", open(sys.argv[1]).read()], stdout=1)
    os._exit(0)
kept = bytearray(64 << 20)
print(os.getpid(), flush=True)
signal.pause()
"""
def start(*words):
    child = subprocess.Popen([sys.executable, "-c", CHILD, *words], stdout=subprocess.PIPE, text=True)
    print(child.stdout.readline(), file=open(pids, "a"))
for line in sys.stdin:
    if line.startswith("genmove"):
        if how == "child":
            start()
        if how == "daemon":
            open(pids + ".code", "w").write(CHILD)
            start(pids + ".code")
        if how == "closes":
            os.close(1)
            signal.pause()
        while how == "endless":
            print("= more", flush=True)
        print("= resign\n", flush=True)
    else:
        print("=\n", flush=True)
'''


@pytest.fixture
def engine_spec(tmp_path: Path) -> str:
    """Return the spec of a faulty engine, with a placeholder for its behaviour."""
    (tmp_path / "engine.py").write_text(ENGINE)
    return f"gtp@20s,command={sys.executable} {tmp_path / 'engine.py'} {{}} {tmp_path / 'pids'}"


def started_pids(folder: Path) -> list[int]:
    pids = folder / "pids"
    return [int(word) for word in pids.read_text().split()] if pids.exists() else []


def play_sandboxed(spec: str, limits: ResourceLimits) -> tuple[Forfeit, Usage]:
    """Let a sandboxed engine choose a move; return its forfeit and resource use."""
    bot = SandboxedPlayer(spec, Game.OTHELLO, limits)
    try:
        bot.begin(Game.OTHELLO, 1)
        with pytest.raises(Forfeit):
            bot.choose(Position.start(Game.OTHELLO), Clock())
        bot.end()
        assert bot.forfeit is not None
        return bot.forfeit, bot.usage
    finally:
        bot.close()


@pytest.mark.parametrize("how", ["child", "daemon"])
def test_child_processes_are_measured_and_ended(how: str, engine_spec: str, tmp_path: Path) -> None:
    forfeit, used = play_sandboxed(engine_spec.format(how), ResourceLimits())
    assert (forfeit.reason, used.memory_bytes > 64 << 20) == ("resigned", True)
    forfeit, used = play_sandboxed(engine_spec.format(how), ResourceLimits(max_memory=40))
    assert (forfeit.reason, used.memory_bytes > 40 << 20) == ("memory", True)
    assert started_pids(tmp_path)
    assert not [pid for pid in started_pids(tmp_path) if is_running(pid)]


def test_the_engine_itself_is_measured(engine_spec: str) -> None:
    forfeit, used = play_sandboxed(engine_spec.format("nothing"), ResourceLimits())
    assert (forfeit.reason, used.memory_bytes > 1 << 20) == ("resigned", True)


@pytest.mark.parametrize(("how", "part"), [("closes", "closed its input or output"), ("endless", "is too long")])
def test_an_engine_that_breaks_the_protocol_loses(how: str, part: str, engine_spec: str) -> None:
    forfeit, _ = play_sandboxed(engine_spec.format(how), ResourceLimits())
    assert forfeit.reason == "crash"
    assert part in forfeit.message


def test_no_child_process_is_left(engine_spec: str, tmp_path: Path) -> None:
    player = make_player(engine_spec.format("child"))
    player.begin(Game.OTHELLO, 1)
    with pytest.raises(Resignation):
        player.choose(Position.start(Game.OTHELLO), Clock())
    (child,) = started_pids(tmp_path)
    assert is_running(child)
    del player
    gc.collect()
    assert not is_running(child)
