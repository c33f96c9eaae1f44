"""How the club stands many games at once: programs that play random moves on a server of its own.

python benchmarks/club.py [--games 200] [--minutes 10] [--pause 1.0]
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect

from awello.club.accounts import make_token, open_account
from awello.club.desk import Desk, table_of
from awello.club.schema import games

PROGRAMS = 20


class Program:
    """A program that plays random moves, a little later than it could, and counts what comes back."""

    def __init__(self, name: str, token: str, pause: float, seed: int) -> None:
        self.name, self.token, self.pause, self.chance = name, token, pause, random.Random(seed)
        self.waits: list[float] = []
        self.acknowledged: dict[int, int] = {}  # the plies of each game that were acknowledged
        self.sent: dict[int, tuple[float, int]] = {}
        self.trouble: Counter[str] = Counter()
        self.ready, self.ended = asyncio.Event(), False

    async def run(self, address: str, rivals: list[str], most: int) -> None:
        """Play for ever."""
        headers = {"authorization": f"Bearer {self.token}"}
        async with connect(address, additional_headers=headers) as self.socket:
            self.ready.set()
            self.rivals, self.most, self.number, self.playing = rivals, most, 0, set[int]()
            async for text in self.socket:
                await self.hear(json.loads(text))

    async def ask(self, do: str, **fields: Any) -> int:
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "do": do, **fields}))
        return self.number

    async def challenge(self) -> None:
        """Challenge somebody, until there are enough games."""
        await self.ask("challenge", name=self.chance.choice(self.rivals), kind="othello", seconds=300)

    async def hear(self, message: dict[str, Any]) -> None:
        event = message.get("event")
        if event == "ping":
            await self.socket.send(json.dumps({"do": "pong", "number": message["number"]}))
        elif event == "challenge":
            await self.ask("accept", number=message["number"])
        elif event == "game":
            await self.look(message)
        elif "ok" in message and message["id"] in self.sent:
            moment, game = self.sent.pop(message["id"])
            if message["ok"]:
                self.waits.append(time.perf_counter() - moment)
                self.acknowledged[game] = max(self.acknowledged.get(game, 0), message["ply"])
            else:
                self.trouble[message["code"]] += 1
        elif message.get("ok") is False:
            self.trouble[message["code"]] += 1

    async def look(self, state: dict[str, Any]) -> None:
        names = [player["name"] for player in state["players"]]
        if state["over"]:
            self.playing.discard(state["game"])
            if names[0] == self.name:
                await self.challenge()
        else:
            self.playing.add(state["game"])
            if names[state["mover"]] == self.name:
                asyncio.get_running_loop().call_later(
                    self.pause * self.chance.uniform(0.5, 1.5), lambda: asyncio.ensure_future(self.move(state))
                )

    async def move(self, state: dict[str, Any]) -> None:
        if self.ended:
            return
        moment = time.perf_counter()
        number = await self.ask("move", game=state["game"], ply=state["ply"], move=self.chance.choice(state["legal"]))
        self.sent[number] = moment, state["game"]


async def play(address: str, tokens: dict[str, str], options: argparse.Namespace, server: int) -> list[Program]:
    """Let programs play for the time, and print how it goes."""
    names = list(tokens)
    programs = [Program(name, token, options.pause, seed) for seed, (name, token) in enumerate(tokens.items())]
    each = options.games // len(programs)
    tasks = [
        asyncio.create_task(program.run(address, [name for name in names if name != program.name], each))
        for program in programs
    ]
    await asyncio.gather(*(program.ready.wait() for program in programs))
    for _ in range(each):
        for program in programs:
            await program.challenge()
        await asyncio.sleep(0.05)
    begun = time.monotonic()
    while time.monotonic() - begun < 60 * options.minutes:
        await asyncio.sleep(min(30.0, 60 * options.minutes / 4))
        waits = [wait for program in programs for wait in program.waits[-500:]]
        playing = sum(len(program.playing) for program in programs) // 2
        trouble = sum((program.trouble for program in programs), Counter[str]())
        p95 = statistics.quantiles(waits, n=20)[-1] if len(waits) > 20 else 0.0
        moves = sum(len(program.waits) for program in programs)
        print(
            f"{time.monotonic() - begun:5.0f} s: {playing} games, {moves:,d} moves, p95 {1000 * p95:.0f} ms, "
            f"{memory(server):.0f} MiB, {dict(trouble)}",
            flush=True,
        )
    for program in programs:
        program.ended = True
    await asyncio.sleep(1.0)  # for the answers that are on their way
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return programs


def memory(process: int) -> float:
    """The memory of a process in MiB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds before a move, on average")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "club.sqlite"
        tokens = prepare(file)
        command = [sys.executable, "-m", "awello", "serve", "--no-archive", "--no-browser", "--threads", "1"]
        server = subprocess.Popen([*command, "--port", "0", "--club", str(file)], stdout=subprocess.PIPE, text=True)
        assert server.stdout
        address = server.stdout.readline().split()[3].replace("http", "ws") + "api/club/live"
        time.sleep(5)
        programs = asyncio.run(play(address, tokens, options, server.pid))
        server.terminate()
        server.wait()
        report(file, programs)


def prepare(file: Path) -> dict[str, str]:
    """The tokens of new programs."""
    desk = Desk(file)
    owners = [desk.write(partial(open_account, name=f"owner{n}", hashed="none")).result() for n in range(PROGRAMS)]
    tokens = {}
    for number, owner in enumerate(owners):
        name = f"program{number}"
        made = desk.write(partial(open_account, name=name, hashed=None, owner=owner.number)).result()
        tokens[name] = desk.write(partial(make_token, account=made, label="benchmark")).result()
    desk.close()
    return tokens


def report(file: Path, programs: list[Program]) -> None:
    """Compare what was acknowledged with what is in the books."""
    desk = Desk(file)
    tables = desk.read(lambda connection: [table_of(row) for row in connection.execute(games.select())])
    desk.close()
    plies = {table.number: len(table.moves) for table in tables}
    lost = sum(plies.get(game, 0) < ply for program in programs for game, ply in program.acknowledged.items())
    waits = [wait for program in programs for wait in program.waits]
    quantiles = statistics.quantiles(waits, n=100)
    print(f"{len(tables):,d} games, {len(waits):,d} moves acknowledged, {lost} games in which one was lost")
    print(
        f"acknowledged in {1000 * statistics.median(waits):.1f} ms (median), {1000 * quantiles[94]:.1f} (p95), "
        f"{1000 * max(waits):.0f} (most)"
    )


if __name__ == "__main__":
    main()
