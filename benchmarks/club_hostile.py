"""Measure the club during attacks: bots play while the server is attacked in one way after the other.

    python benchmarks/club_hostile.py [--games 200] [--seconds 30] [--only lines,trees]

Prints the time until moves were acknowledged and the server's memory, before and during each attack; the waiting times
(median and longest) and refusals of an ordinary guest at another address; and the time of a failed login for names that
exist and names that do not.  The attacks of guests are in `benchmarks/guests.py`.  The effect of each attack is tested
in `tests/test_hostile.py` and `tests/test_network_limits.py`.
"""

import argparse
import asyncio
import os
import resource
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import httpx2 as httpx
from club import BenchmarkBot, create_bots, memory, serve, start_bots, stop_bots
from guests import ATTACKS, HOSTILE, NAME, Attack, Guest, host_and_port, long_game, run_for
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

CONNECTIONS, SLOW, FLOODS = 10_000, 400, 20
NAMES = 30
RIGHT, WRONG = "correct horse", "guess guess"  # of accounts created for the benchmark
POST = b"POST /api/club/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


async def no_attack(address: str, seconds: float) -> str:
    """No attack."""
    await asyncio.sleep(seconds)
    return ""


async def open_connections(address: str, seconds: float) -> str:
    """Ten thousand idle connections, again and again."""
    until, opened, held = time.monotonic() + seconds, 0, 0
    while time.monotonic() < until:
        writers = []
        for _ in range(CONNECTIONS):
            with suppress(OSError):
                writers.append((await asyncio.open_connection(*host_and_port(address), local_addr=(HOSTILE, 0)))[1])
            if time.monotonic() > until:
                break
        opened, held = opened + len(writers), max(held, len(writers))
        for writer in writers:
            writer.close()
    return f"{opened:,d} connections, {held:,d} at once"


async def send_slowly(address: str, seconds: float) -> str:
    """Slow senders of headers and bodies, who reconnect when they are cut off."""
    sent = 0

    async def one(first: bytes) -> None:
        nonlocal sent
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(*host_and_port(address), local_addr=(HOSTILE, 0))
                writer.write(first)
                while not writer.is_closing():
                    writer.write(b"a")
                    await writer.drain()
                    sent += 1
                    await asyncio.sleep(0.5)
            await asyncio.sleep(0.1)

    headers, body = b"GET / HTTP/1.1\r\nX-Slow: ", POST + b"Content-Length: 100000\r\n\r\n"
    await run_for([one((headers, body)[number % 2]) for number in range(SLOW)], seconds)
    return f"{SLOW} slow senders"


async def flood_messages(address: str, seconds: float) -> str:
    """Messages as fast as possible, huge ones among them, on watching connections that reconnect."""
    sent = 0

    async def one(number: int) -> None:
        nonlocal sent
        texts = ['{"id": 1, "type": "lobby"}', "{" * 1000, "x" * (1 << 20), '{"id": 1, "type": "move"}']
        while True:
            with suppress(OSError, ConnectionClosed, InvalidHandshake, TimeoutError):
                async with connect(address, local_addr=(HOSTILE, 0)) as channel:
                    while True:
                        await channel.send(texts[number % len(texts)])
                        sent += 1
            await asyncio.sleep(0.01)

    await run_for([one(number) for number in range(FLOODS)], seconds)
    return f"{sent:,d} messages"


async def guess_passwords(address: str, seconds: float) -> str:
    """Passwords and tokens as fast as possible."""
    statuses: list[int] = []
    host, port = host_and_port(address)

    async def one(number: int) -> None:
        headers = {"x-forwarded-for": "203.0.113.7"}  # another network, through a reverse proxy
        async with httpx.AsyncClient(base_url=f"http://{host}:{port}", headers=headers, timeout=60) as client:
            while True:
                with suppress(httpx.TransportError):
                    login = {"name": f"name{number}", "password": WRONG}
                    statuses.append((await client.post("/api/club/session", json=login)).status_code)
                    token = {"authorization": f"Bearer {len(statuses)}"}
                    statuses.append((await client.get("/api/club/session", headers=token)).status_code)

    await run_for([one(number) for number in range(FLOODS)], seconds)
    return f"{len(statuses):,d} guesses, {statuses.count(200)} right"


