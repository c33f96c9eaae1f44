"""A sandboxed player, which runs in its own process; its resource use is measured and limited.

The game loop treats it like any other player.  A player forfeits a game if it raises an exception, crashes, gives no
answer or an illegal one, or exceeds a limit; the arena keeps running.  If its process has died, a new one is started
for its next game.  A player that takes too long to prepare forfeits all its games.

The memory use of a player is the growth of its process's anonymous resident memory, which excludes mapped files, since
just before the player was made, plus the resident memory of the processes it started.  Memory use is measured on Linux
only.
"""

import math
import multiprocessing
import os
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, process_time, thread_time
from traceback import extract_tb
from typing import Any

from awello.arena.processes import start_process
from awello.arena.supervisor import supervise
from awello.errors import AwelloError, ConfigError, IllegalMoveError
from awello.kernel import load_kernels
from awello.limits import Clock, format_duration
from awello.players.player import Choice, Forfeit, Player, Resignation, make_player
from awello.players.process_tree import (
    describe_exit,
    kill_tree,
    list_descendants,
    measure_anonymous_memory,
    measure_cpu_seconds,
    measure_memory,
)
from awello.players.spec import parse_spec
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game

ANSWER_GRACE = 1.0  # seconds after the time limit until a player that does not answer is terminated
MEMORY_POLL_SECONDS = 0.1  # seconds between two memory measurements while waiting for an answer
EXIT_TIMEOUT = 5.0  # seconds to wait for a player's processes to exit
MIB = 1 << 20
# The CPU time allowed in a game is CPU_TOLERANCE * max_threads * (time of the moves) + CPU_TOLERANCE_SECONDS.
CPU_TOLERANCE, CPU_TOLERANCE_SECONDS = 1.1, 0.02
MAX_MESSAGE_CHARS = 200
REASONS = ("crash", "illegal", "time", "memory", "threads", "learning", "resigned")


@dataclass(frozen=True)
class ResourceLimits:
    """Resource limits of a player.  None means no limit; resource use is measured in any case."""

    move_time: float | None = None
    """Seconds per move."""
    tolerance: float = 0.01
    """Seconds by which `move_time` and `learning_time` may be exceeded, to allow for overhead."""
    max_memory: float | None = None
    """Growth of the player's process since before the player was made, plus memory of its child processes, in MiB."""
    learning_time: float | None = None
    """Seconds for making the player and preparing it for a game; the same limit applies to learning from each game."""
    max_threads: int | None = None
    """Maximum mean number of busy threads: CPU time of a game, pondering included, divided by the time of its moves."""

    def __post_init__(self) -> None:
        for name in ("move_time", "max_memory", "learning_time", "max_threads"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"{name} is {value:g}: give a value above 0, or omit it for no limit")


@dataclass(frozen=True)
class Usage:
    """Resource use of a player in a game."""

    moves: int = 0
    seconds: float = 0.0
    max_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """CPU seconds of the player's threads and processes; between moves, its main thread is not counted."""
    memory_bytes: int = 0
    """Maximum memory in bytes, measured during and after each move."""
    learning_seconds: float = 0.0
    """Seconds that the last preparation took."""


