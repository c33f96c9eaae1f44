"""What can be asked of the club over its channel: each message, and what it lets happen."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from pydantic import Field

from awello.club.hall import Hall
from awello.club.offers import Terms
from awello.club.seat import Guest
from awello.club.table import MOST_PLIES
from awello.limits import Clock
from awello.rules.game import Game
from awello.web.messages import GameName, Message, MoveName

Number = Annotated[int, Field(ge=1, lt=1 << 31)]
PlayerName = Annotated[str, Field(min_length=1, max_length=20)]


class Wish(Message):
    """A game that is wanted."""

    kind: GameName = "othello"
    seconds: float = Field(gt=0, le=1e6)
    increment: float = Field(default=0.0, ge=0, le=1e6)
    rated: bool = True
    side: Literal[0, 1] | None = Field(default=None, description="0 moves first; left out, chance decides")

    def terms(self) -> Terms:
        """The same for the hall."""
        return Terms(Game[self.kind.upper()], Clock(self.seconds, self.increment), self.rated, self.side)


class Seek(Wish):
    """Play anybody."""

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.lobby.seek(guest, self.terms())


class Challenge(Wish):
    """Play somebody."""

    name: PlayerName

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.lobby.challenge(guest, self.name, self.terms())


class Offer(Message):
    """An offer that is taken or not."""

    number: Number


class Accept(Offer):
    """Take it."""

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.lobby.accept(guest, self.number)


class Decline(Offer):
    """Decline it, or withdraw one's own."""

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.lobby.decline(guest, self.number)


class Move(Message):
    """A move; the ply tells it from one that was sent before."""

    game: Number
    ply: Annotated[int, Field(ge=0, le=MOST_PLIES)]
    move: MoveName

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.move(guest, self.game, self.ply, self.move)


class OfGame(Message):
    """Something about one game."""

    game: Number


class Draw(OfGame):
    """Offer a draw, or accept one, or decline it."""

    accept: bool = True

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.draw(guest, self.game, self.accept)


class Claim(OfGame):
    """Claim the win, or a draw, when the other player has left."""

    draw: bool = False

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.claim(guest, self.game, self.draw)


class Block(Message):
    """Block a player's challenges."""

    name: PlayerName

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.blocks.block(guest, self.name)


class Unblock(Message):
    """Take a player's challenges again."""

    name: PlayerName

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.blocks.unblock(guest, self.name)


def of_game(act: Callable[[Hall, Guest, int], Awaitable[Any]]) -> type[OfGame]:
    """A message that names a game and nothing else."""

    class Made(OfGame):
        async def act(self, hall: Hall, guest: Guest) -> Any:
            return await act(hall, guest, self.game)

    return Made


class Chat(Message):
    """Whether to be told what those say with whom one plays."""

    tell: bool = True

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.chat.turn(guest, self.tell)


class Say(OfGame):
    """Say something to the other player."""

    text: str

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.chat.say(guest, self.game, self.text)


class OfTournament(Message):
    """Something about one tournament."""

    tournament: Number | Annotated[str, Field(min_length=1, max_length=40)] = Field(description="Its number or name")


class Join(OfTournament):
    """Enter it before it begins."""

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.tournaments.join(guest, self.tournament)


class Withdraw(OfTournament):
    """Leave it before it begins."""

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.tournaments.withdraw(guest, self.tournament)


class Show(OfTournament):
    """Look at it."""

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.tournaments.show(self.tournament)


class Tournaments(Message):
    """Look which there are."""

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        return await hall.tournaments.list(guest)


class Lobby(Message):
    """Whether to be told what is new in the lobby."""

    tell: bool = True

    async def act(self, hall: Hall, guest: Guest) -> Any:
        """Let it happen."""
        guest.curious = self.tell
        return hall.lobby.view()


class Pong(Message):
    """The answer to a ping."""

    number: int


MESSAGES: dict[str, type[Any]] = {
    "seek": Seek,
    "challenge": Challenge,
    "accept": Accept,
    "decline": Decline,
    "move": Move,
    "draw": Draw,
    "claim": Claim,
    "block": Block,
    "unblock": Unblock,
    "resign": of_game(Hall.resign),
    "abort": of_game(Hall.abort),
    "rematch": of_game(Hall.rematch),
    "watch": of_game(Hall.watch),
    "unwatch": of_game(Hall.unwatch),
    "chat": Chat,
    "say": Say,
    "join": Join,
    "withdraw": Withdraw,
    "tournament": Show,
    "tournaments": Tournaments,
    "lobby": Lobby,
    "pong": Pong,
}
