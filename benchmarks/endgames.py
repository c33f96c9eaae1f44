"""Solve the problems of an OBF file, and scale the times to a reference machine.

    python benchmarks/endgames.py FILE.obf [FIRST LAST] [--threads N] [--hash MIB]

FIRST and LAST are numbers of problems, counted from 1.  The speed of a shared machine varies, so perft runs between
the problems, and each time is scaled to a machine where perft reaches 168 M leaves per second.
"""

import argparse
import time
from pathlib import Path

from awello import Game, Position
from awello.engine.engine import Engine
from awello.formats.obf import parse_obf
from awello.kernel import U
from awello.rules.game import perft

REFERENCE_LEAVES_PER_SECOND = 168e6  # speed of perft on the machine to which times are scaled
PERFT_DEPTH = 10


def measure_perft_speed() -> float:
    """Return the speed of perft in leaves per second: the best of three runs."""
    start, rates = Position.start(Game.OTHELLO), []
    for _ in range(3):
        started = time.perf_counter()
        leaves = perft(int(Game.OTHELLO), U(start.own), U(start.opp), PERFT_DEPTH)
        rates.append(leaves / (time.perf_counter() - started))
    return max(rates)


def main() -> None:
    """Solve the problems; print one line per problem, then the totals."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=Path, help="OBF file")
    parser.add_argument("range", type=int, nargs="*", default=[1, 1000], help="first and last problem; default: all")
    parser.add_argument("--threads", type=int, default=1, help="search threads; default: 1")
    parser.add_argument("--hash", type=int, default=128, help="transposition table size in MiB; default: 128")
    args = parser.parse_args()
    first, last = args.range
    totals = [0.0, 0.0, 0.0]
    print(" #  empty  score      correct  seconds    nodes M      perft M/s  scaled s")
    with Engine(threads=args.threads, hash=args.hash) as engine:
        before = measure_perft_speed()
        for number, problem in enumerate(parse_obf(args.file.read_text("utf-8"))[first - 1 : last], first):
            engine.clear()
            *_, analysis = engine.solve(problem.position)
            after = measure_perft_speed()
            speed, before = (before + after) / 2, after
            scaled = analysis.seconds * speed / REFERENCE_LEAVES_PER_SECOND
            results = analysis.seconds, analysis.nodes, scaled
            totals = [total + result for total, result in zip(totals, results, strict=True)]
            correct = analysis.value == problem.best_score and analysis.move in problem.best_moves
            print(
                f"{number:2d}  {analysis.depth:5d}  {analysis.value:+5.0f}  {'yes' if correct else 'NO':>11s}"
                f"  {analysis.seconds:7.2f}  {analysis.nodes / 1e6:9.1f}  {speed / 1e6:13.1f}  {scaled:8.2f}",
                flush=True,
            )
    seconds, nodes, scaled = totals
    print(f"{seconds:.2f} s, {nodes / 1e6:,.1f} M nodes, {nodes / seconds / 1e6:.1f} M nodes/s, scaled {scaled:.2f} s")


if __name__ == "__main__":
    main()
