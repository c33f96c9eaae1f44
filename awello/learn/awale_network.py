"""What seeds in each pit are worth to Awalé's champion, learnt from games against itself.

Each round plays games of every variant from random openings with the current network (`evaluate.awale_network`).
Every position whose best move captures nothing becomes an example; captures are played out before a position is
evaluated.  Its target is the value of a search, mixed with the outcome of the game (TD(lambda)).  The examples of the
latest rounds then train the network (Adam).  A game is evaluated before it is learnt from, so the reported errors are
those of unseen games.
"""

import math
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.engine.awale_search import NO_REDUCTIONS, AwaleWorker
from awello.engine.awale_transposition_table import ENTRY_BYTES
from awello.engine.tablebase import load_or_build
from awello.engine.threads import NO_NODE_LIMIT
from awello.engine.transposition_table import TranspositionTable
from awello.errors import ConfigError
from awello.evaluate.awale_network import (
    IN_PLAY_ROW,
    MAX_OUTPUT_WEIGHT,
    MAX_WEIGHT,
    OUTPUT_ROW,
    OUTPUT_SCALE,
    PIT_SLOTS,
    PITS,
    ROWS,
    UNITS,
    WEIGHT_SCALE,
    AwaleNetworkWeights,
)
from awello.evaluate.perceptron_weights import LOAD_ERRORS
from awello.evaluate.weights import to_awale_network_weights
from awello.folders import replace_atomically
from awello.kernel import U, Words
from awello.learn.awale_games import LONGEST, PlayedPosition, play_one
from awello.rules.awale import START
from awello.rules.game import GAMES_BY_VARIANT, Game

GAMES, DEPTH, OPENING = 320, 8, 30  # games of a variant in a round, plies they look ahead, random moves at most
WILD = 16  # moves of 256 that are random
TRUST = 0.7  # lambda: how far the rest of a game counts, and not the search
PARTS = 4  # of the games of a variant, for as many threads
KEPT = 1_000_000  # the latest examples
SHOWN, BATCH = 8, 1024  # how often an example is shown, how many at once
RATE, LAST_RATE = 3e-3, 5e-5  # of learning, in the first round and in the last
BOLDNESS = np.where(np.arange(ROWS)[:, None] == OUTPUT_ROW, np.float32(5), np.float32(1))  # the last row learns faster
FORGET, FORGET_SQUARES = 0.9, 0.999  # of the means of gradients

Reals = npt.NDArray[np.float32]
Places = npt.NDArray[np.int64]
Weights = npt.NDArray[np.int16]
Examples = tuple[Words, Reals]


def _first_rows() -> Reals:
    """A network that knows nothing, although its units differ."""
    rows = np.random.default_rng(1).normal(0, 0.12, (ROWS, UNITS)).astype(np.float32)
    rows[OUTPUT_ROW] = 0
    return rows


@dataclass
class AwaleNetworkTraining:
    """A network in the making: its rows, what Adam remembers, the latest examples."""

    rows: Reals = field(default_factory=_first_rows)
    mean: Reals = field(default_factory=lambda: np.zeros((ROWS, UNITS), np.float32))
    square: Reals = field(default_factory=lambda: np.zeros((ROWS, UNITS), np.float32))
    steps: int = 0
    rounds: int = 0
    seconds: float = 0.0
    boards: Words = field(default_factory=lambda: np.zeros((0, 2), np.uint64))
    values: Reals = field(default_factory=lambda: np.zeros(0, np.float32))

    def weights(self) -> Weights:
        """The rows in whole numbers, as the search reads them."""
        weights: Weights = np.clip(np.rint(WEIGHT_SCALE * self.rows), -MAX_WEIGHT, MAX_WEIGHT).astype(np.int16)
        weights[OUTPUT_ROW] = np.clip(
            np.rint(OUTPUT_SCALE * self.rows[OUTPUT_ROW]), -MAX_OUTPUT_WEIGHT, MAX_OUTPUT_WEIGHT
        )
        return weights

    def judge(self, boards: Words) -> Reals:
        """What positions are worth, in seeds."""
        sums = sum(self.rows[places] for places in places_of(boards).T)
        judged: Reals = np.square(np.clip(sums, 0, 1)) @ self.rows[OUTPUT_ROW]
        return judged

    def add(self, boards: Words, values: Reals) -> None:
        """Keep examples, and forget the oldest."""
        self.boards = np.concatenate([self.boards, boards])[-KEPT:]
        self.values = np.concatenate([self.values, values])[-KEPT:]

    def step(self, places: Places, values: Reals, rate: float) -> None:
        """Follow the gradient of the squared error of some examples, by Adam."""
        inputs = np.zeros((len(places), OUTPUT_ROW), np.float32)
        np.put_along_axis(inputs, places, np.float32(1), axis=1)
        sums = inputs @ self.rows[:OUTPUT_ROW]
        held = np.clip(sums, 0, 1)
        slope = 2 / len(values) * (np.square(held) @ self.rows[OUTPUT_ROW] - values)
        inner = 2 * slope[:, None] * self.rows[OUTPUT_ROW] * np.where(sums < 1, held, 0)
        gradient = np.concatenate([inputs.T @ inner, (slope @ np.square(held))[None]])
        self.steps += 1
        self.mean += (1 - FORGET) * (gradient - self.mean)
        self.square += (1 - FORGET_SQUARES) * (np.square(gradient) - self.square)
        usual = np.sqrt(self.square / (1 - FORGET_SQUARES**self.steps)) + 1e-8
        self.rows -= rate * BOLDNESS * self.mean / (1 - FORGET**self.steps) / usual


