"""Measure the speed of an import and of position lookups in the archive.

python benchmarks/archive.py FOLDER [--archive postgresql://USER@HOST/NAME]
"""

import argparse
import random
import statistics
import tempfile
from pathlib import Path
from time import perf_counter

from awello.archive.archive import Archive, GameFilter
from awello.archive.explorer import explore
from awello.archive.files import find_files, read_sources
from awello.archive.importer import import_games
from awello.position import Position

SAMPLED_GAMES = 300  # games whose positions are all looked up


def main() -> None:
    """Run the measurement and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of games to import")
    parser.add_argument("--archive", default="", metavar="DATABASE", help="archive; default: a temporary file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(options.archive or Path(folder) / "archive.sqlite")
        started = perf_counter()
        reports = import_games(archive, read_sources(find_files([options.folder])), lambda progress: None)
        print(f"{sum(report.games for report in reports):,d} games imported in {perf_counter() - started:.1f} s")
        numbers = random.Random(1).sample(archive.find_numbers(GameFilter()), SAMPLED_GAMES)
        times = [time_lookup(archive, Position.start())]
        for record in archive.load_records(numbers):
            times += [time_lookup(archive, position) for position in record.positions()]
        mean, slowest = 1000 * statistics.fmean(times), 1000 * max(times)
        percentile = 1000 * statistics.quantiles(times, n=1000)[-1]
        print(f"{len(times):,d} lookups: mean {mean:.2f} ms, p99.9 {percentile:.1f} ms, slowest {slowest:.1f} ms")
        archive.close()


def time_lookup(archive: Archive, position: Position) -> float:
    """Look up a position; return the elapsed seconds."""
    started = perf_counter()
    explore(archive, position)
    return perf_counter() - started


if __name__ == "__main__":
    main()
