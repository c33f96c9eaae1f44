"""Fair play: which games count for ratings, and what it costs to leave games early again and again.

A rating should say how somebody plays.  Games that say little about it are played, but do not count: those that end
after a few moves, those between accounts of one person or one network, and those of a pair that has played many rated
games within a day.
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

FEWEST_PLIES = 10  # of a rated game that the board does not decide
FEWEST_PLIES_4X4 = 4  # a whole game has twelve
DAY, HOUR = 86400.0, 3600.0
MOST_RATED_PER_PAIR = 10  # rated games of two accounts within a day
FREE_EXITS = 3  # rated games that an account may leave early within an hour
PENALTY, LONGEST_PENALTY = 300.0, 1800.0  # seconds without rated games for each further one, and at most
MOST_REMEMBERED = 10_000  # accounts that have left games

OWNER, NETWORK, REPEATS = "owner", "network", "repeats"  # why a game is not rated


# ---- which games count ----------------------------------------------------------------------------------------------
def counts(table: GameState) -> bool:
    """Whether the result of a game changes ratings."""
    if not table.over or not table.rated or table.reason == ABORTED:
        return False
    fewest = FEWEST_PLIES_4X4 if table.game == Game.OTHELLO4 else FEWEST_PLIES
    return not table.reason or len(table.moves) >= fewest


def same_person(one: Account, other: Account) -> bool:
    """Whether two accounts belong together: bots of one owner, or a bot and its owner."""
    return (one.owner or one.number) == (other.owner or other.number)


def rated_today(connection: Connection, pair: tuple[int, int], now: float) -> int:
    """How many rated games two accounts have begun within a day."""
    one, other = pair
    both = or_(and_(games.c.first == one, games.c.second == other), and_(games.c.first == other, games.c.second == one))
    recent = games.c.begun > now - DAY, games.c.rated, games.c.reason != ABORTED
    return int(connection.execute(select(func.count()).select_from(games).where(both, *recent)).scalar_one())


# ---- leaving early --------------------------------------------------------------------------------------------------
def early_leaver(table: GameState) -> int | None:
    """The side that left a rated game before it counted; a tournament has its own price, the point."""
    if not table.over or not table.rated or table.tournament is not None or not table.reason or counts(table):
        return None
    return table.aborted_by if table.reason == ABORTED else table.loser


class FairPlayMonitor:
    """What accounts have done lately, and what follows from it; nothing of it is stored, so a restart forgives."""

    def __init__(self, hall: "ClubServer") -> None:
        self.hall = hall
        self.early_exits: OrderedDict[int, deque[float]] = OrderedDict()  # moments, by account

    def check(self, account: Account, terms: GameTerms) -> None:
        """Refuse a rated game to an account that has left too many early."""
        _, minutes = self.recent_exits(account.number)
        if terms.rated and minutes:
            often = f"{account.name} has left more than {FREE_EXITS} rated games early within an hour"
            until = f"rated games are possible again in {minutes} min, unrated ones now"
            raise ClubError("wait", f"{often}: {until}", minutes=minutes)

    def recent_exits(self, account: int) -> tuple[int, int]:
        """How many games an account has left early within an hour, and the minutes until it may play rated ones."""
        now = self.hall.now()
        recent = [moment for moment in self.early_exits.get(account, ()) if moment > now - HOUR]
        beyond = len(recent) - FREE_EXITS
        until = recent[-1] + min(beyond * PENALTY, LONGEST_PENALTY) if beyond > 0 else now
        return len(recent), math.ceil(max(0.0, until - now) / 60)

    def note_exit(self, account: int) -> None:
        """An account has left a game early."""
        self.early_exits.setdefault(account, deque(maxlen=20)).append(self.hall.now())
        self.early_exits.move_to_end(account)
        while len(self.early_exits) > MOST_REMEMBERED:
            self.early_exits.popitem(last=False)

    def why_unrated(self, one: Account, other: Account) -> str | None:
        """Why a game of two accounts must not count: they belong to one person, or play from one network."""
        if same_person(one, other):
            return OWNER
        return NETWORK if self._networks(one) & self._networks(other) else None

    def _networks(self, account: Account) -> set[str]:
        here = self.hall.present.get(account.number, ())
        return {guest.network for guest in here if guest.network is not None}

    def note_end(self, table: GameState) -> None:
        """Count a rated game that was left early against the account that left it, and warn it."""
        side = early_leaver(table)
        if side is None:
            return
        account = table.players[side]
        self.note_exit(account)
        left, minutes = self.recent_exits(account)
        self.hall.tell_account(account, {"type": "warning", "left": left, "free": FREE_EXITS, "minutes": minutes})
