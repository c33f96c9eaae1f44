"""The main function of engine processes, and their tasks: choices of moves, analyses, reviews and function calls.

The responses to a task are dictionaries; the last one has the type `done` or `error`.  All but the results of function
calls can be converted to JSON.  An analysis or a review can be paused, and resumed in any process: its `TaskProgress`
contains the results so far.
"""

import os
import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from queue import SimpleQueue
from time import perf_counter
from typing import Any, BinaryIO

from pydantic import BaseModel

from awello.analysis import Analysis
from awello.engine.engine import Engine
from awello.errors import AwelloError, ConfigError, IllegalMoveError, SpecError
from awello.kernel import LAZY_VARIABLE, load_kernels
from awello.kernel_compiler import collect_imports, find_kernel_imports
from awello.limits import Clock, Limit
from awello.players.champion import ChampionPlayer
from awello.players.player import Choice, Player, Resignation
from awello.position import Position
from awello.record import Record
from awello.review.review import MoveReview, review_game
from awello.rules.game import PASS, Game
from awello.schemas import AnalysisJson, ChoiceJson, MoveReviewJson, round_value, summarise_side, to_margin
from awello.web.child_processes import ENGINE_KERNEL_MODULES, prepare_process
from awello.web.client_players import make_client_player
from awello.web.errors import describe_error, error_fields

MAX_ENGINES_PER_PROCESS, ENGINE_HASH_MIB = 2, 64  # engines per process, and the size of each transposition table in MiB
LENGTH_BYTES = 4  # size of the length field before each message

TaskResponse = dict[str, Any]
DONE: TaskResponse = {"type": "done"}


@dataclass(frozen=True)
class ChooseTask:
    """The choice of a move by a player in the last position of a game."""

    record: Record
    spec: str
    clock: Clock = field(default_factory=Clock)
    seed: int = 0


@dataclass(frozen=True)
class AnalyseTask:
    """An analysis of all moves in the last position of a game, for up to `seconds`."""

    record: Record
    seconds: float


@dataclass(frozen=True)
class ReviewTask:
    """A review of a game from its last move to its first; each search takes up to `seconds`."""

    record: Record
    seconds: float


@dataclass(frozen=True)
class CallTask:
    """The call of a CPU-bound function; the function and its arguments must be picklable."""

    function: Callable[..., Any]
    args: tuple[Any, ...]


EngineTask = ChooseTask | AnalyseTask | ReviewTask
Task = EngineTask | CallTask


@dataclass
class SearchProgress:
    """The result of a search so far, and its cost."""

    analysis: Analysis | None = None
    seconds: float = 0.0
    nodes: int = 0
    finished: bool = False


@dataclass
class TaskProgress:
    """The progress of an analysis or a review."""

    searches: dict[tuple[Position, int | None], SearchProgress] = field(default_factory=dict)
    """The searches so far, by position and depth limit."""
    reviews_sent: int = 0
    """The number of move reviews that have been sent."""


class TaskStopped(Exception):
    """Raised when a task has been stopped before its end."""


# --- responses --------------------------------------------------------------------------------------------------------
def error_response(code: str, message: str, **params: Any) -> TaskResponse:
    """Return the last response to a task that failed."""
    return {"type": "error", **error_fields(code, message, params)}


def _build_response(type: str, content: BaseModel) -> TaskResponse:
    """Return a response of this type with the fields of a model."""
    return {"type": type, **content.model_dump()}


def respond_immediately(task: Task) -> list[TaskResponse]:
    """Return all responses to a task that needs no engine process, or an empty list if the task needs one."""
    if isinstance(task, ReviewTask | CallTask):
        return []
    if task.record.final.over:
        return [error_response("final_position", "the game is over: choose an earlier position")]
    if isinstance(task, ChooseTask) and task.record.final.legal_moves() == (PASS,):
        return [_build_response("choice", ChoiceJson.of(task.record.final, PASS, None, 0.0, None)), DONE]
    return []


