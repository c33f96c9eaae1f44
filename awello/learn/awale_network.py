"""Train the small network of Awalé's champion by self-play.

In each round, the current network (`evaluate.awale_network`) plays games of every variant from random openings.  Only
positions whose best move captures nothing become examples, because the search evaluates only quiet positions.  The
target is the value of a search, mixed with the outcome of the game (TD(lambda)).  Then the network is trained with Adam
on random batches of the latest examples.  The error on a round's games is measured before the network is trained on
them.
"""

import math
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from awello.engine.awale_search import NO_REDUCTIONS, AwaleWorker
from awello.engine.awale_transposition_table import ENTRY_BYTES
from awello.engine.tablebase import load_or_build_tablebase
from awello.engine.threads import NO_NODE_LIMIT
from awello.engine.transposition_table import TranspositionTable
from awello.errors import ConfigError
from awello.evaluate.awale_network import (
    IN_PLAY_ROW,
    MAX_OUTPUT_WEIGHT,
    MAX_WEIGHT,
    OUTPUT_ROW,
    OUTPUT_SCALE,
    PIT_COUNT,
    PIT_SLOTS,
    ROW_COUNT,
    UNIT_COUNT,
    WEIGHT_SCALE,
    AwaleNetworkWeights,
)
from awello.evaluate.perceptron_weights import LOAD_ERRORS
from awello.evaluate.weights import to_awale_network_weights
from awello.folders import replace_atomically
from awello.kernel import Float32Array, Int16Array, Int64Array, U, Words
from awello.learn.awale_games import MAX_GAME_PLIES, PlayedPosition, play_game
from awello.rules.awale import START_ROW
from awello.rules.game import GAMES_BY_VARIANT, Game

GAMES_PER_VARIANT = 320  # in each round
SEARCH_DEPTH = 8
MAX_OPENING_PLIES = 30  # openings are random and shorter than this
RANDOM_MOVES_PER_256 = 16  # average number of random moves in 256 moves after the opening
TD_LAMBDA = 0.7  # weight of the result of playing on in a training target
TASKS_PER_VARIANT = 4  # the games of a round are split into this many tasks for the threads
BUFFER_EXAMPLES = 1_000_000
SAMPLES_PER_EXAMPLE, BATCH_SIZE = 8, 1024
LEARNING_RATE, FINAL_LEARNING_RATE = 3e-3, 5e-5
RATE_FACTORS = np.where(
    np.arange(ROW_COUNT)[:, None] == OUTPUT_ROW, np.float32(5), np.float32(1)
)  # the output layer learns faster
ADAM_BETA1, ADAM_BETA2 = 0.9, 0.999

Examples = tuple[Words, Float32Array]


def _initial_rows() -> Float32Array:
    """Make an untrained network: random weights for the hidden units, and zeros for the output."""
    rows = np.random.default_rng(1).normal(0, 0.12, (ROW_COUNT, UNIT_COUNT)).astype(np.float32)
    rows[OUTPUT_ROW] = 0
    return rows


