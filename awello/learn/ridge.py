"""Ridge regression for weight tables: find weights whose sums come close to given values.

The fit minimises the squared residuals, plus `strength` times the squared distance of the weights from their initial
values: a weight used by n examples moves about n / (n + strength) of the way to the value that fits them best.  The
conjugate gradient method (Hestenes and Stiefel, 1952), preconditioned by the number of uses of each weight, needs about
a dozen iterations, each with two passes over the examples.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from awello.kernel import Float32Array, Int32Array, kernel

CHUNK_COUNT = 8  # the examples are always split into this many parts, so results do not depend on the thread count


@kernel("void(int32[:, ::1], float32[::1], float32[::1])")
def sum_weights(indices: Int32Array, weights: Float32Array, values: Float32Array) -> None:
    """Compute the value of each example: the sum of its weights."""
    for example in range(indices.shape[0]):
        value = np.float32(0)
        for column in range(indices.shape[1]):
            value += weights[indices[example, column]]
        values[example] = value


@kernel("void(int32[:, ::1], float32[::1], float32[::1])")
def scatter_values(indices: Int32Array, values: Float32Array, sums: Float32Array) -> None:
    """Add the value of each example to the sum of each of its weights."""
    for example in range(indices.shape[0]):
        value = values[example]
        for column in range(indices.shape[1]):
            sums[indices[example, column]] += value


class Ridge:
    """A regression problem, solved by several threads."""

    def __init__(self, indices: Int32Array, targets: Float32Array, size: int, pool: ThreadPoolExecutor) -> None:
        self.indices, self.targets, self.size, self.pool = indices, targets, size, pool
        bounds = np.linspace(0, len(indices), CHUNK_COUNT + 1).astype(int)
        self.chunks: Sequence[slice] = [slice(*pair) for pair in pairwise(bounds)]

    def predict(self, weights: Float32Array) -> Float32Array:
        """Predict the values of the examples."""
        values = np.empty(len(self.indices), np.float32)
        list(self.pool.map(lambda chunk: sum_weights(self.indices[chunk], weights, values[chunk]), self.chunks))
        return values

    def sum_per_weight(self, values: Float32Array) -> Float32Array:
        """Sum, for each weight, the values of the examples that use it."""
        shares = np.zeros((CHUNK_COUNT, self.size), np.float32)
        tasks = enumerate(self.chunks)
        list(self.pool.map(lambda task: scatter_values(self.indices[task[1]], values[task[1]], shares[task[0]]), tasks))
        total: Float32Array = shares.sum(axis=0)
        return total

    def fit(self, start: Float32Array, strength: float, iterations: int) -> Float32Array:
        """Fit by conjugate gradients, starting at `start`; return the weights."""
        weights, counts = start.copy(), self.sum_per_weight(np.ones(len(self.indices), np.float32))
        scale: Float32Array = np.reciprocal(counts + np.float32(strength))
        residuals = self.targets - self.predict(weights)
        gradient = self.sum_per_weight(residuals)
        step = direction = scale * gradient
        norm = float(gradient @ step)
        for _ in range(iterations):
            if norm <= 0:
                break
            change = self.predict(direction)
            length = norm / (float(change @ change) + strength * float(direction @ direction))
            weights += np.float32(length) * direction
            residuals -= np.float32(length) * change
            gradient = self.sum_per_weight(residuals) - np.float32(strength) * (weights - start)
            step, previous = scale * gradient, norm
            norm = float(gradient @ step)
            direction = step + np.float32(norm / previous) * direction
        return weights
