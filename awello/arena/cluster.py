"""Run tasks on the workers of a dask cluster, with results in order.

A game does not depend on the worker that plays it, so the scheduler can reassign the tasks of a dead worker.
Cluster workers outlive a run, so every task carries the data of its run.  A worker that receives its first task of a
run loads the players of this run and calls the run's `prepare`.  A worker with a different version of Awello refuses
the run.
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

CONNECT_TIMEOUT = 5.0  # seconds to wait for the scheduler, then the same time again for its first worker
RESULT_TIMEOUT = 60.0  # seconds without a result before checking for workers; also the time limit of this check
WORKER_COMMAND = "dask worker {} --nthreads 1 --nworkers N"


@dataclass(frozen=True)
class ClusterRun:
    """The data that a worker needs before it executes the first task of a run."""

    id: str
    fingerprint: str
    """The result of `compute_fingerprint()` on the client, the process that started the run."""
    players: tuple[str, bytes] | None
    """Path and content of the user's players file; None if there is none."""
    preparation: bytes
    """The `prepare` function, if any, and its arguments, pickled so that the scheduler does not import modules."""


@cache
def compute_fingerprint() -> str:
    """Return Awello's version and a hash of its code and data files, because both affect the results of games."""
    digest, package = hashlib.sha256(), Path(__file__).parent.parent
    for file in sorted([*package.rglob("*.py"), *package.glob("data/*")]):
        digest.update(file.read_bytes())
    return f"{__version__} {digest.hexdigest()[:8]}"


