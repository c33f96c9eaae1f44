"""The requests of the club's connections: the fields of each type, and what carries it out."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from awello.club.game_state import MOST_PLIES
from awello.club.live_game import ClientConnection
from awello.club.offers import GameTerms
from awello.club.server import ClubServer
from awello.limits import Clock
from awello.rules.game import Game
from awello.web.messages import GameName, Message, MoveName

Number = Annotated[int, Field(ge=1, lt=1 << 31)]
PlayerName = Annotated[str, Field(min_length=1, max_length=20)]
Action = Callable[[ClubServer, ClientConnection, Any], Awaitable[Any]]


class SeekRequest(Message):
    """A game against any player."""

    kind: GameName = "othello"
    seconds: float = Field(gt=0, le=1e6)
    increment: float = Field(default=0.0, ge=0, le=1e6)
    rated: bool = True
    side: Literal[0, 1] | None = Field(default=None, description="0 moves first; drawn by lot if left out")

    def terms(self) -> GameTerms:
        """The same for the hall."""
        return GameTerms(Game[self.kind.upper()], Clock(self.seconds, self.increment), self.rated, self.side)


class ChallengeRequest(SeekRequest):
    """A game against one player."""

    name: PlayerName


class OfferRequest(Message):
    """A request about an offer."""

    number: Number


class GameRequest(Message):
    """A request about a game."""

    game: Number


class MoveRequest(GameRequest):
    """A move; the ply tells it from one that was sent before."""

    ply: Annotated[int, Field(ge=0, le=MOST_PLIES)]
    move: MoveName


class DrawRequest(GameRequest):
    """Offer, accept or decline a draw."""

    accept: bool = True


class ClaimRequest(GameRequest):
    """Claim the win, or a draw, when the other player has left."""

    draw: bool = False


class ChatRequest(GameRequest):
    """A chat message to the other player."""

    text: str


class PlayerRequest(Message):
    """A request about a player."""

    name: PlayerName


class TournamentRequest(Message):
    """A request about a tournament."""

    tournament: Number | Annotated[str, Field(min_length=1, max_length=40)] = Field(description="Its number or name")


class SubscribeRequest(Message):
    """Whether to be sent a kind of events."""

    tell: bool = True


class Pong(Message):
    """The answer to a ping."""

    number: int


async def _lobby(hall: ClubServer, guest: ClientConnection, ask: SubscribeRequest) -> Any:
    guest.curious = ask.tell
    return hall.lobby.view()


REQUESTS: dict[str, tuple[type[Message], Action]] = {
    "seek": (SeekRequest, lambda hall, guest, ask: hall.lobby.seek(guest, ask.terms())),
    "challenge": (ChallengeRequest, lambda hall, guest, ask: hall.lobby.challenge(guest, ask.name, ask.terms())),
    "accept": (OfferRequest, lambda hall, guest, ask: hall.lobby.accept(guest, ask.number)),
    "decline": (OfferRequest, lambda hall, guest, ask: hall.lobby.decline(guest, ask.number)),
    "move": (MoveRequest, lambda hall, guest, ask: hall.move(guest, ask.game, ask.ply, ask.move)),
    "draw": (DrawRequest, lambda hall, guest, ask: hall.draw(guest, ask.game, ask.accept)),
    "claim": (ClaimRequest, lambda hall, guest, ask: hall.claim(guest, ask.game, ask.draw)),
    "block": (PlayerRequest, lambda hall, guest, ask: hall.blocks.block(guest, ask.name)),
    "unblock": (PlayerRequest, lambda hall, guest, ask: hall.blocks.unblock(guest, ask.name)),
    "resign": (GameRequest, lambda hall, guest, ask: hall.resign(guest, ask.game)),
    "abort": (GameRequest, lambda hall, guest, ask: hall.abort(guest, ask.game)),
    "rematch": (GameRequest, lambda hall, guest, ask: hall.rematch(guest, ask.game)),
    "watch": (GameRequest, lambda hall, guest, ask: hall.watch(guest, ask.game)),
    "unwatch": (GameRequest, lambda hall, guest, ask: hall.unwatch(guest, ask.game)),
    "chat": (SubscribeRequest, lambda hall, guest, ask: hall.chat.turn(guest, ask.tell)),
    "say": (ChatRequest, lambda hall, guest, ask: hall.chat.say(guest, ask.game, ask.text)),
    "join": (TournamentRequest, lambda hall, guest, ask: hall.tournaments.join(guest, ask.tournament)),
    "withdraw": (TournamentRequest, lambda hall, guest, ask: hall.tournaments.withdraw(guest, ask.tournament)),
    "tournament": (TournamentRequest, lambda hall, guest, ask: hall.tournaments.show(ask.tournament)),
    "tournaments": (Message, lambda hall, guest, ask: hall.tournaments.list(guest)),
    "lobby": (SubscribeRequest, _lobby),
}
