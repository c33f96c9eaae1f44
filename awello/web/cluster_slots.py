"""Engine processes on the workers of a dask cluster, for servers with many concurrent searches.

A worker starts the engine process as a child process, so that the process can be killed without ending the worker.
The server and the worker exchange messages by remote calls through the scheduler.  The server polls for messages; if
it stops polling, the lease of the process expires and the worker stops the process.
"""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any
from uuid import uuid4

from awello.arena.cluster import check_fingerprint, compute_fingerprint, connect_client, install_players_file
from awello.errors import ConfigError
from awello.players.player import read_user_players
from awello.web.engine_slots import LocalSlot

POLL_TIMEOUT = 5.0  # seconds that a poll waits for a message
LEASE_TIMEOUT = 6 * POLL_TIMEOUT  # seconds without a poll after which a worker stops the process
STATUS_INTERVAL = 0.5  # seconds between checks of the connection to the scheduler during a call
CLOSE_TIMEOUT = 2.0  # seconds within which a worker must stop a process, or the client must disconnect


# --- in the server ----------------------------------------------------------------------------------------------------
class ClusterWorkers:
    """The workers of a scheduler, with the number of engine processes on each."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.slot_counts: Counter[str] = Counter()
        self._client: Any = None
        self._connecting = asyncio.Lock()

    async def list_workers(self) -> list[str]:
        """Return the addresses of the workers; connect to the scheduler if necessary."""
        async with self._connecting:
            if self._client is None or self._client.status != "running":
                await self.close()
                self._client = await asyncio.to_thread(connect_client, self.address)
        try:
            return list(await self._run(lambda client: client.nthreads()))
        except OSError:
            raise ConfigError(f"the scheduler at {self.address} does not answer: start it and its workers") from None

    async def call(self, worker: str, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function on a worker; raise `OSError` if the worker or the scheduler is lost."""
        return (await self._run(lambda client: client.run(function, *args, workers=[worker])))[worker]

    async def _run(self, query: Callable[[Any], Any]) -> Any:
        """Run a query in the event loop of dask's client."""
        client = self._client

        async def run() -> Any:
            return await query(client)

        future = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(run(), client.loop.asyncio_loop))
        try:
            async with asyncio.timeout(LEASE_TIMEOUT):
                while not future.done():
                    await asyncio.wait({future}, timeout=STATUS_INTERVAL)
                    if future.cancelled() or (client.status != "running" and not future.done()):
                        raise ConnectionError("the connection to the scheduler was lost: check that it is running")
            return future.result()
        except (ConfigError, OSError):
            raise
        except Exception as error:  # dask raises errors of many classes
            raise ConnectionError(str(error)) from None
        finally:
            future.cancel()

    async def close(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                await asyncio.to_thread(client.close, timeout=CLOSE_TIMEOUT)


class ClusterSlot:
    """An engine process on the worker that runs the fewest engine processes."""

    def __init__(self, workers: ClusterWorkers) -> None:
        self._workers, self._slot_id, self._worker = workers, uuid4().hex, ""
        self._received: list[bytes] = []
        self._to_send: asyncio.Queue[bytes] = asyncio.Queue()
        self._sending: asyncio.Task[None] | None = None
        self._receiving: asyncio.Task[list[bytes]] | None = None
        self._killed = False

    async def start(self) -> None:
        workers = await self._workers.list_workers()
        if not workers:
            raise ConfigError(f"the scheduler at {self._workers.address} has no workers: start some, then try again")
        slot_counts = self._workers.slot_counts
        for worker in sorted(workers, key=lambda each: slot_counts[each]):
            self._worker = worker
            slot_counts[worker] += 1  # before the call, so that slots started together choose different workers
            try:
                await self._call(open_slot, compute_fingerprint(), read_user_players())
                break
            except OSError:  # the scheduler may still list a worker that was lost
                slot_counts[worker] -= 1
                self._worker = ""
        else:
            raise ConnectionError(f"no worker of the scheduler at {self._workers.address} answers: restart the workers")
        self._sending = asyncio.create_task(self._send_all())

    async def receive(self) -> bytes:
        while not self._received:
            if self._killed:
                raise EOFError
            self._receiving = asyncio.create_task(self._call(take_messages))
            try:
                self._received += await self._receiving
            except asyncio.CancelledError:
                if not self._killed:
                    raise
        if message := self._received.pop(0):
            return message
        raise EOFError

    def send(self, message: bytes) -> None:
        self._to_send.put_nowait(message)

    async def _send_all(self) -> None:
        with suppress(OSError):  # `receive` reports the loss of the worker
            while True:
                await self._call(send_message, await self._to_send.get())

    def kill(self) -> None:
        self._killed = True
        if self._receiving:
            self._receiving.cancel()

    async def close(self) -> None:
        if self._sending:
            self._sending.cancel()
        if self._worker:
            self._workers.slot_counts[self._worker] -= 1
            with suppress(Exception):  # if the worker is still alive, the lease stops the process
                await asyncio.wait_for(self._call(close_slot), CLOSE_TIMEOUT)

    async def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        return await self._workers.call(self._worker, function, self._slot_id, *args)


# --- in a worker ------------------------------------------------------------------------------------------------------
class WorkerSlot:
    """An engine process that this worker runs for a server.

    `folder` contains a copy of the server's players file, if the worker had to write one.
    """

    def __init__(self, players: tuple[str, bytes] | None) -> None:
        file, self.folder = install_players_file(*players) if players else ("", None)
        self.process = LocalSlot(environment=os.environ | {"AWELLO_PLAYERS": file})
        self.messages: asyncio.Queue[bytes] = asyncio.Queue()  # an empty message means that the process has ended
        self.reading = asyncio.create_task(
            self._read()
        )  # in the background, because kernels may have to be compiled first
        self.lease: asyncio.TimerHandle | None = None

    async def _read(self) -> None:
        """Start the process, and queue its messages for the server."""
        with suppress(EOFError, OSError):
            await self.process.start()
            while True:
                self.messages.put_nowait(await self.process.receive())
        self.messages.put_nowait(b"")


_worker_slots: dict[str, WorkerSlot] = {}


async def open_slot(slot_id: str, client_fingerprint: str, players: tuple[str, bytes] | None) -> None:
    """Start an engine process for a server; raise `ConfigError` if the server runs another version of Awello."""
    check_fingerprint("a worker", compute_fingerprint(), client_fingerprint)
    multiprocessing.current_process().daemon = False  # daemonic processes cannot start others
    _worker_slots[slot_id] = WorkerSlot(players)
    _renew_lease(slot_id)


async def take_messages(slot_id: str) -> list[bytes]:
    """Return the messages since the last poll; if there are none, wait up to `POLL_TIMEOUT` seconds for one.

    An empty message at the end means that the process has ended.
    """
    if (slot := _worker_slots.get(slot_id)) is None:
        return [b""]
    _renew_lease(slot_id)
    messages: list[bytes] = []
    with suppress(TimeoutError):
        messages.append(await asyncio.wait_for(slot.messages.get(), POLL_TIMEOUT))
    while not slot.messages.empty():
        messages.append(slot.messages.get_nowait())
    return messages


async def send_message(slot_id: str, message: bytes) -> None:
    """Send a message to the process."""
    if slot := _worker_slots.get(slot_id):
        slot.process.send(message)


async def close_slot(slot_id: str) -> None:
    """Stop a process."""
    if (slot := _worker_slots.pop(slot_id, None)) is None:
        return
    if slot.lease:
        slot.lease.cancel()
    slot.reading.cancel()
    await asyncio.wait({slot.reading})
    await slot.process.close()
    if slot.folder:
        slot.folder.cleanup()


def _renew_lease(slot_id: str) -> None:
    slot, loop = _worker_slots[slot_id], asyncio.get_running_loop()
    if slot.lease:
        slot.lease.cancel()
    slot.lease = loop.call_later(LEASE_TIMEOUT, lambda: loop.create_task(close_slot(slot_id)))
