"""Engine processes on the workers of a dask cluster, for servers on which many people analyse at once.

A worker starts the engine process beside itself, as the server would, so that the process can be killed without the
worker.  The server and the worker exchange messages by remote calls through the scheduler.  The server keeps asking for
messages; a worker that has not been asked for a while ends the process, because the server is gone.
"""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

from awello.arena.cluster import check_fingerprint, connect_client, fingerprint, install_players_file
from awello.errors import ConfigError
from awello.players.player import read_user_players
from awello.web.engine_slots import LocalSlot

POLL = 5.0  # seconds that a worker waits for a message before it says that there is none
LEASE = 6 * POLL  # seconds without a question after which a worker ends the process
LOOK = 0.5  # seconds between two looks whether the scheduler is there, while an answer is awaited
CLOSING = 2.0  # seconds for a worker to end a process that is not needed any more


# --- in the server ----------------------------------------------------------------------------------------------------
class ClusterSlots:
    """The workers of a scheduler, and how many engine processes each of them has."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.taken: Counter[str] = Counter()
        self._client: Any = None
        self._connecting = asyncio.Lock()

    async def list_workers(self) -> list[str]:
        """The addresses of the workers; connects to the scheduler if there is no connection."""
        async with self._connecting:
            if self._client is None or self._client.status != "running":
                await self.close()
                self._client = await asyncio.to_thread(connect_client, self.address)
        try:
            return list(await self._run(lambda client: client.nthreads()))
        except OSError:
            raise ConfigError(f"the scheduler at {self.address} does not answer: start it and its workers") from None

    async def call(self, worker: str, function: Callable[..., Any], *given: Any) -> Any:
        """What a function gives on a worker; `OSError` if the worker or the scheduler is gone."""
        return (await self._run(lambda client: client.run(function, *given, workers=[worker])))[worker]

    async def _run(self, ask: Callable[[Any], Any]) -> Any:
        """The answer to a question; the client lives in a loop of its own."""
        client = self._client

        async def answer() -> Any:
            return await ask(client)

        asked = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(answer(), client.loop.asyncio_loop))
        try:
            async with asyncio.timeout(LEASE):
                while not asked.done():
                    await asyncio.wait({asked}, timeout=LOOK)
                    if asked.cancelled() or (client.status != "running" and not asked.done()):
                        raise ConnectionError("the scheduler is gone")
            return asked.result()
        except (ConfigError, OSError):
            raise
        except Exception as error:  # dask raises errors of many classes
            raise ConnectionError(str(error)) from None
        finally:
            asked.cancel()

    async def close(self) -> None:
        """End the connection."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                await asyncio.to_thread(client.close, timeout=CLOSING)


class ClusterSlot:
    """An engine process on the worker that has the fewest."""

    def __init__(self, cluster: ClusterSlots) -> None:
        self._cluster, self._token, self._worker = cluster, uuid4().hex, ""
        self._received: list[bytes] = []
        self._to_send: asyncio.Queue[bytes] = asyncio.Queue()
        self._sending: asyncio.Task[None] | None = None
        self._asking: asyncio.Task[list[bytes]] | None = None
        self._killed = False

    async def start(self) -> None:
        workers = await self._cluster.list_workers()
        if not workers:
            raise ConfigError(f"no workers at {self._cluster.address}: start some")
        taken = self._cluster.taken
        for worker in sorted(workers, key=lambda each: taken[each]):
            self._worker = worker
            taken[worker] += 1  # before it answers, so that slots started together choose different workers
            try:
                await self._call(open_slot, fingerprint(), read_user_players())
                break
            except OSError:  # the scheduler may not have noticed yet that this worker is gone
                taken[worker] -= 1
                self._worker = ""
        else:
            raise ConnectionError(f"no worker at {self._cluster.address} answers")
        self._sending = asyncio.create_task(self._send_all())

    async def receive(self) -> bytes:
        while not self._received:
            if self._killed:
                raise EOFError
            self._asking = asyncio.create_task(self._call(take_messages))
            try:
                self._received += await self._asking
            except asyncio.CancelledError:
                if not self._killed:
                    raise
        if message := self._received.pop(0):
            return message
        raise EOFError

    def send(self, message: bytes) -> None:
        self._to_send.put_nowait(message)

    async def _send_all(self) -> None:
        with suppress(OSError):  # `receive` notices it too
            while True:
                await self._call(send_message, await self._to_send.get())

    def kill(self) -> None:
        self._killed = True
        if self._asking:
            self._asking.cancel()

    async def close(self) -> None:
        if self._sending:
            self._sending.cancel()
        if self._worker:
            self._cluster.taken[self._worker] -= 1
            with suppress(Exception):  # the worker may be gone; if not, its lease ends the process
                await asyncio.wait_for(self._call(close_slot), CLOSING)

    async def _call(self, function: Callable[..., Any], *given: Any) -> Any:
        return await self._cluster.call(self._worker, function, self._token, *given)


# --- in a worker ------------------------------------------------------------------------------------------------------
class ServedSlot:
    """An engine process that this worker runs for a server; the folder keeps the server's file of players."""

    def __init__(self, players: tuple[str, bytes] | None) -> None:
        file, self.folder = install_players_file(*players) if players else ("", None)
        self.process = LocalSlot(environment=os.environ | {"AWELLO_PLAYERS": file})
        self.messages: asyncio.Queue[bytes] = asyncio.Queue()  # an empty one says that the process has ended
        self.reading = asyncio.create_task(self._read())  # kernels may have to be compiled first
        self.lease: asyncio.TimerHandle | None = None

    async def _read(self) -> None:
        """Start the process, and keep its messages until the server asks for them."""
        with suppress(EOFError, OSError):
            await self.process.start()
            while True:
                self.messages.put_nowait(await self.process.receive())
        self.messages.put_nowait(b"")


_served: dict[str, ServedSlot] = {}


async def open_slot(token: str, awello: str, players: tuple[str, bytes] | None) -> None:
    """Start an engine process for a server of the same Awello."""
    check_fingerprint("a worker", fingerprint(), awello)
    multiprocessing.current_process().daemon = False  # or else it could not start processes
    _served[token] = ServedSlot(players)
    _renew_lease(token)


async def take_messages(token: str) -> list[bytes]:
    """The messages that have come since the last question, perhaps none; an empty one when the process has ended."""
    if (slot := _served.get(token)) is None:
        return [b""]
    _renew_lease(token)
    found: list[bytes] = []
    with suppress(TimeoutError):
        found.append(await asyncio.wait_for(slot.messages.get(), POLL))
    while not slot.messages.empty():
        found.append(slot.messages.get_nowait())
    return found


async def send_message(token: str, message: bytes) -> None:
    """Pass a message on to the process."""
    if slot := _served.get(token):
        slot.process.send(message)


async def close_slot(token: str) -> None:
    """End a process."""
    if (slot := _served.pop(token, None)) is None:
        return
    if slot.lease:
        slot.lease.cancel()
    slot.reading.cancel()
    await asyncio.wait({slot.reading})
    await slot.process.close()
    if slot.folder:
        slot.folder.cleanup()


def _renew_lease(token: str) -> None:
    slot, loop = _served[token], asyncio.get_running_loop()
    if slot.lease:
        slot.lease.cancel()
    slot.lease = loop.call_later(LEASE, lambda: loop.create_task(close_slot(token)))
