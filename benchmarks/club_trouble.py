"""What becomes of games when the club's server is killed, its database is, or its disk is full.

    python benchmarks/club_trouble.py server [--times 50] [--games 200]
    python benchmarks/club_trouble.py database [--times 50]   # a PostgreSQL server of its own, killed and started again
    python benchmarks/club_trouble.py disk [--times 50]       # a small disk of its own, filled and emptied; by root

Programs play random moves.  After each time the books are compared with what the programs were told: every move that
was acknowledged must be there, every game must be one that the rules allow, and the clocks must be right within a
second.  The exit status says whether they were.
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

from club import Program, gather, look, part, prepare, serve

from awello.club.game_state import GameState
from awello.position import Position

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from database import Postgres, new_database

DISK = 16  # MiB
PATIENCE = 60.0  # seconds until games must go on

Told = dict[int, tuple[float, dict[str, Any]]]


@dataclass
class Trouble:
    """Something that happens to the books while the server runs."""

    place: str
    begin: Callable[[], object]
    end: Callable[[], object]


def lose_database(stack: ExitStack) -> Trouble:
    """A database that is killed."""
    server = Postgres()
    stack.callback(server.remove)
    return Trouble(new_database(str(server.folder), "club"), server.kill, server.start)


def fill_disk(stack: ExitStack) -> Trouble:
    """A disk that is full."""
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

    return Trouble(str(folder / "club.sqlite"), fill, rest.unlink)


# ---- the server is killed --------------------------------------------------------------------------------------------
def kill_server(place: str, programs: list[Program], options: argparse.Namespace) -> bool:
    """Kill the server again and again; whether all was well."""
    worst, wrong = 0.0, 0
    for number in range(1, options.times + 1):
        server, address = serve(place)
        try:
            moment = asyncio.run(interrupt(programs, address, server, options.games))
        finally:
            server.kill()
        states, stopped = look(place)
        wrong += count_wrong(states, plies(programs))
        worst = max(worst, worst_clock(states, programs, moment, stopped))
        moves = sum(len(program.waits) for program in programs)
        playing = sum(not state.over for state in states.values())
        print(
            f"kill {number}: {playing} games, {moves:,d} moves acknowledged, {wrong} wrong, "
            f"clocks within {worst:.2f} s",
            flush=True,
        )
    return not wrong and worst <= 1.0


async def interrupt(programs: list[Program], address: str, server: subprocess.Popen[str], games: int) -> float:
    """Let programs play for a moment, and kill the server; when that was."""
    tasks = await gather(programs, address, games)
    await asyncio.sleep(random.uniform(0.2, 3.0))
    server.send_signal(signal.SIGKILL)
    moment = time.time()
    server.wait()
    await asyncio.gather(*tasks)
    return moment


def worst_clock(states: dict[int, GameState], programs: list[Program], moment: float, stopped: float) -> float:
    """By how much a clock in the books differs at most from what programs were told before a moment."""
    worst = 0.0
    for program in programs:
        for game, (told, message) in program.told.items():
            state = states[game]
            if len(state.moves) == message["ply"] and not state.over and told > moment - 10:
                left = message["clocks"][state.mover] - (moment - told)
                worst = max(worst, abs(state.resume(stopped, moment).clocks_at(moment)[state.mover] - left))
    return worst


# ---- something happens to the books ----------------------------------------------------------------------------------
async def suffer(trouble: Trouble, programs: list[Program], address: str, options: argparse.Namespace) -> bool:
    """Let something happen again and again while the server runs; whether all was well."""
    tasks = await gather(programs, address, options.games)
    worst, wrong, compared = 0.0, 0, 0
    for number in range(1, options.times + 1):
        await asyncio.sleep(random.uniform(0.5, 3.0))
        refused = refusals(programs)
        begun = time.time()
        await asyncio.to_thread(trouble.begin)
        await until(lambda before=refused: refusals(programs) > before)  # type: ignore[misc]
        stopped = time.time()
        await asyncio.sleep(random.uniform(0.2, 2.0))
        told = {game: entry for program in programs for game, entry in program.told.items()}
        for program in programs:
            program.again.clear()
        acknowledged = sum(len(program.waits) for program in programs)
        await asyncio.to_thread(trouble.end)
        await until(lambda before=acknowledged: sum(len(p.waits) for p in programs) > before)  # type: ignore[misc]
        back = time.time()
        await asyncio.sleep(0.5)
        found = differences(told, programs, begun, stopped)
        worst, compared = max([worst, *found]), compared + len(found)
        known = plies(programs)  # while the books are read the games go on
        states, _ = await asyncio.to_thread(look, trouble.place)
        wrong += count_wrong(states, known)
        moves = sum(len(program.waits) for program in programs)
        print(
            f"time {number}: {len(found)} games, {moves:,d} moves acknowledged, {refusals(programs):,d} refused with "
            f"a reason, {wrong} wrong, clocks within {worst:.2f} s, after {back - begun:.1f} s they went on",
            flush=True,
        )
    await part(programs, tasks)
    print(f"other refusals: {dict(sum((program.trouble for program in programs), Counter[str]()))}")
    return not wrong and worst <= 1.0 and compared > 0


def refusals(programs: list[Program]) -> int:
    """How often programs were told that nothing can be written."""
    return sum(program.trouble["storage"] for program in programs)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something."""
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.02)


def differences(told: Told, programs: list[Program], begun: float, stopped: float) -> list[float]:
    """By how much clocks differ from what they were when nothing could be written any more.

    That was at some moment between two: what the clock says now must be right for one of them.
    """
    found = []
    for game, (_, after) in {game: entry for program in programs for game, entry in program.again.items()}.items():
        if game in told and told[game][1]["ply"] == after["ply"] and not after["over"]:
            moment, before = told[game]
            side = before["mover"]
            most, least = (before["clocks"][side] - max(0.0, at - moment) for at in (begun, stopped))
            now = after["clocks"][side]
            found.append(max(0.0, now - most, least - now))
    return found


def plies(programs: list[Program]) -> list[tuple[int, int]]:
    """Games, and how many moves of them were acknowledged or told."""
    acknowledged = [entry for program in programs for entry in program.acknowledged.items()]
    return acknowledged + [(game, state["ply"]) for program in programs for game, (_, state) in program.told.items()]


def count_wrong(states: dict[int, GameState], known: list[tuple[int, int]]) -> int:
    """How often a game lacks a move that is known, or is none that the rules allow."""
    wrong = sum(len(states[game].moves) < ply for game, ply in known)
    for state in states.values():
        position = Position.start(state.game)
        for move in state.moves:
            wrong += move not in position.legal_moves()
            position = position.after(move)
        wrong += any(left < -1 for left in state.clocks)
    return wrong


def main() -> None:
    """Let it happen, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["server", "database", "disk"])
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds before a move, on average")
    options = parser.parse_args()
    with ExitStack() as stack:
        if options.what == "server":
            place = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "club.sqlite")
            well = kill_server(place, prepare(place, options.pause), options)
        else:
            trouble = lose_database(stack) if options.what == "database" else fill_disk(stack)
            programs = prepare(trouble.place, options.pause)
            server, address = serve(trouble.place)
            try:
                well = asyncio.run(suffer(trouble, programs, address, options))
            finally:
                server.kill()
    print("all is well" if well else "something is wrong")
    sys.exit(not well)


if __name__ == "__main__":
    main()
