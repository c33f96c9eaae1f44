"""Monte Carlo trees, which hold the nodes and compute the results of the searches `uct`, `ppaf` and `puct`."""

import time
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from awello.analysis import Analysis
from awello.evaluate.cnn import Cnn
from awello.evaluate.perceptron import PerceptronState
from awello.evaluate.perceptron_weights import Perceptron
from awello.kernel import U
from awello.position import Position
from awello.search import ppaf, puct, uct
from awello.search.puct import BATCH_SIZE, LeafBatch
from awello.search.uct import TreeNode, TreeState

# UCB1 uses √2 for results from 0 to 1.  With half of it, visits concentrate on fewer moves, so the tree grows deeper.
EXPLORATION = 0.7
SEED_MULTIPLIER = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio: maps similar seeds to dissimilar states


@dataclass
class MonteCarloTree:
    """A tree with a fixed maximum number of nodes (48 bytes each), rebuilt for each position that is searched."""

    max_nodes: int = 1 << 19
    exploration: float = EXPLORATION
    simulations_per_check: ClassVar[int] = 128
    """The number of simulations between two checks of the clock; they take a few milliseconds at most."""

    def __post_init__(self) -> None:
        self.nodes = TreeNode.new_array(self.max_nodes)
        self.state = self._new_state()
        self.state.exploration = self.exploration

    def _new_state(self) -> TreeState:
        return TreeState.new()

    @property
    def node_count(self) -> int:
        """The number of nodes in use."""
        return int(self.state.node_count)

    def analyse(self, position: Position, seconds: float, simulations: int | None, seed: int) -> Analysis:
        """Search a position until `seconds` have passed or the given number of simulations has been run."""
        started, done = time.perf_counter(), 0
        self.reset(position)
        self.state.random_state = U((2 * seed + 1) * SEED_MULTIPLIER % (1 << 64))
        while simulations is None or done < simulations:
            count = self.simulations_per_check
            if simulations is not None:
                count = min(count, simulations - done)
            self.run_simulations(count)
            done += count
            if time.perf_counter() - started >= seconds:
                break
        return self._make_analysis(done, time.perf_counter() - started)

    def reset(self, position: Position) -> None:
        """Clear the tree, put a position at its root, and expand the root."""
        uct.init_tree(self.nodes, self.state, int(position.game), U(position.own), U(position.opp))
        uct.expand(self.nodes, self.state, 0)

    def run_simulations(self, simulations: int) -> None:
        """Run this many simulations."""
        uct.run_simulations(self.nodes, self.state, simulations)

    def _make_analysis(self, simulations: int, seconds: float) -> Analysis:
        children = self._children(0)
        best = max(children, key=self._preference)
        pv, node = [self._move(best)], best
        while grandchildren := self._children(node):
            node = max(grandchildren, key=self._preference)
            pv.append(self._move(node))
        candidates = tuple((self._move(child), self._value(child)) for child in children)
        move, value = self._move(best), self._value(best)
        return Analysis(move, value, False, len(pv), self.node_count, simulations, seconds, candidates, tuple(pv))

    def _children(self, node: int) -> list[int]:
        first, count = int(self.nodes[node].first_child), int(self.nodes[node].child_count)
        return list(range(first, first + count))

    def _move(self, node: int) -> int:
        return int(self.nodes[node].move)

    def _preference(self, node: int) -> float:
        return float(self.nodes[node].visits)

    def _value(self, node: int) -> float:
        """Return the mean result for the player whose move leads to the node, from -1 for a loss to 1 for a win."""
        return float(self.nodes[node].half_points / max(1, self.nodes[node].visits) - 1)


@dataclass
class PpafTree(MonteCarloTree):
    """A tree whose playouts follow a learnt policy, which is kept from one search to the next."""

    def _new_state(self) -> TreeState:
        self.policy = ppaf.PpafState.new()
        return self.policy.tree

    def run_simulations(self, simulations: int) -> None:
        ppaf.run_simulations(self.nodes, self.policy, simulations)


@dataclass
class PuctTree(MonteCarloTree):
    """A tree evaluated by a perceptron or the convolutional network, without playouts."""

    def reset(self, position: Position) -> None:
        """Clear the tree and put a position at its root, which the first simulation expands."""
        uct.init_tree(self.nodes, self.state, int(position.game), U(position.own), U(position.opp))

    def _preference(self, node: int) -> float:
        """Return the number of visits plus half the prior, which breaks ties."""
        return super()._preference(node) + 0.5 * float(self.nodes[node].prior)

    def _value(self, node: int) -> float:
        visits = int(self.nodes[node].visits)
        return float(self.nodes[node].total_value / visits) if visits else -1.0


@dataclass
class PerceptronTree(PuctTree):
    """A tree evaluated by a perceptron, leaf by leaf."""

    perceptron: Perceptron = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.perceptron_state = PerceptronState.new()
        self.perceptron_state.layers = self.perceptron.layers

    def run_simulations(self, simulations: int) -> None:
        puct.run_simulations(self.nodes, self.state, self.perceptron.weights, self.perceptron_state, simulations)


@dataclass
class CnnTree(PuctTree):
    """A tree evaluated by a convolutional network, several leaves at a time."""

    network: Cnn = field(kw_only=True)
    simulations_per_check = BATCH_SIZE

    def __post_init__(self) -> None:
        super().__post_init__()
        self.batch = LeafBatch.new()

    def run_simulations(self, simulations: int) -> None:
        while simulations > 0:
            simulations -= puct.collect_leaves(self.nodes, self.state, self.batch, min(simulations, BATCH_SIZE))
            if self.batch.count:
                leaves = self.nodes[[path.nodes[path.length - 1] for path in self.batch.paths[: self.batch.count]]]
                logits, values = self.network.predict(np.column_stack((leaves["own"], leaves["opp"])))
                puct.resolve_leaves(self.nodes, self.state, self.batch, logits, values)
