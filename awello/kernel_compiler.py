"""Compile kernels in a pool of worker processes, the most urgent modules first.

Importing a module compiles its kernels, after those of the modules it imports.  A worker is therefore a process that
imports modules by name.  A module is assigned to a worker once all its imports are in the cache, so workers never wait
for each other and no kernel is compiled twice.  Modules can be divided into *stages*, the most urgent first.
Within a stage, the modules that start the longest chains of importers are assigned first.
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

MAX_WORKERS = 4  # more workers do not help: compilation takes as long as the longest chain of modules
LOW_PRIORITY = "low"  # sent after the name of a module that is to be compiled at low priority
LOW_PRIORITY_NICENESS = 15  # compilation gets less CPU time than engine processes, but still makes progress

Imports = dict[str, set[str]]
Worker = subprocess.Popen[str]


def kernels_are_missing() -> bool:
    """Return whether some kernels are not in the cache yet."""
    return kernel.COMPILED and len(kernel.find_cached_kernels()) < kernel.notice.total


# --- the order of modules ---------------------------------------------------------------------------------------------
def find_kernel_imports() -> Imports:
    """Map each kernel module to the kernel modules that it imports."""
    sources = dict(zip(kernel.list_kernel_modules(), kernel.KERNEL_SOURCES, strict=True))
    return {
        module: {name for name in _parse_imports(source.read_text("utf-8")) if name in sources}
        for module, source in sources.items()
    }


def _parse_imports(source: str) -> Iterator[str]:
    """Yield every imported name that could be a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def collect_imports(modules: Iterable[str], imports: Imports) -> set[str]:
    """Return modules together with all their direct and indirect imports."""
    found: set[str] = set()
    left = list(modules)
    while left:
        if (module := left.pop()) not in found:
            found.add(module)
            left += imports[module]
    return found


def plan_order(imports: Imports, stages: Sequence[Collection[str]]) -> list[str]:
    """Order all modules for compilation: each stage with its imports, then the rest."""
    lengths = dict(
        zip(kernel.list_kernel_modules(), [source.stat().st_size for source in kernel.KERNEL_SOURCES], strict=True)
    )
    importers = {module: {other for other in imports if module in imports[other]} for module in imports}

    def chain_length(module: str) -> int:
        """Return the total source size of the longest chain of importers that starts with this module."""
        return lengths[module] + max((chain_length(other) for other in importers[module] if other in stage), default=0)

    planned: list[str] = []
    for modules in (*stages, imports):
        stage = collect_imports(modules, imports)
        planned += sorted(stage - set(planned), key=lambda module: (-chain_length(module), module))
    return planned


# --- the processes ----------------------------------------------------------------------------------------------------
class KernelCompiler:
    """A pool of workers that compile kernels in stages; leaving the `with` block terminates the workers.

    Modules outside all stages are compiled last, at low priority.  Without stages, all modules form one stage.
    If no worker can be started, `wait` returns immediately, and each process itself compiles the kernels it needs.
    """

    def __init__(self, *stages: Collection[str], workers: int | None = None) -> None:
        self._imports = find_kernel_imports()
        self._urgent = collect_imports(set().union(*stages) or self._imports, self._imports)
        self._pending = plan_order(self._imports, stages)
        self._ready: set[str] = set()
        self._started: list[str] = []
        self._condition = threading.Condition()
        self._workers: list[Worker] = []
        with suppress(OSError):  # raised if the limit on processes is reached
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
        """Wait until these modules (default: all) and their imports are compiled; `show` displays the progress.

        Return False if all workers terminate first.
        """
        required = collect_imports(self._imports if modules is None else modules, self._imports)
        shown = 0
        with self._condition:
            while self._running and not required <= self._ready:
                self._condition.wait()
                for name in self._started[shown:] if show else ():
                    kernel.find_cached_kernels()  # updates the number of kernels left, which the notice shows
                    kernel.notice(name)
                    shown += 1
        if shown:
            kernel.notice.clear()
        return required <= self._ready

    def close(self) -> None:
        """Terminate the workers; pending calls of `wait` return."""
        with self._condition:
            self._pending.clear()
        for worker in self._workers:
            worker.kill()
            worker.wait()

    def _run_worker(self, worker: Worker) -> None:
        """Assign modules to a worker until none is left; if the worker dies, another one gets its current module."""
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
        """Wait for a module whose imports are all compiled, and return it; return None if no module is left."""
        with self._condition:
            while self._pending:
                for module in self._pending:
                    if self._imports[module] <= self._ready:
                        self._pending.remove(module)
                        return module
                self._condition.wait()
        return None

    def _compile(self, module: str, worker: Worker) -> None:
        """Make a worker import a module; raise `OSError` if the worker dies."""
        assert worker.stdin and worker.stdout
        worker.stdin.write(f"{module} {'' if module in self._urgent else LOW_PRIORITY}\n")
        worker.stdin.flush()
        for line in worker.stdout:
            if (name := line.strip()) == module:
                return
            with self._condition:
                self._started.append(name)
                self._condition.notify_all()
        raise OSError(f"a worker died while compiling {module}")


def count_processors() -> int:
    """Return the number of processors available to this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start_worker() -> Worker:
    """Start a worker, which terminates with this process.

    The worker's stderr is discarded: if an import fails in the worker, it also fails in this process.
    """
    own_group: dict[str, Any] = {} if sys.platform == "win32" else {"process_group": 0}  # shields it from Ctrl-C
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", __name__]
    environment = {name: value for name, value in os.environ.items() if name != kernel.LAZY_VARIABLE}
    pipes: dict[str, Any] = {"stdin": pipe, "stdout": pipe, "stderr": subprocess.DEVNULL, "text": True}
    return subprocess.Popen(command, env=environment, **pipes, **own_group)


# --- in a worker ------------------------------------------------------------------------------------------------------
class _WorkerNotice(kernel.CompileNotice):
    """Reports each kernel to the parent process before compiling it."""

    def __call__(self, name: str) -> None:
        print(name, flush=True)

    def clear(self) -> None:
        pass


def run_worker() -> None:
    """Import the modules named on standard input, and print the name of each module after importing it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    kernel.notice = _WorkerNotice(0)
    modules = SimpleQueue[str]()
    threading.Thread(target=_read_modules, args=(modules,), daemon=True).start()
    while True:
        module, *priority = modules.get().split()
        if priority and hasattr(os, "nice"):
            os.nice(max(0, LOW_PRIORITY_NICENESS - os.nice(0)))
        import_module(module)
        print(module, flush=True)


def _read_modules(modules: "SimpleQueue[str]") -> None:
    for line in sys.stdin:
        modules.put(line)
    os._exit(0)  # end of input: no more work, or the parent has terminated


if __name__ == "__main__":
    run_worker()