def _margin_of_choice(player: Player, position: Position, analysis: Analysis | None) -> float | None:
    """Return the final margin that a choice is expected to reach, or None if it is unknown."""
    if analysis is None or not (analysis.exact or (isinstance(player, ChampionPlayer) and not player.heuristic)):
        return None
    return to_margin(position, analysis.value) if isinstance(player, ChampionPlayer) else round_value(analysis.value)


# --- searching --------------------------------------------------------------------------------------------------------
class TaskRunner:
    """Runs one task at a time; another thread can stop it."""

    def __init__(self) -> None:
        self.engines: dict[Game, Engine] = {}
        self.player: Player | None = None
        self.progress = TaskProgress()
        self.stopped = threading.Event()

    def run(self, task: Task, progress: TaskProgress) -> Iterator[TaskResponse]:
        """Yield the responses to a task; if it is stopped, keep its results in `progress` and raise `TaskStopped`."""
        self.progress = progress
        match task:
            case ChooseTask():
                yield self._choose(task)
            case AnalyseTask():
                yield from self._analyse(task)
            case ReviewTask():
                yield from self._review(task)
            case CallTask():
                yield {"type": "result", "value": task.function(*task.args)}

    def stop(self) -> None:
        """Stop the current search; a search that has not started yet stops after its first result."""
        self.stopped.set()
        for engine in (*self.engines.values(), getattr(self.player, "engine", None)):
            if isinstance(engine, Engine):
                engine.stop()

    def get_engine(self, game: Game) -> Engine:
        """Return the engine for a game; if there would be too many engines, close the least recently used one."""
        engine = self.engines.pop(game, None)
        if engine is None and len(self.engines) == MAX_ENGINES_PER_PROCESS:
            self.engines.pop(next(iter(self.engines))).close()
        self.engines[game] = engine or Engine(game, hash=ENGINE_HASH_MIB, random_hash=True)
        return self.engines[game]

    def analyse(self, position: Position, limit: Limit, multipv: int = 1) -> Iterator[Analysis]:
        """Yield only the final result of a search; a search that ended before the task was paused is not repeated."""
        for _ in self._search(position, limit, multipv):
            pass
        analysis = self.progress.searches[position, limit.depth].analysis
        assert analysis is not None
        yield analysis

    def _search(self, position: Position, limit: Limit, multipv: int) -> Iterator[Analysis]:
        """Search a position up to a limit and yield the results.

        A result is skipped if the stored result is deeper, or as deep with a higher confidence.  Raise `TaskStopped` if
        the task is stopped before the time of the limit is used up.
        """
        search = self.progress.searches.setdefault((position, limit.depth), SearchProgress())
        if search.finished:
            return
        started, before, nodes, seconds = perf_counter(), search.seconds, search.nodes, limit.seconds or 0.0
        left = replace(limit, seconds=max(0.0, seconds - before))
        for analysis in self.get_engine(position.game).analyse(position, left, multipv):
            search.seconds, search.nodes = before + perf_counter() - started, nodes + analysis.nodes
            known = search.analysis
            if known is None or (analysis.depth, analysis.confidence) >= (known.depth, known.confidence):
                search.analysis = replace(analysis, seconds=search.seconds, nodes=search.nodes)
                yield search.analysis
            if self.stopped.is_set():
                break
        search.seconds = before + perf_counter() - started
        if self.stopped.is_set() and search.seconds < seconds:
            raise TaskStopped
        search.finished = True

    def _choose(self, task: ChooseTask) -> TaskResponse:
        position, player = task.record.final, make_client_player(task.spec)
        if not isinstance(player, ChampionPlayer):
            load_kernels()  # before `started`, so that loading is not counted as thinking time
        started = perf_counter()
        self.player = player
        try:
            player.begin(position.game, task.seed)
            player.follow(task.record)
            choice = player.choose(position, task.clock)
            seconds = perf_counter() - started
            player.end()
            if not isinstance(choice, Choice) or isinstance(choice.move, str):
                raise IllegalMoveError("choose() must return a Choice with a legal move")
            position.play(choice.move)
            value = _margin_of_choice(player, position, choice.analysis)
            return _build_response("choice", ChoiceJson.of(position, choice.move, choice.analysis, seconds, value))
        except Resignation:
            return error_response("player_resigned", f"{task.spec} resigns", player=task.spec)
        except IllegalMoveError as error:
            message = f"{task.spec} played an illegal move ({error}): choose another player"
            return error_response("player_illegal_move", message, player=task.spec, detail=str(error))
        except (MemoryError, SpecError, ConfigError):
            raise
        except BaseException as error:
            name = type(error).__name__
            message = f"{task.spec} failed with {name}: choose another player"
            return error_response("player_failed", message, player=task.spec, error=name)
        finally:
            self.player = None

    def _analyse(self, task: AnalyseTask) -> Iterator[TaskResponse]:
        position, limit = task.record.final, Limit(seconds=task.seconds)
        for analysis in self._search(position, limit, len(position.legal_moves())):
            yield _build_response("analysis", AnalysisJson.of(position, analysis))

    def _review(self, task: ReviewTask) -> Iterator[TaskResponse]:
        reviews: list[MoveReview] = []
        for move_review in review_game(task.record, self, Limit(seconds=task.seconds)):
            reviews.append(move_review)
            if len(reviews) > self.progress.reviews_sent:
                self.progress.reviews_sent = len(reviews)
                yield _build_response("move_review", MoveReviewJson.of(move_review))
        yield {"type": "summary", "sides": [asdict(summarise_side(reviews, side)) for side in (0, 1)]}


