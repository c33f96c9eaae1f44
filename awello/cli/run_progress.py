"""Options, progress display and interruption, shared by the commands that play games."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Group, RenderableType
from rich.live import Live

from awello.cli.app import progress_bar

FirstSpec = Annotated[str, typer.Argument(metavar="A", help="First player; 'awello players' lists them")]
SecondSpec = Annotated[str, typer.Argument(metavar="B", help="Second player")]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same games", metavar="S")]
Openings = Annotated[
    Path | None, typer.Option(help="File of openings, one transcript per line; default: none", metavar="FILE")
]
Out = Annotated[
    Path | None, typer.Option(help="Folder to write the games to, or to resume from; default: none", metavar="FOLDER")
]


@contextmanager
def show_progress(
    label: str, total: int, draw: Callable[[], Iterable[RenderableType]] = lambda: ()
) -> Iterator[Callable[..., None]]:
    """Show a progress bar with the remaining time, below the output of `draw`, if standard error is a terminal.

    Yields a function that accepts the number of finished jobs and optionally a new label. Jobs finished before the
    first call are ignored in the estimate of the remaining time.
    """
    bar = progress_bar()
    task = bar.add_task(label, total=None)

    def update(done: int, label: str = "") -> None:
        if bar.tasks[0].total is None:
            bar.reset(task, total=total, completed=done)
        bar.update(task, completed=done, description=label or None)

    if bar.disable:
        yield update
        return
    with Live(get_renderable=lambda: Group(*draw(), bar), console=bar.console, refresh_per_second=4, transient=True):
        yield update


@contextmanager
def resumable(output: Path | str) -> Iterator[None]:
    """On Ctrl-C, exit with a message that explains how to resume from `output`."""
    try:
        yield
    except KeyboardInterrupt:
        exit_interrupted(output)


def exit_interrupted(folder: Path | str | None) -> NoReturn:
    """Exit after an interrupt; with a folder, print how to resume."""
    if folder is None:
        raise typer.Exit(130)
    print(f"awello: interrupted: run the same command again to resume from {folder}", file=sys.stderr)
    raise SystemExit(130)  # typer.Exit(130) would print another line


def describe_learnt(learnt: dict[str, dict[str, int]]) -> list[str]:
    """Describe what the players have learnt, one line per player."""
    return [
        f"{spec} learnt from {counts['games']} game{'s' * (counts['games'] > 1)}: "
        + ", ".join(f"{name} {count}" for name, count in counts.items() if name != "games")
        for spec, counts in learnt.items()
    ]
