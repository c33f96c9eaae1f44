"""Disconnected players, and the grace period after which their opponents can claim the win.

The grace period is shorter in fast games and longer for a player who has already reconnected in the game.  The clocks
keep running.
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

MIN_GRACE_SECONDS, MAX_GRACE_SECONDS = 10.0, 30.0  # bounds of the first grace period
GRACE_DIVISOR = 6  # the first grace period is a player's estimated time divided by this
MAX_GRACE_FACTOR = 4  # the longest grace period, as a multiple of the first
RESTART_GRACE_SECONDS = 30.0  # added to the grace period of players who have not returned after a restart of the server
MAX_TRACKED_ACCOUNTS = 10_000  # disconnected accounts


def compute_grace_period(control: Clock, reconnects: int) -> float:
    """Compute the grace period, in seconds, of a player who has already reconnected `reconnects` times in the game."""
    once = min(MAX_GRACE_SECONDS, max(MIN_GRACE_SECONDS, estimate_seconds(control) / GRACE_DIVISOR))
    return once * min(1 + reconnects, MAX_GRACE_FACTOR)


class DisconnectTracker:
    """Tracks which players are disconnected, and since when."""

    def __init__(self, server: "ClubServer") -> None:
        self.server = server
        self._disconnected: OrderedDict[int, float] = OrderedDict()  # by account: when it disconnected
        self._server_start = server.now()

    def record_disconnect(self, account: int) -> None:
        """Record that the last connection of an account has ended, and notify its opponents."""
        self._disconnected[account] = self.server.now()
        self._disconnected.move_to_end(account)
        while len(self._disconnected) > MAX_TRACKED_ACCOUNTS:
            self._disconnected.popitem(last=False)
        for live_game in self.server.live_games.with_key(account):
            self.server.send_to_account(live_game.opponent(account).id, self.event_for(live_game, account))

    def record_reconnect(self, account: int) -> None:
        """Record that an account is connected again, and notify its opponents."""
        if self._disconnected.pop(account, None) is None:
            return
        for live_game in self.server.live_games.with_key(account):
            live_game.reconnects[account] += 1
            self.server.send_to_account(live_game.opponent(account).id, self.event_for(live_game, account))

    def event_for(self, live_game: LiveGame, account: int) -> Message:
        """Return the event that says whether an account is online and, if not, when its opponent can claim the win."""
        side = live_game.state.side_of(account)
        online = account in self.server.online
        claim = None if online else round(max(0.0, self._claim_time(live_game, account) - self.server.now()), 3)
        event = {"type": "opponent_presence", "game": live_game.state.number, "name": live_game.accounts[side].name}
        return event | {"online": online, "claim_in_seconds": claim}

    def check_claim(self, live_game: LiveGame, account: int) -> None:
        """Raise `ClubError` if the opponent of an account is online or within the grace period."""
        other = live_game.opponent(account)
        if other.id in self.server.online:
            message = f"{other.name} is online, so there is nothing to claim: play on"
            raise ClubError("opponent_online", message, name=other.name)
        wait = self._claim_time(live_game, other.id) - self.server.now()
        if wait > 0:
            seconds = math.ceil(wait)
            message = f"{other.name} may still return: you can claim the win in {seconds} seconds"
            raise ClubError("claim_too_early", message, name=other.name, seconds=seconds)

    def _claim_time(self, live_game: LiveGame, account: int) -> float:
        """Return when the opponent of a disconnected player can claim the win."""
        since = self._disconnected.get(account, self._server_start + RESTART_GRACE_SECONDS)
        return since + compute_grace_period(live_game.state.control, live_game.reconnects[account])