EVERY_ATTACK: dict[str, Attack] = {
    "quiet": no_attack,
    "ten thousand connections": open_connections,
    "slow senders": send_slowly,
    "floods": flood_messages,
    "guesses": guess_passwords,
    **ATTACKS,
    "quiet again": no_attack,
}


def run_attack(name: str, address: str, seconds: float) -> str:
    """Run an attack in a process of its own; return its result."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    long_game()  # takes a while
    return asyncio.run(EVERY_ATTACK[name](address, seconds))


async def compare_logins(address: str) -> str:
    """Compare the time of a failed login for names that exist and names that do not."""
    host, port = host_and_port(address)
    times: dict[bool, list[float]] = {True: [], False: []}
    async with httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=60) as client:
        for number in range(NAMES):  # each from its own address, because of the rate limit
            headers = {"x-forwarded-for": f"10.0.{number}.1"}
            login = {"name": f"real{number}", "password": RIGHT}
            (await client.post("/api/club/accounts", json=login, headers=headers)).raise_for_status()
        client.cookies.clear()
        for number in range(NAMES):
            for real in (True, False):
                login = {"name": f"{'real' if real else 'none'}{number}", "password": WRONG}
                started = time.perf_counter()
                await client.post("/api/club/session", json=login, headers={"x-forwarded-for": f"10.1.{number}.1"})
                times[real].append(1000 * (time.perf_counter() - started))
    there, not_there = (f"{statistics.median(times[real]):.1f} ms" for real in (True, False))
    return (
        f"a failed login takes {there} for a name that exists, {not_there} for one that does not (medians of {NAMES})"
    )


def cpu_seconds(process: int) -> float:
    """The CPU time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def play(bots: list[BenchmarkBot], address: str, options: argparse.Namespace, server: int) -> None:
    """Let bots play during one attack after the other."""
    print(await compare_logins(address), flush=True)
    tasks = await start_bots(bots, address, options.games)
    await asyncio.sleep(3.0)
    guest = Guest(address)
    visiting = asyncio.create_task(guest.run())
    loop, attackers = asyncio.get_running_loop(), ProcessPoolExecutor(1, get_context("spawn"))
    for name in options.only.split(",") if options.only else EVERY_ATTACK:
        guest.report()
        known, busy = [len(bot.waits) for bot in bots], cpu_seconds(server)
        said = await loop.run_in_executor(attackers, run_attack, name, address, options.seconds)
        waits = [wait for bot, before in zip(bots, known, strict=True) for wait in bot.waits[before:]]
        middle, late = statistics.quantiles(waits, n=100)[49::45] if len(waits) > 1 else (0.0, 0.0)
        print(
            f"{name:<25} {len(waits):6,d} moves, {1000 * middle:5.1f} ms (median), {1000 * late:5.1f} (p95), "
            f"{1000 * max(waits, default=0.0):4.0f} (most), {memory(server):.0f} MiB, "
            f"{100 * (cpu_seconds(server) - busy) / options.seconds:.0f} % of a core  {said}\n"
            f"{'':<25} guest: {guest.report()}",
            flush=True,
        )
        await asyncio.sleep(1.0)
    playing = sum(len(bot.playing) for bot in bots) // 2
    print(f"{playing} games in progress, {sum(not task.done() for task in tasks)} of {len(tasks)} bots connected")
    visiting.cancel()
    await stop_bots(bots, tasks)


def main() -> None:
    """Run the attacks and print measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds before a move, on average")
    parser.add_argument("--only", default="", help="attacks to run, separated by commas")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "club.sqlite")
        bots = create_bots(database, options.pause)
        server, address = serve(database, "--hostname", NAME)
        try:
            asyncio.run(play(bots, address, options, server.pid))
        finally:
            server.kill()


if __name__ == "__main__":
    main()
