"""Load and save the champion's learnt weights: the shipped weights, and those that you train.

Configurations that are mirror images of each other have the same weight.  Such *tied* weights are learnt together and
stored once.
"""

import json
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from awello.errors import ConfigError
from awello.evaluate.awale_network import ROW_COUNT, UNIT_COUNT, AwaleNetworkWeights
from awello.evaluate.patterns import (
    FIRST_STAGE_EMPTIES,
    LANES,
    SHAPE_SIZES,
    STAGE_WEIGHT_COUNT,
    STAGE_WIDTH,
    VIEW_COUNT,
)
from awello.evaluate.perceptron_weights import LOAD_ERRORS
from awello.folders import data_file, replace_atomically
from awello.kernel import Int16Array, Int32Array

FILE_VERSION = 1
STAGE_COUNT = 25


_load_lock = threading.Lock()


@cache
def compute_tied_indices() -> Int32Array:
    """Return, for each weight of a stage, its index in the file; tied weights share an index."""
    smallest = np.arange(STAGE_WEIGHT_COUNT)
    starts = np.cumsum([0, *SHAPE_SIZES])
    for shape, squares in enumerate(LANES[::VIEW_COUNT]):
        mirrored = [square ^ 7 for square in squares]
        lane = next(lane for lane, other in enumerate(LANES) if set(other) == set(mirrored))
        powers = 3 ** np.arange(len(squares))
        digits = np.arange(SHAPE_SIZES[shape])[:, None] // powers % 3
        images = starts[lane // VIEW_COUNT] + digits @ powers[[LANES[lane].index(square) for square in mirrored]]
        indices = starts[shape] + np.arange(SHAPE_SIZES[shape])
        smallest[indices] = np.minimum(smallest[indices], images)
    return np.unique(smallest, return_inverse=True)[1].astype(np.int32)


@dataclass(frozen=True)
class PatternWeights:
    """The weights of Othello's patterns, with a description of their training."""

    weights: Int16Array
    """The weights by stage and index in the file."""
    metadata: dict[str, Any]

    def expand(self) -> Int16Array:
        """Return the weights by stage in the order of `evaluate.patterns`, with tied weights repeated."""
        return np.ascontiguousarray(self.weights[:, compute_tied_indices()])


def load_pattern_file(file: Path) -> PatternWeights:
    """Load a file written by `save_pattern_file`."""
    try:
        with np.load(file) as content:
            version, weights = int(content["version"]), content["weights"]
            metadata = json.loads(str(content["metadata"]))
    except FileNotFoundError:
        raise _missing_file_error(file, "awello train patterns") from None
    except (*LOAD_ERRORS, json.JSONDecodeError):
        advice = "train patterns with 'awello train patterns'"
        raise ConfigError(f"{str(file)!r} does not contain pattern weights: {advice}") from None
    shape = STAGE_COUNT, compute_tied_indices().max() + 1
    if version != FILE_VERSION or weights.shape != shape or weights.dtype != np.int16:
        raise ConfigError(
            f"the weights in {str(file)!r} do not fit this version of Awello: "
            "train new ones with 'awello train patterns'"
        )
    return PatternWeights(weights, metadata)


def _missing_file_error(file: Path, command: str) -> ConfigError:
    return ConfigError(f"weights file {str(file)!r} does not exist: check the path, or train weights with {command!r}")


def save_pattern_file(file: Path, patterns: PatternWeights) -> None:
    """Write weights and the description of their training to a file."""
    with replace_atomically(file) as content:
        metadata = json.dumps(patterns.metadata)
        np.savez_compressed(content, version=FILE_VERSION, weights=patterns.weights, metadata=metadata)


def load_pattern_weights(file: Path | None = None) -> Int16Array:
    """Load pattern weights from a file (default: the shipped file) as `expand` returns them, and cache them."""
    with _load_lock:  # with only a cache, concurrent threads could each load a copy
        return _load_patterns(file)


@cache
def _load_patterns(file: Path | None) -> Int16Array:
    return load_pattern_file(file or data_file("patterns.npz")).expand()


def stage_of(empties: int) -> int:
    """Return the stage of a position with this number of empty squares."""
    return min(max(0, (empties - FIRST_STAGE_EMPTIES) // STAGE_WIDTH), STAGE_COUNT - 1)


def load_awale_network_weights(file: Path | None = None) -> AwaleNetworkWeights:
    """Load the weights of `evaluate.awale_network` from a file (default: the shipped file)."""
    file = file or data_file("awale_network.npz")
    try:
        with np.load(file) as content:
            rows = content["weights"]
        if rows.shape != (ROW_COUNT, UNIT_COUNT) or rows.dtype != np.int16:
            raise ValueError
    except FileNotFoundError:
        raise _missing_file_error(file, "awello train awale-network") from None
    except LOAD_ERRORS:
        advice = "train them with 'awello train awale-network'"
        raise ConfigError(f"{str(file)!r} does not contain weights of the Awalé network: {advice}") from None
    return to_awale_network_weights(rows)


def to_awale_network_weights(rows: Int16Array) -> AwaleNetworkWeights:
    """Convert the rows of weights in a file to the layout used by the kernels."""
    weights = AwaleNetworkWeights.new()
    np.asarray(weights.rows)[:] = rows
    return weights
