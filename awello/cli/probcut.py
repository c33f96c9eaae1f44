"""`awello probcut`: measure the error of shallow searches, to tune ProbCut."""

from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import app
from awello.cli.options import Json
from awello.cli.output import print_json
from awello.cli.progress import show_step_progress
from awello.lab.probcut import SAMPLED_EMPTIES, measure_differences, write_report
from awello.lab.report import require_matplotlib


@app.command()
def probcut(
    positions: Annotated[
        int, typer.Option(min=2, help="Number of positions for each number of empty squares", metavar="N")
    ] = 60,
    seed: Annotated[int, typer.Option(help="Random seed for choosing the positions", metavar="SEED")] = 0,
    out: Annotated[Path, typer.Option(help="Folder to write to", metavar="FOLDER")] = Path("lab-probcut"),
    json: Json = False,
) -> None:
    """Measure the error of shallow searches, to tune ProbCut.

    Writes a report, and the file probcut.json for the engine.
    """
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    with show_step_progress("probcut", positions * len(SAMPLED_EMPTIES)) as step:
        differences = measure_differences(positions, seed, step)
    fits = write_report(differences, out)
    if json:
        print_json({kind: fit.coefficients | {"error": fit.error} for kind, fit in fits.items()})
        return
    for kind, fit in fits.items():
        listed = " ".join(f"{value:+.3f} {name}" for name, value in fit.coefficients.items())
        print(f"searches to {'a fixed depth' if kind == 'depth' else 'the end'}: {listed}, error {fit.error:.2f} discs")
    print(f"the report is {out / 'report.md'}; to use the coefficients, copy {out / 'probcut.json'} to awello/data")
