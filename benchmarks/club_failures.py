"""Test the club while its server or its database is killed, or its disk is full.

    python benchmarks/club_failures.py server [--times 50] [--games 200]
    python benchmarks/club_failures.py database [--times 50]   # kills and restarts its own PostgreSQL
    python benchmarks/club_failures.py disk [--times 50]       # fills and empties its own small disk; needs root

Bots play random moves.  After each failure, the database is compared with the messages that the bots received:
every acknowledged move must be stored, every game must be legal, and no clock may be wrong by more than a second.  The
exit status is 1 if a check fails.
"""

import argparse
import asyncio
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from club import BenchmarkBot, create_bots, load_games, serve, start_bots, stop_bots

from awello.club.game_state import GameState
from awello.position import Position

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from database import Postgres, new_database

DISK_MIB = 16
RECOVERY_TIMEOUT_SECONDS = 60.0  # time within which the bots must notice a failure, and then the recovery

StatesByGame = dict[int, tuple[float, dict[str, Any]]]


@dataclass
class Failure:
    """A way to make a database fail: the address of the database, and functions that begin and end the failure."""

    database: str
    begin: Callable[[], object]
    end: Callable[[], object]


def kill_database(stack: ExitStack) -> Failure:
    """Start a PostgreSQL server that can be killed and restarted."""
    server = Postgres()
    stack.callback(server.remove)
    return Failure(new_database(str(server.folder), "club"), server.kill, server.start)


def fill_disk(stack: ExitStack) -> Failure:
    """Mount a small disk that can be filled and emptied."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", "tmpfs", str(folder)], check=True)
    stack.callback(subprocess.run, ["/bin/umount", "--lazy", str(folder)], check=True)
    filler = folder / "filler"

    def fill() -> None:
        with filler.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1024))
            except OSError:
                return

    return Failure(str(folder / "club.sqlite"), fill, filler.unlink)


# ---- the server is killed --------------------------------------------------------------------------------------------
def kill_server(database: str, bots: list[BenchmarkBot], options: argparse.Namespace) -> bool:
    """Kill the server repeatedly; return whether all checks passed."""
    worst, wrong = 0.0, 0
    for number in range(1, options.times + 1):
        server, address = serve(database)
        try:
            killed_at = asyncio.run(play_and_kill(bots, address, server, options.games))
        finally:
            server.kill()
        states, heartbeat = load_games(database)
        wrong += count_errors(states, list_received_plies(bots))
        worst = max(worst, compute_max_clock_error(states, bots, killed_at, heartbeat))
        moves = sum(len(bot.response_times) for bot in bots)
        playing = sum(not state.over for state in states.values())
        print(
            f"kill {number}: {playing} games, {moves:,d} moves acknowledged, {wrong} errors, "
            f"largest clock error {worst:.2f} s",
            flush=True,
        )
    return not wrong and worst <= 1.0


async def play_and_kill(bots: list[BenchmarkBot], address: str, server: subprocess.Popen[str], games: int) -> float:
    """Let bots play for a short time and kill the server; return the time of the kill."""
    tasks = await start_bots(bots, address, games)
    await asyncio.sleep(random.uniform(0.2, 3.0))
    server.send_signal(signal.SIGKILL)
    killed_at = time.time()
    server.wait()
    await asyncio.gather(*tasks)
    return killed_at


def compute_max_clock_error(
    states: dict[int, GameState], bots: list[BenchmarkBot], killed_at: float, heartbeat: float
) -> float:
    """Return the largest difference between a stored clock and the clock sent to a bot before the kill, in seconds."""
    worst = 0.0
    for bot in bots:
        for game, (received_at, message) in bot.states.items():
            state = states[game]
            if len(state.moves) == message["ply"] and not state.over and received_at > killed_at - 10:
                left = message["clocks"][state.mover] - (killed_at - received_at)
                worst = max(worst, abs(state.resume(heartbeat, killed_at).clocks_at(killed_at)[state.mover] - left))
    return worst


# ---- failures of the database ----------------------------------------------------------------------------------------
async def play_with_failures(
    failure: Failure, bots: list[BenchmarkBot], address: str, options: argparse.Namespace
) -> bool:
    """Make the database fail repeatedly while the server runs; return whether all checks passed."""
    tasks = await start_bots(bots, address, options.games)
    worst, wrong, compared = 0.0, 0, 0
    for number in range(1, options.times + 1):
        await asyncio.sleep(random.uniform(0.5, 3.0))
        refusals = count_refusals(bots)
        started = time.time()
        await asyncio.to_thread(failure.begin)
        await wait_until(lambda before=refusals: count_refusals(bots) > before)  # type: ignore[misc]
        stopped = time.time()
        await asyncio.sleep(random.uniform(0.2, 2.0))
        states_before = {game: entry for bot in bots for game, entry in bot.states.items()}
        for bot in bots:
            bot.repeated_states.clear()
        acknowledged = sum(len(bot.response_times) for bot in bots)
        await asyncio.to_thread(failure.end)
        await wait_until(lambda before=acknowledged: sum(len(bot.response_times) for bot in bots) > before)  # type: ignore[misc]
        resumed = time.time()
        await asyncio.sleep(0.5)
        errors = compute_clock_errors(states_before, bots, started, stopped)
        worst, compared = max([worst, *errors]), compared + len(errors)
        received = list_received_plies(bots)  # listed first, because play continues while the games are loaded
        states, _ = await asyncio.to_thread(load_games, failure.database)
        wrong += count_errors(states, received)
        moves = sum(len(bot.response_times) for bot in bots)
        print(
            f"failure {number}: {len(errors)} games, {moves:,d} moves acknowledged, {count_refusals(bots):,d} refused, "
            f"{wrong} errors, largest clock error {worst:.2f} s, resumed after {resumed - started:.1f} s",
            flush=True,
        )
    await stop_bots(bots, tasks)
    print(f"refusals by code: {dict(sum((bot.refusals for bot in bots), Counter[str]()))}")
    return not wrong and worst <= 1.0 and compared > 0


def count_refusals(bots: list[BenchmarkBot]) -> int:
    """Count the moves refused because the database failed."""
    return sum(bot.refusals["storage"] for bot in bots)


async def wait_until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, or raise `TimeoutError`."""
    async with asyncio.timeout(RECOVERY_TIMEOUT_SECONDS):
        while not condition():
            await asyncio.sleep(0.02)


