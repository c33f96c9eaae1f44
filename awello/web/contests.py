"""Contests that are begun from the page: matches and small tournaments, each in a folder of its own.

A contest is a tournament of the arena, played in a process of low priority; its bots run in sandboxes below that.  The
folder keeps what was asked for and every finished game, so a contest that was interrupted can be resumed, even after
the server was killed.
"""

import json
import multiprocessing
import os
import re
import secrets
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256
from multiprocessing.context import SpawnProcess
from pathlib import Path
from time import monotonic
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from awello.arena.journal import JOURNAL_FILE
from awello.arena.runner import GameResult, Runner
from awello.arena.sandbox import ResourceLimits
from awello.arena.tournament import Tournament, TournamentResult, play_tournament
from awello.arena.workers import ignore_interrupts
from awello.errors import AwelloError, ConfigError
from awello.folders import user_data, write_atomically
from awello.limits import format_seconds
from awello.rules.game import Game
from awello.schemas import RoundsJson, StandingJson
from awello.web.guest_players import guest_player
from awello.web.messages import GameName, Message, SpecText
from awello.web.process import run_contest
from awello.web.request_guard import Refusal

MOST_KEPT, MOST_OF_GUESTS, MOST_OF_NETWORK = 200, 40, 5  # contests that are kept: the owner's, of guests, of a network
MOST_RUNNING, MOST_SECONDS = 2, 600.0  # contests of guests at once, and for how long each
MOST_BOTS, MOST_ROUNDS, MOST_PLIES, MOST_TIME = 8, 50, 12, 5.0
TOLERANCE = 0.1  # seconds by which a move may be late: the server has other work too
PLAN = "contest.json"
ID = re.compile("[0-9a-f]{8}")

State = Literal["running", "finished", "stopped", "failed"]


class ContestConfig(Message):
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
    def total_rounds(self) -> int:
        """The rounds of all pairs."""
        return self.rounds * len(self.players) * (len(self.players) - 1) // 2

    def tournament(self) -> Tournament:
        """The tournament to play; an error says what is wrong with the plan."""
        limits = ResourceLimits(self.move_time, TOLERANCE)
        specs = tuple(self._check(spec) for spec in self.players)
        return Tournament(Game[self.game.upper()], specs, self.rounds, self.seed, limits, self.opening_plies)

    def _check(self, text: str) -> str:
        spec = guest_player(text).spec
        if spec.limit and (spec.limit.seconds or 0) > self.move_time:
            allowed = format_seconds(self.move_time)
            raise AwelloError(f"{spec} takes longer than the {allowed} of a move: give it less, or all more")
        return str(spec)


class ContestSummary(ContestConfig):
    """A contest in a list."""

    id: str
    begun: datetime
    state: State
    message: str = Field(description="Why it failed, if it did")
    played: int = Field(description="Rounds of all pairs that are finished")
    wanted: int = Field(description="Rounds of all pairs")
    seconds_left: float | None = Field(description="A guess, while it runs")


class PairResult(RoundsJson):
    """Rounds of two bots, from the view of the first."""

    first: str
    second: str


class ContestGame(BaseModel):
    """A game of a contest; of two entries the first is that of the side that moved first."""

    number: int
    pair: int
    round: int
    first: str
    second: str
    score: tuple[int, int]
    moves: str = Field(description="The transcript")
    forfeits: tuple[tuple[str, str] | None, tuple[str, str] | None] = Field(description="Reason and message")


class ContestDetails(ContestSummary):
    """All that is known of a contest."""

    standings: list[StandingJson] = Field(description="The best first")
    pairs: list[PairResult]
    games: list[ContestGame] = Field(description="In the order of play, those after `since`")


class StoredContest(BaseModel):
    """What the folder of a contest knows besides its rounds."""

    plan: ContestConfig
    begun: datetime
    message: str = ""
    """Why it failed, if it did."""
    key: str = ""
    """The digest of the key with which it can be changed."""
    by_guest: bool = False
    """Whether a guest started it, so that it may be deleted to make room for another."""


