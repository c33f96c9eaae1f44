"""Measure the response times of the page, idle and during thirty simultaneous games with analysis.

    python benchmarks/page.py [GAMES] [SECONDS]

Needs the development tools and Chromium.  The script starts a server of its own.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import httpx2 as httpx
from websockets.asyncio.client import connect

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from browser import cell, open_browser, run_server_process

OPENING = ["f5", "d6", "c3", "d3", "c4", "f4", "f6", "f3", "e6", "e7"]
CLICK = """() => new Promise((resolve) => {
  const square = document.querySelector("[data-cell=f5]");
  new MutationObserver(() => {
    const changed = performance.now() - clicked;
    requestAnimationFrame(() => resolve([changed, performance.now() - clicked]));
  }).observe(document.querySelector("othello-board"), { subtree: true, childList: true, attributes: true });
  const clicked = performance.now();
  square.click();
})"""


def count_processes(server: str) -> tuple[int, int]:
    """Count the child processes of a server, and their running threads."""
    children = [path for path in Path("/proc").glob("[0-9]*") if _is_child(path, server)]
    running = 0
    for child in children:
        for thread in child.glob("task/*/stat"):
            running += thread.read_text().rsplit(")", 1)[1].split()[0] == "R"
    return len(children), running


def _is_child(path: Path, parent: str) -> bool:
    try:
        return path.joinpath("stat").read_text().rsplit(")", 1)[1].split()[1] == parent
    except OSError:
        return False


def find_server(port: str) -> str:
    """Return the process id of the server on a port, or an empty string if there is none."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = path.joinpath("cmdline").read_text().split("\0")
        except OSError:
            continue
        if "serve" in words and port in words:
            return path.name
    return ""


def measure_page(address: str) -> None:
    """Measure the time from opening the page to the first possible move, and from a click to the changed board."""
    with open_browser() as browser:
        for visit in ("first visit", "second visit"):
            page = browser.new_page()
            started = time.perf_counter()
            page.goto(address)
            cell(page, "f5").and_(page.locator("[aria-label*=legal]")).wait_for()
            print(f"{visit}: first move possible after {1000 * (time.perf_counter() - started):.0f} ms")
            changed, painted = page.evaluate(CLICK)
            print(f"{visit}: a click changes the board after {changed:.1f} ms; it is painted after {painted:.1f} ms")
            page.close()


async def play_games(address: str, number: int, deadline: float, moves: list[int]) -> None:
    """Let the champion play games against itself while an analysis runs; count the moves in `moves[number]`."""
    game = ("othello", "abapa")[number % 2]
    async with connect(address.replace("http", "ws") + "api/engine") as socket:
        while time.perf_counter() < deadline:
            played: list[str] = []
            while time.perf_counter() < deadline:
                position = {"game": game, "moves": played}
                await socket.send(json.dumps({"id": "analysis", "type": "analyse", **position, "seconds": 10}))
                choice = {"id": "move", "type": "choose", **position, "player": "champion@level=3"}
                await socket.send(json.dumps(choice))
                while (response := json.loads(await socket.recv())).get("type") != "choice":
                    if time.perf_counter() > deadline:
                        return
                played.append(response["move"])
                moves[number] += 1
                if response["after"]["over"]:
                    break


async def measure_requests(
    action: Callable[[], Awaitable[httpx.Response]], deadline: float, times: list[float]
) -> None:
    """Send about ten requests per second and record their response times."""
    while time.perf_counter() < deadline:
        started = time.perf_counter()
        response = await action()
        response.raise_for_status()
        times.append(time.perf_counter() - started)
        await asyncio.sleep(0.1)


async def measure_load(address: str, games: int, seconds: float) -> None:
    """Play many games at the same time; meanwhile, measure the response times of other requests."""
    deadline = time.perf_counter() + seconds
    moves = [0] * games
    times: dict[str, list[float]] = {"/": [], "/api/positions": [], "/api/players": [], "/static/js/app.js": []}
    port = address.rstrip("/").rsplit(":", 1)[1]
    peak = (0, 0)

    async def count() -> None:
        nonlocal peak
        server = find_server(port)
        while time.perf_counter() < deadline:
            peak = max(peak, count_processes(server))
            await asyncio.sleep(0.25)

    async with httpx.AsyncClient(base_url=address) as client:

        def request(path: str) -> Awaitable[httpx.Response]:
            return client.post(path, json={"moves": OPENING}) if path == "/api/positions" else client.get(path)

        work = [play_games(address, number, deadline, moves) for number in range(games)]
        work += [measure_requests(partial(request, path), deadline, durations) for path, durations in times.items()]
        await asyncio.gather(count(), *work)
    print(f"{games} clients for {seconds:g} s: {sum(moves)} moves, at least {min(moves)} per client")
    print("child processes of the server: at most {}, with {} running threads".format(*peak))
    for path, durations in times.items():
        milliseconds = [1000 * value for value in durations]
        median, p95 = statistics.median(milliseconds), statistics.quantiles(milliseconds, n=20)[-1]
        print(f"{path}: {len(durations)} calls, median {median:.1f} ms, p95 {p95:.1f} ms")


def main() -> None:
    """Run the measurements and print the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("games", type=int, nargs="?", default=30, help="simultaneous games; default: 30")
    parser.add_argument("seconds", type=float, nargs="?", default=30, help="seconds of play; default: 30")
    options = parser.parse_args()
    with run_server_process("--port", "8499", "--jobs", "2") as address:
        measure_page(address)
        asyncio.run(measure_load(address, options.games, options.seconds))


if __name__ == "__main__":
    main()
