"""Measure the speed of the parts of Awello; print a table and write `results.json` beside this file.

Each row is the best of several runs on one core, except the time per move, which is the mean over a match.  To compare
machines, divide each rate by the perft rate in the first row, and multiply each time by that rate.
"""

import json
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from awello import Game, Position, __version__, parse_transcript
from awello.arena.match import Match, play_match
from awello.bits import bit, bit_scan, clear_lowest_bit, find_flips, find_moves, popcount
from awello.engine.bench import BENCH_GAMES, run_bench
from awello.engine.engine import Engine
from awello.evaluate.evaluator import Evaluator, Heuristic
from awello.evaluate.patterns import (
    PatternIndices,
    StageWeights,
    evaluate_mobility,
    evaluate_patterns,
    fill_indices,
    update_indices,
)
from awello.evaluate.perceptron_weights import load_perceptron
from awello.evaluate.weights import load_pattern_weights, stage_of
from awello.kernel import U, kernel
from awello.limits import Limit
from awello.rules.game import perft
from awello.search.montecarlo import MonteCarloTree, PerceptronTree, PpafTree
from awello.search.textbook_search import analyse


@dataclass(frozen=True)
class Measurement:
    """A row of the table: the name of a measurement, its rate, and the command that repeats it."""

    name: str
    rate: float
    unit: str
    command: str


def measure_best_rate(work: Callable[[], int], runs: int) -> float:
    """Return the best rate per second of several runs."""
    rates = []
    for _ in range(runs):
        started = time.perf_counter()
        done = work()
        rates.append(done / (time.perf_counter() - started))
    return max(rates)


def measure_perft(game: Game, depth: int) -> Measurement:
    """Measure perft from the start position of a game, in leaves per second."""
    start = Position.start(game)
    rate = measure_best_rate(lambda: perft(int(game), U(start.own), U(start.opp), depth), 5)
    option = f" --variant {game.variant}" if game > Game.ABAPA else ""
    return Measurement(
        f"perft, {' '.join(filter(None, (game.family, game.variant)))}",
        rate / 1e6,
        "M leaves/s",
        f"awello perft {game.family} {depth}{option}",
    )


def measure_match() -> Measurement:
    """Measure games per second between two random players."""
    rate = measure_best_rate(lambda: play_match(Match(Game.OTHELLO, "random", "random", 100)).games, 3)
    return Measurement("games of random players", rate, "games/s", "awello match othello random random --games 1000")


def measure_search(spec: str, depth: int) -> Measurement:
    """Measure nodes per second of a search without pruning, from a position after five plies."""
    position, evaluator = parse_transcript("f5d6c3d3c4").final, Evaluator(Game.OTHELLO, Heuristic("positional"))
    rate = measure_best_rate(lambda: analyse(position, spec, depth, evaluator).nodes, 3)
    return Measurement(
        f"{spec}, depth {depth}", rate / 1e6, "M nodes/s", f"awello match othello {spec}:positional@{depth} random"
    )


def measure_move_time(depth: int) -> Measurement:
    """Measure the mean time per move, in milliseconds, of alpha-beta in a match against the player `random`."""
    spec = f"alphabeta:positional@{depth}"
    mean, _ = play_match(Match(Game.OTHELLO, spec, "random", games=20)).mean_ms()
    return Measurement(f"{spec} against random", mean, "ms per move", f"awello match othello {spec} random --games 20")


def measure_champion() -> Measurement:
    """Measure nodes per second of the champion on the positions of `awello bench`."""
    runs = [list(run_bench()) for _ in range(3)]
    nodes, seconds = sum(row.nodes for row in runs[0]), min(sum(row.seconds for row in run) for run in runs)
    return Measurement(f"champion, {nodes:,} nodes", nodes / seconds / 1e6, "M nodes/s", "awello bench")


@kernel("int64(uint64, uint64, PatternIndices, PatternIndices, StageWeights)")
def evaluate_moves(own: U, opp: U, indices: PatternIndices, child: PatternIndices, weights: StageWeights) -> int:
    """Evaluate the board after each legal move in a position; return the number of moves."""
    moves, total = find_moves(own, opp), 0
    count = popcount(moves)
    while moves != U(0):
        square = bit_scan(moves)
        moves = clear_lowest_bit(moves)
        flips = find_flips(own, opp, square)
        update_indices(indices, square, flips, child)
        total += evaluate_patterns(child, weights) + evaluate_mobility(opp ^ flips, own | flips | bit(square), weights)
    return count if total != 1 << 40 else 0


