"""Processes that bots start: their memory and CPU time are measured, and they end when the bot or the run ends."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT

from awello import Game
from awello.arena.runner import PlayerCache
from awello.arena.sandbox import ResourceLimits
from awello.arena.tournament import BotGame, Tournament, play_tournament, to_bot_game
from awello.arena.workers import open_worker_pool

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are measured on Linux only")
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _register_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWELLO_PLAYERS", str(ROOT / "tests" / "hostile_bots.py"))


def is_running(pid: int) -> bool:
    """Return whether a process is running and not a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def play(how: str, pids: Path, limits: ResourceLimits = ResourceLimits()) -> list[BotGame]:  # noqa: B008
    """Play a round between a hostile bot and `random`, and check that no process of the bot is left."""
    tournament = Tournament(Game.OTHELLO4, (f"hostile,how={how},pids={pids}", "random"), 1, limits=limits)
    cache = PlayerCache()
    try:
        played = [to_bot_game(tournament.run_job(number, cache), number) for number in (0, 1)]
    finally:
        cache.close()
    started = [int(line) for line in pids.read_text().split()] if pids.exists() else []
    assert not [pid for pid in started if is_running(pid)]
    assert all(game.forfeits[1] is None for game in played), "`random` never forfeits"
    return played


# --- measurements -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["allocates_in_child", "allocates_in_daemon"])
def test_memory_of_processes_is_measured(how: str, tmp_path: Path) -> None:
    for game in play(how, tmp_path / "pids"):
        assert game.forfeits[0] is None
        assert game.usage[0].memory_bytes > 64 * MIB > game.usage[1].memory_bytes


@pytest.mark.parametrize("how", ["allocates_in_child", "allocates_in_daemon"])
def test_memory_of_processes_is_limited(how: str, tmp_path: Path) -> None:
    for game in play(how, tmp_path / "pids", ResourceLimits(max_memory=32)):
        assert game.score[0] == 0
        assert game.forfeits[0] is not None
        assert game.forfeits[0][0] == "memory"
        assert "it uses" in game.forfeits[0][1]
        assert game.usage[0].memory_bytes > 32 * MIB


@pytest.mark.parametrize("how", ["uses_cpu_in_child", "uses_cpu_in_daemon"])
def test_processor_time_of_processes_is_measured(how: str, tmp_path: Path) -> None:
    for game in play(how, tmp_path / "pids"):
        assert game.usage[0].cpu_seconds > 0.25


# --- attacks ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ("nothing", None),
        ("prints", None),
        ("starts_ten", None),
        ("changes_group", None),
        ("forks_and_returns", None),
        ("starts_daemon_and_dies", "crash"),
        ("closes_pipes", "crash"),
        ("raises_own_class", "crash"),
        ("ignores_signals", "time"),
    ],
)
def test_a_hostile_bot_loses_only_its_own_games(how: str, reason: str | None, tmp_path: Path) -> None:
    for game in play(how, tmp_path / "pids", ResourceLimits(move_time=20 if reason != "time" else 0.05)):
        assert (game.forfeits[0][0] if game.forfeits[0] else None) == reason
        assert len(game.forfeits[0][1] if game.forfeits[0] else "") < 1100


# --- interruptions ----------------------------------------------------------------------------------------------------
def test_an_interrupt_while_a_bot_starts_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", interrupt)
    assert play_tournament(Tournament(Game.OTHELLO4, ("hostile", "random"), 1), out=tmp_path / "out").interrupted
    assert not (tmp_path / "out").exists()


@pytest.fixture
def child() -> Iterator[multiprocessing.Process]:
    """Start a process that does not belong to the arena."""
    process = multiprocessing.get_context("spawn").Process(target=signal.pause, daemon=True)
    process.start()
    yield process  # type: ignore[misc]
    process.kill()
    process.join()


def test_only_workers_are_ended(child: multiprocessing.Process) -> None:
    with open_worker_pool(2) as each:
        workers = set(each(get_pid, range(8)))
    assert not [pid for pid in workers if is_running(pid)]
    assert child.is_alive()


def get_pid(_: int) -> int:
    return os.getpid()
