"""`awello tournament`: play a round robin between bots, and print its standings."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from awello.arena.sandbox import ResourceLimits
from awello.arena.tournament import BotStanding, Tournament, TournamentResult, play_tournament
from awello.arena.workers import Jobs
from awello.cli.app import app
from awello.cli.options import Cluster, FamilyArgument, JobsOption, Json, Seed, Size, Variant, resolve_jobs
from awello.cli.output import format_games, print_json
from awello.cli.progress import exit_interrupted, show_job_progress
from awello.limits import parse_duration
from awello.rules.game import find_game

FILE_LINE_CHARS = 240  # characters per line, if the output is not a terminal


@app.command()
def tournament(
    game: FamilyArgument,
    bots: Annotated[
        list[str], typer.Argument(metavar="BOT", help="Specs of the bots; 'awello players' lists all players")
    ],
    rounds: Annotated[int, typer.Option(min=1, help="Rounds per pairing, two games each", metavar="N")] = 100,
    move_time: Annotated[
        str | None,
        typer.Option(help="Time per move, such as 100ms; without a unit: seconds; default: unlimited", metavar="TIME"),
    ] = None,
    tolerance: Annotated[
        str, typer.Option(help="Accepted excess over a time limit; without a unit: seconds", metavar="TIME")
    ] = "10ms",
    max_memory: Annotated[
        float | None, typer.Option(min=1, help="Memory per bot in MiB; default: unlimited", metavar="MIB")
    ] = None,
    learning_time: Annotated[
        str | None,
        typer.Option(
            help="Time for a bot to prepare, and to learn from each game, such as 1h; without a unit: seconds; "
            "default: unlimited",
            metavar="TIME",
        ),
    ] = None,
    max_threads: Annotated[
        int | None, typer.Option(min=1, help="Threads per bot; default: unlimited", metavar="N")
    ] = None,
    opening_plies: Annotated[
        int, typer.Option(min=0, help="Number of random opening moves, which make the games differ", metavar="N")
    ] = 0,
    seed: Seed = 0,
    jobs: JobsOption = None,
    cluster: Cluster = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Folder to write to, or to resume from; default: tournament-GAME", metavar="FOLDER"),
    ] = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Play a round-robin tournament between bots.

    In a round, two bots play two games. The bot with the larger total score gets 3 points; after a draw, each gets 1. A
    bot that crashes, makes an illegal move or exceeds a limit loses the game. Can be interrupted; run the same command
    again to resume.
    """
    limits = ResourceLimits(
        None if move_time is None else parse_duration(move_time),
        parse_duration(tolerance),
        max_memory,
        None if learning_time is None else parse_duration(learning_time),
        max_threads,
    )
    chosen = Tournament(find_game(game, size, variant), tuple(bots), rounds, seed, limits, opening_plies)
    play_and_report(chosen, out or Path(f"tournament-{game}"), resolve_jobs(jobs, cluster), json)


def play_and_report(tournament: Tournament, folder: Path, jobs: Jobs, json: bool) -> None:
    """Play a tournament with live standings; print the report at the end or after an interrupt."""
    latest = TournamentResult(tournament, [])
    label = f"tournament {tournament.game.family}"

    def draw() -> list[RenderableType]:
        return _make_standings(latest, Console(stderr=True)) if latest.rounds_played else []

    with show_job_progress(f"{label}: bots are preparing", tournament.total, draw) as update:

        def on_progress(result: TournamentResult) -> None:
            nonlocal latest
            latest = result
            update(len(result.results), label if result.results else "")

        result = play_tournament(tournament, jobs, folder, on_progress)
    if result.interrupted and not result.results:
        raise KeyboardInterrupt
    if json:
        print_json(result.to_json() | {"folder": str(folder)})
    else:
        print_report(result)
    if result.interrupted:
        exit_interrupted(folder)


