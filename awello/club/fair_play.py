"""Fair play: which games are rated, and the penalty for leaving rated games early.

Ratings should measure playing strength, so games that give little information about it are not rated: games that end
after a few moves, games between accounts of one person or one client network, and games of two players who have already
played many rated games against each other within a day.
"""

import math
from collections import OrderedDict, deque
from typing import TYPE_CHECKING

from sqlalchemy import Connection, and_, func, or_, select

from awello.club.accounts import Account
from awello.club.game_state import ABORTED, ClubError, GameState
from awello.club.offers import GameTerms
from awello.club.schema import games
from awello.rules.game import Game

if TYPE_CHECKING:
    from awello.club.server import ClubServer

MIN_RATED_PLIES = 10  # a shorter game that is not played to the end is not rated
MIN_RATED_PLIES_4X4 = 4  # the same for Othello 4x4, where a complete game has about twelve plies
DAY_SECONDS, HOUR_SECONDS = 86400.0, 3600.0
MAX_DAILY_RATED_GAMES_PER_PAIR = 10
MAX_FREE_EXITS_PER_HOUR = 3  # rated games that an account can leave early without a suspension
SUSPENSION_SECONDS_PER_EXIT = 300.0  # added to a suspension for each early exit above the limit
MAX_SUSPENSION_SECONDS = 1800.0
MAX_TRACKED_ACCOUNTS = 10_000  # accounts whose early exits are kept in memory

# Why a game that was requested as rated is not rated.
SAME_OWNER, SAME_NETWORK, REPEATED_PAIRING = "same_owner", "same_network", "repeated_pairing"


# ---- rated games -----------------------------------------------------------------------------------------------------
def affects_ratings(state: GameState) -> bool:
    """Return whether the result of a game changes ratings."""
    if not state.over or not state.rated or state.reason == ABORTED:
        return False
    fewest = MIN_RATED_PLIES_4X4 if state.game == Game.OTHELLO4 else MIN_RATED_PLIES
    return not state.reason or len(state.moves) >= fewest


def is_same_person(one: Account, other: Account) -> bool:
    """Return whether two accounts belong to one person, as bots of one owner or as a bot and its owner."""
    return (one.owner or one.id) == (other.owner or other.id)


def count_recent_rated_games(connection: Connection, pair: tuple[int, int], now: float) -> int:
    """Count the rated games between two accounts, started within the last 24 hours and not aborted."""
    one, other = pair
    both = or_(and_(games.c.first == one, games.c.second == other), and_(games.c.first == other, games.c.second == one))
    recent = games.c.started > now - DAY_SECONDS, games.c.rated, games.c.reason != ABORTED
    return int(connection.execute(select(func.count()).select_from(games).where(both, *recent)).scalar_one())


# ---- early exits -----------------------------------------------------------------------------------------------------
def find_early_leaver(state: GameState) -> int | None:
    """Return the side that left a rated game early, or None.

    Tournament games are excluded, since leaving one already costs a point.
    """
    if not state.over or not state.rated or state.tournament is not None or not state.reason or affects_ratings(state):
        return None
    return state.aborted_by if state.reason == ABORTED else state.loser


class FairPlayMonitor:
    """Counts the recent early exits of each account; the counts are kept only in memory, so a restart clears them."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self.early_exits: OrderedDict[int, deque[float]] = OrderedDict()  # times, by account

    def check_terms(self, account: Account, terms: GameTerms) -> None:
        """Raise `ClubError` if the game is to be rated and the account is suspended from rated games."""
        _, minutes = self.count_recent_exits(account.id)
        if terms.rated and minutes:
            message = (
                f"{account.name} left more than {MAX_FREE_EXITS_PER_HOUR} rated games early within an hour: "
                f"rated games will be possible again in {minutes} min; unrated games are possible now"
            )
            raise ClubError(
                "rated_games_suspended", message, name=account.name, limit=MAX_FREE_EXITS_PER_HOUR, minutes=minutes
            )

    def count_recent_exits(self, account: int) -> tuple[int, int]:
        """Return the number of early exits in the last hour, and the minutes until rated games are possible again."""
        now = self.server.now()
        recent = [time for time in self.early_exits.get(account, ()) if time > now - HOUR_SECONDS]
        beyond = len(recent) - MAX_FREE_EXITS_PER_HOUR
        until = recent[-1] + min(beyond * SUSPENSION_SECONDS_PER_EXIT, MAX_SUSPENSION_SECONDS) if beyond > 0 else now
        return len(recent), math.ceil(max(0.0, until - now) / 60)

    def record_exit(self, account: int) -> None:
        """Record an early exit."""
        self.early_exits.setdefault(account, deque(maxlen=20)).append(self.server.now())
        self.early_exits.move_to_end(account)
        while len(self.early_exits) > MAX_TRACKED_ACCOUNTS:
            self.early_exits.popitem(last=False)

    def find_unrated_reason(self, one: Account, other: Account) -> str | None:
        """If two accounts belong to one person or client network, return why their game is not rated, else None."""
        if is_same_person(one, other):
            return SAME_OWNER
        return SAME_NETWORK if self._client_networks(one) & self._client_networks(other) else None

    def _client_networks(self, account: Account) -> set[str]:
        clients = self.server.online.get(account.id, ())
        return {client.client_network for client in clients if client.client_network is not None}

    def record_end(self, state: GameState) -> None:
        """If a side left the game early, record the exit and warn its account."""
        side = find_early_leaver(state)
        if side is None:
            return
        account = state.players[side]
        self.record_exit(account)
        exits, minutes = self.count_recent_exits(account)
        counts = {"exits": exits, "free_exits": MAX_FREE_EXITS_PER_HOUR, "minutes": minutes}
        self.server.send_to_account(account, {"type": "early_exit_warning", **counts})
