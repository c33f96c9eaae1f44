"""`awello lab`: the experiments."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import Json, Variant, app, print_json, progress


@app.command()
def lab(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="complexity, championship, benchmark, ordering, heuristics, otage or learning"
        ),
    ],
    game: Annotated[
        str | None, typer.Option(help="othello or awale; unless said, that of the experiment", metavar="GAME")
    ] = None,
    variant: Variant = None,
    games: Annotated[
        int | None, typer.Option(min=1, help="Games for each configuration; otage: positions", metavar="N")
    ] = None,
    depths: Annotated[str | None, typer.Option(help="Plies to look ahead, such as 2,4,6", metavar="N,...")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same games", metavar="S")] = 0,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes", metavar="N")] = 1,
    training: Annotated[
        Path | None, typer.Option(help="learning: the folder of a network's training, to show it too", metavar="FOLDER")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; unless said, lab-NAME-GAME here")] = None,
    json: Json = False,
) -> None:
    """Conduct an experiment and write a folder of tables and plots. Safe to interrupt: the same command goes on.

    complexity: time and nodes of searches, with alpha-beta and without, and what options save.
    championship: every configuration against every other of its depth.
    benchmark: each heuristic against random.
    ordering: what an order of moves saves, learnt before or while searching (Awalé).
    heuristics: the nine programs of report 1 against each other (Awalé).
    otage: what the variations of one depth save at the next, in trees and in positions (Othello).
    learning: how the network learnt, and which heuristics, depths and levels it equals (Othello).
    """
    from awello.errors import ConfigError
    from awello.lab import benchmark, championship, complexity, heuristics, learning, ordering, otage
    from awello.lab.experiment import run
    from awello.lab.report import need_plots
    from awello.rules.game import find_game

    modules = (complexity, championship, benchmark, ordering, heuristics, otage, learning)
    experiments = {module.__name__.rpartition(".")[2]: module for module in modules}
    if name not in experiments:
        raise ConfigError(f"no experiment {name!r}: choose {', '.join(experiments)}")
    need_plots()
    experiment = experiments[name]
    game = game or str(experiment.GAME)
    find_game(game, variant=variant)
    plies = parse_depths(depths) if depths is not None else experiment.DEPTHS
    if training and experiment is not learning:
        raise ConfigError("--training is for the experiment learning: leave it out")
    own = {"training": training} if training else {}
    plan = experiment.plan(game, variant, games or experiment.GAMES, plies, seed, **own)
    folder = out or Path(f"lab-{name}-{game}")
    try:
        with progress(f"lab {name}", plan.parts) as step:
            done = getattr(experiment, "run", run)(plan, folder, jobs, step)  # only one that plays no games has its own
    except KeyboardInterrupt:
        print(f"awello: the {plan.unit} so far are in {folder}: the same command goes on from there", file=sys.stderr)
        raise
    experiment.write(plan, done, plies, folder)
    if json:
        print_json({"experiment": name, plan.unit: len(done), "folder": str(folder)})
    else:
        print(f"{len(done)} {plan.unit} done; the report is {folder / 'report.html'} (and report.md)")


def parse_depths(text: str) -> Sequence[int]:
    """Depths such as `2,4,6`, in rising order."""
    from awello.errors import ConfigError

    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= 20 for part in parts):
        raise ConfigError(f"depths {text!r} are no numbers of plies from 1 to 20, such as 2,4,6")
    return sorted({int(part) for part in parts})
