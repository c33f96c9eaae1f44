"""The tasks of an engine process, and the process: a choice, an analysis or a review.

Answers are plain dictionaries, ready for JSON; the last one says `done` or what went wrong.  An analysis or a review
can be stopped at any moment and taken up again, by this process or by another: its `Progress` remembers what it has
found, the table of the engine what it needs to be soon as far again.
"""

import os
import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from queue import SimpleQueue
from time import perf_counter
from typing import Any, BinaryIO

from awello.analysis import Analysis
from awello.engine.engine import Engine
from awello.engine.review import Judgement, Summary, review, summarise
from awello.errors import AwelloError, ConfigError, IllegalMoveError, SpecError
from awello.kernel import kernel_modules
from awello.limits import Clock, Limit
from awello.players.champion import Champion
from awello.players.player import Choice, Player, Resignation
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game
from awello.web.complaints import complaint, one_line
from awello.web.guest_players import guest_player
from awello.web.process import settle_in

ENGINES, HASH = 2, 64  # how many engines a process keeps, and the MiB of each one's table
SIZE = 4  # bytes that say how long a message between processes is

Answer = dict[str, Any]
DONE: Answer = {"kind": "done"}


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
class Search:
    """What is known of one position, and what it has cost."""

    answer: Analysis | None = None
    seconds: float = 0.0
    nodes: int = 0
    over: bool = False


@dataclass
class Progress:
    """How far an analysis or a review has come."""

    searches: list[Search] = field(default_factory=list)
    """One for each position, in the order in which they are asked about."""
    told: int = 0
    """The judgements given."""


class Paused(Exception):
    """A task was stopped before its end."""


# --- answers ----------------------------------------------------------------------------------------------------------
def failure(code: str, message: str) -> Answer:
    """An answer that says what went wrong, in one line."""
    return {"kind": "error", "code": code, "message": one_line(message)}


def answer_at_once(task: Task) -> list[Answer]:
    """All answers to a task that needs no thought; none to others."""
    if isinstance(task, ReviewTask | CallTask):
        return []
    if task.record.final.over:
        return [failure("over", "the game is over: there is nothing to think about")]
    if isinstance(task, ChooseTask) and task.record.final.legal_moves() == (PASS,):
        return [_describe_choice(task.record.final, Choice(PASS), 0.0, None), DONE]
    return []


def margin(position: Position, value: float) -> float:
    """By how much the mover will win, from what is still to be won: seeds that were taken count too."""
    return _rounded(position.lead + value)


def _rounded(value: float) -> float:
    return round(float(value), 2) + 0.0  # + 0.0: there is no minus zero


def _names(position: Position, line: tuple[int, ...]) -> list[str]:
    """The names of the moves of a line, as far as they are legal."""
    names = []
    for move in line:
        if move not in position.legal_moves():
            break
        names.append(position.format_move(move))
        position = position.after(move)
    return names


def _describe_choice(position: Position, choice: Choice, seconds: float, value: float | None) -> Answer:
    found = choice.analysis
    line = found.line if found and found.line[:1] == (choice.move,) else (choice.move,)
    return {
        "kind": "choice",
        "move": position.format_move(choice.move),
        "seconds": round(seconds, 3),
        "value": value,
        "exact": bool(found and found.exact),
        "depth": int(found.depth) if found else None,
        "nodes": int(found.nodes) if found else None,
        "line": _names(position, line),
    }


def _value(player: Player, position: Position, found: Analysis | None) -> float | None:
    """A player's value as a margin, if it is one: only the champion estimates in discs or seeds."""
    if found is None or not (found.exact or (isinstance(player, Champion) and not player.heuristic)):
        return None
    return margin(position, found.value) if isinstance(player, Champion) else _rounded(found.value)


def _describe_analysis(position: Position, found: Analysis) -> Answer:
    best_first = sorted(found.candidates, key=lambda candidate: -candidate[1])
    return {
        "kind": "analysis",
        "depth": found.depth,
        "exact": found.exact,
        "value": margin(position, found.value),
        "nodes": found.nodes,
        "seconds": round(found.seconds, 3),
        "certainty": found.certainty,
        "moves": [
            {"move": position.format_move(move), "value": margin(position, value), "exact": move in found.exact_moves}
            for move, value in best_first
        ],
        "line": _names(position, found.line),
    }


def _describe_judgement(judgement: Judgement) -> Answer:
    position = judgement.position
    return {
        "kind": "judgement",
        "ply": judgement.ply,
        "side": position.side,
        "move": position.format_move(judgement.move),
        "value": _rounded(judgement.value),
        "best": position.format_move(judgement.best_move),
        "best_value": _rounded(judgement.best_value),
        "loss": _rounded(judgement.loss),
        "exact": judgement.exact,
        "line": judgement.line_names(),
        "mark": judgement.mark,
    }


def _describe_side(summary: Summary) -> Answer:
    return {**asdict(summary), "mean_loss": _rounded(summary.mean_loss), "accuracy": _rounded(summary.accuracy)}


