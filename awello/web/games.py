"""The archive's part of the API: what was played in a position, games to find again, and games that are kept."""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, Field, StringConstraints

from awello.archive.archive import Archive, Wanted, parse_years
from awello.archive.explorer import Exploration
from awello.archive.explorer import explore as explore_archive
from awello.archive.store import record_of
from awello.errors import AwelloError, ConfigError
from awello.formats.openings import names_of, opening_at, opening_called
from awello.position import Position, format_position, parse_position
from awello.record import Record
from awello.rules.game import Game
from awello.web.archivist import Archivist
from awello.web.door import Refusal, address_of
from awello.web.limits import network_of
from awello.web.messages import LONGEST_GAME, GameName, Line, Message

SITE = "Awello page"
NOBODY = "guest"
REASONS = {"resigned": "resigned", "time": "ran out of time", "forfeit": "forfeited"}  # for the page, and in records
LAST_MOMENT = 1 << 32  # seconds since 1970
LARGEST = (1 << 31) - 1  # number of a game

router = APIRouter(prefix="/api", tags=["archive"])
Name = Annotated[str, StringConstraints(max_length=120)]


# ---- what is said ---------------------------------------------------------------------------------------------------
class OpeningName(BaseModel):
    """What an opening is called."""

    en: str
    fr: str


class Branch(BaseModel):
    """A move that was played in a position; results are the mover's."""

    move: str = Field(examples=["d6"])
    games: int
    wins: int
    draws: int
    losses: int
    score: float | None = Field(description="The mean margin of the mover, where the board told it")
    value: int | None = Field(description="The mover's margin by minimax over the games through this position")
    opening: OpeningName | None = Field(description="The name of the position after the move")


class Explored(BaseModel):
    """A position in the games of the archive."""

    games: int = Field(description="That came through it, or through one that is symmetric to it")
    value: int | None = Field(description="The best of the moves' values; null where too many games came through")
    opening: OpeningName | None
    branches: list[Branch] = Field(description="The most frequent first; of moves that are symmetric, one")


class Loss(Message):
    """How a side lost although the board had not decided."""

    loser: Literal[0, 1] = Field(description="0 is whoever moved first")
    reason: Literal["resigned", "time", "forfeit"]


class Played(Line):
    """A game and what is known of it."""

    players: tuple[Name | None, Name | None] = Field(
        default=(None, None), description="Whoever moved first, and the other"
    )
    begun: int | None = Field(default=None, ge=0, lt=LAST_MOMENT, description="When, in seconds since 1970")
    seconds: Annotated[list[Annotated[float, Field(ge=0, le=86400)] | None], Field(max_length=LONGEST_GAME)] = Field(
        default=[], description="The time of each move, null where it is unknown; or nothing"
    )
    result: Loss | None = Field(default=None, description="Left out if the board decided")

    def played(self) -> Record:
        """The game with all that is known of it: the same whenever and however often it is sent."""
        record = self.record()
        if self.result and record.final.over:
            raise AwelloError("the board has decided this game: leave the result out")
        if self.seconds and len(self.seconds) != len(record.moves):
            raise AwelloError(f"seconds: {len(self.seconds)} times for {len(record.moves)} moves")
        sides = zip(record.start.game.sides, self.players, strict=True)
        tags = {side: _name(player) for side, player in sides if player is not None}
        if self.begun is not None:
            moment = datetime.fromtimestamp(self.begun)
            tags |= {"Site": SITE, "Date": moment.date().isoformat(), "Time": moment.time().isoformat()}
        loser, reason = (self.result.loser, REASONS[self.result.reason]) if self.result else (None, "")
        return Record(record.start, record.moves, tuple(self.seconds), (), tags, loser, reason)


class Keep(Played):
    """A game that has been played to its end."""

    players: tuple[Name, Name] = Field(description="Whoever moved first, and the other", examples=[["Ann", "greedy"]])
    begun: int = Field(ge=0, lt=LAST_MOMENT, description="When, in seconds since 1970", examples=[1763251200])

    def finished(self) -> Record:
        """The record to keep."""
        record = self.played()
        if not record.moves:
            raise AwelloError("no move was played: there is nothing to keep")
        if not (record.final.over or self.result):
            raise AwelloError("this game is not over: play it to its end")
        return record


class Kept(BaseModel):
    """A game that is in the archive."""

    number: int


class Summary(BaseModel):
    """A game in a list; of two entries the first is that of whoever moved first."""

    number: int
    game: GameName
    players: tuple[str | None, str | None]
    score: tuple[int, int] | None = Field(description="Where the board decided")
    winner: Literal[0, 1] | None
    loser: Literal[0, 1] | None = Field(description="Who lost although the board had not decided")
    date: str | None = Field(examples=["1996-05-07"])
    event: str | None
    opening: OpeningName | None


class Found(BaseModel):
    """Games of the archive, the latest first."""

    games: int = Field(description="How many there are in all")
    rows: list[Summary]


class PlayedGame(BaseModel):
    """All that the page shows of a game."""

    number: int
    game: GameName
    start: str | None = Field(description="Where it is not the usual one")
    moves: list[str]
    seconds: list[float | None] = Field(description="The time of each move; or nothing")
    players: tuple[str | None, str | None]
    result: Loss | None
    tags: dict[str, str] = Field(description="What else is known of it")


