"""`awello games`: the archive, a database of games."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from awello.cli.app import Json, Size, Variant, app, print_json
from awello.cli.asking import (
    Event,
    GameOption,
    OpeningName,
    Place,
    Player,
    Result,
    Through,
    Years,
    open_archive,
    wanted_game,
    wanted_games,
)

if TYPE_CHECKING:
    from awello.archive.statistics import Statistics

games = typer.Typer(help="Keep games in a database: import, find, export, count.", no_args_is_help=True)
app.add_typer(games, name="games")

TOP = 10  # names in a table of figures


@games.command("list")
def list_games(
    game: GameOption = None,
    size: Size = None,
    variant: Variant = None,
    player: Player = "",
    event: Event = "",
    years: Years = "",
    opening: OpeningName = "",
    result: Result = "",
    moves: Through = "",
    limit: Annotated[int, typer.Option(min=1, help="The most games to show, the latest first", metavar="N")] = 20,
    place: Place = None,
    json: Json = False,
) -> None:
    """List games: who played, where and when, the opening and how it ended."""
    chosen = wanted_game(game, size, variant)
    archive, wanted = open_archive(place), wanted_games(chosen, player, event, years, opening, result, moves)
    found = archive.numbers(wanted)
    rows = [as_row(row) for row in archive.rows(found[: -limit - 1 : -1])]
    if json:
        print_json({"games": len(found), "rows": rows})
        return
    from rich.console import Console
    from rich.table import Table

    console, titles = (
        Console(highlight=False, markup=False),
        ("game", "first", "second", "score", "date", "event", "opening"),
    )
    if rows:
        table = Table("number", *titles)
        for row in rows:
            table.add_row(str(row["number"]), *(str(row[title] or "") for title in titles))
        console.print(table)
    shown = f", the latest {len(rows)} shown: --limit shows more" if len(rows) < len(found) else ""
    console.print(f"{len(found):,d} games{shown}")


def as_row(row: Any) -> dict[str, Any]:
    """A game of the archive in a line."""
    from awello.rules.game import Game

    game, score = Game(row.game), None
    if row.loser is not None:
        score = f"{game.sides[1 - row.loser]} ({row.reason})"
    elif row.score is not None:
        score = f"{(game.points + row.score) // 2}-{(game.points - row.score) // 2}"
    about = {"number": row.id, "game": str(game), "first": row.first_name, "second": row.second_name, "score": score}
    return {**about, "date": row.date, "event": row.event_name, "opening": row.opening}


@games.command()
def stats(
    game: GameOption = None,
    size: Size = None,
    variant: Variant = None,
    player: Player = "",
    event: Event = "",
    years: Years = "",
    opening: OpeningName = "",
    result: Result = "",
    moves: Through = "",
    place: Place = None,
    json: Json = False,
) -> None:
    """Count games: results, players, events, openings, years."""
    from awello.archive.statistics import measure

    chosen = wanted_game(game, size, variant)
    wanted = wanted_games(chosen, player, event, years, opening, result, moves)
    found = measure(open_archive(place), wanted)
    if json:
        from dataclasses import asdict

        print_json(asdict(found) | {"kinds": [(str(game), count) for game, count in found.kinds]})
    else:
        print_statistics(found)


def print_statistics(found: "Statistics") -> None:
    """The figures for people."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    console.print(f"{found.games:,d} games" + "".join(f", {count:,d} of {game}" for game, count in found.kinds))
    if not found.games:
        return
    decided = max(1, found.games - found.unfinished)
    table = Table("first player won", "second won", "drawn", "unfinished", "mean margin of the first")
    counts = [f"{count:,d} ({count / decided:.1%})" for count in (found.first, found.second, found.draws)]
    table.add_row(*counts, f"{found.unfinished:,d}", "" if found.score is None else f"{found.score:+.2f}")
    console.print(table)
    if found.years:
        console.print(f"from {found.years[0][0]} to {found.years[-1][0]}")
    table = Table("player", "games", "event", "games", "opening", "games")
    columns = (found.players[:TOP], found.events[:TOP], found.openings[:TOP])
    for at in range(max(map(len, columns))):
        cells = [
            (name, f"{count:,d}") for name, count in (column[at] if at < len(column) else ("", 0) for column in columns)
        ]
        table.add_row(*(cell if name else "" for name, count in cells for cell in (name, count)))
    console.print(table)
