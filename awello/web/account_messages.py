"""Requests and responses of the club's HTTP API for accounts, bots, the leaderboard and players."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field, StringConstraints

from awello.web.messages import GameName, RequestModel

MAX_LABEL_CHARS = 60
PRINTABLE = r"^[^\x00-\x1f\x7f]+$"  # PostgreSQL cannot store NUL, and terminals interpret other control characters
Name = Annotated[str, StringConstraints(min_length=1, max_length=40, pattern=PRINTABLE)]
Secret = Annotated[str, StringConstraints(min_length=1, max_length=400)]


class LoginRequest(RequestModel):
    """The name and the password of a user account."""

    name: Name
    password: Secret


class PasswordRequest(RequestModel):
    """The current and the new password."""

    old: Secret
    new: Secret


class BotRequest(RequestModel):
    """The name of a bot to create."""

    name: Name


class TokenRequest(RequestModel):
    """The label of a token to create."""

    label: Annotated[str, StringConstraints(min_length=1, max_length=MAX_LABEL_CHARS, pattern=PRINTABLE)]


class SessionJson(BaseModel):
    """The logged-in account."""

    name: str | None = Field(description="Null if not logged in")
    bot: bool = False


class TokenJson(BaseModel):
    """A token of a bot, without its secret."""

    id: int
    label: str
    created: float


class RatingJson(BaseModel):
    """A rating, with the numbers of games won, drawn and lost."""

    rating: int
    established: bool = Field(description="False while the rating is provisional")
    wins: int
    draws: int
    losses: int


class LeaderboardRowJson(RatingJson):
    """A row of the leaderboard."""

    name: str
    bot: bool


class PoolRatingJson(RatingJson):
    """The rating of an account in one rating pool."""

    variant: GameName
    speed: Literal["blitz", "standard"]


class ClubGameJson(BaseModel):
    """A game in a player's profile; `players` and `score` start with the side that moved first."""

    number: int
    variant: GameName
    players: tuple[str, str]
    side: Literal[0, 1] = Field(description="The side that the player of the profile had in this game")
    seconds: float = Field(description="Each player's initial clock time, in seconds")
    increment: float
    rated: bool
    started: float = Field(description="Seconds since 1970")
    over: bool
    winner: Literal[0, 1] | None
    score: tuple[int, int] | None = Field(description="Null unless the game was played to the end")
    reason: str = Field(description="Why the game ended, such as `resigned`; empty if it was played to the end")
    rating_change: int | None = Field(description="Null if the game did not change ratings")


class ProfileJson(BaseModel):
    """The public profile of an account."""

    name: str
    bot: bool
    owner: str | None = Field(description="The owner if the account is a bot, else null")
    online: bool = Field(description="Whether the player is connected")
    ratings: list[PoolRatingJson]
    games_played: int = Field(description="The number of finished games, rated and unrated")
    recent_games: list[ClubGameJson] = Field(description="Latest first, including games in progress")
