"""The command-line application: lists the commands, runs them and reports errors."""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from awello import __version__
from awello.cli.output import print_error
from awello.cli.streams import discard_unwritten, prepare_streams
from awello.cli.usage_errors import describe_usage_error
from awello.errors import AwelloError, ConfigError

COMMANDS = {  # command: (help text, modules to import; default: the module with the command's name)
    "serve": ("Serve the web page to play and analyse Othello and Awalé.",),
    "play": ("Play a game in the terminal.",),
    "players": ("List the players and their settings.",),
    "match": ("Play games between two players.",),
    "duel": ("Test whether one player is stronger than another.",),
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
    "selfplay": ("Generate training games with the champion.",),
    "autoplay": ("Let Otage learn by playing against itself.",),
    "train": ("Train weights and networks.", "train", "train_genetic", "train_cnn"),
    "probcut": ("Measure the error of shallow searches, to tune ProbCut.",),
    "book": ("Expand and show an opening book for Awalé.",),
    "tablebase": ("Build and list the Awalé tablebases.",),
    "bench": ("Search a fixed set of positions and report the speed.",),
    "warmup": ("Compile all kernels for this machine.",),
}

FILE_PROBLEMS: dict[type[OSError], str] = {
    FileNotFoundError: "no such file or folder; check the path",
    FileExistsError: "this is a file; give a folder",
    IsADirectoryError: "this is a folder; give a file",
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


def _print_version(show: bool) -> None:
    if show:
        print(f"awello {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
    plugin: Annotated[
        Path | None,
        typer.Option("--import", help="Python file that registers your own players; default: none", metavar="FILE"),
    ] = None,
) -> None:
    """Play Othello and Awalé, analyse games, and compare players."""
    if plugin:
        if not plugin.is_file():
            raise ConfigError(f"--import {plugin} is not a file: give a Python file that registers players")
        os.environ["AWELLO_PLAYERS"] = str(plugin.resolve())  # also read by worker processes


def run() -> int:
    """Run the command in `sys.argv` and return its exit status; print any error in one line."""
    try:
        outcome = app(sys.argv[1:] or ["--help"], prog_name="awello", standalone_mode=False)
        sys.stdout.flush()  # so that write errors appear here, not when Python exits
        status = outcome if isinstance(outcome, int) else 0
        return print_error("interrupted", 130) if status == 130 else status
    except typer.TyperException as error:
        if not error.format_message():
            return 2  # a command group was given no command and has printed its help
        return print_error(describe_usage_error(error))
    except AwelloError as error:
        return print_error(str(error))
    except BrokenPipeError:  # the program that reads the output has exited
        return 1  # as Typer and Rich do in this case
    except OSError as error:
        problem = FILE_PROBLEMS.get(type(error), f"{error.strerror or error}")
        return print_error(f"{error.filename or 'output'}: {problem}")
    except (KeyboardInterrupt, typer.Abort):
        return print_error("interrupted", 130)
    finally:
        discard_unwritten()


def main() -> None:
    """Run a command and exit with its status."""
    prepare_streams()
    sys.exit(run())