@kernel("int64(uint64[:, ::1], PatternIndices[::1], PatternIndices, StageWeights)")
def evaluate_all(
    boards: "npt.NDArray[U]", indices: "npt.NDArray[Any]", child: PatternIndices, weights: StageWeights
) -> int:
    """Evaluate the legal moves on all boards, 100 times each; return the number of evaluations."""
    count = 0
    for _ in range(100):
        for index in range(boards.shape[0]):
            count += evaluate_moves(boards[index, 0], boards[index, 1], indices[index], child, weights)
    return count


def measure_evaluation() -> Measurement:
    """Measure pattern evaluations per second, including the incremental update of the patterns by a move."""
    positions = [position for game in BENCH_GAMES for position in parse_transcript(game).positions()]
    chosen = [position for position in positions if stage_of(position.empties) == stage_of(30)]
    boards = np.array([(position.own, position.opp) for position in chosen], np.uint64)
    indices, weights = PatternIndices.new_array(len(chosen)), StageWeights.view(load_pattern_weights()[stage_of(30)])
    for board_indices, position in zip(indices, chosen, strict=True):
        fill_indices(position.own, position.opp, board_indices)
    rate = measure_best_rate(lambda: evaluate_all(boards, indices, PatternIndices.new(), weights), 10)
    return Measurement("pattern evaluations, each after a move", rate / 1e6, "M/s", "make bench")


def measure_awale() -> list[Measurement]:
    """Measure the Awalé champion with `diffscore`: time to depths 12 and 14, and nodes per second to depth 16."""
    start, rows = Position.start(Game.TOURNAMENT), []
    with Engine(start.game, hash=16, heuristic=Heuristic("diffscore")) as engine:
        for depth, runs in ((12, 40), (14, 40), (16, 10)):
            times, nodes = [], 0
            for _ in range(runs):
                engine.clear()
                started = time.perf_counter()
                *_, analysis = engine.analyse(start, Limit(depth=depth))
                times.append(time.perf_counter() - started)
                nodes = analysis.nodes
            name = f"Awalé champion:diffscore to depth {depth}"
            rows.append(Measurement(name, 1000 * min(times), "ms", "make bench"))
    return [*rows[:2], Measurement(name, nodes / min(times) / 1e6, "M nodes/s", "make bench")]


def measure_tree_search(game: Game, tree: MonteCarloTree) -> Measurement:
    """Measure simulations per second of a tree search with playouts or a perceptron, from a start position."""
    name = {MonteCarloTree: "uct", PpafTree: "ppaf", PerceptronTree: "puct"}[type(tree)]
    rate = measure_best_rate(lambda: tree.analyse(Position.start(game), 0.1, None, 1).leaves, 10)
    return Measurement(f"{name}, {game}", rate / 1e3, "thousand simulations/s", "make bench")


def main() -> None:
    """Run all measurements."""
    rows = [
        measure_perft(Game.OTHELLO, 11),
        measure_perft(Game.ABAPA, 10),
        measure_perft(Game.ROMEIN, 10),
        measure_match(),
    ]
    rows += [
        measure_search("minimax", 8),
        measure_search("negamax", 8),
        measure_move_time(8),
        measure_move_time(10),
        measure_champion(),
    ]
    rows += [measure_evaluation(), *measure_awale()]
    for game in (Game.TOURNAMENT, Game.OTHELLO):
        rows += [
            measure_tree_search(game, tree)
            for tree in (MonteCarloTree(), PpafTree(), PerceptronTree(perceptron=load_perceptron(game)))
        ]
    table = Table("measurement", "rate", "unit", "command", title=f"awello {__version__}, {platform.machine()}")
    for row in rows:
        table.add_row(row.name, f"{row.rate:,.1f}", row.unit, row.command)
    Console().print(table)
    results = Path(__file__).with_name("results.json")
    results.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
