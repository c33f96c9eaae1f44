"""How long a folder of games takes to import, and how long the archive takes to find a position of them.

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

ASKED = 300  # games of which a position of every ply is looked up


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--archive", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        archive = Archive(options.archive or Path(folder) / "archive.sqlite")
        begun = perf_counter()
        reports = import_games(archive, read_sources(find_files([options.folder])), lambda looked_at: None)
        print(f"{sum(report.games for report in reports):,d} games imported in {perf_counter() - begun:.1f} s")
        numbers = random.Random(1).sample(archive.numbers(GameFilter()), ASKED)
        times = [time_of(archive, Position.start())]
        for record in archive.records(numbers):
            times += [time_of(archive, position) for position in record.positions()]
        mean, worst = 1000 * statistics.fmean(times), 1000 * max(times)
        most = 1000 * statistics.quantiles(times, n=1000)[-1]
        print(f"{len(times):,d} positions looked up: {mean:.2f} ms each, 99.9 % in {most:.1f} ms, {worst:.1f} at most")
        archive.close()


def time_of(archive: Archive, position: Position) -> float:
    """The seconds that the explorer takes for a position."""
    begun = perf_counter()
    explore(archive, position)
    return perf_counter() - begun


if __name__ == "__main__":
    main()
