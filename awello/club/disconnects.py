"""Players who have left: when the other one may claim the win, and how both are told.

A connection may break, so there is a waiting time: shorter in fast games, longer for a player who has come back before.
The clocks go on meanwhile.
"""

import math
from collections import OrderedDict
from typing import TYPE_CHECKING

from awello.club.game_state import ClubError
from awello.club.lag import estimate_seconds
from awello.club.live_game import LiveGame
from awello.club.offers import Message
from awello.limits import Clock

if TYPE_CHECKING:
    from awello.club.server import ClubServer

MIN_GRACE_SECONDS, MAX_GRACE_SECONDS = 10.0, 30.0  # seconds of absence after which a win can be claimed, the first time
GRACE_DIVISOR = 6  # the waiting time is the time for a game divided by this
MAX_GRACE_FACTOR = 4  # times as long for a player who has come back again and again
RESTART_GRACE_SECONDS = 30.0  # seconds in which clients find a club that was restarted
MAX_TRACKED_ACCOUNTS = 10_000  # accounts that have left


def grace_period(control: Clock, reconnects: int) -> float:
    """The seconds of absence after which a win can be claimed, for a player who has come back so many times."""
    once = min(MAX_GRACE_SECONDS, max(MIN_GRACE_SECONDS, estimate_seconds(control) / GRACE_DIVISOR))
    return once * min(1 + reconnects, MAX_GRACE_FACTOR)


class DisconnectTracker:
    """Who has left, and since when."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self._disconnected: OrderedDict[int, float] = OrderedDict()  # when an account was last connected
        self._server_start = server.now()

    def record_disconnect(self, account: int) -> None:
        """The last connection of an account has ended."""
        self._disconnected[account] = self.server.now()
        self._disconnected.move_to_end(account)
        while len(self._disconnected) > MAX_TRACKED_ACCOUNTS:
            self._disconnected.popitem(last=False)
        for live_game in self.server.live_games.with_key(account):
            self.server.send_to_account(live_game.opponent(account).number, self.event_for(live_game, account))

    def record_reconnect(self, account: int) -> None:
        """An account is connected again."""
        if self._disconnected.pop(account, None) is None:
            return
        for live_game in self.server.live_games.with_key(account):
            live_game.reconnects[account] += 1
            self.server.send_to_account(live_game.opponent(account).number, self.event_for(live_game, account))

    def event_for(self, live_game: LiveGame, account: int) -> Message:
        """Whether a player is here, and if not, in how many seconds the other one can claim the win."""
        side = live_game.state.side_of(account)
        online = account in self.server.online
        claim = None if online else round(max(0.0, self._claim_time(live_game, account) - self.server.now()), 3)
        told = {"type": "opponent", "game": live_game.state.number, "name": live_game.accounts[side].name}
        return told | {"online": online, "claim_in": claim}

    def check_claim(self, live_game: LiveGame, account: int) -> None:
        """Refuse a claim while the opponent is here, or has not been away for long enough."""
        other = live_game.opponent(account)
        if other.number in self.server.online:
            raise ClubError("opponent_online", f"{other.name} is connected: there is nothing to claim", name=other.name)
        wait = self._claim_time(live_game, other.number) - self.server.now()
        if wait > 0:
            seconds = math.ceil(wait)
            message = f"{other.name} may still come back: claim in {seconds} seconds"
            raise ClubError("claim_too_early", message, name=other.name, seconds=seconds)

    def _claim_time(self, live_game: LiveGame, account: int) -> float:
        """The moment from which an absent player's opponent can claim the win."""
        since = self._disconnected.get(account, self._server_start + RESTART_GRACE_SECONDS)
        return since + grace_period(live_game.state.control, live_game.reconnects[account])
