"""`awello train`: players that learn, each by its own command."""

from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import Json, app, print_json, progress

train = typer.Typer(help="Learn what players need to know.", no_args_is_help=True)
app.add_typer(train, name="train")


@train.command()
def patterns(
    data: Annotated[Path, typer.Option(help="Folder with wthor/*.wtb and games/*.gz", metavar="DIR")],
    out: Annotated[Path, typer.Option(help="The file to write", metavar="FILE")] = Path("patterns.npz"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same weights", metavar="S")] = 1,
    json: Json = False,
) -> None:
    """Learn what Othello's patterns are worth from the finished games of a folder; takes some minutes."""
    import numpy as np

    from awello.evaluate.patterns import FIRST, WIDTH
    from awello.learn.patterns import PASSES, PASSES_FIRST, STAGES, collect, fit, read_games

    examples = collect(read_games(data))
    rows, weights = [], []
    with progress("train patterns", PASSES_FIRST + PASSES * (STAGES - 1)) as step:
        for fitted in fit(examples, step, seed):
            weights.append(fitted.weights)
            empties = FIRST + WIDTH * fitted.stage
            rows.append({"empties": empties, "examples": fitted.examples, "error": fitted.error})
            if not json:
                print(f"{empties:3d} empty squares: {fitted.examples:9,d} examples, error {fitted.error:.2f} discs")
    np.savez_compressed(out, weights=np.array(weights[::-1]))
    if json:
        print_json({"stages": rows, "file": str(out)})
    else:
        print(f"written to {out}")
