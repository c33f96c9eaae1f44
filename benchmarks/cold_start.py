"""Measure how long `awello serve` takes to start with an empty kernel cache.

    python benchmarks/cold_start.py

A client requests the page, then the reply to a move in Othello and in Awalé, and waits until all kernels are in the
cache.  After each step, the script prints the elapsed time and the CPU time since the start, in seconds.  It needs
Linux.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

from websockets.asyncio.client import connect

FIRST_MOVES = {"Othello": ("othello", ["f5"]), "Awalé": ("abapa", ["C"])}
PLAYER_SPEC = "champion@level=4"
POLL_SECONDS = 0.1  # interval of cache checks
CLOCK_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
KERNEL_PATTERN = re.compile(r"^@kernel\(", re.M)


def measure_session_cpu_seconds(session: int) -> float:
    """Return the CPU time of all processes of a session and their finished children."""
    used = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # the process has just ended
            continue
        if int(fields[3]) == session:
            used += sum(map(int, fields[11:15]))
    return used / CLOCK_TICKS_PER_SECOND


def count_kernels() -> int:
    """Count the kernels in the source files."""
    package = Path(__file__).parent.parent / "awello"
    return sum(len(KERNEL_PATTERN.findall(file.read_text("utf-8"))) for file in package.rglob("*.py"))


async def wait_for_choice(address: str, game: str, moves: list[str]) -> None:
    """Request the engine's reply to a move, and wait for it."""
    async with connect(address.replace("http", "ws") + "api/engine") as channel:
        await channel.send(json.dumps({"id": 1, "type": "choose", "game": game, "moves": moves, "player": PLAYER_SPEC}))
        while (message := json.loads(await channel.recv()))["type"] != "choice":
            if message["type"] == "error":
                raise SystemExit(f"{game}: {message['message']}")


def measure(cache: Path) -> None:
    """Start the server and print the time of each step."""
    started = time.perf_counter()
    command = [sys.executable, "-m", "awello", "serve", "--no-browser", "--port", "0"]
    environment = os.environ | {"AWELLO_CACHE": str(cache), "AWELLO_DATA": str(cache)}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)

    def report(step: str) -> None:
        used = measure_session_cpu_seconds(server.pid)
        print(f"{step:<32}{time.perf_counter() - started:6.1f} s {used:6.1f} s CPU", flush=True)

    try:
        assert server.stdout
        address = server.stdout.readline().split()[4]
        with urlopen(address) as page:  # noqa: S310 - our own server
            page.read()
        report("page served")
        for name, (game, moves) in FIRST_MOVES.items():
            asyncio.run(wait_for_choice(address, game, moves))
            report(f"first reply in {name}")
        total = count_kernels()
        while sum(1 for _ in cache.rglob("*.nbi")) < total:
            time.sleep(POLL_SECONDS)
        report(f"all {total} kernels compiled")
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder))
