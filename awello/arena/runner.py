"""Run the jobs of a plan in this process, in worker processes or on a cluster, and record the results in a journal.

A plan numbers its jobs from 0.  The result of job `n` depends only on the plan and `n`, so results are the same for any
number of workers.  Players that learn are the exception: their later games depend on earlier ones.  An interrupted run,
even one ended by SIGKILL, resumes with the first job that is missing from its journal.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from awello import __version__
from awello.arena.game import learn_from_game, play_game
from awello.arena.journal import Journal
from awello.arena.sandbox import ResourceLimits, SandboxedPlayer, Usage
from awello.arena.workers import Jobs, OrderedMap, ignore_interrupts, open_worker_pool
from awello.errors import ConfigError
from awello.formats.jsonl import build_record
from awello.formats.transcript import format_transcript
from awello.limits import Clock
from awello.players.player import Choice, Forfeit, Player, UnknownPlayerError, make_player, read_user_players
from awello.position import Position
from awello.record import Record
from awello.rules.game import PASS, Game

Result = TypeVar("Result")
TIME_DECIMALS = 6  # decimal places of times in journals, which are in seconds


# ---- games -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class GameJob:
    """A game to play.  Entry 0 of `players` and `seeds` belongs to the side that moves first."""

    game: Game
    players: tuple[str, str]
    seeds: tuple[int, int]
    opening: tuple[int, ...] = ()
    clock: Clock = field(default_factory=Clock)
    limits: ResourceLimits | None = None
    """Limits for the players' sandboxes; if None, the players run without sandboxes."""
    brief: bool = False
    """Whether to omit times and nodes from the result."""


@dataclass(frozen=True)
class GameResult:
    """A played game, as stored in journals.

    Entry 0 of `players`, `score`, `forfeits`, `usage` and `learnt` belongs to the side that moved first.
    """

    game: str
    players: tuple[str, str]
    moves: str
    """The transcript."""
    score: tuple[int, int]
    opening: int = 0
    """Number of plies in the opening."""
    seconds: tuple[float, ...] = ()
    """Seconds spent on each ply."""
    nodes: tuple[int | None, ...] = ()
    """Nodes searched for each ply; None for players that do not search."""
    loser: int | None = None
    reason: str = ""
    forfeits: tuple[tuple[str, str] | None, tuple[str, str] | None] = (None, None)
    """Reason and message of each sandboxed player's forfeit, if any."""
    usage: tuple[Usage, Usage] | None = None
    """Resource use of sandboxed players."""
    learnt: tuple[dict[str, int], dict[str, int]] = field(default_factory=lambda: ({}, {}))
    """Counts reported by `Player.learn`."""
    tags: dict[str, str] = field(default_factory=dict)

    @cached_property
    def record(self) -> Record:
        """The record of the game, with times and tags."""
        return build_record(self.game, self.moves, self.players, self.seconds, self.loser, self.reason, self.tags)

    @property
    def winner(self) -> int | None:
        """The side that won; None for a draw."""
        if self.loser is not None:
            return 1 - self.loser
        first, second = self.score
        return None if first == second else int(second > first)

    def move_times(self, side: int) -> list[float]:
        """Return the times of a side's moves, excluding the opening and passes."""
        moves = enumerate(zip(self.record.moves, self.seconds, strict=True))
        return [spent for ply, (move, spent) in moves if ply >= self.opening and ply % 2 == side and move != PASS]


