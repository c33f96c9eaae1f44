"""Measure the club under load: bots play random moves on a server started for the measurement.

    python benchmarks/club.py [--games 200] [--minutes 10] [--pause 1.0] [--club postgresql://USER@HOST/NAME]

At the end, every acknowledged move must be in the database.  `benchmarks/club_failures.py` kills the server or its
database, or fills its disk.
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

from awello.club.accounts import create_account, create_token
from awello.club.game_state import GameState
from awello.club.schema import games
from awello.club.store import ClubStore
from awello.club.stored_games import load_heartbeat, row_to_game_state

MIN_BOTS, GAMES_PER_BOT = 20, 20
MAX_OPEN_CHALLENGES = 100  # challenges that have not yet started a game


class BenchmarkBot:
    """A bot that plays random moves after a short pause, and measures the response times of the server."""

    def __init__(self, name: str, token: str, pause: float, seed: int) -> None:
        self.name, self.token, self.pause, self.rng = name, token, pause, random.Random(seed)
        self.response_times: list[float] = []
        self.acknowledged: dict[int, int] = {}  # number of acknowledged plies by game
        self.sent: dict[int, tuple[float, int]] = {}
        self.refusals: Counter[str] = Counter()
        self.states: dict[int, tuple[float, dict[str, Any]]] = {}  # time of receipt and latest state, by game
        # time of receipt and state, by game, of the states that were received again without a new move
        self.repeated_states: dict[int, tuple[float, dict[str, Any]]] = {}
        self.ready, self.ended = asyncio.Event(), False
        self.challenges: set[int] = set()  # ids of open challenge requests

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
                    await self.handle(json.loads(text))
        self.ended = True

    async def request(self, type: str, **fields: Any) -> int:
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "type": type, **fields}))
        return self.number

    async def challenge(self) -> None:
        """Challenge another bot to a game in which this bot moves first."""
        self.challenges.add(self.number + 1)
        await self.request("challenge", name=self.rng.choice(self.rivals), variant="othello", seconds=300, side=0)

    async def handle(self, message: dict[str, Any]) -> None:
        event = message.get("type")
        if event == "ping":
            await self.socket.send(json.dumps({"type": "pong", "number": message["number"]}))
        elif event == "challenge":
            await self.request("accept", number=message["number"])
        elif event == "game":
            await self.handle_game(message)
        elif message.get("id") in self.sent:
            sent_at, game = self.sent.pop(message["id"])
            if message["type"] == "done":
                self.response_times.append(time.perf_counter() - sent_at)
                self.acknowledged[game] = max(self.acknowledged.get(game, 0), message["ply"])
            else:
                self.refusals[message["code"]] += 1
        elif event == "error":
            self.challenges.discard(message["id"])
            self.refusals[message["code"]] += 1

    async def handle_game(self, state: dict[str, Any]) -> None:
        names = [player["name"] for player in state["players"]]
        _, before = self.states.get(state["game"], (0.0, state))
        if before is not state and before["ply"] == state["ply"]:
            self.repeated_states[state["game"]] = time.time(), state
        self.states[state["game"]] = time.time(), state
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
                    self.pause * self.rng.uniform(0.5, 1.5), lambda: asyncio.ensure_future(self.move(state))
                )

    async def move(self, state: dict[str, Any]) -> None:
        if self.ended:
            return
        sent_at = time.perf_counter()
        move = self.rng.choice(state["legal"])
        self.sent[self.number + 1] = sent_at, state["game"]
        with suppress(ConnectionClosed):
            await self.request("move", game=state["game"], ply=state["ply"], move=move)


async def start_bots(bots: list[BenchmarkBot], address: str, games: int) -> list[asyncio.Task[None]]:
    """Connect bots and start games until `games` are in progress; return the tasks of the bots."""
    names = [bot.name for bot in bots]
    tasks = []
    for bot in bots:
        bot.ready = asyncio.Event()
        rivals = [name for name in names if name != bot.name]
        tasks.append(asyncio.create_task(bot.run(address, rivals)))
    await asyncio.gather(*(asyncio.wait_for(bot.ready.wait(), 60) for bot in bots))
    await asyncio.sleep(0.5)
    while (playing := sum(len(bot.playing) for bot in bots) // 2) < games:
        open_challenges = sum(len(bot.challenges) for bot in bots)
        least_busy = sorted(bots, key=lambda bot: len(bot.playing) + len(bot.challenges))
        for bot in least_busy[: max(0, min(games - playing, MAX_OPEN_CHALLENGES) - open_challenges)]:
            await bot.challenge()
        await asyncio.sleep(0.05)
    return tasks


async def stop_bots(bots: list[BenchmarkBot], tasks: list[asyncio.Task[None]]) -> None:
    """Stop the bots."""
    for bot in bots:
        bot.ended = True
    await asyncio.sleep(1.0)  # time for pending responses
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def play(bots: list[BenchmarkBot], address: str, options: argparse.Namespace, server: int) -> None:
    """Let bots play for the given time, and print measurements."""
    tasks = await start_bots(bots, address, options.games)
    started, counted = time.monotonic(), [0] * len(bots)
    for bot in bots:
        bot.response_times.clear()  # discard the times measured while games were starting
    while time.monotonic() - started < 60 * options.minutes:
        await asyncio.sleep(min(30.0, 60 * options.minutes / 4))
        waits = [wait for bot, count in zip(bots, counted, strict=True) for wait in bot.response_times[count:]]
        counted = [len(bot.response_times) for bot in bots]
        playing = sum(len(bot.playing) for bot in bots) // 2
        refusals = sum((bot.refusals for bot in bots), Counter[str]())
        p95 = statistics.quantiles(waits, n=20)[-1] if len(waits) > 20 else 0.0
        moves = sum(len(bot.response_times) for bot in bots)
        print(
            f"{time.monotonic() - started:5.0f} s: {playing} games, {moves:,d} moves, p95 {1000 * p95:.0f} ms, "
            f"{measure_memory_mib(server):.0f} MiB, {measure_cpu_seconds(server):.0f} s CPU "
            f"(bots: {time.process_time():.0f} s), {dict(refusals)}",
            flush=True,
        )
    await stop_bots(bots, tasks)


def measure_memory_mib(process: int) -> float:
    """Return the resident memory of a process in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def measure_cpu_seconds(process: int) -> float:
    """Return the CPU time of a process in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Run the measurement and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200, help="simultaneous games; default: 200")
    parser.add_argument("--minutes", type=float, default=10.0, help="duration; default: 10")
    parser.add_argument("--pause", type=float, default=1.0, help="average seconds before a move; default: 1")
    parser.add_argument("--club", default="", metavar="DATABASE", help="club database; default: a temporary file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = options.club or str(Path(folder) / "club.sqlite")
        bots = create_bots(database, options.pause, max(MIN_BOTS, options.games // GAMES_PER_BOT))
        server, address = serve(database)
        try:
            asyncio.run(play(bots, address, options, server.pid))
        finally:
            server.terminate()
            server.wait()
        states, _ = load_games(database)
        report(states, bots)


def serve(database: str, *options: str) -> tuple[subprocess.Popen[str], str]:
    """Start a server; return its process and WebSocket URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "awello", "serve", "--no-archive", "--no-browser", "--jobs", "1"]
    command += ["--port", str(port), "--club", database, *options]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True)
    for _ in range(600):
        with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/api/health"):  # nosec B310 # our own server
            return server, f"ws://127.0.0.1:{port}/api/club/live"
        time.sleep(0.1)
    raise RuntimeError("the server did not answer within 60 s")


