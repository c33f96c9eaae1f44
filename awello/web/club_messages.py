"""The types of requests to the club server, with their fields and handlers."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from awello.club.game_state import MAX_PLIES
from awello.club.live_game import ClientConnection
from awello.club.offers import GameTerms
from awello.club.server import ClubServer
from awello.limits import Clock
from awello.rules.game import Game
from awello.web.messages import GameName, MoveName, RequestModel

Number = Annotated[int, Field(ge=1, lt=1 << 31)]
AccountName = Annotated[str, Field(min_length=1, max_length=20)]
Handler = Callable[[ClubServer, ClientConnection, Any], Awaitable[Any]]


class SeekRequest(RequestModel):
    """A seek: an offer of a game to any player."""

    variant: GameName = "othello"
    seconds: float = Field(gt=0, le=1e6)
    increment: float = Field(default=0.0, ge=0, le=1e6)
    rated: bool = True
    side: Literal[0, 1] | None = Field(
        default=None, description="The side of the client; 0 moves first; default: random"
    )

    def to_terms(self) -> GameTerms:
        """Return the terms of the game for the club server."""
        return GameTerms(Game[self.variant.upper()], Clock(self.seconds, self.increment), self.rated, self.side)


class ChallengeRequest(SeekRequest):
    """A challenge: an offer of a game to one player."""

    name: AccountName


class OfferRequest(RequestModel):
    """A request about a seek or challenge."""

    number: Number


class GameRequest(RequestModel):
    """A request about a game."""

    game: Number


class MoveRequest(GameRequest):
    """A move; the ply lets the server recognise a move that was sent twice."""

    ply: Annotated[int, Field(ge=0, le=MAX_PLIES)]
    move: MoveName


class DrawRequest(GameRequest):
    """Offer or accept a draw; if `accept` is false, decline or withdraw a draw offer."""

    accept: bool = True


class ClaimRequest(GameRequest):
    """Claim a win, or a draw if `draw` is true, when the opponent has disconnected."""

    draw: bool = False


class ChatRequest(GameRequest):
    """A chat message to the other player."""

    text: str


class PlayerRequest(RequestModel):
    """A request about a player."""

    name: AccountName


class TournamentRequest(RequestModel):
    """A request about a tournament."""

    tournament: Number | Annotated[str, Field(min_length=1, max_length=40)] = Field(
        description="The number or name of the tournament"
    )


class SetChatRequest(RequestModel):
    """Turn chat on or off for this connection."""

    enabled: bool = True


class SubscribeRequest(RequestModel):
    """Subscribe to changes to the lobby, or unsubscribe."""

    subscribe: bool = True


class Pong(RequestModel):
    """The response to a ping."""

    number: int


async def _lobby(server: ClubServer, client: ClientConnection, request: SubscribeRequest) -> Any:
    client.lobby_updates = request.subscribe
    return server.lobby.to_json()


REQUESTS: dict[str, tuple[type[RequestModel], Handler]] = {
    "seek": (SeekRequest, lambda server, client, request: server.lobby.seek(client, request.to_terms())),
    "challenge": (
        ChallengeRequest,
        lambda server, client, request: server.lobby.challenge(client, request.name, request.to_terms()),
    ),
    "accept": (OfferRequest, lambda server, client, request: server.lobby.accept(client, request.number)),
    "decline": (OfferRequest, lambda server, client, request: server.lobby.decline(client, request.number)),
    "move": (MoveRequest, lambda server, client, request: server.move(client, request.game, request.ply, request.move)),
    "draw": (DrawRequest, lambda server, client, request: server.draw(client, request.game, request.accept)),
    "claim": (ClaimRequest, lambda server, client, request: server.claim(client, request.game, request.draw)),
    "block": (PlayerRequest, lambda server, client, request: server.blocks.block(client, request.name)),
    "unblock": (PlayerRequest, lambda server, client, request: server.blocks.unblock(client, request.name)),
    "resign": (GameRequest, lambda server, client, request: server.resign(client, request.game)),
    "abort": (GameRequest, lambda server, client, request: server.abort(client, request.game)),
    "rematch": (GameRequest, lambda server, client, request: server.rematch(client, request.game)),
    "watch": (GameRequest, lambda server, client, request: server.watch(client, request.game)),
    "unwatch": (GameRequest, lambda server, client, request: server.unwatch(client, request.game)),
    "set_chat": (SetChatRequest, lambda server, client, request: server.chat.set_enabled(client, request.enabled)),
    "chat": (ChatRequest, lambda server, client, request: server.chat.send(client, request.game, request.text)),
    "enter": (TournamentRequest, lambda server, client, request: server.tournaments.enter(client, request.tournament)),
    "withdraw": (
        TournamentRequest,
        lambda server, client, request: server.tournaments.withdraw(client, request.tournament),
    ),
    "tournament": (TournamentRequest, lambda server, client, request: server.tournaments.show(request.tournament)),
    "tournaments": (RequestModel, lambda server, client, request: server.tournaments.list(client)),
    "lobby": (SubscribeRequest, _lobby),
}
