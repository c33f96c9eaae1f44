"""Bots that answer with weights, as in report 1's tournament: one for each pit, and the heaviest legal one is played.

@register("mine", "prefers the pits on the right")
@dataclass
class Mine(WeightsPlayer):
    def weigh(self, position, clock):
        return [1, 2, 3, 4, 5, 6]
"""

import math
from collections.abc import Sequence

from awello.errors import IllegalMoveError
from awello.limits import Clock
from awello.players.player import Choice, Player
from awello.position import Position


class WeightsPlayer(Player):
    """Plays the legal move of the largest weight; among equals, any.  Subclasses say what the weights are."""

    def weigh(self, position: Position, clock: Clock) -> Sequence[float]:
        """Six weights for the mover's pits from left to right; in Othello one for each square: a1, b1, ..."""
        raise NotImplementedError

    def choose(self, position: Position, clock: Clock) -> Choice:
        weights = self._check_weights(self.weigh(position, clock), position)
        largest = max(weights[move] for move in position.legal_moves())
        return Choice(self.rng.choice([move for move in position.legal_moves() if weights[move] == largest]))

    def _check_weights(self, answer: Sequence[float], position: Position) -> dict[int, float]:
        """The weight of each move, legal or not."""
        squares = position.squares()
        try:
            weights = [float(weight) for weight in answer]
        except (TypeError, ValueError):
            raise IllegalMoveError(f"{len(squares)} weights are asked for, not {answer!r}") from None
        if len(weights) != len(squares):
            raise IllegalMoveError(f"{len(squares)} weights are asked for, not {len(weights)}")
        if any(map(math.isnan, weights)):
            raise IllegalMoveError(f"a weight that is no number: {weights}")
        return dict(zip(squares, weights, strict=True))