# --- searching --------------------------------------------------------------------------------------------------------
class TaskRunner:
    """Runs one task at a time, and can be stopped by another thread."""

    def __init__(self) -> None:
        self.engines: dict[Game, Engine] = {}
        self.player: Player | None = None
        self.stopped = threading.Event()

    def think(self, task: Task, progress: Progress) -> Iterator[Answer]:
        """The answers to a task; `Paused` if it is stopped, and then it can go on where its progress ends."""
        match task:
            case ChooseTask():
                yield self._choose(task)
            case AnalyseTask():
                yield from self._analyse(task, progress)
            case ReviewTask():
                yield from self._review(task, progress)
            case CallTask():
                yield {"kind": "result", "value": task.function(*task.given)}

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

    def search(self, search: Search, position: Position, limit: Limit, best: int) -> Iterator[Analysis]:
        """Answers that are no worse than the one already known, in the time that is left; `Paused` if stopped."""
        begun, before, nodes, seconds = perf_counter(), search.seconds, search.nodes, limit.seconds or 0.0
        left = replace(limit, seconds=max(0.0, seconds - before))
        for found in self.engine(position.game).analyse(position, left, best):
            search.seconds, search.nodes = before + perf_counter() - begun, nodes + found.nodes
            known = search.answer
            if known is None or (found.depth, found.certainty) >= (known.depth, known.certainty):
                search.answer = replace(found, seconds=search.seconds, nodes=search.nodes)
                yield search.answer
            if self.stopped.is_set():
                break
        search.seconds = before + perf_counter() - begun
        if self.stopped.is_set() and search.seconds < seconds:
            raise Paused
        search.over = True

    def _choose(self, task: ChooseTask) -> Answer:
        position, player = task.record.final, guest_player(task.spec)
        begun = perf_counter()
        self.player = player
        try:
            player.begin(position.game, task.seed)
            choice = player.choose(position, task.clock)
            seconds = perf_counter() - begun
            player.end()
            if not isinstance(choice, Choice) or isinstance(choice.move, str):
                raise IllegalMoveError("it must choose a Choice of a number")
            position.play(choice.move)
            value = _value(player, position, choice.analysis)
            return _describe_choice(position, choice, seconds, value)
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

    def _analyse(self, task: AnalyseTask, progress: Progress) -> Iterator[Answer]:
        position = task.record.final
        progress.searches = progress.searches or [Search()]
        for found in self.search(
            progress.searches[0], position, Limit(seconds=task.seconds), len(position.legal_moves())
        ):
            yield _describe_analysis(position, found)

    def _review(self, task: ReviewTask, progress: Progress) -> Iterator[Answer]:
        judged: list[Judgement] = []
        for judgement in review(task.record, Analyst(self, progress), Limit(seconds=task.seconds)):
            judged.append(judgement)
            if len(judged) > progress.told:
                progress.told = len(judged)
                yield _describe_judgement(judgement)
        yield {"kind": "summary", "sides": [_describe_side(summarise(judged, side)) for side in (0, 1)]}


@dataclass
class Analyst:
    """The engine of a review: what an earlier turn has found is not searched again."""

    runner: TaskRunner
    progress: Progress
    asked: int = 0

    def analyse(self, position: Position, limit: Limit, best: int = 1) -> Iterator[Analysis]:
        """The best answer about a position."""
        searches = self.progress.searches
        if self.asked == len(searches):
            searches.append(Search())
        search = searches[self.asked]
        self.asked += 1
        if not search.over:
            for _ in self.runner.search(search, position, limit, best):
                pass
        assert search.answer is not None
        yield search.answer


# --- the process ------------------------------------------------------------------------------------------------------
def serve(channel: socket.socket, engines: bool = True) -> None:
    """The main function of an engine process: say `ready`, then answer tasks until the server is gone."""
    settle_in()
    runner, tasks = TaskRunner(), SimpleQueue[tuple[Task, Progress]]()
    threading.Thread(target=_listen, args=(channel.makefile("rb"), runner, tasks), daemon=True).start()
    if engines:
        for module in kernel_modules():
            import_module(module)
        for game in (Game.ABAPA, Game.OTHELLO):
            runner.engine(game)
    _send(channel, ("ready", None))
    while True:
        for message in _work(runner, *tasks.get()):
            _send(channel, message)


def _send(channel: socket.socket, message: tuple[str, Any]) -> None:
    content = pickle.dumps(message)
    channel.sendall(len(content).to_bytes(SIZE, "big") + content)


def _listen(file: BinaryIO, runner: TaskRunner, tasks: "SimpleQueue[tuple[Task, Progress]]") -> None:
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


def _work(runner: TaskRunner, task: Task, progress: Progress) -> Iterator[tuple[str, Any]]:
    """What to say about a task: answers, then that it is paused or its last answer; if all is lost, a last word."""
    try:
        for answer in runner.think(task, progress):
            if answer["kind"] == "error":
                yield "ended", answer
                return
            yield "answer", answer
        yield "ended", DONE
    except Paused:
        yield "paused", progress
    except MemoryError:
        yield "lost", failure("crash", "out of memory: choose something smaller")
    except AwelloError as error:
        code = "player" if isinstance(task, ChooseTask) else complaint(error)[0]
        yield "ended", failure(code, str(error))
    except Exception as error:
        yield "ended", failure("crash", f"thinking failed with {type(error).__name__}")
