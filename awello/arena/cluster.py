"""Work on many machines: items go to the workers of a dask scheduler, and the results come back in order.

A game follows from its seed, so any worker may play it, and the scheduler gives what a dead worker had to others.  A
worker of a cluster outlives a job, so every item comes with its job: a worker that has done something else before gets
ready first, with the players and by the `prepare` of that job, and refuses if it is another Awello.
"""

import hashlib
import logging
import math
import multiprocessing
import os
import pickle
import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

from awello import __version__
from awello.arena.workers import Item, OrderedMap, Prepare, Result, map_ordered
from awello.errors import ConfigError, SpecError
from awello.kernel import load_kernels
from awello.players.player import read_user_players, unregister_user_players

if TYPE_CHECKING:
    from distributed import Client

CONNECT_TIMEOUT = 5.0  # seconds to find the scheduler, and then a worker
RESULT_TIMEOUT = (
    60.0  # seconds without a result after which somebody looks for workers, and without any of them gives up
)
WORKER_COMMAND = "dask worker {} --nthreads 1 --nworkers N"


@dataclass(frozen=True)
class ClusterJob:
    """What a worker must know before the first item of some work."""

    token: str
    fingerprint: str
    """The fingerprint of the program that asks."""
    players: tuple[str, bytes] | None
    """The file of players of one's own, and its content."""
    preparation: bytes
    """The function to call first, if any, and what it is given; pickled, for the scheduler need not know them."""


@cache
def fingerprint() -> str:
    """The version, and a hash of all that decides how games go: the code and what was learnt."""
    digest, package = hashlib.sha256(), Path(__file__).parent.parent
    for file in sorted([*package.rglob("*.py"), *package.glob("data/*")]):
        digest.update(file.read_bytes())
    return f"{__version__} {digest.hexdigest()[:8]}"


