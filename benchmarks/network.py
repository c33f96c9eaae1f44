"""How often the shipped network finds the moves of games that training never saw, and how many positions it judges.

python benchmarks/network.py FOLDER_OF_WTHOR_FILES [--games 2000] [--file network.onnx] [--symmetries 8]
"""

import argparse
import random
from pathlib import Path
from time import perf_counter

import numpy as np
import numpy.typing as npt

from awello.cli.app import progress
from awello.evaluate.cnn import SYMMETRY_SQUARES, load_cnn, softmax
from awello.kernel import U
from awello.learn.cnn_games import read_records
from awello.record import Record
from awello.rules.game import PASS, Game
from awello.rules.othello import apply_symmetry

HELD_OUT = 2016  # the first year that training does not see
BATCH, THREADS = 256, 2

Rows = npt.NDArray[np.int64]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=0, help="so many games, drawn by chance; unless said, all")
    parser.add_argument("--file", type=Path, help="another network than the one that is shipped")
    parser.add_argument("--symmetries", type=int, default=1)
    options = parser.parse_args()
    files = [file for file in sorted(options.folder.glob("*.wtb")) if int(file.stem[-4:]) >= HELD_OUT]
    records = [record for file in files for record in read_records(file)]
    if options.games:
        records = random.Random(1).sample(records, options.games)
    rows = np.array([row for record in records for row in rows_of(record)], object)
    words, facts = rows[:, :2].astype(np.uint64), rows[:, 2:].astype(np.int64)
    network, seconds, found = load_cnn(Game.OTHELLO, options.file, THREADS), 0.0, []
    with progress("network", len(words)) as step:
        for place in range(0, len(words), BATCH):
            some, begun = words[place : place + BATCH], perf_counter()
            shares, values = np.zeros((len(some), 64), np.float32), np.zeros(len(some), np.float32)
            for turn in range(options.symmetries):
                turned = np.array(
                    [[apply_symmetry(U(own), turn), apply_symmetry(U(opp), turn)] for own, opp in some], np.uint64
                )
                promises, value = network.predict(turned)
                shares += softmax(promises)[:, SYMMETRY_SQUARES[turn]] / options.symmetries
                values += value / options.symmetries
            seconds += perf_counter() - begun
            best = np.argsort(-shares, axis=1)[:, :3] == facts[place : place + BATCH, :1]
            found.append(np.column_stack([best[:, 0], best.any(1), values]))
            step(len(some))
    show(np.concatenate(found), facts, len(records))
    print(f"{len(words) * options.symmetries / seconds:,.0f} positions a second, {BATCH} at a time, {THREADS} threads")


def rows_of(record: Record) -> list[tuple[int, ...]]:
    """The positions of a game in which somebody moves: the words, the move, the mover's score less the other, empties.

    The score of a game that was not played to its end is -100: nobody won it.
    """
    rows, score = list[tuple[int, ...]](), record.final.score()
    for position, move in zip(record.positions(), record.moves, strict=False):
        if move != PASS:
            margin = score[position.side] - score[1 - position.side] if record.final.over else -100
            rows.append((position.own, position.opp, move, margin, 64 - (position.own | position.opp).bit_count()))
    return rows


def show(found: npt.NDArray[np.float64], facts: Rows, games: int) -> None:
    """Print the shares of moves that were found."""
    margin, stage = facts[:, 1], np.minimum(facts[:, 2] // 10, 5)
    winners, decided = margin >= 0, (margin != 0) & (margin != -100)
    print(f"{games:,d} games")
    sets = {"moves of winners": winners, "all moves": np.ones_like(winners)}
    sets |= {f"winners, {10 * ten} to {10 * ten + 9} empty": winners & (stage == ten) for ten in range(6)}
    for name, chosen in sets.items():
        top1, top3 = found[chosen, :2].mean(axis=0)
        print(f"{name:26s} {chosen.sum():9,d} positions: top 1 {top1:.2%}, top 3 {top3:.2%}")
    right = (found[decided, 2] > 0) == (margin[decided] > 0)
    print(f"the value is on the winner's side in {right.mean():.2%} of the positions of decided games")


if __name__ == "__main__":
    main()
