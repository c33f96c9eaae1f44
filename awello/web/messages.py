"""API requests about a game or a text, validated by pydantic.

The server does not store the game: each request about it contains the start position and the moves.  So a restart of
the server loses nothing, and clients cannot interfere with each other.
"""

from functools import cache
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from awello.errors import AwelloError, IllegalMoveError
from awello.limits import Clock
from awello.position import Position, parse_position
from awello.record import Record, replay
from awello.rules.game import PASS, Game
from awello.schemas import GameName as GameName
from awello.web.client_players import validate_spec
from awello.web.engine_tasks import AnalyseTask, ChooseTask, ReviewTask

MAX_GAME_MOVES = 2000
INVALID_MOVE = 64  # a number that is not a move in any game
MAX_TEXT_CHARS = 1 << 16  # in a pasted text
MAX_SEARCH_SECONDS = 60.0  # per choice or analysis

MoveName = Annotated[str, StringConstraints(pattern=r"^([a-h][1-8]|[a-fA-F]|pass)$")]
SpecText = Annotated[str, StringConstraints(min_length=1, max_length=120)]


PlayerSpecText = Annotated[SpecText, AfterValidator(validate_spec)]


@cache
def _moves_by_name(game: Game) -> dict[str, int]:
    """Return all moves of a game, keyed by their names in lower case."""
    position = Position.start(game)
    return {"pass": PASS} | {position.format_move(move).lower(): move for move in position.all_moves()}


class RequestModel(BaseModel):
    """A request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MovesRequest(RequestModel):
    """A game: its rules, start position and moves."""

    game: GameName = "othello"
    start: Annotated[str, StringConstraints(max_length=100)] | None = Field(
        default=None, description="An OBF board or an Awalé diagram; default: the standard start"
    )
    moves: Annotated[list[MoveName], Field(max_length=MAX_GAME_MOVES)] = Field(
        default=[], description="The moves, including passes", examples=[["f5", "d6", "c3"]]
    )

    def to_record(self) -> Record:
        """Replay the game and return its record; raise an error with the number of the first illegal move."""
        game = Game[self.game.upper()]
        start = Position.start(game) if self.start is None else parse_position(self.start, game)
        by_name = _moves_by_name(game)
        moves = [by_name.get(name.lower(), INVALID_MOVE) for name in self.moves]
        legal, position = replay(start, moves)
        if legal < len(moves):
            try:
                position.parse_move(self.moves[legal])
            except AwelloError as error:
                number, name = legal + 1, self.moves[legal]
                raise IllegalMoveError(f"move {number}: {error}", number=number, move=name) from None
        record = Record(start, tuple(moves))
        vars(record)["final"] = position  # fill the cached property, which would otherwise replay the moves
        return record


class PositionsRequest(MovesRequest):
    """A request to describe positions of a game."""

    first_ply: int = Field(default=0, ge=0, le=MAX_GAME_MOVES, description="The ply of the first position to describe")


class AnalyseRequest(MovesRequest):
    """A request to analyse the last position of a game."""

    seconds: float = Field(default=5.0, gt=0, le=MAX_SEARCH_SECONDS)

    def to_task(self) -> AnalyseTask:
        """Return the task for an engine process."""
        return AnalyseTask(self.to_record(), self.seconds)


class ChooseRequest(MovesRequest):
    """A request to let a player choose a move."""

    player: PlayerSpecText = Field(description="A player spec", examples=["champion@level=4"])
    clock: float | None = Field(
        default=None, ge=0, le=86400, description="Seconds left on the player's clock; default: no clock"
    )
    increment: float = Field(default=0.0, ge=0, le=3600, description="Seconds added after each move")
    seed: int = Field(default=0, ge=0, lt=1 << 32, description="Random seed: equal seeds give equal choices")

    def to_task(self) -> ChooseTask:
        """Return the task for an engine process."""
        clock = Clock() if self.clock is None else Clock(self.clock, self.increment)
        return ChooseTask(self.to_record(), self.player, clock, self.seed)


class ReviewRequest(MovesRequest):
    """A request to review a game."""

    seconds: float = Field(default=0.5, gt=0, le=10, description="Seconds per move")

    def to_task(self) -> ReviewTask:
        """Return the task for an engine process."""
        return ReviewTask(self.to_record(), self.seconds)


class TextRequest(RequestModel):
    """A text that may contain a game or a position."""

    text: Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]
    game: GameName | None = Field(default=None, description="The rules of the game; default: detected from the text")


class TreeRequest(MovesRequest):
    """A request to search the last position of a game and draw the search tree."""

    search: PlayerSpecText = Field(
        default="alphabeta@2",
        description="minimax, alphabeta, negamax or negamax-alphabeta, with a depth",
        examples=["alphabeta@2"],
    )
