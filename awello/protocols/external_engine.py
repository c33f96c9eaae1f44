"""External engines that play and analyse: the base of the players `gtp`, `nboard` and `uci`.

    gtp@5s,command=gtp-rhino -l 5,log=talk.txt

The engine is started once for all games.  If it sends an invalid move, exceeds its time or exits, it loses the current
game.  If its process has ended, a new one is started for the next game.  Only a failure before the first game raises an
error.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from time import monotonic
from typing import ClassVar

from awello.analysis import Analysis
from awello.errors import AwelloError, SpecError
from awello.formats.transcript import play_names, split_transcript
from awello.limits import Clock, Limit
from awello.players.player import Choice, Forfeit, Player, Resignation
from awello.position import Position
from awello.protocols.line_process import LineProcess
from awello.record import Record
from awello.rules.game import Game

MAX_SEARCH_SECONDS = 900.0  # the longest time for a move of a player without a time limit

EngineOutput = Iterator[Analysis | str]  # analyses, then the name of the move


@dataclass
class ExternalEnginePlayer(Player, ABC):
    """Plays the moves of an external engine; there is one subclass per protocol."""

    PROTOCOL: ClassVar[str]
    GAMES: ClassVar[tuple[Game, ...]]
    SUPPORTS_DEPTH: ClassVar[bool] = False

    limit: Limit | None = None
    """Time per move, or a depth if the protocol supports it; an engine that exceeds the time loses the game."""
    command: str = ""
    """Command that starts the engine, as in a shell, but without commas."""
    log: str = ""
    """File to which all lines sent and received are appended."""

    def __post_init__(self) -> None:
        self.process: LineProcess | None = None
        self.record: Record | None = None
        # a failure in `begin`, raised again at the first move, so that the player loses the game
        self.failure: Forfeit | None = None

    @abstractmethod
    def handshake(self, process: LineProcess) -> None:
        """Initialise the protocol with a new process."""

    @abstractmethod
    def start_game(self, process: LineProcess, game: Game) -> None:
        """Prepare the engine for a new game."""

    @abstractmethod
    def request_move(self, process: LineProcess, record: Record, clock: Clock) -> EngineOutput:
        """Request the next move of a game in progress."""

    def request_analysis(self, process: LineProcess, position: Position, limit: Limit) -> EngineOutput:
        """Request an analysis to a depth or for a time."""
        raise SpecError(
            f"player {self.spec.name} cannot analyse, since {self.PROTOCOL} has no command for evaluations: "
            "use nboard or uci"
        )

    def begin(self, game: Game, seed: int) -> None:
        self._check_game(game)
        self.game, self.failure, was_running = game, None, self.process is not None
        try:
            if self.process is None or not self.process.alive:
                self.process = LineProcess(self.command, self.PROTOCOL, self.log)
                self.handshake(self.process)
            self.start_game(self.process, game)
        except Forfeit as forfeit:
            assert self.process is not None
            self.process.kill()
            if not was_running:
                self.process = None
                raise SpecError(forfeit.message) from None
            self.failure = forfeit

    def follow(self, record: Record) -> None:
        self.record = record

    def choose(self, position: Position, clock: Clock) -> Choice:
        if self.process is None:
            raise RuntimeError("call begin() before choose()")
        record = self.record if self.record is not None and self.record.final == position else Record(position)
        analysis, answer = None, ""
        for output in self._listen(self.request_move(self.process, record, clock)):
            analysis, answer = (output, answer) if isinstance(output, Analysis) else (analysis, output)
        if answer.lower() == "resign":
            raise Resignation
        try:
            move = position.parse_move(answer)
        except AwelloError as error:
            raise Forfeit("illegal", f"{self.command!r} answered {answer[:40]!r}: {error}") from None
        return Choice(move, analysis if analysis and analysis.move == move else None)

    def analyse(self, position: Position, limit: Limit, multipv: int = 1) -> Iterator[Analysis]:
        """Yield analyses of the best move within the time of the limit or, without a time, to its depth or level.

        A level is used as a depth.  Raises `AwelloError` if the engine fails or reports no plausible value.
        """
        depth = limit.level if limit.depth is None else limit.depth
        if depth is None and limit.seconds is None:
            raise SpecError("an external engine analyses to a depth or for a time: give a limit such as 12 or 5s")
        if position.over:
            raise AwelloError("the game is over: give a position with legal moves")
        if self.process is None or not self.process.alive or self.game != position.game:
            self.begin(position.game, 0)
        assert self.process is not None
        limit = Limit(depth=max(1, depth or 0)) if limit.seconds is None else Limit(seconds=limit.seconds)
        found = False
        try:
            for output in self._listen(self.request_analysis(self.process, position, limit)):
                if isinstance(output, Analysis):
                    found = True
                    yield output
        except Forfeit as forfeit:
            raise AwelloError(forfeit.message) from None
        if not found:
            raise AwelloError(f"{self.command!r} reports no plausible value for a legal move: use another engine")

    def time_limit(self, clock: Clock, limit: Limit | None) -> float:
        """Return the time for an answer, in seconds."""
        return min(clock.seconds, MAX_SEARCH_SECONDS if limit is None or limit.seconds is None else limit.seconds)

    def _listen(self, output: EngineOutput) -> EngineOutput:
        """Yield the engine's output.  After an error or an early stop, kill the process, which may be searching."""
        started = monotonic()
        try:
            if self.failure:
                raise self.failure
            for item in output:
                yield replace(item, seconds=monotonic() - started) if isinstance(item, Analysis) else item
        except BaseException:
            assert self.process is not None
            self.process.kill()
            raise

    def _check_game(self, game: Game) -> None:
        """Raise `SpecError` for a game or a limit that the protocol does not support."""
        name, limit = self.spec.name, self.limit or Limit(seconds=0)
        if limit.seconds is None and not (self.SUPPORTS_DEPTH and limit.depth is not None):
            kinds = "a time per move or a depth" if self.SUPPORTS_DEPTH else "a time per move"
            raise SpecError(f"player {name} needs {kinds} as its limit: write {name}@5s")
        if game not in self.GAMES:
            raise SpecError(
                f"player {name} does not play {game}, only {', '.join(map(str, self.GAMES))}: choose another player"
            )


def read_analysis(
    position: Position, moves: str, value: float | None, depth: int, exact: bool = False, confidence: int = 100
) -> Analysis | None:
    """Convert an engine's output to an analysis, or return None if the value or first move is missing or impossible."""
    pv = play_names(split_transcript(moves, position.game)[0], position)[0].moves
    if not pv or value is None or abs(position.lead + value) > position.game.max_score:
        return None
    return Analysis(pv[0], value, exact, depth, 0, 0, 0.0, ((pv[0], value),), pv, confidence, pv[:exact])
