"""A player under guard: it lives in a process of its own, where it is measured and can be ended.

To a game it is a player like any other.  Whatever goes wrong in its process (an exception, a crash of the whole
process, an answer that never comes, one that the rules forbid, more than its terms allow) loses it the game, and
nothing else.  A player whose process has died is made again for its next game.
"""

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
from awello.arena.workers import deaf
from awello.errors import AwelloError, ConfigError, IllegalMoveError
from awello.kernel import kernel_modules
from awello.limits import Clock, format_seconds
from awello.players.player import Choice, Forfeit, Player, Resignation, make_player
from awello.players.spec import parse_spec
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

GRACE = 1.0  # seconds beyond its time after which a player that gives no answer is ended
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
    """MiB of its tables, as `footprint` finds them."""
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
    """Seconds of processor time of all its threads: in its moves and, but for the first thread, between them."""
    memory: int = 0
    """Bytes of its tables at the end of the game."""
    learning: float = 0.0
    """Seconds it took to be ready, when it was last made."""


class Guarded(Player):
    """A player in a process of its own, held to its terms; after a game, `forfeit` says how it lost, if so."""

    def __init__(self, spec: str, game: Game, terms: Terms) -> None:
        self.spec, self.game, self.terms = parse_spec(spec), game, terms
        self.forfeit: Forfeit | None = None
        self.used = Used()
        self._out: Forfeit | None = None  # it learns too slowly, or the tournament is over
        self._process: Any = None
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
        terms = self.terms
        learning = self._ask("learning", terms.learning, "make", str(self.spec), self.game)
        self.used = replace(self.used, learning=learning)
        if terms.learning is not None and learning > terms.learning + terms.tolerance:
            raise self._too_slow(learning)

    def begin(self, game: Game, seed: int) -> None:
        self.used, self.forfeit = Used(learning=self.used.learning), None
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
                memory, processor = self._ask("crash", None, "measure")
                self.used = replace(self.used, memory=memory, processor=processor)
                self._ask("time", self.terms.move_time, "end")
                self._check()
        except Forfeit as forfeit:
            self._lose(forfeit)

    def close(self) -> None:
        """End the process, for good and from any thread."""
        with self._lock:
            self._out = Forfeit("crash", "it was ended")
            if process := self._process:
                process.kill()

    # --- the terms ----------------------------------------------------------------------------------------------------
    def _count(self, seconds: float) -> None:
        used = self.used
        self.used = replace(used, moves=used.moves + 1, seconds=used.seconds + seconds, worst=max(used.worst, seconds))

    def _check(self) -> None:
        """Whether a game that is over kept to the terms of memory and threads."""
        terms, used = self.terms, self.used
        if terms.memory is not None and used.memory > terms.memory * MIB:
            raise Forfeit("memory", f"its tables take {used.memory / MIB:.1f} MiB, {terms.memory:g} are allowed")
        if terms.threads is not None and used.processor > SLACK * terms.threads * used.seconds + SLACK_SECONDS:
            busy = f"{used.processor:.2f} s of processor time in moves of {used.seconds:.2f} s"
            raise Forfeit("threads", f"more than {terms.threads}: {busy}")

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
        methods = multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            context.set_forkserver_preload([__name__, *kernel_modules()])  # once, not in each process
        self._connection, theirs = context.Pipe()
        players = os.environ.get("AWELLO_PLAYERS", "")
        with self._lock:
            if self._out:
                raise self._out
            self._process = context.Process(target=_live, args=(theirs, players), daemon=True)
            with deaf():
                self._process.start()
        theirs.close()

    def _bury(self) -> int:
        """End the process if it lives; its exit status."""
        process, self._process = self._process, None
        process.kill()
        process.join()
        self._connection.close()
        return int(process.exitcode)

    def _ask(self, reason: str, seconds: float | None, question: str, *given: Any) -> Any:
        """The answer of the process, waited for so long and a moment more."""
        limit = None if seconds is None else seconds + self.terms.tolerance + GRACE
        try:
            self._connection.send((question, given))
            if not self._connection.poll(limit):
                if reason == "learning":
                    raise self._too_slow(limit or 0)
                self._bury()
                raise Forfeit(reason, f"no answer within {limit:.1f} s")
            answer = self._connection.recv()
        except (EOFError, OSError):
            raise Forfeit("crash", f"its process ended {_exit(self._bury())}") from None
        if isinstance(answer, Forfeit):
            if question == "make":
                self._bury()
            raise answer
        return answer


def _exit(status: int) -> str:
    """How a process ended, for people."""
    return f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"


# --- what happens in the process --------------------------------------------------------------------------------------
class _Host:
    """Answers for the player; each method is a question."""

    player: Player
    processor = 0.0  # seconds in the moves of this game, and of other threads between them
    others = 0.0  # seconds of other threads since the process began

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
        begun, busy = perf_counter(), process_time()
        choice = self.player.choose(position, clock)
        seconds = perf_counter() - begun
        self.processor += process_time() - busy
        self.others = process_time() - thread_time()
        if not isinstance(choice, Choice) or isinstance(choice.move, str):
            raise IllegalMoveError(f"a player must choose a Choice of a number, not {choice!r}")
        position.play(choice.move)
        return int(choice.move), seconds

    def _count_others(self) -> None:
        """Add what threads but this one have done since they were last looked at."""
        others = process_time() - thread_time()
        self.processor, self.others = self.processor + others - self.others, others

    def measure(self) -> tuple[int, float]:
        self._count_others()
        return footprint(self.player), self.processor

    def end(self) -> None:
        self.player.end()


def _live(connection: Connection, players: str) -> None:
    """The life of a player's process: answer questions until nobody is there to ask."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()
    os.dup2(2, 1)  # what a player prints is no part of the report
    os.environ["AWELLO_PLAYERS"] = players
    for module in kernel_modules():
        import_module(module)  # so that loading kernels late is not taken for learning
    host = _Host()
    while True:
        try:
            question, given = connection.recv()
        except EOFError:
            return
        connection.send(_answer(host, question, given))


def _answer(host: _Host, question: str, given: tuple[Any, ...]) -> Any:
    try:
        return getattr(host, question)(*given)
    except Forfeit as forfeit:
        return forfeit
    except Resignation:
        return Forfeit("resigned", "it gave the game up")
    except IllegalMoveError as error:
        return Forfeit("illegal", _line(str(error)))
    except BaseException as error:
        frame = extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}, line {frame.lineno}"
        return Forfeit("crash", f"{_line(f'{type(error).__name__}: {error}')} ({where})")


def _line(text: str) -> str:
    """A text in one line that is not too long."""
    words = " ".join(text.split())
    return words if len(words) <= LONGEST else f"{words[:LONGEST]}..."


def _die_with_parent() -> None:
    """Leave nothing running if the parent is ended by force."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
