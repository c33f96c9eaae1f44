"""`awello train`: players that learn, each by its own command."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from awello.cli.app import Json, Size, Variant, app, check_output, print_result, progress
from awello.cli.running import resumable
from awello.errors import ConfigError
from awello.lab.report import check_plot, write_plot
from awello.learn.awale_network import load_training, save_training
from awello.learn.awale_network import train as train_awale_network
from awello.learn.patterns import PatternTraining, PatternTrainingConfig, StageResult
from awello.learn.perceptron import TrainingProgress
from awello.learn.perceptron import train as train_perceptron
from awello.learn.positions import collect_positions, read_games
from awello.limits import parse_duration
from awello.rules.game import find_game

train = typer.Typer(help="Learn what players need to know.", no_args_is_help=True)
app.add_typer(train, name="train")

Budget = Annotated[str, typer.Option(help="Time to train, such as 10m or 1h", metavar="TIME")]
Out = Annotated[Path, typer.Option(help="The file to write, or to resume from", metavar="FILE")]
Seed = Annotated[int, typer.Option(min=0, help="The same seed gives the same weights", metavar="S")]
Plot = Annotated[Path | None, typer.Option(help="Draw the progress to this .svg or .png", metavar="FILE")]
TrainingThreads = Annotated[int, typer.Option("--jobs", min=1, help="Threads", metavar="N")]


def parse_budget(text: str) -> float:
    """The seconds that a training may take."""

    if (seconds := parse_duration(text)) <= 0:
        raise ConfigError("nothing is learnt in no time: give a --budget such as 10m")
    return seconds


@train.command()
def patterns(
    data: Annotated[
        list[Path],
        typer.Option(help="Games: a folder with wthor/*.wtb and games/*.gz, or a file; again for more", metavar="PATH"),
    ],
    out: Out = Path("patterns.npz"),
    depth: Annotated[int, typer.Option(min=0, max=12, help="Learn from searches of N plies too", metavar="N")] = 0,
    positions: Annotated[int, typer.Option(min=100, help="Positions to search per stage", metavar="N")] = 200_000,
    jobs: TrainingThreads = 1,
    seed: Seed = 1,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Learn what Othello's patterns are worth from the finished games of archives and of 'awello selfplay'.

    Takes some minutes, with --depth hours; what searches found is kept in a folder beside the file. Can be interrupted;
    run the same command again to resume with the next stage.
    """

    if plot:
        check_plot(plot)
    games = np.concatenate([read_games(place) for place in data])
    plan = PatternTrainingConfig.of(games, seed, depth, positions if depth else 0)
    training = PatternTraining(out, plan, collect_positions(games), jobs)
    for step in () if json else training.completed:
        print(format_step(step))
    with progress("train patterns", len(plan.steps())) as show:
        show(len(training.completed))
        for step in training.run(lambda searched: show(0, description=f"{searched:,d} positions searched")):
            show()
            if not json:
                print(format_step(step), flush=True)
    if plot:
        write_plot(plot, lambda axes: draw_errors(axes, training.completed))
    steps = [asdict(step) for step in training.completed]
    print_result({"plan": asdict(plan), "steps": steps, "file": str(out)}, f"written to {out}", json)


def format_step(step: StageResult) -> str:
    """What a stage has learnt, in a line."""
    learnt = f"{step.empties:3d} empty squares, {step.labels}: {step.examples:9,d} examples"
    return f"{learnt}, error {step.error:5.2f} discs ({step.before:5.2f} before), {step.results:5.2f} against results"


def draw_errors(axes: Any, steps: Sequence[StageResult]) -> None:
    """The error by stage: on what was learnt from, and against results."""
    for labels in dict.fromkeys(step.labels for step in steps):
        chosen = sorted((step for step in steps if step.labels == labels), key=lambda step: step.empties)
        empties = [step.empties for step in chosen]
        axes.plot(empties, [step.results for step in chosen], "o-", label=f"learnt from {labels}, against results")
        if labels != "results":
            axes.plot(empties, [step.error for step in chosen], "s-", label=f"learnt from {labels}, against {labels}")
    axes.invert_xaxis()
    axes.set_xlabel("empty squares")
    axes.set_ylabel("root mean square error on held-out games, discs")


@train.command()
def awale_network(
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of games and lessons", metavar="N")] = 80,
    out: Out = Path("awale_network.npz"),
    jobs: TrainingThreads = 1,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Learn what seeds in each pit are worth to Awalé's champion, by games against itself.

    Can be interrupted; run the same command again to resume from the last whole round.
    """

    check_output(out)
    network, rows = load_training(out), []
    with progress("train awale-network", rounds) as step:
        step(network.rounds)
        for lesson in train_awale_network(network, rounds, jobs, seed, step):
            save_training(out, network)
            rows.append({"round": lesson.number, "examples": lesson.examples, "error": lesson.error})
            if not json:
                print(
                    f"round {lesson.number:3d}: {lesson.examples:8,d} examples, error {lesson.error:.2f} seeds, "
                    f"{lesson.baseline_error:.2f} without weights",
                    flush=True,
                )
    text = f"{network.rounds} rounds in {network.seconds:.0f} s, written to {out}"
    print_result({"rounds": rows, "seconds": network.seconds, "file": str(out)}, text, json)


@train.command()
def perceptron(
    game: Annotated[str, typer.Option(help="othello or awale", metavar="GAME")],
    size: Size = None,
    variant: Variant = None,
    budget: Budget = "15m",
    out: Annotated[Path | None, typer.Option(help="Default: perceptron-GAME.npz here", metavar="FILE")] = None,
    layers: Annotated[int, typer.Option(min=1, max=8, help="Hidden layers", metavar="N")] = 2,
    dropout: Annotated[float, typer.Option(min=0, max=0.9, help="Share of the units left out", metavar="P")] = 0.0,
    seed: Seed = 1,
    json: Json = False,
) -> None:
    """Train the network of the player puct by games against itself. Can be interrupted; run it again to resume.

    Ten times on the way it prints the loss and the share of the points that puct@100n takes from uct@1000n in 20 games.
    """

    chosen, seconds = find_game(game, size, variant), parse_budget(budget)
    file, reports = out or Path(f"perceptron-{chosen.adapter.board_name}.npz"), []
    check_output(file)
    with resumable(file), progress(f"train {file.stem}", seconds) as step:
        for report in train_perceptron(chosen, seconds, file, seed, layers, dropout, step):
            reports.append(asdict(report) | {"total": report.loss.total})
            if not json:
                print(format_report(report), flush=True)
    print_result({"reports": reports, "file": str(file)}, f"written to {file}", json)


def format_report(report: TrainingProgress) -> str:
    """How training stands, in a line."""
    loss = f"loss {report.loss.total:.3f} (moves {report.loss.moves:.3f}, value {report.loss.value:.3f})"
    done = f"{report.seconds:5.0f} s: {report.games:7,d} games, {report.steps:7,d} steps"
    return f"{done}, {loss}, {report.points:.0%} of the points against uct"
