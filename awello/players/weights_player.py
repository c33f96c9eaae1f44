"""Bots that return one weight per move, as in report 1's tournament; the legal move with the largest weight is played.

@register("mine", "prefers the pits on the right")
@dataclass
class RightmostPit(WeightsPlayer):
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
    """Plays the legal move with the largest weight; breaks ties at random.  Subclasses implement `weigh`."""

    def weigh(self, position: Position, clock: Clock) -> Sequence[float]:
        """Return the weights of the pits, from the mover's left to right, or, in Othello, of the squares a1, b1, ..."""
        raise NotImplementedError

    def choose(self, position: Position, clock: Clock) -> Choice:
        weights = self._check_weights(self.weigh(position, clock), position)
        largest = max(weights[move] for move in position.legal_moves())
        return Choice(self.rng.choice([move for move in position.legal_moves() if weights[move] == largest]))

    def _check_weights(self, answer: Sequence[float], position: Position) -> dict[int, float]:
        """Return the weight of each move, legal or not; raise `IllegalMoveError` if `answer` is invalid."""
        squares = position.all_moves()
        try:
            weights = [float(weight) for weight in answer]
        except (TypeError, ValueError):
            raise IllegalMoveError(f"weigh() must return {len(squares)} numbers, not {answer!r}") from None
        if len(weights) != len(squares):
            raise IllegalMoveError(f"weigh() must return {len(squares)} numbers, not {len(weights)}")
        if any(map(math.isnan, weights)):
            raise IllegalMoveError(f"weigh() must return numbers, not NaN: {weights}")
        return dict(zip(squares, weights, strict=True))
