"""What the page and the server say to each other: the shapes of requests, checked at the door.

A game in progress is never kept by the server.  Whoever asks says where the game began and which moves were played;
so a restart loses nothing, and two pages cannot disturb each other.
"""

from functools import cache
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from awello.errors import AwelloError
from awello.limits import Clock
from awello.position import Position, parse_position
from awello.record import Record, replay
from awello.rules.game import PASS, Game
from awello.schemas import GameName as GameName
from awello.web.engine_tasks import AnalyseTask, ChooseTask, ReviewTask
from awello.web.guest_players import validate_spec

MAX_GAME_MOVES = 2000  # moves
INVALID_MOVE = 64  # the number of a move that no game has
MAX_TEXT_CHARS = 1 << 16  # letters of a text that is pasted
MAX_SEARCH_SECONDS = 60.0  # for one move or one analysis

MoveName = Annotated[str, StringConstraints(pattern=r"^([a-h][1-8]|[a-fA-F]|pass)$")]
SpecText = Annotated[str, StringConstraints(min_length=1, max_length=120)]


PlayerSpec = Annotated[SpecText, AfterValidator(validate_spec)]


@cache
def _moves_by_name(game: Game) -> dict[str, int]:
    """The move of each name, in small letters."""
    position = Position.start(game)
    return {"pass": PASS} | {position.format_move(move).lower(): move for move in position.squares()}


class Message(BaseModel):
    """A request: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class MovesRequest(Message):
    """A game so far."""

    game: GameName = "othello"
    start: Annotated[str, StringConstraints(max_length=100)] | None = Field(
        default=None, description="An OBF board or an Awalé diagram; the usual start if left out"
    )
    moves: Annotated[list[MoveName], Field(max_length=MAX_GAME_MOVES)] = Field(
        default=[], description="The moves played, passes included", examples=[["f5", "d6", "c3"]]
    )

    def to_record(self) -> Record:
        """The game; an error names the move that is wrong."""
        game = Game[self.game.upper()]
        start = Position.start(game) if self.start is None else parse_position(self.start, game)
        known = _moves_by_name(game)
        moves = [known.get(name.lower(), INVALID_MOVE) for name in self.moves]
        legal, position = replay(start, moves)
        if legal < len(moves):
            try:
                position.parse_move(self.moves[legal])
            except AwelloError as error:
                number, name = legal + 1, self.moves[legal]
                raise type(error)(f"move {number}: {error}", error.code, number=number, move=name) from None
        record = Record(start, tuple(moves))
        vars(record)["final"] = position  # as if it had been looked at: it is known here
        return record


class PositionsRequest(MovesRequest):
    """Which positions of a game to look at."""

    since: int = Field(default=0, ge=0, le=MAX_GAME_MOVES, description="The first ply to show; earlier ones are known")


class AnalyseRequest(MovesRequest):
    """What to find out about the last position."""

    seconds: float = Field(default=5.0, gt=0, le=MAX_SEARCH_SECONDS)

    def to_task(self) -> AnalyseTask:
        """The task for an engine process."""
        return AnalyseTask(self.to_record(), self.seconds)


class ChooseRequest(MovesRequest):
    """Whom to ask for a move."""

    player: PlayerSpec = Field(description="A player spec", examples=["champion@level=4"])
    seconds: float | None = Field(default=None, ge=0, le=86400, description="Left on the player's clock")
    increment: float = Field(default=0.0, ge=0, le=3600, description="Seconds added after each move")
    seed: int = Field(default=0, ge=0, lt=1 << 32, description="The same seed gives the same choice")

    def to_task(self) -> ChooseTask:
        """The task for an engine process."""
        clock = Clock() if self.seconds is None else Clock(self.seconds, self.increment)
        return ChooseTask(self.to_record(), self.player, clock, self.seed)


class ReviewRequest(MovesRequest):
    """How carefully to look at a whole game."""

    seconds: float = Field(default=0.5, gt=0, le=10, description="For each move")

    def to_task(self) -> ReviewTask:
        """The task for an engine process."""
        return ReviewTask(self.to_record(), self.seconds)


class TextRequest(Message):
    """Anything that was pasted."""

    text: Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]
    game: GameName | None = Field(default=None, description="What it is to be read as, if it is known")


class TreeRequest(MovesRequest):
    """Which search to draw."""

    search: PlayerSpec = Field(default="alphabeta@2", description="minimax, alphabeta ...", examples=["alphabeta@2"])
