"""`awello explore`: what was played in a position, and how it went."""

from dataclasses import replace
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from awello.archive.archive import GameFilter
from awello.archive.explorer import Exploration, MoveStatistics
from awello.archive.explorer import explore as explore_archive
from awello.cli.app import Json, Place, app, print_json
from awello.cli.archive_options import EMPTY, GameOptions, open_archive, selects_games
from awello.cli.tables import print_table
from awello.formats.openings import find_opening_at
from awello.schemas import ExplorationJson

BAR = 12  # characters for the shares of won, drawn and lost games


@app.command()
@selects_games
def explore(
    options: GameOptions,
    moves: Annotated[str, typer.Argument(help="The moves so far, such as f5d6c3 or FfBe", metavar="[MOVES]")] = "",
    place: Place = None,
    json: Json = False,
) -> None:
    """Show what the games of the archive did in a position: how often each move was played, and how it went."""

    position = options.position_after(moves)
    wanted = replace(options, game=None, size=None, variant=None).wanted()
    archive = open_archive(place)
    found = explore_archive(archive, position, None if wanted == GameFilter() else wanted)
    if json:
        print_json(ExplorationJson.of(found).model_dump())
    else:
        print(EMPTY) if archive.empty else print_exploration(found)


def print_exploration(found: Exploration) -> None:
    """The moves for people, with a bar of won, drawn and lost games."""

    console = Console(highlight=False, markup=False)
    name = find_opening_at(found.position)
    worth = "" if found.value is None else f", worth {found.value:+d} in their tree"
    console.print(f"{found.games:,d} games{f', {name.en}' if name else ''}: {found.position.side_name} to move{worth}")
    if not found.moves:
        console.print("no game goes on from here")
        return
    values = [] if found.value is None else ["value"]
    table = Table("move", "games", "played", "", "won, drawn, lost", "mean", *values, "opening")
    for branch in found.moves:
        table.add_row(
            found.position.format_move(branch.move),
            f"{branch.games:,d}",
            f"{branch.games / found.games:.1%}",
            bar(branch),
            " ".join(f"{share:.0%}" for share in shares(branch)),
            "" if branch.score is None else f"{branch.score:+.1f}",
            *("" if branch.value is None else f"{branch.value:+d}" for _ in values),
            branch.opening.en if branch.opening else "",
        )
    print_table(console, table, ("won, drawn, lost", "opening"), ("", "opening", "value", "mean"))


def shares(branch: MoveStatistics) -> tuple[float, float, float]:
    """The shares of won, drawn and lost games among the decided ones."""
    decided = max(1, branch.wins + branch.draws + branch.losses)
    return branch.wins / decided, branch.draws / decided, branch.losses / decided


def bar(branch: MoveStatistics) -> str:
    """The same as a bar: full for won, half for drawn, light for lost games."""
    won, drawn, _ = shares(branch)
    first, second = round(BAR * won), round(BAR * (won + drawn))
    lost = BAR - second if branch.wins + branch.draws + branch.losses else 0
    return "█" * first + "▒" * (second - first) + "░" * lost
