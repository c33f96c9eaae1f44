"""`awello train cnn`: train a convolutional network on Othello games."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from awello.cli.options import Json
from awello.cli.output import print_result
from awello.cli.progress import resumable, show_step_progress
from awello.cli.train import DurationOption, PlotOption, TrainingSeed, parse_training_time, train
from awello.errors import ConfigError
from awello.lab.report import check_plot, write_plot

if TYPE_CHECKING:  # needs PyTorch, an optional dependency
    from awello.learn.cnn_config import CnnConfig
    from awello.learn.cnn_positions import GameArrays

NETWORK_FILE = "network.onnx"
PREPARED_GAMES_SUFFIX = ".npz"  # extension of the file of games that an earlier run has prepared
BATCH_SIZES = {"cpu": 256, "cuda": 4096}
TEST_SET_LABELS = {
    "winners": "winners' moves",
    "all": "all moves",
    "winners_new": "winners' moves, games not trained on",
    "all_new": "all moves, games not trained on",
}


@train.command()
def cnn(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH", help="WTHOR files, folders of them, archive files, or games.npz of an earlier run"
        ),
    ],
    duration: DurationOption = "5m",
    out: Annotated[Path, typer.Option(help="Folder to write to, or to resume from", metavar="FOLDER")] = Path("cnn"),
    network: Annotated[
        Literal["residual", "report0"], typer.Option(help="Residual network, or that of report 0 (see docs/sources.md)")
    ] = "residual",
    channels: Annotated[
        int, typer.Option(min=8, max=512, help="Number of channels per residual block", metavar="N")
    ] = 32,
    blocks: Annotated[int, typer.Option(min=1, max=64, help="Number of residual blocks", metavar="N")] = 2,
    input_planes: Annotated[
        Literal["mover", "colours", "one"],
        typer.Option(help="Input planes: mover and opponent, Black and White, or a single plane"),
    ] = "mover",
    target_moves: Annotated[
        Literal["all", "winners"],
        typer.Option(help="Moves to learn: all, or only those of winners (the network then cannot predict the winner)"),
    ] = "all",
    teacher: Annotated[
        Path | None,
        typer.Option(help="File weights.pt of a larger network to learn from; default: none", metavar="FILE"),
    ] = None,
    seed: TrainingSeed = 1,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads; default: one per core", metavar="N")
    ] = None,
    device: Annotated[
        Literal["cpu", "cuda"] | None, typer.Option(help="Device to train on; default: cuda if available")
    ] = None,
    plot: PlotOption = None,
    json: Json = False,
) -> None:
    """Train a convolutional network on Othello games.

    The network predicts the move played and the winner. Prints ten reports of the training loss and of the accuracy on
    validation games, and finally the accuracy on test games. The test games are those from 2016 on; if these are too
    few or too many, a random tenth of all games is used instead. To play with the network, use the player
    cnn,weights=FOLDER/network.onnx. Can be interrupted; run the same command again to resume.
    """
    seconds = parse_training_time(duration)
    check_paths(paths)
    if plot:
        check_plot(plot)
    chosen = find_device(device, threads)
    from awello.learn.cnn_config import CnnConfig
    from awello.learn.cnn_training import read_curves, read_report

    config = CnnConfig(network, channels, blocks, 0, input_planes, target_moves, str(teacher or ""), seed=seed)
    config = replace(config, batch_size=BATCH_SIZES[chosen], minutes=seconds / 60, eval_interval=0)
    run_training(config, paths, out, chosen, json)
    report = read_report(out)
    if plot:
        write_plot(plot, lambda axes: draw_curves(axes, read_curves(out)))
    text = "\n".join(["", *format_report(report), "", *describe_training(report, out)])
    print_result(report | {"file": str(out / NETWORK_FILE)}, text, json)


def run_training(config: "CnnConfig", paths: Sequence[Path], out: Path, device: str, json: bool) -> None:
    """Train on the games at the given paths, printing progress."""
    from awello.learn.cnn_training import format_row, run

    checkpoint, seconds = out / "checkpoint.pt", 60 * config.minutes
    with resumable(out), show_step_progress("read games", seconds) as show:
        rows = run(
            config,
            read_paths(paths, out),
            out,
            checkpoint,
            device,
            quick=device == "cpu",
            on_progress=lambda spent: show(0, completed=spent, description="train cnn"),
        )
        for row in rows:
            if not json:
                print(format_row(row), flush=True)
            if row["seconds"] >= seconds:
                show(0, description="evaluate cnn")


def find_device(requested: str | None, threads: int | None) -> str:
    """Choose the device and set the number of threads; check that the required packages are installed."""
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import torch
    except ImportError:
        raise ConfigError("training needs PyTorch, onnx and onnxruntime: run pip install 'awello[train]'") from None
    if requested == "cuda" and not torch.cuda.is_available():
        raise ConfigError("PyTorch finds no usable GPU: omit --device cuda")
    torch.set_num_threads(threads or torch.get_num_threads())
    return requested or ("cuda" if torch.cuda.is_available() else "cpu")


def check_paths(paths: Sequence[Path]) -> None:
    """Check that all paths exist, and that an .npz file is given alone."""
    for path in paths:
        if not path.exists():
            raise ConfigError(f"{str(path)!r} does not exist: give WTHOR files, a folder of them, or an archive")
    if len(paths) > 1 and any(path.suffix == PREPARED_GAMES_SUFFIX for path in paths):
        raise ConfigError(
            "an .npz file must be the only argument: give it alone, or give WTHOR files, folders or archives"
        )


def read_paths(paths: Sequence[Path], out: Path) -> "GameArrays":
    """Read the games of an .npz file; games in other formats are first written to such a file in the output folder."""
    from awello.learn.cnn_games import write_games
    from awello.learn.cnn_positions import GameArrays

    file = paths[0]
    if file.suffix != PREPARED_GAMES_SUFFIX:
        file = out / f"games{PREPARED_GAMES_SUFFIX}"
        write_games(paths, file)
    return GameArrays.load(file)


def format_report(report: dict[str, Any]) -> list[str]:
    """Format the accuracy on test games as a table."""
    test = report["test"]
    lines = [f"{'test games':40}{'positions':>11}{'top 1':>9}{'top 3':>9}"]
    lines += [f"{label:40}{format_accuracy(test[name])}" for name, label in TEST_SET_LABELS.items()]
    stages = sorted(test["stages"].items(), key=lambda stage: int(stage[0]))
    lines += ["winners' moves, by number of empty squares"]
    lines += [f"{f'  {int(low)} to {int(low) + 9}':40}{format_accuracy(result)}" for low, result in stages]
    if report["config"]["network"] == "residual" and report["config"]["target_moves"] == "all":
        right = test["value"]["sign_accuracy"]
        lines += [f"the value favours the winner in {right:.1%} of the positions from test games that were not drawn"]
    return lines


def format_accuracy(result: dict[str, float]) -> str:
    """Format the number of positions and the accuracy as cells of a table row."""
    if not result["positions"]:
        return f"{0:11d}{'-':>9}{'-':>9}"
    return f"{result['positions']:11,d}{result['top1']:9.2%}{result['top3']:9.2%}"


def describe_training(report: dict[str, Any], out: Path) -> list[str]:
    """Describe the training run, and how to play with the network."""
    games, positions, config = report["games"], report["positions"], report["config"]
    steps = f"{report['step']:,d} steps of {config['batch_size']} positions, {report['epochs']:.2f} epochs"
    others = f"{games['validation']:,d} validation games, {games['test']:,d} test games"
    lines = [
        f"{games['training']:,d} training games with {positions['training']:,d} positions; {others}",
        f"{report['parameters']:,d} weights, {steps}, {report['seconds']:.0f} s; written to {out}",
    ]
    if config["network"] == "residual" and config["input_planes"] == "mover":
        return [*lines, f"to play with the network, use the player cnn,weights={out / NETWORK_FILE}"]
    return [*lines, "no player can use this network: omit --network and --input-planes to train one for the player cnn"]


def draw_curves(axes: Any, rows: Sequence[dict[str, float]]) -> None:
    """Plot the loss and the validation accuracy by step."""
    steps, right = [row["step"] for row in rows], axes.twinx()
    axes.plot(steps, [row["policy_loss"] for row in rows], "o-", color="tab:gray", label="training loss of the policy")
    for name, label, colour in (("top1", "winners'", "tab:blue"), ("top1_all", "all", "tab:orange")):
        right.plot(steps, [100 * row[name] for row in rows], "s-", color=colour)
        axes.plot([], [], "s-", color=colour, label=f"{label} moves predicted, validation")  # for the legend
    for side in (axes, right):  # leave space for the legend
        low, high = side.get_ylim()
        side.set_ylim(low, high + (high - low) / 4)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    right.set_ylabel("top 1, %")
