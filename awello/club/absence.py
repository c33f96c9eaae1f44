"""Players who have left: when the other one may claim the win, and how both are told.

A connection may break, so there is a waiting time: shorter in fast games, longer for a player who has come back before.
The clocks go on meanwhile.
"""

from collections import OrderedDict
from typing import TYPE_CHECKING

from awello.club.game_state import ClubError
from awello.club.lag import expected_seconds
from awello.club.live_game import LiveGame
from awello.club.offers import Message
from awello.limits import Clock

if TYPE_CHECKING:
    from awello.club.server import ClubServer

SHORTEST, LONGEST = 10.0, 30.0  # seconds of absence after which a win can be claimed, the first time
SHARE = 6  # the waiting time is the time for a game divided by this
MOST_PATIENCE = 4  # times as long for a player who has come back again and again
RESTART = 30.0  # seconds in which clients find a club that was restarted
MOST_REMEMBERED = 10_000  # accounts that have left


def waiting_time(control: Clock, returns: int) -> float:
    """The seconds of absence after which a win can be claimed, for a player who has come back so many times."""
    once = min(LONGEST, max(SHORTEST, expected_seconds(control) / SHARE))
    return once * min(1 + returns, MOST_PATIENCE)


class AbsenceTracker:
    """Who has left, and since when."""

    def __init__(self, hall: "ClubServer") -> None:
        self.hall = hall
        self._left: OrderedDict[int, float] = OrderedDict()  # when an account was last connected
        self._opened = hall.now()

    def leave(self, account: int) -> None:
        """The last connection of an account has ended."""
        self._left[account] = self.hall.now()
        self._left.move_to_end(account)
        while len(self._left) > MOST_REMEMBERED:
            self._left.popitem(last=False)
        for seat in self.hall.seats.of(account):
            self.hall.tell_account(seat.opponent(account).number, self.news(seat, account))

    def come_back(self, account: int) -> None:
        """An account is connected again."""
        if self._left.pop(account, None) is None:
            return
        for seat in self.hall.seats.of(account):
            seat.returns[account] += 1
            self.hall.tell_account(seat.opponent(account).number, self.news(seat, account))

    def news(self, seat: LiveGame, account: int) -> Message:
        """Whether a player is here, and if not, in how many seconds the other one can claim the win."""
        side = seat.table.side_of(account)
        here = account in self.hall.present
        claim = None if here else round(max(0.0, self._claimable(seat, account) - self.hall.now()), 3)
        told = {"type": "opponent", "game": seat.table.number, "name": seat.people[side].name}
        return told | {"here": here, "claim": claim}

    def check(self, seat: LiveGame, account: int) -> None:
        """Refuse a claim while the opponent is here, or has not been away for long enough."""
        other = seat.opponent(account)
        if other.number in self.hall.present:
            raise ClubError("here", f"{other.name} is connected: there is nothing to claim")
        wait = self._claimable(seat, other.number) - self.hall.now()
        if wait > 0:
            raise ClubError("early", f"{other.name} may still come back: claim in {wait:.0f} seconds")

    def _claimable(self, seat: LiveGame, account: int) -> float:
        """The moment from which an absent player's opponent can claim the win."""
        since = self._left.get(account, self._opened + RESTART)
        return since + waiting_time(seat.table.control, seat.returns[account])
