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
from awello.club.offers import Terms
from awello.club.schema import games
from awello.club.table import ABORTED, Refused, Table
from awello.rules.game import Game

if TYPE_CHECKING:
    from awello.club.hall import Hall

FEWEST_PLIES = 10  # of a rated game that the board does not decide
FEWEST_PLIES_4X4 = 4  # a whole game has twelve
DAY, HOUR = 86400.0, 3600.0
MOST_RATED_PER_PAIR = 10  # rated games of two accounts within a day
FREE_EXITS = 3  # rated games that an account may leave early within an hour
PENALTY, LONGEST_PENALTY = 300.0, 1800.0  # seconds without rated games for each further one, and at most
MOST_REMEMBERED = 10_000  # accounts that have left games

OWNER, NETWORK, REPEATS = "owner", "network", "repeats"  # why a game is not rated


# ---- which games count ----------------------------------------------------------------------------------------------
def fewest_plies(game: Game) -> int:
    """How many plies a rated game has at least, unless the board decides it."""
    return FEWEST_PLIES_4X4 if game == Game.OTHELLO4 else FEWEST_PLIES


def counts(table: Table) -> bool:
    """Whether the result of a game changes ratings."""
    if not table.over or not table.rated or table.reason == ABORTED:
        return False
    return not table.reason or len(table.moves) >= fewest_plies(table.game)


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
def early_leaver(table: Table) -> int | None:
    """The side that left a rated game before it counted; a tournament has its own price, the point."""
    if not table.over or not table.rated or table.tournament is not None or not table.reason or counts(table):
        return None
    return table.aborted_by if table.reason == ABORTED else table.loser


class EarlyExits:
    """Who has left rated games early within the last hour, and how long they wait for the next one.

    Nothing of it is stored: a restart forgives.
    """

    def __init__(self) -> None:
        self._moments: OrderedDict[int, deque[float]] = OrderedDict()  # by account

    def note(self, account: int, now: float) -> None:
        """An account has left a game early."""
        self._moments.setdefault(account, deque(maxlen=20)).append(now)
        self._moments.move_to_end(account)
        while len(self._moments) > MOST_REMEMBERED:
            self._moments.popitem(last=False)

    def count(self, account: int, now: float) -> int:
        """How many games an account has left early within an hour."""
        return sum(moment > now - HOUR for moment in self._moments.get(account, ()))

    def wait(self, account: int, now: float) -> float:
        """The seconds until an account may play rated games again."""
        beyond = self.count(account, now) - FREE_EXITS
        if beyond <= 0:
            return 0.0
        return max(0.0, self._moments[account][-1] + min(beyond * PENALTY, LONGEST_PENALTY) - now)


class Conduct:
    """What accounts have done lately, and what follows from it."""

    def __init__(self, hall: "Hall") -> None:
        self.hall, self.early_exits = hall, EarlyExits()

    def check(self, account: Account, terms: Terms) -> None:
        """Refuse a rated game to an account that has left too many early."""
        wait = self.early_exits.wait(account.number, self.hall.now())
        if terms.rated and wait:
            often = f"{account.name} has left more than {FREE_EXITS} rated games early within an hour"
            until = f"rated games are possible again in {math.ceil(wait / 60)} min, unrated ones now"
            raise Refused("wait", f"{often}: {until}", minutes=math.ceil(wait / 60))

    def why_unrated(self, one: Account, other: Account) -> str | None:
        """Why a game of two accounts must not count: they belong to one person, or play from one network."""
        if same_person(one, other):
            return OWNER
        return NETWORK if self._networks(one) & self._networks(other) else None

    def _networks(self, account: Account) -> set[str]:
        here = self.hall.present.get(account.number, ())
        return {guest.network for guest in here if guest.network is not None}

    def note_end(self, table: Table) -> None:
        """Count a rated game that was left early against the account that left it, and warn it."""
        side = early_leaver(table)
        if side is None:
            return
        account, now = table.players[side], self.hall.now()
        self.early_exits.note(account, now)
        left, wait = self.early_exits.count(account, now), self.early_exits.wait(account, now)
        warning = {"type": "warning", "left": left, "free": FREE_EXITS, "minutes": math.ceil(wait / 60)}
        self.hall.tell_account(account, warning)
