"""A table in the hall: the game, those who play it, and those who are told of it."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from sqlalchemy import Connection, select

from awello.club.accounts import Account, account_of
from awello.club.fair_play import MOST_RATED_PER_PAIR, REPEATS, rated_today
from awello.club.game_state import ClubError, GameState, new_game_state
from awello.club.offers import GameTerms, Message
from awello.club.rating import Rating, pool_of
from awello.club.schema import accounts, games
from awello.club.stored_games import add_game, changed_by, game_state_of, rating_of
from awello.position import format_position
from awello.rules.game import PASS

Also = Callable[[Connection, GameState], None]


@dataclass(eq=False)
class ClientConnection:
    """Somebody who is connected; one account can be connected several times, and who only watches has none."""

    account: Account | None
    send: Callable[[Message], None]
    lag: float = 0.0
    """The seconds that the network takes there and back, as measured."""
    network: str | None = None
    """The network of the connection; None on the server's own machine, where many may play."""
    received: float | None = None
    """When the message that is being handled arrived, by `time.monotonic`; None if that is not known."""
    curious: bool = False
    """Whether they are told what is new in the lobby."""
    chats: bool = False
    """Whether they want to hear what those say with whom they play."""
    watching: set[int] = field(default_factory=set)
    """The numbers of the games they watch."""

    @property
    def member(self) -> Account:
        """Whose connection it is; refused for who only watches."""
        if self.account is None:
            raise ClubError("account", "you only watch: log in first")
        return self.account


class EncodedMessage(dict[str, Any]):
    """A message to many, which is written once."""

    @cached_property
    def text(self) -> str:
        """As it goes out."""
        return json.dumps(self)


@dataclass
class LiveGame:
    """A table in the hall: the game, its players as they came, and those who are told of it."""

    table: GameState
    people: tuple[Account, Account]
    ratings: tuple[Rating, Rating]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    watchers: set[ClientConnection] = field(default_factory=set)
    rematch: int | None = None
    """The side that wants to play again."""
    after: tuple[float, float] | None = None
    """What both are worth after the game, if it has ended and counts."""
    unrated: str | None = None
    """Why a game that was to be rated is not; see `fair_play`."""
    returns: Counter[int] = field(default_factory=Counter)
    """How often each account has come back to the game."""

    @property
    def names(self) -> list[str]:
        """The moves as they are written."""
        name = self.table.game.adapter.format_move
        return ["pass" if move == PASS else name(move, ply % 2) for ply, move in enumerate(self.table.moves)]

    def opponent(self, account: int) -> Account:
        """Whom an account plays; refused if it does not play here."""
        return self.people[1 - self.table.side_of(account)]

    def view(self, now: float) -> Message:
        """The whole game, for those who are told."""
        table = self.table
        after = [None, None] if self.after is None else [round(rating) for rating in self.after]
        players = [
            {"name": person.name, "program": person.program, **rating.view(), "after": then}
            for person, rating, then in zip(self.people, self.ratings, after, strict=True)
        ]
        position = table.position
        legal = [] if table.over else [position.format_move(move) for move in position.legal_moves()]
        return {
            "game": table.number,
            "tournament": table.tournament,
            **GameTerms(table.game, table.control, table.rated).view(),
            "unrated": self.unrated,
            "players": players,
            "ply": len(table.moves),
            "moves": self.names,
            "seconds": [round(spent, 1) for spent in table.seconds] if table.over else None,
            "position": format_position(position),
            "mover": None if table.over else table.mover,
            "legal": legal,
            "clocks": [round(left, 3) for left in table.left(now)],
            "first_move": round(table.since + table.time_to_move - now, 3) if table.awaits_first_move else None,
            "offer": table.offer,
            "over": table.over,
            "winner": table.winner if table.over else None,
            "score": position.score() if position.over else None,
            "reason": table.reason,
        }


def create_game(
    connection: Connection,
    people: tuple[Account, Account],
    terms: GameTerms,
    now: Callable[[], float],
    also: Also | None = None,
    unrated: str | None = None,
) -> LiveGame:
    """Write a new game, and `also` what belongs to it; `unrated` says why it does not count though it was to."""
    players = people[0].number, people[1].number
    if terms.rated and not unrated and terms.tournament is None:
        repeated = rated_today(connection, players, now()) >= MOST_RATED_PER_PAIR
        unrated = REPEATS if repeated else None
    make = partial(new_game_state, game=terms.game, players=players, control=terms.control, tournament=terms.tournament)
    table = add_game(connection, partial(make, rated=terms.rated and not unrated, now=now()))
    if also:
        also(connection, table)
    seat = sit_down(connection, table)
    seat.unrated = unrated
    return seat


def load_game(connection: Connection, number: int) -> LiveGame:
    """The stored game of a number; refused if there is no such game."""
    row = connection.execute(select(games).where(games.c.id == number)).first()
    if row is None:
        raise ClubError("absent", f"there is no game {number}")
    return sit_down(connection, game_state_of(row))


def sit_down(connection: Connection, table: GameState) -> LiveGame:
    """A game as the hall has it: who plays, and what they are worth."""
    rows = connection.execute(select(accounts).where(accounts.c.id.in_(table.players)))
    found = {row.id: account_of(row) for row in rows}
    people = found[table.players[0]], found[table.players[1]]
    pool = pool_of(table.game, table.control)
    first, second = (rating_of(connection, number, pool) for number in table.players)
    if table.over and (changed := changed_by(connection, table.number)):
        before = Rating(changed[0][0], first.doubt), Rating(changed[1][0], second.doubt)
        return LiveGame(table, people, before, after=(changed[0][1], changed[1][1]))
    return LiveGame(table, people, (first, second))
