"""Trees for one decision: the memory that `uct.py`, `ppaf.py` and `puct.py` grow in, and what they say."""

import time
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from awello.analysis import Analysis
from awello.evaluate.cnn import Cnn
from awello.evaluate.network import Network
from awello.evaluate.perceptron import WORK
from awello.kernel import U
from awello.position import Position
from awello.search import ppaf, puct, uct
from awello.search.uct import COUNT, DEEPEST, FIRST, MOVE, POINTS, VISITS

BATCH = 8  # leaves about which a large network is asked at a time
EXPLORE = 0.7


@dataclass
class Tree:
    """A tree for one decision at a time, of a fixed number of nodes (36 bytes each)."""

    room: int = 1 << 19
    explore: float = EXPLORE
    rounds: ClassVar[int] = 128
    """Between two looks at the clock."""

    def __post_init__(self) -> None:
        self.nodes = np.zeros((self.room, 5), np.int32)
        self.boards = np.zeros((self.room, 2), np.uint64)
        self.path = np.zeros(DEEPEST, np.int64)
        self.weights = self.changes = np.zeros(0)
        self.size = 1

    def analyse(self, position: Position, seconds: float, playouts: int | None, seed: int) -> Analysis:
        """What random games say of a position within a time and a number of them."""
        begun, done = time.perf_counter(), 0
        self.begin(position)
        chance = np.array([seed * 2 + 1], np.uint64) * U(0x9E3779B97F4A7C15)
        while playouts is None or done < playouts:
            rounds = self.rounds if playouts is None else min(self.rounds, playouts - done)
            self.size = self.grow(int(position.game), chance, rounds)
            done += rounds
            if time.perf_counter() - begun >= seconds:
                break
        return self._answer(done, time.perf_counter() - begun)

    def begin(self, position: Position) -> None:
        """Empty the tree and put a position at its root."""
        self.nodes[: self.size] = 0
        self.boards[0] = position.own, position.opp
        self.size = self._plant(int(position.game))

    def _plant(self, game: int) -> int:
        return int(uct.expand(game, self.nodes, self.boards, 0, 1))

    def grow(self, game: int, chance: npt.NDArray[np.uint64], rounds: int) -> int:
        """Grow by so many rounds; the size of the tree after them."""
        memory, policy = (self.nodes, self.boards, self.path, chance), (self.weights, self.changes)
        return int(ppaf.grow(game, *memory, self.size, rounds, self.explore, *policy))

    def _answer(self, playouts: int, seconds: float) -> Analysis:
        children = self._children(0)
        best = max(children, key=self._preference)
        line, node = [int(self.nodes[best, MOVE])], best
        while children_below := self._children(node):
            node = max(children_below, key=self._preference)
            line.append(int(self.nodes[node, MOVE]))
        candidates = tuple((int(self.nodes[child, MOVE]), self._value(child)) for child in children)
        move, value = int(self.nodes[best, MOVE]), self._value(best)
        return Analysis(move, value, False, len(line), self.size, playouts, seconds, candidates, tuple(line))

    def _children(self, node: int) -> list[int]:
        first, count = int(self.nodes[node, FIRST]), int(self.nodes[node, COUNT])
        return list(range(first, first + count))

    def _preference(self, node: int) -> float:
        return float(self.nodes[node, VISITS])

    def _value(self, node: int) -> float:
        """The mean result for the player who moves here, from -1 for a loss to 1 for a win."""
        return float(self.nodes[node, POINTS] / max(1, self.nodes[node, VISITS]) - 1)


@dataclass
class LearningTree(Tree):
    """A tree whose random games learn; what they learnt is kept from one decision to the next."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.weights, self.changes = np.zeros(ppaf.KINDS), np.zeros(ppaf.KINDS)


@dataclass
class GuidedTree(Tree):
    """A tree that a network judges, without chance (52 bytes a node)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.worth = np.zeros((self.room, 2))

    def _plant(self, game: int) -> int:
        self.worth[: self.size] = 0
        return 1  # the first round gives the root its children

    def _preference(self, node: int) -> float:
        """Its visits; among equals its prior, which is below one."""
        return super()._preference(node) + 0.5 * float(self.worth[node, puct.PRIOR])

    def _value(self, node: int) -> float:
        visits = int(self.nodes[node, VISITS])
        return float(self.worth[node, puct.TOTAL] / visits) if visits else -1.0


@dataclass
class NetworkTree(GuidedTree):
    """A tree that a perceptron judges, leaf by leaf."""

    network: Network = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.work = np.zeros(WORK, np.float32)

    def grow(self, game: int, chance: npt.NDArray[np.uint64], rounds: int) -> int:
        memory = self.nodes, self.boards, self.worth, self.path
        network = self.network.weights, self.network.layers, self.work
        return int(puct.grow(game, *memory, *network, self.size, rounds, self.explore))


@dataclass
class CnnTree(GuidedTree):
    """A tree that a convolutional network judges, several leaves at a time."""

    network: Cnn = field(kw_only=True)
    rounds = BATCH

    def __post_init__(self) -> None:
        super().__post_init__()
        self.paths, self.lengths = np.zeros((BATCH, DEEPEST), np.int64), np.zeros(BATCH, np.int64)

    def grow(self, game: int, chance: npt.NDArray[np.uint64], rounds: int) -> int:
        memory, size = (self.nodes, self.boards, self.worth, self.paths, self.lengths), self.size
        while rounds > 0:
            waiting, done, size = puct.reach(game, *memory, size, rounds, self.explore)
            rounds -= done
            if waiting:
                leaves = self.paths[np.arange(waiting), self.lengths[:waiting] - 1]
                size = puct.settle(game, *memory, size, waiting, *self.network.judge(self.boards[leaves]))
        return int(size)
