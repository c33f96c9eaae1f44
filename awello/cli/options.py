"""Options and arguments that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

from awello.errors import ConfigError
from awello.limits import parse_limit

FamilyArgument = Annotated[str, typer.Argument(metavar="GAME", help="othello or awale")]
Size = Annotated[int | None, typer.Option(help="Othello: board size 4, 6 or 8; default: 8", metavar="SIZE")]
Variant = Annotated[
    str | None, typer.Option(help="Awalé: abapa, tournament or romein; default: abapa", metavar="VARIANT")
]
PositionOption = Annotated[
    str | None,
    typer.Option("--position", help="OBF board or Awalé diagram; default: start of the game", metavar="POSITION"),
]
JobsOption = Annotated[
    int | None, typer.Option("--jobs", min=1, help="Number of worker processes; default: 1", metavar="N")
]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Number of threads", metavar="N")]
Hash = Annotated[int, typer.Option("--hash", min=1, max=65536, help="Transposition table size in MiB", metavar="MIB")]
Cluster = Annotated[
    str | None,
    typer.Option(help="Scheduler of a dask cluster, such as tcp://HOST:8786; default: none", metavar="ADDRESS"),
]
ArchiveOption = Annotated[
    str | None,
    typer.Option(
        "--archive", help="Archive: file or postgresql://USER@HOST/NAME; default: your own", metavar="DATABASE"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object")]
FirstSpec = Annotated[str, typer.Argument(metavar="A", help="First player; 'awello players' lists all players")]
SecondSpec = Annotated[str, typer.Argument(metavar="B", help="Second player")]
CLOCK_FORMAT = "such as 5m or 30s+500ms (adds 500 ms per move); without a unit: seconds"
ClockOption = Annotated[
    str | None,
    typer.Option("--clock", help=f"Time for each player, {CLOCK_FORMAT}; default: unlimited", metavar="TIME"),
]
Seed = Annotated[int, typer.Option(help="Random seed; games without time limits are reproducible", metavar="SEED")]
Openings = Annotated[
    Path | None, typer.Option(help="File of openings, one transcript per line; default: none", metavar="FILE")
]
Out = Annotated[
    Path | None, typer.Option(help="Folder to write to, or to resume from; default: none", metavar="FOLDER")
]


def resolve_jobs(jobs: int | None, cluster: str | None, default: int = 1) -> int | str:
    """Return the number of local worker processes, or the cluster address."""
    if jobs and cluster:
        raise ConfigError(
            "--jobs and --cluster are mutually exclusive, because a cluster uses all its workers: omit one"
        )
    return cluster or jobs or default


def parse_level(limit: str) -> int:
    """Parse a limit that must be a level of the champion, such as `level=12`."""
    level = parse_limit(limit).level
    if level is None:
        raise ConfigError(f"--limit {limit} is not a level: write --limit level=N, with N from 0 to 30")
    return level
