"""Files of learnt weights: those that Awello ships for its champion, and those that somebody trains.

Mirrored shapes are worth the same.  Such *tied* weights are learnt together, and a file holds each of them once.
"""

import json
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from awello.errors import ConfigError
from awello.evaluate.awale_network import ROWS, UNITS, AwaleNetworkWeights
from awello.evaluate.patterns import FIRST_STAGE_EMPTIES, LANES, SHAPE_SIZES, STAGE_WEIGHTS, STAGE_WIDTH, VIEWS
from awello.evaluate.perceptron_weights import LOAD_ERRORS
from awello.folders import data_file, replace_atomically

FILE_VERSION = 1
STAGE_COUNT = 25

Weights = npt.NDArray[np.int16]

_load_lock = threading.Lock()


@cache
def tied_indices() -> npt.NDArray[np.int32]:
    """For each place of a stage the number of its weight in a file: places of mirrored patterns have the same."""
    same = np.arange(STAGE_WEIGHTS)
    starts = np.cumsum([0, *SHAPE_SIZES])
    for shape, squares in enumerate(LANES[::VIEWS]):
        mirrored = [square ^ 7 for square in squares]
        lane = next(lane for lane, other in enumerate(LANES) if set(other) == set(mirrored))
        powers = 3 ** np.arange(len(squares))
        digits = np.arange(SHAPE_SIZES[shape])[:, None] // powers % 3
        image = starts[lane // VIEWS] + digits @ powers[[LANES[lane].index(square) for square in mirrored]]
        place = starts[shape] + np.arange(SHAPE_SIZES[shape])
        same[place] = np.minimum(same[place], image)
    return np.unique(same, return_inverse=True)[1].astype(np.int32)


@dataclass(frozen=True)
class PatternWeights:
    """The weights of Othello's patterns, and how they came about."""

    weights: Weights
    """By stage and number in the file."""
    card: dict[str, Any]

    def expand(self) -> Weights:
        """The weights by stage and place, as `evaluate.patterns` orders them."""
        return np.ascontiguousarray(self.weights[:, tied_indices()])


def load_pattern_file(file: Path) -> PatternWeights:
    """The weights of a file that `save_patterns` wrote."""
    try:
        with np.load(file) as content:
            version, weights, card = int(content["version"]), content["weights"], json.loads(str(content["card"]))
    except FileNotFoundError:
        raise ConfigError(f"there is no file {str(file)!r}: 'awello train patterns' makes one") from None
    except (*LOAD_ERRORS, json.JSONDecodeError):
        raise ConfigError(f"{str(file)!r} holds no weights of patterns: 'awello train patterns' makes them") from None
    if version != FILE_VERSION or weights.shape != (STAGE_COUNT, tied_indices().max() + 1) or weights.dtype != np.int16:
        raise ConfigError(f"{str(file)!r} is of another version: train the patterns again with this one")
    return PatternWeights(weights, card)


def save_pattern_file(file: Path, patterns: PatternWeights) -> None:
    """Write weights and their card."""
    with replace_atomically(file) as content:
        np.savez_compressed(content, version=FILE_VERSION, weights=patterns.weights, card=json.dumps(patterns.card))


def load_pattern_weights(file: Path | None = None) -> Weights:
    """The weights by stage and place, the shipped ones unless a file is given; they stay where they are for good."""
    with _load_lock:  # of threads that ask at once, a cache alone would give each its own, and keep the last
        return _load_patterns(file)


@cache
def _load_patterns(file: Path | None) -> Weights:
    return load_pattern_file(file or data_file("patterns.npz")).expand()


def stage_of(empties: int) -> int:
    """The stage of a position with so many empty squares."""
    return min(max(0, (empties - FIRST_STAGE_EMPTIES) // STAGE_WIDTH), STAGE_COUNT - 1)


def load_awale_network_weights(file: Path | None = None) -> AwaleNetworkWeights:
    """The table of `evaluate.awale_network`, that of a file or the shipped one."""
    file = file or data_file("awale_network.npz")
    try:
        with np.load(file) as content:
            found = content["weights"]
        if found.shape != (ROWS, UNITS) or found.dtype != np.int16:
            raise ValueError
    except LOAD_ERRORS:
        raise ConfigError(f"{file} holds no weights for Awalé: 'awello train awale-network' makes some") from None
    return to_awale_network_weights(found)


def to_awale_network_weights(rows: Weights) -> AwaleNetworkWeights:
    """A table of these rows, as kernels read it."""
    weights = AwaleNetworkWeights.new()
    np.asarray(weights.rows)[:] = rows
    return weights
