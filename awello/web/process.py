"""The first moments of a thinking process: it is modest before it loads anything heavy.

Loading takes a second of a processor, just when somebody opens the page for the first time.
"""

import os
import signal
import socket
from contextlib import suppress
from pathlib import Path

MEMORY = 4 << 30  # bytes that a process may ask for
NICE = 10  # how far thinking stands back for the rest of the machine


def think(channel: socket.socket) -> None:
    """The life of a process that thinks."""
    settle_in()
    from awello.web.tasks import serve

    serve(channel)


def settle_in() -> None:
    """Be deaf to Ctrl-C, which is for the server, silent, nice, and the first to go if memory runs out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.dup2(2, 1)  # what a player prints is nobody's answer
    if hasattr(os, "nice"):
        os.nice(NICE)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500", "ascii")
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
