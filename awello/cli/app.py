"""The command-line application: the list of commands, shared options and error reporting."""

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
from awello.cli.streams import discard_unwritten, prepare_streams
from awello.errors import AwelloError, ConfigError
from awello.limits import parse_limit

COMMANDS = {  # name: (help text, modules to import if their names differ from it)
    "serve": ("Serve the web page to play and analyse both games.",),
    "play": ("Play a game in the terminal.",),
    "players": ("List the players and their settings.",),
    "match": ("Play games between two players.",),
    "duel": ("Test by pairs of games whether one player is stronger.",),
    "tournament": ("Play a round-robin tournament between bots.",),
    "run": ("Play a game or match described in a YAML file.", "run_config"),
    "analyse": ("Review every move of a game.",),
    "solve": ("Solve positions: compute the score with best play.",),
    "tree": ("Draw the search tree of a position.",),
    "perft": ("Count the leaves of the game tree at a depth.",),
    "games": ("Manage the game archive: import, list, export, count.",),
    "explore": ("Show the moves played from a position in the archive.",),
    "club": ("Manage a club: accounts, tokens, tournaments, backup.",),
    "bot": ("Connect a player to a club as a bot.",),
    "engine": ("Run the champion as an NBoard, GTP or UCI engine.",),
    "lab": ("Run an experiment and write its tables and plots.",),
    "selfplay": ("Generate training games of the champion.",),
    "autoplay": ("Let Otage learn by playing against itself.",),
    "train": ("Train weights and networks.", "train", "genetic", "train_cnn"),
    "probcut": ("Measure the error of shallow searches for ProbCut.",),
    "book": ("Grow and query an opening book of Awalé.",),
    "tablebase": ("Build and list the Awalé tablebases.",),
    "bench": ("Search a fixed set of positions and report the speed.",),
    "warmup": ("Compile all kernels for this machine.",),
}


class LazyGroup(TyperGroup):
    """Imports a command's modules only when that command is run."""

    def __init__(self, *, commands: Any = None, **settings: Any) -> None:
        self.loaded = dict(commands or {})
        placeholders: Any = {name: TyperCommand(name, help=text) for name, (text, *_) in COMMANDS.items()}
        super().__init__(commands=placeholders, **settings)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if (name := args[0]) in COMMANDS:
            for module in COMMANDS[name][1:] or (name,):
                import_module(f"awello.cli.{module}")
            self.commands[name] = typer.main.get_group(app).loaded[name]  # type: ignore[attr-defined]
        return super().resolve_command(ctx, args)