class Contest:
    """A contest, whether it is running or lies in its folder."""

    def __init__(self, folder: Path, kept: StoredContest, network: str = "") -> None:
        self.folder, self.kept, self.network = folder, kept, network
        self._process: SpawnProcess | None = None
        self._started = 0.0  # when this run began, with so many rounds played before
        self._before = 0

    @classmethod
    def load(cls, folder: Path, network: str = "") -> "Contest":
        """The contest that lies in a folder."""
        try:
            return cls(folder, StoredContest.model_validate_json((folder / PLAN).read_bytes()), network)
        except (OSError, ValidationError):
            raise AwelloError(f"contest {folder.name} is damaged: delete it") from None

    def save(self) -> None:
        """Write what the folder knows."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / PLAN, self.kept.model_dump_json(indent=2) + "\n")
        except OSError as error:
            raise AwelloError(f"contests cannot be kept: {error.strerror}") from None

    # --- its run ------------------------------------------------------------------------------------------------------
    @property
    def running(self) -> bool:
        """Whether games are being played."""
        return self._process is not None and self._process.is_alive()

    def start(self, seconds: float | None = None) -> None:
        """Play what is missing in a process of its own, for so many seconds at most."""
        tournament = self.kept.plan.tournament()
        self.kept.message = ""
        self.save()
        try:
            with Runner(tournament, folder=self.folder):
                pass
        except ConfigError:
            advice = "it was begun with another version of Awello or its players, or is damaged"
            raise AwelloError(f"this contest cannot go on: {advice}; start a new one") from None
        self._started, self._before = monotonic(), self.played
        self._process = SpawnProcess(target=run_contest, args=(self.folder, seconds), name="contest")
        with ignore_interrupts():
            self._process.start()

    def stop(self) -> None:
        """End its bots at once, if it runs; the round that they play is lost."""
        if self._process:
            self._process.kill()
            self._process.join()

    # --- what is known of it ------------------------------------------------------------------------------------------
    @property
    def played(self) -> int:
        """The rounds that are finished."""
        file = self.folder / JOURNAL_FILE
        return file.read_bytes().count(b"\n") // 2 if file.exists() else 0

    @property
    def state(self) -> State:
        """Where it stands."""
        if self.running:
            return "running"
        if self._process is not None:  # it may have left a message
            self.kept = Contest.load(self.folder).kept
        if self.kept.message:
            return "failed"
        return "finished" if self.played == self.kept.plan.total_rounds else "stopped"

    @property
    def seconds_left(self) -> float | None:
        """A guess from the rounds of this run; None if there is nothing to guess from."""
        done = self.played - self._before
        if not self.running or done <= 0:
            return None
        return (monotonic() - self._started) / done * (self.kept.plan.total_rounds - self.played)

    def results(self) -> TournamentResult:
        """The games played so far."""
        return TournamentResult(self.kept.plan.tournament(), _read_games(self.folder / JOURNAL_FILE))

    def summary(self) -> ContestSummary:
        """What a list says of it."""
        plan, state = self.kept.plan, self.state  # first the state: it may read a new message
        return ContestSummary(
            **vars(plan),
            id=self.folder.name,
            begun=self.kept.begun,
            state=state,
            message=self.kept.message,
            played=self.played,
            wanted=plan.total_rounds,
            seconds_left=self.seconds_left,
        )


def _read_games(file: Path) -> list[GameResult]:
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    try:
        whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
        return TypeAdapter(list[GameResult]).validate_python(whole)
    except ValueError:
        raise AwelloError(f"contest {file.parent.name} is damaged: delete it") from None


def list_games(results: TournamentResult) -> list[ContestGame]:
    """The games in the order of play, numbered from 1."""
    games = list[ContestGame]()
    for played in results.rounds:
        for turn, game in enumerate(played.games):
            first, second = game.result.players
            score = game.score[::-1] if turn else game.score
            told = {"number": len(games) + 1, "pair": played.pair, "round": played.number + 1, "score": score}
            games.append(ContestGame.model_validate(vars(game.result) | told | {"first": first, "second": second}))
    return games


class ContestRunner:
    """The contests of a folder, of which few may be running.

    For guests each network may run one, for a limited time, and only a browser that has the key of a contest may stop,
    resume or delete it.
    """

    def __init__(self, folder: Path | None = None, for_guests: bool = False) -> None:
        self.folder, self.for_guests = folder or user_data() / "contests", for_guests
        self._recent: dict[str, Contest] = {}  # those that were started here
        self._lock = threading.Lock()

    def start(self, plan: ContestConfig, network: str = "") -> tuple[str, str]:
        """Begin a contest; its id, and the key with which it can be changed."""
        with self._lock:
            self._check_running(network)
            plan = plan.model_copy(update={"players": list(plan.tournament().specs)})
            self._make_room(network)
            name, key = secrets.token_hex(4), secrets.token_urlsafe(16)
            kept = StoredContest(plan=plan, begun=datetime.now(UTC), key=_digest(key), by_guest=self.for_guests)
            self._run(Contest(self.folder / name, kept, network))
            return name, key

    def resume(self, name: str, network: str = "") -> None:
        """Play what is missing of a contest."""
        with self._lock:
            contest = self.get(name)
            if contest.running:
                raise _running("this contest is running: wait for it or stop it")
            if contest.state == "finished":
                raise AwelloError("this contest is finished: start a new one")
            self._check_running(network)
            self._run(Contest.load(contest.folder, network))

    def may_change(self, name: str, key: str) -> bool:
        """Whether this key allows to stop, resume or delete a contest; a damaged one may go."""
        if not self.for_guests:
            return True
        try:
            return secrets.compare_digest(self.get(name).kept.key, _digest(key))
        except AwelloError:
            return True

    def delete(self, name: str) -> None:
        """Forget a contest, even a damaged one."""
        with self._lock:
            folder = self._find(name)
            if name in self._recent and self._recent[name].running:
                raise _running("this contest is running: stop it first")
            self._recent.pop(name, None)
            shutil.rmtree(folder)

    def get(self, name: str) -> Contest:
        """The contest of an id."""
        folder = self._find(name)
        return self._recent.get(name) or Contest.load(folder)

    def list(self) -> list[Contest]:
        """All contests that can be read, the latest first."""
        found = []
        for name in self._names():
            with suppress(AwelloError, Refusal):
                found.append(self.get(name))
        return sorted(found, key=lambda contest: contest.kept.begun, reverse=True)

    def close(self) -> None:
        """Stop what runs; it can be resumed."""
        for contest in self._recent.values():
            contest.stop()

    def _run(self, contest: Contest) -> None:
        contest.start(MOST_SECONDS if self.for_guests else None)
        self._recent[contest.folder.name] = contest

    def _make_room(self, network: str) -> None:
        """Delete the oldest contest of the network, or of all guests, if too many are kept; never one of the owner."""
        if not self.for_guests:
            if len(self._names()) >= MOST_KEPT:
                raise AwelloError(f"{MOST_KEPT} contests are kept already: delete some first")
            return
        guests = [contest for contest in self.list() if contest.kept.by_guest and not contest.running]
        mine = [contest for contest in guests if contest.network == network]
        if len(mine) >= MOST_OF_NETWORK or len(guests) >= MOST_OF_GUESTS:
            oldest = (mine if len(mine) >= MOST_OF_NETWORK else guests)[-1].folder
            self._recent.pop(oldest.name, None)
            shutil.rmtree(oldest)

    def _check_running(self, network: str) -> None:
        running = [contest for contest in self._recent.values() if contest.running]
        if len(running) >= (MOST_RUNNING if self.for_guests else 1):
            raise _running("a contest is running: wait for it or stop it")
        if self.for_guests and any(contest.network == network for contest in running):
            raise _running("a contest from your network is running: wait for it or stop it")

    def _names(self) -> Sequence[str]:
        files = self.folder.glob(f"*/{PLAN}")
        return [file.parent.name for file in files if ID.fullmatch(file.parent.name)]

    def _find(self, name: str) -> Path:
        """The folder of an id, which becomes a path only if it is one."""
        if not ID.fullmatch(name) or not (self.folder / name).is_dir():
            raise Refusal(404, "absent", "there is no such contest: it may have been deleted")
        return self.folder / name


def view_contest(summary: ContestSummary, folder: Path, since: int = 0) -> bytes:
    """All that is known of a contest, with the games after a number, as JSON."""
    results = Contest.load(folder).results()
    report, games = results.as_json(), list_games(results)[since:]
    told = {"standings": report["standings"], "pairs": report["pairs"], "games": games}
    return ContestDetails.model_validate(vars(summary) | told).model_dump_json().encode()


def _running(message: str) -> Refusal:
    return Refusal(409, "running", message)


def _digest(key: str) -> str:
    return sha256(key.encode("utf-8", "replace")).hexdigest()


# --- the process of a contest -----------------------------------------------------------------------------------------
def play_contest(folder: Path, seconds: float | None) -> None:
    """Play what is missing of a contest, for so many seconds at most."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    if seconds is not None:
        timer = threading.Timer(seconds, os._exit, [0])  # nothing is lost: the journal has every finished game
        timer.daemon = True
        timer.start()
    contest = Contest.load(folder)
    try:
        play_tournament(contest.kept.plan.tournament(), folder)
    except Exception as error:
        contest.kept.message = str(error) if isinstance(error, AwelloError) else type(error).__name__
        contest.save()
        if not isinstance(error, AwelloError):
            raise


def _die_with_parent() -> None:
    """Leave nothing running if the server is ended by force."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
