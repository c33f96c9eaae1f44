"""Contests that are begun from the page: matches and small tournaments, one at a time, each in a folder of its own.

A contest is a tournament of the arena, played in a thread; its bots live in guarded processes.  The folder holds
what was asked for and every finished round, so a contest outlives the server: cut short, it can be resumed.
"""

import json
import re
import secrets
import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from awello.arena.guard import Terms
from awello.arena.journal import Journal
from awello.arena.tournament import Results, Round, Tournament, run
from awello.errors import AwelloError, ConfigError
from awello.folders import user_data
from awello.limits import format_seconds
from awello.rules.game import Game
from awello.web.messages import GameName, Message, SpecText, guest_player

MOST_KEPT = 200  # contests in the folder
MOST_BOTS, MOST_ROUNDS, MOST_PLIES, MOST_TIME = 8, 50, 12, 5.0
TOLERANCE = 0.1  # seconds by which a move may be late: the server has other work too
PATIENCE = 30.0  # seconds that whoever stops a contest waits for its end
PLAN, ROUNDS = "contest.json", "rounds.jsonl"
ID = re.compile("[0-9a-f]{8}")

State = Literal["running", "finished", "stopped", "failed"]


class Missing(AwelloError):
    """There is no such contest."""


class Busy(AwelloError):
    """A contest is running, which forbids this."""


class _Stopped(Exception):
    """Somebody stopped the contest."""


class Plan(Message):
    """What is to be played: two bots make a match, more a tournament in which each meets each."""

    game: GameName = "othello"
    players: Annotated[list[SpecText], Field(min_length=2, max_length=MOST_BOTS)] = Field(
        description="Player specs, each once", examples=[["greedy", "alphabeta@4"]]
    )
    rounds: int = Field(default=5, ge=1, le=MOST_ROUNDS, description="Of each pair; a round is two games")
    opening_plies: int = Field(default=4, ge=0, le=MOST_PLIES, description="Random moves before each round")
    seed: int = Field(default=0, ge=0, lt=1 << 32, description="The same seed gives the same openings")
    move_time: float = Field(default=1.0, ge=0.01, le=MOST_TIME, description="Seconds; a later move loses the game")

    @property
    def wanted(self) -> int:
        """The rounds of all pairs."""
        return self.rounds * len(self.players) * (len(self.players) - 1) // 2

    def tournament(self) -> Tournament:
        """The tournament to play; an error says what is wrong with the plan."""
        terms = Terms(self.move_time, TOLERANCE)
        specs = tuple(self._check(spec) for spec in self.players)
        return Tournament(Game[self.game.upper()], specs, self.rounds, self.seed, terms, self.opening_plies)

    def _check(self, text: str) -> str:
        spec = guest_player(text).spec
        if spec.limit and (spec.limit.seconds or 0) > self.move_time:
            allowed = format_seconds(self.move_time)
            raise AwelloError(f"{spec} takes longer than the {allowed} of a move: give it less, or all more")
        return str(spec)


class Kept(BaseModel):
    """What the folder of a contest knows besides its rounds."""

    plan: Plan
    begun: datetime
    message: str = ""
    """Why it failed, if it did."""


