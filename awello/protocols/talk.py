"""What the protocols have in common: lines are heard in a thread of their own, so that they can interrupt a thought.

Lines are answered one after the other.  An urgent one (`ping`, `stop`) ends the thoughts that were asked for before it
at once.  After `quit` or the end of the input each thought has a moment: what a script has asked for is answered, and
nothing goes on for nobody.  Whatever was asked is answered with what is known by then.
"""

import re
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from queue import SimpleQueue
from typing import ClassVar

from awello.analysis import Analysis
from awello.engine.engine import HASH, Engine
from awello.engine.levels import level_of
from awello.errors import AwelloError, NotationError
from awello.limits import Limit
from awello.position import Position
from awello.rules.game import Game

LONGEST = 1 << 16  # bytes of a line
PATIENCE = 1.0  # seconds for each thought when the input has ended
LOOK = 0.1  # seconds between two looks at whether they are over
NAME = "Awello"
LARGEST = (1 << 31) - 1  # number that a line may name
SHOWN = 24  # characters of what was found

Report = Callable[[Analysis], None]


@dataclass(frozen=True)
class Settings:
    """How the engine is to think, unless the other side says otherwise."""

    level: int | None = None
    threads: int = 1
    hash: int = HASH
    weights: Path | None = None
    """For the game that the protocol begins with."""
    version: str = ""
    """What to say to those who ask for the version."""

    def __post_init__(self) -> None:
        level_of(self.level or 0)

    @property
    def limit(self) -> Limit | None:
        """The level as a limit."""
        return None if self.level is None else Limit(level=self.level)


class Talk(ABC):
    """One conversation, from the first line to the last."""

    GAME: ClassVar[Game]
    URGENT: ClassVar[str] = ""
    """The word that ends a thought."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.engine = self.make_engine(self.GAME)
        self.thinking = False
        self._begun = 0.0  # when the last thought began
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._waiting = 0  # urgent lines that have been heard and not yet answered
        self._ended = False  # whether there will be no more lines
        self._over = threading.Event()  # all of them are answered
        self._news = threading.Condition()

    # ---- what a protocol says ----------------------------------------------------------------------------------------
    @abstractmethod
    def answer(self, line: str) -> bool:
        """Answer a line; whether there may be another after it.  An `AwelloError` says what is wrong with the line."""

    @abstractmethod
    def complain(self, line: str, what: str) -> None:
        """Answer a line that is wrong."""

    def interject(self, line: str) -> bool:
        """Answer a line while thinking about another; whether that was possible."""
        return False

    # ---- what is common ----------------------------------------------------------------------------------------------
    def make_engine(self, game: Game) -> Engine:
        """An engine for a game."""
        settings = self.settings
        weights = settings.weights if game == self.GAME else None
        return Engine(game, settings.threads, settings.hash, weights=weights)

    def change_to(self, game: Game) -> None:
        """Have an engine for another game, if it is another."""
        if self.engine.game != game:
            self.engine.close()
            self.engine = self.make_engine(game)

    def converse(self) -> None:
        """Answer lines until there are no more."""
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            while (line := self._lines.get()) is not None:
                if _says(line, self.URGENT):
                    with self._news:
                        self._waiting -= 1
                try:
                    if not self.answer(line):
                        break
                except AwelloError as error:
                    self.complain(line, str(error))
                except MemoryError:
                    self.complain(line, "there is not so much memory")
        finally:
            self._over.set()
            self.engine.close()

    def say(self, text: str) -> None:
        """Write a line, and see to it that it is read."""
        sys.stdout.write(f"{text}\n")  # at once, for two threads may have something to say
        sys.stdout.flush()

    def think(
        self, answers: Iterator[Analysis], report: Report = lambda analysis: None, endless: bool = False
    ) -> Analysis:
        """The last of the engine's answers before an interruption; each is reported.

        If it is `endless`, it waits for the interruption, even after the final answer.
        """
        self._begun, self.thinking = time.monotonic(), True
        for analysis in answers:
            report(analysis)
            if self.interrupted:
                break
        if endless:
            self.await_interruption()
        self.thinking = False
        return analysis

    @property
    def called(self) -> bool:
        """Whether an urgent line waits for its answer."""
        return self._waiting > 0

    @property
    def interrupted(self) -> bool:
        """Whether the thought under way must end."""
        return self.called or (self._ended and time.monotonic() - self._begun > PATIENCE)

    def await_interruption(self) -> None:
        """Wait until an urgent line comes, or the last; other lines can interject meanwhile."""
        self.thinking = True
        with self._news:
            self._news.wait_for(lambda: self.called or self._ended)
        self.thinking = False

    def _listen(self) -> None:
        """Hear lines until there are no more; then see to it that no thought goes on for long."""
        try:
            self._hear()
        finally:
            self._lines.put(None)
        with self._news:
            self._ended = True
            self._news.notify_all()
        while not self._over.wait(LOOK):
            if self.interrupted:
                self.engine.stop()

    def _hear(self) -> None:
        input, line = FileIO(sys.stdin.fileno(), closefd=False), ""  # its own: nobody waits for it at the end
        while not _says(line, "quit") and (heard := input.readline(LONGEST)):
            line = heard.decode(errors="replace").strip()
            if self.thinking and self.interject(line):
                continue
            if _says(line, self.URGENT):
                with self._news:
                    self._waiting += 1
                    self._news.notify_all()
                self.engine.stop()
            self._lines.put(line)


def _says(line: str, word: str) -> bool:
    """Whether a line begins with a word, perhaps after a number."""
    return bool(word) and word in line.lower().split()[: 1 + line[:1].isdecimal()]


def parse_whole(text: str, what: str) -> int:
    """A whole number that a line names; large ones are cut off."""
    if not re.fullmatch(r"[+-]?[0-9]{1,400}", text.strip()):
        raise NotationError(f"syntax error: expected {what}, found {text.strip()[:SHOWN]!r}")
    return max(-LARGEST, min(int(text), LARGEST))


def format_line(position: Position, line: tuple[int, ...], name: Callable[[Position, int], str]) -> str:
    """The moves of a line, written together."""
    names = []
    for move in line:
        names.append(name(position, move))
        position = position.after(move)
    return "".join(names)
