"""Tables that stay readable on a narrow terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Column, Table

MIN_WRAPPED_CHARS = 6  # minimum width of a wrapped column
COLUMN_PADDING_CHARS = 3  # border and spaces of a column


def print_table(console: Console, table: Table, wrapped: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Print a table; only cells of the `wrapped` columns may span several lines.

    If the table is still too wide, `optional` columns are omitted in the given order and named below the table.
    """
    for column in table.columns:
        column.no_wrap = column.header not in wrapped
        column.overflow = "fold"
    omitted = []
    for name in optional:
        if sum(_compute_min_width(column) + COLUMN_PADDING_CHARS for column in table.columns) + 1 <= console.width:
            break
        table.columns = [column for column in table.columns if column.header != name]
        omitted.append(name)
    console.print(table)
    if named := [name for name in omitted if name]:
        console.print(f"columns omitted on this narrow terminal: {', '.join(named)}", style="dim")


def _compute_min_width(column: Column) -> int:
    """Return the minimum width of a column in characters."""
    texts = [str(column.header), *map(str, column.cells)]
    if column.no_wrap:
        return max(map(len, texts))
    return min(MIN_WRAPPED_CHARS, max(len(word) for text in texts for word in [*text.split(), ""]))
