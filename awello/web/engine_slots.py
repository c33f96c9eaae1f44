"""Slots on this machine.  A slot starts an engine process, exchanges messages with it, and stops it."""

import asyncio
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from multiprocessing.process import BaseProcess

from awello.arena.processes import start_process
from awello.web.engine_tasks import LENGTH_BYTES, run_engine_process


class LocalSlot:
    """An engine process on this machine, connected by a socket; messages are pickled."""

    def __init__(self, engines: bool = True, environment: Mapping[str, str] | None = None) -> None:
        self._engines, self._environment = engines, environment
        self._process: BaseProcess | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def start(self) -> None:
        """Start the process."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._reader, self._writer = await asyncio.open_connection(sock=ours)
            start = partial(start_process, preload=[run_engine_process.__module__], environment=self._environment)
            starting = asyncio.create_task(asyncio.to_thread(start, run_engine_process, theirs, self._engines))
            try:
                self._process = await asyncio.shield(starting)
            except asyncio.CancelledError:
                with suppress(Exception):
                    self._process = await starting  # the starting thread cannot be cancelled; `close` stops the process
                raise

    async def receive(self) -> bytes:
        """Return the next message of the process; raise `EOFError` if the process has ended."""
        size = int.from_bytes(await self._reader.readexactly(LENGTH_BYTES), "big")
        return await self._reader.readexactly(size)

    def send(self, message: bytes) -> None:
        assert self._writer is not None
        self._writer.write(len(message).to_bytes(LENGTH_BYTES, "big") + message)

    def kill(self) -> None:
        """Kill the process; `receive` then raises `EOFError`."""
        assert self._process is not None
        self._process.kill()

    async def close(self) -> None:
        """Kill the process if it is alive, and release its resources."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._writer is not None:
            self._writer.close()
            with suppress(OSError):
                await self._writer.wait_closed()
