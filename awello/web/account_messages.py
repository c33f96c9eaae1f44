"""What the API takes and gives about accounts, programs, the ladder and players."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from awello.web.messages import GameName, Message

MAX_LABEL_CHARS = 60
PRINTABLE = r"^[^\x00-\x1f\x7f]+$"  # PostgreSQL stores no zero characters, and a terminal would obey others
Name = Annotated[str, StringConstraints(min_length=1, max_length=40, pattern=PRINTABLE)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=400)]


class LoginRequest(Message):
    """Who somebody is."""

    name: Name
    password: Secret


class PasswordChange(Message):
    """A password to change."""

    old: Secret
    new: Secret


class BotRegistration(Message):
    """A program to register."""

    name: Name


class TokenRequest(Message):
    """A token to make."""

    label: Annotated[str, StringConstraints(min_length=1, max_length=MAX_LABEL_CHARS, pattern=PRINTABLE)]


class SessionJson(BaseModel):
    """Who is logged in."""

    name: str | None = Field(description="Null if nobody is")
    bot: bool = False


class TokenJson(BaseModel):
    """A token of a program, without its secret."""

    id: int
    label: str
    created: float


class RatingJson(BaseModel):
    """A rating, and the rated games it comes from."""

    rating: int
    established: bool = Field(description="False while too few games have been played")
    wins: int
    draws: int
    losses: int


class LeaderboardRowJson(RatingJson):
    """A place on the ladder."""

    name: str
    bot: bool


class PoolRatingJson(RatingJson):
    """What somebody is worth in one game at one speed."""

    variant: GameName
    speed: Literal["blitz", "standard"]


class ClubGameJson(BaseModel):
    """A game of the club in a list; of two entries the first is that of whoever moved first."""

    number: int
    variant: GameName
    players: tuple[str, str]
    side: Literal[0, 1] = Field(description="Of whoever was asked about")
    seconds: float = Field(description="On each clock at first")
    increment: float
    rated: bool
    started: float = Field(description="In seconds since 1970")
    over: bool
    winner: Literal[0, 1] | None
    score: tuple[int, int] | None = Field(description="Where the board decided")
    reason: str = Field(description="How it ended, where the board did not decide")
    rating_change: int | None = Field(description="By how much the rating changed, if the game counted")


class ProfileJson(BaseModel):
    """What everybody may know of somebody."""

    name: str
    bot: bool
    owner: str | None = Field(description="Whose program it is")
    online: bool = Field(description="Whether they are in the club now")
    ratings: list[PoolRatingJson]
    games_played: int = Field(description="That have ended, whether they counted or not")
    recent_games: list[ClubGameJson] = Field(description="The latest first; those that are being played too")
