"""Players that judge by random games: UCT, and PPAF whose games learn."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from awello.errors import SpecError
from awello.limits import Clock, Limit
from awello.players.player import Choice, register
from awello.players.simple import Seeded
from awello.position import Position
from awello.rules.game import Game
from awello.search.montecarlo import LearningTree, Tree

SHARE = 0.04  # of the clock that one move may take
RESERVE = 0.002  # seconds kept back for everything around the search


@register("uct", "grows a tree from random games; @100ms, or @5000n for so many games")
@register("ppaf", "the same with games that learn which kinds of moves win")
@dataclass
class MonteCarlo(Seeded):
    """Plays the move that its tree visited most."""

    limit: Limit = field(default_factory=lambda: Limit(seconds=0.1))
    explore: Annotated[float, Field(ge=0, le=10)] = 0.7
    """How much a move that was seldom tried is preferred."""
    memory: Annotated[int, Field(ge=1 << 10, le=1 << 26)] = 1 << 19
    """Nodes of the tree; 36 bytes each."""

    def begin(self, game: Game, seed: int) -> None:
        super().begin(game, seed)
        if self.limit.seconds is None and self.limit.nodes is None:
            raise SpecError(f"player {self.spec} needs a time or a number of games, such as {self.spec.name}@100ms")
        make = LearningTree if self.spec.name == "ppaf" else Tree
        self.tree = make(self.memory, self.explore)

    def choose(self, position: Position, clock: Clock) -> Choice:
        seconds = SHARE * clock.seconds
        if self.limit.seconds is not None:
            seconds = min(seconds, max(0.0, self.limit.seconds - RESERVE))
        analysis = self.tree.analyse(position, seconds, self.limit.nodes, self.chance.getrandbits(32))
        return Choice(analysis.move, analysis)
