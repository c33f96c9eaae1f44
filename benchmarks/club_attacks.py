"""Measure the club under attack: bots play while the server is attacked in different ways.

    python benchmarks/club_attacks.py [--games 200] [--seconds 30] [--only positions,trees]

The script first prints the time of a failed login with existing and with unknown account names, then for each attack:
- the time until a move is acknowledged,
- the memory and CPU use of the server,
- the response times (median and longest) and refusals of an ordinary visitor at another address.

Attacks that need no account are in `benchmarks/visitors.py`.  The defences are tested in
`tests/test_hostile_clients.py` and `tests/test_network_limits.py`.
"""

import argparse
import asyncio
import resource
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path

import httpx2 as httpx
from club import BenchmarkBot, create_bots, measure_cpu_seconds, measure_memory_mib, serve, start_bots, stop_bots
from visitors import ATTACKS, HOSTILE, HOSTNAME, Attack, SimulatedVisitor, make_long_game, run_for, split_address
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

IDLE_CONNECTIONS, SLOW_SENDERS, FLOODING_CLIENTS = 10_000, 400, 20
COMPARED_LOGIN_NAMES = 30
PASSWORD, WRONG_PASSWORD = "correct horse", "guess guess"  # for new accounts; for failed logins
LOGIN_REQUEST_HEAD = b"POST /api/club/session HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"


async def no_attack(address: str, seconds: float) -> str:
    """Wait without an attack, for comparison."""
    await asyncio.sleep(seconds)
    return ""


async def open_connections(address: str, seconds: float) -> str:
    """Open ten thousand idle connections, repeatedly."""
    deadline, opened, held = time.monotonic() + seconds, 0, 0
    while time.monotonic() < deadline:
        writers = []
        for _ in range(IDLE_CONNECTIONS):
            with suppress(OSError):
                writers.append((await asyncio.open_connection(*split_address(address), local_addr=(HOSTILE, 0)))[1])
            if time.monotonic() > deadline:
                break
        opened, held = opened + len(writers), max(held, len(writers))
        for writer in writers:
            writer.close()
    return f"{opened:,d} connections, {held:,d} at the same time"


async def send_slowly(address: str, seconds: float) -> str:
    """Send headers and bodies slowly, and reconnect when cut off."""
    sent = 0

    async def one(first: bytes) -> None:
        nonlocal sent
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection(*split_address(address), local_addr=(HOSTILE, 0))
                writer.write(first)
                while not writer.is_closing():
                    writer.write(b"a")
                    await writer.drain()
                    sent += 1
                    await asyncio.sleep(0.5)
            await asyncio.sleep(0.1)

    headers, body = b"GET / HTTP/1.1\r\nX-Slow: ", LOGIN_REQUEST_HEAD + b"Content-Length: 100000\r\n\r\n"
    await run_for([one((headers, body)[number % 2]) for number in range(SLOW_SENDERS)], seconds)
    return f"{SLOW_SENDERS} slow senders"


async def flood_messages(address: str, seconds: float) -> str:
    """Send small, invalid and huge messages as fast as possible; reconnect when cut off."""
    sent = 0

    async def one(number: int) -> None:
        nonlocal sent
        texts = ['{"id": 1, "type": "lobby"}', "{" * 1000, "x" * (1 << 20), '{"id": 1, "type": "move"}']
        while True:
            with suppress(OSError, ConnectionClosed, InvalidHandshake, TimeoutError):
                async with connect(address, local_addr=(HOSTILE, 0)) as socket:
                    while True:
                        await socket.send(texts[number % len(texts)])
                        sent += 1
            await asyncio.sleep(0.01)

    await run_for([one(number) for number in range(FLOODING_CLIENTS)], seconds)
    return f"{sent:,d} messages"


async def guess_passwords(address: str, seconds: float) -> str:
    """Guess passwords and tokens as fast as possible."""
    statuses: list[int] = []
    host, port = split_address(address)

    async def one(number: int) -> None:
        headers = {"x-forwarded-for": "203.0.113.7"}  # as if from another client network, through a reverse proxy
        async with httpx.AsyncClient(base_url=f"http://{host}:{port}", headers=headers, timeout=60) as client:
            while True:
                with suppress(httpx.TransportError):
                    login = {"name": f"name{number}", "password": WRONG_PASSWORD}
                    statuses.append((await client.post("/api/club/session", json=login)).status_code)
                    token = {"authorization": f"Bearer {len(statuses)}"}
                    statuses.append((await client.get("/api/club/session", headers=token)).status_code)

    await run_for([one(number) for number in range(FLOODING_CLIENTS)], seconds)
    return f"{len(statuses):,d} guesses, {statuses.count(200)} correct"


