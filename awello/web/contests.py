"""Contests between bots, started from the page: a match of two bots, or a tournament of more.

A contest runs a tournament of the arena in a low-priority process, with its bots in sandboxes.  Its folder contains the
configuration and every finished game, so an interrupted contest can be resumed, even after the server was killed.
People do not take part: the tournaments for people and bots are those of the club.
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
from awello.arena.workers import block_interrupts
from awello.errors import AwelloError, ConfigError
from awello.folders import user_data_folder, write_atomically
from awello.limits import format_duration
from awello.rules.game import Game
from awello.schemas import BotStandingJson, RoundsJson
from awello.web.child_processes import run_contest
from awello.web.client_players import make_client_player
from awello.web.errors import MAX_QUOTED_CHARS, ApiError
from awello.web.messages import GameName, RequestModel, SpecText

MAX_STORED_CONTESTS = 200  # if the server is not public
MAX_VISITOR_CONTESTS, MAX_CONTESTS_PER_NETWORK = 40, 5  # stored on a public server: in total, per client network
MAX_RUNNING_CONTESTS, MAX_CONTEST_SECONDS = 2, 600.0  # on a public server: contests at a time, seconds per contest
MAX_BOTS, MAX_ROUNDS, MAX_OPENING_PLIES, MAX_MOVE_SECONDS = 8, 50, 12, 5.0
MOVE_TOLERANCE_SECONDS = 0.1  # seconds allowed beyond the time per move, because the server has other work
CONTEST_FILE = "contest.json"
ID_PATTERN = re.compile("[0-9a-f]{8}")

State = Literal["running", "finished", "stopped", "failed"]


class ContestConfig(RequestModel):
    """The configuration of a contest: two bots play a match, more play a round robin."""

    game: GameName = "othello"
    players: Annotated[list[SpecText], Field(min_length=2, max_length=MAX_BOTS)] = Field(
        description="Player specs, all different", examples=[["greedy", "alphabeta@4"]]
    )
    rounds: int = Field(default=5, ge=1, le=MAX_ROUNDS, description="Per pairing; a round is two games")
    opening_plies: int = Field(
        default=4, ge=0, le=MAX_OPENING_PLIES, description="Random moves at the start of both games of a round"
    )
    seed: int = Field(default=0, ge=0, lt=1 << 32, description="Random seed of the openings")
    move_time: float = Field(
        default=1.0, ge=0.01, le=MAX_MOVE_SECONDS, description="Seconds per move; a slower move forfeits the game"
    )

    def count_rounds(self) -> int:
        """Return the total number of rounds of all pairings."""
        return self.rounds * len(self.players) * (len(self.players) - 1) // 2

    def to_tournament(self) -> Tournament:
        """Return the tournament of this configuration; raise `AwelloError` if it is invalid."""
        limits = ResourceLimits(self.move_time, MOVE_TOLERANCE_SECONDS)
        specs = tuple(self._check(spec) for spec in self.players)
        return Tournament(Game[self.game.upper()], specs, self.rounds, self.seed, limits, self.opening_plies)

    def _check(self, text: str) -> str:
        spec = make_client_player(text).spec
        if spec.limit and (spec.limit.seconds or 0) > self.move_time:
            message = f"the time limit of {spec} exceeds the {format_duration(self.move_time)} per move of this contest"
            advice = "reduce the bot's time limit, or allow more time per move"
            raise AwelloError(f"{message}: {advice}", "move_time_exceeded", player=str(spec), seconds=self.move_time)
        return str(spec)


class ContestSummary(ContestConfig):
    """The state of a contest."""

    id: str
    started: datetime
    state: State
    message: str = Field(description="The error of a failed contest, else empty")
    rounds_played: int = Field(description="Finished rounds of all pairings")
    rounds_total: int = Field(description="Rounds of all pairings")
    seconds_left: float | None = Field(description="An estimate while the contest is running, else null")


class ContestPairing(RoundsJson):
    """The results of the rounds between two bots, from the point of view of the first."""

    first: str
    second: str


class ContestGame(BaseModel):
    """A game of a contest; `score` and `forfeits` start with the side that moved first."""

    number: int
    pairing: int = Field(description="The index of the game's pairing in `pairings`")
    round: int
    first: str
    second: str
    score: tuple[int, int]
    moves: str = Field(description="The transcript")
    forfeits: tuple[tuple[str, str] | None, tuple[str, str] | None] = Field(
        description="For each side: reason and message of its forfeit, or null"
    )


class ContestDetails(ContestSummary):
    """The state of a contest with its standings and games."""

    standings: list[BotStandingJson] = Field(description="Best first")
    pairings: list[ContestPairing]
    games: list[ContestGame] = Field(description="Games with greater numbers than `after`, in playing order")


class StoredContest(BaseModel):
    """The description of a contest, stored as a file in its folder."""

    config: ContestConfig
    started: datetime
    message: str = ""
    """The error of a failed contest."""
    key_digest: str = ""
    """The digest of the key that is needed to stop, resume or delete the contest."""
    by_visitor: bool = False
    """Whether it was started on a public server, which deletes its oldest contests to make room for new ones."""


class Contest:
    """A contest, whether or not it is running."""

    def __init__(self, folder: Path, stored: StoredContest, client_network: str = "") -> None:
        self.folder, self.stored, self.client_network = folder, stored, client_network
        self._process: SpawnProcess | None = None
        self._started = 0.0  # when this run started
        self._before = 0  # rounds finished before this run

    @classmethod
    def load(cls, folder: Path, client_network: str = "") -> "Contest":
        """Load the contest of a folder."""
        try:
            return cls(folder, StoredContest.model_validate_json((folder / CONTEST_FILE).read_bytes()), client_network)
        except (OSError, ValidationError):
            raise _damaged_error(folder) from None

    def save(self) -> None:
        """Write the description of the contest to its folder."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_atomically(self.folder / CONTEST_FILE, self.stored.model_dump_json(indent=2) + "\n")
        except OSError as error:
            detail = error.strerror or type(error).__name__
            message = f"contests cannot be saved ({detail}): check the data folder of the server"
            raise AwelloError(message, "contests_not_writable", detail=detail) from None

    # --- its run ------------------------------------------------------------------------------------------------------
    @property
    def running(self) -> bool:
        """Whether games are being played."""
        return self._process is not None and self._process.is_alive()

    def start(self, seconds: float | None = None) -> None:
        """Start a process that plays the missing rounds, for at most `seconds`."""
        tournament = self.stored.config.to_tournament()
        self.stored.message = ""
        self.save()
        try:
            with Runner(tournament, out=self.folder):
                pass
        except ConfigError:
            cause = "was started with another version of Awello or of the bots, or it is damaged"
            raise AwelloError(f"this contest {cause}: start a new one", "contest_outdated") from None
        self._started, self._before = monotonic(), self.rounds_played
        self._process = SpawnProcess(target=run_contest, args=(self.folder, seconds), name="contest")
        with block_interrupts():
            self._process.start()

    def stop(self) -> None:
        """Stop the contest immediately if it is running; the round in progress is lost."""
        if self._process:
            self._process.kill()
            self._process.join()

    # --- its state ----------------------------------------------------------------------------------------------------
    @property
    def rounds_played(self) -> int:
        """The number of finished rounds."""
        file = self.folder / JOURNAL_FILE
        return file.read_bytes().count(b"\n") // 2 if file.exists() else 0

    @property
    def state(self) -> State:
        """The state of the contest."""
        if self.running:
            return "running"
        if self._process is not None:  # the process may have stored an error in the file
            self.stored = Contest.load(self.folder).stored
        if self.stored.message:
            return "failed"
        return "finished" if self.rounds_played == self.stored.config.count_rounds() else "stopped"

    @property
    def seconds_left(self) -> float | None:
        """The estimated seconds left; None if the contest is not running or has not finished a round in this run."""
        done = self.rounds_played - self._before
        if not self.running or done <= 0:
            return None
        return (monotonic() - self._started) / done * (self.stored.config.count_rounds() - self.rounds_played)

    def results(self) -> TournamentResult:
        """Return the results of the games played so far."""
        return TournamentResult(self.stored.config.to_tournament(), _read_games(self.folder / JOURNAL_FILE))

    def summary(self) -> ContestSummary:
        """Return the state of the contest as the API shows it."""
        config, state = self.stored.config, self.state  # reading `state` may update `message`, which is read below
        return ContestSummary(
            **vars(config),
            id=self.folder.name,
            started=self.stored.started,
            state=state,
            message=self.stored.message,
            rounds_played=self.rounds_played,
            rounds_total=config.count_rounds(),
            seconds_left=self.seconds_left,
        )