# --- who asks ---------------------------------------------------------------------------------------------------------
@contextmanager
def cluster_pool(address: str, prepare: Prepare | None = None, *args: Any) -> Iterator[OrderedMap]:
    """The workers of a scheduler; what is pending when this ends is called off."""
    job = ClusterJob(uuid4().hex, fingerprint(), read_user_players(), pickle.dumps((prepare, args)))
    client = connect_client(address)
    pool = client.get_executor(pure=False)
    workers, counted_at = 1, -math.inf

    def count() -> int:
        nonlocal workers, counted_at
        if time.monotonic() > counted_at + 1:  # they come and go
            with suppress(OSError):
                workers = len(client.nthreads())
            counted_at = time.monotonic()
        return workers

    def map_items(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        def submit(item: Item) -> Future[Result]:
            future: Future[Result] = pool.submit(run_task, job, pickle.dumps((function, item)))
            return future

        return map_ordered(submit, lambda future: _result(client, address, future), items, count)

    try:
        yield map_items
    finally:
        with suppress(Exception):  # a worker or the scheduler may be gone
            pool.shutdown(wait=False)
            client.run(end_job, job.token, on_error="ignore")
        client.close()


def connect_client(address: str) -> "Client":
    """A client of a scheduler that has workers, all with the same Awello; `ConfigError` says what is wrong."""
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("a cluster needs an extra: pip install 'awello[cluster]'") from None
    if not re.fullmatch(r"(tcp|tls)://.+:\d+", address):
        raise ConfigError(f"{address!r} is no address of a scheduler: give one such as tcp://HOST:8786")
    try:
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what is wrong is said here
        client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except OSError:
        workers = WORKER_COMMAND.format("tcp://HOST:8786")
        advice = f"start one with 'dask scheduler', and on each machine workers with '{workers}'"
        raise ConfigError(f"no scheduler answers at {address}: {advice}") from None
    try:
        _wait_for_workers(client, address, CONNECT_TIMEOUT)
        _check_fingerprints(client)
    except BaseException:
        client.close()
        raise
    return client


def _wait_for_workers(client: "Client", address: str, seconds: float) -> None:
    try:
        client.wait_for_workers(1, timeout=seconds)
    except TimeoutError:
        raise ConfigError(f"no workers at {address}: start some with '{WORKER_COMMAND.format(address)}'") from None


def _check_fingerprints(client: "Client") -> None:
    """Refuse a cluster that would not find what is found here."""
    try:
        fingerprints = {"the scheduler": client.run_on_scheduler(fingerprint)}
    except Exception as error:  # it does not know the function
        fingerprints = {"the scheduler": error}
    for address, actual in client.run(fingerprint, on_error="return").items():
        fingerprints[f"the worker {address}"] = actual
    for machine, actual in fingerprints.items():
        check_fingerprint(machine, actual, fingerprint())


def check_fingerprint(machine: str, actual: object, expected: str) -> None:
    """Refuse another version, code or weights."""
    if actual != expected:
        advice = "install the same version, with the same extras, on all machines, and start workers again"
        raise ConfigError(f"{machine} has another Awello ({actual}) than the one that asks ({expected}): {advice}")


def _result(client: "Client", address: str, future: Future[Result]) -> Result:
    """What a worker found, as soon as one has; errors in a game come out as they were raised."""
    from distributed import KilledWorker

    try:
        while not future.done():
            with suppress(TimeoutError):
                return future.result(timeout=RESULT_TIMEOUT)
            if not future.done():
                _wait_for_workers(client, address, RESULT_TIMEOUT)
        return future.result()
    except KilledWorker as killed:
        died = f"{killed.allowed_failures + 1} workers have died, one after the other, of the same item"
        raise ConfigError(f"{died}: their logs may tell why, such as too low a 'dask worker --memory-limit'") from None
    except CancelledError:
        raise ConfigError(f"the scheduler at {address} is gone: start it and its workers again") from None


# --- who works --------------------------------------------------------------------------------------------------------
class _WorkerState:
    """What this process has got ready for."""

    token = ""  # nosec B105 # the number of a job, no secret
    cleanup: Callable[[], None] | None = None
    folder: "TemporaryDirectory[str] | None" = None
    ended_jobs: ClassVar[set[str]] = set()
    """The jobs that nobody waits for any more."""


def run_task(job: ClusterJob, task: bytes) -> Any:
    """One item of a job, of which the function and the item are pickled."""
    if _WorkerState.token != job.token:
        _switch_job(job)
    function, item = pickle.loads(task)  # nosec B301 # noqa: S301 - a scheduler can run anything on its workers
    return function(item)


def end_job(token: str) -> None:
    """A job is over: let go of what it needed, and do not begin with it again."""
    _WorkerState.ended_jobs.add(token)
    if _WorkerState.token == token:
        _release()


def _release() -> None:
    cleanup, _WorkerState.cleanup, _WorkerState.token = _WorkerState.cleanup, None, ""
    if cleanup:
        cleanup()


def _switch_job(job: ClusterJob) -> None:
    """Get ready for another job than the last one."""
    from distributed import get_worker

    worker = get_worker()
    if job.token in _WorkerState.ended_jobs:
        raise ConfigError("nobody waits for this any more")
    check_fingerprint(f"the worker {worker.address}", fingerprint(), job.fingerprint)
    if worker.state.nthreads > 1:
        start = WORKER_COMMAND.format("ADDRESS")
        raise ConfigError(f"the worker {worker.address} has {worker.state.nthreads} threads: start it with '{start}'")
    _release()
    multiprocessing.current_process().daemon = False  # or else the bots of a tournament could have no processes
    try:
        _load_players(job)
        _prepare_job(job)
    except (SpecError, ImportError) as error:  # they were right where the job comes from
        advice = "players of your own come with 'awello --import FILE', all else must be there as it is here"
        raise ConfigError(f"the worker {worker.address} cannot do this: {error} ({advice})") from None


def _load_players(job: ClusterJob) -> None:
    """The players of a job's own file in place of earlier ones; a copy of it serves where it is not."""
    unregister_user_players()
    os.environ.pop("AWELLO_PLAYERS", None)
    if job.players:
        file, _WorkerState.folder = install_players_file(*job.players)
        os.environ["AWELLO_PLAYERS"] = file


def install_players_file(name: str, content: bytes) -> "tuple[str, TemporaryDirectory[str] | None]":
    """A file of players on this machine: the very file, or a copy in a temporary folder."""
    file, folder = Path(name), None
    if not file.is_file() or file.read_bytes() != content:
        folder = TemporaryDirectory(prefix="awello-")
        file = Path(folder.name) / file.name
        file.write_bytes(content)
    return str(file), folder


def _prepare_job(job: ClusterJob) -> None:
    load_kernels()  # so that no player's clock runs while kernels are compiled or loaded
    prepare, args = pickle.loads(job.preparation)  # nosec B301 # noqa: S301 - as in `do`
    _WorkerState.cleanup = prepare(*args) if prepare else None
    _WorkerState.token = job.token
    if job.token in _WorkerState.ended_jobs:  # since it began to get ready
        _release()
