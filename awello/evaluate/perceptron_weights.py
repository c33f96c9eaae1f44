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
from awello.evaluate.perceptron import INPUTS, MOVES, WIDTH
from awello.folders import data_file, replace_atomically
from awello.rules.game import Game

Weights = npt.NDArray[np.float32]
Reals = npt.NDArray[np.floating]
MOST_LAYERS = 8
DAMAGED = (KeyError, TypeError, ValueError, EOFError, BadZipFile, zlib.error)  # what reading arrays of a file may raise


SHAPES = {game.adapter.board: (INPUTS[game.family], MOVES[game.family]) for game in Game}  # inputs and moves by board
SHIPPED = {"awale", "othello"}


@dataclass(frozen=True)
class Perceptron:
    """The weights of a perceptron, in one array, and the game that they know."""

    name: str
    """The board that it knows."""
    layers: int
    """Hidden layers."""
    weights: Weights

    @property
    def moves(self) -> int:
        """The moves that it judges."""
        return SHAPES[self.name][1]

    @property
    def widths(self) -> tuple[int, ...]:
        """The inputs, the units of each hidden layer and the outputs."""
        return (SHAPES[self.name][0], *[WIDTH] * self.layers, self.moves + 1)

    @property
    def size(self) -> int:
        """The number of its weights."""
        return sum((inputs + 1) * outputs for inputs, outputs in pairwise(self.widths))

    def matrices(self, weights: Reals) -> list[tuple[Reals, Reals]]:
        """The weights of each layer, a row for each input, and its biases, as views of an array such as its own."""
        views, place = [], 0
        for inputs, outputs in pairwise(self.widths):
            middle, end = place + inputs * outputs, place + (inputs + 1) * outputs
            views.append((weights[place:middle].reshape(inputs, outputs), weights[middle:end]))
            place = end
        return views

    def save(self, file: Path, **more: Any) -> None:
        """Write the network to a file, with whatever else belongs to it."""
        with replace_atomically(file) as content:
            np.savez_compressed(content, name=self.name, layers=self.layers, weights=self.weights, **more)


def new_perceptron(game: Game, layers: int, chance: np.random.Generator) -> Perceptron:
    """A network that knows nothing: weights by chance, of a size that keeps signals alike from layer to layer (He)."""
    blank = Perceptron(game.adapter.board, layers, np.zeros(0, np.float32))
    network = Perceptron(blank.name, layers, np.zeros(blank.size, np.float32))
    views = network.matrices(network.weights)
    for matrix, _ in views:
        matrix[:] = chance.normal(0, (2 / len(matrix)) ** 0.5, matrix.shape)
    views[-1][0][:] *= 0.1  # at first all moves are alike and all games open
    return network


def load_perceptron(file: Path) -> Perceptron:
    """The network of a file; what is not whole is refused, because kernels do not check."""
    try:
        with np.load(file) as content:
            weights = np.ascontiguousarray(content["weights"], np.float32)
            found = Perceptron(str(content["name"]), int(content["layers"]), weights)
        whole = found.name in SHAPES and 1 <= found.layers <= MOST_LAYERS and weights.shape == (found.size,)
        if not whole or not np.isfinite(weights).all():
            raise ValueError
    except DAMAGED:
        raise ConfigError(f"{file} holds no network: 'awello train perceptron' makes one") from None
    return found


def perceptron_for(game: Game, file: Path | None = None) -> Perceptron:
    """The network for a game: that of a file, or the one that Awello ships."""
    name = game.adapter.board
    if file is None:
        if name not in SHIPPED:
            raise ConfigError(
                f"no network for {name} is shipped: make one with "
                f"'awello train perceptron --game othello --size {game.size}' and give weights=FILE"
            )
        return load_perceptron(data_file(f"perceptron-{name}.npz"))
    network = load_perceptron(file)
    if network.name != name:
        raise ConfigError(f"{file} knows {network.name}, not {name}: give the weights of another file")
    return network