class PlayerCache:
    """The players of a process, reused from game to game."""

    def __init__(self) -> None:
        self._players: dict[tuple[str, int], Player] = {}

    def get_players(self, job: GameJob) -> tuple[Player, Player]:
        """Return the players of a game: two separate objects, even if their specs are equal."""
        first, second = job.players
        return self._get_player(job, first, 0), self._get_player(job, second, int(first == second))

    def _get_player(self, job: GameJob, spec: str, copy: int) -> Player:
        if (spec, copy) not in self._players:
            limits = job.limits
            player: Player = make_player(spec) if limits is None else SandboxedPlayer(spec, job.game, limits)
            self._players[spec, copy] = player
            try:
                if isinstance(player, SandboxedPlayer):
                    player.ensure_ready()
            except Forfeit as forfeit:
                if forfeit.reason == "refused":  # an invalid spec ends the run; other forfeits only lose games
                    raise ConfigError(forfeit.message) from None
        return self._players[spec, copy]

    def close(self) -> None:
        """End all players and the processes they have started."""
        for player in self._players.values():
            if isinstance(player, SandboxedPlayer):
                player.stop()  # stop all players before waiting for any of them
        for player in self._players.values():
            end = player.close if isinstance(player, SandboxedPlayer) else player.end
            end()
        self._players.clear()


def play_job(job: GameJob, cache: PlayerCache) -> GameResult:
    """Play a game, and let the players learn from it."""
    players = cache.get_players(job)
    for player, seed in zip(players, job.seeds, strict=True):
        player.begin(job.game, seed)
    nodes: list[int | None] = [None] * len(job.opening)

    def on_move(before: Position, choice: Choice, after: Position) -> None:
        nodes.append(int(choice.analysis.nodes) if choice.analysis else None)

    record = play_game(players, Position.start(job.game), job.opening, job.clock, on_move)
    learnt = learn_from_game(players, record)
    result = GameResult(
        str(job.game),
        job.players,
        format_transcript(record),
        record.final.score(),
        len(job.opening),
        loser=record.loser,
        reason=record.reason,
        learnt=learnt,
    )
    if not job.brief:
        move_times = tuple(round(spent or 0.0, TIME_DECIMALS) for spent in record.seconds)
        result = replace(result, seconds=move_times, nodes=tuple(nodes) if any(nodes) else ())
    first, second = players
    if isinstance(first, SandboxedPlayer) and isinstance(second, SandboxedPlayer):
        forfeits = _reason(first.forfeit), _reason(second.forfeit)
        result = replace(result, forfeits=forfeits, usage=(first.usage, second.usage))
    return result


def _reason(forfeit: Forfeit | None) -> tuple[str, str] | None:
    return (forfeit.reason, forfeit.message) if forfeit else None


# ---- plans -----------------------------------------------------------------------------------------------------------
class RunPlan(ABC, Generic[Result]):
    """Numbered jobs and the settings that determine their results.  Subclasses are picklable frozen dataclasses."""

    kind: ClassVar[str]
    """Name of this kind of run in error messages."""
    result_type: ClassVar[type[Any]]
    batch_size: ClassVar[int] = 1
    """Number of jobs that a worker runs before it returns their results."""

    games: int

    @property
    def total(self) -> int:
        """Number of jobs."""
        return self.games

    @abstractmethod
    def configuration(self) -> Mapping[str, Any]:
        """Return the settings that determine the results; a run cannot be resumed with other settings.

        If the mapping is empty, a run can also be resumed with another version of Awello or another players file.
        """

    @abstractmethod
    def run_job(self, number: int, cache: PlayerCache) -> Result:
        """Run a job and return its result."""


class GamePlan(RunPlan[GameResult]):
    """A plan whose jobs are games."""

    result_type = GameResult

    @abstractmethod
    def make_job(self, number: int) -> GameJob:
        """Return the job of game `number`."""

    def run_job(self, number: int, cache: PlayerCache) -> GameResult:
        return play_job(self.make_job(number), cache)


def check_players(specs: Iterable[str], kind: str) -> None:
    """Raise an error if a spec is invalid or names the player `human`."""
    for spec in specs:
        if make_player(spec).spec.name == "human":
            raise ConfigError(f"a {kind} cannot have human players: use 'awello play'")