# --- the process ------------------------------------------------------------------------------------------------------
def run_engine_process(channel: socket.socket, engines: bool = True) -> None:
    """Run an engine process: send `ready`, then run tasks until the server closes the connection."""
    prepare_process()
    runner, tasks = TaskRunner(), SimpleQueue[tuple[Task, TaskProgress]]()
    threading.Thread(target=_receive_tasks, args=(channel.makefile("rb"), runner, tasks), daemon=True).start()
    if engines:
        load_kernels(
            collect_imports(ENGINE_KERNEL_MODULES, find_kernel_imports()) if os.environ.get(LAZY_VARIABLE) else None
        )
        for game in (Game.ABAPA, Game.OTHELLO):
            runner.get_engine(game)
    _send(channel, ("ready", None))
    while True:
        for message in _run_task(runner, *tasks.get()):
            _send(channel, message)


def _send(channel: socket.socket, message: tuple[str, Any]) -> None:
    content = pickle.dumps(message)
    channel.sendall(len(content).to_bytes(LENGTH_BYTES, "big") + content)


def _receive_tasks(file: BinaryIO, runner: TaskRunner, tasks: "SimpleQueue[tuple[Task, TaskProgress]]") -> None:
    """Receive tasks and stop requests; both have a task number, so that a late stop request affects no other task."""
    current = 0
    with suppress(OSError):
        while size := file.read(LENGTH_BYTES):
            # Unpickling is safe: the other end belongs to the server that started this process.
            number, *given = pickle.loads(file.read(int.from_bytes(size, "big")))  # nosec B301 # noqa: S301
            if given:
                current = number
                runner.stopped.clear()
                tasks.put((given[0], given[1]))
            elif number == current:
                runner.stop()
    os._exit(0)


def _run_task(runner: TaskRunner, task: Task, progress: TaskProgress) -> Iterator[tuple[str, Any]]:
    """Run a task and yield `response` messages, then `ended` or `paused`, or `lost` if the process must be replaced."""
    try:
        for response in runner.run(task, progress):
            if response["type"] == "error":
                yield "ended", response
                return
            yield "response", response
        yield "ended", DONE
    except TaskStopped:
        yield "paused", progress
    except MemoryError:
        yield "lost", error_response("out_of_memory", "out of memory: choose a smaller depth or less time")
    except AwelloError as error:
        if isinstance(task, ChooseTask):
            yield "ended", error_response("player_error", str(error), player=task.spec, detail=str(error))
        else:
            yield "ended", {"type": "error", **describe_error(error)}
    except Exception as error:
        name = type(error).__name__
        yield "ended", error_response("search_failed", f"the search failed with {name}: try again", error=name)