class SandboxedPlayer(Player):
    """A player in its own process, with resource limits.  `forfeit` is set if the player forfeited its latest game."""

    def __init__(self, spec: str, game: Game, limits: ResourceLimits) -> None:
        self.spec, self.game, self.limits = parse_spec(spec), game, limits
        self.forfeit: Forfeit | None = None
        self.usage = Usage()
        self._disqualified: Forfeit | None = (
            None  # set if the player prepared too slowly or was stopped, so that it may play no more games
        )
        self._process: Any = None  # the supervisor of the player's process
        self._pid = 0  # id of the player's process
        self._baseline_memory = 0  # bytes used by the process before the player was made
        self._connection: Connection
        self._record: Record | None = None
        self._lock = threading.Lock()

    def ensure_ready(self) -> None:
        """Start a process and make the player in it, unless the player already has a process.

        Raises `Forfeit` on failure, with the reason `refused` if the spec is invalid.
        """
        if self._disqualified:
            raise self._disqualified
        if self._process is not None:
            return
        self._start()
        self._pid = self._call("crash", None, "pid")
        self._baseline_memory = measure_anonymous_memory(self._pid)
        limits = self.limits
        learning = self._call("learning", limits.learning_time, "make", str(self.spec), self.game)
        self.usage = replace(self.usage, learning_seconds=learning)
        if limits.learning_time is not None and learning > limits.learning_time + limits.tolerance:
            raise self._disqualify(learning)

    def begin(self, game: Game, seed: int) -> None:
        self.usage, self.forfeit = Usage(learning_seconds=self.usage.learning_seconds), None
        try:
            self.ensure_ready()
            self._call("time", self.limits.move_time, "begin", game, seed)
        except Forfeit as forfeit:
            self._record_forfeit(forfeit if forfeit.reason in REASONS else Forfeit("crash", forfeit.message))

    def follow(self, record: Record) -> None:
        self._record = record

    def choose(self, position: Position, clock: Clock) -> Choice:
        if self.forfeit:
            raise self.forfeit
        started = perf_counter()
        try:
            move, seconds = self._call("time", self.limits.move_time, "choose", position, clock, self._record)
        except Forfeit as forfeit:
            if forfeit.reason == "time":
                self._count_move(perf_counter() - started)
            raise self._record_forfeit(forfeit) from None
        self._count_move(seconds)
        if self.limits.move_time is not None and seconds > self.limits.move_time + self.limits.tolerance:
            message = f"a move took {1000 * seconds:.1f} ms; the limit is {format_duration(self.limits.move_time)}"
            raise self._record_forfeit(Forfeit("time", message))
        return Choice(move)

    def end(self) -> None:
        try:
            if self._process is not None:
                self.usage = replace(self.usage, cpu_seconds=self._call("crash", None, "measure"))
                self._call("time", self.limits.move_time, "end")
                self._check_threads()
        except Forfeit as forfeit:
            self._record_forfeit(forfeit)

    def learn(self, record: Record, side: int) -> Mapping[str, int]:
        try:
            if self._process is not None:
                return dict(self._call("learning", self.limits.learning_time, "learn", record, side))
        except Forfeit as forfeit:
            self._record_forfeit(forfeit)
        return {}

    def stop(self) -> None:
        """Terminate the player permanently, without waiting for it; can be called from any thread."""
        with self._lock:
            self._disqualified = Forfeit("crash", "the player was stopped")
            if self._process:
                self._process.terminate()

    def close(self) -> None:
        """End the player and its processes permanently; can be called from any thread."""
        self.stop()
        with self._lock:
            if self._process:
                _end(self._process)

    # --- limits -------------------------------------------------------------------------------------------------------
    def _count_move(self, seconds: float) -> None:
        used = self.usage
        self.usage = replace(
            used, moves=used.moves + 1, seconds=used.seconds + seconds, max_seconds=max(used.max_seconds, seconds)
        )

    def _check_threads(self) -> None:
        """Raise `Forfeit` if the player has used more CPU time in a game than `max_threads` allows."""
        threads, used = self.limits.max_threads, self.usage
        if threads is not None and used.cpu_seconds > CPU_TOLERANCE * threads * used.seconds + CPU_TOLERANCE_SECONDS:
            cpu = f"{used.cpu_seconds:.2f} s of CPU time, although its moves took only {used.seconds:.2f} s"
            raise Forfeit("threads", f"it used {cpu}; the thread limit is {threads}")

    def _measure_memory(self) -> None:
        """Measure the memory of the player's processes; if it exceeds the limit, kill them and raise `Forfeit`."""
        own = max(0, measure_anonymous_memory(self._pid) - self._baseline_memory) if self._baseline_memory else 0
        used_memory = own + measure_memory(list_descendants(self._pid))
        self.usage = replace(self.usage, memory_bytes=max(self.usage.memory_bytes, used_memory))
        if self.limits.max_memory is not None and used_memory > self.limits.max_memory * MIB:
            kill_tree(self._pid)  # immediately: external engines get no time to exit
            self._terminate()
            memory = f"{used_memory / MIB:.1f} MiB of memory"
            raise Forfeit("memory", f"it uses {memory}; the limit is {self.limits.max_memory:g} MiB")

    def _record_forfeit(self, forfeit: Forfeit) -> Forfeit:
        """Store a forfeit unless the game already has one; return the given forfeit."""
        self.forfeit = self.forfeit or forfeit
        return forfeit

    def _disqualify(self, seconds: float) -> Forfeit:
        """Disqualify the player from all further games, because it prepares too slowly; return the forfeit."""
        self.usage = replace(self.usage, learning_seconds=seconds)
        allowed = format_duration(self.limits.learning_time or 0)
        self._disqualified = Forfeit("learning", f"not ready after {seconds:.1f} s; the limit is {allowed}")
        self._terminate()
        return self._disqualified

    # --- process ------------------------------------------------------------------------------------------------------
    def _start(self) -> None:
        self._connection, player_end = multiprocessing.Pipe()
        with self._lock:
            if self._disqualified:
                raise self._disqualified
            self._process = start_process(_serve_player, player_end, preload=[__name__])
            self._pid, self._baseline_memory = 0, 0
        player_end.close()

    def _terminate(self) -> int:
        """End the player's processes; return the exit status of the supervisor."""
        with self._lock:
            process, self._process = self._process, None
            _end(process)
        self._connection.close()
        return int(process.exitcode)

    def _call(self, reason: str, seconds: float | None, method: str, *args: Any) -> Any:
        """Call a method of `_PlayerHost` in the player's process; raise `Forfeit` with `reason` on a timeout."""
        limit = None if seconds is None else seconds + self.limits.tolerance + ANSWER_GRACE
        try:
            self._connection.send((method, args))
            if not self._wait(limit):
                if reason == "learning":
                    raise self._disqualify(limit or 0)
                self._terminate()
                raise Forfeit(reason, f"no answer within {limit:.1f} s")
            answer = self._connection.recv()
            if method in ("make", "begin", "choose", "learn"):
                self._measure_memory()
        except (EOFError, OSError):
            raise Forfeit("crash", f"its process ended {describe_exit(self._terminate())}") from None
        if isinstance(answer, Forfeit):
            if method == "make":
                self._terminate()
            raise answer
        return answer

    def _wait(self, seconds: float | None) -> bool:
        """Wait for an answer, measuring memory meanwhile; return False if none arrives in time."""
        end = math.inf if seconds is None else perf_counter() + seconds
        while (left := end - perf_counter()) > 0:
            if self._connection.poll(min(left, MEMORY_POLL_SECONDS)):
                return True
            self._measure_memory()
        return False


