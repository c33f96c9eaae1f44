"""What all commands that play games share: where they run, the display of their progress, and how they end early."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Group, RenderableType
from rich.live import Live

from awello.cli.app import progress_bar

FirstSpec = Annotated[str, typer.Argument(metavar="A", help="The first player's spec; 'awello players' lists them")]
SecondSpec = Annotated[str, typer.Argument(metavar="B", help="The second player's spec")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same games", metavar="S")]
Openings = Annotated[Path | None, typer.Option(help="A file of openings, one transcript per line", metavar="FILE")]
Out = Annotated[Path | None, typer.Option(help="Folder that keeps every game, or to resume from", metavar="FOLDER")]


@contextmanager
def show_progress(
    label: str, total: int, draw: Callable[[], Iterable[RenderableType]] = lambda: ()
) -> Iterator[Callable[..., None]]:
    """A bar with the time left, below what `draw` gives, on standard error where that is a terminal.

    It yields a function that takes the number of jobs done and, if it changes, the label. Jobs that were done before
    the first call do not count for the time left.
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
def resumable(place: Path | str) -> Iterator[None]:
    """What is done inside can be interrupted: a place keeps it, and the same command resumes from there."""
    try:
        yield
    except KeyboardInterrupt:
        leave_early(place)


def leave_early(folder: Path | str | None) -> NoReturn:
    """End an interrupted command, and say how to resume it if a folder keeps what was played."""
    if folder is None:
        raise typer.Exit(130)
    print(f"awello: interrupted: run the same command again to resume from {folder}", file=sys.stderr)
    raise SystemExit(130)  # typer.Exit(130) would print another line


def describe_learnt(learnt: dict[str, dict[str, int]]) -> list[str]:
    """What players learnt, one line each."""
    return [
        f"{spec} learnt from {counts['games']} game{'s' * (counts['games'] > 1)}: "
        + ", ".join(f"{name} {count}" for name, count in counts.items() if name != "games")
        for spec, counts in learnt.items()
    ]
