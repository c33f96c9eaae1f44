"""Show progress bars, and exit from interrupted commands."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn


def make_progress_bar(*columns: ProgressColumn) -> Progress:
    """Create a progress bar on standard error, hidden if that is not a terminal.

    Default columns: label, bar, steps and remaining time.
    """
    default = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*(columns or default), console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def show_step_progress(label: str, total: float) -> Iterator[Any]:
    """Show a progress bar; yield a function to call after each step, optionally with a new `description`."""
    with make_progress_bar() as bar:
        task = bar.add_task(label, total=total)
        yield lambda steps=1, **fields: bar.update(task, advance=steps, **fields)


@contextmanager
def show_job_progress(
    label: str, total: int, draw: Callable[[], Iterable[RenderableType]] = lambda: ()
) -> Iterator[Callable[..., None]]:
    """Show a progress bar with the remaining time, below the output of `draw`, if standard error is a terminal.

    Yields a function that accepts the number of finished jobs and optionally a new label. The estimate of the
    remaining time ignores the jobs that the first call reports, because an earlier run may have finished them.
    """
    bar = make_progress_bar()
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
    """On Ctrl-C, exit with a message that explains how to resume from `output`, a path or a description."""
    try:
        yield
    except KeyboardInterrupt:
        exit_interrupted(output)


def exit_interrupted(folder: Path | str | None) -> NoReturn:
    """Exit after an interrupt; if `folder` is given, print how to resume."""
    if folder is None:
        raise typer.Exit(130)
    print(f"awello: interrupted; run the same command again to resume from {folder}", file=sys.stderr)
    raise SystemExit(130)  # typer.Exit(130) would print another line
