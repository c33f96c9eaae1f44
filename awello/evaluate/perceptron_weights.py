"""Networks as files and arrays: the weights that `perceptron.py` reads, and those that Awello ships."""

import zlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from awello.errors import ConfigError
from awello.evaluate.perceptron import HIDDEN_WIDTH, INPUT_COUNTS, MOVE_COUNTS
from awello.folders import data_file, replace_atomically
from awello.rules.game import Game

Weights = npt.NDArray[np.float32]
Reals = npt.NDArray[np.floating]
MAX_LAYERS = 8
LOAD_ERRORS = (
    KeyError,
    TypeError,
    ValueError,
    EOFError,
    BadZipFile,
    zlib.error,
)  # of `np.load`


BOARD_SHAPES = {
    game.adapter.board: (INPUT_COUNTS[game.family], MOVE_COUNTS[game.family]) for game in Game
}  # inputs and moves by board
SHIPPED_BOARDS = {"awale", "othello"}


@dataclass(frozen=True)
class Perceptron:
    """The weights of a perceptron, in one array, and the game that they know."""

    board: str
    """The board that it knows."""
    layers: int
    """Hidden layers."""
    weights: Weights

    @property
    def move_count(self) -> int:
        """The moves that it judges."""
        return BOARD_SHAPES[self.board][1]

    @property
    def widths(self) -> tuple[int, ...]:
        """The inputs, the units of each hidden layer and the outputs."""
        return (BOARD_SHAPES[self.board][0], *[HIDDEN_WIDTH] * self.layers, self.move_count + 1)

    @property
    def weight_count(self) -> int:
        """The number of its weights."""
        return sum((inputs + 1) * outputs for inputs, outputs in pairwise(self.widths))

    def matrices(self, weights: Reals) -> list[tuple[Reals, Reals]]:
        """The weights of each layer, a row for each input, and its biases, as views of an array such as its own."""
        views, start = [], 0
        for inputs, outputs in pairwise(self.widths):
            middle, end = start + inputs * outputs, start + (inputs + 1) * outputs
            views.append((weights[start:middle].reshape(inputs, outputs), weights[middle:end]))
            start = end
        return views

    def save(self, file: Path, **more: Any) -> None:
        """Write the network to a file, with whatever else belongs to it."""
        with replace_atomically(file) as content:
            np.savez_compressed(content, name=self.board, layers=self.layers, weights=self.weights, **more)


def new_perceptron(game: Game, layers: int, rng: np.random.Generator) -> Perceptron:
    """A network that knows nothing: weights by chance, of a size that keeps signals alike from layer to layer (He)."""
    blank = Perceptron(game.adapter.board, layers, np.zeros(0, np.float32))
    network = Perceptron(blank.board, layers, np.zeros(blank.weight_count, np.float32))
    views = network.matrices(network.weights)
    for matrix, _ in views:
        matrix[:] = rng.normal(0, (2 / len(matrix)) ** 0.5, matrix.shape)
    views[-1][0][:] *= 0.1  # at first all moves are alike and all games open
    return network


def load_perceptron_file(file: Path) -> Perceptron:
    """The network of a file; what is not whole is refused, because kernels do not check."""
    try:
        with np.load(file) as content:
            weights = np.ascontiguousarray(content["weights"], np.float32)
            network = Perceptron(str(content["name"]), int(content["layers"]), weights)
        valid = network.board in BOARD_SHAPES and 1 <= network.layers <= MAX_LAYERS
        if not valid or weights.shape != (network.weight_count,) or not np.isfinite(weights).all():
            raise ValueError
    except LOAD_ERRORS:
        raise ConfigError(f"{file} holds no network: 'awello train perceptron' makes one") from None
    return network


def load_perceptron(game: Game, weights: Path | None = None) -> Perceptron:
    """The network for a game: that of a file, or the one that Awello ships."""
    name = game.adapter.board
    if weights is None:
        if name not in SHIPPED_BOARDS:
            raise ConfigError(
                f"no network for {name} is shipped: make one with "
                f"'awello train perceptron --game othello --size {game.size}' and give file=FILE"
            )
        return load_perceptron_file(data_file(f"perceptron-{name}.npz"))
    network = load_perceptron_file(weights)
    if network.board != name:
        raise ConfigError(f"{weights} knows {network.board}, not {name}: give the weights of another file")
    return network