class Contest:
    """A contest, whether it is running or lies in its folder."""

    def __init__(self, folder: Path, kept: Kept) -> None:
        self.folder, self.kept = folder, kept
        self._thread: threading.Thread | None = None
        self._stop: Future[Any] = Future()
        self._results: Results | None = None
        self._started = 0.0  # when this run began, with so many rounds played before
        self._before = 0

    @classmethod
    def load(cls, folder: Path) -> "Contest":
        """The contest that lies in a folder."""
        try:
            return cls(folder, Kept.model_validate_json((folder / PLAN).read_bytes()))
        except (OSError, ValidationError):
            raise AwelloError(f"contest {folder.name} is damaged: delete it") from None

    def save(self) -> None:
        """Write what the folder knows."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / PLAN).write_text(self.kept.model_dump_json(indent=2) + "\n", "utf-8")
        except OSError as error:
            raise AwelloError(f"contests cannot be kept: {error.strerror}") from None

    # --- its run ------------------------------------------------------------------------------------------------------
    @property
    def running(self) -> bool:
        """Whether games are being played."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Play what is missing, in a thread of its own."""
        tournament = self.kept.plan.tournament()
        self.kept.message = ""
        self.save()
        try:
            Journal(self.folder, "tournament", tournament.configuration(), ROUNDS)
        except ConfigError:
            advice = "it was begun with another version of Awello or its players, or is damaged"
            raise AwelloError(f"this contest cannot go on: {advice}; start a new one") from None
        self._thread = threading.Thread(target=self._run, args=(tournament,), name="contest", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End its bots at once, if it runs; the round that they play is lost."""
        with suppress(InvalidStateError):  # stopped already
            self._stop.set_exception(_Stopped())
        if self._thread:
            self._thread.join(PATIENCE)

    def _run(self, tournament: Tournament) -> None:
        try:
            run(tournament, self.folder, 1, self._report, self._stop)
        except _Stopped:
            pass
        except AwelloError as error:
            self._fail(str(error))
        except Exception as error:
            self._fail(str(error) if isinstance(error, AwelloError) else type(error).__name__)
            raise

    def _fail(self, message: str) -> None:
        self.kept.message = message
        self.save()

    def _report(self, results: Results) -> None:
        if self._results is None:
            self._started, self._before = monotonic(), len(results.rounds)
        self._results = Results(results.tournament, list(results.rounds))  # for other threads

    # --- what is known of it ------------------------------------------------------------------------------------------
    @property
    def played(self) -> int:
        """The rounds that are finished."""
        if self._results:
            return len(self._results.rounds)
        file = self.folder / ROUNDS
        return file.read_bytes().count(b"\n") if file.exists() else 0

    @property
    def state(self) -> State:
        """Where it stands."""
        if self.running:
            return "running"
        if self.kept.message:
            return "failed"
        return "finished" if self.played == self.kept.plan.wanted else "stopped"

    @property
    def seconds_left(self) -> float | None:
        """A guess from the rounds of this run; None if there is nothing to guess from."""
        done = self.played - self._before
        if not self.running or done <= 0:
            return None
        return (monotonic() - self._started) / done * (self.kept.plan.wanted - self.played)

    def results(self) -> Results:
        """The rounds played so far."""
        return self._results or Results(self.kept.plan.tournament(), _read_rounds(self.folder / ROUNDS))

    def summary(self) -> dict[str, Any]:
        """What a list says of it."""
        plan = self.kept.plan
        return {
            "id": self.folder.name,
            "begun": self.kept.begun,
            **plan.model_dump(),
            "state": self.state,
            "message": self.kept.message,
            "played": self.played,
            "wanted": plan.wanted,
            "seconds_left": self.seconds_left,
        }

    def view(self, since: int = 0) -> dict[str, Any]:
        """All that is known of it, and its games after a number."""
        summary, results = self.summary(), self.results()
        report = results.as_json()
        tables = {"standings": report["standings"], "pairs": report["pairs"]}
        return {**summary, **tables, "games": list_games(results)[since:]}


def _read_rounds(file: Path) -> list[Round]:
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    try:
        whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
        return TypeAdapter(list[Round]).validate_python(whole)
    except ValueError:
        raise AwelloError(f"contest {file.parent.name} is damaged: delete it") from None


def list_games(results: Results) -> list[dict[str, Any]]:
    """The games in the order of play, numbered from 1, whoever moved first standing first."""
    tournament, games = results.tournament, list[dict[str, Any]]()
    for played in results.rounds:
        bots = [tournament.specs[bot] for bot in tournament.pairs[played.pair]]
        for turn, game in enumerate(played.games):
            first, second = (1, 0) if turn else (0, 1)
            games.append(
                {
                    "number": len(games) + 1,
                    "pair": played.pair,
                    "round": played.number + 1,
                    "first": bots[first],
                    "second": bots[second],
                    "score": (game.score[first], game.score[second]),
                    "moves": game.moves,
                    "forfeits": (game.forfeits[first], game.forfeits[second]),
                }
            )
    return games


class Contests:
    """The contests of a folder, of which one may be running."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or user_data() / "contests"
        self._current: Contest | None = None
        self._lock = threading.Lock()

    def start(self, plan: Plan) -> str:
        """Begin a contest; its id."""
        with self._lock:
            if len(self._names()) >= MOST_KEPT:
                raise AwelloError(f"{MOST_KEPT} contests are kept already: delete some first")
            plan = plan.model_copy(update={"players": list(plan.tournament().specs)})
            name = secrets.token_hex(4)
            self._run(Contest(self.folder / name, Kept(plan=plan, begun=datetime.now(UTC))))
            return name

    def resume(self, name: str) -> None:
        """Play what is missing of a contest."""
        with self._lock:
            contest = self.get(name)
            if contest.state == "finished":
                raise AwelloError("this contest is finished: start a new one")
            self._run(Contest.load(contest.folder))

    def _run(self, contest: Contest) -> None:
        if self._current and self._current.running:
            raise Busy("a contest is running: wait for it or stop it")
        contest.start()
        self._current = contest

    def stop(self, name: str) -> None:
        """End a contest, if it is running."""
        self.get(name).stop()

    def delete(self, name: str) -> None:
        """Forget a contest, even a damaged one."""
        with self._lock:
            folder = self._find(name)
            if self._current and self._current.folder == folder:
                if self._current.running:
                    raise Busy("this contest is running: stop it first")
                self._current = None
            shutil.rmtree(folder)

    def get(self, name: str) -> Contest:
        """The contest of an id."""
        folder, current = self._find(name), self._current
        return current if current and current.folder == folder else Contest.load(folder)

    def list(self) -> list[Contest]:
        """All contests that can be read, the latest first."""
        found = []
        for name in self._names():
            with suppress(AwelloError):
                found.append(self.get(name))
        return sorted(found, key=lambda contest: contest.kept.begun, reverse=True)

    def close(self) -> None:
        """Stop what runs; it can be resumed."""
        if self._current:
            self._current.stop()

    def _names(self) -> Sequence[str]:
        files = self.folder.glob(f"*/{PLAN}")
        return [file.parent.name for file in files if ID.fullmatch(file.parent.name)]

    def _find(self, name: str) -> Path:
        """The folder of an id, which becomes a path only if it is one."""
        if not ID.fullmatch(name) or not (self.folder / name).is_dir():
            raise Missing("there is no such contest: it may have been deleted")
        return self.folder / name
