"""Awello's engine on standard input and output: the base of the NBoard, GTP and UCI servers.

A separate thread reads the input, so that a line can interrupt a search.  Lines are answered in order, except that
UCI's `isready` is answered even during a search.  A stop line (`ping`, `stop`) immediately ends all searches requested
before it.  After `quit` or the end of the input, each search is limited to one second.  An interrupted search answers
with its best result so far.
"""

import math
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
from awello.engine.engine import DEFAULT_HASH_MIB, Engine
from awello.engine.levels import find_level
from awello.errors import AwelloError, NotationError
from awello.formats.common import MAX_QUOTED_CHARS
from awello.limits import Limit
from awello.rules.game import Game

MAX_LINE_BYTES = 1 << 16
MAX_EXIT_SEARCH_SECONDS = 1.0  # time limit per search after the end of the input
POLL_SECONDS = 0.1  # interval at which the server checks whether a search must end
ENGINE_NAME = "Awello"
MAX_NUMBER = (1 << 31) - 1  # larger numbers in a line are clipped


@dataclass
class EngineServer(ABC):
    """A session with a client on standard input and output."""

    GAME: ClassVar[Game]
    STOP_WORD: ClassVar[str] = ""
    """The command that stops a search."""
    IMMEDIATE_LINE: ClassVar[str] = ""
    """A line that is answered even during a search."""

    level: int | None = None
    threads: int = 1
    hash: int = DEFAULT_HASH_MIB
    weights: Path | None = None
    """Evaluation weights for the default game of the protocol."""

    def __post_init__(self) -> None:
        find_level(self.level or 0)
        self.engine = Engine(self.GAME, self.threads, self.hash, weights=self.weights)
        self.searching = False
        self._started = 0.0  # when the last search started
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._pending_stops = 0  # the number of stop lines that have been read but not answered
        self._input_ended = False
        self._finished = threading.Event()
        self._stop_condition = threading.Condition()

    @abstractmethod
    def answer(self, line: str) -> bool:
        """Answer a line, and return whether the session continues.  Raises `AwelloError` for an invalid line."""

    @abstractmethod
    def report_error(self, line: str, reason: str) -> None:
        """Send the reason why a line could not be processed."""

    def change_engine(self, game: Game, threads: int | None = None, hash: int | None = None) -> None:
        """Replace the engine if the game or an option differs; if the new engine cannot be made, keep the old one."""
        threads, hash = (self.threads if threads is None else threads), (self.hash if hash is None else hash)
        if (game, threads, hash) != (self.engine.game, self.threads, self.hash):
            engine = Engine(game, threads, hash, weights=self.weights if game == self.GAME else None)
            self.engine.close()
            self.engine, self.threads, self.hash = engine, threads, hash

    @property
    def limit(self) -> Limit | None:
        """The level as a limit; None if no level is set."""
        return None if self.level is None else Limit(level=self.level)

    def serve(self) -> None:
        """Answer lines until the session ends."""
        threading.Thread(target=self._listen, daemon=True).start()
        try:
            while (line := self._lines.get()) is not None and self._answer(line):
                pass
        finally:
            self._finished.set()
            self.engine.close()

    def send(self, *lines: str) -> None:
        """Write lines and flush."""
        sys.stdout.write("\n".join((*lines, "")))  # a single call, because two threads write
        sys.stdout.flush()

    def search(
        self, analyses: Iterator[Analysis], report: Callable[[Analysis], None] = lambda _: None, endless: bool = False
    ) -> Analysis:
        """Report analyses; if `endless`, wait for a stop line or the end of the input; return the last analysis."""
        self._started, self.searching = time.monotonic(), True
        for analysis in analyses:
            report(analysis)
            if self.must_stop:
                break
        if endless:
            self.wait_for_stop()
        self.searching = False
        return analysis

    @property
    def stop_requested(self) -> bool:
        """Whether a stop line is waiting for its answer."""
        return self._pending_stops > 0

    @property
    def must_stop(self) -> bool:
        """Whether the current search must end."""
        return self.stop_requested or (self._input_ended and time.monotonic() - self._started > MAX_EXIT_SEARCH_SECONDS)

    def wait_for_stop(self) -> None:
        """Wait for a stop line or the end of the input."""
        self.searching = True
        with self._stop_condition:
            self._stop_condition.wait_for(lambda: self.stop_requested or self._input_ended)
        self.searching = False

    def _answer(self, line: str) -> bool:
        if _starts_with_word(line, self.STOP_WORD):
            with self._stop_condition:
                self._pending_stops -= 1
        try:
            return self.answer(line)
        except AwelloError as error:
            self.report_error(line, str(error))
        except MemoryError:
            self.report_error(line, "not enough memory")
        return True

    def _listen(self) -> None:
        """Read lines until `quit` or the end of the input, then limit the time of the remaining searches."""
        try:
            self._read()
        finally:
            self._lines.put(None)
        with self._stop_condition:
            self._input_ended = True
            self._stop_condition.notify_all()
        while not self._finished.wait(POLL_SECONDS):
            if self.must_stop:
                self.engine.stop()

    def _read(self) -> None:
        input, line = (
            FileIO(sys.stdin.fileno(), closefd=False),
            "",
        )  # unbuffered, so that Awello can exit without waiting for the buffer's lock
        while not _starts_with_word(line, "quit") and (read := input.readline(MAX_LINE_BYTES)):
            line = read.decode(errors="replace").strip()
            if self.searching and line and line == self.IMMEDIATE_LINE:
                self.answer(line)
                continue
            if _starts_with_word(line, self.STOP_WORD):
                with self._stop_condition:
                    self._pending_stops += 1
                    self._stop_condition.notify_all()
                self.engine.stop()
            self._lines.put(line)


def _starts_with_word(line: str, word: str) -> bool:
    """Return whether the first word of a line is `word`; a number before the word is ignored."""
    return bool(word) and word in line.lower().split()[: 1 + line[:1].isdecimal()]


def parse_int(text: str, expected: str, minimum: float = -math.inf) -> int:
    """Parse an integer; clip it to ±`MAX_NUMBER`, and raise `NotationError` if it is invalid or below `minimum`."""
    if not re.fullmatch(r"[+-]?[0-9]{1,400}", text.strip()) or int(text) < minimum:
        raise NotationError(f"syntax error: expected {expected}, found {text.strip()[:MAX_QUOTED_CHARS]!r}")
    return max(-MAX_NUMBER, min(int(text), MAX_NUMBER))
