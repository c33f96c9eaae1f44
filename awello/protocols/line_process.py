"""The process of an external engine, which exchanges lines with Awello; each answer has a time limit."""

import os
import shlex
import signal
import subprocess
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from queue import Empty, Queue
from time import monotonic
from typing import TextIO

from awello.errors import SpecError
from awello.players.player import Forfeit
from awello.players.process_tree import describe_exit, kill_tree

ANSWER_SECONDS = 60.0  # time limit of every answer except a move
GRACE_SECONDS = 0.5  # tolerance for a late move
EXIT_SECONDS = 1.0  # time for the process to exit after the end of its input
MAX_LINES = 1000  # capacity of the queue of unread lines
MAX_LINE_CHARS = 1 << 14


class LineProcess:
    """A running process, which is ended when this object is deleted or Awello exits."""

    def __init__(self, command: str, protocol: str, log: str = "") -> None:
        self.command, self.protocol = command, protocol
        if not command.strip():
            name = protocol.lower()
            raise SpecError(
                f"player {name} needs a command: write {name},command=COMMAND with the command that starts the engine"
            )
        try:
            self._log = Path(log or os.devnull).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115 (_listen closes it)
        except OSError as error:
            raise SpecError(f"cannot write to log={log}: {error.strerror}; give another file") from None
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # Ctrl-C reaches only Awello, which then ends the process
            )
        except (OSError, ValueError) as error:
            raise SpecError(
                f"cannot start {command!r}: {getattr(error, 'strerror', error)}; check the command"
            ) from None
        assert self._process.stdout is not None
        self._lines: Queue[str | None] = Queue(MAX_LINES)
        threading.Thread(target=_listen, args=(self._process.stdout, self._lines, self._log), daemon=True).start()
        weakref.finalize(self, _end, self._process)

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    def kill(self) -> None:
        """Kill the process."""
        _kill(self._process)

    def send(self, *lines: str) -> None:
        """Send lines to the process."""
        assert self._process.stdin is not None
        try:
            for line in lines:
                _log_line(self._log, ">", line)
                self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except OSError:
            raise self._end_forfeit() from None

    def read_line(self, deadline: float) -> str | None:
        """Return the next line, or None if none arrives by the deadline; raise `Forfeit` if the process has ended."""
        try:
            line = self._lines.get(timeout=deadline - monotonic())
        except (Empty, ValueError):  # ValueError: the time has passed, and the timeout is negative
            return None
        if line is None:
            raise self._end_forfeit()
        return line.strip()

    def read_lines(self, is_last: Callable[[str], object], seconds: float | None = None) -> Iterator[str]:
        """Yield lines up to the first for which `is_last` is true; raise `Forfeit` if that line is late.

        `seconds` is the time limit for a move; without it, the time limit is `ANSWER_SECONDS`.
        """
        deadline = monotonic() + (ANSWER_SECONDS if seconds is None else seconds + GRACE_SECONDS)
        while (line := self.read_line(deadline)) is not None:
            yield line
            if is_last(line):
                return
        self.kill()
        if seconds is not None:
            raise Forfeit("time", f"{self.command!r} gave no answer within {seconds:g} s")
        raise Forfeit("crash", f"{self.command!r} gave no answer: check that it speaks {self.protocol}")

    def wait_for(self, matches: Callable[[str], object]) -> str:
        """Skip lines until one matches, and return it."""
        return deque(self.read_lines(matches), 1)[0]

    def _end_forfeit(self) -> Forfeit:
        """Kill the process if it is still running, and return a `Forfeit` that describes how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_SECONDS)
        ended = not self.alive
        self.kill()
        if not ended:
            return Forfeit("crash", f"{self.command!r} closed its input or output: run it in a shell to see why")
        how = describe_exit(self._process.returncode)
        return Forfeit("crash", f"{self.command!r} ended {how}: run it in a shell to see why")


def _log_line(log: TextIO, direction: str, line: str) -> None:
    """Log a line with its time and direction: `>` to the engine, `<` from it."""
    with suppress(OSError, ValueError):  # the disk is full, or the log is closed
        log.write(f"{datetime.now().isoformat(timespec='milliseconds')} {direction} {line.rstrip()}\n")


def _listen(output: TextIO, lines: "Queue[str | None]", log: TextIO) -> None:
    """Queue the lines of a process, then None.

    This function must not keep a reference to the `LineProcess`: the process ends when the `LineProcess` is deleted.
    """
    with log, output:
        while line := output.readline(MAX_LINE_CHARS):
            _log_line(log, "<", line)
            lines.put(line)
    lines.put(None)


def _end(process: "subprocess.Popen[str]") -> None:
    """Close the input of a process, and kill the process if it does not exit in time."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(EXIT_SECONDS)
    _kill(process)


def _kill(process: "subprocess.Popen[str]") -> None:
    """Kill a process and all its descendants."""
    with suppress(OSError):
        if process.poll() is None:
            kill_tree(process.pid)
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)  # also kills processes of the group whose parent has ended
    process.wait()
