"""A table in the hall: the game, those who play it, and those who are told of it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from awello.club.accounts import Account
from awello.club.offers import Message, Terms
from awello.club.rating import Rating
from awello.club.table import Table
from awello.position import Position, format_position
from awello.record import Record


@dataclass(eq=False)
class Guest:
    """Somebody who is connected; one account can be connected several times, and who only watches has none."""

    account: Account | None
    send: Callable[[Message], None]
    lag: float = 0.0
    """The seconds that the network takes there and back, as measured."""
    curious: bool = False
    """Whether they are told what is new in the lobby."""


@dataclass
class Seat:
    """A table in the hall: the game, its players as they came, and those who are told of it."""

    table: Table
    people: tuple[Account, Account]
    ratings: tuple[Rating, Rating]
    names: list[str] = field(default_factory=list)
    """The moves as they are written."""
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    watchers: set[Guest] = field(default_factory=set)
    rematch: int | None = None
    """The side that wants to play again."""

    def __post_init__(self) -> None:
        self.follow(self.table)

    def follow(self, table: Table) -> None:
        """Take the game as it is now."""
        if len(table.moves) > len(self.names):
            record = Record(Position.start(table.game), table.moves)
            pairs = list(zip(record.positions(), table.moves, strict=False))
            self.names += [position.format_move(move) for position, move in pairs[len(self.names) :]]
        self.table = table

    def view(self, now: float) -> Message:
        """The whole game, for those who are told."""
        table = self.table
        players = [
            {
                "name": person.name,
                "program": person.program,
                "rating": round(rating.mean),
                "sure": not rating.provisional,
            }
            for person, rating in zip(self.people, self.ratings, strict=True)
        ]
        position = table.position
        legal = [] if table.over else [position.format_move(move) for move in position.legal_moves()]
        terms = Terms(table.game, table.control, table.rated).view()
        del terms["side"]
        return {
            "game": table.number,
            **terms,
            "players": players,
            "ply": len(table.moves),
            "moves": self.names,
            "position": format_position(position),
            "mover": None if table.over else table.mover,
            "legal": legal,
            "clocks": [round(left, 3) for left in table.left(now)],
            "offer": table.offer,
            "over": table.over,
            "winner": table.winner if table.over else None,
            "score": position.score() if position.over else None,
            "reason": table.reason,
        }