ALL_ATTACKS: dict[str, Attack] = {
    "none": no_attack,
    "idle connections": open_connections,
    "slow senders": send_slowly,
    "floods": flood_messages,
    "guesses": guess_passwords,
    **ATTACKS,
    "none, after the attacks": no_attack,
}


def run_attack(name: str, address: str, seconds: float) -> str:
    """Run an attack, in a process of its own, and return a description of its result."""
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))
    make_long_game()  # making the long game takes time, so it is made and cached before the attack
    return asyncio.run(ALL_ATTACKS[name](address, seconds))


async def compare_logins(address: str) -> str:
    """Compare the time of a failed login with existing and with unknown account names."""
    host, port = split_address(address)
    times: dict[bool, list[float]] = {True: [], False: []}
    async with httpx.AsyncClient(base_url=f"http://{host}:{port}", timeout=60) as client:
        for number in range(COMPARED_LOGIN_NAMES):  # one account per address, because of the rate limit
            headers = {"x-forwarded-for": f"10.0.{number}.1"}
            login = {"name": f"real{number}", "password": PASSWORD}
            (await client.post("/api/club/accounts", json=login, headers=headers)).raise_for_status()
        client.cookies.clear()
        for number in range(COMPARED_LOGIN_NAMES):
            for real in (True, False):
                login = {"name": f"{'real' if real else 'none'}{number}", "password": WRONG_PASSWORD}
                started = time.perf_counter()
                await client.post("/api/club/session", json=login, headers={"x-forwarded-for": f"10.1.{number}.1"})
                times[real].append(1000 * (time.perf_counter() - started))
    existing, unknown = (f"{statistics.median(times[real]):.1f} ms" for real in (True, False))
    text = f"a failed login takes {existing} for an existing account name, {unknown} for an unknown one"
    return f"{text} (medians of {COMPARED_LOGIN_NAMES})"


async def play(bots: list[BenchmarkBot], address: str, options: argparse.Namespace, server: int) -> None:
    """Run the attacks one after the other while bots play."""
    print(await compare_logins(address), flush=True)
    tasks = await start_bots(bots, address, options.games)
    await asyncio.sleep(3.0)
    visitor = SimulatedVisitor(address)
    visiting = asyncio.create_task(visitor.run())
    loop, attackers = asyncio.get_running_loop(), ProcessPoolExecutor(1, get_context("spawn"))
    for name in options.only.split(",") if options.only else ALL_ATTACKS:
        visitor.report()
        counts, cpu_before = [len(bot.response_times) for bot in bots], measure_cpu_seconds(server)
        result = await loop.run_in_executor(attackers, run_attack, name, address, options.seconds)
        waits = [wait for bot, before in zip(bots, counts, strict=True) for wait in bot.response_times[before:]]
        median, p95 = statistics.quantiles(waits, n=100)[49::45] if len(waits) > 1 else (0.0, 0.0)
        print(
            f"{name:<25} {len(waits):6,d} moves, {1000 * median:5.1f} ms (median), {1000 * p95:5.1f} (p95), "
            f"{1000 * max(waits, default=0.0):4.0f} (maximum), {measure_memory_mib(server):.0f} MiB, "
            f"{100 * (measure_cpu_seconds(server) - cpu_before) / options.seconds:.0f} % of a core  {result}\n"
            f"{'':<25} visitor: {visitor.report()}",
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
    parser.add_argument("--games", type=int, default=200, help="simultaneous games; default: 200")
    parser.add_argument("--seconds", type=float, default=30.0, help="duration of each attack; default: 30")
    parser.add_argument("--pause", type=float, default=1.0, help="average seconds before a move; default: 1")
    parser.add_argument("--only", default="", help="attacks to run, separated by commas; default: all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        database = str(Path(folder) / "club.sqlite")
        bots = create_bots(database, options.pause)
        server, address = serve(database, "--hostname", HOSTNAME)
        try:
            asyncio.run(play(bots, address, options, server.pid))
        finally:
            server.kill()


if __name__ == "__main__":
    main()
