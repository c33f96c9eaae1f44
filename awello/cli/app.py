"""The application that holds all commands, the options they share, and how errors are reported."""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from typer.core import TyperCommand, TyperGroup

from awello import __version__
from awello.cli.streams import drop_unwritten, prepare_streams
from awello.errors import AwelloError, ConfigError

COMMANDS = {  # what `awello --help` says of each command, and the modules to import if they have other names
    "serve": ("Serve the page to play and analyse both games.",),
    "play": ("Play a game in the terminal.",),
    "players": ("List the players and their settings.",),
    "match": ("Play games between two players.",),
    "duel": ("Play pairs of games until one player is clearly stronger.",),
    "tournament": ("Let every bot meet every other, in rounds of two games.",),
    "run": ("Play a game or a match described in a YAML file.", "run_config"),
    "analyse": ("Judge every move of a game.",),
    "solve": ("Solve positions: the score under best play.",),
    "tree": ("Search a position and draw the tree of the search.",),
    "perft": ("Count the leaves of all move sequences of a length.",),
    "games": ("Keep games in a database: import, find, export, count.",),
    "explore": ("Show what the archive's games did in a position.",),
    "club": ("Manage a club: accounts, tokens, tournaments, backup.",),
    "bot": ("Let a player of yours play in a club.",),
    "engine": ("Run the champion under another program's board.",),
    "lab": ("Run an experiment and write its tables and plots.",),
    "selfplay": ("Play games of the champion against itself.",),
    "autoplay": ("Let Otage play against itself and learn.",),
    "train": ("Learn what players need to know.", "train", "genetic", "train_cnn"),
    "probcut": ("Measure the errors behind probable cuts.",),
    "book": ("Grow an opening book of Awalé, and look into it.",),
    "tablebase": ("Build and show the solved endgames of Awalé.",),
    "bench": ("Search a fixed set of positions and report the speed.",),
    "warmup": ("Compile all kernels for this machine.",),
}


class LazyGroup(TyperGroup):
    """Imports the modules of a command when the command is run, so that the others cost no time."""

    def __init__(self, *, commands: Any = None, **settings: Any) -> None:
        self.loaded = dict(commands or {})
        outlines: Any = {name: TyperCommand(name, help=text) for name, (text, *_) in COMMANDS.items()}
        super().__init__(commands=outlines, **settings)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if (name := args[0]) in COMMANDS:
            for module in COMMANDS[name][1:] or (name,):
                import_module(f"awello.cli.{module}")
            self.commands[name] = typer.main.get_group(app).loaded[name]  # type: ignore[attr-defined]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="awello",
    cls=LazyGroup,
    help="Othello and Awalé: play, pit players against each other, and measure them.",
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GameName = Annotated[str, typer.Argument(metavar="GAME", help="othello or awale")]
Size = Annotated[int | None, typer.Option(help="Othello: rows of the board, 4, 6 or 8", metavar="N")]
Variant = Annotated[str | None, typer.Option(help="Awalé: abapa, tournament or romein", metavar="V")]
PositionText = Annotated[str | None, typer.Option("--position", help="An OBF board or an Awalé diagram", metavar="P")]
Processes = Annotated[int | None, typer.Option("--jobs", min=1, help="Worker processes; default: 1", metavar="N")]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Search threads", metavar="N")]
Hash = Annotated[int, typer.Option("--hash", min=1, max=65536, help="Transposition table in MiB", metavar="MB")]
Cluster = Annotated[str | None, typer.Option(help="A dask scheduler, such as tcp://HOST:8786", metavar="ADDRESS")]
Place = Annotated[
    str | None,
    typer.Option("--archive", help="A file or postgresql://USER@HOST/NAME; default: your own", metavar="PLACE"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object for machines")]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"awello {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave", callback=_version, is_eager=True)
    ] = False,
    bots: Annotated[
        Path | None, typer.Option("--import", help="A Python file that registers players of your own", metavar="FILE")
    ] = None,
) -> None:
    """Othello and Awalé: play, pit players against each other, and measure them."""
    if bots:
        if not bots.is_file():
            raise ConfigError(f"--import {bots}: there is no such file; give a Python file that registers players")
        os.environ["AWELLO_PLAYERS"] = str(bots.resolve())  # worker processes read it too


def check_output(file: Path) -> None:
    """Refuse a file that cannot be written before the work begins, not after it."""
    if file.is_dir():
        raise ConfigError(f"cannot write {str(file)!r}: it is a folder; name a file in it")
    if not file.parent.is_dir():
        raise ConfigError(f"cannot write {str(file)!r}: there is no folder {str(file.parent)!r}; make it first")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ConfigError(f"cannot write {str(file)!r}: permission denied; name another file")


def chosen_jobs(jobs: int | None, cluster: str | None, usual: int = 1) -> int | str:
    """Who does the work: so many processes here, or the workers of a cluster."""
    if jobs and cluster:
        raise ConfigError("--jobs is for processes here, and a cluster uses all its workers: leave one of both out")
    return cluster or jobs or usual


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on standard output; where that is not Unicode, other characters are escaped."""
    print(json.dumps(content, ensure_ascii=not (sys.stdout.encoding or "").lower().startswith("utf")))


def print_result(content: dict[str, Any], text: str, json: bool) -> None:
    """Print the outcome of a command: one JSON object for machines, or a text for people."""
    if json:
        print_json(content)
    else:
        print(text)


def progress_bar(*columns: ProgressColumn) -> Progress:
    """A display on standard error, where that is a terminal; default: a bar with steps and time left."""
    usual = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*(columns or usual), console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def progress(label: str, total: float) -> Iterator[Any]:
    """Show a live bar; yields a function to call for each step done, which also takes a new `description`."""
    with progress_bar() as bar:
        task = bar.add_task(label, total=total)
        yield lambda steps=1, **shown: bar.update(task, advance=steps, **shown)


def hide_password(text: str) -> str:
    """A text that may hold the address of a database, without its password."""
    return re.sub(r"(\w+:/+[^:/@\s]*):(?!PASSWORD@HOST)\S*@", r"\1:***@", text)


def fail(message: str, status: int = 2) -> int:
    """Say in one line what is wrong; the exit status."""
    print(f"awello: {hide_password(' '.join(message.split()))}", file=sys.stderr)
    return status


def run() -> int:
    """Run the command line; errors become one line and an exit status."""
    try:
        outcome = app(sys.argv[1:] or ["--help"], prog_name="awello", standalone_mode=False)
        sys.stdout.flush()  # what cannot be written shows here, not when Python ends
        status = outcome if isinstance(outcome, int) else 0
        return fail("interrupted", 130) if status == 130 else status
    except typer.TyperException as error:
        if not (message := error.format_message().rstrip(".")):
            return 2  # a group of commands without one: its help has been shown
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "awello"
        return fail(f"{message}; see '{command} --help'")
    except AwelloError as error:
        return fail(str(error))
    except BrokenPipeError:  # the reader of the output has gone; Typer and Rich end with 1 too
        return 1
    except OSError as error:
        return fail(f"{error.filename or 'output'}: {error.strerror or error}")
    except (KeyboardInterrupt, typer.Abort):
        return fail("interrupted", 130)
    finally:
        drop_unwritten()


def main() -> None:
    """Run a command and leave with its exit status."""
    prepare_streams()
    sys.exit(run())
