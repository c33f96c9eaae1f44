"""A player under guard: it lives in a process of its own, where it is measured and can be ended with all it starts.

To a game it is a player like any other.  Whatever goes wrong in its process (an exception, a crash of the whole
process, an answer that never comes, one that the rules forbid, more than its terms allow) loses it the game, and
nothing else.  A player whose process has died is made again for its next game.
"""

import math
import multiprocessing
import os
import signal
import threading
from dataclasses import dataclass, replace
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time, thread_time
from traceback import extract_tb
from typing import Any

from awello.arena.footprint import footprint
from awello.arena.processes import start_process
from awello.arena.supervisor import supervise
from awello.errors import AwelloError, ConfigError, IllegalMoveError
from awello.kernel import kernel_modules
from awello.limits import Clock, format_seconds
from awello.players.player import Choice, Forfeit, Player, Resignation, make_player
from awello.players.process_tree import descendants, kill_tree, memory_use, processor_time
from awello.players.spec import parse_spec
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

GRACE = 1.0  # seconds beyond its time after which a player that gives no answer is ended
SAMPLING = 0.1  # seconds between two measurements of memory, while an answer is awaited
PATIENCE = 5.0  # seconds for a player's processes to end
MIB = 1 << 20
SLACK, SLACK_SECONDS = 1.1, 0.02  # what processor time may exceed wall time by before it proves another thread
LONGEST = 200  # letters of a message
REASONS = ("crash", "illegal", "time", "memory", "threads", "learning", "resigned")


