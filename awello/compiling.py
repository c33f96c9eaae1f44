"""Compile kernels in several processes: what is wanted first, then the rest.

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

MOST_WORKERS = 4  # more would only wait for the longest chain of modules
LATER = "later"  # after the name of a module that may be compiled at low priority
LATER_NICE = 15  # niceness of a worker then: below the engines, but not so low that others never get the rest

Imports = dict[str, set[str]]
Worker = subprocess.Popen[str]


def kernels_are_missing() -> bool:
    """Whether kernels are still to be compiled on this machine."""
    return kernel.COMPILED and len(kernel.find_cached()) < kernel.notice.total


# --- the order of modules ---------------------------------------------------------------------------------------------
def kernel_imports() -> Imports:
    """The kernel modules that each kernel module imports."""
    sources = dict(zip(kernel.kernel_modules(), kernel.SOURCES, strict=True))
    return {
        module: {name for name in _imported(source.read_text("utf-8")) if name in sources}
        for module, source in sources.items()
    }


def _imported(source: str) -> Iterator[str]:
    """Whatever may be a module in the imports of a source."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def with_imports(modules: Iterable[str], imports: Imports) -> set[str]:
    """Modules with all that they import, directly or not."""
    found: set[str] = set()
    left = list(modules)
    while left:
        if (module := left.pop()) not in found:
            found.add(module)
            left += imports[module]
    return found


def plan(imports: Imports, stages: Sequence[Collection[str]]) -> list[str]:
    """All modules in the order in which they should be begun: each stage with what it imports, then the rest."""
    lengths = dict(zip(kernel.kernel_modules(), [source.stat().st_size for source in kernel.SOURCES], strict=True))
    importers = {module: {other for other in imports if module in imports[other]} for module in imports}

    def chain(module: str) -> int:
        """How much text is compiled one after the other from here on, which stands for the time it takes."""
        return lengths[module] + max((chain(other) for other in importers[module] if other in stage), default=0)

    planned: list[str] = []
    for modules in (*stages, imports):
        stage = with_imports(modules, imports)
        planned += sorted(stage - set(planned), key=lambda module: (-chain(module), module))
    return planned


# --- the processes ----------------------------------------------------------------------------------------------------
class Compilation:
    """Workers that fill the cache in stages; leaving the context ends them.

    What belongs to no stage is compiled last and at the lowest priority; without stages, everything counts as one.
    Where no worker can be started there is nothing to wait for: kernels are compiled by the process that needs them.
    """

    def __init__(self, *stages: Collection[str], workers: int | None = None) -> None:
        self._imports = kernel_imports()
        self._urgent = with_imports(set().union(*stages) or self._imports, self._imports)
        self._waiting = plan(self._imports, stages)
        self._ready: set[str] = set()
        self._begun: list[str] = []
        self._changed = threading.Condition()
        self._workers: list[Worker] = []
        with suppress(OSError):  # of too many processes
            for _ in range(workers or min(MOST_WORKERS, count_processors())):
                self._workers.append(_start_worker())
        self._working = len(self._workers)
        for worker in self._workers:
            threading.Thread(target=self._employ, args=(worker,), daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def wait(self, modules: Iterable[str] | None = None, show: bool = False) -> bool:
        """Wait until these modules (default: all) and what they import are compiled; if asked, show the progress.

        Returns False if all workers have ended before that.
        """
        wanted = with_imports(self._imports if modules is None else modules, self._imports)
        shown = 0
        with self._changed:
            while self._working and not wanted <= self._ready:
                self._changed.wait()
                for name in self._begun[shown:] if show else ():
                    kernel.find_cached()  # for the number of those that are left
                    kernel.notice(name)
                    shown += 1
        if shown:
            kernel.notice.clear()
        return wanted <= self._ready

    def close(self) -> None:
        """End the workers; calls of `wait` return."""
        with self._changed:
            self._waiting.clear()
        for worker in self._workers:
            worker.kill()
            worker.wait()

    def _employ(self, worker: Worker) -> None:
        """Hand modules to a worker until none is left; what it has begun when it dies is left to another."""
        module: str | None = None
        with suppress(OSError), worker:
            while module := self._take():
                self._compile(module, worker)
                with self._changed:
                    self._ready.add(module)
                    self._changed.notify_all()
        with self._changed:
            self._working -= 1
            if module:
                self._waiting.insert(0, module)
            self._changed.notify_all()

    def _take(self) -> str | None:
        """The next module of which all imports are ready; None if none is left."""
        with self._changed:
            while self._waiting:
                for module in self._waiting:
                    if self._imports[module] <= self._ready:
                        self._waiting.remove(module)
                        return module
                self._changed.wait()
        return None

    def _compile(self, module: str, worker: Worker) -> None:
        """Let a worker import a module; `OSError` if it dies over it."""
        assert worker.stdin and worker.stdout
        worker.stdin.write(f"{module} {'' if module in self._urgent else LATER}\n")
        worker.stdin.flush()
        for line in worker.stdout:
            if (name := line.strip()) == module:
                return
            with self._changed:
                self._begun.append(name)
                self._changed.notify_all()
        raise OSError(f"a worker has died over {module}")


def count_processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_worker() -> Worker:
    """Start a worker, which ends with this process; whatever goes wrong there will go wrong here, and be told here."""
    own_group: dict[str, Any] = {} if sys.platform == "win32" else {"process_group": 0}  # Ctrl-C is for this process
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", __name__]
    environment = {name: value for name, value in os.environ.items() if name != kernel.LATE}
    pipes: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(command, env=environment, **pipes, **own_group)


# --- in a worker ------------------------------------------------------------------------------------------------------
class _Report(kernel.CompileNotice):
    """Says to the parent which kernel is compiled."""

    def __call__(self, name: str) -> None:
        print(name, flush=True)

    def clear(self) -> None:
        pass


def work() -> None:
    """Import the modules that standard input names, and say when each is done."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.notice = _Report(0)
    modules = SimpleQueue[str]()
    threading.Thread(target=_listen, args=(modules,), daemon=True).start()
    while True:
        module, *later = modules.get().split()
        if later and hasattr(os, "nice"):
            os.nice(max(0, LATER_NICE - os.nice(0)))
        import_module(module)
        print(module, flush=True)


def _listen(modules: "SimpleQueue[str]") -> None:
    for line in sys.stdin:
        modules.put(line)
    os._exit(0)  # the parent has no more work, or is gone


if __name__ == "__main__":
    work()
