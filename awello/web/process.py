"""The first moments of the server's other processes: each is modest before it loads anything heavy.

Loading takes a second of a processor, just when somebody opens the page for the first time.
"""

import os
import re
import signal
from contextlib import suppress
from pathlib import Path

from awello.errors import ConfigError

MEMORY = 4 << 30  # bytes that a process may ask for
NICE = 10  # niceness of an engine process
SERVER_KERNELS = ("awello.rules.game", "awello.archive.nodes")  # modules of what the server itself computes
ENGINE_KERNELS = ("awello.engine.midgame", "awello.engine.awale_kernels")  # modules of the engines of both games
CONTEST_NICE, CONTEST_MEMORY = 19, 2 << 30  # the same for contests


def run_contest(folder: Path, seconds: float | None) -> None:
    """The life of a process that plays a contest; its bots inherit its priority and its limit of memory."""
    settle_in(CONTEST_NICE, CONTEST_MEMORY)
    from awello.web.contests import play_contest

    play_contest(folder, seconds)


def settle_in(nice: int = NICE, memory: int = MEMORY) -> None:
    """Prepare a process of the server: no Ctrl-C, no output, low priority, limited memory."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what a player prints is nobody's answer
    if hasattr(os, "nice"):
        os.nice(niceness(nice))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", "ascii")
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, resource.getrlimit(resource.RLIMIT_DATA)[1]))


def niceness(default: int) -> int:
    """The niceness of a process: `AWELLO_NICE` from the environment, or the default."""
    text = os.environ.get("AWELLO_NICE", str(default))
    if not re.fullmatch(r"1?\d", text, re.ASCII):
        raise ConfigError(f"AWELLO_NICE={text!r} is not a niceness: set a number from 0 to 19, or unset it")
    return int(text)
