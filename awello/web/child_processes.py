"""Setup of the server's child processes: priority and memory limits, set before any heavy import.

The imports take about a second of CPU time while the page is being opened, so they run at low priority.
"""

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

from awello.errors import ConfigError

ENGINE_MEMORY_BYTES = 4 << 30  # limit of an engine process
ENGINE_NICENESS = 10
# The modules whose kernels the server process uses, and those with the kernels of the engines.
SERVER_KERNEL_MODULES = ("awello.rules.game", "awello.archive.game_tree_kernels")
ENGINE_KERNEL_MODULES = ("awello.engine.midgame", "awello.engine.awale_kernels")
CONTEST_NICENESS, CONTEST_MEMORY_BYTES = 19, 2 << 30


def run_contest(folder: Path, seconds: float | None) -> None:
    """The main function of a contest's process; its bots inherit its priority and its memory limit."""
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
    """The niceness of engine processes: the environment variable `AWELLO_NICE`, or the default."""
    text = os.environ.get("AWELLO_NICE", str(default))
    if not re.fullmatch(r"1?\d", text, re.ASCII):
        raise ConfigError(f"AWELLO_NICE={text!r} is not a niceness: set a number from 0 to 19, or unset it")
    return int(text)
