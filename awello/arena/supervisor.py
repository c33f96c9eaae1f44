"""A supervisor process, which ensures that a player leaves no processes behind.

The supervisor runs none of the player's code.  On Linux, all processes that the player starts stay descendants of the
supervisor, even if they leave their session or their parent ends; on other systems, the supervisor can kill only the
player's main process.  When the player's process or the arena ends, or on SIGTERM, the supervisor kills the player's
remaining processes, then exits with the status of the player's process.
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

EXIT_SECONDS = 0.5  # seconds for child processes to exit by themselves after the player's process has ended
KILL_TIMEOUT = 3.0  # seconds for killed processes to end
POLL_SECONDS = 0.005  # seconds between two checks for remaining processes


def supervise(connection: Connection) -> None:
    """Fork this process.  The child returns; the parent supervises the child and does not return.

    Only the child keeps the connection to the arena, so that the arena notices when the child ends.  Windows cannot
    fork: there, this function only ensures that the process ends when the arena ends.
    """
    if sys.platform == "win32":
        _end_with_arena()
        return
    os.setsid()  # so that signals from the terminal reach only the arena
    adopt_orphans()
    signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler, because sigwait can miss ignored signals
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD, signal.SIGTERM})
    if player := os.fork():
        connection.close()
        _Supervisor(player).watch()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    die_with_parent()
    adopt_orphans()  # so that all processes that the player starts are measured as its descendants


def _end_with_arena() -> None:
    """Send SIGTERM to this process when the arena ends."""

    def wait() -> None:
        if arena := multiprocessing.parent_process():
            arena.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, daemon=True).start()


if sys.platform != "win32":

    class _Supervisor:
        """Supervises a child process."""

        def __init__(self, player: int) -> None:
            self.player = player
            self.status: int | None = None
            """The wait status of the child; None while it runs."""

        def watch(self) -> None:
            """Wait until the child ends or SIGTERM arrives, then kill the remaining processes and exit."""
            _end_with_arena()
            awaited = {signal.SIGCHLD, signal.SIGTERM}
            while self.status is None and signal.sigwait(awaited) == signal.SIGCHLD:
                self._reap()
            if self.status is None:
                os.kill(self.player, signal.SIGKILL)
            self._wait(EXIT_SECONDS)  # some of the player's processes exit by themselves when their input ends
            kill_tree(os.getpid())
            self._wait(KILL_TIMEOUT)
            self._end()

        def _reap(self) -> bool:
            """Reap ended children; return whether any children are left."""
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
            """Exit with the status or signal of the child."""
            code = 1 if self.status is None else os.waitstatus_to_exitcode(self.status)
            if code < 0:
                with suppress(OSError):  # SIGKILL has no handler to reset
                    signal.signal(-code, signal.SIG_DFL)
                os.kill(os.getpid(), -code)
            os._exit(code)
