"""Lag compensation: the network delay of a move is credited to the player, within a quota.

The round trip is measured by pings, and a client can fake a longer round trip by delaying its answers.  Therefore each
side has a quota, as in lichess's lag tracker: compensation is taken from the quota, and every move refills it a little
until a reserve is used up.  Quota and reserve depend on the time control: in a game of any length, a faked lag gains at
most an eighth of the player's time.
"""

from dataclasses import dataclass

from awello.limits import Clock

TYPICAL_MOVES_PER_PLAYER = 30  # per game
MAX_LAG_COMPENSATION = 0.5  # seconds per move
RESERVE_SHARE = 1 / 12  # the reserve that refills the quota, as a share of the clock and the increments


def estimate_seconds(control: Clock) -> float:
    """Estimate the seconds that a player has for a typical game, including the increments."""
    return control.seconds + TYPICAL_MOVES_PER_PLAYER * control.increment


def compute_max_quota(control: Clock) -> float:
    """Compute the maximum quota in seconds; each side starts with it."""
    return min(1.0, estimate_seconds(control) / 30)


@dataclass(frozen=True)
class LagQuota:
    """The lag compensation still available to a side."""

    available: float = 0.0
    """Seconds that can be compensated now."""
    reserve: float = 0.0
    """Seconds that moves can still add to `available`."""

    @classmethod
    def initial(cls, control: Clock) -> "LagQuota":
        """Return the quota of a side at the start of a game."""
        return cls(compute_max_quota(control), RESERVE_SHARE * control.seconds)

    @classmethod
    def resumed(cls, clock: float) -> "LagQuota":
        """Return the quota after a server restart for a side with `clock` seconds left: only a reserve."""
        return cls(0.0, RESERVE_SHARE * clock)

    def compensation(self, lag: float, elapsed: float) -> float:
        """Return the compensation for a move that arrived after `elapsed` seconds from a client with this lag."""
        return max(0.0, min(lag, elapsed, self.available, MAX_LAG_COMPENSATION))

    def after_move(self, used: float, control: Clock) -> "LagQuota":
        """Return the quota after a move for which `used` seconds were compensated."""
        available, regained = self.available - used, min(0.2, estimate_seconds(control) / 400)
        gained = max(0.0, min(regained, self.reserve, compute_max_quota(control) - available))
        return LagQuota(available + gained, self.reserve - gained + RESERVE_SHARE * control.increment)
