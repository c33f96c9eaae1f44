"""`awello bench`: measure the speed and the node signature of the champion's search."""

from rich.console import Console
from rich.table import Table

from awello.cli.app import app
from awello.cli.options import Json, Threads
from awello.cli.output import print_json
from awello.cli.progress import show_step_progress
from awello.engine.bench import BENCH_GAMES, run_bench


@app.command()
def bench(threads: Threads = 1, json: Json = False) -> None:
    """Search a fixed set of positions and report the speed.

    With one thread, the number of nodes is a signature of the search: it changes only if the search changes.
    """

    rows = []
    with show_step_progress("bench", 3 * len(BENCH_GAMES)) as step:
        for row in run_bench(threads):
            rows.append(row)
            step()
    nodes, seconds = sum(row.nodes for row in rows), sum(row.seconds for row in rows)
    if json:
        print_json({"signature": nodes, "searches": len(rows), "seconds": seconds, "threads": threads})
        return
    table = Table("search", "empty", "value", "nodes", "M nodes/s")
    for row in rows:
        rate = row.nodes / row.seconds / 1e6
        table.add_row(row.description, str(row.position.empties), f"{row.value:+.0f}", f"{row.nodes:,}", f"{rate:.1f}")
    Console().print(table)
    word = "signature" if threads == 1 else "nodes"
    print(f"{word} {nodes:,} in {seconds:.2f} s, {nodes / seconds / 1e6:.1f} M nodes/s")
