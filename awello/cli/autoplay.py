"""`awello autoplay`: Otage against itself, to build its book and to learn."""

import os
from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import Cluster, Json, app, chosen_jobs, hide_password, print_json
from awello.cli.running import resumable, show_progress
from awello.errors import ConfigError
from awello.evaluate.otage_memory import MEMORY_FILE, TERMS, OtageMemory
from awello.learn.autoplay import AutoplayPlan
from awello.learn.autoplay import autoplay as play
from awello.limits import Clock, parse_clock, parse_limit
from awello.players.otage import GAMES_FILE, load_game_tree
from awello.players.otage_learning import Lesson
from awello.record import Record


@app.command()
def autoplay(
    folder: Annotated[Path, typer.Argument(help="What it learns, and its games; new, or to resume from")],
    games: Annotated[int, typer.Option(min=1, help="How many games there are to be in all", metavar="N")] = 2050,
    limit: Annotated[str | None, typer.Option(help="Per move: 20ms (default), 20000n or 4 plies", metavar="L")] = None,
    clock: Annotated[str | None, typer.Option(help="Instead: time for a side's game, such as 3m", metavar="T")] = None,
    plies: Annotated[
        int, typer.Option(min=0, max=8, help="Play all openings of N plies first; 0: none", metavar="N")
    ] = 6,
    passes: Annotated[int, typer.Option(min=1, help="How often each of these openings is played", metavar="N")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same games, unless the limit is a time")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Worker processes; default: one per core")] = None,
    cluster: Cluster = None,
    place: Annotated[
        str | None,
        typer.Option("--archive", help="Where its games are kept, a file or postgresql://...; default: in FOLDER"),
    ] = None,
    json: Json = False,
) -> None:
    """Let Otage play against itself: first all openings, then to find better moves than those that lost.

    The player otage,memory=FOLDER plays by what it learnt. Can be interrupted; run the same command again to resume.
    A larger --games adds to the folder.
    """
    if limit and clock:
        raise ConfigError("either --limit or --clock says how long Otage may think: leave one of both out")
    parsed = None if clock else parse_limit(limit or "20ms")
    if parsed and (parsed.level is not None or 0 in (parsed.depth, parsed.nodes, parsed.seconds)):
        raise ConfigError(f"--limit {limit} is not for Otage: give a time such as 20ms, 20000n (nodes) or 4 (plies)")
    time = parse_clock(clock) if clock else Clock()
    plan = AutoplayPlan(parsed, time, seed, plies, passes, games)
    workers, counts = chosen_jobs(jobs, cluster, os.cpu_count() or 1), list[int]()
    with resumable(folder), show_progress("autoplay", games) as update:

        def show(played: int) -> None:
            counts.append(played)
            update(played)

        learnt = list(play(folder, plan, workers, place or "", show))
    new = counts[-1] - counts[0] if counts else 0
    report(folder, place or str(folder / GAMES_FILE), learnt, new, json)


def report(folder: Path, place: str, learnt: list[tuple[Record, Lesson]], new: int, json: bool) -> None:
    """What was played and learnt, for people or machines."""
    memory, positions = OtageMemory.load(folder / MEMORY_FILE), len(load_game_tree(place))
    lost = [lesson for record, lesson in learnt if record.winner is not None]
    changed = sum(lesson.ply is not None for lesson in lost)
    repeats = sum(lesson.repeats for lesson in lost)
    factors = dict(zip(TERMS, (round(factor, 3) for factor in memory.factors), strict=True))
    if json:
        lessons = {"lost": len(lost), "changed": changed, "repeats": repeats, "factors": factors}
        print_json(
            {"games": memory.autoplay_games, "new": new, "positions": positions, **lessons, "folder": str(folder)}
        )
        return
    print(f"games: {memory.autoplay_games:,d}, {new:,d} of them new; {positions:,d} positions in the book")
    if lost:
        often = f"learnt {repeats / len(lost):.1f} times on average"
        print(f"games that were not drawn: {len(lost):,d}, {often}; {changed:,d} would not be lost the same way again")
    print("factors: " + ", ".join(f"{term} {factor:g}" for term, factor in factors.items()))
    elsewhere = "" if place == str(folder / GAMES_FILE) else ",archive=" + hide_password(place)
    print(f"the player otage,memory={folder}{elsewhere} plays by this")
