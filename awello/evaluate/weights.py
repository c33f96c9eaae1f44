"""The weights that Awello ships for its champion: a table for each stage of the game."""

from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from awello.evaluate.patterns import FIRST, WIDTH


@cache
def pattern_weights() -> npt.NDArray[np.int16]:
    """The weights by stage and place, as `evaluate.patterns` orders them."""
    with np.load(files("awello").joinpath("data/patterns.npz")) as content:  # type: ignore[arg-type]
        return np.ascontiguousarray(content["weights"])


def stage_of(empties: int) -> int:
    """The stage of a position with so many empty squares."""
    return min(max(0, (empties - FIRST) // WIDTH), len(pattern_weights()) - 1)


@cache
def awale_weights() -> npt.NDArray[np.int32]:
    """What seeds in each pit are worth to the mover, by stage, pit and number of seeds, as `engine.awale` reads it."""
    with np.load(files("awello").joinpath("data/pits.npz")) as content:  # type: ignore[arg-type]
        return np.ascontiguousarray(content["weights"], np.int32)
