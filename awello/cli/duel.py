"""`awello duel`: test whether one player is stronger than another."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from awello.arena.duel import Duel, DuelResult, play_duel
from awello.arena.openings import load_openings
from awello.arena.sprt import Hypotheses, elo_difference, likelihood_of_superiority
from awello.arena.workers import Jobs
from awello.cli.app import app
from awello.cli.options import (
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
from awello.cli.output import print_json
from awello.cli.progress import exit_interrupted, show_job_progress
from awello.rules.game import find_game


@app.command()
def duel(
    game: FamilyArgument,
    first: FirstSpec,
    second: SecondSpec,
    games: Annotated[int, typer.Option(min=2, help="Maximum number of games; must be even", metavar="N")] = 1000,
    elo0: Annotated[float, typer.Option(help="Null hypothesis: advantage of A in Elo", metavar="ELO")] = 0.0,
    elo1: Annotated[float, typer.Option(help="Alternative hypothesis: advantage of A in Elo", metavar="ELO")] = 20.0,
    alpha: Annotated[
        float, typer.Option(help="Accepted rate of false positives, between 0 and 0.5", metavar="RATE")
    ] = 0.05,
    beta: Annotated[
        float, typer.Option(help="Accepted rate of false negatives, between 0 and 0.5", metavar="RATE")
    ] = 0.05,
    fixed: Annotated[bool, typer.Option("--fixed", help="Play all games without stopping early")] = False,
    seed: Seed = 0,
    openings: Openings = None,
    opening_plies: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of moves in each random, balanced opening; ignored with --openings",
            metavar="N",
        ),
    ] = 8,
    jobs: JobsOption = None,
    cluster: Cluster = None,
    out: Out = None,
    size: Size = None,
    variant: Variant = None,
    json: Json = False,
) -> None:
    """Test whether A is stronger than B.

    A and B play pairs of games with the same opening and sides swapped, until the sequential test reaches a verdict or
    --games games have been played. Ctrl-C stops the duel and prints the results so far.
    """
    chosen = find_game(game, size, variant)
    lines = load_openings(openings, chosen) if openings else ()
    hypotheses = Hypotheses(elo0, elo1, alpha, beta)
    plan = Duel(
        chosen, first, second, games, seed, lines, opening_plies=opening_plies, hypotheses=hypotheses, fixed=fixed
    )
    play_and_report(plan, resolve_jobs(jobs, cluster), out, json)


def play_and_report(duel: Duel, jobs: Jobs, out: Path | None, json: bool) -> None:
    """Play a duel, show its progress, and print its results."""
    with show_job_progress("duel", duel.total) as update:

        def show(result: DuelResult) -> None:
            low, high = duel.hypotheses.bounds
            advantage, margin = elo_difference(result.counts)
            figures = f"Elo {advantage:+.0f} ± {margin:.0f}, LLR {result.llr:+.2f} ({low:+.2f} to {high:+.2f})"
            update(len(result.results), figures)

        result = play_duel(duel, jobs, out, show)
    if json:
        print_json(result.to_json())
    else:
        print_result(result)
    if result.interrupted:
        exit_interrupted(out)


def print_result(result: DuelResult) -> None:
    """Print the results of A against B, and the verdict."""
    duel, counts = result.duel, result.counts
    advantage, margin = elo_difference(counts)
    bounds = "{:+.2f} to {:+.2f}".format(*duel.hypotheses.bounds)
    first, second = result.mean_ms()
    unit = duel.game.adapter.unit
    table = Table(title=f"{2 * result.pairs} of {duel.total} games", show_header=False)
    table.add_row("A", duel.first)
    table.add_row("B", duel.second)
    table.add_row("games A won, drew, lost", "{}, {}, {}".format(*result.outcomes))
    table.add_row("pairs by points of A", ", ".join(f"{half / 2:g}: {n}" for half, n in enumerate(counts)))
    table.add_row("Elo of A over B, 95 %", f"{advantage:+.0f} ± {margin:.0f}")
    table.add_row("likelihood of superiority", f"{100 * likelihood_of_superiority(counts):.1f} %")
    table.add_row("log-likelihood ratio", f"{result.llr:+.2f} ({bounds})")
    table.add_row("average margin of A", f"{result.mean_margin:+.1f} {unit}")
    table.add_row("average time per move", f"A {first:.3f} ms, B {second:.3f} ms")
    console = Console(highlight=False, markup=False)
    console.print(table)
    if reasons := [game.reason for game in result.results if game.reason]:
        console.print(f"games not played to the end: {len(reasons)}; reason for the first of them: {reasons[0]!r}")
    console.print(format_verdict(result))


def format_verdict(result: DuelResult) -> str:
    """Format the verdict in one line."""
    hypotheses = result.duel.hypotheses
    if result.verdict == "stronger":
        return f"A's advantage is more than {hypotheses.elo0:g} Elo" if hypotheses.elo0 else "A is stronger than B"
    if result.verdict == "not stronger":
        return f"A's advantage is less than {hypotheses.elo1:g} Elo"
    return result.verdict