def _read_games(file: Path) -> list[GameResult]:
    lines = file.read_bytes().splitlines(keepends=True) if file.exists() else []
    try:
        whole = [json.loads(line) for line in lines if line.endswith(b"\n")]
        return TypeAdapter(list[GameResult]).validate_python(whole)
    except ValueError:
        raise _damaged_error(file.parent) from None


def number_games(results: TournamentResult) -> list[ContestGame]:
    """Return the games in playing order, numbered from 1."""
    games = list[ContestGame]()
    for played in results.rounds:
        for turn, game in enumerate(played.games):
            first, second = game.result.players
            score = game.score[::-1] if turn else game.score
            fields = {"number": len(games) + 1, "pairing": played.pairing, "round": played.number + 1, "score": score}
            games.append(ContestGame.model_validate(vars(game.result) | fields | {"first": first, "second": second}))
    return games


class ContestRunner:
    """Runs the contests of a folder, with a limit on the number of running contests.

    On a public server, each client network can run one contest at a time, for a limited time, and only a client that
    has the key of a contest can stop, resume or delete it.
    """

    def __init__(self, folder: Path | None = None, public: bool = False) -> None:
        self.folder, self.public = folder or user_data_folder() / "contests", public
        self._recent: dict[str, Contest] = {}  # contests started or resumed since this server started
        self._lock = threading.Lock()

    def start(self, config: ContestConfig, client_network: str = "") -> tuple[str, str]:
        """Start a contest; return its id and the key that is needed to stop, resume or delete it."""
        with self._lock:
            self._check_running(client_network)
            config = config.model_copy(update={"players": list(config.to_tournament().specs)})
            self._make_room(client_network)
            name, key = secrets.token_hex(4), secrets.token_urlsafe(16)
            stored = StoredContest(
                config=config, started=datetime.now(UTC), key_digest=_digest(key), by_visitor=self.public
            )
            self._run(Contest(self.folder / name, stored, client_network))
            return name, key

    def resume(self, name: str, client_network: str = "") -> None:
        """Resume a contest: start a process that plays its missing rounds."""
        with self._lock:
            contest = self.get(name)
            if contest.running:
                raise _conflict_error(
                    "contest_in_progress", "this contest is running: wait until it ends, or stop it first"
                )
            if contest.state == "finished":
                raise AwelloError("this contest is finished: start a new one", "contest_finished")
            self._check_running(client_network)
            self._run(Contest.load(contest.folder, client_network))

    def may_change(self, name: str, key: str) -> bool:
        """Return whether a key permits stopping, resuming and deleting a contest.

        No key is needed if the server is not public, or if the contest is damaged.
        """
        if not self.public:
            return True
        try:
            return secrets.compare_digest(self.get(name).stored.key_digest, _digest(key))
        except AwelloError:
            return True

    def delete(self, name: str) -> None:
        """Delete a contest, even a damaged one."""
        with self._lock:
            folder = self._find(name)
            if name in self._recent and self._recent[name].running:
                raise _conflict_error(
                    "contest_in_progress", "this contest is running: wait until it ends, or stop it first"
                )
            self._recent.pop(name, None)
            shutil.rmtree(folder)

    def get(self, name: str) -> Contest:
        """Return the contest with this id."""
        folder = self._find(name)
        return self._recent.get(name) or Contest.load(folder)

    def list(self) -> list[Contest]:
        """Return all contests that are not damaged, the latest first."""
        contests = []
        for name in self._names():
            with suppress(AwelloError, ApiError):
                contests.append(self.get(name))
        return sorted(contests, key=lambda contest: contest.stored.started, reverse=True)

    def close(self) -> None:
        """Stop the running contests; they can be resumed."""
        for contest in self._recent.values():
            contest.stop()

    def _run(self, contest: Contest) -> None:
        contest.start(MAX_CONTEST_SECONDS if self.public else None)
        self._recent[contest.folder.name] = contest

    def _make_room(self, client_network: str) -> None:
        """Make room for a new contest on a public server; on other servers, raise `AwelloError` if there are too many.

        If the client network has too many contests, its oldest one is deleted; otherwise, if the server has too many,
        the oldest of all is deleted.  Running contests, and contests that were not started on a public server, are
        neither counted nor deleted.
        """
        if not self.public:
            if len(self._names()) >= MAX_STORED_CONTESTS:
                limit = MAX_STORED_CONTESTS
                raise AwelloError(
                    f"{limit} contests are already stored: delete some first", "too_many_contests", limit=limit
                )
            return
        by_visitors = [contest for contest in self.list() if contest.stored.by_visitor and not contest.running]
        mine = [contest for contest in by_visitors if contest.client_network == client_network]
        if len(mine) >= MAX_CONTESTS_PER_NETWORK or len(by_visitors) >= MAX_VISITOR_CONTESTS:
            oldest = (mine if len(mine) >= MAX_CONTESTS_PER_NETWORK else by_visitors)[-1].folder
            self._recent.pop(oldest.name, None)
            shutil.rmtree(oldest)

    def _check_running(self, client_network: str) -> None:
        running = [contest for contest in self._recent.values() if contest.running]
        limit = MAX_RUNNING_CONTESTS if self.public else 1
        if len(running) >= limit:
            message = "too many contests are running: wait until one ends, or stop one of yours"
            raise _conflict_error("contest_limit", message, limit=limit)
        if self.public and any(contest.client_network == client_network for contest in running):
            message = "a contest from your network is running: wait until it ends, or stop it"
            raise _conflict_error("network_contest_limit", message)

    def _names(self) -> Sequence[str]:
        files = self.folder.glob(f"*/{CONTEST_FILE}")
        return [file.parent.name for file in files if ID_PATTERN.fullmatch(file.parent.name)]

    def _find(self, name: str) -> Path:
        """Return the folder of a contest; the id is validated before it becomes part of a path."""
        if not ID_PATTERN.fullmatch(name) or not (self.folder / name).is_dir():
            message = f"there is no contest {name[:MAX_QUOTED_CHARS]!r}: it may have been deleted"
            raise ApiError(404, "unknown_contest", message, id=name[:MAX_QUOTED_CHARS])
        return self.folder / name