# ---- runs ------------------------------------------------------------------------------------------------------------
class Runner(Generic[Result]):
    """Runs a plan.  `results` holds the results so far, in order, starting with those from the journal in `out`."""

    def __init__(self, plan: RunPlan[Result], jobs: Jobs | OrderedMap = 1, out: Path | None = None) -> None:
        """Create a runner; `jobs` is a number of processes, a cluster address, or a pool shared by several runs."""
        if isinstance(jobs, int) and jobs < 1:
            raise ConfigError(f"cannot run with {jobs} worker processes: give at least one")
        self.plan, self.jobs, self.out = plan, jobs, out
        self._adapter = TypeAdapter(list[plan.result_type])  # type: ignore[name-defined]
        self.results: list[Result] = []
        self._journal: Journal | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        if self.out is not None:
            self._journal = self._open.enter_context(self._make_journal(self.out))
            self.results = self._read(self._journal)[: self.plan.total]
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()

    def _make_journal(self, folder: Path) -> Journal:
        rules: dict[str, Any] = {}
        if configuration := self.plan.configuration():
            players = {"players": sha256(own[1]).hexdigest()} if (own := read_user_players()) else {}
            rules = {"awello": __version__, **configuration, **players}
        return Journal(folder, self.plan.kind, rules)

    def _read(self, journal: Journal) -> list[Result]:
        try:
            return self._adapter.validate_python(journal.results)
        except ValidationError:
            raise ConfigError(f"{journal.lines} is damaged: choose another --out, or remove the folder") from None

    def run(self, on_result: Callable[[], None] = lambda: None, is_done: Callable[[], bool] = lambda: False) -> bool:
        """Run the missing jobs until `is_done()`, calling `on_result` after each.  Return False after Ctrl-C."""
        try:
            with closing(self._results()) as results:
                while not is_done() and (result := next(results, None)) is not None:
                    self.results.append(result)
                    if self._journal:
                        self._journal.write(self._adapter.dump_python([result], exclude_defaults=True)[0])
                    on_result()
        except KeyboardInterrupt:
            return False
        return True

    def _results(self) -> Generator[Result, None, None]:
        numbers = range(len(self.results), self.plan.total)
        if self.jobs == 1 or not numbers:
            yield from _run_in_process(self.plan, numbers)
            return
        shared = callable(self.jobs)
        starts = range(0, len(numbers), self.plan.batch_size)
        batches = [(self.plan if shared else None, numbers[at : at + self.plan.batch_size]) for at in starts]
        pool = nullcontext(self.jobs) if callable(self.jobs) else open_worker_pool(self.jobs, _init_worker, self.plan)
        with pool as each:
            yield from chain.from_iterable(each(_run_batch, batches))


def open_workers(jobs: Jobs) -> AbstractContextManager[Jobs | OrderedMap]:
    """Open a worker pool for several runs; `jobs=1` needs no pool."""
    return nullcontext(jobs) if jobs == 1 else open_worker_pool(jobs, _init_worker, None)


def _run_in_process(plan: RunPlan[Result], numbers: range) -> Iterator[Result]:
    cache = PlayerCache()
    try:
        for number in numbers:
            yield plan.run_job(number, cache)
    finally:
        with ignore_interrupts():
            cache.close()


_worker: tuple[RunPlan[Any] | None, PlayerCache]


def _init_worker(plan: RunPlan[Any] | None) -> Callable[[], None]:
    """Initialise a worker, and return the function that closes its players."""
    global _worker
    _worker = plan, PlayerCache()
    return _worker[1].close


def _run_batch(batch: tuple[RunPlan[Any] | None, range]) -> list[Any]:
    """Run a batch of jobs in a worker; in a pool shared by several runs, the plan comes with each batch."""
    (prepared, cache), (plan, numbers) = _worker, batch
    plan = plan or prepared
    assert plan is not None
    try:
        return [plan.run_job(number, cache) for number in numbers]
    except UnknownPlayerError as error:  # the parent process knows the player, but this worker does not
        advice = "worker processes load players only from 'awello --import FILE' or AWELLO_PLAYERS: use one of them"
        raise ConfigError(f"{error}; {advice}") from None
