"""`awello selfplay`: generate training games of the champion against itself."""

import os
import re
import time
from pathlib import Path
from typing import Annotated

import typer

from awello.arena.openings import load_openings
from awello.arena.runner import Runner
from awello.cli.app import app
from awello.cli.options import Cluster, FamilyArgument, Json, Openings, Seed, Size, Variant, parse_level, resolve_jobs
from awello.cli.output import format_games, print_result
from awello.cli.progress import exit_interrupted, show_job_progress
from awello.errors import ConfigError
from awello.learn.selfplay import SelfplayPlan
from awello.rules.game import find_game


@app.command()
def selfplay(
    game: FamilyArgument,
    limit: Annotated[str, typer.Option(help="Level of the champion, from level=0 to level=30", metavar="LIMIT")],
    out: Annotated[Path, typer.Option(help="Folder to write to, or to resume from", metavar="FOLDER")],
    games: Annotated[int, typer.Option(min=1, help="Total number of games", metavar="N")] = 1000,
    openings: Openings = None,
    opening_plies: Annotated[
        str, typer.Option(help="Number of random opening moves, such as 10, or a range such as 4-16", metavar="N")
    ] = "0",
    seed: Seed = 0,
    weights: Annotated[
        Path | None, typer.Option(help="File of evaluation weights; default: the shipped weights", metavar="FILE")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Number of worker processes; default: one per core", metavar="N")
    ] = None,
    cluster: Cluster = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Generate training games with the champion.

    The champion plays both sides. Each game begins with an opening from --openings, if given, followed by random moves
    if --opening-plies is not 0. Writes one line of JSON per game to FOLDER/games.jsonl. Can be interrupted; run the
    same command again to resume. Increase --games to extend a run.
    """
    chosen = find_game(game, size, variant)
    lines = load_openings(openings, chosen) if openings else ()
    plies = parse_plies(opening_plies)
    if not lines and plies == (0, 0):
        raise ConfigError("all games would be identical: give --opening-plies such as 4-16, or --openings")
    plan = SelfplayPlan(chosen, parse_level(limit), games, seed, lines, plies, str(weights or ""))
    started = time.perf_counter()
    with (
        Runner(plan, resolve_jobs(jobs, cluster, os.cpu_count() or 1), out) as runner,
        show_job_progress(f"selfplay {chosen} {limit}", games) as update,
    ):
        before = len(runner.results)
        update(before)
        finished = runner.run(lambda: update(len(runner.results)))
    played, seconds = len(runner.results), time.perf_counter() - started
    new = played - before
    mean = sum(letter.isalpha() for result in runner.results for letter in result.moves) / max(1, played)
    if not finished:
        exit_interrupted(out)
    counts, rate = {"games": played, "new": new, "mean_plies": mean}, new / seconds
    text = f"{format_games(played)} ({new:,d} new), {mean:.1f} plies on average, {rate:.1f} games/s, written to {out}"
    print_result({**counts, "seconds": seconds, "games_per_second": rate, "folder": str(out)}, text, json)


def parse_plies(text: str) -> tuple[int, int]:
    """Parse a number of plies or a range; return the lowest and the highest number."""
    if not (match := re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())):
        raise ConfigError(f"{text!r} is not a number of plies: write a number such as 10, or a range such as 4-16")
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high:
        raise ConfigError(f"the range {text!r} is reversed: write {high}-{low}")
    return low, high