def compute_clock_errors(
    states_before: StatesByGame, bots: list[BenchmarkBot], started: float, stopped: float
) -> list[float]:
    """Return the errors of the clocks after a failure, in seconds.

    The failure began between `started` and `stopped`; a clock is correct if it stopped at a time between these two.
    """
    errors = []
    for game, (_, after) in {game: entry for bot in bots for game, entry in bot.repeated_states.items()}.items():
        if game in states_before and states_before[game][1]["ply"] == after["ply"] and not after["over"]:
            received_at, before = states_before[game]
            side = before["mover"]
            longest, shortest = (before["clocks"][side] - max(0.0, at - received_at) for at in (started, stopped))
            now = after["clocks"][side]
            errors.append(max(0.0, now - longest, shortest - now))
    return errors


def list_received_plies(bots: list[BenchmarkBot]) -> list[tuple[int, int]]:
    """Return pairs of a game number and a number of plies, for each acknowledgement and state that a bot received."""
    acknowledged = [entry for bot in bots for entry in bot.acknowledged.items()]
    return acknowledged + [(game, state["ply"]) for bot in bots for game, (_, state) in bot.states.items()]


def count_errors(states: dict[int, GameState], received: list[tuple[int, int]]) -> int:
    """Count the errors: illegal moves, games with a clock below -1 s, and pairs in `received` with moves not stored."""
    wrong = sum(len(states[game].moves) < ply for game, ply in received)
    for state in states.values():
        position = Position.start(state.game)
        for move in state.moves:
            wrong += move not in position.legal_moves()
            position = position.after(move)
        wrong += any(left < -1 for left in state.clocks)
    return wrong


def main() -> None:
    """Run the test and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("failure", choices=["server", "database", "disk"])
    parser.add_argument("--times", type=int, default=50, help="number of failures; default: 50")
    parser.add_argument("--games", type=int, default=200, help="simultaneous games; default: 200")
    parser.add_argument("--pause", type=float, default=1.0, help="average seconds before a move; default: 1")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.failure == "server":
            database = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "club.sqlite")
            passed = kill_server(database, create_bots(database, options.pause), options)
        else:
            failure = kill_database(stack) if options.failure == "database" else fill_disk(stack)
            bots = create_bots(failure.database, options.pause)
            server, address = serve(failure.database)
            try:
                passed = asyncio.run(play_with_failures(failure, bots, address, options))
            finally:
                server.kill()
    print("all checks passed" if passed else "checks failed")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
