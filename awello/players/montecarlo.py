"""Players that grow trees: UCT by random games, PPAF by games that learn, PUCT by what a network says."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from awello.errors import SpecError
from awello.evaluate.cnn import cnn_for
from awello.evaluate.perceptron_weights import perceptron_for
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.rules.game import Game
from awello.search.montecarlo import EXPLORE, CnnTree, MonteCarloTree, PerceptronTree, PpafTree

MAX_CLOCK_SHARE = 0.04  # of the clock that one move may take
OVERHEAD_SECONDS = 0.002  # seconds kept back for everything around the search


@dataclass
class TreeSearchPlayer(Player):
    """Plays the move that its tree visited most."""

    limit: Limit = field(default_factory=lambda: Limit(seconds=0.1))
    exploration: Annotated[float, Field(ge=0, le=10)] = EXPLORE
    """How much a move that was seldom tried is preferred."""
    max_nodes: Annotated[int, Field(ge=1 << 10, le=1 << 26)] = 1 << 19
    """Nodes of the tree, 48 bytes each."""

    def begin(self, game: Game, seed: int) -> None:
        super().begin(game, seed)
        if self.limit.seconds is None and self.limit.nodes is None:
            name = self.spec.name
            raise SpecError(f"player {self.spec} needs a time or a number of rounds, such as {name}@100ms, {name}@800n")
        self.tree = self.make_tree(game)

    def make_tree(self, game: Game) -> MonteCarloTree:
        """The memory of its tree."""
        raise NotImplementedError

    def choose(self, position: Position, clock: Clock) -> Choice:
        seconds = MAX_CLOCK_SHARE * clock.seconds
        if self.limit.seconds is not None:
            seconds = min(seconds, max(0.0, self.limit.seconds - OVERHEAD_SECONDS))
        analysis = self.tree.analyse(position, seconds, self.limit.nodes, self.rng.getrandbits(32))
        return Choice(analysis.move, analysis)


@register("ppaf", "the same with games that learn which kinds of moves win")
@register("uct", "grows a tree from random games; @100ms, or @5000n for so many games")
@dataclass
class MonteCarloPlayer(TreeSearchPlayer):
    """Judges by random games."""

    def make_tree(self, game: Game) -> MonteCarloTree:
        make = PpafTree if self.spec.name == "ppaf" else MonteCarloTree
        return make(self.max_nodes, self.exploration)


@register("puct", "grows a tree from what a network says, puct:cnn from what a large one does; @100ms, or @800n")
@dataclass
class NetworkTreePlayer(TreeSearchPlayer):
    """Judges by a network: a perceptron that learnt from games against itself, or a large one that learnt Othello."""

    heuristic: Literal["perceptron", "cnn"] = "perceptron"
    weights: Path | None = None
    """A file that `awello train perceptron` or `train cnn` made; unless said, the one that is shipped."""
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    """On which the large network computes."""

    def make_tree(self, game: Game) -> MonteCarloTree:
        if self.heuristic == "cnn":
            return CnnTree(self.max_nodes, self.exploration, network=cnn_for(game, self.weights, self.threads))
        return PerceptronTree(self.max_nodes, self.exploration, network=perceptron_for(game, self.weights))
