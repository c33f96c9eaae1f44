"""The two simplest players: random and greedy."""

from dataclasses import dataclass

from awello.limits import Clock
from awello.players.player import Choice, Player, register
from awello.position import Position


@register("random", "a random legal move")
@dataclass
class RandomPlayer(Player):
    """Plays a random legal move."""

    def choose(self, position: Position, clock: Clock) -> Choice:
        return Choice(self.rng.choice(position.legal_moves()))


@register("greedy", "the move that gains the most discs or seeds")
@dataclass
class GreedyPlayer(Player):
    """Plays the move that gains the most discs or seeds; breaks ties at random."""

    def choose(self, position: Position, clock: Clock) -> Choice:
        side = position.side
        gains = {move: position.after(move).counts()[side] for move in position.legal_moves()}
        most = max(gains.values())
        return Choice(self.rng.choice([move for move, gain in gains.items() if gain == most]))
