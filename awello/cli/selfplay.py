"""`awello selfplay`: games of the champion against itself, to learn from."""

import os
import re
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import Cluster, GameName, Json, Size, Variant, app, chosen_jobs, print_json, progress


@app.command()
def selfplay(
    game: GameName,
    level: Annotated[int, typer.Option(help="The champion's level", metavar="L")],
    out: Annotated[Path, typer.Option(help="The file to write, or to go on with", metavar="FILE")],
    games: Annotated[int, typer.Option(min=1, help="How many games the file is to hold", metavar="N")] = 1000,
    openings: Annotated[
        Path | None, typer.Option(help="Openings, one transcript a line; each game draws one", metavar="FILE")
    ] = None,
    opening_plies: Annotated[
        str, typer.Option(help="Random moves at the beginning, such as 10 or 4-16", metavar="N")
    ] = "0",
    seed: Annotated[int, typer.Option(help="The same seed gives the same games", metavar="S")] = 0,
    weights: Annotated[
        Path | None, typer.Option(help="Learnt weights in place of the shipped ones", metavar="FILE")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; unless said, one a core")] = None,
    cluster: Cluster = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Play games of the champion against itself and write them down, a line each, to learn from.

    Safe to interrupt: the same command goes on, and a larger --games adds to the file.
    """
    from awello.arena.openings import load_openings
    from awello.errors import ConfigError
    from awello.learn.selfplay import Settings, resume, write_games
    from awello.rules.game import find_game

    chosen = find_game(game, size, variant)
    lines = load_openings(openings, chosen) if openings else ()
    plies = parse_plies(opening_plies)
    if not lines and plies == (0, 0):
        raise ConfigError("all games would be the same: give --opening-plies such as 4-16, or --openings")
    settings = Settings(chosen, level, seed, lines, plies, weights)
    harvest, begun = resume(out, settings), time.perf_counter()
    before = harvest.games
    try:
        played = write_games(settings, harvest, games, out, chosen_jobs(jobs, cluster, os.cpu_count() or 1))
        with closing(played), progress(f"selfplay {chosen} level {level}", games) as step:
            step(before)
            for _ in played:
                step()
    except KeyboardInterrupt:
        print(f"awello: {harvest.games} games are in {out}: the same command goes on from there", file=sys.stderr)
        raise
    new, seconds = harvest.games - before, time.perf_counter() - begun
    if json:
        counts = {"games": harvest.games, "new": new, "mean_plies": harvest.mean_plies}
        print_json({**counts, "seconds": seconds, "games_per_second": new / seconds, "file": str(out)})
    else:
        speed = f"{new} of them new, {new / seconds:.1f} games/s"
        print(f"{harvest.games} games of {harvest.mean_plies:.1f} plies, {speed}, written to {out}")


def parse_plies(text: str) -> tuple[int, int]:
    """The least and the largest number of random moves."""
    from awello.errors import ConfigError

    if not (match := re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())):
        raise ConfigError(f"{text!r} is no number of plies: give one such as 10, or a range such as 4-16")
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high:
        raise ConfigError(f"a range of plies goes from the smaller to the larger number: {high}-{low}, not {text}")
    return low, high
