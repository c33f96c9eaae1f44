"""A process that watches over a player's process, so that nothing of the player survives it.

The supervisor runs no code of the player.  All that the player starts stays below it; on Linux, so do processes that
leave their session or lose their parent.  When the player's process ends, when SIGTERM arrives or when the arena is
gone, the supervisor ends what is left, and then itself in the way the player's process did.
"""

import multiprocessing
import os
import signal
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from time import monotonic, sleep

from awello.players.process_tree import adopt_orphans, die_with_parent, kill_tree

EXIT_SECONDS = 0.5  # seconds for programs to end by themselves when the player's process is gone
KILL_TIMEOUT = 3.0  # seconds after which a process that cannot be killed is left alone
POLL_SECONDS = 0.005  # seconds between two looks at the processes that are left


def supervise(connection: Connection) -> None:
    """Continue in a child process, with the present one as its supervisor; on Windows, only end with the arena.

    The connection to the arena is the child's alone, so that the arena notices its end.
    """
    if sys.platform == "win32":
        _end_with_arena()
        return
    os.setsid()  # the terminal's signals are for the arena
    adopt_orphans()
    signal.signal(signal.SIGCHLD, lambda *_: None)  # an ignored signal cannot be awaited
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    if player := os.fork():
        connection.close()
        _Supervisor(player).watch()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    die_with_parent()
    adopt_orphans()  # so that all it starts can be measured as its descendants


def _end_with_arena() -> None:
    """Send SIGTERM to this process when the arena is gone."""

    def wait() -> None:
        if arena := multiprocessing.parent_process():
            arena.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


if sys.platform != "win32":

    class _Supervisor:
        """Watches over a child process."""

        def __init__(self, player: int) -> None:
            self.player = player
            self.status: int | None = None
            """How the child ended."""

        def watch(self) -> None:
            """Wait for the end, and bring it about for all that is left."""
            _end_with_arena()
            awaited = {signal.SIGCHLD, signal.SIGTERM}
            while self.status is None and signal.sigwait(awaited) == signal.SIGCHLD:
                self._reap()
            if self.status is None:
                os.kill(self.player, signal.SIGKILL)
            self._wait(EXIT_SECONDS)  # programs read the end of their input
            kill_tree(os.getpid())
            self._wait(KILL_TIMEOUT)
            self._end()

        def _reap(self) -> bool:
            """Read how children ended; whether some are left."""
            with suppress(ChildProcessError):
                while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    if ended[0] == self.player:
                        self.status = ended[1]
                return True
            return False

        def _wait(self, seconds: float) -> None:
            deadline = monotonic() + seconds
            while self._reap() and monotonic() < deadline:
                sleep(POLL_SECONDS)

        def _end(self) -> None:
            """End as the child did."""
            code = 1 if self.status is None else os.waitstatus_to_exitcode(self.status)
            if code < 0:
                with suppress(OSError):  # SIGKILL needs no default
                    signal.signal(-code, signal.SIG_DFL)
                os.kill(os.getpid(), -code)
            os._exit(code)
