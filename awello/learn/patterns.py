"""Learn what Othello's patterns are worth.

First from results: each position of a finished game should come out at its final score, stage by stage from the
beginning of the game to its end.  Results are full of chance, so if a depth is given, positions are then searched and
the weights learnt again from what is found, now from the end of the game to its beginning: a search of some plies
judges by stages that have been learnt already.  Some games are held out: their positions only measure the error.
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
from awello.evaluate.patterns import FIRST, INDICES, UNIT, WIDTH, PatternRow
from awello.evaluate.weights import STAGES, PatternWeights, Weights, load_patterns, save_patterns, ties
from awello.folders import replace_atomically
from awello.kernel import Words
from awello.learn.labels import PositionLabeller
from awello.learn.pattern_kernels import find_places
from awello.learn.positions import Games, PositionSet, draw
from awello.learn.ridge import Reals, Ridge

MOST = 60  # empty squares of the positions that are learnt from
ROUNDS = 14
HELD_OUT = 0.02  # share of the games
SPREAD = 2.5  # discs: how far a weight is expected to be from where it begins, given nothing else
LARGEST = 32_000


@dataclass(frozen=True)
class PatternExamples:
    """Positions of one number of empty squares, what they are worth to the mover, and which measure the error."""

    own: Words
    opp: Words
    values: Reals
    held: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class StageResult:
    """A stage that has been learnt."""

    labels: str
    """What it was learnt from: results or searches."""
    empties: int
    """The fewest empty squares of the stage."""
    examples: int
    held_out: int
    before: float
    """The root of the mean square error on held-out positions, in discs, with the weights that the fit began with."""
    error: float
    """And after it."""
    results: float
    """The same, after it, against the final scores of held-out games."""


@dataclass(frozen=True)
class PatternTrainingConfig:
    """What decides the weights."""

    games: int
    contents: str
    """A hash of the games."""
    seed: int
    depth: int
    positions: int

    @staticmethod
    def of(games: Games, seed: int, depth: int, positions: int) -> "PatternTrainingConfig":
        """To learn from some games."""
        return PatternTrainingConfig(
            len(games), hashlib.sha256(games.tobytes()).hexdigest()[:16], seed, depth, positions
        )

    def steps(self) -> list[tuple[str, int]]:
        """What is learnt from and which stage, in order."""
        results = [("results", stage) for stage in reversed(range(STAGES))]
        return results + ([("searches", stage) for stage in range(STAGES)] if self.depth else [])


class PatternTraining:
    """Weights in the making: after each step they are in the file, and so is what it takes to go on."""

    def __init__(self, file: Path, plan: PatternTrainingConfig, positions: PositionSet, jobs: int) -> None:
        self.file, self.plan, self.positions = file, plan, positions
        self.weights, self.done = _resume(file, plan)
        self.table = PatternWeights(self.weights, {}).table()
        self.judge, self.pool = PositionLabeller(self.table, jobs), ThreadPoolExecutor(jobs)
        chance = np.random.default_rng(plan.seed)
        self.held = chance.random(plan.games) < HELD_OUT

    def run(self, searched: Callable[[int], object]) -> Iterator[StageResult]:
        """The steps that are left; `searched` is told how many positions of a set have been searched."""
        for labels, stage in self.plan.steps()[len(self.done) :]:
            near = range(max(FIRST, _range(stage).start - 1), min(MOST, _range(stage).stop) + 1)
            examples = self.results if labels == "results" else partial(self.search, searched)
            self.done.append(self.fit(labels, stage, [examples(empties) for empties in near]))
            save_patterns(self.file, self.patterns())
            yield self.done[-1]

    def patterns(self) -> PatternWeights:
        """The weights so far, with their card."""
        return PatternWeights(self.weights, {"plan": asdict(self.plan), "steps": [asdict(step) for step in self.done]})

    # ---- examples ---------------------------------------------------------------------------------------------------
    def results(self, empties: int) -> PatternExamples:
        """All positions of so many empty squares, with the results of their games."""
        chosen = np.flatnonzero(self.positions.empties == empties)
        every = self.positions
        scores = every.scores[chosen].astype(np.float32)
        return PatternExamples(every.own[chosen], every.opp[chosen], scores, self.held[every.game[chosen]])

    def search(self, searched: Callable[[int], object], empties: int) -> PatternExamples:
        """Some positions of so many empty squares, with what a search finds; kept in a folder beside the weights."""
        folder = self.file.with_suffix(".labels")
        kept, plan = folder / f"{empties}.npz", json.dumps(asdict(self.plan))
        if kept.exists():
            with np.load(kept) as content:
                if str(content["plan"]) != plan:
                    raise _begun_otherwise(folder)
                return PatternExamples(*(content[name] for name in ("own", "opp", "values", "held")))
        chance = np.random.default_rng([self.plan.seed, empties])
        own, opp, game = draw(self.positions, empties, self.plan.positions, chance)
        values = self.judge.values(own, opp, self.plan.depth, searched)
        examples = PatternExamples(own, opp, values, self.held[game.astype(np.int64)])
        folder.mkdir(exist_ok=True)
        with replace_atomically(kept) as file:
            np.savez(file, plan=plan, **vars(examples))
        return examples

    # ---- a fit ------------------------------------------------------------------------------------------------------
    def fit(self, labels: str, stage: int, found: Sequence[PatternExamples]) -> StageResult:
        """Learn a stage from examples, of which those of its own numbers of empty squares measure the error."""
        columns = zip(*(vars(part).values() for part in found), strict=True)
        every = PatternExamples(*map(np.concatenate, columns))
        start = self.weights[min(stage + 1, STAGES - 1) if labels == "results" else stage] / np.float32(UNIT)
        shown = self.examine(every, ~every.held)
        miss = shown.targets - shown.values(start)
        fitted = shown.fit(start, float(miss @ miss) / len(miss) / SPREAD**2, ROUNDS)
        self.weights[stage] = np.clip(np.round(fitted * UNIT), -LARGEST, LARGEST)
        self.table[stage] = self.weights[stage][ties()]
        empties = 64 - np.bitwise_count(every.own | every.opp).astype(np.int64)
        kept = self.examine(every, every.held & np.isin(empties, _range(stage)))
        games = [self.results(empties) for empties in _range(stage)]
        results = [self.examine(part, part.held) for part in games]
        return StageResult(
            labels,
            _range(stage).start,
            len(miss),
            len(kept.targets),
            _error([kept], start),
            _error([kept], fitted),
            _error(results, fitted),
        )

    def examine(self, examples: PatternExamples, chosen: npt.NDArray[np.bool_]) -> Ridge:
        """Some examples as a regression sees them."""
        own, opp = examples.own[chosen], examples.opp[chosen]
        places = np.empty((len(own), INDICES + 2), np.int32)
        find_places(own, opp, ties(), places, PatternRow.new())
        return Ridge(places, examples.values[chosen], self.weights.shape[1], self.pool)


def _range(stage: int) -> range:
    """The numbers of empty squares that a stage is learnt for; it serves smaller ones too if it is the first."""
    low = FIRST + WIDTH * stage
    return range(low, MOST + 1 if stage == STAGES - 1 else low + WIDTH)


def _error(parts: Sequence[Ridge], weights: Reals) -> float:
    """The root of the mean square error; 0 without examples."""
    misses = np.concatenate([part.targets - part.values(weights) for part in parts])
    return float(np.sqrt(np.mean(np.square(misses)))) if len(misses) else 0.0


def _resume(file: Path, plan: PatternTrainingConfig) -> tuple[Weights, list[StageResult]]:
    """The weights of a file in the making and the steps they took, or a beginning."""
    if not file.exists():
        return np.zeros((STAGES, int(ties().max()) + 1), np.int16), []
    patterns = load_patterns(file)
    if patterns.card.get("plan") != asdict(plan):
        raise _begun_otherwise(file)
    return patterns.weights, [StageResult(**step) for step in patterns.card["steps"]]


def _begun_otherwise(place: Path) -> ConfigError:
    return ConfigError(f"{str(place)!r} was begun with other games or settings: choose another --out, or remove it")
