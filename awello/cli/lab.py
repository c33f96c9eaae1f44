"""`awello lab`: run the experiments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from awello.cli.app import app
from awello.cli.options import Cluster, JobsOption, Json, Seed, resolve_jobs
from awello.cli.output import print_result
from awello.cli.progress import resumable, show_job_progress
from awello.errors import ConfigError, join_choices
from awello.lab import benchmark, championship, complexity, heuristics, learning, ordering, otage
from awello.lab.experiment import run_experiment
from awello.lab.report import require_matplotlib
from awello.rules.game import find_game


@app.command()
def lab(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the experiment, from the list above")],
    game: Annotated[str | None, typer.Option(help="othello or awale; default: depends on NAME", metavar="GAME")] = None,
    variant: Annotated[
        str | None,
        typer.Option(help="Awalé: abapa, tournament or romein; default: depends on NAME", metavar="VARIANT"),
    ] = None,
    games: Annotated[
        int | None, typer.Option(min=1, help="Games per pairing; default: depends on NAME", metavar="N")
    ] = None,
    positions: Annotated[
        int | None,
        typer.Option(
            min=1,
            help=f"Number of positions, for the experiment 'otage'; default: {otage.DEFAULT_POSITIONS}",
            metavar="N",
        ),
    ] = None,
    depths: Annotated[
        str | None,
        typer.Option(help="Search depths in plies, such as 2,4,6; default: depends on NAME", metavar="N,..."),
    ] = None,
    seed: Seed = 0,
    jobs: JobsOption = None,
    cluster: Cluster = None,
    training: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a training run of the network, for the experiment 'learning'; default: none",
            metavar="FOLDER",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write to, or to resume from; default: lab-NAME-GAME", metavar="FOLDER"),
    ] = None,
    json: Json = False,
) -> None:
    """Run an experiment and write its tables and plots.

    Can be interrupted; run the same command again to resume. Experiments:

    * complexity: time and nodes of minimax and alpha-beta, and the effect of each setting.
    * championship: round robin of heuristics and square tables at equal depth; in Awalé, of search depths.
    * benchmark: games of each heuristic against the player random.
    * ordering: nodes saved by move ordering, learnt before or during the games (Awalé).
    * heuristics: round robin of the nine players of report 1 (Awalé; see docs/sources.md).
    * otage: leaves saved by hints from the previous search depth (Othello).
    * learning: learning curves of the network, and its strength against other players (Othello).
    """
    modules = (complexity, championship, benchmark, ordering, heuristics, otage, learning)
    experiments = {module.__name__.rpartition(".")[2]: module for module in modules}
    if name not in experiments:
        raise ConfigError(f"unknown experiment {name!r}: choose {join_choices(experiments)}")
    require_matplotlib()
    experiment = experiments[name]
    game = game or str(experiment.DEFAULT_GAME)
    find_game(game, variant=variant)
    plies = parse_depths(depths) if depths is not None else experiment.DEFAULT_DEPTHS
    if training and experiment is not learning:
        raise ConfigError("--training works only with the experiment 'learning': omit --training")
    if games and experiment is otage:
        raise ConfigError("the experiment 'otage' plays no games: give --positions instead of --games")
    if positions and experiment is not otage:
        raise ConfigError("--positions works only with the experiment 'otage': omit --positions")
    count = positions or otage.DEFAULT_POSITIONS if experiment is otage else games or experiment.DEFAULT_GAMES
    extra = {"training": training} if training else {}
    plan: Any = experiment.make_plan(game, variant, count, plies, seed, **extra)
    folder = out or Path(f"lab-{name}-{game}")
    with resumable(folder), show_job_progress(f"lab {name}", plan.total) as update:
        done = run_experiment(plan, folder, resolve_jobs(jobs, cluster), update)
    experiment.write_report(plan, done, plies, folder)
    text = f"{len(done)} {plan.unit} done; the report is {folder / 'report.html'} (and report.md)"
    print_result({"experiment": name, plan.unit: len(done), "folder": str(folder)}, text, json)


def parse_depths(text: str) -> Sequence[int]:
    """Parse depths such as `2,4,6`; return them in increasing order."""
    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= 20 for part in parts):
        raise ConfigError(f"{text!r} is not a list of depths: write numbers of plies from 1 to 20, such as 2,4,6")
    return sorted({int(part) for part in parts})
