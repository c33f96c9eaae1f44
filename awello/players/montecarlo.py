"""Players with Monte Carlo tree search: UCT (random playouts), PPAF (adaptive playouts), PUCT (no playouts)."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from awello.errors import SpecError
from awello.evaluate.cnn import load_cnn
from awello.evaluate.perceptron_weights import load_perceptron
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.rules.game import Game
from awello.search.montecarlo import EXPLORATION, CnnTree, MonteCarloTree, PerceptronTree, PpafTree

MAX_CLOCK_SHARE = 0.04  # the largest share of the remaining time that one move may use
OVERHEAD_SECONDS = 0.002  # part of the time per move that is reserved for work other than the search


@dataclass
class TreeSearchPlayer(Player):
    """Grows a search tree, and plays the move with the most visits at its root."""

    limit: Limit = field(default_factory=lambda: Limit(seconds=0.1))
    exploration: Annotated[float, Field(ge=0, le=10)] = EXPLORATION
    """Exploration constant of the selection formula; higher values favour rarely visited moves."""
    max_nodes: Annotated[int, Field(ge=1 << 10, le=1 << 26)] = 1 << 19
    """Maximum number of tree nodes; each takes 48 bytes."""

    def begin(self, game: Game, seed: int) -> None:
        super().begin(game, seed)
        if self.limit.seconds is None and self.limit.nodes is None:
            name = self.spec.name
            raise SpecError(
                f"player {self.spec.typed} needs a time or a number of simulations: write {name}@100ms or {name}@800n"
            )
        self.tree = self.make_tree(game)

    def make_tree(self, game: Game) -> MonteCarloTree:
        """Make an empty search tree."""
        raise NotImplementedError

    def choose(self, position: Position, clock: Clock) -> Choice:
        seconds = MAX_CLOCK_SHARE * clock.seconds
        if self.limit.seconds is not None:
            seconds = min(seconds, max(0.0, self.limit.seconds - OVERHEAD_SECONDS))
        analysis = self.tree.analyse(position, seconds, self.limit.nodes, self.rng.getrandbits(32))
        return Choice(analysis.move, analysis)


@register("ppaf", "UCT whose playouts learn which kinds of moves win; default @100ms")
@register("uct", "Monte Carlo tree search with random playouts; default @100ms; @5000n: 5000 simulations")
@dataclass
class MonteCarloPlayer(TreeSearchPlayer):
    """Evaluates positions with playouts."""

    def make_tree(self, game: Game) -> MonteCarloTree:
        make = PpafTree if self.spec.name == "ppaf" else MonteCarloTree
        return make(self.max_nodes, self.exploration)


@register("puct", "Monte Carlo tree search with a perceptron; puct:cnn: with a convolutional network; default @100ms")
@dataclass
class NetworkTreePlayer(TreeSearchPlayer):
    """Evaluates positions with a perceptron trained by self-play; `puct:cnn` uses the convolutional network."""

    heuristic: Literal["perceptron", "cnn"] = "perceptron"
    weights: Path | None = None
    """Weights file written by `awello train perceptron` or `awello train cnn`; default: the shipped weights."""
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    """Number of threads that evaluate positions with the convolutional network."""

    def make_tree(self, game: Game) -> MonteCarloTree:
        if self.heuristic == "cnn":
            return CnnTree(self.max_nodes, self.exploration, network=load_cnn(game, self.weights, self.threads))
        return PerceptronTree(self.max_nodes, self.exploration, perceptron=load_perceptron(game, self.weights))
