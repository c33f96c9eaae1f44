"""Another program as a player: what the players `gtp`, `nboard` and `uci` have in common.

    gtp@5s,command=gtp-rhino -l 5,log=talk.txt

The program is started once for all games, is told the game so far and asked for a move.  Where it answers nonsense or
not at all, takes longer than it may, or is gone, it has lost that game, and the next one begins with a new process.
Only what goes wrong before its first game is an error: then it cannot be started, or speaks another language.
"""

import os
import shlex
import signal
import subprocess
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from queue import Empty, Queue
from time import monotonic
from typing import ClassVar, TextIO

from awello.errors import AwelloError, SpecError
from awello.limits import Clock, Limit
from awello.players.player import Choice, Forfeit, Player, Resignation
from awello.players.process_tree import kill_tree
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

READY = 60.0  # seconds for the answer to anything but a question for a move
THINKING = 900.0  # seconds for a move that no clock limits
GRACE = 0.5  # seconds that a move may be late
FAREWELL = 1.0  # seconds to leave by itself
MOST_LINES = 1000  # that a program may be ahead of who reads them
LONGEST = 1 << 14  # characters of a line


@dataclass
class Stranger(Player, ABC):
    """Plays what another program answers; a protocol says how to talk to it."""

    PROTOCOL: ClassVar[str]

    limit: Limit | None = None
    """The time for a move, after which the program has lost the game."""
    command: str = ""
    """The program and its options, as in a shell, but without commas."""
    log: str = ""
    """A file to which all that is said is added."""

    def __post_init__(self) -> None:
        self.program: Program | None = None
        self.record: Record | None = None
        self.trouble: Forfeit | None = None  # what went wrong before the game, and loses it

    # ---- what a protocol says ----------------------------------------------------------------------------------------
    def check(self, game: Game) -> None:
        """Refuse a game or a limit that the protocol does not know."""
        if self.limit is not None and self.limit.seconds is None:
            name = self.spec.name
            raise SpecError(f"player {name} takes a time for each move as its limit, such as {name}@5s")

    @abstractmethod
    def greet(self, program: "Program") -> None:
        """Make sure that a new program speaks the protocol."""

    @abstractmethod
    def get_ready(self, program: "Program", game: Game) -> None:
        """Begin a game."""

    @abstractmethod
    def ask(self, program: "Program", record: Record, clock: Clock) -> str:
        """The program's move at the end of a game so far, by its name."""

    # ---- what is common ----------------------------------------------------------------------------------------------
    def begin(self, game: Game, seed: int) -> None:
        self.check(game)
        self.trouble, known = None, self.program is not None
        try:
            if self.program is None or not self.program.alive:
                self.program = Program(self.command, self.PROTOCOL, self.log)
                self.greet(self.program)
            self.get_ready(self.program, game)
        except Forfeit as forfeit:
            assert self.program is not None
            self.program.kill()
            if not known:
                self.program = None
                raise SpecError(forfeit.message) from None
            self.trouble = forfeit

    def follow(self, record: Record) -> None:
        self.record = record

    def choose(self, position: Position, clock: Clock) -> Choice:
        if self.program is None:
            raise RuntimeError("begin comes first")
        if self.trouble:
            raise self.trouble
        record = self.record if self.record is not None and self.record.final == position else Record(position)
        try:
            answer = self.ask(self.program, record, clock)
        except BaseException:
            self.program.kill()  # it may be in the middle of a thought that nobody waits for
            raise
        if answer.lower() == "resign":
            raise Resignation
        try:
            return Choice(position.parse_move(answer))
        except AwelloError as error:
            raise Forfeit("illegal", f"{self.command!r} answers {answer[:40]!r}: {error}") from None

    def seconds(self, clock: Clock) -> float:
        """The time that the program has for a move."""
        limit = self.limit.seconds if self.limit is not None else None
        return min(clock.seconds, THINKING if limit is None else limit)


class Program:
    """A program that was started and can be talked to; it ends with this object, or with whoever holds it."""

    def __init__(self, command: str, protocol: str, log: str = "") -> None:
        self.command, self.protocol = command, protocol
        if not command.strip():
            name = protocol.lower()
            raise SpecError(f"player {name} needs a program: write {name},command=PROGRAM with its options")
        self._note = _open_log(log)
        try:
            self._process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,  # Ctrl-C is for us, who end the program
            )
        except OSError as error:
            raise SpecError(f"cannot start {command!r}: {error.strerror}") from None
        except ValueError as error:
            raise SpecError(f"{command!r} is no command: {error}") from None
        assert self._process.stdout is not None
        self._lines: Queue[str | None] = Queue(MOST_LINES)
        threading.Thread(target=_listen, args=(self._process.stdout, self._lines, self._note), daemon=True).start()
        weakref.finalize(self, _end, self._process)

    @property
    def alive(self) -> bool:
        """Whether it can be talked to."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once."""
        _kill(self._process)

    def say(self, line: str) -> None:
        """Tell it a line."""
        assert self._process.stdin is not None
        self._note(">", line)
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except OSError:
            raise self._gone() from None

    def hear(self, wanted: Callable[[str], object], seconds: float | None = None) -> str:
        """The next line that is wanted, within the seconds for a move, or else soon; `Forfeit` if there is none."""
        end = monotonic() + (READY if seconds is None else seconds + GRACE)
        while not wanted(line := self._line(end, seconds)):
            pass
        return line

    def _line(self, end: float, seconds: float | None) -> str:
        try:
            if (left := end - monotonic()) <= 0:
                raise Empty
            line = self._lines.get(timeout=left)
        except Empty:
            self.kill()
            if seconds is not None:
                raise Forfeit("time", f"{self.command!r} gives no answer within {seconds:g} s") from None
            raise Forfeit("crash", f"{self.command!r} gives no answer: does it speak {self.protocol}?") from None
        if line is None:
            raise self._gone()
        return line.strip()

    def _gone(self) -> Forfeit:
        """How the program ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE)
        if self.alive:
            self.kill()
            return Forfeit("crash", f"{self.command!r} has closed its input or output: try it in a shell")
        self.kill()
        status = self._process.returncode
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"
        return Forfeit("crash", f"{self.command!r} has ended {how}: try it in a shell")


Note = Callable[[str, str], None]


def _open_log(name: str) -> Note:
    """What writes down a line that was said, with who said it (`>` to the program, `<` by it) and when."""
    if not name:
        return lambda who, line: None
    try:
        file = Path(name).open("a", buffering=1, encoding="utf-8")  # noqa: SIM115  (it lives as long as the program)
    except OSError as error:
        raise SpecError(f"cannot write to log={name}: {error.strerror}") from None

    def note(who: str, line: str) -> None:
        with suppress(OSError):
            file.write(f"{datetime.now().isoformat(timespec='milliseconds')} {who} {line.rstrip()}\n")

    return note


def _listen(output: TextIO, lines: "Queue[str | None]", note: Note) -> None:
    """Hand over what a program says, line by line, then None."""
    with output:
        while line := output.readline(LONGEST):
            note("<", line)
            lines.put(line)
    lines.put(None)


def _end(process: "subprocess.Popen[str]") -> None:
    """Let a program leave; it hears that nobody will ask again."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(FAREWELL)
    _kill(process)


def _kill(process: "subprocess.Popen[str]") -> None:
    """End a program and whatever it has started."""
    with suppress(OSError):
        if process.poll() is None:
            kill_tree(process.pid)
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)  # children whose parent has ended, too
    process.wait()
