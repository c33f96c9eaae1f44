"""Heuristics by name with their settings, as in `alphabeta:mixed@6,thresholds=30-55`, prepared for kernels."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml

from awello.errors import ConfigError, join_choices
from awello.evaluate import awale, heuristics
from awello.evaluate.heuristics import HeuristicState
from awello.folders import data_file
from awello.kernel import U
from awello.memory import address_of
from awello.position import Position
from awello.rules.game import Game
from awello.rules.othello import square_at

Rows = Sequence[Sequence[int]]
MAX_SETTING = 10_000  # limits square values and weights, so that estimates stay below the value of a won game

HEURISTICS = {  # by family, the default heuristic first
    "othello": {
        "positional": heuristics.POSITIONAL,
        "absolute": heuristics.ABSOLUTE,
        "mobility": heuristics.MOBILITY,
        "mixed": heuristics.MIXED,
        "tactical": heuristics.TACTICAL,
    },
    "awale": {
        "diffscore": heuristics.DIFFSCORE,
        "h1": awale.H1,
        "h2": awale.H2,
        **dict.fromkeys(("h3", "h4", "h5"), awale.H3),  # see `awale.py` for the differences
        "h6": awale.H6,
        "travers": awale.TRAVERS,
    },
}
HEURISTIC_IDS = {name: heuristic_id for family in HEURISTICS.values() for name, heuristic_id in family.items()}
ROOT_RELATIVE_HEURISTICS = ("h5",)  # heuristics that measure the change of the features since the root
SQUARE_TABLES: dict[str, Rows] = {  # as published: the top left quarter of a board
    "1": ((500, -150, 30, 10), (-150, -250, 0, 0), (30, 0, 1, 2), (10, 0, 2, 16)),
    "2": ((100, -20, 10, 5), (-20, -50, -2, -2), (10, -2, -1, -1), (5, -2, -1, -1)),
}
QUARTER_LINES = {8: (0, 1, 2, 3), 6: (0, 1, 3), 4: (0, 3)}  # by board size: the rows and columns of the quarter to use


@dataclass(frozen=True)
class Heuristic:
    """A heuristic and its settings."""

    name: str
    square_table: str = "1"
    """The square table: 1, 2, or a YAML file."""
    thresholds: tuple[int, int] = (30, 55)
    """The numbers of discs at which `mixed` and `tactical` switch to their next phase."""
    corners: int = 0
    """The value of each corner for `mobility` and for the mobility phase of `mixed`."""
    weights: tuple[int, ...] = ()
    """Awalé: for each feature, the weights for the player and for the opponent; default: the shipped weights."""

    def check(self, game: Game) -> None:
        """Raise `ConfigError` if the settings are invalid for a game."""
        if self.name not in (names := list_heuristics(game)):
            raise ConfigError(f"{self.name!r} is not a heuristic for {game.family}: choose {join_choices(names)}")
        if not 0 <= self.thresholds[0] <= self.thresholds[1] <= MAX_SETTING:
            low, high = self.thresholds
            raise ConfigError(
                f"thresholds={low}-{high} is invalid: use ascending numbers from 0 to {MAX_SETTING}, such as 30-55"
            )
        if abs(self.corners) > MAX_SETTING:
            raise ConfigError(f"corners={self.corners} is out of range: use {-MAX_SETTING} to {MAX_SETTING}")
        if self.weights and len(self.weights) != count_weights(self.name):
            count, advice = count_weights(self.name), f"choose a file that 'awello train' wrote for {self.name}"
            raise ConfigError(f"{self.name} needs {count} weights, not {len(self.weights)}: {advice}")
        if any(abs(weight) > MAX_SETTING for weight in self.weights):
            raise ConfigError(f"a weight of {self.name} is out of range: use {-MAX_SETTING} to {MAX_SETTING}")


def list_heuristics(game: Game) -> list[str]:
    """Return the names of the heuristics of a game."""
    return list(HEURISTICS[game.family])


def count_weights(name: str) -> int:
    """Return the number of weights of a heuristic: two per feature."""
    return 2 * len(awale.FEATURES.get(HEURISTIC_IDS[name], ()))


@cache
def load_shipped_weights() -> dict[str, tuple[int, ...]]:
    """Load the weights that `awello train` found for Awalé's heuristics."""
    content = json.loads(data_file("awale.json").read_text("utf-8"))
    return {name: tuple(weights) for name, weights in content.items()}


def read_trained_numbers(file: str, *keys: str) -> tuple[int, ...]:
    """Read integers from a file written by `awello train`, such as the `weights` of `h3`."""
    try:
        content = json.loads(Path(file).read_text("utf-8"))
        for key in keys:
            content = content[key]
        return tuple(int(np.int64(number)) for number in content)  # kernels use 64-bit integers
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        advice = "choose a file that 'awello train' wrote for this player"
        problem = f"cannot be read or does not contain the {' of '.join(keys)}"
        raise ConfigError(f"{file!r} {problem}: {advice}") from None


