"""Train the weights of Othello's patterns.

The weights are first fitted to game results, stage by stage from the opening to the endgame: the target of each
position is the final score of its game.  Results are noisy.  If a search depth is given, the weights are therefore
fitted a second time, to the values of searches.  This fit runs from the endgame to the opening, because a search
evaluates positions of later stages.  The positions of held-out games are used only to measure the error.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from awello.errors import ConfigError
from awello.evaluate.patterns import DISC_VALUE, FIRST_STAGE_EMPTIES, LANE_COUNT, STAGE_WIDTH, PatternIndices
from awello.evaluate.weights import (
    STAGE_COUNT,
    PatternWeights,
    compute_tied_indices,
    load_pattern_file,
    save_pattern_file,
)
from awello.folders import replace_atomically
from awello.kernel import Float32Array, Int16Array, Words
from awello.learn.labels import PositionLabeller
from awello.learn.pattern_kernels import find_weight_indices
from awello.learn.positions import Games, PositionSet, sample_positions
from awello.learn.ridge import Ridge

MAX_EMPTIES = 60  # in training positions
CG_ITERATIONS = 14
HELD_OUT_SHARE = 0.02  # of the games
PRIOR_DEVIATION_DISCS = 2.5  # expected deviation of a weight from its initial value, in discs
MAX_WEIGHT = 32_000
CACHE_ARRAYS = ("own", "opp", "values", "held")  # names of the arrays of `PatternExamples` in cached files


@dataclass(frozen=True)
class PatternExamples:
    """Positions, their values for the mover, and a mask of held-out positions."""

    own: Words
    opp: Words
    values: Float32Array
    held_out: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class StageResult:
    """The result of fitting a stage."""

    labels: str
    """Labels to which the weights were fitted: `results` or `searches`."""
    empties: int
    """Smallest number of empty squares in the stage."""
    examples: int
    held_out: int
    initial_error: float
    """Root mean square error on held-out positions before the fit, in discs."""
    error: float
    """Root mean square error on held-out positions after the fit, in discs."""
    results: float
    """Root mean square error against the final scores of held-out games, measured after the fit, in discs."""


@dataclass(frozen=True)
class PatternTrainingConfig:
    """All settings that determine the weights."""

    games: int
    contents: str
    """A hash of the games."""
    seed: int
    depth: int
    positions: int

    @staticmethod
    def of(games: Games, seed: int, depth: int, positions: int) -> "PatternTrainingConfig":
        """Make the settings for training on the given games."""
        return PatternTrainingConfig(
            len(games), hashlib.sha256(games.tobytes()).hexdigest()[:16], seed, depth, positions
        )

    def steps(self) -> list[tuple[str, int]]:
        """Return the steps of the training run in order, each as its labels (`results` or `searches`) and stage."""
        results = [("results", stage) for stage in reversed(range(STAGE_COUNT))]
        return results + ([("searches", stage) for stage in range(STAGE_COUNT)] if self.depth else [])


class PatternTraining:
    """A training run that saves its weights and state to a file after each step."""

    def __init__(self, file: Path, config: PatternTrainingConfig, positions: PositionSet, threads: int) -> None:
        self.file, self.config, self.positions = file, config, positions
        self.weights, self.completed = _resume(file, config)
        self.table = PatternWeights(self.weights, {}).expand()
        self.labeller, self.pool = PositionLabeller(self.table, threads), ThreadPoolExecutor(threads)
        rng = np.random.default_rng(config.seed)
        self.held_out = rng.random(config.games) < HELD_OUT_SHARE

    def run(self, on_progress: Callable[[int], object]) -> Iterator[StageResult]:
        """Run the remaining steps; yield the result of each.

        Positions are labelled by search in groups with the same number of empty squares; `on_progress` receives the
        number labelled so far in the current group.
        """
        for labels, stage in self.config.steps()[len(self.completed) :]:
            window = range(
                max(FIRST_STAGE_EMPTIES, _empties_of(stage).start - 1), min(MAX_EMPTIES, _empties_of(stage).stop) + 1
            )
            examples = self.label_by_results if labels == "results" else partial(self.label_by_search, on_progress)
            self.completed.append(self.fit(labels, stage, [examples(empties) for empties in window]))
            save_pattern_file(self.file, self.make_weights())
            yield self.completed[-1]

    def make_weights(self) -> PatternWeights:
        """Return the current weights, with a description of the training run."""
        return PatternWeights(
            self.weights, {"config": asdict(self.config), "steps": [asdict(step) for step in self.completed]}
        )

    # ---- examples ---------------------------------------------------------------------------------------------------
    def label_by_results(self, empties: int) -> PatternExamples:
        """Return all positions with `empties` empty squares, labelled with the results of their games."""
        selected = np.flatnonzero(self.positions.empties == empties)
        positions = self.positions
        scores = positions.scores[selected].astype(np.float32)
        return PatternExamples(
            positions.own[selected], positions.opp[selected], scores, self.held_out[positions.game[selected]]
        )

    def label_by_search(self, on_progress: Callable[[int], object], empties: int) -> PatternExamples:
        """Return sampled positions with `empties` empty squares, labelled by search and cached on disk."""
        folder = self.file.with_suffix(".labels")
        cached, config = folder / f"{empties}.npz", json.dumps(asdict(self.config))
        if cached.exists():
            with np.load(cached) as content:
                if str(content["config"]) != config:
                    raise _mismatch_error(folder)
                return PatternExamples(*(content[name] for name in CACHE_ARRAYS))
        rng = np.random.default_rng([self.config.seed, empties])
        own, opp, game = sample_positions(self.positions, empties, self.config.positions, rng)
        values = self.labeller.label(own, opp, self.config.depth, on_progress)
        examples = PatternExamples(own, opp, values, self.held_out[game.astype(np.int64)])
        folder.mkdir(exist_ok=True)
        with replace_atomically(cached) as file:
            np.savez(file, config=config, **dict(zip(CACHE_ARRAYS, vars(examples).values(), strict=True)))
        return examples

    # ---- fits -------------------------------------------------------------------------------------------------------
    def fit(self, labels: str, stage: int, labelled: Sequence[PatternExamples]) -> StageResult:
        """Fit the weights of a stage to examples; measure the error on the held-out examples of the stage."""
        columns = zip(*(vars(part).values() for part in labelled), strict=True)
        combined = PatternExamples(*map(np.concatenate, columns))
        start = self.weights[min(stage + 1, STAGE_COUNT - 1) if labels == "results" else stage] / np.float32(DISC_VALUE)
        training = self.make_ridge(combined, ~combined.held_out)
        if not len(training.targets):
            low, high = _empties_of(stage)[0], _empties_of(stage)[-1]
            problem = f"the data contain no positions with {low} to {high} empty squares from finished games"
            raise ConfigError(f"{problem}: give more games")
        residuals = training.targets - training.predict(start)
        mean_square = float(residuals @ residuals) / len(residuals)
        fitted = training.fit(start, mean_square / PRIOR_DEVIATION_DISCS**2, CG_ITERATIONS)
        self.weights[stage] = np.clip(np.round(fitted * DISC_VALUE), -MAX_WEIGHT, MAX_WEIGHT)
        self.table[stage] = self.weights[stage][compute_tied_indices()]
        empties = 64 - np.bitwise_count(combined.own | combined.opp).astype(np.int64)
        held_out = self.make_ridge(combined, combined.held_out & np.isin(empties, _empties_of(stage)))
        games = [self.label_by_results(empties) for empties in _empties_of(stage)]
        results = [self.make_ridge(part, part.held_out) for part in games]
        return StageResult(
            labels,
            _empties_of(stage).start,
            len(residuals),
            len(held_out.targets),
            _rms_error([held_out], start),
            _rms_error([held_out], fitted),
            _rms_error(results, fitted),
        )

    def make_ridge(self, examples: PatternExamples, selected: npt.NDArray[np.bool_]) -> Ridge:
        """Make the regression problem for the selected examples."""
        own, opp = examples.own[selected], examples.opp[selected]
        indices = np.empty((len(own), LANE_COUNT + 2), np.int32)
        find_weight_indices(own, opp, compute_tied_indices(), indices, PatternIndices.new())
        return Ridge(indices, examples.values[selected], self.weights.shape[1], self.pool)


def _empties_of(stage: int) -> range:
    """Return the numbers of empty squares that belong to a stage."""
    low = FIRST_STAGE_EMPTIES + STAGE_WIDTH * stage
    return range(low, MAX_EMPTIES + 1 if stage == STAGE_COUNT - 1 else low + STAGE_WIDTH)


def _rms_error(parts: Sequence[Ridge], weights: Float32Array) -> float:
    """Return the root mean square error of the weights over the examples of all parts; 0 if there are no examples."""
    residuals = np.concatenate([part.targets - part.predict(weights) for part in parts])
    return float(np.sqrt(np.mean(np.square(residuals)))) if len(residuals) else 0.0


def _resume(file: Path, config: PatternTrainingConfig) -> tuple[Int16Array, list[StageResult]]:
    """Load the weights and completed steps from a file; without a file, return zero weights and no steps."""
    if not file.exists():
        return np.zeros((STAGE_COUNT, int(compute_tied_indices().max()) + 1), np.int16), []
    patterns = load_pattern_file(file)
    if patterns.metadata.get("config") != asdict(config):
        raise _mismatch_error(file)
    return patterns.weights, [StageResult(**step) for step in patterns.metadata["steps"]]


def _mismatch_error(path: Path) -> ConfigError:
    return ConfigError(
        f"{str(path)!r} belongs to a training run with other games or settings: choose another --out, or remove it"
    )
