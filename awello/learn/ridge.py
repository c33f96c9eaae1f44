"""Ridge regression over tables of weights: what each place must hold so that the sums come close to given values.

The fit minimises the squared misses and, `strength` times, the squared distance of the weights from where they began: a
weight that n examples know goes n / (n + strength) of its way.  The conjugate gradient method (Hestenes and Stiefel
1952), scaled by how often a place is named, needs a dozen rounds of two passes over the examples.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from awello.kernel import kernel

PARTS = 8  # of the examples, for as many threads; always the same, so that sums are

Places = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float32]


@kernel("void(int32[:, ::1], float32[::1], float32[::1])")
def add_up(places: Places, weights: Reals, values: Reals) -> None:
    """The value of each example."""
    for example in range(places.shape[0]):
        value = np.float32(0)
        for column in range(places.shape[1]):
            value += weights[places[example, column]]
        values[example] = value


@kernel("void(int32[:, ::1], float32[::1], float32[::1])")
def share_out(places: Places, values: Reals, sums: Reals) -> None:
    """Add each example's value to all its places."""
    for example in range(places.shape[0]):
        value = values[example]
        for column in range(places.shape[1]):
            sums[places[example, column]] += value


class Ridge:
    """Examples to be fitted, by some threads."""

    def __init__(self, places: Places, targets: Reals, size: int, pool: ThreadPoolExecutor) -> None:
        self.places, self.targets, self.size, self.pool = places, targets, size, pool
        bounds = np.linspace(0, len(places), PARTS + 1).astype(int)
        self.parts: Sequence[slice] = [slice(*pair) for pair in pairwise(bounds)]

    def values(self, weights: Reals) -> Reals:
        """What the weights make of the examples."""
        values = np.empty(len(self.places), np.float32)
        list(self.pool.map(lambda part: add_up(self.places[part], weights, values[part]), self.parts))
        return values

    def sums(self, values: Reals) -> Reals:
        """At each place the sum of the values of the examples that name it."""
        shares = np.zeros((PARTS, self.size), np.float32)
        tasks = enumerate(self.parts)
        list(self.pool.map(lambda task: share_out(self.places[task[1]], values[task[1]], shares[task[0]]), tasks))
        total: Reals = shares.sum(axis=0)
        return total

    def fit(self, start: Reals, strength: float, rounds: int) -> Reals:
        """The weights after so many rounds of conjugate gradients."""
        weights, named = start.copy(), self.sums(np.ones(len(self.places), np.float32))
        scale: Reals = np.reciprocal(named + np.float32(strength))
        misses = self.targets - self.values(weights)
        slope = self.sums(misses)
        step = direction = scale * slope
        size = float(slope @ step)
        for _ in range(rounds):
            if size <= 0:
                break
            change = self.values(direction)
            length = size / (float(change @ change) + strength * float(direction @ direction))
            weights += np.float32(length) * direction
            misses -= np.float32(length) * change
            slope = self.sums(misses) - np.float32(strength) * (weights - start)
            step, before = scale * slope, size
            size = float(slope @ step)
            direction = step + np.float32(size / before) * direction
        return weights
