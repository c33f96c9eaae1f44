"""`awello train`: commands that train weights and networks."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from awello.cli.app import app
from awello.cli.options import Json, Size, Variant
from awello.cli.output import check_output, print_result
from awello.cli.progress import resumable, show_step_progress
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

train = typer.Typer(help="Train weights and networks.", no_args_is_help=True)
app.add_typer(train, name="train")

DurationOption = Annotated[
    str, typer.Option(help="Training time, such as 10m or 1h; without a unit: seconds", metavar="TIME")
]
TrainingOut = Annotated[Path, typer.Option(help="File to write, or to resume from", metavar="FILE")]
TrainingSeed = Annotated[int, typer.Option(min=0, help="Random seed of the training run", metavar="SEED")]
PlotOption = Annotated[
    Path | None, typer.Option(help="Also plot the progress to an .svg or .png file; default: none", metavar="FILE")
]
TrainingThreads = Annotated[int, typer.Option(min=1, help="Number of threads", metavar="N")]


def parse_training_time(text: str) -> float:
    """Parse a training time into seconds."""

    if (seconds := parse_duration(text)) <= 0:
        raise ConfigError(f"--duration {text} is not positive: give a time such as 10m")
    return seconds


@train.command()
def patterns(
    data: Annotated[
        list[Path],
        typer.Option(
            help="Games: a file, or a folder with games.jsonl, wthor/NAME.wtb or games/NAME.gz; can be repeated",
            metavar="PATH",
        ),
    ],
    out: TrainingOut = Path("patterns.npz"),
    depth: Annotated[
        int,
        typer.Option(
            min=0, max=12, help="Also learn from searches to depth N; 0: learn only from game results", metavar="N"
        ),
    ] = 0,
    positions: Annotated[
        int, typer.Option(min=100, help="With --depth: number of positions to search per stage", metavar="N")
    ] = 200_000,
    threads: TrainingThreads = 1,
    seed: TrainingSeed = 1,
    plot: PlotOption = None,
    json: Json = False,
) -> None:
    """Train Othello's pattern weights on finished games.

    Learns from WTHOR files, transcripts or the games of 'awello selfplay'. Takes minutes, or hours with --depth; search
    results are saved in a folder next to the output file. Can be interrupted; run the same command again to resume with
    the next stage.
    """

    check_output(out)
    if plot:
        check_plot(plot)
    games = np.concatenate([read_games(path) for path in data])
    config = PatternTrainingConfig.of(games, seed, depth, positions if depth else 0)
    training = PatternTraining(out, config, collect_positions(games), threads)
    for step in () if json else training.completed:
        print(format_step(step))
    with show_step_progress("train patterns", len(config.steps())) as show:
        show(len(training.completed))
        for step in training.run(lambda searched: show(0, description=f"{searched:,d} positions searched")):
            show()
            if not json:
                print(format_step(step), flush=True)
    if plot:
        write_plot(plot, lambda axes: draw_errors(axes, training.completed))
    steps = [asdict(step) for step in training.completed]
    print_result({"config": asdict(config), "steps": steps, "file": str(out)}, f"written to {out}", json)


def format_step(step: StageResult) -> str:
    """Format the result of fitting a stage in one line."""
    learnt = f"{step.empties:3d} empty squares, {step.labels}: {step.examples:9,d} examples"
    errors = f"error {step.error:5.2f} discs ({step.initial_error:5.2f} before the fit)"
    return f"{learnt}, {errors}, error against game results {step.results:5.2f} discs"


def draw_errors(axes: Any, steps: Sequence[StageResult]) -> None:
    """Plot the errors by stage: against the training labels, and against the results of the games."""
    for labels in dict.fromkeys(step.labels for step in steps):
        chosen = sorted((step for step in steps if step.labels == labels), key=lambda step: step.empties)
        empties = [step.empties for step in chosen]
        axes.plot(empties, [step.results for step in chosen], "o-", label=f"trained on {labels}, error against results")
        if labels != "results":
            axes.plot(
                empties, [step.error for step in chosen], "s-", label=f"trained on {labels}, error against {labels}"
            )
    axes.invert_xaxis()
    axes.set_xlabel("empty squares")
    axes.set_ylabel("root mean square error on held-out games, discs")


@train.command()
def awale_network(
    rounds: Annotated[int, typer.Option(min=1, help="Number of rounds of self-play and training", metavar="N")] = 80,
    out: TrainingOut = Path("awale_network.npz"),
    threads: TrainingThreads = 1,
    seed: TrainingSeed = 1,
    json: Json = False,
) -> None:
    """Train the champion's Awalé network by self-play.

    Can be interrupted; run the same command again to resume from the last complete round.
    """

    check_output(out)
    network, rows = load_training(out), []
    with show_step_progress("train awale-network", rounds) as step:
        step(network.rounds)
        for result in train_awale_network(network, rounds, threads, seed, step):
            save_training(out, network)
            rows.append({"round": result.number, "examples": result.examples, "error": result.error})
            if not json:
                print(
                    f"round {result.number:3d}: {result.examples:8,d} examples, error {result.error:.2f} seeds "
                    f"({result.baseline_error:.2f} seeds if every prediction were 0)",
                    flush=True,
                )
    text = f"{network.rounds} rounds in {network.seconds:.0f} s, written to {out}"
    print_result({"rounds": rows, "seconds": network.seconds, "file": str(out)}, text, json)


@train.command()
def perceptron(
    game: Annotated[str, typer.Option(help="othello or awale", metavar="GAME")],
    size: Size = None,
    variant: Variant = None,
    duration: DurationOption = "15m",
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write; an interrupted run resumes from FILE.checkpoint; default: perceptron-GAME.npz",
            metavar="FILE",
        ),
    ] = None,
    layers: Annotated[int, typer.Option(min=1, max=8, help="Number of hidden layers", metavar="N")] = 2,
    dropout: Annotated[float, typer.Option(min=0, max=0.9, help="Dropout rate, from 0 to 0.9", metavar="RATE")] = 0.0,
    seed: TrainingSeed = 1,
    json: Json = False,
) -> None:
    """Train the perceptron of the player puct by self-play.

    Prints ten reports, each with the loss and the share of the points that puct@100n scores in 20 games against
    uct@1000n. Can be interrupted; run the same command again to resume.
    """

    chosen, seconds = find_game(game, size, variant), parse_training_time(duration)
    file, reports = out or Path(f"perceptron-{chosen.adapter.board_name}.npz"), []
    check_output(file)
    with resumable(f"{file}.checkpoint"), show_step_progress(f"train {file.stem}", seconds) as step:
        for report in train_perceptron(chosen, seconds, file, seed, layers, dropout, step):
            reports.append(asdict(report) | {"total_loss": report.loss.total})
            if not json:
                print(format_report(report), flush=True)
    print_result({"reports": reports, "file": str(file)}, f"written to {file}", json)


def format_report(report: TrainingProgress) -> str:
    """Format the progress of a training run in one line."""
    loss = f"loss {report.loss.total:.3f} (policy {report.loss.policy_loss:.3f}, value {report.loss.value_loss:.3f})"
    done = f"{report.seconds:5.0f} s: {report.games:7,d} games, {report.steps:7,d} steps"
    return f"{done}, {loss}, {report.points_share:.0%} of the points against uct"
