"""Train a perceptron from scratch by self-play (a small AlphaZero; based on report 1, with corrections).

Until its time is spent, the training repeats three steps: it plays some games, adds their positions to a replay buffer,
and trains on samples from this buffer.  The loss is the cross-entropy of the moves, plus the squared error of the
value, plus weight decay.  For numerical stability, inputs are normalised, the largest logit is subtracted before the
softmax, gradients are clipped, and weights are clipped at `MAX_WEIGHT`; every step is also checked for values that are
not finite.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.arena.match import Match, play_match
from awello.errors import ConfigError
from awello.evaluate.cnn import SYMMETRY_SQUARES
from awello.evaluate.perceptron import TYPICAL_SEEDS
from awello.evaluate.perceptron_weights import LOAD_ERRORS, Perceptron, load_perceptron_file, new_perceptron
from awello.kernel import FloatArray, U, Words
from awello.limits import Limit
from awello.players.spec import PlayerSpec
from awello.position import Position
from awello.rules.game import PASS, Game
from awello.search.montecarlo import PerceptronTree
from awello.search.uct import MAX_MOVES, MAX_PLAYOUT_PLIES

SIMULATIONS_PER_MOVE = 100
ROOT_NOISE_SHARE = 0.25  # share of noise in the root priors
SAMPLED_PLIES = 16  # number of first plies whose moves are sampled in proportion to their visits
GAMES_PER_ITERATION = 16  # between two phases of training
BUFFER_POSITIONS = 200_000
SAMPLES_PER_POSITION = 6
BATCH_SIZE = 256
LEARNING_RATE, FINAL_LEARNING_RATE = 2e-3, 1e-4
WEIGHT_DECAY = 1e-5
MAX_GRADIENT_NORM = 1.0
MAX_WEIGHT = 4.0
REPORT_COUNT = 10
MATCH_GAMES = 20  # games against UCT for each report
UCT_SIMULATION_FACTOR = 10  # simulations of UCT for each simulation of `puct`


# ---- examples -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PerceptronExamples:
    """Training examples: words (own, opp, legal moves), policy targets and values for the mover."""

    words: Words
    policies: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.words)


class ReplayBuffer:
    """The latest training examples."""

    def __init__(self, moves: int) -> None:
        self.count = 0
        self.words, self.values = np.zeros((BUFFER_POSITIONS, 3), np.uint64), np.zeros(BUFFER_POSITIONS, np.float32)
        self.policies = np.zeros((BUFFER_POSITIONS, moves), np.float32)

    def add(self, examples: PerceptronExamples) -> None:
        """Add examples, overwriting the oldest."""
        slots = np.arange(self.count, self.count + len(examples)) % BUFFER_POSITIONS
        self.words[slots], self.values[slots] = examples.words, examples.values
        self.policies[slots] = examples.policies
        self.count += len(examples)

    def sample(self, rng: np.random.Generator) -> PerceptronExamples:
        """Draw a random batch."""
        chosen = rng.integers(min(self.count, BUFFER_POSITIONS), size=BATCH_SIZE)
        return PerceptronExamples(self.words[chosen], self.policies[chosen], self.values[chosen])


def encode_inputs(name: str, words: Words) -> npt.NDArray[np.float32]:
    """Encode positions as inputs of a perceptron for the board `name`, as in `evaluate.perceptron`; one row each."""
    each = np.ascontiguousarray(words[:, :2]).astype("<u8").view(np.uint8).reshape(len(words), 2, 8)
    if name == "awale":
        return (each[:, :, :7].reshape(len(words), 14) - TYPICAL_SEEDS) / TYPICAL_SEEDS
    return np.unpackbits(each, axis=2, bitorder="little").reshape(len(words), 128).astype(np.float32)


@dataclass(frozen=True)
class Batch:
    """Examples as inputs and targets of a perceptron, one row per example."""

    inputs: FloatArray
    legal: npt.NDArray[np.bool_]
    """Mask of the legal moves."""
    policies: FloatArray
    values: FloatArray


def make_batch(perceptron: Perceptron, examples: PerceptronExamples, symmetry_ids: npt.NDArray[np.int64]) -> Batch:
    """Encode examples for a perceptron; Othello boards are transformed by the given symmetries."""
    inputs, policies = encode_inputs(perceptron.board, examples.words), examples.policies
    legal = (examples.words[:, 2:] >> np.arange(perceptron.move_count, dtype=np.uint64) & U(1)).astype(bool)
    if perceptron.board != "awale":
        squares = SYMMETRY_SQUARES[symmetry_ids]
        inputs = np.take_along_axis(inputs, np.concatenate([squares, squares + 64], axis=1), axis=1)
        legal = np.take_along_axis(legal, squares, axis=1)
        policies = np.take_along_axis(policies, squares, axis=1)
    return Batch(inputs, legal, policies, examples.values)


class PerceptronSelfPlay:
    """Plays self-play games with a perceptron."""

    def __init__(self, game: Game, perceptron: Perceptron, simulations: int = SIMULATIONS_PER_MOVE) -> None:
        self.game, self.perceptron, self.simulations = game, perceptron, simulations
        self.tree = PerceptronTree(MAX_MOVES * (simulations + 1), perceptron=perceptron)

    def play(self, rng: np.random.Generator) -> PerceptronExamples:
        """Play a game; return its positions with the visit shares of the moves and the values.

        The value of a position is the mean of its value in the tree and the result of the game.  The most visited move
        is played, except in the first plies, where moves are sampled in proportion to their visits.
        """
        size = MAX_PLAYOUT_PLIES, self.perceptron.move_count
        noise, temperature_noise = rng.standard_exponential(size), np.ones(size)
        temperature_noise[:SAMPLED_PLIES] = rng.standard_exponential(temperature_noise[:SAMPLED_PLIES].shape)
        position, policies = Position.start(self.game), np.zeros(size, np.float32)
        words, values, sides = list[tuple[int, int, int]](), list[float](), list[int]()
        while not position.over and (ply := len(words)) < MAX_PLAYOUT_PLIES:
            legal = position.legal_moves()
            if legal == (PASS,):  # passes are not training examples
                position = position.after(PASS)
                continue
            moves, visits, value = self.search(position, noise[ply])
            words.append((position.own, position.opp, sum(1 << move for move in legal)))
            policies[ply, moves] = visits / (self.tree.nodes[0].visits - 1)
            values.append(value)
            sides.append(1 - 2 * position.side)
            position = position.after(int(moves[np.argmax(visits / temperature_noise[ply, moves])]))
        first, second = position.score()
        results = np.sign(first - second) * np.array(sides)
        means = 0.5 * (np.array(values) + results)
        return PerceptronExamples(np.array(words, np.uint64), policies[: len(words)], means.astype(np.float32))

    def search(self, position: Position, noise: FloatArray) -> tuple[npt.NDArray[np.int16], FloatArray, float]:
        """Search a position; return its moves, their visits, and the position's value for the mover.

        Noise is added to the root priors, so that games differ and all moves are explored.
        """
        tree, root = self.tree, self.tree.nodes[0]
        tree.reset(position)
        tree.run_simulations(1)
        children = tree.nodes[root.first_child : root.first_child + root.child_count]
        moves, priors = children["move"], children["prior"]
        priors += ROOT_NOISE_SHARE * (noise[moves] / sum(noise[moves]) - priors)
        tree.run_simulations(self.simulations - 1)
        return moves, children["visits"].astype(float), -root.total_value / root.visits


# ---- learning -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TrainingLoss:
    """The parts of the training loss."""

    policy_loss: float
    """Cross-entropy of the moves, in nats."""
    value_loss: float
    """Mean square error of the value."""
    penalty: float
    """Weight decay."""

    @property
    def total(self) -> float:
        """Total loss, which training minimises."""
        return self.policy_loss + self.value_loss + self.penalty


def compute_gradient(
    perceptron: Perceptron,
    weights: FloatArray,
    batch: Batch,
    dropout: float = 0.0,
    rng: np.random.Generator | None = None,
) -> tuple[TrainingLoss, FloatArray]:
    """Compute the loss on a batch, and its gradient; `rng` is used for dropout."""
    matrices, gradient = perceptron.matrices(weights), np.zeros_like(weights)
    gradients, count = perceptron.matrices(gradient), len(batch.inputs)
    # Step 1. Forward pass; the masks combine ReLU and dropout.
    activations, masks = [batch.inputs], []
    for matrix, biases in matrices[:-1]:
        sums = activations[-1] @ matrix + biases
        mask = (sums > 0).astype(weights.dtype)
        if dropout and rng:
            mask *= (rng.random(mask.shape) >= dropout) / (1 - dropout)
        masks.append(mask)
        activations.append(sums * mask)
    outputs = activations[-1] @ matrices[-1][0] + matrices[-1][1]
    # Step 2. The loss and its gradient with respect to the outputs.
    logits = np.where(batch.legal, outputs[:, :-1], -np.inf)
    logits -= logits.max(axis=1, keepdims=True)
    totals = np.exp(logits).sum(axis=1, keepdims=True)
    probabilities = np.exp(logits) / totals
    log_probabilities = np.where(batch.legal, logits - np.log(totals), 0)
    value = np.tanh(outputs[:, -1])
    error = value - batch.values
    penalty = WEIGHT_DECAY * float(np.sum(np.square(weights, dtype=np.float64)))
    loss = TrainingLoss(-float((batch.policies * log_probabilities).sum()) / count, float((error**2).mean()), penalty)
    delta = np.empty_like(outputs)
    delta[:, :-1] = (probabilities - batch.policies) / count
    delta[:, -1] = 2 * error * (1 - value**2) / count
    # Step 3. Backward pass.
    for layer in range(len(matrices) - 1, -1, -1):
        gradients[layer][0][:] = activations[layer].T @ delta
        gradients[layer][1][:] = delta.sum(axis=0)
        if layer:
            delta = (delta @ matrices[layer][0].T) * masks[layer - 1]
    return loss, gradient + 2 * WEIGHT_DECAY * weights


class PerceptronLearner:
    """A perceptron and the state of its optimiser (Adam)."""

    def __init__(self, perceptron: Perceptron, dropout: float = 0.0) -> None:
        self.perceptron, self.dropout, self.steps = perceptron, dropout, 0
        self.mean, self.square = np.zeros_like(perceptron.weights), np.zeros_like(perceptron.weights)

    def train_step(self, examples: PerceptronExamples, rate: float, rng: np.random.Generator) -> TrainingLoss:
        """Run a training step; raise `ConfigError` if a value is not finite."""
        batch = make_batch(self.perceptron, examples, rng.integers(8, size=len(examples)))
        weights = self.perceptron.weights
        loss, gradient = compute_gradient(self.perceptron, weights, batch, self.dropout, rng)
        length = float(np.sqrt(np.sum(np.square(gradient, dtype=np.float64))))
        if not (np.isfinite(loss.total) and np.isfinite(length)):
            raise ConfigError(f"the loss is not finite in step {self.steps}: train with fewer --layers")
        gradient *= min(1.0, MAX_GRADIENT_NORM / max(length, 1e-12))
        self.steps += 1
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.001 * (gradient**2 - self.square)
        mean, square = self.mean / (1 - 0.9**self.steps), self.square / (1 - 0.999**self.steps)
        weights -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
        np.clip(weights, -MAX_WEIGHT, MAX_WEIGHT, out=weights)
        if not np.isfinite(weights).all():
            raise ConfigError(f"a weight is not finite after step {self.steps}: train with fewer --layers")
        return loss


# ---- training -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TrainingProgress:
    """The progress of the training run at the time of a report."""

    seconds: float
    games: int
    steps: int
    loss: TrainingLoss
    """Mean loss since the last report."""
    points_share: float
    """Share of the points scored against UCT."""


def train(
    game: Game,
    seconds: float,
    out: Path,
    seed: int,
    layers: int,
    dropout: float,
    on_progress: Callable[[float], object],
) -> Iterator[TrainingProgress]:
    """Train until `seconds` have been spent, including earlier runs; resume from the checkpoint if there is one.

    Yields about `REPORT_COUNT` reports at regular intervals.  `on_progress` receives the seconds since its last call;
    the first call receives the seconds of earlier runs.
    """
    checkpoint = out.with_name(out.name + ".checkpoint")
    learner, spent, games = load_checkpoint(checkpoint, game, layers, dropout, seed)
    selfplay, buffer = PerceptronSelfPlay(game, learner.perceptron), ReplayBuffer(learner.perceptron.move_count)
    rng, losses, reported = np.random.default_rng((seed, games)), [], int(REPORT_COUNT * spent / seconds)
    started = time.perf_counter() - spent
    on_progress(spent)
    while spent < seconds:
        previous_count = buffer.count
        for _ in range(GAMES_PER_ITERATION):
            buffer.add(selfplay.play(rng))
        games += GAMES_PER_ITERATION
        rate = (
            FINAL_LEARNING_RATE + (LEARNING_RATE - FINAL_LEARNING_RATE) * (1 + math.cos(math.pi * spent / seconds)) / 2
        )
        for _ in range(max(1, SAMPLES_PER_POSITION * (buffer.count - previous_count) // BATCH_SIZE)):
            losses.append(learner.train_step(buffer.sample(rng), rate, rng))
        previously_spent, spent = spent, time.perf_counter() - started
        on_progress(spent - previously_spent)
        save_checkpoint(checkpoint, learner, spent, games)
        if int(REPORT_COUNT * spent / seconds) > reported:
            reported = int(REPORT_COUNT * spent / seconds)
            learner.perceptron.save(out)
            mean = TrainingLoss(
                *np.mean([(loss.policy_loss, loss.value_loss, loss.penalty) for loss in losses], axis=0).tolist()
            )
            yield TrainingProgress(spent, games, learner.steps, mean, measure_strength(game, out, seed))
            losses = []
    learner.perceptron.save(out)
    checkpoint.unlink(missing_ok=True)


def save_checkpoint(checkpoint: Path, learner: PerceptronLearner, seconds: float, games: int) -> None:
    """Save the state needed to resume training."""
    adam = {"mean": learner.mean, "square": learner.square, "steps": learner.steps}
    learner.perceptron.save(checkpoint, **adam, spent=seconds, games=games)


def load_checkpoint(
    checkpoint: Path, game: Game, layers: int, dropout: float, seed: int
) -> tuple[PerceptronLearner, float, int]:
    """Load the learner, the seconds spent and the games played from a checkpoint, or create a new learner."""
    if not checkpoint.exists():
        return PerceptronLearner(new_perceptron(game, layers, np.random.default_rng(seed)), dropout), 0.0, 0
    perceptron = load_perceptron_file(checkpoint)
    if (perceptron.board, perceptron.layers) != (game.adapter.board_name, layers):
        raise ConfigError(
            f"{checkpoint} belongs to a training run with another game or another value of --layers: "
            "remove it, or choose another --out"
        )
    learner = PerceptronLearner(perceptron, dropout)
    try:
        with np.load(checkpoint) as content:
            learner.mean[:], learner.square[:] = content["mean"], content["square"]
            learner.steps = int(content["steps"])
            return learner, float(content["spent"]), int(content["games"])
    except LOAD_ERRORS:
        raise ConfigError(f"{checkpoint} is damaged: remove it, or choose another --out") from None


def measure_strength(game: Game, file: Path, seed: int) -> float:
    """Return the share of the points that a perceptron scores against UCT, which has more simulations per move."""
    settings = {"max_nodes": "65536"}
    puct = PlayerSpec("puct", None, Limit(nodes=SIMULATIONS_PER_MOVE), settings | {"weights": str(file)})
    uct = PlayerSpec("uct", None, Limit(nodes=UCT_SIMULATION_FACTOR * SIMULATIONS_PER_MOVE), settings)
    result = play_match(Match(game, str(puct), str(uct), MATCH_GAMES, seed))
    if result.interrupted:
        raise KeyboardInterrupt
    return (result.wins + result.draws / 2) / MATCH_GAMES
