"""`awello games`: the archive, a database of games."""

import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from awello.archive.files import (
    choose_format,
    find_files,
    list_imported_files,
    read_sources,
    restore_file,
    write_files,
    write_games,
)
from awello.archive.game_rows import record_of
from awello.archive.importer import ImportReport, import_games
from awello.archive.statistics import ArchiveStatistics, compute_statistics
from awello.cli.app import Json, Place, app, print_json, print_result, progress
from awello.cli.archive_options import EMPTY, GameOptions, Through, open_archive, selects_games
from awello.cli.running import resumable
from awello.cli.tables import print_table
from awello.errors import ConfigError
from awello.formats.registry import find_format
from awello.formats.transcript import format_transcript
from awello.rules.game import Game
from awello.schemas import GameJson, GameListJson, GameRowJson, ImportJson

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

    A game is kept once. Can be interrupted; run the same command again to resume.
    """

    files = find_files(paths)
    archive, total = open_archive(place, make=True), sum(file.stat().st_size for file in files)
    with resumable("the archive"), progress("import", total) as step:
        reports = import_games(archive, read_sources(files), step)
    if json:
        print_json({"files": [ImportJson.of(report).model_dump() for report in reports]})
    else:
        print_reports(reports)
    if any(report.damage for report in reports):
        raise typer.Exit(1)


def print_reports(reports: Sequence[ImportReport]) -> None:
    """What became of files, for people: a line each, and what was wrong in them."""

    console = Console(highlight=False, markup=False)
    shown = [report for report in reports if report.games or report.damage]
    table = Table("file", "games", "new", "moves as in another", "unfinished", "damaged")
    rows = [(r.source.name, r.games, r.games - r.before, r.repeated, r.unfinished, len(r.damage)) for r in shown]
    totals = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    for row in [*rows, *([(f"{len(rows)} files", *totals)] if len(rows) > 1 else [])]:
        table.add_row(str(row[0]), *(f"{count:,d}" if count else "" for count in row[1:]))
    if rows:
        print_table(console, table, ("file", "moves as in another", "unfinished", "damaged"))
    for report in shown:
        for error in report.damage[:TOP]:
            print(f"{report.source.name}, {error}")
        if len(report.damage) > TOP:
            print(f"{report.source.name}: {len(report.damage) - TOP} more (--json tells all)")


@games.command()
@selects_games
def export(
    options: GameOptions,
    out: Annotated[Path, typer.Option(help="The file to write (its ending names the format), or -", metavar="FILE")],
    form: Annotated[str | None, typer.Option("--format", help="Where the ending does not", metavar="F")] = None,
    file: Annotated[str | None, typer.Option(help="Write this imported file again", metavar="NAME")] = None,
    moves: Through = "",
    place: Place = None,
    json: Json = False,
) -> None:
    """Write games to a file: transcripts (.txt), GGF, WTHOR (.wtb, .jou and .trn), a logbook (.gam), OGN."""

    archive = open_archive(place)
    if file is not None:
        if form or moves or options != GameOptions():
            raise ConfigError("--file writes a file again as it was: leave out --format and what chooses games")
        count, contents = restore_file(archive, file)
    else:
        format, numbers = choose_format(out, form), archive.numbers(options.wanted(moves))
        if not numbers:
            raise ConfigError("no such game is in the archive: nothing was written")
        count, contents = len(numbers), write_games(archive, numbers, format)
    if str(out) == "-":
        print_content(contents)
        return
    written = [str(each) for each in write_files(contents, out)]
    text = f"{file or f'{count:,d} games'} written to {', '.join(written)}"
    print_result({"games": count, "files": written}, text, json)


def print_content(contents: dict[str, bytes]) -> None:
    """Print what a file would hold, if it is text."""

    if any(b"\0" in content for content in contents.values()):
        raise ConfigError("WTHOR's files are no text: 'awello games export --out FILE.wtb' writes them")
    for content in contents.values():
        sys.stdout.buffer.write(content)


@games.command()
def files(place: Place = None, json: Json = False) -> None:
    """List the files that were imported; export --file writes one again."""

    archive = open_archive(place)
    found = list_imported_files(archive)
    if json:
        print_json({"files": [{"name": row.name, "format": row.format, "games": row.games} for row in found]})
        return
    if not found:
        print(EMPTY if archive.empty else "no file was imported: the games came one by one")
        return

    table = Table("file", "format", "games")
    for row in found:
        table.add_row(row.name, row.format, f"{row.games:,d}")
    print_table(Console(highlight=False, markup=False), table, ("file",))


@games.command()
def show(
    number: Annotated[int, typer.Argument(min=1, max=2**31 - 1, help="Its number in the list", metavar="NUMBER")],
    form: Annotated[str | None, typer.Option("--format", help="Print it in a format such as ggf", metavar="F")] = None,
    place: Place = None,
    json: Json = False,
) -> None:
    """Show a game: who played, the moves, the final position."""

    record = open_archive(place).find(number)
    if form is not None:
        print_content(find_format(form).write([record]))
        return
    if json:
        print_json(GameJson.of(record, number).model_dump())
        return
    for tag, value in record.tags.items():
        print(f"{tag}: {value}")
    print(f"{format_transcript(record)}\n\n{record.final}\n\n{record.describe()}")


@games.command("list")
@selects_games
def list_games(
    options: GameOptions,
    moves: Through = "",
    limit: Annotated[int, typer.Option(min=1, help="The most games to show, the latest first", metavar="N")] = 20,
    place: Place = None,
    json: Json = False,
) -> None:
    """List games: who played, where and when, the opening and how it ended."""

    wanted, archive = options.wanted(moves), open_archive(place)
    count, found = archive.find_latest(wanted, limit)
    rows = [GameRowJson.of(row, record_of(row)) for row in found]
    if json:
        print_json(GameListJson(total=count, games=rows).model_dump())
        return

    console = Console(highlight=False, markup=False)
    titles = ("game", "first", "second", "score", "date", "event", "opening")
    if rows:
        table = Table("number", *titles)
        for row in rows:
            table.add_row(*as_cells(row))
        print_table(console, table, ("first", "second", "event", "opening"), ("opening", "event", "game", "date"))
    shown = f", the latest {len(rows)} shown: --limit shows more" if len(rows) < count else ""
    console.print(EMPTY if archive.empty else f"{count:,d} games{shown}")


def as_cells(row: GameRowJson) -> list[str]:
    """A game of the archive in a line of the table."""

    score = "{}-{}".format(*row.score) if row.score else ""
    if row.loser is not None:
        score = f"{Game[row.game.upper()].sides[1 - row.loser]} ({row.reason})"
    opening = row.opening.en if row.opening else ""
    return [str(cell or "") for cell in (row.number, row.game, *row.players, score, row.date, row.event, opening)]


@games.command()
@selects_games
def stats(options: GameOptions, moves: Through = "", place: Place = None, json: Json = False) -> None:
    """Count games: results, players, events, openings, years."""

    wanted, archive = options.wanted(moves), open_archive(place)
    found = compute_statistics(archive, wanted)
    if json:
        print_json(asdict(found) | {"by_game": [(str(game), count) for game, count in found.by_game]})
    else:
        print(EMPTY) if archive.empty else print_statistics(found)


def print_statistics(found: ArchiveStatistics) -> None:
    """The figures for people."""

    console = Console(highlight=False, markup=False)
    console.print(f"{found.games:,d} games" + "".join(f", {count:,d} of {game}" for game, count in found.by_game))
    if not found.games:
        return
    decided = max(1, found.games - found.unfinished)
    table = Table("first player won", "second won", "drawn", "unfinished", "mean margin of the first")
    counts = [f"{count:,d} ({count / decided:.1%})" for count in (found.first_wins, found.second_wins, found.draws)]
    table.add_row(*counts, f"{found.unfinished:,d}", "" if found.score is None else f"{found.score:+.2f}")
    print_table(console, table, [str(column.header) for column in table.columns])
    if found.years:
        console.print(f"from {found.years[0][0]} to {found.years[-1][0]}")
    table = Table("player", "games", "event", "games", "opening", "games")
    for row in zip_longest(found.players[:TOP], found.events[:TOP], found.openings[:TOP], fillvalue=("", 0)):
        table.add_row(*(cell for name, count in row for cell in (name, f"{count:,d}" if name else "")))
    print_table(console, table, ("player", "event", "opening"))
