"""`awello lab`: the experiments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from awello.cli.app import Cluster, Json, Processes, Variant, app, chosen_jobs, print_result
from awello.cli.running import Seed, resumable, show_progress
from awello.errors import ConfigError
from awello.lab import benchmark, championship, complexity, heuristics, learning, ordering, otage
from awello.lab.experiment import run_experiment
from awello.lab.report import require_matplotlib
from awello.rules.game import find_game


@app.command()
def lab(
    name: Annotated[str, typer.Argument(metavar="NAME", help="One of the experiments above")],
    game: Annotated[str | None, typer.Option(help="Default: the experiment's", metavar="GAME")] = None,
    variant: Variant = None,
    games: Annotated[
        int | None, typer.Option(min=1, help="Games for each configuration; otage: positions", metavar="N")
    ] = None,
    depths: Annotated[str | None, typer.Option(help="Plies to look ahead, such as 2,4,6", metavar="N,...")] = None,
    seed: Seed = 0,
    jobs: Processes = None,
    cluster: Cluster = None,
    training: Annotated[
        Path | None, typer.Option(help="learning: the folder of a network's training, to show it too", metavar="FOLDER")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; default: lab-NAME-GAME")] = None,
    json: Json = False,
) -> None:
    """Run an experiment and write a folder of tables and plots. Can be interrupted; run the same command to resume.

    complexity: time and nodes of searches, with alpha-beta and without, and what options save.
    championship: every configuration against every other of its depth.
    benchmark: each heuristic against random.
    ordering: what an order of moves saves, learnt before or while searching (Awalé).
    heuristics: the nine programs of report 1 against each other (Awalé).
    otage: what the variations of one depth save at the next, in trees and in positions (Othello).
    learning: how the network learnt, and which heuristics, depths and levels it equals (Othello).
    """
    modules = (complexity, championship, benchmark, ordering, heuristics, otage, learning)
    experiments = {module.__name__.rpartition(".")[2]: module for module in modules}
    if name not in experiments:
        raise ConfigError(f"no experiment {name!r}: choose {', '.join(experiments)}")
    require_matplotlib()
    experiment = experiments[name]
    game = game or str(experiment.DEFAULT_GAME)
    find_game(game, variant=variant)
    plies = parse_depths(depths) if depths is not None else experiment.DEFAULT_DEPTHS
    if training and experiment is not learning:
        raise ConfigError("--training is for the experiment learning: leave it out")
    own = {"training": training} if training else {}
    plan: Any = experiment.make_plan(game, variant, games or experiment.DEFAULT_GAMES, plies, seed, **own)
    folder = out or Path(f"lab-{name}-{game}")
    with resumable(folder), show_progress(f"lab {name}", plan.total) as update:
        done = run_experiment(plan, folder, chosen_jobs(jobs, cluster), update)
    experiment.write_report(plan, done, plies, folder)
    text = f"{len(done)} {plan.unit} done; the report is {folder / 'report.html'} (and report.md)"
    print_result({"experiment": name, plan.unit: len(done), "folder": str(folder)}, text, json)


def parse_depths(text: str) -> Sequence[int]:
    """Depths such as `2,4,6`, in rising order."""
    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= 20 for part in parts):
        raise ConfigError(f"depths {text!r} are no numbers of plies from 1 to 20, such as 2,4,6")
    return sorted({int(part) for part in parts})
