"""Measure the accuracy of the network on test games, and its speed in positions per second.

python benchmarks/network.py FOLDER_OF_WTHOR_FILES [--games 2000] [--weights network.onnx] [--symmetries 8]
"""

import argparse
import random
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from awello.cli.progress import show_step_progress
from awello.evaluate.cnn import SYMMETRY_SQUARES, load_cnn, softmax
from awello.kernel import U
from awello.learn.cnn_games import read_records
from awello.record import Record
from awello.rules.game import PASS, Game
from awello.rules.othello import apply_symmetry

FIRST_TEST_YEAR = 2016  # games from this year on are the test set
BATCH_SIZE, THREADS = 256, 2

Rows = npt.NDArray[np.int64]


def main() -> None:
    """Run the measurement and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="folder of WTHOR files")
    parser.add_argument("--games", type=int, default=0, help="measure this many random games; default: all")
    parser.add_argument("--weights", type=Path, help="network to measure; default: the shipped one")
    parser.add_argument("--symmetries", type=int, default=1, help="symmetries to average over, 1 to 8; default: 1")
    options = parser.parse_args()
    files = [file for file in sorted(options.folder.glob("*.wtb")) if int(file.stem[-4:]) >= FIRST_TEST_YEAR]
    records = [record for file in files for record in read_records(file)]
    if options.games:
        records = random.Random(1).sample(records, options.games)
    rows = np.array([row for record in records for row in encode_record(record)], object)
    words, labels = rows[:, :2].astype(np.uint64), rows[:, 2:].astype(np.int64)
    network, seconds, results = load_cnn(Game.OTHELLO, options.weights, THREADS), 0.0, []
    with show_step_progress("network", len(words)) as step:
        for start in range(0, len(words), BATCH_SIZE):
            batch, started = words[start : start + BATCH_SIZE], perf_counter()
            probabilities, values = np.zeros((len(batch), 64), np.float32), np.zeros(len(batch), np.float32)
            for symmetry_id in range(options.symmetries):
                transformed = np.array(
                    [[apply_symmetry(U(own), symmetry_id), apply_symmetry(U(opp), symmetry_id)] for own, opp in batch],
                    np.uint64,
                )
                logits, value = network.predict(transformed)
                probabilities += softmax(logits)[:, SYMMETRY_SQUARES[symmetry_id]] / options.symmetries
                values += value / options.symmetries
            seconds += perf_counter() - started
            best = np.argsort(-probabilities, axis=1)[:, :3] == labels[start : start + BATCH_SIZE, :1]
            results.append(np.column_stack([best[:, 0], best.any(1), values]))
            step(len(batch))
    print_accuracy(np.concatenate(results), labels, len(records))
    rate = len(words) * options.symmetries / seconds
    print(f"{rate:,.0f} positions per second, {BATCH_SIZE} per batch, {THREADS} threads")


def encode_record(record: Record) -> list[tuple[int, ...]]:
    """Return one row per move other than a pass: own, opp, move, final margin for the mover, empty squares.

    In an unfinished game, the margin is given as -100.
    """
    rows, score = list[tuple[int, ...]](), record.final.score()
    for position, move in zip(record.positions(), record.moves, strict=False):
        if move != PASS:
            margin = score[position.side] - score[1 - position.side] if record.final.over else -100
            rows.append((position.own, position.opp, move, margin, 64 - (position.own | position.opp).bit_count()))
    return rows


def print_accuracy(results: npt.NDArray[np.float64], labels: Rows, games: int) -> None:
    """Print the accuracy of the predicted moves and values."""
    margin, stage = labels[:, 1], np.minimum(labels[:, 2] // 10, 5)
    winners, decided = margin >= 0, (margin != 0) & (margin != -100)
    print(f"{games:,d} games")
    sets = {"moves of winners": winners, "all moves": np.ones_like(winners)}
    sets |= {f"winners, {10 * ten} to {10 * ten + 9} empty": winners & (stage == ten) for ten in range(6)}
    for name, chosen in sets.items():
        top1, top3 = results[chosen, :2].mean(axis=0)
        print(f"{name:26s} {chosen.sum():9,d} positions: top 1 {top1:.2%}, top 3 {top3:.2%}")
    correct = (results[decided, 2] > 0) == (margin[decided] > 0)
    print(f"the value favours the winner in {correct.mean():.2%} of the positions of decided games")


if __name__ == "__main__":
    main()
