"""The tasks of an engine process, and the process: a choice, an analysis or a review.

Answers are plain dictionaries, ready for JSON; the last one says `done` or what went wrong.  An analysis or a review
can be paused and resumed by this process or another: its `Progress` holds what was found.
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
from awello.compiling import kernel_imports, with_imports
from awello.engine.engine import Engine
from awello.errors import AwelloError, ConfigError, IllegalMoveError, SpecError
from awello.kernel import LATE, load_kernels
from awello.limits import Clock, Limit
from awello.players.champion import ChampionPlayer
from awello.players.player import Choice, Player, Resignation
from awello.position import Position
from awello.record import Record
from awello.review.review import MoveReview, review
from awello.rules.game import PASS, Game
from awello.schemas import AnalysisJson, ChoiceJson, MoveReviewJson, margin, round_value, summarise_side
from awello.web.errors import describe_error, one_line
from awello.web.guest_players import guest_player
from awello.web.process import ENGINE_KERNELS, settle_in

ENGINES, HASH = 2, 64  # how many engines a process keeps, and the MiB of each one's table
SIZE = 4  # bytes that say how long a message between processes is

Answer = dict[str, Any]
DONE: Answer = {"type": "done"}


@dataclass(frozen=True)
class ChooseTask:
    """A player's move in the last position of a game."""

    record: Record
    spec: str
    clock: Clock = field(default_factory=Clock)
    seed: int = 0


@dataclass(frozen=True)
class AnalyseTask:
    """What each move of a game's last position is worth, ever better for so many seconds."""

    record: Record
    seconds: float


@dataclass(frozen=True)
class ReviewTask:
    """What each played move of a game was worth, the last one first, with so many seconds for each."""

    record: Record
    seconds: float


@dataclass(frozen=True)
class CallTask:
    """What a function gives, which takes the processor for a while; both can be pickled."""

    function: Callable[..., Any]
    given: tuple[Any, ...]


EngineTask = ChooseTask | AnalyseTask | ReviewTask
Task = EngineTask | CallTask


@dataclass
class SearchProgress:
    """What is known of one position, and what it has cost."""

    answer: Analysis | None = None
    seconds: float = 0.0
    nodes: int = 0
    over: bool = False


@dataclass
class TaskProgress:
    """How far an analysis or a review has come."""

    searches: dict[tuple[Position, int | None], SearchProgress] = field(default_factory=dict)
    """By the position and the depth that was asked for."""
    told: int = 0
    """The judgements given."""


class TaskStopped(Exception):
    """A task was stopped before its end."""


# --- answers ----------------------------------------------------------------------------------------------------------
def failure(code: str, message: str) -> Answer:
    """An answer that says what went wrong, in one line."""
    return {"type": "error", "code": code, "message": one_line(message)}


def _tell(type: str, content: BaseModel) -> Answer:
    """An answer of a type."""
    return {"type": type, **content.model_dump()}


def answer_at_once(task: Task) -> list[Answer]:
    """All answers to a task that needs no thought; none to others."""
    if isinstance(task, ReviewTask | CallTask):
        return []
    if task.record.final.over:
        return [failure("over", "the game is over: there is nothing to think about")]
    if isinstance(task, ChooseTask) and task.record.final.legal_moves() == (PASS,):
        return [_tell("choice", ChoiceJson.of(task.record.final, PASS, None, 0.0, None)), DONE]
    return []


def _value(player: Player, position: Position, found: Analysis | None) -> float | None:
    """A player's value as a margin, if it is one: only the champion estimates in discs or seeds."""
    if found is None or not (found.exact or (isinstance(player, ChampionPlayer) and not player.heuristic)):
        return None
    return margin(position, found.value) if isinstance(player, ChampionPlayer) else round_value(found.value)


