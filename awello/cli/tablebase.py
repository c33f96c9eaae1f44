"""`awello tablebase`: build and list the Awalé tablebases."""

import time
from typing import Annotated

import typer

from awello.cli.app import app
from awello.cli.options import Json, Threads, Variant
from awello.cli.output import print_json, print_result
from awello.cli.progress import show_step_progress
from awello.engine.tablebase import TOTAL_PROGRESS, build_tablebase, find_tablebase, tablebase_folder, verify_tablebase
from awello.rules.game import Game, find_game

MIB = 1 << 20

tablebase = typer.Typer(help="Build and list the Awalé tablebases.", no_args_is_help=True)
app.add_typer(tablebase, name="tablebase")


@tablebase.command()
def build(
    seeds: Annotated[int, typer.Option(min=1, max=28, help="Maximum number of seeds on the board", metavar="N")],
    variant: Variant = None,
    threads: Threads = 1,
    json: Json = False,
) -> None:
    """Solve all positions with up to N seeds.

    17 seeds need 50 MiB and about ten seconds; each additional seed multiplies both by about 1.6. Positions with fewer
    seeds are solved first. If you press Ctrl-C while positions with K seeds are being solved, the tablebase is saved
    with all positions of fewer than K seeds.
    """
    game, started = find_game("awale", variant=variant), time.perf_counter()
    with show_step_progress(f"{game}, {seeds} seeds", TOTAL_PROGRESS) as step:
        base = build_tablebase(game, seeds, threads, step)
    seconds = time.perf_counter() - started
    size = base.table.size
    content = {"variant": str(game), "seeds": base.seeds, "positions": size, "seconds": seconds}
    solved = f"{size:,} positions of {game} with up to {seeds} seeds solved in {seconds:.1f} s"
    text = f"{solved} and saved in {tablebase_folder()}"
    print_result(content, text, json)


@tablebase.command()
def show(json: Json = False) -> None:
    """List the tablebases and verify their checksums."""
    tablebases = [base for game in Game if game.family == "awale" and (base := find_tablebase(game))]
    intact = {base.game: verify_tablebase(base.game) for base in tablebases}
    if json:
        print_json({str(base.game): {"seeds": base.seeds, "intact": intact[base.game]} for base in tablebases})
        return
    for base in tablebases:
        state = "intact" if intact[base.game] else "DAMAGED: remove it and build it again"
        print(f"{base.game!s:<11} up to {base.seeds} seeds, {base.table.size / MIB:,.1f} MiB, {state}")
    if not tablebases:
        print("no tablebases yet: build one with 'awello tablebase build --seeds 17'")
