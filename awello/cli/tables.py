"""Tables that stay readable on a narrow terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Column, Table

FOLDED = 6  # letters of a long text that stand side by side at least
EDGES = 3  # letters that each column takes for its border and the space round its text


def print_table(console: Console, table: Table, wrapped: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Print a table of which the `wrapped` columns may take several lines.

    Where it is still too wide, `optional` columns are left out, the first of them first; a line says which.
    """
    for column in table.columns:
        column.no_wrap = column.header not in wrapped
        column.overflow = "fold"
    left_out = []
    for name in optional:
        if sum(_least_width(column) + EDGES for column in table.columns) + 1 <= console.width:
            break
        table.columns = [column for column in table.columns if column.header != name]
        left_out.append(name)
    console.print(table)
    if named := [name for name in left_out if name]:
        console.print(f"left out, because the terminal is narrow: {', '.join(named)}", style="dim")


def _least_width(column: Column) -> int:
    """The letters that a column needs at least."""
    texts = [str(column.header), *map(str, column.cells)]
    if column.no_wrap:
        return max(map(len, texts))
    return min(FOLDED, max(len(word) for text in texts for word in [*text.split(), ""]))