# --- searching --------------------------------------------------------------------------------------------------------
class TaskRunner:
    """Runs one task at a time, and can be stopped by another thread."""

    def __init__(self) -> None:
        self.engines: dict[Game, Engine] = {}
        self.player: Player | None = None
        self.progress = TaskProgress()
        self.stopped = threading.Event()

    def think(self, task: Task, progress: TaskProgress) -> Iterator[Answer]:
        """The answers to a task; `Paused` if it is stopped, and then it can go on where its progress ends."""
        self.progress = progress
        match task:
            case ChooseTask():
                yield self._choose(task)
            case AnalyseTask():
                yield from self._analyse(task)
            case ReviewTask():
                yield from self._review(task)
            case CallTask():
                yield {"type": "result", "value": task.function(*task.given)}

    def stop(self) -> None:
        """End what is thought about: a stop that comes before a search begins is seen after its first answer."""
        self.stopped.set()
        for engine in (*self.engines.values(), getattr(self.player, "engine", None)):
            if isinstance(engine, Engine):
                engine.stop()

    def engine(self, game: Game) -> Engine:
        """The engine of a game; the one not used for longest makes room for a new one."""
        engine = self.engines.pop(game, None)
        if engine is None and len(self.engines) == ENGINES:
            self.engines.pop(next(iter(self.engines))).close()
        self.engines[game] = engine or Engine(game, hash=HASH, secret=True)
        return self.engines[game]

    def analyse(self, position: Position, limit: Limit, best: int = 1) -> Iterator[Analysis]:
        """The best answer, for a review: what an earlier turn has found is not searched again."""
        for _ in self._search(position, limit, best):
            pass
        answer = self.progress.searches[position, limit.depth].answer
        assert answer is not None
        yield answer

    def _search(self, position: Position, limit: Limit, best: int) -> Iterator[Analysis]:
        """Answers that are no worse than the one already known, in the time that is left; `Paused` if stopped."""
        search = self.progress.searches.setdefault((position, limit.depth), SearchProgress())
        if search.over:
            return
        begun, before, nodes, seconds = perf_counter(), search.seconds, search.nodes, limit.seconds or 0.0
        left = replace(limit, seconds=max(0.0, seconds - before))
        for found in self.engine(position.game).analyse(position, left, best):
            search.seconds, search.nodes = before + perf_counter() - begun, nodes + found.nodes
            known = search.answer
            if known is None or (found.depth, found.confidence) >= (known.depth, known.confidence):
                search.answer = replace(found, seconds=search.seconds, nodes=search.nodes)
                yield search.answer
            if self.stopped.is_set():
                break
        search.seconds = before + perf_counter() - begun
        if self.stopped.is_set() and search.seconds < seconds:
            raise TaskStopped
        search.over = True

    def _choose(self, task: ChooseTask) -> Answer:
        position, player = task.record.final, guest_player(task.spec)
        if not isinstance(player, ChampionPlayer):
            load_kernels()  # no clock runs while kernels are compiled or loaded
        begun = perf_counter()
        self.player = player
        try:
            player.begin(position.game, task.seed)
            player.follow(task.record)
            choice = player.choose(position, task.clock)
            seconds = perf_counter() - begun
            player.end()
            if not isinstance(choice, Choice) or isinstance(choice.move, str):
                raise IllegalMoveError("choose() must return a Choice with a legal move")
            position.play(choice.move)
            value = _value(player, position, choice.analysis)
            return _tell("choice", ChoiceJson.of(position, choice.move, choice.analysis, seconds, value))
        except Resignation:
            return failure("player", f"{task.spec} gives the game up")
        except IllegalMoveError as error:
            return failure("player", f"{task.spec} chose an illegal move: {error}")
        except (MemoryError, SpecError, ConfigError):
            raise
        except BaseException as error:
            return failure("player", f"{task.spec} failed with {type(error).__name__}")
        finally:
            self.player = None

    def _analyse(self, task: AnalyseTask) -> Iterator[Answer]:
        position, limit = task.record.final, Limit(seconds=task.seconds)
        for found in self._search(position, limit, len(position.legal_moves())):
            yield _tell("analysis", AnalysisJson.of(position, found))

    def _review(self, task: ReviewTask) -> Iterator[Answer]:
        judged: list[MoveReview] = []
        for judgement in review(task.record, self, Limit(seconds=task.seconds)):
            judged.append(judgement)
            if len(judged) > self.progress.told:
                self.progress.told = len(judged)
                yield _tell("judgement", MoveReviewJson.of(judgement))
        yield {"type": "summary", "sides": [asdict(summarise_side(judged, side)) for side in (0, 1)]}


# --- the process ------------------------------------------------------------------------------------------------------
def serve(channel: socket.socket, engines: bool = True) -> None:
    """The main function of an engine process: say `ready`, then answer tasks until the server is gone."""
    settle_in()
    runner, tasks = TaskRunner(), SimpleQueue[tuple[Task, TaskProgress]]()
    threading.Thread(target=_listen, args=(channel.makefile("rb"), runner, tasks), daemon=True).start()
    if engines:
        load_kernels(with_imports(ENGINE_KERNELS, kernel_imports()) if os.environ.get(LATE) else None)
        for game in (Game.ABAPA, Game.OTHELLO):
            runner.engine(game)
    _send(channel, ("ready", None))
    while True:
        for message in _work(runner, *tasks.get()):
            _send(channel, message)


def _send(channel: socket.socket, message: tuple[str, Any]) -> None:
    content = pickle.dumps(message)
    channel.sendall(len(content).to_bytes(SIZE, "big") + content)


def _listen(file: BinaryIO, runner: TaskRunner, tasks: "SimpleQueue[tuple[Task, TaskProgress]]") -> None:
    """Hear tasks, and what must stop: a task is known by its number, so that a late stop hits no other."""
    current = 0
    with suppress(OSError):
        while size := file.read(SIZE):
            # Only the server that started us has the other end.
            number, *given = pickle.loads(file.read(int.from_bytes(size, "big")))  # nosec B301 # noqa: S301
            if given:
                current = number
                runner.stopped.clear()
                tasks.put((given[0], given[1]))
            elif number == current:
                runner.stop()
    os._exit(0)


def _work(runner: TaskRunner, task: Task, progress: TaskProgress) -> Iterator[tuple[str, Any]]:
    """What to say about a task: answers, then that it is paused or its last answer; if all is lost, a last word."""
    try:
        for answer in runner.think(task, progress):
            if answer["type"] == "error":
                yield "ended", answer
                return
            yield "answer", answer
        yield "ended", DONE
    except TaskStopped:
        yield "paused", progress
    except MemoryError:
        yield "lost", failure("crash", "out of memory: choose something smaller")
    except AwelloError as error:
        code = "player" if isinstance(task, ChooseTask) else describe_error(error)[0]
        yield "ended", failure(code, str(error))
    except Exception as error:
        yield "ended", failure("crash", f"thinking failed with {type(error).__name__}")