@dataclass
class AwaleNetworkTraining:
    """The training state: the network's rows, Adam's moments and the latest examples."""

    rows: Float32Array = field(default_factory=_initial_rows)
    mean: Float32Array = field(default_factory=lambda: np.zeros((ROW_COUNT, UNIT_COUNT), np.float32))
    square: Float32Array = field(default_factory=lambda: np.zeros((ROW_COUNT, UNIT_COUNT), np.float32))
    steps: int = 0
    rounds: int = 0
    seconds: float = 0.0
    boards: Words = field(default_factory=lambda: np.zeros((0, 2), np.uint64))
    values: Float32Array = field(default_factory=lambda: np.zeros(0, np.float32))

    def weights(self) -> Int16Array:
        """Return the weights, quantised for the search."""
        weights: Int16Array = np.clip(np.rint(WEIGHT_SCALE * self.rows), -MAX_WEIGHT, MAX_WEIGHT).astype(np.int16)
        weights[OUTPUT_ROW] = np.clip(
            np.rint(OUTPUT_SCALE * self.rows[OUTPUT_ROW]), -MAX_OUTPUT_WEIGHT, MAX_OUTPUT_WEIGHT
        )
        return weights

    def predict(self, boards: Words) -> Float32Array:
        """Predict the values of positions, in seeds."""
        sums = sum(self.rows[indices] for indices in encode_boards(boards).T)
        predicted: Float32Array = np.square(np.clip(sums, 0, 1)) @ self.rows[OUTPUT_ROW]
        return predicted

    def add(self, boards: Words, values: Float32Array) -> None:
        """Add examples to the buffer, which keeps only the latest `BUFFER_EXAMPLES`."""
        self.boards = np.concatenate([self.boards, boards])[-BUFFER_EXAMPLES:]
        self.values = np.concatenate([self.values, values])[-BUFFER_EXAMPLES:]

    def step(self, indices: Int64Array, values: Float32Array, rate: float) -> None:
        """Take one step of Adam on the squared error of a batch."""
        inputs = np.zeros((len(indices), OUTPUT_ROW), np.float32)
        np.put_along_axis(inputs, indices, np.float32(1), axis=1)
        sums = inputs @ self.rows[:OUTPUT_ROW]
        hidden = np.clip(sums, 0, 1)
        slope = 2 / len(values) * (np.square(hidden) @ self.rows[OUTPUT_ROW] - values)
        inner = 2 * slope[:, None] * self.rows[OUTPUT_ROW] * np.where(sums < 1, hidden, 0)
        gradient = np.concatenate([inputs.T @ inner, (slope @ np.square(hidden))[None]])
        self.steps += 1
        self.mean += (1 - ADAM_BETA1) * (gradient - self.mean)
        self.square += (1 - ADAM_BETA2) * (np.square(gradient) - self.square)
        scale = np.sqrt(self.square / (1 - ADAM_BETA2**self.steps)) + 1e-8
        self.rows -= rate * RATE_FACTORS * self.mean / (1 - ADAM_BETA1**self.steps) / scale


@dataclass(frozen=True)
class TrainingRound:
    """The result of a training round."""

    number: int
    examples: int
    error: float
    """Root mean square error on the round's games before training on them, in seeds."""
    baseline_error: float
    """Root mean square error of always predicting 0, in seeds."""


def play_games(game: Game, weights: AwaleNetworkWeights, games: int, seed: str) -> Examples:
    """Play games; return the positions whose best move captures nothing, and their target values."""
    rng, base = random.Random(seed), load_or_build_tablebase(game)
    worker = AwaleWorker(0, base, TranspositionTable(1, bucket_bytes=ENTRY_BYTES), weights)
    worker.state.node_limit, worker.state.tablebase_seeds = NO_NODE_LIMIT, base.seeds
    worker.state.reduce_from_depth = NO_REDUCTIONS
    played, words = PlayedPosition.new_array(MAX_GAME_PLIES), np.array([rng.getrandbits(63) | 1], np.uint64)
    examples = []
    for _ in range(games):
        worker.tt.clear()
        opening = rng.randrange(1, MAX_OPENING_PLIES)
        count = play_game(
            U(START_ROW),
            U(START_ROW),
            played,
            words,
            opening,
            SEARCH_DEPTH,
            RANDOM_MOVES_PER_256,
            TD_LAMBDA,
            worker.state,
        )
        examples.append(played[:count][played["captured"][:count] == 0])
    positions = np.concatenate(examples)
    return np.stack([positions["own"], positions["opp"]], axis=1), positions["value"].astype(np.float32)