# --- client -----------------------------------------------------------------------------------------------------------
@contextmanager
def cluster_pool(address: str, prepare: Prepare | None = None, *args: Any) -> Iterator[OrderedMap]:
    """Open the workers of a scheduler as a pool; cancel pending tasks on exit."""
    run = ClusterRun(uuid4().hex, compute_fingerprint(), read_user_players(), pickle.dumps((prepare, args)))
    client = connect_client(address)
    pool = client.get_executor(pure=False)
    workers, counted_at = 1, -math.inf

    def count() -> int:
        nonlocal workers, counted_at
        if time.monotonic() > counted_at + 1:  # count again, because workers may have joined or left
            with suppress(OSError):
                workers = len(client.nthreads())
            counted_at = time.monotonic()
        return workers

    def map_items(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        def submit(item: Item) -> Future[Result]:
            future: Future[Result] = pool.submit(execute_task, run, pickle.dumps((function, item)))
            return future

        return map_ordered(submit, lambda future: _result(client, address, future), items, count)

    try:
        yield map_items
    finally:
        with suppress(Exception):  # workers or the scheduler may have ended
            pool.shutdown(wait=False)
            client.run(end_run, run.id, on_error="ignore")
        client.close()


def connect_client(address: str) -> "Client":
    """Connect to a scheduler; raise `ConfigError` if it does not answer or has no workers, or if versions differ."""
    try:
        from distributed import Client
    except ImportError:
        raise ConfigError("a cluster needs dask: run pip install 'awello[cluster]'") from None
    if not re.fullmatch(r"(tcp|tls)://.+:\d+", address):
        raise ConfigError(f"{address!r} is not a scheduler address: write tcp://HOST:8786")
    try:
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # errors are reported by this function
        client = Client(address, timeout=CONNECT_TIMEOUT, set_as_default=False)
    except OSError:
        workers = WORKER_COMMAND.format("tcp://HOST:8786")
        advice = f"start one with 'dask scheduler', and workers on each machine with '{workers}'"
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
        command = WORKER_COMMAND.format(address)
        raise ConfigError(f"the scheduler at {address} has no workers: start some with '{command}'") from None


def _check_fingerprints(client: "Client") -> None:
    """Raise `ConfigError` if the scheduler or a worker has another version of Awello, because results might differ."""
    try:
        fingerprints = {"the scheduler": client.run_on_scheduler(compute_fingerprint)}
    except Exception as error:  # Awello is not installed on the scheduler's machine
        fingerprints = {"the scheduler": error}
    for address, actual in client.run(compute_fingerprint, on_error="return").items():
        fingerprints[f"the worker {address}"] = actual
    for machine, actual in fingerprints.items():
        check_fingerprint(machine, actual, compute_fingerprint())


def check_fingerprint(machine: str, actual: object, expected: str) -> None:
    """Raise `ConfigError` if Awello's version, code or data files on a machine differ from the expected ones."""
    if actual != expected:
        advice = "install the same version, with the same extras, on all machines, and restart the workers"
        raise ConfigError(
            f"{machine} and the client have different versions of Awello ({actual}, {expected}): {advice}"
        )


def _result(client: "Client", address: str, future: Future[Result]) -> Result:
    """Wait for a task and return its result; if the task raised an error, raise the same error."""
    from distributed import KilledWorker

    try:
        while not future.done():
            with suppress(TimeoutError):
                return future.result(timeout=RESULT_TIMEOUT)
            if not future.done():
                _wait_for_workers(client, address, RESULT_TIMEOUT)
        return future.result()
    except KilledWorker as killed:
        died = f"{killed.allowed_failures + 1} workers died one after another while executing the same task"
        raise ConfigError(f"{died}: check their logs; 'dask worker --memory-limit' may be too low") from None
    except CancelledError:
        raise ConfigError(f"the scheduler at {address} has ended: restart it and its workers") from None


# --- worker ----------------------------------------------------------------------------------------------------------
class _WorkerState:
    """The run that this process is prepared for."""

    run_id = ""
    cleanup: Callable[[], None] | None = None
    folder: "TemporaryDirectory[str] | None" = None
    ended_runs: ClassVar[set[str]] = set()
    """Ids of the runs that have ended."""


def execute_task(run: ClusterRun, task: bytes) -> Any:
    """Execute one task of a run; `task` is a pickled pair of a function and its argument."""
    if _WorkerState.run_id != run.id:
        _switch_run(run)
    function, item = pickle.loads(task)  # nosec B301 # noqa: S301 - a scheduler can run anything on its workers
    return function(item)


def end_run(run_id: str) -> None:
    """End a run: release its resources, and reject its remaining tasks."""
    _WorkerState.ended_runs.add(run_id)
    if _WorkerState.run_id == run_id:
        _release()


def _release() -> None:
    cleanup, _WorkerState.cleanup, _WorkerState.run_id = _WorkerState.cleanup, None, ""
    if cleanup:
        cleanup()


def _switch_run(run: ClusterRun) -> None:
    """Prepare this process for another run."""
    from distributed import get_worker

    worker = get_worker()
    if run.id in _WorkerState.ended_runs:
        raise ConfigError("the run has ended: its remaining tasks are rejected")
    check_fingerprint(f"the worker {worker.address}", compute_fingerprint(), run.fingerprint)
    if worker.state.nthreads > 1:
        start = WORKER_COMMAND.format("ADDRESS")
        threads = f"{worker.state.nthreads} threads instead of one"
        raise ConfigError(f"the worker {worker.address} has {threads}: restart it with '{start}'")
    _release()
    multiprocessing.current_process().daemon = False  # daemonic processes cannot start others, such as bots
    try:
        _load_players(run)
        _prepare_run(run)
    except (SpecError, ImportError) as error:  # the client can prepare the run, so this worker lacks a module
        advice = "install the missing modules on its machine; 'awello --import FILE' sends only FILE to workers"
        raise ConfigError(f"the worker {worker.address} cannot prepare this run ({error}): {advice}") from None


def _load_players(run: ClusterRun) -> None:
    """Replace the previous run's players with those in this run's players file."""
    unregister_user_players()
    os.environ.pop("AWELLO_PLAYERS", None)
    if run.players:
        file, _WorkerState.folder = install_players_file(*run.players)
        os.environ["AWELLO_PLAYERS"] = file


def install_players_file(name: str, content: bytes) -> "tuple[str, TemporaryDirectory[str] | None]":
    """Return the path of a players file with this content, and the temporary folder if the file had to be written."""
    file, folder = Path(name), None
    if not file.is_file() or file.read_bytes() != content:
        folder = TemporaryDirectory(prefix="awello-")
        file = Path(folder.name) / file.name
        file.write_bytes(content)
    return str(file), folder


def _prepare_run(run: ClusterRun) -> None:
    load_kernels()  # so that loading or compiling kernels is not charged to a player's clock
    prepare, args = pickle.loads(run.preparation)  # nosec B301 # noqa: S301 - as in `execute_task`
    _WorkerState.cleanup = prepare(*args) if prepare else None
    _WorkerState.run_id = run.id
    if run.id in _WorkerState.ended_runs:  # the run ended during the preparation
        _release()
