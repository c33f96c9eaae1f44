"""The deviation between shallow and deep searches: measurements for multi-ProbCut.

Positions of partly random games are searched to depths 1 to 8 without ProbCut, and solved if few squares are empty.
The deviation between two depths is measured for each number of empty squares.  Separately for searches to a depth and
for searches to the end of the game, a linear function of the number of empty squares, the difference between the depths
and the lower depth is fitted to these deviations.
"""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from awello.engine.engine import Engine
from awello.engine.othello_search import OthelloIterativeSearch
from awello.engine.probcut import COEFFICIENT_NAMES, NO_SELECTIVITY
from awello.lab.report import Report
from awello.limits import Limit
from awello.position import Position
from awello.rules.game import PASS, Game

SEARCH_DEPTHS = range(1, 9)
SAMPLED_EMPTIES = range(12, 57, 4)
MAX_SOLVED_EMPTIES = 20  # positions with at most this many empty squares are also solved
RANDOM_MOVE_SHARE = 0.25  # share of random moves in the games
MIN_DEVIATION = 1.5  # lower bound of all deviations, in discs
# A pair of searches: the number of empty squares, the greater depth and the lower depth.  The depth of a solved
# position is its number of empty squares.
Pair = tuple[int, int, int]


@dataclass(frozen=True)
class DeviationFit:
    """A linear model of the deviation for one kind of search, and its error."""

    coefficients: dict[str, float]
    error: float

    def predict(self, pair: Pair) -> float:
        """Predict the deviation between the depths of a pair, in discs."""
        return float(np.dot(list(self.coefficients.values()), _terms(pair)))


def sample_position(engine: Engine, empties: int, rng: random.Random) -> Position:
    """Sample a position with `empties` empty squares and a legal move, from a partly random game."""
    while True:
        position = Position.start(Game.OTHELLO)
        while not position.over and position.empties > empties:
            moves = position.legal_moves()
            if moves == (PASS,) or rng.random() < RANDOM_MOVE_SHARE:
                position = position.after(rng.choice(moves))
            else:
                position = position.after(list(engine.analyse(position, Limit(depth=2)))[-1].move)
        if not position.over and position.legal_moves() != (PASS,) and position.empties == empties:
            return position


def search_values(engine: Engine, position: Position) -> dict[int, int]:
    """Return the value of a position by depth; the depth of a solved position is its number of empty squares."""
    engine.clear()
    engine.search_threads.begin_search()
    search, values = OthelloIterativeSearch(engine.search_threads, position), {}
    for depth in SEARCH_DEPTHS:
        search.results = search.search_multipv(depth, NO_SELECTIVITY)
        values[depth] = search.results[0][0]
    if search.empties <= MAX_SOLVED_EMPTIES:
        for _ in search.solve(False):
            values[search.empties] = search.results[0][0]
    return values


def measure_differences(positions: int, seed: int, on_progress: Callable[[], object]) -> dict[Pair, list[int]]:
    """Measure the differences in value for each `Pair` whose depths differ by an even number."""
    rng, differences = random.Random(seed), defaultdict(list)
    with Engine(hash=16) as engine:
        for _ in range(positions):
            for empties in SAMPLED_EMPTIES:
                values = search_values(engine, sample_position(engine, empties, rng))
                for deep, value in values.items():
                    for shallow in SEARCH_DEPTHS:
                        if shallow < deep and (deep - shallow) % 2 == 0:
                            differences[empties, deep, shallow].append(value - values[shallow])
                on_progress()
    return dict(differences)


def _terms(pair: Pair) -> list[float]:
    empties, deep, shallow = pair
    return [1.0, float(empties), float(deep - shallow), float(shallow)]


def fit_deviations(deviations: dict[Pair, float]) -> DeviationFit:
    """Fit a linear model to measured deviations."""
    matrix, target = np.array([_terms(pair) for pair in deviations]), np.array(list(deviations.values()))
    solution, *_ = np.linalg.lstsq(matrix, target, rcond=None)
    error = float(np.sqrt(np.mean((matrix @ solution - target) ** 2)))
    return DeviationFit(
        {name: round(float(value), 4) for name, value in zip(COEFFICIENT_NAMES, solution, strict=True)}, error
    )


def write_report(differences: Mapping[Pair, Sequence[int]], folder: Path) -> dict[str, DeviationFit]:
    """Fit the deviations of both kinds of search; write a report, and a file with the coefficients for the engine."""
    deviations = {pair: float(np.sqrt(np.mean(np.square(values)))) for pair, values in differences.items()}
    kinds = {
        "depth": {pair: value for pair, value in deviations.items() if pair[1] < pair[0]},
        "end": {pair: value for pair, value in deviations.items() if pair[1] == pair[0]},
    }
    fits = {kind: fit_deviations(measured) for kind, measured in kinds.items()}
    report = Report(folder, "Deviation between shallow and deep searches")
    for kind, measured in kinds.items():
        rows = [
            [*pair, len(differences[pair]), value, fits[kind].predict(pair)] for pair, value in sorted(measured.items())
        ]
        header = ["empty squares", "greater depth", "lower depth", "positions", "deviation, discs", "fitted"]
        report.add_table(kind, f"Searches to {'a depth' if kind == 'depth' else 'the end of the game'}", header, rows)
    for kind, fitted in fits.items():
        listed = ", ".join(f"{name} {coefficient}" for name, coefficient in fitted.coefficients.items())
        target = "a depth" if kind == "depth" else "the end of the game"
        report.add_text(
            f"Coefficients for searches to {target}: {listed}; root mean square error {fitted.error:.2f} discs"
        )
    report.write()
    content = {kind: fitted.coefficients for kind, fitted in fits.items()} | {"min_deviation": MIN_DEVIATION}
    (folder / "probcut.json").write_text(json.dumps(content, indent=2) + "\n", "utf-8")
    return fits
