"""Live games, with their players, ratings and spectators, and the connections of clients."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

from sqlalchemy import Connection, select

from awello.club.accounts import Account, row_to_account
from awello.club.fair_play import MAX_DAILY_RATED_GAMES_PER_PAIR, REPEATED_PAIRING, count_recent_rated_games
from awello.club.game_state import ClubError, GameState, create_game_state
from awello.club.offers import GameTerms, Message
from awello.club.rating import Rating, pool_of
from awello.club.schema import accounts as account_table
from awello.club.schema import games
from awello.club.stored_games import add_game, load_rating, load_rating_changes, row_to_game_state
from awello.position import format_position
from awello.rules.game import PASS

ExtraWrite = Callable[[Connection, GameState], None]


@dataclass(eq=False)
class ClientConnection:
    """A client connection.  Without an account, the client can only watch; an account can have several connections."""

    account: Account | None
    send: Callable[[Message], None]
    lag: float = 0.0
    """The measured network round-trip time in seconds."""
    client_network: str | None = None
    """The client's IPv4 address or IPv6 /64 network; None if the client runs on the server's machine."""
    received_at: float | None = None
    """When the current message arrived, by `time.monotonic`; None if unknown."""
    lobby_updates: bool = False
    """Whether the client has subscribed to changes to the lobby."""
    chat_enabled: bool = False
    """Whether the client has turned chat on."""
    watching: set[int] = field(default_factory=set)
    """The numbers of the games that the client is watching."""

    def require_account(self) -> Account:
        """Return the account of the connection; raise `ClubError` if it has none."""
        if self.account is None:
            raise ClubError("not_logged_in", "this connection has no account and can only watch: log in first")
        return self.account


class EncodedMessage(dict[str, Any]):
    """A message to many clients, which is encoded as JSON only once."""

    @cached_property
    def text(self) -> str:
        """The message as JSON."""
        return json.dumps(self)


@dataclass
class LiveGame:
    """A game in memory: its state, players and spectators."""

    state: GameState
    accounts: tuple[Account, Account]
    ratings: tuple[Rating, Rating]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    spectators: set[ClientConnection] = field(default_factory=set)
    rematch_side: int | None = None
    """The side that has offered a rematch."""
    ratings_after: tuple[float, float] | None = None
    """Both players' ratings after the game; None unless the game has ended and changed them."""
    unrated_reason: str | None = None
    """Why a game that was requested as rated is not rated; see `fair_play`."""
    reconnects: Counter[int] = field(default_factory=Counter)
    """How often each account has reconnected during the game."""

    @property
    def move_names(self) -> list[str]:
        """The moves as text, including passes."""
        name = self.state.game.adapter.format_move
        return ["pass" if move == PASS else name(move, ply % 2) for ply, move in enumerate(self.state.moves)]

    def opponent(self, account: int) -> Account:
        """Return the opponent of an account; raise `ClubError` if the account is not a player of this game."""
        return self.accounts[1 - self.state.side_of(account)]

    def to_json(self, now: float) -> Message:
        """Return the complete state in the form that clients receive."""
        state = self.state
        after = [None, None] if self.ratings_after is None else [round(rating) for rating in self.ratings_after]
        players = [
            {"name": person.name, "bot": person.bot, **rating.to_json(), "rating_after": then}
            for person, rating, then in zip(self.accounts, self.ratings, after, strict=True)
        ]
        position = state.position
        legal = [] if state.over else [position.format_move(move) for move in position.legal_moves()]
        return {
            "game": state.number,
            "tournament": state.tournament,
            **GameTerms(state.game, state.control, state.rated).to_json(),
            "unrated_reason": self.unrated_reason,
            "players": players,
            "ply": len(state.moves),
            "moves": self.move_names,
            "seconds": [round(spent, 1) for spent in state.seconds] if state.over else None,
            "position": format_position(position),
            "mover": None if state.over else state.mover,
            "legal": legal,
            "clocks": [round(left, 3) for left in state.clocks_at(now)],
            "first_move_seconds": round(state.turn_started + state.time_to_move - now, 3)
            if state.awaits_first_move
            else None,
            "draw_offer": state.draw_offer,
            "over": state.over,
            "winner": state.winner if state.over else None,
            "score": position.score() if position.over else None,
            "reason": state.reason,
        }


def create_game(
    connection: Connection,
    accounts: tuple[Account, Account],
    terms: GameTerms,
    now: Callable[[], float],
    extra_write: ExtraWrite | None = None,
    unrated_reason: str | None = None,
) -> LiveGame:
    """Create and store a game; `extra_write` runs in the same transaction."""
    players = accounts[0].id, accounts[1].id
    if terms.rated and not unrated_reason and terms.tournament is None:
        repeated = count_recent_rated_games(connection, players, now()) >= MAX_DAILY_RATED_GAMES_PER_PAIR
        unrated_reason = REPEATED_PAIRING if repeated else None
    make = partial(
        create_game_state, game=terms.game, players=players, control=terms.control, tournament=terms.tournament
    )
    state = add_game(connection, partial(make, rated=terms.rated and not unrated_reason, now=now()))
    if extra_write:
        extra_write(connection, state)
    live_game = add_players(connection, state)
    live_game.unrated_reason = unrated_reason
    return live_game


def load_game(connection: Connection, number: int) -> LiveGame:
    """Load a stored game; raise `ClubError` if it does not exist."""
    row = connection.execute(select(games).where(games.c.id == number)).first()
    if row is None:
        raise ClubError("unknown_game", f"there is no game {number}: check the number", game=number)
    return add_players(connection, row_to_game_state(row))


def add_players(connection: Connection, state: GameState) -> LiveGame:
    """Create a live game from a game state and the stored accounts and ratings of its players."""
    rows = connection.execute(select(account_table).where(account_table.c.id.in_(state.players)))
    by_number = {row.id: row_to_account(row) for row in rows}
    accounts = by_number[state.players[0]], by_number[state.players[1]]
    pool = pool_of(state.game, state.control)
    first, second = (load_rating(connection, number, pool) for number in state.players)
    if state.over and (changed := load_rating_changes(connection, state.number)):
        before = Rating(changed[0][0], first.deviation), Rating(changed[1][0], second.deviation)
        return LiveGame(state, accounts, before, ratings_after=(changed[0][1], changed[1][1]))
    return LiveGame(state, accounts, (first, second))
