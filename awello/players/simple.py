"""The two simplest players: one that plays anything, one that takes the most at once."""

from dataclasses import dataclass

from awello.limits import Clock
from awello.players.player import Choice, Player, register
from awello.position import Position


@register("random", "any legal move, all equally likely")
@dataclass
class RandomPlayer(Player):
    """Plays any legal move."""

    def choose(self, position: Position, clock: Clock) -> Choice:
        return Choice(self.rng.choice(position.legal_moves()))


@register("greedy", "the move that takes the most discs or seeds at once")
@dataclass
class GreedyPlayer(Player):
    """Plays the move after which it holds the most; among equals, any."""

    def choose(self, position: Position, clock: Clock) -> Choice:
        side = position.side
        gains = {move: position.after(move).holdings()[side] for move in position.legal_moves()}
        most = max(gains.values())
        return Choice(self.rng.choice([move for move, gain in gains.items() if gain == most]))
