"""`awello train cnn`: a convolutional network that learns from games of Othello."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from awello.cli.app import Json, print_result, progress
from awello.cli.running import resumable
from awello.cli.train import Budget, Plot, Seed, parse_budget, train
from awello.errors import ConfigError
from awello.lab.report import check_plot, write_plot

if TYPE_CHECKING:  # needs PyTorch, which other trainings do without
    from awello.learn.cnn_config import CnnConfig
    from awello.learn.cnn_positions import GameArrays

NETWORK = "network.onnx"
READY = ".npz"  # the ending of games that an earlier training has written
BATCH = {"cpu": 256, "cuda": 4096}
SETS = {
    "winners": "winners' moves",
    "all": "all moves",
    "winners_new": "winners' moves, games not played before",
    "all_new": "all moves, games not played before",
}


@train.command()
def cnn(
    places: Annotated[list[Path], typer.Argument(metavar="PLACES", help="WTHOR files, folders, archives or games.npz")],
    budget: Budget = "5m",
    out: Annotated[Path, typer.Option(help="Folder to write, or to resume from", metavar="FOLDER")] = Path("cnn"),
    network: Annotated[Literal["residual", "report"], typer.Option(help="Residual blocks or report 0's")] = "residual",
    width: Annotated[int, typer.Option(min=8, max=512, help="Channels of the residual blocks", metavar="N")] = 32,
    blocks: Annotated[int, typer.Option(min=1, max=64, help="Residual blocks", metavar="N")] = 2,
    view: Annotated[
        Literal["mover", "colours", "one"],
        typer.Option(help="It sees the mover's discs, the opponent's and legal moves; or colours; or one plane"),
    ] = "mover",
    moves: Annotated[
        Literal["all", "winners"], typer.Option(help="Whose moves teach; winners alone do not teach who wins")
    ] = "all",
    teacher: Annotated[
        Path | None, typer.Option(help="Learn from a larger network, its weights.pt", metavar="FILE")
    ] = None,
    seed: Seed = 1,
    jobs: Annotated[int | None, typer.Option(min=1, help="Threads; default: one per core", metavar="N")] = None,
    device: Annotated[Literal["cpu", "cuda"] | None, typer.Option(help="Default: cuda if PyTorch finds it")] = None,
    plot: Plot = None,
    json: Json = False,
) -> None:
    """Train a network on games of Othello: which move a winner plays in a position, and who wins.

    Ten times on the way it prints the loss, and how many moves the network finds in some games set aside.
    At the end it is measured on games that taught nothing: from 2016 on, or a tenth by chance if these are few or most.
    The player cnn,weights=FOLDER/network.onnx plays by it. Can be interrupted; run it again to resume.
    """
    seconds = parse_budget(budget)
    check_places(places)
    if plot:
        check_plot(plot)
    chosen = find_device(device, jobs)
    from awello.learn.cnn_config import CnnConfig
    from awello.learn.cnn_training import read_curves, read_report

    plan = CnnConfig(network, width, blocks, 0, view, moves, str(teacher or ""), batch_size=BATCH[chosen], seed=seed)
    learn(replace(plan, minutes=seconds / 60, eval_interval=0), places, out, chosen, json)
    report = read_report(out)
    if plot:
        write_plot(plot, lambda axes: draw_curves(axes, read_curves(out)))
    text = "\n".join(["", *format_report(report), "", *describe(report, out)])
    print_result(report | {"file": str(out / NETWORK)}, text, json)


def learn(plan: "CnnConfig", places: Sequence[Path], out: Path, device: str, json: bool) -> None:
    """Train by the games of some places, and say how it stands."""
    from awello.learn.cnn_training import format_row, run

    checkpoint, seconds = out / "checkpoint.pt", 60 * plan.minutes
    with resumable(out), progress("read games", seconds) as show:
        rows = run(
            plan,
            read_places(places, out),
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
                show(0, description="measure cnn")


def find_device(wanted: str | None, threads: int | None) -> str:
    """Where to train, and on how many threads of a processor; says which libraries are missing."""
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import torch
    except ImportError:
        raise ConfigError("training needs PyTorch, onnx and onnxruntime: pip install 'awello[train]'") from None
    if wanted == "cuda" and not torch.cuda.is_available():
        raise ConfigError("PyTorch finds no GPU that it can use: leave --device cuda out")
    torch.set_num_threads(threads or torch.get_num_threads())
    return wanted or ("cuda" if torch.cuda.is_available() else "cpu")


def check_places(places: Sequence[Path]) -> None:
    """Say at once which games cannot be read."""
    for place in places:
        if not place.exists():
            raise ConfigError(f"there is no {str(place)!r}: give WTHOR files, a folder of them, or an archive")
    if len(places) > 1 and any(place.suffix == READY for place in places):
        raise ConfigError("a file of games, .npz, stands alone: give it, or WTHOR files, folders of them and archives")


def read_places(places: Sequence[Path], out: Path) -> "GameArrays":
    """The games; those that are not ready are put into a file of the folder, ready for the next training."""
    from awello.learn.cnn_games import write_games
    from awello.learn.cnn_positions import GameArrays

    file = places[0]
    if file.suffix != READY:
        file = out / f"games{READY}"
        write_games(places, file)
    return GameArrays.load(file)


def format_report(report: dict[str, Any]) -> list[str]:
    """How often the network finds the moves of held-out games, as a table."""
    test = report["test"]
    lines = [f"{'held-out games':40}{'positions':>11}{'top 1':>9}{'top 3':>9}"]
    lines += [f"{label:40}{format_figures(test[name])}" for name, label in SETS.items()]
    stages = sorted(test["stages"].items(), key=lambda stage: int(stage[0]))
    lines += ["winners' moves by empty squares"]
    lines += [f"{f'  {int(low)} to {int(low) + 9}':40}{format_figures(found)}" for low, found in stages]
    if report["plan"]["network"] == "residual" and report["plan"]["moves"] == "all":
        right = test["value"]["sign_accuracy"]
        lines += [f"the value is on the winner's side in {right:.1%} of the positions of decided games"]
    return lines


def format_figures(found: dict[str, float]) -> str:
    """One row of the table, after its name."""
    if not found["positions"]:
        return f"{0:11d}{'-':>9}{'-':>9}"
    return f"{found['positions']:11,d}{found['top1']:9.2%}{found['top3']:9.2%}"


def describe(report: dict[str, Any], out: Path) -> list[str]:
    """What was trained, and who plays by it."""
    games, positions, plan = report["games"], report["positions"], report["plan"]
    seen = f"{report['step']:,d} steps of {plan['batch_size']} positions, {report['epochs']:.2f} epochs"
    others = f"{games['validation']:,d} told when to stop, {games['test']:,d} were held out"
    lines = [
        f"{games['training']:,d} games taught it, {positions['training']:,d} positions; {others}",
        f"{report['parameters']:,d} weights, {seen}, {report['seconds']:.0f} s; written to {out}",
    ]
    if plan["network"] == "residual" and plan["view"] == "mover":
        return [*lines, f"the player cnn,weights={out / NETWORK} plays by it"]
    return [*lines, "no player sees boards in this way: leave out --network and --view for one that plays"]


def draw_curves(axes: Any, rows: Sequence[dict[str, float]]) -> None:
    """The loss by step, and beside it the share of the moves found in the games set aside."""
    steps, right = [row["step"] for row in rows], axes.twinx()
    axes.plot(steps, [row["moves"] for row in rows], "o-", color="tab:gray", label="loss of the moves shown")
    for name, label, colour in (("top1", "winners'", "tab:blue"), ("top1_all", "all", "tab:orange")):
        right.plot(steps, [100 * row[name] for row in rows], "s-", color=colour)
        axes.plot([], [], "s-", color=colour, label=f"{label} moves found in games set aside")  # for the legend
    for side in (axes, right):  # room for the legend, which knows nothing of the curves on the right
        low, high = side.get_ylim()
        side.set_ylim(low, high + (high - low) / 4)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    right.set_ylabel("top 1, %")
