"""`awello match`: play games between two players."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from awello.arena.match import Match, MatchResult, play_match
from awello.arena.openings import load_openings
from awello.arena.workers import Jobs
from awello.cli.app import app
from awello.cli.options import (
    ClockOption,
    Cluster,
    FamilyArgument,
    FirstSpec,
    JobsOption,
    Json,
    Openings,
    Out,
    SecondSpec,
    Seed,
    Size,
    Variant,
    resolve_jobs,
)
from awello.cli.output import describe_learning, print_json
from awello.cli.progress import exit_interrupted, show_job_progress
from awello.errors import ConfigError
from awello.limits import Clock, parse_clock
from awello.rules.game import find_game

Records = Annotated[bool, typer.Option("--records", help="With --json, include the games as transcripts")]


@app.command()
def match(
    game: FamilyArgument,
    first: FirstSpec,
    second: SecondSpec,
    games: Annotated[int, typer.Option(min=1, help="Number of games", metavar="N")] = 10,
    seed: Seed = 0,
    openings: Openings = None,
    clock: ClockOption = None,
    jobs: JobsOption = None,
    cluster: Cluster = None,
    out: Out = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
    records: Records = False,
) -> None:
    """Play games between two players.

    A and B play pairs of games with the same opening and sides swapped. Ctrl-C stops the match and prints the results
    so far.
    """
    chosen = find_game(game, size, variant)
    lines = load_openings(openings, chosen) if openings else ()
    if records and not json:
        raise ConfigError("--records needs --json: add --json or omit --records")
    time = Clock() if clock is None else parse_clock(clock)
    planned = Match(chosen, first, second, games, seed, lines, time)
    play_and_report(planned, resolve_jobs(jobs, cluster), out, json, records)


def play_and_report(match: Match, jobs: Jobs, out: Path | None, json: bool, records: bool) -> None:
    """Play a match with a progress bar and print its results."""
    with show_job_progress(f"{match.first} - {match.second}", match.games) as update:
        result = play_match(match, jobs, out, update)
    if json:
        print_json(result.to_json(records))
    else:
        print_result(result)
        print("".join(f"{line}\n" for line in describe_learning(result.learnt)), end="")
    if result.interrupted:
        exit_interrupted(out)


def print_result(result: MatchResult) -> None:
    """Print the results, the mean shares of the board or seeds, and the times."""
    match, (first, second) = result.match, result.mean_ms()
    shares = [f"{100 * share:.1f} %" for share in result.board_shares()]
    table = Table("", title=f"{result.games} of {match.games} games")
    for name in (match.first, match.second, "neither"):
        table.add_column(name, overflow="fold")
    table.add_row("games won", str(result.wins), str(result.losses), f"{result.draws} drawn")
    table.add_row(f"{match.game.adapter.share_name} held at the end", *shares)
    table.add_row("average time per move", f"{first:.3f} ms", f"{second:.3f} ms", "")
    table.add_row("maximum time per move", *(f"{1000 * seconds:.3f} ms" for seconds in result.max_seconds), "")
    table.add_row("moves played", *map(str, result.moves), "")
    if any(result.forfeits):
        table.add_row("lost by forfeit or resignation", *map(str, result.forfeits), "")
    console = Console(highlight=False, markup=False)
    console.print(table)
    for number, record in enumerate(result.records, 1):
        if record.loser is not None:
            console.print(
                f"game {number} is the first with a forfeit or resignation ({record.describe()})", soft_wrap=True
            )
            break
