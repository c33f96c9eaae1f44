"""`awello autoplay`: let Otage play against itself, to build its book and to learn."""

import os
from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import app
from awello.cli.options import CLOCK_FORMAT, Cluster, Json, resolve_jobs
from awello.cli.output import hide_password, print_json
from awello.cli.progress import resumable, show_job_progress
from awello.errors import ConfigError
from awello.evaluate.otage_memory import MEMORY_FILE, TERM_NAMES, OtageMemory
from awello.learn.autoplay import AutoplayPlan
from awello.learn.autoplay import autoplay as play
from awello.limits import Clock, parse_clock, parse_limit
from awello.players.otage import ARCHIVE_FILE, load_opening_tree
from awello.players.otage_learning import LearningResult
from awello.record import Record


@app.command()
def autoplay(
    out: Annotated[Path, typer.Option(help="Otage's memory: folder to write to, or to resume from", metavar="FOLDER")],
    games: Annotated[int, typer.Option(min=1, help="Total number of games", metavar="N")] = 2050,
    limit: Annotated[
        str | None,
        typer.Option(help="Limit per move, such as 20ms, 20000n (nodes) or 4 (plies); default: 20ms", metavar="LIMIT"),
    ] = None,
    clock: Annotated[
        str | None,
        typer.Option(help=f"Time for each player (instead of --limit), {CLOCK_FORMAT}; default: none", metavar="TIME"),
    ] = None,
    opening_plies: Annotated[
        int,
        typer.Option(
            min=0,
            max=8,
            help="Number of opening moves: all openings of this length are played first; 0: none",
            metavar="N",
        ),
    ] = 6,
    repeats: Annotated[int, typer.Option(min=1, help="Games per opening", metavar="N")] = 1,
    seed: Annotated[
        int, typer.Option(help="Random seed; games without time limits are reproducible", metavar="SEED")
    ] = 0,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of worker processes; default: one per core", metavar="N")
    ] = None,
    cluster: Cluster = None,
    database: Annotated[
        str | None,
        typer.Option(
            "--archive",
            help="Archive of the games: file or postgresql://USER@HOST/NAME; default: a file in FOLDER",
            metavar="DATABASE",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Let Otage learn by playing against itself.

    Otage first plays all openings of --opening-plies moves, then looks for better moves where all known moves have
    lost. To use the result, play with the player otage,memory=FOLDER. Can be interrupted; run the same command again to
    resume. Increase --games to extend a run.
    """
    if limit and clock:
        raise ConfigError("--limit and --clock are mutually exclusive: omit one")
    parsed = None if clock else parse_limit(limit or "20ms")
    if parsed and (parsed.level is not None or 0 in (parsed.depth, parsed.nodes, parsed.seconds)):
        raise ConfigError(f"--limit {limit} is not a limit for Otage: write 20ms, 20000n (nodes) or 4 (plies)")
    time = parse_clock(clock) if clock else Clock()
    plan = AutoplayPlan(parsed, time, seed, opening_plies, repeats, games)
    workers, counts = resolve_jobs(jobs, cluster, os.cpu_count() or 1), list[int]()
    with resumable(out), show_job_progress("autoplay", games) as update:

        def show(played: int) -> None:
            counts.append(played)
            update(played)

        learnt = list(play(out, plan, workers, database or "", show))
    new = counts[-1] - counts[0] if counts else 0
    print_report(out, database or str(out / ARCHIVE_FILE), learnt, new, json)


def print_report(
    folder: Path, database: str, learnt: list[tuple[Record, LearningResult]], new: int, json: bool
) -> None:
    """Print statistics of the games and of what Otage learnt from them."""
    memory, positions = OtageMemory.load(folder / MEMORY_FILE), len(load_opening_tree(database))
    lost = [result for record, result in learnt if record.winner is not None]
    changed = sum(result.changed_ply is not None for result in lost)
    repeats = sum(result.repeats for result in lost)
    factors = dict(zip(TERM_NAMES, (round(factor, 3) for factor in memory.factors), strict=True))
    if json:
        learning = {"lost": len(lost), "changed": changed, "repeats": repeats, "factors": factors}
        print_json(
            {"games": memory.autoplay_games, "new": new, "positions": positions, **learning, "folder": str(folder)}
        )
        return
    print(f"games: {memory.autoplay_games:,d} ({new:,d} new); positions in the book: {positions:,d}")
    if lost:
        mean = f"Otage learnt from each of them {repeats / len(lost):.1f} times on average"
        print(f"games that were not drawn: {len(lost):,d} ({mean})")
        print(f"games in which the loser would now play differently: {changed:,d}")
    print("factors: " + ", ".join(f"{term} {factor:g}" for term, factor in factors.items()))
    elsewhere = "" if database == str(folder / ARCHIVE_FILE) else ",archive=" + hide_password(database)
    print(f"to play with this memory, use the player otage,memory={folder}{elsewhere}")
