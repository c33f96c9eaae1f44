"""`awello games`: manage the archive, a database of games."""

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
from awello.archive.game_rows import row_to_record
from awello.archive.importer import ImportReport, import_games
from awello.archive.statistics import ArchiveStatistics, compute_statistics
from awello.cli.app import app
from awello.cli.archive_options import EMPTY_ARCHIVE_MESSAGE, GameOptions, MovesOption, open_archive, selects_games
from awello.cli.options import ArchiveOption, Json
from awello.cli.output import check_output, format_games, print_json, print_result
from awello.cli.progress import resumable, show_step_progress
from awello.cli.tables import print_table
from awello.errors import ConfigError
from awello.formats.registry import find_format
from awello.formats.transcript import format_transcript
from awello.rules.game import Game
from awello.schemas import GameJson, GameListJson, GameRowJson, ImportJson

games = typer.Typer(help="Manage the game archive: import, list, export, count.", no_args_is_help=True)
app.add_typer(games, name="games")

MAX_SHOWN_ROWS = 10  # maximum number of printed rows of statistics, and of errors per file


@games.command("import")
def import_files(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders", metavar="PATH")],
    database: ArchiveOption = None,
    json: Json = False,
) -> None:
    """Import games from files and folders.

    Formats: transcripts, GGF, WTHOR (.wtb with its .jou and .trn), logbooks, OGN, JSON Lines. Identical games are
    stored once. Can be interrupted; run the same command again to resume.
    """

    files = find_files(paths)
    archive, total = open_archive(database, create=True), sum(file.stat().st_size for file in files)
    with resumable("the last complete batch"), show_step_progress("import", total) as step:
        reports = import_games(archive, read_sources(files), step)
    if json:
        print_json({"files": [ImportJson.of(report).model_dump() for report in reports]})
    else:
        print_reports(reports)
    if any(report.errors for report in reports):
        raise typer.Exit(1)


def print_reports(reports: Sequence[ImportReport]) -> None:
    """Print one row per file, and the errors found in the files."""

    console = Console(highlight=False, markup=False)
    shown = [report for report in reports if report.games or report.errors]
    table = Table("file", "games", "new", "same moves as another game", "unfinished", "damaged")
    rows = [
        (r.source.name, r.games, r.games - r.imported_before, r.duplicates, r.unfinished, len(r.errors)) for r in shown
    ]
    totals = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    for row in [*rows, *([(f"{len(rows)} files", *totals)] if len(rows) > 1 else [])]:
        table.add_row(str(row[0]), *(f"{count:,d}" if count else "" for count in row[1:]))
    if rows:
        print_table(console, table, ("file", "same moves as another game", "unfinished", "damaged"))
    for report in shown:
        for error in report.errors[:MAX_SHOWN_ROWS]:
            print(f"{report.source.name}, {error}")
        if len(report.errors) > MAX_SHOWN_ROWS:
            print(f"{report.source.name}: {len(report.errors) - MAX_SHOWN_ROWS} more errors (--json lists all)")


@games.command()
@selects_games
def export(
    options: GameOptions,
    out: Annotated[
        Path, typer.Option(help="File to write, or - for stdout; the extension selects the format", metavar="FILE")
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", help="Format such as ggf; default: from the file extension", metavar="FORMAT"),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Restore the imported file NAME; default: none", metavar="NAME")
    ] = None,
    moves: MovesOption = "",
    database: ArchiveOption = None,
    json: Json = False,
) -> None:
    """Export games to a file.

    Formats: transcripts (.txt), GGF, WTHOR (.wtb, .jou and .trn), logbooks (.gam), OGN, JSON Lines (.jsonl).
    """

    archive, to_stdout = open_archive(database), str(out) == "-"
    if not to_stdout:
        check_output(out)
    if source is not None:
        if format_name or moves or options != GameOptions():
            raise ConfigError("--source restores a whole file: omit --format and the options that select games")
        count, contents = restore_file(archive, source)
    else:
        format, numbers = choose_format(out, format_name), archive.find_numbers(options.make_filter(moves))
        if not numbers:
            raise ConfigError("no game matches these options, so nothing was written: change or omit some of them")
        count, contents = len(numbers), write_games(archive, numbers, format)
    if to_stdout:
        print_content(contents)
        return
    written = [str(each) for each in write_files(contents, out)]
    text = f"{source or format_games(count)} written to {', '.join(written)}"
    print_result({"games": count, "files": written}, text, json)


def print_content(contents: dict[str, bytes]) -> None:
    """Print the content of an export to standard output, or raise `ConfigError` if it is binary."""

    if any(b"\0" in content for content in contents.values()):
        raise ConfigError("WTHOR files are binary: write them with 'awello games export --out FILE.wtb'")
    for content in contents.values():
        sys.stdout.buffer.write(content)


