"""What seeds in each pit are worth to Awalé's champion, learnt from games against itself.

A round plays many shallow games of every variant from random openings, by the weights so far; the first round knows
nothing.  Each position is an example: what its mover won after it, less the opponent.  The weights (one for each stage
of the game, pit and number of seeds) are the least-squares fit to the examples of all rounds, older rounds counting
less and less.  A game is judged before it is learnt from, so the errors told are those of games never seen.
"""

import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.engine.awale import BASE_SEEDS, DEEPEST, EVALUATION_SLOTS, LATE, STAGE, UNIT
from awello.engine.awale_worker import AwaleWorker, Table
from awello.engine.block import LIMIT
from awello.engine.tablebase import need
from awello.engine.threads import NO_LIMIT
from awello.errors import ConfigError
from awello.evaluate.network import DAMAGED
from awello.kernel import U
from awello.learn.awale_games import LONGEST, play_one
from awello.rules.awale import SEEDS, START
from awello.rules.game import VARIANTS, Game

STAGES, PITS, WIDTH = SEEDS // 4 + 1, 12, 4  # a stage is four seeds wide
GAMES, DEPTH, OPENING = 1000, 6, 30  # games of a variant in a round, plies they look ahead, random moves at most
PARTS = 4  # of the games of a variant, for as many threads
KEPT = 0.8  # what the examples of earlier rounds count in the next
SMOOTHNESS = 30.0  # how strongly a weight is drawn to its neighbours and to nothing

Reals = npt.NDArray[np.float64]
Weights = npt.NDArray[np.int16]
Examples = tuple[npt.NDArray[np.uint64], Reals]


@dataclass
class Fit:
    """The sums that a least-squares fit needs, for each stage."""

    products: Reals = field(default_factory=lambda: np.zeros((STAGES, STAGE, STAGE)))
    sums: Reals = field(default_factory=lambda: np.zeros((STAGES, STAGE)))
    rounds: int = 0
    seconds: float = 0.0

    def add(self, places: npt.NDArray[np.int64], stages: npt.NDArray[np.int64], gains: Reals) -> None:
        """Learn from the examples of a round."""
        self.products *= KEPT
        self.sums *= KEPT
        for stage in range(STAGES):
            at, gain = places[stages == stage], gains[stages == stage]
            for one in range(PITS):
                self.sums[stage] += np.bincount(at[:, one], gain, STAGE)
                for other in range(PITS):
                    pairs = np.bincount(at[:, one] * STAGE + at[:, other], minlength=STAGE * STAGE)
                    self.products[stage] += pairs.reshape(STAGE, STAGE)

    def weights(self) -> Weights:
        """The weights that fit best, in UNITs of a seed."""
        found = np.linalg.solve(self.products + PENALTY, self.sums[..., None])
        rounded: Weights = np.rint(UNIT * found).astype(np.int16).reshape(STAGES, PITS, EVALUATION_SLOTS)
        return rounded


def _penalty() -> Reals:
    """What unlikely weights cost: far from nothing, or far from those of one seed more or less."""
    penalty = np.eye(STAGE)
    for place in range(STAGE - 1):
        if (place + 1) % EVALUATION_SLOTS:
            penalty[place : place + 2, place : place + 2] += [[1, -1], [-1, 1]]
    return SMOOTHNESS * penalty


PENALTY = _penalty()


@dataclass(frozen=True)
class Round:
    """What a round taught."""

    number: int
    examples: int
    error: float
    """Seeds, root of the mean square, before these games were learnt from."""
    spread: float
    """The error of knowing nothing."""
    weights: Weights


def play_games(game: Game, weights: npt.NDArray[np.int32], games: int, seed: str) -> Examples:
    """The positions of some games, and what the mover of each won after it."""
    chance, base = random.Random(seed), need(game)
    worker = AwaleWorker(0, base, Table(1), weights)
    worker.words[LIMIT], worker.words[BASE_SEEDS], worker.words[LATE] = NO_LIMIT, base.seeds, DEEPEST
    boards, gains = np.zeros((LONGEST, 2), np.uint64), np.zeros(LONGEST, np.int64)
    state = np.array([chance.getrandbits(63) | 1], np.uint64)
    positions, results = [], []
    for _ in range(games):
        boards[0] = START
        worker.table.clear()
        count = play_one(boards, gains, state, chance.randrange(1, OPENING), DEPTH, worker.address)
        positions.append(boards[:count].copy())
        results.append(gains[:count].astype(np.float64))
    return np.concatenate(positions), np.concatenate(results)


def places_of(boards: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """For each position the places of its pits among the weights of a stage, and its stage."""
    rows = [boards[:, pit // 6] >> U(8 * (pit % 6)) & U(EVALUATION_SLOTS - 1) for pit in range(PITS)]
    pits = np.stack(rows, 1).astype(np.int64)
    return pits + EVALUATION_SLOTS * np.arange(PITS), pits.sum(axis=1) // WIDTH


def learn(fit: Fit, seconds: float, jobs: int, seed: int, step: Callable[[float], object]) -> Iterator[Round]:
    """Rounds until the time is spent, counting what earlier calls spent; `step` is told the seconds of each."""
    pool = ThreadPoolExecutor(jobs)
    try:
        while fit.seconds < seconds:
            begun = time.perf_counter()
            weights = fit.weights()
            table = np.ascontiguousarray(weights, np.int32)
            parts = [(game, part) for game in VARIANTS.values() for part in range(PARTS)]
            tasks = [
                pool.submit(play_games, game, table, GAMES // PARTS, f"{seed}/{fit.rounds}/{game}/{part}")
                for game, part in parts
            ]
            played = [task.result() for task in tasks]
            boards, gains = (np.concatenate(arrays) for arrays in zip(*played, strict=True))
            places, stages = places_of(boards)
            judged = weights.reshape(STAGES, STAGE)[stages[:, None], places].sum(axis=1) / UNIT
            fit.add(places, stages, gains)
            fit.rounds += 1
            fit.seconds += time.perf_counter() - begun
            step(time.perf_counter() - begun)
            error, spread = (float(np.sqrt(np.mean(np.square(values)))) for values in (gains - judged, gains))
            yield Round(fit.rounds, len(gains), error, spread, fit.weights())
    finally:
        pool.shutdown(cancel_futures=True)  # who interrupts a round does not wait for all its games


def load_fit(file: Path) -> Fit:
    """The fit of a file that `save_fit` wrote; a new one if there is none."""
    if not file.exists():
        return Fit()
    try:
        with np.load(file) as content:
            products, sums = (content[name].astype(np.float64) for name in ("products", "sums"))
            fit = Fit(products, sums, int(content["rounds"]), float(content["seconds"]))
        whole = fit.products.shape == (STAGES, STAGE, STAGE) and fit.sums.shape == (STAGES, STAGE)
    except DAMAGED:
        whole = False
    if not whole:
        raise ConfigError(f"{file} holds no weights in the making: remove it, or choose another --out")
    return fit


def save_fit(file: Path, fit: Fit) -> None:
    """Write weights, and what it takes to go on; the file is whole or as it was before."""
    draft = file.with_name(f".{file.name}.npz")
    products, sums = fit.products.astype(np.float32), fit.sums.astype(np.float32)
    np.savez_compressed(
        draft, weights=fit.weights(), rounds=fit.rounds, seconds=fit.seconds, products=products, sums=sums
    )
    draft.replace(file)