def load_games(database: str) -> tuple[dict[int, GameState], float]:
    """Load the states of all games by number, and the time of the last heartbeat (0 if there is none)."""
    store = ClubStore(database)
    rows = store.read_blocking(lambda connection: connection.execute(games.select()).all())
    states = [row_to_game_state(row) for row in rows]
    heartbeat = store.read_blocking(load_heartbeat)
    store.close()
    return {state.number: state for state in states}, heartbeat or 0.0


def create_bots(database: str, pause: float, count: int = MIN_BOTS) -> list[BenchmarkBot]:
    """Create bot accounts with tokens; return the bots."""
    store = ClubStore(database)
    bots = []
    for number in range(count):
        owner = store.submit(partial(create_account, name=f"owner{number}", password_hash=None)).result()
        name = f"bot{number}"
        account = store.submit(partial(create_account, name=name, password_hash=None, owner=owner.id)).result()
        token = store.submit(partial(create_token, account=account, label="benchmark")).result()
        bots.append(BenchmarkBot(name, token, pause, number))
    store.close()
    return bots


def report(states: dict[int, GameState], bots: list[BenchmarkBot]) -> None:
    """Print response times, and the number of games whose acknowledged moves are not all stored."""
    lost = sum(len(states[game].moves) < ply for bot in bots for game, ply in bot.acknowledged.items())
    waits = [wait for bot in bots for wait in bot.response_times]
    p95 = statistics.quantiles(waits, n=100)[94]
    print(f"{len(states):,d} games, {len(waits):,d} moves acknowledged, {lost} games with lost moves")
    times = (
        f"{1000 * statistics.median(waits):.1f} ms (median), {1000 * p95:.1f} (p95), {1000 * max(waits):.0f} (maximum)"
    )
    print(f"acknowledged in {times}")


if __name__ == "__main__":
    main()
