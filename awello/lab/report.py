"""Write reports: folders with the text as Markdown and HTML, tables as CSV, and plots as PNG and SVG."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

from awello.errors import ConfigError, join_choices
from awello.folders import replace_atomically

PLOT_FORMATS = (".svg", ".png")
Draw = Callable[[Any], None]
STYLE = """<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: 1rem 0 } th, td { border: 1px solid #ccc; padding: .25rem .6rem }
th { background: #eef3ee } td:not(:first-child) { text-align: right } img { max-width: 100% }
code { background: #f3f3f3; padding: 0 .2rem } @media (prefers-color-scheme: dark) {
body { background: #1b1e1c; color: #ddd } th { background: #2a332d } th, td { border-color: #444 }
code { background: #2a2d2b } img { background: #fff } }
</style>"""


def require_matplotlib() -> None:
    """Raise `ConfigError` if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise ConfigError("plots need matplotlib: install it with pip install 'awello[lab]'") from None


def check_plot(path: Path) -> None:
    """Raise `ConfigError` if a plot cannot be written to a path."""
    if path.suffix.lower() not in PLOT_FORMATS:
        raise ConfigError(f"cannot plot to {str(path)!r}: choose a file name that ends in {join_choices(PLOT_FORMATS)}")
    if not path.parent.is_dir():
        raise ConfigError(f"cannot plot to {str(path)!r}: there is no folder {str(path.parent)!r}; create it first")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise ConfigError(f"cannot plot to {str(path)!r}: it is not a regular file; choose another name")
    require_matplotlib()


def write_plot(path: Path, draw: Draw) -> None:
    """Write a plot atomically."""
    try:
        with replace_atomically(path) as file:
            _make_figure(draw).savefig(file, dpi=120, format=path.suffix.lower().removeprefix("."))
    except OSError as error:
        raise ConfigError(f"cannot write {str(path)!r}: {error.strerror}; choose another file") from None


def _make_figure(draw: Draw) -> Any:
    """Make a figure, and let `draw` plot on its axes."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    draw(axes)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    return figure


class Report:
    """Collects text, tables and plots, and writes the report."""

    def __init__(self, folder: Path, title: str) -> None:
        require_matplotlib()
        self.folder, self.parts = folder, [f"# {title}"]

    def add_text(self, *paragraphs: str) -> None:
        """Add paragraphs of Markdown."""
        self.parts += paragraphs

    def add_table(self, name: str, caption: str, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """Add a table and write it as `name.csv`; empty columns are omitted."""
        columns = [column for column in range(len(header)) if any(row[column] is not None for row in rows)]
        header, rows = [header[column] for column in columns], [[row[column] for column in columns] for row in rows]
        with (self.folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        lines = [header, ["---"] * len(header), *([_format_cell(value) for value in row] for row in rows)]
        self.parts.append(f"**{caption}** ([{name}.csv]({name}.csv))")
        self.parts.append("\n".join("| " + " | ".join(line) + " |" for line in lines))

    def add_plot(self, name: str, caption: str, draw: Draw) -> None:
        """Add a plot drawn by `draw` and write it as `name.png` and `name.svg`."""
        figure = _make_figure(draw)
        for kind in ("png", "svg"):
            figure.savefig(self.folder / f"{name}.{kind}", dpi=120)
        self.parts.append(f"![{caption}]({name}.svg)\n\n*{caption}*")

    def write(self) -> None:
        """Write report.md and report.html."""
        text = "\n\n".join(self.parts) + "\n"
        (self.folder / "report.md").write_text(text, "utf-8")
        body = MarkdownIt("commonmark").enable("table").render(text)
        title = self.parts[0].removeprefix("# ")
        head = f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>{STYLE}</head>'
        (self.folder / "report.html").write_text(f"{head}<body>{body}</body></html>\n", "utf-8")


def _format_cell(value: object) -> str:
    """Format a value for a cell of a Markdown table."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 10 else f"{value:,.1f}" if abs(value) < 10_000 else f"{value:,.0f}"
    return str(value).replace("|", "\\|")
