"""`awello tournament`: every bot against every other, and the standings."""

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from awello.cli.app import Cluster, GameName, Json, Size, Variant, app, chosen_jobs, print_json, progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.table import Table

    from awello.arena.tournament import Results, Standing, Tournament
    from awello.arena.workers import Jobs

WIDE = 240  # columns of tables that no terminal shows


@app.command()
def tournament(
    game: GameName,
    bots: Annotated[
        list[str], typer.Argument(metavar="A B ...", help="Two specs or more; 'awello players' lists them")
    ],
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of each pair, two games each", metavar="N")] = 100,
    move_time: Annotated[str | None, typer.Option(help="Time for each move, such as 100ms", metavar="T")] = None,
    tolerance: Annotated[str, typer.Option(help="What a move may take longer", metavar="T")] = "10ms",
    memory: Annotated[float | None, typer.Option(help="MiB for the tables of a bot", metavar="M")] = None,
    learning: Annotated[str | None, typer.Option(help="Time to get ready, such as 1h", metavar="T")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of a bot", metavar="N")] = None,
    opening_plies: Annotated[
        int,
        typer.Option(min=0, help="Random moves before each round: bots without chance repeat a game", metavar="N"),
    ] = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same games", metavar="S")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="Games at a time; unless said, 1", metavar="N")] = None,
    cluster: Cluster = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write; unless said, tournament-GAME here")] = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Let every bot meet every other, in rounds of two games. Safe to interrupt: the same command goes on.

    A round goes to the larger summed score: 3 points, a drawn one 1 each. A crash, a late or an illegal answer and
    whatever breaks another limit lose the game.
    """
    from awello.arena.guard import Terms
    from awello.arena.tournament import Tournament
    from awello.limits import parse_seconds
    from awello.rules.game import find_game

    terms = Terms(
        None if move_time is None else parse_seconds(move_time),
        parse_seconds(tolerance),
        memory,
        None if learning is None else parse_seconds(learning),
        threads,
    )
    chosen = Tournament(find_game(game, size, variant), tuple(bots), rounds, seed, terms, opening_plies)
    play_and_report(chosen, out or Path(f"tournament-{game}"), chosen_jobs(jobs, cluster), json)


def play_and_report(tournament: "Tournament", folder: Path, jobs: "Jobs", json: bool) -> None:
    """Play a tournament and print its report; interrupted, that of what was played."""
    from awello.arena.tournament import Results, run

    latest, interrupted = Results(tournament, []), False

    def report(results: "Results") -> None:
        nonlocal latest
        latest = results
        show(results)

    with live(f"tournament {tournament.game.family}") as show:
        try:
            run(tournament, folder, jobs, report)
        except KeyboardInterrupt:
            interrupted = True
    if json:
        print_json(latest.as_json() | {"folder": str(folder)})
    else:
        print_report(latest)
    if interrupted:
        print(f"awello: the rounds so far are in {folder}: the same command goes on from there", file=sys.stderr)
        raise typer.Exit(130)


@contextmanager
def live(label: str) -> "Iterator[Callable[[Results], None]]":
    """Standings and time left, while it lasts, on standard error if that is a terminal; yields who is told of them."""
    from rich.console import Group
    from rich.live import Live

    bar = progress_bar()
    task = bar.add_task(f"{label}: the bots get ready", total=None)
    latest: list[Results] = []

    def tell(results: "Results") -> None:
        latest[:] = [results]
        done = len(results.rounds)
        if bar.tasks[0].total is None:
            bar.reset(task, total=results.wanted, completed=done)
        elif done:
            bar.update(task, completed=done, description=label)

    def draw() -> Group:
        return Group(*(standings_table(results) for results in latest if results.rounds), bar)

    if bar.disable:
        yield tell
        return
    with Live(get_renderable=draw, console=bar.console, refresh_per_second=2, transient=True):
        yield tell


def print_report(results: "Results") -> None:
    """The report for people: standings, what the bots used, who beat whom, and what went wrong."""
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=WIDE)
    standings = results.standings()
    console.print(standings_table(results))
    console.print(_usage_table(standings))
    console.print(_cross_table(results, standings))
    for bot in standings:
        for reason, message in bot.messages.items():
            console.print(f"{bot.spec}: {reason} in {bot.forfeits[reason]} games, first: {message}")


def standings_table(results: "Results") -> "Table":
    """Who leads."""
    columns = ("points", "won", "drawn", "lost", "games", "mean score", "Elo, 95 %")
    table = _table(f"{len(results.rounds)} of {results.wanted} rounds", *columns)
    for place, bot in enumerate(results.standings(), 1):
        numbers = (bot.points, bot.won, bot.drawn, bot.lost, bot.games)
        elo = f"{bot.elo:+.0f} ± {bot.elo_margin:.0f}"
        table.add_row(f"{place}. {bot.spec}", *map(str, numbers), f"{bot.mean_score:.1f}", elo)
    return table


def _usage_table(standings: "Sequence[Standing]") -> "Table":
    """What the bots used, and the games that they forfeited."""
    table = _table("Used", "mean ms", "worst ms", "memory MiB", "learning s", "processors", "games forfeited")
    for bot in standings:
        lost = ", ".join(f"{count} {reason}" for reason, count in bot.forfeits.items())
        used = f"{bot.mebibytes:.2f}", f"{bot.learning:.2f}", f"{bot.processors:.1f}"
        table.add_row(bot.spec, f"{1000 * bot.mean:.2f}", f"{1000 * bot.worst:.2f}", *used, lost or "0")
    return table


def _cross_table(results: "Results", standings: "Sequence[Standing]") -> "Table":
    """Rounds won, drawn and lost by the bot of the row against that of the column."""
    places = [results.tournament.specs.index(bot.spec) for bot in standings]
    cross = results.cross()
    table = _table("Rounds won-drawn-lost", *(str(number) for number in range(1, len(places) + 1)))
    for number, (bot, one) in enumerate(zip(standings, places, strict=True), 1):
        cells = ("" if one == other else "-".join(map(str, cross[one][other])) for other in places)
        table.add_row(f"{number}. {bot.spec}", *cells)
    return table


def _table(title: str, *columns: str) -> "Table":
    """A table of bots with columns of numbers."""
    from rich.table import Table

    table = Table(title=title)
    table.add_column("bot", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right")
    return table
