"""The club's tournaments in the API: which there are, and how they stand; everybody may see them."""

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from awello.club.tournament_store import find_tournament, load_tournaments
from awello.web.club_service import RequiredClub
from awello.web.messages import GameName

router = APIRouter(prefix="/api/club", tags=["club"])


class TimeControlJson(BaseModel):
    """The time of a player for a game."""

    seconds: float
    increment: float


class TournamentJson(BaseModel):
    """A tournament in short."""

    tournament: int = Field(description="Its number")
    name: str
    system: Literal["swiss", "round-robin", "double-round-robin"]
    variant: GameName
    control: TimeControlJson
    rated: bool
    rounds: int = Field(description="0 for a round robin that has not begun")
    starts: float = Field(description="Seconds since 1970")
    grace: float = Field(description="Seconds in which players must come to a round")
    state: Literal["open", "playing", "ended", "cancelled"]
    round: int = Field(description="The round that is played; 0 before the first")
    entrants: int


class ClubStandingJson(BaseModel):
    """Where somebody stands."""

    rank: int
    name: str
    bot: bool
    points: float
    buchholz: float = Field(description="The points of all opponents")
    berger: float = Field(description="The points of those beaten, and half of those drawn with")
    wins: int


class PairingJson(BaseModel):
    """Who plays whom."""

    round: int
    board: int
    first: str
    second: str | None = Field(description="Null for a bye")
    game: int | None = Field(description="Null until both are here")
    points: list[float] | None = Field(description="Null until it is decided")
    forfeit: bool = Field(description="Whether somebody did not come")


class TournamentDetailsJson(TournamentJson):
    """All of a tournament."""

    standings: list[ClubStandingJson]
    pairings: list[PairingJson]


@router.get("/tournaments", summary="Tournaments", response_model=list[TournamentJson])
async def list_tournaments(club: RequiredClub, limit: Annotated[int, Query(ge=1, le=100)] = 50) -> Any:
    """The last ones, the oldest first."""
    return [tournament.to_json() for tournament in await club.read(partial(load_tournaments, last=limit))]


@router.get("/tournaments/{number}", summary="A tournament", response_model=TournamentDetailsJson)
async def show_tournament(number: Annotated[int, Path(ge=1, lt=1 << 31)], club: RequiredClub) -> Any:
    """Its standings and pairings."""
    return (await club.read(partial(find_tournament, key=number))).details_json()
