"""Set the priority and the memory limit of the server's child processes, before any slow import.

The imports take about a second of CPU time, often while the page is being opened.  At low priority, they do not delay
the page.
"""

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

from awello.errors import ConfigError

ENGINE_MEMORY_BYTES = 4 << 30  # memory limit of an engine process
ENGINE_NICENESS = 10
# Modules with the kernels of the server process, and modules with the kernels of the engine processes.
SERVER_KERNEL_MODULES = ("awello.rules.game", "awello.archive.opening_tree_kernels")
ENGINE_KERNEL_MODULES = ("awello.engine.midgame", "awello.engine.awale_kernels")
CONTEST_NICENESS, CONTEST_MEMORY_BYTES = 19, 2 << 30


def run_contest(folder: Path, seconds: float | None) -> None:
    """Run a contest in this process; the processes of its bots inherit the priority and the memory limit."""
    prepare_process(CONTEST_NICENESS, CONTEST_MEMORY_BYTES)
    from awello.web.contests import play_contest

    play_contest(folder, seconds)


def prepare_process(nice: int = ENGINE_NICENESS, memory: int = ENGINE_MEMORY_BYTES) -> None:
    """Prepare a child process: ignore Ctrl-C, redirect output to stderr, set priority and memory limit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # players may print to stdout
    if hasattr(os, "nice"):
        os.nice(parse_niceness(nice))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", "ascii")
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def parse_niceness(default: int) -> int:
    """Return the niceness from the environment variable `AWELLO_NICE`, or the default if it is not set."""
    text = os.environ.get("AWELLO_NICE", str(default))
    if not re.fullmatch(r"1?\d", text, re.ASCII):
        raise ConfigError(f"AWELLO_NICE={text!r} is not a niceness: set a number from 0 to 19, or unset it")
    return int(text)
