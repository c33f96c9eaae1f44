"""Compile kernels in several processes: what is required first, then the rest.

A kernel is compiled when its module is imported, after those of the modules that this one imports.  So a worker is a
process that imports modules by name, and a module is handed out as soon as all that it imports is in the cache: no
worker waits for another, and nothing is compiled twice.  Of several modules the one comes first on which the longest
chain of others waits.
"""

import ast
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from typing import Any, Self

from awello import kernel

MAX_WORKERS = 4  # more would only wait for the longest chain of modules
LOW_PRIORITY = "later"  # after the name of a module that may be compiled at low priority
LOW_PRIORITY_NICENESS = (
    15  # niceness of a worker then: below the engines, but not so low that others never get the rest
)

Imports = dict[str, set[str]]
Worker = subprocess.Popen[str]


def kernels_are_missing() -> bool:
    """Whether kernels are still to be compiled on this machine."""
    return kernel.COMPILED and len(kernel.find_cached()) < kernel.notice.total


# --- the order of modules ---------------------------------------------------------------------------------------------
def find_kernel_imports() -> Imports:
    """The kernel modules that each kernel module imports."""
    sources = dict(zip(kernel.list_kernel_modules(), kernel.KERNEL_SOURCES, strict=True))
    return {
        module: {name for name in _parse_imports(source.read_text("utf-8")) if name in sources}
        for module, source in sources.items()
    }


def _parse_imports(source: str) -> Iterator[str]:
    """Whatever may be a module in the imports of a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def collect_imports(modules: Iterable[str], imports: Imports) -> set[str]:
    """Modules with all that they import, directly or not."""
    found: set[str] = set()
    left = list(modules)
    while left:
        if (module := left.pop()) not in found:
            found.add(module)
            left += imports[module]
    return found


def plan_order(imports: Imports, stages: Sequence[Collection[str]]) -> list[str]:
    """All modules in the order in which they should be begun: each stage with what it imports, then the rest."""
    lengths = dict(
        zip(kernel.list_kernel_modules(), [source.stat().st_size for source in kernel.KERNEL_SOURCES], strict=True)
    )
    importers = {module: {other for other in imports if module in imports[other]} for module in imports}

    def chain_length(module: str) -> int:
        """How much text is compiled one after the other from here on, which stands for the time it takes."""
        return lengths[module] + max((chain_length(other) for other in importers[module] if other in stage), default=0)

    planned: list[str] = []
    for modules in (*stages, imports):
        stage = collect_imports(modules, imports)
        planned += sorted(stage - set(planned), key=lambda module: (-chain_length(module), module))
    return planned


# --- the processes ----------------------------------------------------------------------------------------------------
class KernelCompiler:
    """Workers that fill the cache in stages; leaving the context ends them.

    What belongs to no stage is compiled last and at the lowest priority; without stages, everything counts as one.
    Where no worker can be started there is nothing to wait for: kernels are compiled by the process that needs them.
    """

    def __init__(self, *stages: Collection[str], workers: int | None = None) -> None:
        self._imports = find_kernel_imports()
        self._urgent = collect_imports(set().union(*stages) or self._imports, self._imports)
        self._pending = plan_order(self._imports, stages)
        self._ready: set[str] = set()
        self._started: list[str] = []
        self._condition = threading.Condition()
        self._workers: list[Worker] = []
        with suppress(OSError):  # of too many processes
            for _ in range(workers or min(MAX_WORKERS, count_processors())):
                self._workers.append(_start_worker())
        self._running = len(self._workers)
        for worker in self._workers:
            threading.Thread(target=self._run_worker, args=(worker,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def wait(self, modules: Iterable[str] | None = None, show: bool = False) -> bool:
        """Wait until these modules (default: all) and what they import are compiled; if asked, show the progress.

        Returns False if all workers have ended before that.
        """
        required = collect_imports(self._imports if modules is None else modules, self._imports)
        shown = 0
        with self._condition:
            while self._running and not required <= self._ready:
                self._condition.wait()
                for name in self._started[shown:] if show else ():
                    kernel.find_cached()  # for the number of those that are left
                    kernel.notice(name)
                    shown += 1
        if shown:
            kernel.notice.clear()
        return required <= self._ready

    def close(self) -> None:
        """End the workers; calls of `wait` return."""
        with self._condition:
            self._pending.clear()
        for worker in self._workers:
            worker.kill()
            worker.wait()

    def _run_worker(self, worker: Worker) -> None:
        """Hand modules to a worker until none is left; what it has begun when it dies is left to another."""
        module: str | None = None
        with suppress(OSError), worker:
            while module := self._next_module():
                self._compile(module, worker)
                with self._condition:
                    self._ready.add(module)
                    self._condition.notify_all()
        with self._condition:
            self._running -= 1
            if module:
                self._pending.insert(0, module)
            self._condition.notify_all()

    def _next_module(self) -> str | None:
        """The next module of which all imports are ready; None if none is left."""
        with self._condition:
            while self._pending:
                for module in self._pending:
                    if self._imports[module] <= self._ready:
                        self._pending.remove(module)
                        return module
                self._condition.wait()
        return None

    def _compile(self, module: str, worker: Worker) -> None:
        """Let a worker import a module; `OSError` if it dies over it."""
        assert worker.stdin and worker.stdout
        worker.stdin.write(f"{module} {'' if module in self._urgent else LOW_PRIORITY}\n")
        worker.stdin.flush()
        for line in worker.stdout:
            if (name := line.strip()) == module:
                return
            with self._condition:
                self._started.append(name)
                self._condition.notify_all()
        raise OSError(f"a worker has died over {module}")


def count_processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_worker() -> Worker:
    """Start a worker, which ends with this process; whatever goes wrong there will go wrong here, and be told here."""
    own_group: dict[str, Any] = {} if sys.platform == "win32" else {"process_group": 0}  # Ctrl-C is for this process
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", __name__]
    environment = {name: value for name, value in os.environ.items() if name != kernel.LAZY_VARIABLE}
    pipes: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(command, env=environment, **pipes, **own_group)


# --- in a worker ------------------------------------------------------------------------------------------------------
class _WorkerNotice(kernel.CompileNotice):
    """Says to the parent which kernel is compiled."""

    def __call__(self, name: str) -> None:
        print(name, flush=True)

    def clear(self) -> None:
        pass


def run_worker() -> None:
    """Import the modules that standard input names, and say when each is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.notice = _WorkerNotice(0)
    modules = SimpleQueue[str]()
    threading.Thread(target=_read_modules, args=(modules,), daemon=True).start()
    while True:
        module, *later = modules.get().split()
        if later and hasattr(os, "nice"):
            os.nice(max(0, LOW_PRIORITY_NICENESS - os.nice(0)))
        import_module(module)
        print(module, flush=True)


def _read_modules(modules: "SimpleQueue[str]") -> None:
    for line in sys.stdin:
        modules.put(line)
    os._exit(0)  # the parent has no more work, or is gone


if __name__ == "__main__":
    run_worker()