def dump_contest(summary: ContestSummary, folder: Path, after: int = 0) -> bytes:
    """Return the details of a contest as JSON, with the games whose numbers are greater than `after`."""
    results = Contest.load(folder).results()
    report, games = results.to_json(), number_games(results)[after:]
    fields = {"standings": report["standings"], "pairings": report["pairings"], "games": games}
    return ContestDetails.model_validate(vars(summary) | fields).model_dump_json().encode()


def _conflict_error(code: str, message: str, **params: int) -> ApiError:
    return ApiError(409, code, message, **params)


def _damaged_error(folder: Path) -> AwelloError:
    return AwelloError(f"contest {folder.name} is damaged: delete it", "contest_damaged", id=folder.name)


def _digest(key: str) -> str:
    return sha256(key.encode("utf-8", "replace")).hexdigest()


# --- the process of a contest -----------------------------------------------------------------------------------------
def play_contest(folder: Path, seconds: float | None) -> None:
    """Play the missing rounds of a contest, for at most `seconds`."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    if seconds is not None:
        timer = threading.Timer(seconds, os._exit, [0])  # finished games are kept: each is already in the journal
        timer.daemon = True
        timer.start()
    contest = Contest.load(folder)
    try:
        play_tournament(contest.stored.config.to_tournament(), out=folder)
    except Exception as error:
        contest.stored.message = str(error) if isinstance(error, AwelloError) else type(error).__name__
        contest.save()
        if not isinstance(error, AwelloError):
            raise


def _die_with_parent() -> None:
    """Exit when the server process has ended."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