@dataclass(frozen=True)
class Terms:
    """What a player may use; what is None is measured all the same."""

    move_time: float | None = None
    """Seconds for each move."""
    tolerance: float = 0.01
    """Seconds by which a move may be late, for what the machine itself costs."""
    memory: float | None = None
    """MiB of its tables, as `footprint` finds them, and of the processes that it starts."""
    learning: float | None = None
    """Seconds from making the player to its being ready for a game."""
    threads: int | None = None
    """Processors busy on its moves; thinking on the opponent's time is one more."""

    def __post_init__(self) -> None:
        for name in ("move_time", "memory", "learning", "threads"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                what = name.replace("_", " ")
                raise ConfigError(f"a limit of {value:g} for {what}: give more than 0, or leave it out")


@dataclass(frozen=True)
class Used:
    """What a player used in a game."""

    moves: int = 0
    seconds: float = 0.0
    worst: float = 0.0
    processor: float = 0.0
    """Seconds of all its threads and processes: in its moves and, but for the first thread, between them."""
    memory: int = 0
    """Bytes of its tables at the end of the game, and the most that its processes took when they were measured."""
    learning: float = 0.0
    """Seconds it took to be ready, when it was last made."""


class Guarded(Player):
    """A player in a process of its own, held to its terms; after a game, `forfeit` says how it lost, if so."""

    def __init__(self, spec: str, game: Game, terms: Terms) -> None:
        self.spec, self.game, self.terms = parse_spec(spec), game, terms
        self.forfeit: Forfeit | None = None
        self.used = Used()
        self._out: Forfeit | None = None  # it learns too slowly, or the tournament is over
        self._process: Any = None  # the supervisor of the player's process
        self._pid = 0  # the player's process
        self._memory = 0  # the most bytes that its processes have taken in this game
        self._connection: Connection
        self._record: Record | None = None
        self._lock = threading.Lock()

    def ready(self) -> None:
        """Make the player, unless there is one; `Forfeit` if that fails, `refused` if its spec is wrong."""
        if self._out:
            raise self._out
        if self._process is not None:
            return
        self._start()
        self._pid = self._ask("crash", None, "pid")
        terms = self.terms
        learning = self._ask("learning", terms.learning, "make", str(self.spec), self.game)
        self.used = replace(self.used, learning=learning)
        if terms.learning is not None and learning > terms.learning + terms.tolerance:
            raise self._too_slow(learning)

    def begin(self, game: Game, seed: int) -> None:
        self.used, self.forfeit, self._memory = Used(learning=self.used.learning), None, 0
        try:
            self.ready()
            self._ask("time", self.terms.move_time, "begin", game, seed)
        except Forfeit as forfeit:
            self._lose(forfeit if forfeit.reason in REASONS else Forfeit("crash", forfeit.message))

    def follow(self, record: Record) -> None:
        self._record = record

    def choose(self, position: Position, clock: Clock) -> Choice:
        if self.forfeit:
            raise self.forfeit
        begun = perf_counter()
        try:
            move, seconds = self._ask("time", self.terms.move_time, "choose", position, clock, self._record)
        except Forfeit as forfeit:
            if forfeit.reason == "time":
                self._count(perf_counter() - begun)
            raise self._lose(forfeit) from None
        self._count(seconds)
        if self.terms.move_time is not None and seconds > self.terms.move_time + self.terms.tolerance:
            message = f"a move took {1000 * seconds:.1f} ms, {format_seconds(self.terms.move_time)} are allowed"
            raise self._lose(Forfeit("time", message))
        return Choice(move)

    def end(self) -> None:
        try:
            if self._process is not None:
                tables, processor = self._ask("crash", None, "measure")
                self.used = replace(self.used, memory=tables + self._memory, processor=processor)
                self._ask("time", self.terms.move_time, "end")
                self._check()
        except Forfeit as forfeit:
            self._lose(forfeit)

    def stop(self) -> None:
        """Begin to end the player, for good and from any thread."""
        with self._lock:
            self._out = Forfeit("crash", "it was ended")
            if self._process:
                self._process.terminate()

    def close(self) -> None:
        """End the player with all it started, for good and from any thread."""
        self.stop()
        with self._lock:
            if self._process:
                _end(self._process)

    # --- the terms ----------------------------------------------------------------------------------------------------
    def _count(self, seconds: float) -> None:
        used = self.used
        self.used = replace(used, moves=used.moves + 1, seconds=used.seconds + seconds, worst=max(used.worst, seconds))

    def _check(self) -> None:
        """Whether a game that is over kept to the terms of memory and threads."""
        terms, used = self.terms, self.used
        if terms.memory is not None and used.memory > terms.memory * MIB:
            raise self._too_large("tables and processes" if self._memory else "tables", used.memory)
        if terms.threads is not None and used.processor > SLACK * terms.threads * used.seconds + SLACK_SECONDS:
            busy = f"{used.processor:.2f} s of processor time in moves of {used.seconds:.2f} s"
            raise Forfeit("threads", f"more than {terms.threads}: {busy}")

    def _too_large(self, what: str, found: int) -> Forfeit:
        return Forfeit("memory", f"its {what} take {found / MIB:.1f} MiB, {self.terms.memory:g} are allowed")

    def _measure_processes(self) -> None:
        """Note the memory of the processes that the player has started, and end them all if it is too much."""
        found = memory_use(descendants(self._pid))
        self._memory = max(self._memory, found)
        if self.terms.memory is not None and found > self.terms.memory * MIB:
            self.used = replace(self.used, memory=self._memory)
            kill_tree(self._pid)  # at once, without the time that a program has to end by itself
            self._bury()
            raise self._too_large("processes", found)

    def _lose(self, forfeit: Forfeit) -> Forfeit:
        """Note the first thing that lost the game."""
        self.forfeit = self.forfeit or forfeit
        return forfeit

    def _too_slow(self, seconds: float) -> Forfeit:
        """Out for good: learning anew for each game would not be faster."""
        self.used = replace(self.used, learning=seconds)
        allowed = format_seconds(self.terms.learning or 0)
        self._out = Forfeit("learning", f"not ready after {seconds:.1f} s, {allowed} are allowed")
        self._bury()
        return self._out

    # --- the process --------------------------------------------------------------------------------------------------
    def _start(self) -> None:
        self._connection, theirs = multiprocessing.Pipe()
        with self._lock:
            if self._out:
                raise self._out
            self._process, self._pid = start_process(_live, theirs, preload=[__name__]), 0
        theirs.close()

    def _bury(self) -> int:
        """End the player's processes if they live; the exit status of the first."""
        with self._lock:
            process, self._process = self._process, None
            _end(process)
        self._connection.close()
        return int(process.exitcode)

    def _ask(self, reason: str, seconds: float | None, question: str, *given: Any) -> Any:
        """The answer of the process, waited for so long and a moment more."""
        limit = None if seconds is None else seconds + self.terms.tolerance + GRACE
        try:
            self._connection.send((question, given))
            if not self._wait(limit):
                if reason == "learning":
                    raise self._too_slow(limit or 0)
                self._bury()
                raise Forfeit(reason, f"no answer within {limit:.1f} s")
            answer = self._connection.recv()
            if question in ("choose", "measure"):
                self._measure_processes()
        except (EOFError, OSError):
            raise Forfeit("crash", f"its process ended {_exit(self._bury())}") from None
        if isinstance(answer, Forfeit):
            if question == "make":
                self._bury()
            raise answer
        return answer

    def _wait(self, seconds: float | None) -> bool:
        """Whether there is an answer in time."""
        end = math.inf if seconds is None else perf_counter() + seconds
        while (left := end - perf_counter()) > 0:
            if self._connection.poll(min(left, SAMPLING)):
                return True
            self._measure_processes()
        return False


def _end(process: Any) -> None:
    """End a player's processes."""
    process.terminate()
    process.join(PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()


def _exit(status: int) -> str:
    """How a process ended, for people."""
    return f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"


# --- what happens in the process --------------------------------------------------------------------------------------
class _Host:
    """Answers for the player; each method is a question."""

    player: Player
    processor = 0.0  # seconds in the moves of this game, and of other threads between them
    others = 0.0  # seconds of other threads and processes since the process began

    def pid(self) -> int:
        return os.getpid()

    def make(self, spec: str, game: Game) -> float:
        begun = perf_counter()
        try:
            self.player = make_player(spec)
            self.player.begin(game, 0)
        except AwelloError as error:
            raise Forfeit("refused", str(error)) from None
        return perf_counter() - begun

    def begin(self, game: Game, seed: int) -> None:
        self.player.begin(game, seed)
        self._count_others()
        self.processor = 0.0

    def choose(self, position: Position, clock: Clock, record: Record | None = None) -> tuple[int, float]:
        if record is not None:
            self.player.follow(record)
        self._count_others()
        busy, begun = _processes_time() + process_time(), perf_counter()
        choice = self.player.choose(position, clock)
        seconds, busy_now, own = perf_counter() - begun, process_time(), thread_time()
        busy_now += _processes_time()
        self.processor += busy_now - busy
        self.others = busy_now - own
        if not isinstance(choice, Choice) or isinstance(choice.move, str):
            raise IllegalMoveError(f"a player must choose a Choice of a number, not {choice!r}")
        position.play(choice.move)
        return int(choice.move), seconds

    def _count_others(self) -> None:
        """Add what threads but this one, and other processes, have done since they were last looked at."""
        others = process_time() - thread_time() + _processes_time()
        self.processor, self.others = self.processor + others - self.others, others

    def measure(self) -> tuple[int, float]:
        self._count_others()
        return footprint(self.player), self.processor

    def end(self) -> None:
        self.player.end()


def _processes_time() -> float:
    """The seconds of processor time of all processes that this one has started."""
    ended = os.times()
    return ended.children_user + ended.children_system + processor_time(descendants(os.getpid()))


def _live(connection: Connection) -> None:
    """The life of a player's process: answer questions until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    supervise(connection)
    os.dup2(2, 1)  # what a player prints is no part of the report
    for module in kernel_modules():
        import_module(module)  # so that loading kernels late is not taken for learning
    host, pid = _Host(), os.getpid()
    while True:
        try:
            question, given = connection.recv()
        except EOFError:
            return
        answer = _answer(host, question, given)
        if os.getpid() != pid:
            os._exit(1)  # a process that the player forked and let return: it must not answer, too
        connection.send(answer)


def _answer(host: _Host, question: str, given: tuple[Any, ...]) -> Any:
    try:
        return getattr(host, question)(*given)
    except Forfeit as forfeit:
        message = _line(forfeit.message, 5 * LONGEST)  # which may hold a long command
        return Forfeit(forfeit.reason, message)  # the arena may not know a class of the player's own
    except Resignation:
        return Forfeit("resigned", "it gave the game up")
    except IllegalMoveError as error:
        return Forfeit("illegal", _line(str(error)))
    except BaseException as error:
        frame = extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}, line {frame.lineno}"
        return Forfeit("crash", f"{_line(f'{type(error).__name__}: {error}')} ({where})")


def _line(text: str, longest: int = LONGEST) -> str:
    """A text in one line that is not too long."""
    words = " ".join(text.split())
    return words if len(words) <= longest else f"{words[:longest]}..."
