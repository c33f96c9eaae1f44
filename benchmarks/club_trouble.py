"""Test the club when its server or its database is killed, or its disk is full.

    python benchmarks/club_trouble.py server [--times 50] [--games 200]
    python benchmarks/club_trouble.py database [--times 50]   # a PostgreSQL server of its own, killed and started again
    python benchmarks/club_trouble.py disk [--times 50]       # a small disk of its own, filled and emptied; by root

Bots play random moves.  After each failure the stored games are compared with what the bots received: every
acknowledged move must be stored, every game must be legal, and the clocks must be right within a second.  The exit
status tells whether they were.
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

DISK = 16  # MiB
PATIENCE = 60.0  # until games must continue

StatesByGame = dict[int, tuple[float, dict[str, Any]]]


@dataclass
class Failure:
    """A failure of the database while the server runs."""

    database: str
    begin: Callable[[], object]
    end: Callable[[], object]


def kill_database(stack: ExitStack) -> Failure:
    """Kill the database."""
    server = Postgres()
    stack.callback(server.remove)
    return Failure(new_database(str(server.folder), "club"), server.kill, server.start)


def fill_disk(stack: ExitStack) -> Failure:
    """Fill the disk."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", f"size={DISK}m", "tmpfs", str(folder)], check=True)
    stack.callback(subprocess.run, ["/bin/umount", "--lazy", str(folder)], check=True)
    rest = folder / "rest"

    def fill() -> None:
        with rest.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1024))
            except OSError:
                return

    return Failure(str(folder / "club.sqlite"), fill, rest.unlink)


# ---- the server is killed --------------------------------------------------------------------------------------------
def kill_server(database: str, bots: list[BenchmarkBot], options: argparse.Namespace) -> bool:
    """Kill the server repeatedly; return whether nothing was lost."""
    worst, wrong = 0.0, 0
    for number in range(1, options.times + 1):
        server, address = serve(database)
        try:
            moment = asyncio.run(play_and_kill(bots, address, server, options.games))
        finally:
            server.kill()
        states, stopped = load_games(database)
        wrong += count_errors(states, known_plies(bots))
        worst = max(worst, max_clock_error(states, bots, moment, stopped))
        moves = sum(len(bot.waits) for bot in bots)
        playing = sum(not state.over for state in states.values())
        print(
            f"kill {number}: {playing} games, {moves:,d} moves acknowledged, {wrong} wrong, "
            f"clocks within {worst:.2f} s",
            flush=True,
        )
    return not wrong and worst <= 1.0


async def play_and_kill(bots: list[BenchmarkBot], address: str, server: subprocess.Popen[str], games: int) -> float:
    """Let bots play for a short time and kill the server; return the time of the kill."""
    tasks = await start_bots(bots, address, games)
    await asyncio.sleep(random.uniform(0.2, 3.0))
    server.send_signal(signal.SIGKILL)
    moment = time.time()
    server.wait()
    await asyncio.gather(*tasks)
    return moment


def max_clock_error(states: dict[int, GameState], bots: list[BenchmarkBot], moment: float, stopped: float) -> float:
    """The largest difference between a stored clock and the one sent to bots before the kill."""
    worst = 0.0
    for bot in bots:
        for game, (told, message) in bot.states.items():
            state = states[game]
            if len(state.moves) == message["ply"] and not state.over and told > moment - 10:
                left = message["clocks"][state.mover] - (moment - told)
                worst = max(worst, abs(state.resume(stopped, moment).clocks_at(moment)[state.mover] - left))
    return worst


