"""`awello train`: players that learn, each by its own command."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from awello.cli.app import Json, Size, Variant, app, print_json, progress

if TYPE_CHECKING:
    from awello.learn.perceptron import Report

train = typer.Typer(help="Learn what players need to know.", no_args_is_help=True)
app.add_typer(train, name="train")


def parse_budget(text: str) -> float:
    """The seconds that a training may take."""
    from awello.errors import ConfigError
    from awello.limits import parse_seconds

    if (seconds := parse_seconds(text)) <= 0:
        raise ConfigError("nothing is learnt in no time: give a --budget such as 10m")
    return seconds


@train.command()
def patterns(
    data: Annotated[Path, typer.Option(help="Folder with wthor/*.wtb and games/*.gz", metavar="DIR")],
    out: Annotated[Path, typer.Option(help="The file to write", metavar="FILE")] = Path("patterns.npz"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same weights", metavar="S")] = 1,
    json: Json = False,
) -> None:
    """Learn what Othello's patterns are worth from the finished games of a folder; takes some minutes."""
    import numpy as np

    from awello.evaluate.patterns import FIRST, WIDTH
    from awello.learn.patterns import PASSES, PASSES_FIRST, STAGES, collect, fit, read_games

    examples = collect(read_games(data))
    rows, weights = [], []
    with progress("train patterns", PASSES_FIRST + PASSES * (STAGES - 1)) as step:
        for fitted in fit(examples, step, seed):
            weights.append(fitted.weights)
            empties = FIRST + WIDTH * fitted.stage
            rows.append({"empties": empties, "examples": fitted.examples, "error": fitted.error})
            if not json:
                print(f"{empties:3d} empty squares: {fitted.examples:9,d} examples, error {fitted.error:.2f} discs")
    np.savez_compressed(out, weights=np.array(weights[::-1]))
    if json:
        print_json({"stages": rows, "file": str(out)})
    else:
        print(f"written to {out}")


@train.command()
def pits(
    budget: Annotated[str, typer.Option(help="How long to learn, such as 15m", metavar="TIME")] = "15m",
    out: Annotated[Path, typer.Option(help="The file to write and to go on from", metavar="FILE")] = Path("pits.npz"),
    jobs: Annotated[int, typer.Option(min=1, help="Threads", metavar="N")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed gives the same games", metavar="S")] = 1,
    json: Json = False,
) -> None:
    """Learn what seeds in each pit are worth to Awalé's champion, by games against itself.

    Safe to interrupt: the same command goes on from the last whole round.
    """
    from awello.learn.pits import learn, load_fit, save_fit

    seconds, fit, rounds = parse_budget(budget), load_fit(out), []
    with progress("train pits", round(seconds)) as step:
        step(fit.seconds)
        for lesson in learn(fit, seconds, jobs, seed, step):
            save_fit(out, fit)
            rounds.append({"round": lesson.number, "examples": lesson.examples, "error": lesson.error})
            if not json:
                print(
                    f"round {lesson.number:3d}: {lesson.examples:8,d} examples, error {lesson.error:.2f} seeds, "
                    f"{lesson.spread:.2f} without weights"
                )
    if json:
        print_json({"rounds": rounds, "seconds": fit.seconds, "file": str(out)})
    else:
        print(f"{fit.rounds} rounds in {fit.seconds:.0f} s, written to {out}")


@train.command()
def perceptron(
    game: Annotated[str, typer.Option(help="othello or awale", metavar="GAME")],
    size: Size = None,
    variant: Variant = None,
    budget: Annotated[str, typer.Option(help="How long to train, such as 10m", metavar="TIME")] = "15m",
    out: Annotated[Path | None, typer.Option(help="Unless said, perceptron-GAME.npz here", metavar="FILE")] = None,
    layers: Annotated[int, typer.Option(min=1, max=8, help="Hidden layers", metavar="N")] = 2,
    dropout: Annotated[float, typer.Option(min=0, max=0.9, help="Share of the units left out", metavar="P")] = 0.0,
    seed: Annotated[int, typer.Option(min=0, help="What chance follows from", metavar="S")] = 1,
    json: Json = False,
) -> None:
    """Train the network of the player puct by games against itself; interrupted, the same command goes on.

    Ten times on the way it prints the loss and the share of the points that puct@100n takes from uct@1000n in 20 games.
    """
    from dataclasses import asdict

    from awello.evaluate.network import network_name
    from awello.learn.perceptron import train as train_perceptron
    from awello.rules.game import find_game

    chosen, seconds = find_game(game, size, variant), parse_budget(budget)
    file, reports = out or Path(f"perceptron-{network_name(chosen)}.npz"), []
    try:
        with progress(f"train {file.stem}", seconds) as step:
            for report in train_perceptron(chosen, seconds, file, seed, layers, dropout, step):
                reports.append(asdict(report) | {"total": report.loss.total})
                if not json:
                    print(format_report(report), flush=True)
    except KeyboardInterrupt:
        print(f"awello: what was learnt is kept beside {file}: the same command goes on from there", file=sys.stderr)
        raise
    if json:
        print_json({"reports": reports, "file": str(file)})
    else:
        print(f"written to {file}")


def format_report(report: "Report") -> str:
    """How training stands, in a line."""
    loss = f"loss {report.loss.total:.3f} (moves {report.loss.moves:.3f}, value {report.loss.value:.3f})"
    done = f"{report.seconds:5.0f} s: {report.games:7,d} games, {report.steps:7,d} steps"
    return f"{done}, {loss}, {report.points:.0%} of the points against uct"