@dataclass(frozen=True)
class TrainingRound:
    """What a round taught."""

    number: int
    examples: int
    error: float
    """Seeds, root of the mean square, before these games were learnt from."""
    spread: float
    """The error of knowing nothing."""


def play_games(game: Game, weights: AwaleNetworkWeights, games: int, seed: str) -> Examples:
    """The positions of some games whose best move captures nothing, and their values."""
    chance, base = random.Random(seed), load_or_build(game)
    worker = AwaleWorker(0, base, TranspositionTable(1, bucket_bytes=ENTRY_BYTES), weights)
    worker.state.max_nodes, worker.state.tablebase_seeds = NO_NODE_LIMIT, base.seeds
    worker.state.reduce_from_depth = NO_REDUCTIONS
    played, words = PlayedPosition.new_array(LONGEST), np.array([chance.getrandbits(63) | 1], np.uint64)
    examples = []
    for _ in range(games):
        worker.tt.clear()
        opening = chance.randrange(1, OPENING)
        count = play_one(U(START), U(START), played, words, opening, DEPTH, WILD, TRUST, worker.state)
        examples.append(played[:count][played["prize"][:count] == 0])
    found = np.concatenate(examples)
    return np.stack([found["own"], found["opp"]], axis=1), found["value"].astype(np.float32)


def places_of(boards: Words) -> Places:
    """For each position the rows that describe it."""
    held = np.stack([boards[:, pit // 6] >> U(8 * (pit % 6)) & U(0xFF) for pit in range(PITS)], 1).astype(np.int64)
    pits = PIT_SLOTS * np.arange(PITS) + held % PIT_SLOTS
    return np.concatenate([pits, IN_PLAY_ROW + held.sum(axis=1, keepdims=True)], axis=1)


def rate_of(done: float) -> float:
    """The rate of learning when so much of the training is done: a half wave, from the first rate down to the last."""
    return LAST_RATE + (RATE - LAST_RATE) * (1 + math.cos(math.pi * done)) / 2


def learn(
    network: AwaleNetworkTraining, rounds: int, jobs: int, seed: int, step: Callable[[float], object]
) -> Iterator[TrainingRound]:
    """Rounds until there are so many, counting those of earlier calls; `step` is told of each."""
    pool = ThreadPoolExecutor(jobs)
    try:
        while network.rounds < rounds:
            begun = time.perf_counter()
            boards, values = play_round(pool, to_awale_network_weights(network.weights()), f"{seed}/{network.rounds}")
            errors = network.judge(boards) - values
            network.add(boards, values)
            show(network, len(values) * SHOWN // BATCH, rate_of(network.rounds / rounds), seed)
            network.rounds += 1
            network.seconds += time.perf_counter() - begun
            step(1)
            error, spread = (float(np.sqrt(np.mean(np.square(wrong)))) for wrong in (errors, values))
            yield TrainingRound(network.rounds, len(values), error, spread)
    finally:
        pool.shutdown(cancel_futures=True)  # who interrupts a round does not wait for all its games


def play_round(pool: ThreadPoolExecutor, weights: AwaleNetworkWeights, seed: str) -> Examples:
    """The examples of a round's games."""
    parts = [(game, part) for game in GAMES_BY_VARIANT.values() for part in range(PARTS)]
    tasks = [pool.submit(play_games, game, weights, GAMES // PARTS, f"{seed}/{game}/{part}") for game, part in parts]
    played = [task.result() for task in tasks]
    boards, values = zip(*played, strict=True)
    return np.concatenate(boards), np.concatenate(values)


def show(network: AwaleNetworkTraining, batches: int, rate: float, seed: int) -> None:
    """Show the network some of the examples that it keeps, drawn by chance."""
    chance = np.random.default_rng([seed, network.rounds])
    places = places_of(network.boards)
    for _ in range(max(1, batches)):
        chosen = chance.integers(len(places), size=BATCH)
        network.step(places[chosen], network.values[chosen], rate)


def load_network(file: Path) -> AwaleNetworkTraining:
    """The network of a file that `save_network` wrote; a new one if there is none."""
    if not file.exists():
        return AwaleNetworkTraining()
    try:
        with np.load(file) as content:
            rows, mean, square = (content[name] for name in ("rows", "mean", "square"))
            steps, rounds, seconds = int(content["steps"]), int(content["rounds"]), float(content["seconds"])
            network = AwaleNetworkTraining(
                rows, mean, square, steps, rounds, seconds, content["boards"], content["values"]
            )
        whole = rows.shape == mean.shape == square.shape == (ROWS, UNITS) and len(network.boards) == len(network.values)
    except LOAD_ERRORS:
        whole = False
    if not whole:
        raise ConfigError(f"{file} holds no weights in the making: remove it, or choose another --out")
    return network


def save_network(file: Path, network: AwaleNetworkTraining) -> None:
    """Write weights, and all that is needed to resume."""
    with replace_atomically(file) as content:
        np.savez(content, weights=network.weights(), **vars(network))
