"""The HTTP API of the archive: the explorer, the list of games, and saving a game."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, Field, StringConstraints

from awello.archive.archive import Archive, GameFilter, parse_years
from awello.archive.explorer import explore as explore_archive
from awello.archive.game_rows import row_to_record
from awello.errors import AwelloError, ConfigError
from awello.position import parse_position
from awello.record import REASON_TEXTS, Record
from awello.rules.game import Game
from awello.schemas import ExplorationJson, GameJson, GameListJson, GameName, GameRowJson, LossJson
from awello.web.archive_service import ArchiveService
from awello.web.errors import ApiError
from awello.web.messages import MAX_GAME_MOVES, MovesRequest, RequestModel
from awello.web.page_tasks import find_learners, train_players
from awello.web.request_guard import client_network_of
from awello.web.request_tasks import call_in_worker

PAGE_SITE = "Awello page"
UNNAMED_PLAYER = "guest"
MAX_TIMESTAMP = 1 << 32  # in seconds since 1970
MAX_GAME_NUMBER = (1 << 31) - 1

router = APIRouter(prefix="/api", tags=["archive"])
RecordedName = Annotated[str, StringConstraints(max_length=120)]


# ---- requests and responses -----------------------------------------------------------------------------------------
class PlayedGameRequest(MovesRequest):
    """A game with its players and times and, if the board does not decide the result, who lost and why."""

    players: tuple[RecordedName | None, RecordedName | None] = Field(
        default=(None, None), description="The player who moved first comes first"
    )
    started: int | None = Field(default=None, ge=0, lt=MAX_TIMESTAMP, description="Start time in seconds since 1970")
    seconds: Annotated[list[Annotated[float, Field(ge=0, le=86400)] | None], Field(max_length=MAX_GAME_MOVES)] = Field(
        default=[], description="The seconds of each move, or null if unknown; empty if no times are known"
    )
    loss: LossJson | None = Field(default=None, description="Leave out if the board decides the result")

    def to_record(self) -> Record:
        """Return the record of the game; equal requests give equal records."""
        record = super().to_record()
        if self.loss and record.final.over:
            raise AwelloError("the board already decides the result: leave 'loss' out", "result_on_board")
        if self.seconds and len(self.seconds) != len(record.moves):
            times, moves = len(self.seconds), len(record.moves)
            message = f"the numbers of moves ({moves}) and times ({times}) differ: give one time per move in 'seconds'"
            raise AwelloError(message, "move_times_mismatch", times=times, moves=moves)
        sides = zip(record.start.game.sides, self.players, strict=True)
        tags = {side: _clean_name(player) for side, player in sides if player is not None}
        if self.started is not None:
            start = datetime.fromtimestamp(self.started)
            tags |= {"Site": PAGE_SITE, "Date": start.date().isoformat(), "Time": start.time().isoformat()}
        loser, reason = (self.loss.loser, REASON_TEXTS[self.loss.reason]) if self.loss else (None, "")
        return Record(record.start, record.moves, tuple(self.seconds), (), tags, loser, reason)


class SaveGameRequest(PlayedGameRequest):
    """A finished game to save."""

    players: tuple[RecordedName, RecordedName] = Field(
        description="The player who moved first comes first", examples=[["Ann", "greedy"]]
    )
    started: int = Field(ge=0, lt=MAX_TIMESTAMP, description="Start time in seconds since 1970", examples=[1763251200])

    def to_finished_record(self) -> Record:
        """Return the record to save; raise `AwelloError` if the game has no moves or is not over."""
        record = self.to_record()
        if not record.moves:
            raise AwelloError("the game has no moves: there is nothing to save", "no_moves")
        if not (record.final.over or self.loss):
            raise AwelloError("the game is not over: finish it before saving it", "game_not_over")
        return record


class SavedGameJson(BaseModel):
    """A saved game."""

    number: int


class GameFilterRequest(RequestModel):
    """Filters for games; a filter that is left out matches every game."""

    game: GameName | None = None
    player: Annotated[str, Field(max_length=60, description="Part of a name")] = ""
    opening: Annotated[str, Field(max_length=60, description="Part of the English or French name")] = ""
    year: Annotated[str, Field(max_length=9, examples=["1996", "1990-1999"])] = ""
    result: Annotated[
        Literal["", "first", "second", "draw", "unfinished"],
        Field(description="The winning side (`first` or `second`), `draw`, or `unfinished`"),
    ] = ""
    position: Annotated[str, Field(max_length=100, description="Only games that reach this position; needs `game`")] = (
        ""
    )

    def to_filter(self) -> GameFilter:
        """Return the filter for the archive."""
        game = None if self.game is None else Game[self.game.upper()]
        if self.position and game is None:
            raise AwelloError(
                "'position' cannot be read without the rules of its game: add 'game', for example game=othello",
                "position_without_game",
            )
        position = parse_position(self.position, game) if self.position and game is not None else None
        games = () if position or game is None else (game,)
        return GameFilter(games, self.player, "", parse_years(self.year), self.opening, self.result, position)


class GameListRequest(GameFilterRequest):
    """Filters for games, and the part of the list to return."""

    last: Annotated[int, Field(ge=1, le=100)] = 20
    before: Annotated[
        int | None, Field(ge=1, le=MAX_GAME_NUMBER, description="Only games whose number is smaller than this")
    ] = None


def archive_service_of(request: Request) -> ArchiveService:
    """Return the archive service of the server that handles a request."""
    service: ArchiveService = request.app.state.archive_service
    return service


Service = Annotated[ArchiveService, Depends(archive_service_of)]


# ---- routes ---------------------------------------------------------------------------------------------------------
@router.post("/explore", summary="Explore a position")
async def explore(request: MovesRequest, service: Service) -> ExplorationJson:
    """Count how often each move was played in the last position, and with which results."""
    position = request.to_record().final
    return ExplorationJson.of(await service.run(lambda archive: explore_archive(archive, position)))


@router.get("/games", summary="Find games in the archive")
async def list_games(query: Annotated[GameListRequest, Query()], service: Service) -> GameListJson:
    """List the games that match the filters, latest first.

    For the next page, pass the number of the last game in the list as `before`.
    """
    game_filter = query.to_filter()
    total, rows = await service.run(lambda archive: archive.find_latest(game_filter, query.last, query.before))
    return GameListJson(total=total, games=[GameRowJson.of(row, row_to_record(row)) for row in rows])


@router.get("/games/{number}", summary="Show a game of the archive")
async def show_game(number: Annotated[int, Path(ge=1, le=MAX_GAME_NUMBER)], service: Service) -> GameJson:
    """Return the players, moves and result of a game."""

    def find(archive: Archive) -> Record:
        try:
            return archive.load_record(number)
        except ConfigError:
            message = f"the archive has no game {number}: check the number"
            raise ApiError(404, "game_not_in_archive", message, number=number) from None

    return GameJson.of(await service.run(find), number)


@router.post("/games", summary="Save a game", response_model=SavedGameJson)
async def save_game(request: SaveGameRequest, service: Service, client: Request) -> Any:
    """Save a finished game and return its number; a game that is already in the archive is not saved again."""
    record = request.to_finished_record()
    service.check_save_limits(client_network_of(client))
    number = await service.run(lambda archive: archive.add(record))
    learners = find_learners(record)
    if learners and not service.public:  # on a public server, anyone could send games to train its players
        await call_in_worker(client, train_players, record, learners)
    return {"number": number}


def _clean_name(text: str) -> str:
    """Return a player's name on one line, without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split()) or UNNAMED_PLAYER
