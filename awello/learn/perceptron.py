"""Train a perceptron by games against itself, from nothing (AlphaZero in small; report 1's network, mended).

Play some games, put their positions into a memory of the latest ones, show positions drawn from it, and repeat until
the time is spent.  The loss is the cross-entropy of the moves, plus the square error of the value, plus a little of the
squared weights.  No number can grow without bound: inputs are normalised, promises are compared with the largest before
they become shares, gradients are clipped, and weights end at `LARGEST`; every step is checked all the same.
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
from awello.kernel import U, Words
from awello.limits import Limit
from awello.players.spec import PlayerSpec
from awello.position import Position
from awello.rules.game import PASS, Game
from awello.search.montecarlo import PerceptronTree
from awello.search.uct import MAX_MOVES, MAX_PLAYOUT_PLIES

ROUNDS = 100  # of the tree at each move
NOISE = 0.25  # the share of chance in the priors of the root
DRAWN = 16  # plies at the start of a game that are left to chance
GAMES = 16  # between two lessons
KEPT = 200_000  # the latest positions
SHOWN = 6  # times that a position is shown
BATCH = 256
RATE, LAST_RATE = 2e-3, 1e-4
DECAY = 1e-5  # of squared weights, in the loss
CLIP = 1.0  # the longest gradient
LARGEST = 4.0  # weight
REPORTS = 10
MATCH, MORE = 20, 10  # games against UCT for each report, in which it has so many times the rounds

Reals = npt.NDArray[np.floating]


# ---- examples -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class PerceptronExamples:
    """What positions teach: own, opp and legal moves of each; the share of each move; the value for the mover."""

    words: Words
    policies: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.words)


class ReplayBuffer:
    """The latest examples."""

    def __init__(self, moves: int) -> None:
        self.count = 0
        self.words, self.values = np.zeros((KEPT, 3), np.uint64), np.zeros(KEPT, np.float32)
        self.policies = np.zeros((KEPT, moves), np.float32)

    def add(self, examples: PerceptronExamples) -> None:
        """Remember examples, in the place of the oldest."""
        places = np.arange(self.count, self.count + len(examples)) % KEPT
        self.words[places], self.values[places] = examples.words, examples.values
        self.policies[places] = examples.policies
        self.count += len(examples)

    def some(self, chance: np.random.Generator) -> PerceptronExamples:
        """A batch, drawn by chance."""
        chosen = chance.integers(min(self.count, KEPT), size=BATCH)
        return PerceptronExamples(self.words[chosen], self.policies[chosen], self.values[chosen])


def features(name: str, words: Words) -> npt.NDArray[np.float32]:
    """The inputs of the network of a name, as `evaluate.perceptron` reads them, a row for each position."""
    each = np.ascontiguousarray(words[:, :2]).astype("<u8").view(np.uint8).reshape(len(words), 2, 8)
    if name == "awale":
        return (each[:, :, :7].reshape(len(words), 14) - TYPICAL_SEEDS) / TYPICAL_SEEDS
    return np.unpackbits(each, axis=2, bitorder="little").reshape(len(words), 128).astype(np.float32)


@dataclass(frozen=True)
class Batch:
    """Examples as a network sees them, a row each."""

    inputs: Reals
    allowed: npt.NDArray[np.bool_]
    """Which moves are legal."""
    policies: Reals
    values: Reals


def make_batch(network: Perceptron, examples: PerceptronExamples, turns: npt.NDArray[np.int64]) -> Batch:
    """Examples for a network; boards of Othello are turned by the symmetry given for each."""
    inputs, policies = features(network.board, examples.words), examples.policies
    allowed = (examples.words[:, 2:] >> np.arange(network.move_count, dtype=np.uint64) & U(1)).astype(bool)
    if network.board != "awale":
        squares = SYMMETRY_SQUARES[turns]
        inputs = np.take_along_axis(inputs, np.concatenate([squares, squares + 64], axis=1), axis=1)
        allowed = np.take_along_axis(allowed, squares, axis=1)
        policies = np.take_along_axis(policies, squares, axis=1)
    return Batch(inputs, allowed, policies, examples.values)


class PerceptronSelfPlay:
    """Games of a network against itself."""

    def __init__(self, game: Game, network: Perceptron, rounds: int = ROUNDS) -> None:
        self.game, self.network, self.rounds = game, network, rounds
        self.tree = PerceptronTree(MAX_MOVES * (rounds + 1), network=network)

    def play(self, chance: np.random.Generator) -> PerceptronExamples:
        """The positions of one game: the shares of the visits that moves got, and values.

        A value is halfway between the one that the tree found and the result.  The most visited move is played; in the
        first plies, where every move has its own luck, each is as likely as its share.
        """
        size = MAX_PLAYOUT_PLIES, self.network.move_count
        noise, luck = chance.standard_exponential(size), np.ones(size)
        luck[:DRAWN] = chance.standard_exponential(luck[:DRAWN].shape)
        position, policies = Position.start(self.game), np.zeros(size, np.float32)
        words, values, sides = list[tuple[int, int, int]](), list[float](), list[int]()
        while not position.over and (ply := len(words)) < MAX_PLAYOUT_PLIES:
            legal = position.legal_moves()
            if legal == (PASS,):  # it teaches nothing
                position = position.after(PASS)
                continue
            moves, visits, value = self.search(position, noise[ply])
            words.append((position.own, position.opp, sum(1 << move for move in legal)))
            policies[ply, moves] = visits / (self.tree.nodes[0].visits - 1)
            values.append(value)
            sides.append(1 - 2 * position.side)
            position = position.after(int(moves[np.argmax(visits / luck[ply, moves])]))
        first, second = position.score()
        results = np.sign(first - second) * np.array(sides)
        means = 0.5 * (np.array(values) + results)
        return PerceptronExamples(np.array(words, np.uint64), policies[: len(words)], means.astype(np.float32))

    def search(self, position: Position, noise: Reals) -> tuple[npt.NDArray[np.int16], Reals, float]:
        """The moves of a position, how often each was visited, and the position's value for the mover.

        Chance has a share in the priors of the moves, so that games differ and no good move stays unseen.
        """
        tree, root = self.tree, self.tree.nodes[0]
        tree.reset(position)
        tree.grow(1)
        children = tree.nodes[root.first_child : root.first_child + root.child_count]
        moves, priors = children["move"], children["prior"]
        priors += NOISE * (noise[moves] / sum(noise[moves]) - priors)
        tree.grow(self.rounds - 1)
        return moves, children["visits"].astype(float), -root.total_value / root.visits


# ---- learning -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TrainingLoss:
    """How far a network is from what it is taught."""

    moves: float
    """The cross-entropy of the moves, in nats."""
    value: float
    """The mean square error of the value."""
    size: float
    """What its weights cost."""

    @property
    def total(self) -> float:
        """What is made small."""
        return self.moves + self.value + self.size


def gradient(
    network: Perceptron, weights: Reals, batch: Batch, dropout: float = 0.0, chance: np.random.Generator | None = None
) -> tuple[TrainingLoss, Reals]:
    """The loss of weights on a batch, and its gradient; chance drops units."""
    views, slope = network.matrices(weights), np.zeros_like(weights)
    slopes, count = network.matrices(slope), len(batch.inputs)
    # Step 1. Forward; each layer keeps what was positive in it, and not dropped.
    layers, keeps = [batch.inputs], []
    for matrix, biases in views[:-1]:
        sums = layers[-1] @ matrix + biases
        keep = (sums > 0).astype(weights.dtype)
        if dropout and chance:
            keep *= (chance.random(keep.shape) >= dropout) / (1 - dropout)
        keeps.append(keep)
        layers.append(sums * keep)
    outputs = layers[-1] @ views[-1][0] + views[-1][1]
    # Step 2. The loss, and how it changes with each output.
    promises = np.where(batch.allowed, outputs[:, :-1], -np.inf)
    promises -= promises.max(axis=1, keepdims=True)
    totals = np.exp(promises).sum(axis=1, keepdims=True)
    shares = np.exp(promises) / totals
    likely = np.where(batch.allowed, promises - np.log(totals), 0)
    value = np.tanh(outputs[:, -1])
    miss = value - batch.values
    size = DECAY * float(np.sum(np.square(weights, dtype=np.float64)))
    loss = TrainingLoss(-float((batch.policies * likely).sum()) / count, float((miss**2).mean()), size)
    change = np.empty_like(outputs)
    change[:, :-1] = (shares - batch.policies) / count
    change[:, -1] = 2 * miss * (1 - value**2) / count
    # Step 3. Backward.
    for layer in range(len(views) - 1, -1, -1):
        slopes[layer][0][:] = layers[layer].T @ change
        slopes[layer][1][:] = change.sum(axis=0)
        if layer:
            change = (change @ views[layer][0].T) * keeps[layer - 1]
    return loss, slope + 2 * DECAY * weights


class PerceptronLearner:
    """A network and what Adam remembers of its gradients."""

    def __init__(self, network: Perceptron, dropout: float = 0.0) -> None:
        self.network, self.dropout, self.steps = network, dropout, 0
        self.mean, self.square = np.zeros_like(network.weights), np.zeros_like(network.weights)

    def show(self, examples: PerceptronExamples, rate: float, chance: np.random.Generator) -> TrainingLoss:
        """Take a step towards what examples teach; `ConfigError` if a number is not finite."""
        batch = make_batch(self.network, examples, chance.integers(8, size=len(examples)))
        weights = self.network.weights
        loss, slope = gradient(self.network, weights, batch, self.dropout, chance)
        length = float(np.sqrt(np.sum(np.square(slope, dtype=np.float64))))
        if not (np.isfinite(loss.total) and np.isfinite(length)):
            raise ConfigError(f"step {self.steps} gives a loss that is not finite: train with fewer layers")
        slope *= min(1.0, CLIP / max(length, 1e-12))
        self.steps += 1
        self.mean += 0.1 * (slope - self.mean)
        self.square += 0.001 * (slope**2 - self.square)
        mean, square = self.mean / (1 - 0.9**self.steps), self.square / (1 - 0.999**self.steps)
        weights -= (rate * mean / (np.sqrt(square) + 1e-8)).astype(np.float32)
        np.clip(weights, -LARGEST, LARGEST, out=weights)
        if not np.isfinite(weights).all():
            raise ConfigError(f"a weight is not finite after step {self.steps}: train with fewer layers")
        return loss


# ---- training -------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TrainingProgress:
    """How training stands."""

    seconds: float
    games: int
    steps: int
    loss: TrainingLoss
    """The mean since the last report."""
    points: float
    """The share of the points that it takes from UCT."""


def train(
    game: Game, budget: float, out: Path, seed: int, layers: int, dropout: float, step: Callable[[float], object]
) -> Iterator[TrainingProgress]:
    """Train until the time is spent, calling `step` with the seconds that passed; what was interrupted goes on."""
    checkpoint = out.with_name(out.name + ".checkpoint")
    learner, spent, games = resume(checkpoint, game, layers, dropout, seed)
    selfplay, memory = PerceptronSelfPlay(game, learner.network), ReplayBuffer(learner.network.move_count)
    chance, losses, reported = np.random.default_rng((seed, games)), [], int(REPORTS * spent / budget)
    begun = time.perf_counter() - spent
    step(spent)
    while spent < budget:
        fresh = memory.count
        for _ in range(GAMES):
            memory.add(selfplay.play(chance))
        games += GAMES
        rate = LAST_RATE + (RATE - LAST_RATE) * (1 + math.cos(math.pi * spent / budget)) / 2
        for _ in range(max(1, SHOWN * (memory.count - fresh) // BATCH)):
            losses.append(learner.show(memory.some(chance), rate, chance))
        before, spent = spent, time.perf_counter() - begun
        step(spent - before)
        keep(checkpoint, learner, spent, games)
        if int(REPORTS * spent / budget) > reported:
            reported = int(REPORTS * spent / budget)
            learner.network.save(out)
            mean = TrainingLoss(*np.mean([(loss.moves, loss.value, loss.size) for loss in losses], axis=0).tolist())
            yield TrainingProgress(spent, games, learner.steps, mean, strength(game, out, seed))
            losses = []
    learner.network.save(out)
    checkpoint.unlink(missing_ok=True)


def keep(checkpoint: Path, learner: PerceptronLearner, spent: float, games: int) -> None:
    """Write down all that is needed to go on."""
    adam = {"mean": learner.mean, "square": learner.square, "steps": learner.steps}
    learner.network.save(checkpoint, **adam, spent=spent, games=games)


def resume(
    checkpoint: Path, game: Game, layers: int, dropout: float, seed: int
) -> tuple[PerceptronLearner, float, int]:
    """The learner of a checkpoint, the seconds spent and the games played; a new one if there is none."""
    if not checkpoint.exists():
        return PerceptronLearner(new_perceptron(game, layers, np.random.default_rng(seed)), dropout), 0.0, 0
    network = load_perceptron_file(checkpoint)
    if (network.board, network.layers) != (game.adapter.board_name, layers):
        raise ConfigError(f"{checkpoint} is of another training: remove it, or choose another --out")
    learner = PerceptronLearner(network, dropout)
    try:
        with np.load(checkpoint) as content:
            learner.mean[:], learner.square[:] = content["mean"], content["square"]
            learner.steps = int(content["steps"])
            return learner, float(content["spent"]), int(content["games"])
    except LOAD_ERRORS:
        raise ConfigError(f"{checkpoint} is damaged: remove it, or choose another --out") from None


def strength(game: Game, file: Path, seed: int) -> float:
    """The share of the points that the network of a file, with few rounds, takes from UCT with many random games."""
    options = {"max_nodes": "65536"}
    puct = PlayerSpec("puct", None, Limit(nodes=ROUNDS), options | {"weights": str(file)})
    uct = PlayerSpec("uct", None, Limit(nodes=MORE * ROUNDS), options)
    result = play_match(Match(game, str(puct), str(uct), MATCH, seed))
    if result.interrupted:
        raise KeyboardInterrupt
    return (result.wins + result.draws / 2) / MATCH
