"""How the club stands many games at once: programs play random moves on a server of its own.

    python benchmarks/club.py [--games 200] [--minutes 10] [--pause 1.0] [--club postgresql://USER@HOST/NAME]

Every move that was acknowledged must be in the books at the end.  What happens when the server is killed, its database
is, or its disk is full, is seen by `benchmarks/club_trouble.py`.
"""

import argparse
import asyncio
import json
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from awello.club.accounts import make_token, open_account
from awello.club.game_state import GameState
from awello.club.schema import games
from awello.club.store import ClubStore
from awello.club.stored_games import game_state_of, last_heartbeat

PROGRAMS, GAMES_PER_PROGRAM = 20, 20  # at least so many programs, and more for many games
AT_ONCE = 100  # challenges that wait for their games


class Program:
    """A program that plays random moves, a little later than it could, and counts what comes back."""

    def __init__(self, name: str, token: str, pause: float, seed: int) -> None:
        self.name, self.token, self.pause, self.chance = name, token, pause, random.Random(seed)
        self.waits: list[float] = []
        self.acknowledged: dict[int, int] = {}  # the plies of each game that were acknowledged
        self.sent: dict[int, tuple[float, int]] = {}
        self.trouble: Counter[str] = Counter()
        self.told: dict[int, tuple[float, dict[str, Any]]] = {}  # each game as it was last told, and when
        self.again: dict[int, tuple[float, dict[str, Any]]] = {}  # and as it was told without a move
        self.ready, self.ended = asyncio.Event(), False
        self.challenges: set[int] = set()  # requests that have led neither to a game nor to a refusal

    async def run(self, address: str, rivals: list[str]) -> None:
        """Play until the connection ends."""
        headers = {"authorization": f"Bearer {self.token}"}
        self.rivals, self.number, self.playing, self.ended = rivals, 0, set[int](), False
        self.sent.clear()
        self.challenges.clear()
        with suppress(ConnectionClosed):
            async with connect(address, additional_headers=headers) as self.socket:
                self.ready.set()
                async for text in self.socket:
                    await self.hear(json.loads(text))
        self.ended = True

    async def ask(self, do: str, **fields: Any) -> int:
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "type": do, **fields}))
        return self.number

    async def challenge(self) -> None:
        """Challenge another program, and move first."""
        self.challenges.add(self.number + 1)
        await self.ask("challenge", name=self.chance.choice(self.rivals), kind="othello", seconds=300, side=0)

    async def hear(self, message: dict[str, Any]) -> None:
        event = message.get("type")
        if event == "ping":
            await self.socket.send(json.dumps({"type": "pong", "number": message["number"]}))
        elif event == "challenge":
            await self.ask("accept", number=message["number"])
        elif event == "game":
            await self.look(message)
        elif "ok" in message and message["id"] in self.sent:
            moment, game = self.sent.pop(message["id"])
            if message["type"] == "done":
                self.waits.append(time.perf_counter() - moment)
                self.acknowledged[game] = max(self.acknowledged.get(game, 0), message["ply"])
            else:
                self.trouble[message["code"]] += 1
        elif message.get("ok") is False:
            self.challenges.discard(message["id"])
            self.trouble[message["code"]] += 1

    async def look(self, state: dict[str, Any]) -> None:
        names = [player["name"] for player in state["players"]]
        _, before = self.told.get(state["game"], (0.0, state))
        if before is not state and before["ply"] == state["ply"]:
            self.again[state["game"]] = time.time(), state
        self.told[state["game"]] = time.time(), state
        if state["over"]:
            self.playing.discard(state["game"])
            if names[0] == self.name:
                await self.challenge()
        else:
            if state["game"] not in self.playing and names[0] == self.name and self.challenges:
                self.challenges.pop()
            self.playing.add(state["game"])
            if names[state["mover"]] == self.name:
                asyncio.get_running_loop().call_later(
                    self.pause * self.chance.uniform(0.5, 1.5), lambda: asyncio.ensure_future(self.move(state))
                )

    async def move(self, state: dict[str, Any]) -> None:
        if self.ended:
            return
        moment = time.perf_counter()
        move = self.chance.choice(state["legal"])
        self.sent[self.number + 1] = moment, state["game"]
        with suppress(ConnectionClosed):
            await self.ask("move", game=state["game"], ply=state["ply"], move=move)


