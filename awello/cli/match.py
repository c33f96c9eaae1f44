"""`awello match`: games between two players, and the recap."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from awello.cli.app import (
    Cluster,
    GameName,
    Json,
    Processes,
    Size,
    Variant,
    app,
    chosen_jobs,
    print_json,
    progress,
)

if TYPE_CHECKING:
    from awello.arena.match import Match, MatchResult
    from awello.arena.workers import Jobs

FirstSpec = Annotated[str, typer.Argument(metavar="A", help="The first player's spec; 'awello players' lists them")]
SecondSpec = Annotated[str, typer.Argument(metavar="B", help="The second player's spec")]


@app.command()
def match(
    game: GameName,
    first: FirstSpec,
    second: SecondSpec,
    games: Annotated[int, typer.Option(min=1, help="How many games", metavar="N")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same games", metavar="S")] = 0,
    openings: Annotated[
        Path | None, typer.Option(help="Openings, one transcript a line; each is played with both colours")
    ] = None,
    clock: Annotated[
        str | None, typer.Option(help="Time for each player's game, such as 5m or 30s+500ms", metavar="T")
    ] = None,
    jobs: Processes = None,
    cluster: Cluster = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
    records: Annotated[bool, typer.Option("--records", help="With --json: the games too, as transcripts")] = False,
) -> None:
    """Play games between A and B, the colours alternating. Ctrl-C ends with the recap of what was played."""
    from awello.arena.match import Match
    from awello.arena.openings import load_openings
    from awello.errors import ConfigError
    from awello.limits import Clock, parse_clock
    from awello.rules.game import find_game

    chosen = find_game(game, size, variant)
    lines = load_openings(openings, chosen) if openings else ()
    if records and not json:
        raise ConfigError("--records goes with --json: add it, or leave --records out")
    play_and_report(
        Match(chosen, first, second, games, seed, lines, Clock() if clock is None else parse_clock(clock)),
        chosen_jobs(jobs, cluster),
        json,
        records,
    )


def play_and_report(match: "Match", jobs: "Jobs", json: bool, records: bool) -> None:
    """Play a match with a progress bar and print its recap."""
    from awello.arena.match import play_match
    from awello.cli.learning import describe, learn_from
    from awello.players.player import make_player

    with progress(f"{match.first} - {match.second}", match.games) as step:
        result = play_match(match, jobs, step)
    sides = [match.first_side(number) for number in range(result.games)]
    learnt = learn_from([make_player(match.first), make_player(match.second)], result.records, sides)
    if json:
        print_json(result.as_json(records) | ({"learnt": learnt} if learnt else {}))
    else:
        print_recap(result)
        print("".join(f"{line}\n" for line in describe(learnt)), end="")
    if result.interrupted:
        raise typer.Exit(130)


def print_recap(result: "MatchResult") -> None:
    """The recap for people: who won, who held how much, who took how long."""
    from rich.console import Console
    from rich.table import Table

    match, (first, second) = result.match, result.mean_ms()
    shares = [f"{100 * share:.1f} %" for share in result.shares()]
    table = Table("", title=f"{result.games} of {match.games} games")
    for name in (match.first, match.second, "neither"):
        table.add_column(name, overflow="fold")
    table.add_row("games won", str(result.wins), str(result.losses), f"{result.draws} drawn")
    table.add_row(f"{match.game.adapter.holding} held at the end", *shares)
    table.add_row("mean time per move", f"{first:.3f} ms", f"{second:.3f} ms", "")
    table.add_row("worst time per move", *(f"{1000 * worst:.3f} ms" for worst in result.worst), "")
    table.add_row("moves played", *map(str, result.moves), "")
    if any(result.forfeits):
        table.add_row("not lost on the board", *map(str, result.forfeits), "")
    console = Console(highlight=False, markup=False)
    console.print(table)
    for number, record in enumerate(result.records, 1):
        if record.loser is not None:
            console.print(f"the first of them, game {number}: {record.describe()}", soft_wrap=True)
            break