class Evaluator:
    """A heuristic prepared for kernels: its id, and a state with its settings and the node counts of a search."""

    cutoff_margin = 0
    """How far a value must exceed beta to cause a cutoff."""

    def __init__(self, game: Game, heuristic: Heuristic, states: npt.NDArray[Any] | None = None) -> None:
        """Initialise the only element of `states` (default: a new array).

        A search whose own state contains a `HeuristicState` passes that field as `states`.
        """
        heuristic.check(game)
        states = HeuristicState.new_array(1) if states is None else states
        self.state: HeuristicState = states[0]
        self.state_array = states  # faster to access than `state`; used for fields that every search sets
        # A search with a larger state replaces this with the address of that state.
        self.address = address_of(states)
        self.heuristic_id = HEURISTIC_IDS[heuristic.name]
        self.root_relative = heuristic.name in ROOT_RELATIVE_HEURISTICS
        if self.heuristic_id < heuristics.DIFFSCORE:
            self._fill_othello(game, heuristic)
        elif weights := heuristic.weights or load_shipped_weights().get(heuristic.name):
            self._fill_awale(weights)

    def _fill_othello(self, game: Game, heuristic: Heuristic) -> None:
        state: Any = self.state
        state.row_values[:] = sum_values_by_row(expand_table(load_square_table(heuristic.square_table), game.size))
        state.mobility_from, state.absolute_from = heuristic.thresholds
        state.corner_bonus = heuristic.corners
        state.left_edge, state.right_edge, state.top_edge, state.bottom_edge = build_edge_masks(game.size)

    def _fill_awale(self, weights: Sequence[int]) -> None:
        for name, own, opp in zip(awale.FEATURES[self.heuristic_id], weights[::2], weights[1::2], strict=True):
            setattr(self.state.weights.own, name, own)
            setattr(self.state.weights.opp, name, opp)

    def prepare(self, position: Position, depth: int) -> None:
        """Prepare the search of a position to a depth, and reset the node counts."""
        self.state_array["inner_nodes"] = self.state_array["leaves"] = 0
        self.state_array["opponent_at_leaf"] = depth % 2 == 1
        if self.root_relative:
            words = U(position.own), U(position.opp)
            self.state.root_value = awale.evaluate_features(self.heuristic_id, *words, self.state.weights)

    @property
    def nodes(self) -> int:
        """The number of positions visited since the search started."""
        return int(self.state_array["inner_nodes"][0] + self.state_array["leaves"][0])

    @property
    def leaves(self) -> int:
        """The number of positions evaluated since the search started."""
        return int(self.state_array["leaves"][0])


def load_square_table(name: str) -> Rows:
    """Load a square table by number, or from the key `square_table` of a YAML file with 4x4 or 8x8 values."""
    if name in SQUARE_TABLES:
        return SQUARE_TABLES[name]
    try:
        content = yaml.safe_load(Path(name).read_text("utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        advice = f"choose {', '.join(SQUARE_TABLES)} or a YAML file with a square table"
        raise ConfigError(f"{name!r} is not a square table: {advice}") from None
    rows: Any = content.get("square_table") if isinstance(content, dict) else None
    try:
        table = np.array(rows, np.int32)
    except (TypeError, ValueError, OverflowError):
        table = np.zeros(0, np.int32)
    if table.shape not in ((4, 4), (8, 8)) or np.abs(table).max() > MAX_SETTING:
        advice = f"under the key 'square_table', write 4 rows of 4 or 8 rows of 8 integers up to ±{MAX_SETTING}"
        raise ConfigError(f"{name!r} does not contain a valid square table: {advice}")
    return [[int(value) for value in row] for row in table]


def expand_table(rows: Rows, size: int) -> list[int]:
    """Return 64 square values for a board of this size; squares outside the board have value 0."""
    whole = len(rows) == 8
    if whole and size != 8:
        raise ConfigError(f"a square table of 8 rows does not fit a board of size {size}: use 4 rows of 4 values")
    lines = range(8) if whole else [QUARTER_LINES[size][min(line, size - 1 - line)] for line in range(size)]
    values = [0] * 64
    for row, at_row in enumerate(lines):
        for column, at_column in enumerate(lines):
            values[square_at(column, row, size)] = rows[at_row][at_column]
    return values


def sum_values_by_row(values: Sequence[int]) -> npt.NDArray[np.int32]:
    """Return, for each row and each set of squares in it, the sum of the values of these squares."""
    columns = np.arange(256) >> np.arange(8)[:, None] & 1
    return np.asarray(np.reshape(values, (8, 8)) @ columns, np.int32)


def build_edge_masks(size: int) -> tuple[int, int, int, int]:
    """Return the squares of the left, right, top and bottom edges of a board."""
    ends = (0, size - 1)
    columns = [sum(1 << square_at(end, row, size) for row in range(size)) for end in ends]
    rows = [sum(1 << square_at(column, end, size) for column in range(size)) for end in ends]
    return columns[0], columns[1], rows[0], rows[1]
