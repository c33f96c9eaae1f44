"""A bot that returns a weight for each pit, as in the tournament of report 1.

awello --import examples/weights_player.py tournament awale right greedy random --rounds 5
"""

from collections.abc import Sequence
from dataclasses import dataclass

from awello import Position, WeightsPlayer, register
from awello.limits import Clock


@register("right", "the largest capture, then the pit furthest to the right")
@dataclass
class RightmostPlayer(WeightsPlayer):
    """Weights each pit by the seeds that its move captures; ties go to the rightmost pit."""

    def weigh(self, position: Position, clock: Clock) -> Sequence[float]:
        """Return six weights, from the mover's left to right; weights of illegal moves are ignored."""
        weights = [0.0] * 6
        for pit in position.legal_moves():
            weights[pit] = position.play(pit).counts()[position.side] + pit / 10
        return weights
