"""`awello probcut`: measure again how far shallow searches are from deep ones."""

from pathlib import Path
from typing import Annotated

import typer

from awello.cli.app import Json, app, print_json, progress
from awello.lab.probcut import EMPTIES, measure_differences, write_report
from awello.lab.report import require_matplotlib


@app.command()
def probcut(
    positions: Annotated[int, typer.Option(min=2, help="Positions for each number of empty squares", metavar="N")] = 60,
    seed: Annotated[int, typer.Option(help="The same seed gives the same positions", metavar="S")] = 0,
    out: Annotated[Path, typer.Option(help="Folder to write", metavar="DIR")] = Path("lab-probcut"),
    json: Json = False,
) -> None:
    """Measure the errors behind probable cuts, and write a report and the probcut.json that the engine reads."""
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    with progress("probcut", positions * len(EMPTIES)) as step:
        differences = measure_differences(positions, seed, step)
    fits = write_report(differences, out)
    if json:
        print_json({kind: found.coefficients | {"error": found.error} for kind, found in fits.items()})
        return
    for kind, found in fits.items():
        terms = " ".join(f"{value:+.3f} {term}" for term, value in found.coefficients.items())
        print(f"searches to {'a depth' if kind == 'depth' else 'the end'}: {terms}, error {found.error:.2f} discs")
    print(f"the report is {out / 'report.md'}; to use the figures, copy {out / 'probcut.json'} to awello/data")
