"""The HTTP API of the club's tournaments, which are public."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from awello.club.tournament_store import find_tournament, load_tournaments
from awello.web.club_service import RequiredClub
from awello.web.messages import GameName

router = APIRouter(prefix="/api/club", tags=["club"])


class TimeControlJson(BaseModel):
    """A time control."""

    seconds: float
    increment: float


class TournamentJson(BaseModel):
    """A summary of a tournament."""

    tournament: int = Field(description="The number of the tournament")
    name: str
    system: Literal["swiss", "round-robin", "double-round-robin"]
    variant: GameName
    control: TimeControlJson
    rated: bool
    rounds: int = Field(description="The number of rounds; 0 for a round robin before its start")
    starts: float = Field(description="Seconds since 1970")
    grace: float = Field(description="Seconds from the start of a round until an absent player forfeits")
    state: Literal["open", "playing", "ended", "cancelled"]
    round: int = Field(description="The current round; 0 before the first")
    entrants: int


class ClubStandingJson(BaseModel):
    """A row of the standings."""

    rank: int
    name: str
    bot: bool
    points: float
    buchholz: float = Field(description="The sum of the opponents' points")
    sonneborn_berger: float = Field(
        description="The points of defeated opponents, plus half the points of opponents with whom the player drew"
    )
    wins: int


class PairingJson(BaseModel):
    """Two players who meet in a round, or one player with a bye."""

    round: int
    board: int
    first: str
    second: str | None = Field(description="Null for a bye")
    game: int | None = Field(description="The number of the game; null until it starts, when both players are online")
    points: list[float] | None = Field(description="The points of both players; null until the pairing is decided")
    forfeit: bool = Field(description="Whether the pairing was decided because a player was absent")


class TournamentDetailsJson(TournamentJson):
    """A tournament with standings and pairings."""

    standings: list[ClubStandingJson]
    pairings: list[PairingJson]


@router.get("/tournaments", summary="List tournaments", response_model=list[TournamentJson])
async def list_tournaments(club: RequiredClub, last: Annotated[int, Query(ge=1, le=100)] = 50) -> Any:
    """List the latest tournaments, oldest first."""
    return [tournament.to_json() for tournament in await club.read(partial(load_tournaments, last=last))]


@router.get("/tournaments/{number}", summary="Show a tournament", response_model=TournamentDetailsJson)
async def show_tournament(number: Annotated[int, Path(ge=1, lt=1 << 31)], club: RequiredClub) -> Any:
    """Show a tournament with its standings and pairings."""
    return (await club.read(partial(find_tournament, key=number))).details_json()