async def gather(programs: list[Program], address: str, games: int) -> list[asyncio.Task[None]]:
    """Let programs come in, and begin games until there are enough."""
    names = [program.name for program in programs]
    tasks = []
    for program in programs:
        program.ready = asyncio.Event()
        rivals = [name for name in names if name != program.name]
        tasks.append(asyncio.create_task(program.run(address, rivals)))
    await asyncio.gather(*(asyncio.wait_for(program.ready.wait(), 60) for program in programs))
    await asyncio.sleep(0.5)
    while (playing := sum(len(program.playing) for program in programs) // 2) < games:
        waiting = sum(len(program.challenges) for program in programs)
        few = sorted(programs, key=lambda program: len(program.playing) + len(program.challenges))
        for program in few[: max(0, min(games - playing, AT_ONCE) - waiting)]:
            await program.challenge()
        await asyncio.sleep(0.05)
    return tasks


async def part(programs: list[Program], tasks: list[asyncio.Task[None]]) -> None:
    """Let programs go."""
    for program in programs:
        program.ended = True
    await asyncio.sleep(1.0)  # for the answers that are on their way
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def play(programs: list[Program], address: str, options: argparse.Namespace, server: int) -> None:
    """Let programs play for the time, and print how it goes."""
    tasks = await gather(programs, address, options.games)
    begun, counted = time.monotonic(), [0] * len(programs)
    for program in programs:
        program.waits.clear()  # of moves beside hundreds of games that began
    while time.monotonic() - begun < 60 * options.minutes:
        await asyncio.sleep(min(30.0, 60 * options.minutes / 4))
        waits = [wait for program, seen in zip(programs, counted, strict=True) for wait in program.waits[seen:]]
        counted = [len(program.waits) for program in programs]
        playing = sum(len(program.playing) for program in programs) // 2
        trouble = sum((program.trouble for program in programs), Counter[str]())
        p95 = statistics.quantiles(waits, n=20)[-1] if len(waits) > 20 else 0.0
        moves = sum(len(program.waits) for program in programs)
        print(
            f"{time.monotonic() - begun:5.0f} s: {playing} games, {moves:,d} moves, p95 {1000 * p95:.0f} ms, "
            f"{memory(server):.0f} MiB, {cpu_seconds(server):.0f} s of CPU "
            f"(these programs {time.process_time():.0f}), {dict(trouble)}",
            flush=True,
        )
    await part(programs, tasks)


def memory(process: int) -> float:
    """The memory of a process in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def cpu_seconds(process: int) -> float:
    """The CPU time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds before a move, on average")
    parser.add_argument("--club", default="", help="the books, if not a file that is thrown away")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = options.club or str(Path(folder) / "club.sqlite")
        programs = prepare(place, options.pause, max(PROGRAMS, options.games // GAMES_PER_PROGRAM))
        server, address = serve(place)
        try:
            asyncio.run(play(programs, address, options, server.pid))
        finally:
            server.terminate()
            server.wait()
        tables, _ = look(place)
        report(tables, programs)


def serve(place: str, *options: str) -> tuple[subprocess.Popen[str], str]:
    """A server that is ready, and the address of its channel."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "awello", "serve", "--no-archive", "--no-browser", "--jobs", "1"]
    command += ["--port", str(port), "--club", place, *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True)
    for _ in range(600):
        with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/api/health"):  # nosec B310 # our own
            return server, f"ws://127.0.0.1:{port}/api/club/live"
        time.sleep(0.1)
    raise RuntimeError("the server does not answer")


def look(place: str) -> tuple[dict[int, GameState], float]:
    """The games in the books, each replayed by the rules, and when the club was last known to be open."""
    store = ClubStore(place)
    tables = store.read(lambda connection: [game_state_of(row) for row in connection.execute(games.select())])
    stopped = store.read(last_heartbeat)
    store.close()
    return {table.number: table for table in tables}, stopped or 0.0


def prepare(place: str, pause: float, count: int = PROGRAMS) -> list[Program]:
    """New programs."""
    store = ClubStore(place)
    programs = []
    for number in range(count):
        owner = store.submit(partial(open_account, name=f"owner{number}", hashed="none")).result()
        name = f"program{number}"
        made = store.submit(partial(open_account, name=name, hashed=None, owner=owner.number)).result()
        token = store.submit(partial(make_token, account=made, label="benchmark")).result()
        programs.append(Program(name, token, pause, number))
    store.close()
    return programs


def report(tables: dict[int, GameState], programs: list[Program]) -> None:
    """Compare what was acknowledged with what is in the books."""
    lost = sum(len(tables[game].moves) < ply for program in programs for game, ply in program.acknowledged.items())
    waits = [wait for program in programs for wait in program.waits]
    late = statistics.quantiles(waits, n=100)[94]
    print(f"{len(tables):,d} games, {len(waits):,d} moves acknowledged, {lost} games in which one was lost")
    times = (
        f"{1000 * statistics.median(waits):.1f} ms (median), {1000 * late:.1f} (p95), {1000 * max(waits):.0f} (most)"
    )
    print(f"acknowledged in {times}")


if __name__ == "__main__":
    main()
