"""`awello games`: the archive, a database of games."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from awello.cli.app import Json, Size, Variant, app, print_json, progress
from awello.cli.asking import (
    EMPTY,
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
    from awello.archive.importer import Report
    from awello.archive.statistics import Statistics

games = typer.Typer(help="Keep games in a database: import, find, export, count.", no_args_is_help=True)
app.add_typer(games, name="games")

TOP = 10  # names in a table of figures


@games.command("import")
def import_files(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders with files", metavar="PATH...")],
    place: Place = None,
    json: Json = False,
) -> None:
    """Put games into the archive: transcripts, GGF, WTHOR (.wtb, with .jou and .trn beside it), logbooks, OGN.

    Safe to interrupt and to repeat: a game is kept once, and the same command goes on where it stopped.
    """
    from awello.archive.files import find_files, sources_of
    from awello.archive.importer import import_games

    files = find_files(paths)
    archive, total = open_archive(place), sum(file.stat().st_size for file in files)
    try:
        with progress("import", total) as step:
            reports = import_games(archive, sources_of(files), step)
    except KeyboardInterrupt:
        print("awello: what was kept stays: the same command goes on from there", file=sys.stderr)
        raise
    if json:
        print_json({"files": [report_json(report) for report in reports]})
    else:
        print_reports(reports)
    if any(report.damage for report in reports):
        raise typer.Exit(1)


def report_json(report: "Report") -> dict[str, Any]:
    """What became of a file, for machines."""
    counts = {"games": report.games, "before": report.before, "repeated": report.repeated}
    damage = [str(error) for error in report.damage]
    return {"file": report.source.name, **counts, "unfinished": report.unfinished, "damage": damage}


def print_reports(reports: "Sequence[Report]") -> None:
    """What became of files, for people: a line each, and what was wrong in them."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    shown = [report for report in reports if report.games or report.damage]
    table = Table("file", "games", "new", "moves as in another", "unfinished", "damaged")
    rows = [(r.source.name, r.games, r.games - r.before, r.repeated, r.unfinished, len(r.damage)) for r in shown]
    totals = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    for row in [*rows, *([(f"{len(rows)} files", *totals)] if len(rows) > 1 else [])]:
        table.add_row(str(row[0]), *(f"{count:,d}" if count else "" for count in row[1:]))
    if rows:
        console.print(table)
    for report in shown:
        for error in report.damage[:TOP]:
            console.print(f"{report.source.name}, {error}")
        if len(report.damage) > TOP:
            console.print(f"{report.source.name}: {len(report.damage) - TOP} more")


@games.command()
def export(
    out: Annotated[Path, typer.Option(help="The file to write; its ending tells the format", metavar="FILE")],
    form: Annotated[str | None, typer.Option("--format", help="Where the ending does not", metavar="F")] = None,
    file: Annotated[
        str | None, typer.Option("--file", help="A file that was imported, to be written again", metavar="NAME")
    ] = None,
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
) -> None:
    """Write games to a file: transcripts (.txt), GGF, WTHOR (.wtb, .jou and .trn), a logbook (.gam), OGN."""
    from awello.archive.files import format_of, write_again, write_games
    from awello.errors import ConfigError

    archive, chosen = open_archive(place), wanted_game(game, size, variant)
    if file is not None:
        if form or (chosen, player, event, years, opening, result, moves) != (None, "", "", "", "", "", ""):
            raise ConfigError("--file writes a file again as it was: leave out --format and what chooses games")
        out.write_bytes(write_again(archive, file))
        print(f"{file} written to {out}")
        return
    format, wanted = format_of(out, form), wanted_games(chosen, player, event, years, opening, result, moves)
    numbers = archive.numbers(wanted)
    if not numbers:
        raise ConfigError("no such game is in the archive: nothing was written")
    written = write_games(archive.records(numbers), out, format)
    print(f"{len(numbers):,d} games written to {', '.join(map(str, written))}")


@games.command()
def files(place: Place = None, json: Json = False) -> None:
    """List the files that were imported; export --file writes one again."""
    from awello.archive.files import imported_files

    found = imported_files(open_archive(place))
    if json:
        print_json({"files": [{"name": row.name, "format": row.format, "games": row.games} for row in found]})
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("file", "format", "games")
    for row in found:
        table.add_row(row.name, row.format, f"{row.games:,d}")
    Console(highlight=False, markup=False).print(table)


@games.command()
def show(
    number: Annotated[int, typer.Argument(min=1, max=2**31 - 1, help="Its number in the list", metavar="NUMBER")],
    form: Annotated[str | None, typer.Option("--format", help="Print it in a format such as ggf", metavar="F")] = None,
    place: Place = None,
) -> None:
    """Show a game: who played, the moves, the final position."""
    from awello.formats.files import find_format
    from awello.formats.transcript import format_transcript

    record = open_archive(place).find(number)
    if form is not None:
        for content in find_format(form).write([record]).values():
            sys.stdout.buffer.write(content)
        return
    for tag, value in record.tags.items():
        print(f"{tag}: {value}")
    print(f"{format_transcript(record)}\n\n{record.final}\n\n{record.describe()}")


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
    count, found = archive.latest(wanted, limit)
    rows = [as_row(row) for row in found]
    if json:
        print_json({"games": count, "rows": rows})
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    titles = ("game", "first", "second", "score", "date", "event", "opening")
    if rows:
        table = Table("number", *titles)
        for row in rows:
            table.add_row(str(row["number"]), *(str(row[title] or "") for title in titles))
        console.print(table)
    shown = f", the latest {len(rows)} shown: --limit shows more" if len(rows) < count else ""
    console.print(EMPTY if archive.empty else f"{count:,d} games{shown}")


def as_row(row: Any) -> dict[str, Any]:
    """A game of the archive in a line."""
    from awello.archive.store import record_of
    from awello.rules.game import Game

    game, score = Game(row.game), None
    if row.loser is not None:
        score = f"{game.sides[1 - row.loser]} ({row.reason})"
    elif row.score is not None:
        score = "{}-{}".format(*record_of(row).final.score())
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
    archive = open_archive(place)
    found = measure(archive, wanted)
    if json:
        from dataclasses import asdict

        print_json(asdict(found) | {"kinds": [(str(game), count) for game, count in found.kinds]})
    else:
        print(EMPTY) if archive.empty else print_statistics(found)


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
