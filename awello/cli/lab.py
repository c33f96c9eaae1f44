"""`awello lab`: the experiments."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from awello.cli.app import Json, Variant, app, print_json, progress

if TYPE_CHECKING:
    from awello.lab.experiment import Plan

lab = typer.Typer(help="Experiments that write a folder of tables and plots; safe to interrupt and resume.")
app.add_typer(lab, name="lab")

Game = Annotated[str, typer.Option(help="othello or awale", metavar="GAME")]
Games = Annotated[int, typer.Option(min=1, help="Games for each configuration", metavar="N")]
Depths = Annotated[str, typer.Option(help="Plies to look ahead", metavar="N,N,...")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same games", metavar="S")]
Jobs = Annotated[int, typer.Option(min=1, help="Worker processes", metavar="N")]
Out = Annotated[Path | None, typer.Option(help="Folder to write; unless said, lab-NAME-GAME here")]


@lab.command()
def complexity(
    game: Game = "othello",
    variant: Variant = None,
    games: Games = 100,
    depths: Depths = "2,4,6",
    seed: Seed = 0,
    jobs: Jobs = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Time and nodes of searches with alpha-beta and without, against random, and what options save."""
    from awello.lab import complexity as experiment

    conduct(experiment, game, variant, games, depths, seed, jobs, out, json)


@lab.command()
def championship(
    game: Game = "othello",
    variant: Variant = None,
    games: Games = 20,
    depths: Depths = "2,4,6",
    seed: Seed = 0,
    jobs: Jobs = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Every configuration against every other: scores by table, strategy, depth and colour, and pair by pair."""
    from awello.lab import championship as experiment

    conduct(experiment, game, variant, games, depths, seed, jobs, out, json)


@lab.command()
def benchmark(
    game: Game = "othello",
    variant: Variant = None,
    games: Games = 20,
    depths: Depths = "6,8",
    seed: Seed = 0,
    jobs: Jobs = 1,
    out: Out = None,
    json: Json = False,
) -> None:
    """Each heuristic against random: games won, share of the board, time of a move."""
    from awello.lab import benchmark as experiment

    conduct(experiment, game, variant, games, depths, seed, jobs, out, json)


def conduct(
    experiment: Any,
    game: str,
    variant: str | None,
    games: int,
    depths: str,
    seed: int,
    jobs: int,
    out: Path | None,
    json: bool,
) -> None:
    """Play an experiment with a progress bar, write its report and say where."""
    from awello.lab.experiment import run
    from awello.lab.report import need_plots

    need_plots()
    plies = parse_depths(depths)
    plan: Plan = experiment.plan(game, variant, games, plies, seed)
    plan.chosen_game()
    folder = out or Path(f"lab-{plan.name}-{game}")
    try:
        with progress(f"lab {plan.name}", plan.games * len(plan.pairings)) as step:
            played = run(plan, folder, jobs, step)
    except KeyboardInterrupt:
        print(f"awello: the games so far are in {folder}: the same command goes on from there", file=sys.stderr)
        raise
    experiment.write(plan, played, plies, folder)
    if json:
        print_json({"experiment": plan.name, "games": len(played), "folder": str(folder)})
    else:
        print(f"{len(played)} games played; the report is {folder / 'report.html'} (and report.md)")


def parse_depths(text: str) -> Sequence[int]:
    """Depths such as `2,4,6`, in rising order."""
    from awello.errors import ConfigError

    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= 20 for part in parts):
        raise ConfigError(f"depths {text!r} are no numbers of plies from 1 to 20, such as 2,4,6")
    return sorted({int(part) for part in parts})