@games.command()
def files(database: ArchiveOption = None, json: Json = False) -> None:
    """List the imported files.

    To restore a file from the archive, use `games export --source`.
    """

    archive = open_archive(database)
    rows = list_imported_files(archive)
    if json:
        print_json({"files": [{"name": row.name, "format": row.format, "games": row.games} for row in rows]})
        return
    if not rows:
        print(
            EMPTY_ARCHIVE_MESSAGE if archive.is_empty else "no files were imported; all games were saved individually"
        )
        return

    table = Table("file", "format", "games")
    for row in rows:
        table.add_row(row.name, row.format, f"{row.games:,d}")
    print_table(Console(highlight=False, markup=False), table, ("file",))


@games.command()
def show(
    number: Annotated[
        int, typer.Argument(min=1, max=2**31 - 1, help="Game number, as shown by `awello games list`", metavar="NUMBER")
    ],
    format_name: Annotated[
        str | None,
        typer.Option("--format", help="Print the game in a format such as ggf; default: as text", metavar="FORMAT"),
    ] = None,
    database: ArchiveOption = None,
    json: Json = False,
) -> None:
    """Show a game: players, moves and final position."""

    record = open_archive(database).load_record(number)
    if format_name is not None:
        print_content(find_format(format_name).write([record]))
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
    moves: MovesOption = "",
    last: Annotated[int, typer.Option(min=1, help="Number of games to show, latest first", metavar="N")] = 20,
    database: ArchiveOption = None,
    json: Json = False,
) -> None:
    """List games: players, date, event, opening and result."""

    game_filter, archive = options.make_filter(moves), open_archive(database)
    count, latest = archive.find_latest(game_filter, last)
    rows = [GameRowJson.of(row, row_to_record(row)) for row in latest]
    if json:
        print_json(GameListJson(total=count, games=rows).model_dump())
        return

    console = Console(highlight=False, markup=False)
    titles = ("game", "first", "second", "score", "date", "event", "opening")
    if rows:
        table = Table("number", *titles)
        for row in rows:
            table.add_row(*format_cells(row))
        print_table(console, table, ("first", "second", "event", "opening"), ("opening", "event", "game", "date"))
    shown = f", the latest {len(rows)} shown: --last N shows more" if len(rows) < count else ""
    console.print(EMPTY_ARCHIVE_MESSAGE if archive.is_empty else format_games(count) + shown)


def format_cells(row: GameRowJson) -> list[str]:
    """Return the cells of the table row for a game."""

    score = "{}-{}".format(*row.score) if row.score else ""
    if row.loser is not None:
        score = f"{Game[row.game.upper()].sides[1 - row.loser]} ({row.reason})"
    opening = row.opening.en if row.opening else ""
    return [str(cell or "") for cell in (row.number, row.game, *row.players, score, row.date, row.event, opening)]


@games.command()
@selects_games
def stats(options: GameOptions, moves: MovesOption = "", database: ArchiveOption = None, json: Json = False) -> None:
    """Count games by result, player, event, opening and year."""

    game_filter, archive = options.make_filter(moves), open_archive(database)
    statistics = compute_statistics(archive, game_filter)
    if json:
        print_json(asdict(statistics) | {"by_game": [(str(game), count) for game, count in statistics.by_game]})
    else:
        print(EMPTY_ARCHIVE_MESSAGE) if archive.is_empty else print_statistics(statistics)


def print_statistics(statistics: ArchiveStatistics) -> None:
    """Print the statistics as tables."""

    console = Console(highlight=False, markup=False)
    console.print(
        format_games(statistics.games) + "".join(f", {count:,d} of {game}" for game, count in statistics.by_game)
    )
    if not statistics.games:
        return
    decided = max(1, statistics.games - statistics.unfinished)
    table = Table("first player won", "second won", "drawn", "unfinished", "average margin of first player")
    counts = [
        f"{count:,d} ({count / decided:.1%})"
        for count in (statistics.first_wins, statistics.second_wins, statistics.draws)
    ]
    table.add_row(
        *counts,
        f"{statistics.unfinished:,d}",
        "" if statistics.mean_margin is None else f"{statistics.mean_margin:+.2f}",
    )
    print_table(console, table, [str(column.header) for column in table.columns])
    if statistics.years:
        console.print(f"from {statistics.years[0][0]} to {statistics.years[-1][0]}")
    table = Table("player", "games", "event", "games", "opening", "games")
    for row in zip_longest(
        statistics.players[:MAX_SHOWN_ROWS],
        statistics.events[:MAX_SHOWN_ROWS],
        statistics.openings[:MAX_SHOWN_ROWS],
        fillvalue=("", 0),
    ):
        table.add_row(*(cell for name, count in row for cell in (name, f"{count:,d}" if name else "")))
    print_table(console, table, ("player", "event", "opening"))