def encode_boards(boards: Words) -> Int64Array:
    """Return the indices of the network's rows that each position uses."""
    pits = [boards[:, pit // 6] >> U(8 * (pit % 6)) & U(0xFF) for pit in range(PIT_COUNT)]
    seeds = np.stack(pits, 1).astype(np.int64)
    pit_rows = PIT_SLOTS * np.arange(PIT_COUNT) + seeds % PIT_SLOTS
    return np.concatenate([pit_rows, IN_PLAY_ROW + seeds.sum(axis=1, keepdims=True)], axis=1)


def learning_rate_at(done: float) -> float:
    """Return the learning rate after the share `done` of the training: cosine decay to the final rate."""
    return FINAL_LEARNING_RATE + (LEARNING_RATE - FINAL_LEARNING_RATE) * (1 + math.cos(math.pi * done)) / 2


def train(
    network: AwaleNetworkTraining, rounds: int, threads: int, seed: int, on_progress: Callable[[float], object]
) -> Iterator[TrainingRound]:
    """Train until `rounds` rounds, including those of earlier calls, are complete; yield the result of each new round.

    `on_progress` is called with 1 after each round.
    """
    pool = ThreadPoolExecutor(threads)
    try:
        while network.rounds < rounds:
            started = time.perf_counter()
            boards, values = play_round(pool, to_awale_network_weights(network.weights()), f"{seed}/{network.rounds}")
            errors = network.predict(boards) - values
            network.add(boards, values)
            fit(
                network,
                len(values) * SAMPLES_PER_EXAMPLE // BATCH_SIZE,
                learning_rate_at(network.rounds / rounds),
                seed,
            )
            network.rounds += 1
            network.seconds += time.perf_counter() - started
            on_progress(1)
            error, baseline = (float(np.sqrt(np.mean(np.square(wrong)))) for wrong in (errors, values))
            yield TrainingRound(network.rounds, len(values), error, baseline)
    finally:
        pool.shutdown(cancel_futures=True)  # after an interrupt, do not wait for the rest of the round


def play_round(pool: ThreadPoolExecutor, weights: AwaleNetworkWeights, seed: str) -> Examples:
    """Play the games of a round; return their examples."""
    parts = [(game, part) for game in GAMES_BY_VARIANT.values() for part in range(TASKS_PER_VARIANT)]
    tasks = [
        pool.submit(play_games, game, weights, GAMES_PER_VARIANT // TASKS_PER_VARIANT, f"{seed}/{game}/{part}")
        for game, part in parts
    ]
    examples = [task.result() for task in tasks]
    boards, values = zip(*examples, strict=True)
    return np.concatenate(boards), np.concatenate(values)


def fit(network: AwaleNetworkTraining, batches: int, rate: float, seed: int) -> None:
    """Train the network on random batches from its buffer."""
    rng = np.random.default_rng([seed, network.rounds])
    indices = encode_boards(network.boards)
    for _ in range(max(1, batches)):
        chosen = rng.integers(len(indices), size=BATCH_SIZE)
        network.step(indices[chosen], network.values[chosen], rate)


def load_training(file: Path) -> AwaleNetworkTraining:
    """Load a training state, or create one if the file does not exist; raise `ConfigError` if it is damaged."""
    if not file.exists():
        return AwaleNetworkTraining()
    try:
        with np.load(file) as content:
            rows, mean, square = (content[name] for name in ("rows", "mean", "square"))
            steps, rounds, seconds = int(content["steps"]), int(content["rounds"]), float(content["seconds"])
            network = AwaleNetworkTraining(
                rows, mean, square, steps, rounds, seconds, content["boards"], content["values"]
            )
        valid = rows.shape == mean.shape == square.shape == (ROW_COUNT, UNIT_COUNT)
        valid &= len(network.boards) == len(network.values)
    except LOAD_ERRORS:
        valid = False
    if not valid:
        raise ConfigError(
            f"{file} is damaged or was not written by 'awello train awale-network': remove it, or choose another --out"
        )
    return network


def save_training(file: Path, network: AwaleNetworkTraining) -> None:
    """Write the weights and the state needed to resume training."""
    with replace_atomically(file) as content:
        np.savez(content, weights=network.weights(), **vars(network))
