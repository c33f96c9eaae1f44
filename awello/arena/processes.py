"""Start processes with kernels already loaded, by forking a server process that has loaded them once.

Loading the kernels takes more than a second of CPU time.  The server has a single thread, so it can fork safely, even
if this process has several threads.  Windows cannot fork, and forking is unsafe on macOS: on both systems, each process
loads the kernels itself.
"""

import multiprocessing
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.process import BaseProcess
from typing import Any

from awello.arena.workers import block_interrupts
from awello.kernel import list_kernel_modules


def start_process(
    target: Callable[..., None],
    *args: Any,
    preload: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> BaseProcess:
    """Start a process that ends when this one ends and, if `environment` is None, inherits its environment variables.

    The first call takes a second or two, and loads the modules in `preload` for all later processes.
    """
    can_fork = "forkserver" in multiprocessing.get_all_start_methods() and sys.platform != "darwin"
    context: Any = multiprocessing.get_context("forkserver" if can_fork else "spawn")
    if can_fork:
        context.set_forkserver_preload(["awello.arena.preload", *preload, *list_kernel_modules()])
    variables = dict(os.environ if environment is None else environment)
    process: BaseProcess = context.Process(target=_run, args=(variables, target, args), daemon=True)
    with block_interrupts():
        process.start()
    return process


def _run(environment: dict[str, str], target: Callable[..., None], args: tuple[Any, ...]) -> None:
    """Call a function in the new process, with the given environment instead of the server's outdated one."""
    os.environ.clear()
    os.environ.update(environment)
    target(*args)