class Sought(Message):
    """Which games are asked for; what is left out does not matter."""

    game: GameName | None = None
    player: Annotated[str, Field(max_length=60, description="A part of a name")] = ""
    opening: Annotated[str, Field(max_length=60, description="A part of its English or French name")] = ""
    year: Annotated[str, Field(max_length=9, examples=["1996", "1990-1999"])] = ""
    result: Annotated[Literal["", "first", "second", "draw", "open"], Field(description="Who won")] = ""
    through: Annotated[
        str, Field(max_length=100, description="A position of the game, which must be named, that it came through")
    ] = ""

    def wanted(self) -> Wanted:
        """The same for the archive."""
        game = None if self.game is None else Game[self.game.upper()]
        if self.through and game is None:
            raise AwelloError("through: say of which game this is a position")
        through = parse_position(self.through, game) if self.through and game is not None else None
        kinds = () if through or game is None else (game,)
        return Wanted(kinds, self.player, "", parse_years(self.year), self.opening, self.result, through)


class Asked(Sought):
    """Which games are asked for, and how many of them."""

    limit: Annotated[int, Field(ge=1, le=100)] = 20
    before: Annotated[int | None, Field(ge=1, le=LARGEST, description="Only games with smaller numbers")] = None


def archivist_of(request: Request) -> Archivist:
    """Who looks after the archive of this server."""
    archivist: Archivist = request.app.state.archivist
    return archivist


Keeping = Annotated[Archivist, Depends(archivist_of)]


# ---- questions ------------------------------------------------------------------------------------------------------
@router.post("/explore", summary="What was played in a position", response_model=Explored)
async def explore(request: Line, archivist: Keeping) -> Any:
    """How often each move was played in the last position, and how it went."""
    position = request.record().final
    return _explored(await archivist.ask(lambda archive: explore_archive(archive, position)))


@router.get("/games", summary="Find games of the archive", response_model=Found)
async def list_games(asked: Annotated[Asked, Query()], archivist: Keeping) -> Any:
    """Games by who played, when, what and how it ended, the latest first; `before` the last one asks for more."""
    wanted = asked.wanted()
    found, rows = await archivist.ask(lambda archive: archive.latest(wanted, asked.limit, asked.before))
    return {"games": found, "rows": [_summary(row) for row in rows]}


@router.get("/games/{number}", summary="A game of the archive", response_model=PlayedGame)
async def show_game(number: Annotated[int, Path(ge=1, le=LARGEST)], archivist: Keeping) -> Any:
    """Its players and moves, and how it ended."""

    def find(archive: Archive) -> Record:
        try:
            return archive.find(number)
        except ConfigError:
            raise Refusal(404, "absent", f"there is no game {number} in the archive") from None

    return {"number": number, **_game(await archivist.ask(find))}


@router.post("/games", summary="Keep a game", response_model=Kept)
async def keep_game(request: Keep, archivist: Keeping, client: Request) -> Any:
    """The number of a finished game in the archive; one that is there already is not kept twice."""
    record = request.finished()
    archivist.admit(network_of(address_of(client)))
    return {"number": await archivist.ask(lambda archive: archive.add(record))}


# ---- answers --------------------------------------------------------------------------------------------------------
def _name(text: str) -> str:
    """A player's name in one line."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split()) or NOBODY


def _explored(found: Exploration) -> dict[str, Any]:
    branches = [
        {
            "move": found.position.format_move(branch.move),
            "games": branch.games,
            "wins": branch.wins,
            "draws": branch.draws,
            "losses": branch.losses,
            "score": branch.score,
            "value": branch.value,
            "opening": names_of(branch.opening),
        }
        for branch in found.branches
    ]
    opening = names_of(opening_at(found.position))
    return {"games": found.games, "value": found.value, "opening": opening, "branches": branches}


def _summary(row: Any) -> dict[str, Any]:
    """A row of the archive as the list shows it."""
    decided = row.loser is None and row.score is not None
    return {
        "number": row.id,
        "game": str(Game(row.game)),
        "players": (row.first_name, row.second_name),
        "score": record_of(row).final.score() if decided else None,
        "winner": row.winner if row.winner in (0, 1) else None,
        "loser": row.loser,
        "date": row.date,
        "event": row.event_name,
        "opening": names_of(opening_called(row.opening)),
    }


def _game(record: Record) -> dict[str, Any]:
    """A record as the page opens it."""
    start, tags = record.start, dict(record.tags)
    players = [tags.pop(side, None) for side in start.game.sides]
    names = [position.format_move(move) for position, move in zip(record.positions(), record.moves, strict=False)]
    reasons = {text: reason for reason, text in REASONS.items()}
    lost = {"loser": record.loser, "reason": reasons.get(record.reason, "forfeit")}
    return {
        "game": str(start.game),
        "start": None if start == Position.start(start.game) else format_position(start),
        "moves": names,
        "seconds": record.seconds,
        "players": players,
        "result": None if record.loser is None else lost,
        "tags": tags,
    }