app = typer.Typer(
    name="awello",
    cls=LazyGroup,
    help="Play Othello and Awalé, analyse games, and compare players.",
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

GameName = Annotated[str, typer.Argument(metavar="GAME", help="othello or awale")]
Size = Annotated[int | None, typer.Option(help="Othello: board size 4, 6 or 8; default: 8", metavar="N")]
Variant = Annotated[str | None, typer.Option(help="Awalé: abapa (default), tournament or romein", metavar="V")]
PositionText = Annotated[
    str | None, typer.Option("--position", help="OBF board or Awalé diagram; default: start", metavar="P")
]
JobsOption = Annotated[int | None, typer.Option("--jobs", min=1, help="Worker processes; default: 1", metavar="N")]
Threads = Annotated[int, typer.Option("--threads", min=1, help="Search threads", metavar="N")]
Hash = Annotated[int, typer.Option("--hash", min=1, max=65536, help="Transposition table size in MiB", metavar="MIB")]
Cluster = Annotated[
    str | None, typer.Option(help="Scheduler of a dask cluster: tcp://HOST:8786; default: none", metavar="ADDRESS")
]
ArchiveOption = Annotated[
    str | None,
    typer.Option("--archive", help="File or postgresql://USER@HOST/NAME; default: your archive", metavar="DATABASE"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object")]


def _version(show: bool) -> None:
    if show:
        print(f"awello {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit", callback=_version, is_eager=True)
    ] = False,
    plugin: Annotated[
        Path | None, typer.Option("--import", help="Python file that registers your own players", metavar="FILE")
    ] = None,
) -> None:
    """Play Othello and Awalé, analyse games, and compare players."""
    if plugin:
        if not plugin.is_file():
            raise ConfigError(f"--import {plugin} does not exist: give a Python file that registers players")
        os.environ["AWELLO_PLAYERS"] = str(plugin.resolve())  # also read by worker processes


def check_output(file: Path) -> None:
    """Check that an output file can be written, before long work starts."""
    if file.is_dir():
        raise ConfigError(f"cannot write {str(file)!r}: it is a folder; give a file in it")
    if not file.parent.is_dir():
        raise ConfigError(f"cannot write {str(file)!r}: there is no folder {str(file.parent)!r}; create it first")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ConfigError(f"cannot write {str(file)!r}: permission denied; give another file")


def resolve_jobs(jobs: int | None, cluster: str | None, default: int = 1) -> int | str:
    """Return the number of local worker processes, or the cluster address."""
    if jobs and cluster:
        raise ConfigError("--jobs and --cluster are mutually exclusive, as a cluster uses all its workers: omit one")
    return cluster or jobs or default


def parse_level(limit: str) -> int:
    """Parse a limit that must be a level of the champion, such as `level=12`."""
    level = parse_limit(limit).level
    if level is None:
        raise ConfigError(f"--limit {limit} is not a level: write --limit level=N, with N from 0 to 30")
    return level


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object, with non-ASCII characters escaped if standard output is not Unicode."""
    print(json.dumps(content, ensure_ascii=not (sys.stdout.encoding or "").lower().startswith("utf")))


def print_result(content: dict[str, Any], text: str, json: bool) -> None:
    """Print the result of a command as JSON or as text."""
    if json:
        print_json(content)
    else:
        print(text)


def progress_bar(*columns: ProgressColumn) -> Progress:
    """Create a progress bar on standard error, hidden if that is not a terminal.

    Default columns: label, bar, steps and remaining time.
    """
    default = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    return Progress(*(columns or default), console=console, transient=True, disable=not console.is_terminal)


@contextmanager
def progress(label: str, total: float) -> Iterator[Any]:
    """Show a progress bar; yield a function to call after each step, optionally with a new `description`."""
    with progress_bar() as bar:
        task = bar.add_task(label, total=total)
        yield lambda steps=1, **fields: bar.update(task, advance=steps, **fields)


def hide_password(text: str) -> str:
    """Hide the password of any database address in a text."""
    return re.sub(r"(\w+:/+[^:/@\s]*):(?!PASSWORD@HOST)\S*@", r"\1:***@", text)


def print_error(message: str, status: int = 2) -> int:
    """Print an error in one line and return the exit status."""
    print(f"awello: {hide_password(' '.join(message.split()))}", file=sys.stderr)
    return status


def run() -> int:
    """Run the command line and return the exit status; errors are printed in one line."""
    try:
        outcome = app(sys.argv[1:] or ["--help"], prog_name="awello", standalone_mode=False)
        sys.stdout.flush()  # so that write errors appear here, not when Python exits
        status = outcome if isinstance(outcome, int) else 0
        return print_error("interrupted", 130) if status == 130 else status
    except typer.TyperException as error:
        if not (message := error.format_message().rstrip(".")):
            return 2  # a command group without a command has printed its help
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "awello"
        return print_error(f"{message}; see '{command} --help'")
    except AwelloError as error:
        return print_error(str(error))
    except BrokenPipeError:  # the reader closed the output; Typer and Rich also exit with 1
        return 1
    except OSError as error:
        return print_error(f"{error.filename or 'output'}: {error.strerror or error}")
    except (KeyboardInterrupt, typer.Abort):
        return print_error("interrupted", 130)
    finally:
        discard_unwritten()


def main() -> None:
    """Run a command and exit with its status."""
    prepare_streams()
    sys.exit(run())