def _end(process: Any) -> None:
    """End a player's processes."""
    process.terminate()
    process.join(EXIT_TIMEOUT)
    if process.is_alive():
        process.kill()
        process.join()


# --- in the player's process ------------------------------------------------------------------------------------------
class _PlayerHost:
    """Holds the player in the player's process; the arena calls the host's methods through the connection."""

    player: Player
    cpu_seconds = 0.0  # CPU seconds of this game, counted like `Usage.cpu_seconds`
    other_cpu_seconds = 0.0  # CPU seconds so far of child processes and of all threads but the main one

    def pid(self) -> int:
        return os.getpid()

    def make(self, spec: str, game: Game) -> float:
        started = perf_counter()
        try:
            self.player = make_player(spec)
            self.player.begin(game, 0)
        except AwelloError as error:
            raise Forfeit("refused", str(error)) from None
        return perf_counter() - started

    def begin(self, game: Game, seed: int) -> None:
        self.player.begin(game, seed)
        self._count_other_cpu_seconds()
        self.cpu_seconds = 0.0

    def choose(self, position: Position, clock: Clock, record: Record | None = None) -> tuple[int, float]:
        if record is not None:
            self.player.follow(record)
        self._count_other_cpu_seconds()
        cpu_before, started = _children_cpu_time() + process_time(), perf_counter()
        choice = self.player.choose(position, clock)
        seconds, cpu_after, own = perf_counter() - started, process_time(), thread_time()
        cpu_after += _children_cpu_time()
        self.cpu_seconds += cpu_after - cpu_before
        self.other_cpu_seconds = cpu_after - own
        if not isinstance(choice, Choice) or isinstance(choice.move, str):
            raise IllegalMoveError(f"choose() must return a Choice with a legal move, not {choice!r}")
        position.play(choice.move)
        return int(choice.move), seconds

    def _count_other_cpu_seconds(self) -> None:
        """Add the recent CPU time of child processes and of all threads but the main one to `cpu_seconds`.

        Counts the time since the last measurement.
        """
        other_cpu_seconds = process_time() - thread_time() + _children_cpu_time()
        self.cpu_seconds, self.other_cpu_seconds = (
            self.cpu_seconds + other_cpu_seconds - self.other_cpu_seconds,
            other_cpu_seconds,
        )

    def measure(self) -> float:
        self._count_other_cpu_seconds()
        return self.cpu_seconds

    def end(self) -> None:
        self.player.end()

    def learn(self, record: Record, side: int) -> dict[str, int]:
        return dict(self.player.learn(record, side))


def _children_cpu_time() -> float:
    """Return the CPU seconds of this process's descendants, both running and ended."""
    ended = os.times()
    return ended.children_user + ended.children_system + measure_cpu_seconds(list_descendants(os.getpid()))


def _serve_player(connection: Connection) -> None:
    """Host a player in this process: answer calls until the connection is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    supervise(connection)
    os.dup2(2, 1)  # a player's output must not be mixed with the report
    load_kernels()  # before the learning time starts
    host, pid = _PlayerHost(), os.getpid()
    with suppress(EOFError, ConnectionError):  # the arena has closed the connection or has ended
        while True:
            method, args = connection.recv()
            answer = _answer(host, method, args)
            if os.getpid() != pid:
                os._exit(1)  # a process forked by the player has returned to this loop and must not answer
            connection.send(answer)


def _answer(host: _PlayerHost, method: str, args: tuple[Any, ...]) -> Any:
    try:
        return getattr(host, method)(*args)
    except Forfeit as forfeit:
        message = _to_line(forfeit.message, 5 * MAX_MESSAGE_CHARS)  # the message may contain a long command
        return Forfeit(forfeit.reason, message)  # the arena may be unable to import a subclass
    except Resignation:
        return Forfeit("resigned", "the player resigned")
    except IllegalMoveError as error:
        return Forfeit("illegal", _to_line(str(error)))
    except BaseException as error:
        frame = extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}, line {frame.lineno}"
        return Forfeit("crash", f"{_to_line(f'{type(error).__name__}: {error}')} ({where})")


def _to_line(text: str, max_chars: int = MAX_MESSAGE_CHARS) -> str:
    """Convert a text to one line of limited length."""
    words = " ".join(text.split())
    return words if len(words) <= max_chars else f"{words[:max_chars]}..."