def print_report(results: TournamentResult) -> None:
    """Print the standings, the resource use, the results of each pairing, and the reasons for forfeits."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(highlight=False, markup=False, width=FILE_LINE_CHARS)
    standings = results.standings()
    tables = _make_standings(results, console)
    narrow = len(tables) > 1
    for table in (
        *tables,
        _make_usage_table(standings, narrow),
        *_make_cross_tables(results, standings, console, narrow),
    ):
        console.print(table)
    for bot in standings:
        for reason, message in bot.messages.items():
            console.print(
                f"{bot.spec} forfeited {format_games(bot.forfeits[reason])} ({reason}); message of the first: {message}"
            )


def _make_standings(results: TournamentResult, console: Console) -> list[RenderableType]:
    """Format the standings; if the terminal is narrow, list the specs first, then the results by rank."""
    standings = results.standings()
    wide, unlimited = (
        _make_standings_table(results, standings, narrow=False),
        console.options.update_width(10 * FILE_LINE_CHARS),
    )
    tables = wide, _make_usage_table(standings, narrow=False)
    if all(console.measure(table, options=unlimited).maximum <= console.width for table in tables):
        return [wide]
    names = (Text(f"{rank}. {bot.spec}", overflow="fold") for rank, bot in enumerate(standings, 1))
    return [*names, _make_standings_table(results, standings, narrow=True)]


def _make_standings_table(results: TournamentResult, standings: Sequence[BotStanding], narrow: bool) -> Table:
    columns = ("points", "wins", "draws", "losses", "games", "average score", "Elo, 95 %")

    def cells(bot: BotStanding) -> list[str]:
        numbers = map(str, (bot.points, bot.wins, bot.draws, bot.losses, bot.games))
        return [*numbers, f"{bot.mean_score:.1f}", f"{bot.elo:+.0f} ± {bot.elo_margin:.0f}"]

    return _make_table(
        f"{results.rounds_played} of {results.rounds_total} rounds", standings, narrow, columns, map(cells, standings)
    )


def _make_usage_table(standings: Sequence[BotStanding], narrow: bool) -> Table:
    """Format the resource use of the bots, and their forfeits."""
    columns = ("average ms", "max ms", "memory MiB", "learning s", "CPUs", "forfeits")

    def cells(bot: BotStanding) -> list[str]:
        lost = ", ".join(f"{count} {reason}" for reason, count in bot.forfeits.items())
        used = map(
            _format_figure, (1000 * bot.mean_seconds, 1000 * bot.max_seconds, bot.memory_mib, bot.learning_seconds)
        )
        return [*used, f"{bot.mean_cpus:.1f}", lost or "0"]

    return _make_table("Resources", standings, narrow, columns, map(cells, standings))


def _format_figure(value: float) -> str:
    """Format a measured value, with decimals if it is below 100."""
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def _make_cross_tables(
    results: TournamentResult, standings: Sequence[BotStanding], console: Console, narrow: bool
) -> Iterator[Table]:
    """Format the results of each bot (row) against every other bot (column), in tables that fit the terminal."""
    specs = [results.tournament.specs.index(bot.spec) for bot in standings]
    cross_table = results.cross_table()
    cells = [
        ["" if row == column else "-".join(map(str, cross_table[row][column])) for column in specs] for row in specs
    ]
    width = 1 + max(len(cell) for row in cells for cell in row)
    fitting = max(1, (console.width - 4) // width) if narrow else len(specs)
    ranks = [str(rank) for rank in range(1, len(specs) + 1)]
    for first in range(0, len(specs), fitting):
        part = slice(first, first + fitting)
        yield _make_table("Rounds: wins-draws-losses", standings, narrow, ranks[part], (row[part] for row in cells))


def _make_table(
    title: str, standings: Sequence[BotStanding], narrow: bool, columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> Table:
    """Make a table with one row of numbers per bot."""
    table = Table(title=title)
    if narrow:
        table = Table(title=title, min_width=len(title), box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("bot", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    for rank, (bot, row) in enumerate(zip(standings, rows, strict=True), 1):
        table.add_row(f"{rank}." if narrow else f"{rank}. {bot.spec}", *row)
    return table
