"""Another program as a player, spoken to in version 2 of the Go Text Protocol as Othello programs know it.

    gtp,command=gtp-rhino -l 5

The program is started once for all games.  Before it is asked for a move, it is told those that it has not seen.  A
player sees positions, not moves; but any moves that lead to a position will do.  Where the program answers nonsense or
not at all, or is gone, a line says so, and the next game begins with a new one.
"""

import math
import os
import shlex
import signal
import subprocess
import threading
import weakref
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Queue
from time import monotonic
from typing import TextIO

from awello.errors import AwelloError, IllegalMoveError, SpecError
from awello.limits import Clock
from awello.players.player import Choice, Player, Resignation, register
from awello.position import Position
from awello.rules.game import PASS, Game

READY = 20.0  # seconds for the answer to anything but a question for a move
THINKING = 900.0  # seconds for a move
FAREWELL = 1.0  # seconds to leave by itself
MOST_LINES = 1000  # that a program may be ahead of who reads them
MOST_LOOKS = 50_000  # positions to look at for the moves that lead to another
COLOURS = "black", "white"


class Refused(AwelloError):
    """The program knows what was asked and will not do it."""


@register("gtp", "another program for Othello that speaks GTP: gtp,command=gtp-rhino -l 5")
@dataclass
class Gtp(Player):
    """Plays what another program answers."""

    command: str = ""
    """The program and its options, as in a shell, but without commas."""

    def __post_init__(self) -> None:
        self.program: Program | None = None
        self.boards, self.moves = [Position.start()], list[int]()  # what the program has seen

    def begin(self, game: Game, seed: int) -> None:
        if game != Game.OTHELLO:
            raise SpecError(f"player gtp plays Othello on 8x8 alone, not {game}")
        if self.program is None or not self.program.alive:
            self.program = Program(self.command)
            with suppress(Refused):
                self.program.ask("set_game Othello")  # many play nothing else, and some do not know the word
            self.program.ask("boardsize 8")
        self._clear(self.program)

    def choose(self, position: Position, clock: Clock) -> Choice:
        assert self.program is not None, "begin comes first"
        try:
            self._catch_up(self.program, position)
            answer = self._ask(self.program, COLOURS[position.side], clock)
        except BaseException:
            self.program.kill()  # it may be in the middle of a thought that nobody waits for
            raise
        if answer == "resign":
            raise Resignation
        try:
            move = position.parse_move(answer)
        except AwelloError as error:
            raise IllegalMoveError(str(error)) from None
        self._note(move)
        return Choice(move)

    def _ask(self, program: "Program", colour: str, clock: Clock) -> str:
        """What the program answers when it is to move."""
        if math.isfinite(clock.seconds):
            with suppress(Refused):
                program.ask(f"time_left {colour} {int(clock.seconds)} 0")
        return program.ask(f"genmove {colour}", THINKING).lower()

    def _clear(self, program: "Program") -> None:
        program.ask("clear_board")
        self.boards, self.moves = [Position.start()], []

    def _note(self, move: int) -> None:
        self.boards.append(self.boards[-1].after(move))
        self.moves.append(move)

    def _catch_up(self, program: "Program", position: Position) -> None:
        """Tell the program the moves that it has not seen; all of them, if some were taken back."""
        for known in range(len(self.moves), -1, -1):
            moves = moves_between(self.boards[known], position)
            if moves is not None:
                break
        else:
            raise SpecError("player gtp plays games from the start: no moves were found that lead to this position")
        if known < len(self.moves):
            moves = self.moves[:known] + moves
            self._clear(program)
        for move in moves:
            board = self.boards[-1]
            try:
                program.ask(f"play {COLOURS[board.side]} {board.format_move(move)}")
            except Refused:
                if move != PASS:  # some programs pass by themselves, and do not know the word
                    raise
            self._note(move)


def moves_between(start: Position, target: Position) -> list[int] | None:
    """Some moves that lead from one position to another; None if there are none, or none that is found soon."""
    occupied = target.own | target.opp
    seen = set[Position]()

    def look(position: Position) -> list[int] | None:
        if position == target:
            return []
        if position in seen or len(seen) == MOST_LOOKS:
            return None
        seen.add(position)
        for move in position.legal_moves():
            if move == PASS or occupied >> move & 1:
                rest = look(position.after(move))
                if rest is not None:
                    return [move, *rest]
        return None

    return look(start)


class Program:
    """A program that was started and answers commands; it ends with this object, or with whoever holds it."""

    def __init__(self, command: str) -> None:
        self.command = command
        try:
            words = shlex.split(command)
            if not words:
                raise SpecError("player gtp needs a program: write gtp,command=PROGRAM with its options")
            self._process = subprocess.Popen(
                words,
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
        threading.Thread(target=_listen, args=(self._process.stdout, self._lines), daemon=True).start()
        weakref.finalize(self, _end, self._process)

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def kill(self) -> None:
        """End it at once."""
        _kill(self._process)

    def ask(self, command: str, seconds: float | None = None) -> str:
        """The answer to a command, in a line; `Refused` if it is an error."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{command}\n")
            self._process.stdin.flush()
        except OSError:
            raise self._gone() from None
        answer, end = list[str](), monotonic() + (seconds or READY)
        while (line := self._line(end)) or not answer:
            if answer or line.startswith(("=", "?")):  # what comes before is no part of the answer
                answer.append(line)
        text = " ".join(answer)[1:].strip()
        if answer[0].startswith("?"):
            raise Refused(f"{self.command!r} refuses {command!r}: {text}")
        return text

    def _line(self, end: float) -> str:
        """The next line of the program until a time; empty, if it is."""
        try:
            if (left := end - monotonic()) <= 0:
                raise Empty
            line = self._lines.get(timeout=left)
        except Empty:
            self.kill()
            raise AwelloError(f"{self.command!r} gives no answer: does it speak GTP?") from None
        if line is None:
            raise self._gone()
        return line.strip()

    def _gone(self) -> AwelloError:
        """The error that says how the program ended."""
        self.kill()
        status = self._process.returncode
        how = f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"
        return AwelloError(f"{self.command!r} has ended {how}: try it in a shell")


def _listen(output: TextIO, lines: "Queue[str | None]") -> None:
    """Hand over what a program says, line by line, then None."""
    with output:
        for line in output:
            lines.put(line)
    lines.put(None)


def _end(process: "subprocess.Popen[str]") -> None:
    """Let a program leave; it hears that nobody will ask again."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
    try:
        process.wait(FAREWELL)
    except subprocess.TimeoutExpired:
        _kill(process)


def _kill(process: "subprocess.Popen[str]") -> None:
    """End a program and whatever it has started."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    process.wait()
