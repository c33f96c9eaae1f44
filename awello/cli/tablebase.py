"""`awello tablebase`: the solved endgames of Awalé, made and checked."""

import time
from typing import Annotated

import typer

from awello.cli.app import Json, Threads, Variant, app, print_json, print_result, progress
from awello.engine.tablebase import PROGRESS_PARTS, build_tablebase, find_tablebase, tablebase_folder, verify_tablebase
from awello.rules.game import Game, find_game

tablebase = typer.Typer(help="The solved endgames of Awalé: make them, see what is there.", no_args_is_help=True)
app.add_typer(tablebase, name="tablebase")


@tablebase.command()
def build(
    seeds: Annotated[int, typer.Option(min=1, max=28, help="Seeds on the board, up to which to solve", metavar="N")],
    variant: Variant = None,
    threads: Threads = 1,
    json: Json = False,
) -> None:
    """Solve all positions of up to N seeds and keep their values; Ctrl-C keeps the levels that are finished.

    17 seeds take 52 MB and some ten seconds, each further seed 1.6 times as much.
    """
    game, begun = find_game("awale", variant=variant), time.perf_counter()
    with progress(f"{game}, {seeds} seeds", PROGRESS_PARTS) as step:
        base = build_tablebase(game, seeds, threads, step)
    seconds = time.perf_counter() - begun
    size = base.table.size
    content = {"variant": str(game), "seeds": base.seeds, "positions": size, "seconds": seconds}
    text = f"{size:,} positions of up to {seeds} seeds, {game}, in {seconds:.1f} s; kept in {tablebase_folder()}"
    print_result(content, text, json)


@tablebase.command()
def show(json: Json = False) -> None:
    """What tables there are, and whether their checksums are right."""
    there = [base for game in Game if game.family == "awale" and (base := find_tablebase(game))]
    whole = {base.game: verify_tablebase(base.game) for base in there}
    if json:
        print_json({str(base.game): {"seeds": base.seeds, "whole": whole[base.game]} for base in there})
        return
    for base in there:
        state = "whole" if whole[base.game] else "DAMAGED: remove it and build it again"
        print(f"{base.game!s:<11} up to {base.seeds} seeds, {base.table.size / 1e6:,.1f} MB, {state}")
    if not there:
        print("no tables yet: 'awello tablebase build --seeds 17' makes one")
