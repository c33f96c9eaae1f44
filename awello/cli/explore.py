"""`awello explore`: the moves played from a position in the archive, and their results."""

from dataclasses import dataclass, replace
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from awello.archive.archive import GameFilter
from awello.archive.explorer import Exploration, MoveStatistics
from awello.archive.explorer import explore as explore_archive
from awello.cli.app import app
from awello.cli.archive_options import EMPTY_ARCHIVE_MESSAGE, GameOptions, open_archive, selects_games
from awello.cli.options import ArchiveOption, Json, Size, Variant
from awello.cli.output import format_games, print_json
from awello.cli.tables import print_table
from awello.formats.openings import find_opening_at
from awello.schemas import ExplorationJson

BAR_CHARS = 12  # width of the bar for won, drawn and lost games


@dataclass(frozen=True)
class PositionOptions(GameOptions):
    """Options that select a position and games."""

    game: Annotated[
        str | None,
        typer.Option(help="othello or awale; default: detected from MOVES, otherwise othello", metavar="GAME"),
    ] = None
    size: Size = None
    variant: Variant = None


@app.command()
@selects_games
def explore(
    options: PositionOptions,
    moves: Annotated[
        str, typer.Argument(help="Moves so far, such as f5d6c3 or FfBe; default: the start position", metavar="MOVES")
    ] = "",
    database: ArchiveOption = None,
    json: Json = False,
) -> None:
    """Show the moves played from a position in the archive.

    The table shows how often each move was played, and the results for the mover.
    """

    position = options.find_position(moves)
    game_filter = replace(options, game=None, size=None, variant=None).make_filter()
    archive = open_archive(database)
    exploration = explore_archive(archive, position, None if game_filter == GameFilter() else game_filter)
    if json:
        print_json(ExplorationJson.of(exploration).model_dump())
    else:
        print(EMPTY_ARCHIVE_MESSAGE) if archive.is_empty else print_exploration(exploration)


def print_exploration(exploration: Exploration) -> None:
    """Print the moves, each with a bar of won, drawn and lost games."""

    console = Console(highlight=False, markup=False)
    name = find_opening_at(exploration.position)
    value = "" if exploration.value is None else f", minimax value {exploration.value:+d}"
    games = format_games(exploration.games) + (f", {name.en}" if name else "")
    console.print(f"{games}: {exploration.position.side_name} to move{value}")
    if not exploration.moves:
        console.print("no archived game continues from this position")
        return
    values = [] if exploration.value is None else ["value"]
    table = Table("move", "games", "played", "", "won, drawn, lost", "average score", *values, "opening")
    for branch in exploration.moves:
        table.add_row(
            exploration.position.format_move(branch.move),
            f"{branch.games:,d}",
            f"{branch.games / exploration.games:.1%}",
            format_bar(branch),
            " ".join(f"{share:.0%}" for share in compute_shares(branch)),
            "" if branch.mean_margin is None else f"{branch.mean_margin:+.1f}",
            *("" if branch.value is None else f"{branch.value:+d}" for _ in values),
            branch.opening.en if branch.opening else "",
        )
    print_table(
        console, table, ("won, drawn, lost", "average score", "opening"), ("", "opening", "value", "average score")
    )


def compute_shares(branch: MoveStatistics) -> tuple[float, float, float]:
    """Return the shares of won, drawn and lost games among finished games."""
    decided = max(1, branch.wins + branch.draws + branch.losses)
    return branch.wins / decided, branch.draws / decided, branch.losses / decided


def format_bar(branch: MoveStatistics) -> str:
    """Format the shares as a bar: solid for won, medium grey for drawn and light grey for lost games."""
    won, drawn, _ = compute_shares(branch)
    first, second = round(BAR_CHARS * won), round(BAR_CHARS * (won + drawn))
    lost = BAR_CHARS - second if branch.wins + branch.draws + branch.losses else 0
    return "█" * first + "▒" * (second - first) + "░" * lost