# ---- failures of the database ----------------------------------------------------------------------------------------
async def play_with_failures(
    failure: Failure, bots: list[BenchmarkBot], address: str, options: argparse.Namespace
) -> bool:
    """Let the database fail repeatedly while the server runs; return whether nothing was lost."""
    tasks = await start_bots(bots, address, options.games)
    worst, wrong, compared = 0.0, 0, 0
    for number in range(1, options.times + 1):
        await asyncio.sleep(random.uniform(0.5, 3.0))
        refused = count_refusals(bots)
        begun = time.time()
        await asyncio.to_thread(failure.begin)
        await until(lambda before=refused: count_refusals(bots) > before)  # type: ignore[misc]
        stopped = time.time()
        await asyncio.sleep(random.uniform(0.2, 2.0))
        told = {game: entry for bot in bots for game, entry in bot.states.items()}
        for bot in bots:
            bot.repeated_states.clear()
        acknowledged = sum(len(bot.waits) for bot in bots)
        await asyncio.to_thread(failure.end)
        await until(lambda before=acknowledged: sum(len(p.waits) for p in bots) > before)  # type: ignore[misc]
        back = time.time()
        await asyncio.sleep(0.5)
        found = clock_errors(told, bots, begun, stopped)
        worst, compared = max([worst, *found]), compared + len(found)
        known = known_plies(bots)  # while the games are loaded, play continues
        states, _ = await asyncio.to_thread(load_games, failure.database)
        wrong += count_errors(states, known)
        moves = sum(len(bot.waits) for bot in bots)
        print(
            f"time {number}: {len(found)} games, {moves:,d} moves acknowledged, {count_refusals(bots):,d} refused with "
            f"a reason, {wrong} wrong, clocks within {worst:.2f} s, resumed after {back - begun:.1f} s",
            flush=True,
        )
    await stop_bots(bots, tasks)
    print(f"other refusals: {dict(sum((bot.refusals for bot in bots), Counter[str]()))}")
    return not wrong and worst <= 1.0 and compared > 0


def count_refusals(bots: list[BenchmarkBot]) -> int:
    """The number of refusals because of the database."""
    return sum(bot.refusals["storage"] for bot in bots)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for a condition."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


def clock_errors(told: StatesByGame, bots: list[BenchmarkBot], begun: float, stopped: float) -> list[float]:
    """The differences between clocks after a failure and when the database failed.

    It failed at some time between two; the clock must be right for one of them.
    """
    found = []
    for game, (_, after) in {game: entry for bot in bots for game, entry in bot.repeated_states.items()}.items():
        if game in told and told[game][1]["ply"] == after["ply"] and not after["over"]:
            moment, before = told[game]
            side = before["mover"]
            most, least = (before["clocks"][side] - max(0.0, at - moment) for at in (begun, stopped))
            now = after["clocks"][side]
            found.append(max(0.0, now - most, least - now))
    return found


def known_plies(bots: list[BenchmarkBot]) -> list[tuple[int, int]]:
    """Games, and the number of moves known to the bots."""
    acknowledged = [entry for bot in bots for entry in bot.acknowledged.items()]
    return acknowledged + [(game, state["ply"]) for bot in bots for game, (_, state) in bot.states.items()]


def count_errors(states: dict[int, GameState], known: list[tuple[int, int]]) -> int:
    """The number of missing or illegal moves."""
    wrong = sum(len(states[game].moves) < ply for game, ply in known)
    for state in states.values():
        position = Position.start(state.game)
        for move in state.moves:
            wrong += move not in position.legal_moves()
            position = position.after(move)
        wrong += any(left < -1 for left in state.clocks)
    return wrong


def main() -> None:
    """Run the failures and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["server", "database", "disk"])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds before a move, on average")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.what == "server":
            database = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "club.sqlite")
            well = kill_server(database, create_bots(database, options.pause), options)
        else:
            failure = kill_database(stack) if options.what == "database" else fill_disk(stack)
            bots = create_bots(failure.database, options.pause)
            server, address = serve(failure.database)
            try:
                well = asyncio.run(play_with_failures(failure, bots, address, options))
            finally:
                server.kill()
    print("all is well" if well else "something is wrong")
    sys.exit(not well)


if __name__ == "__main__":
    main()
