"""Create, load and save the weights of perceptrons (see `perceptron.py`)."""

import zlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from awello.errors import ConfigError
from awello.evaluate.perceptron import HIDDEN_WIDTH, INPUT_COUNTS, MOVE_COUNTS
from awello.folders import data_file, replace_atomically
from awello.kernel import Float32Array, FloatArray
from awello.rules.game import Game

MAX_LAYERS = 8
# Errors that `np.load` raises for damaged files.
LOAD_ERRORS = (KeyError, TypeError, ValueError, EOFError, BadZipFile, zlib.error)
# The numbers of inputs and moves, by board.
BOARD_SHAPES = {game.adapter.board_name: (INPUT_COUNTS[game.family], MOVE_COUNTS[game.family]) for game in Game}
SHIPPED_BOARDS = {"awale", "othello"}


@dataclass(frozen=True)
class Perceptron:
    """The weights of a perceptron in one array, and the board for which it was trained."""

    board: str
    """The name of the board, such as `othello`, `othello6` or `awale`."""
    layers: int
    """The number of hidden layers."""
    weights: Float32Array

    @property
    def move_count(self) -> int:
        """The number of moves, each of which has an output."""
        return BOARD_SHAPES[self.board][1]

    @property
    def widths(self) -> tuple[int, ...]:
        """The number of inputs, of units in each hidden layer, and of outputs."""
        return (BOARD_SHAPES[self.board][0], *[HIDDEN_WIDTH] * self.layers, self.move_count + 1)

    @property
    def weight_count(self) -> int:
        """The number of weights."""
        return sum((inputs + 1) * outputs for inputs, outputs in pairwise(self.widths))

    def matrices(self, weights: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Return the matrix and biases of each layer as views of `weights`, an array laid out like `self.weights`."""
        views, start = [], 0
        for inputs, outputs in pairwise(self.widths):
            middle, end = start + inputs * outputs, start + (inputs + 1) * outputs
            views.append((weights[start:middle].reshape(inputs, outputs), weights[middle:end]))
            start = end
        return views

    def save(self, file: Path, **more: Any) -> None:
        """Write the perceptron to a file; `more` are additional arrays to store."""
        with replace_atomically(file) as content:
            np.savez_compressed(content, name=self.board, layers=self.layers, weights=self.weights, **more)


def new_perceptron(game: Game, layers: int, rng: np.random.Generator) -> Perceptron:
    """Return an untrained perceptron with random weights (He initialisation)."""
    blank = Perceptron(game.adapter.board_name, layers, np.zeros(0, np.float32))
    perceptron = Perceptron(blank.board, layers, np.zeros(blank.weight_count, np.float32))
    views = perceptron.matrices(perceptron.weights)
    for matrix, _ in views:
        matrix[:] = rng.normal(0, (2 / len(matrix)) ** 0.5, matrix.shape)
    views[-1][0][:] *= 0.1  # start with nearly equal move probabilities and values near 0
    return perceptron


def load_perceptron_file(file: Path) -> Perceptron:
    """Load a perceptron from a file, and check its shape, because the kernels do not check it."""
    try:
        with np.load(file) as content:
            weights = np.ascontiguousarray(content["weights"], np.float32)
            perceptron = Perceptron(str(content["name"]), int(content["layers"]), weights)
        valid = perceptron.board in BOARD_SHAPES and 1 <= perceptron.layers <= MAX_LAYERS
        if not valid or weights.shape != (perceptron.weight_count,) or not np.isfinite(weights).all():
            raise ValueError
    except LOAD_ERRORS:
        advice = "train one with 'awello train perceptron'"
        raise ConfigError(f"{str(file)!r} is not a perceptron: {advice}") from None
    return perceptron


def load_perceptron(game: Game, weights: Path | None = None) -> Perceptron:
    """Load the perceptron for a game from a file (default: the shipped perceptron)."""
    board = game.adapter.board_name
    if weights is None:
        if board not in SHIPPED_BOARDS:
            raise ConfigError(
                f"there is no shipped perceptron for {board}: train one with "
                f"'awello train perceptron --game othello --size {game.size}' and pass weights=FILE"
            )
        return load_perceptron_file(data_file(f"perceptron-{board}.npz"))
    perceptron = load_perceptron_file(weights)
    if perceptron.board != board:
        boards = f"{perceptron.board}, not {board}"
        raise ConfigError(f"the perceptron in {str(weights)!r} is for {boards}: choose another file")
    return perceptron
