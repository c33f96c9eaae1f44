"""Show a reviewed game: as a table and a chart in the terminal, or as a plot in a file.

Values are from the point of view of the first player, Black or South.
"""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from awello.analysis import format_value
from awello.review.review import MISTAKE_SCALES, MoveReview, ReviewSummary
from awello.rules.game import Game

MAX_PV_MOVES = 5  # moves of the best line in the table
MAX_CHART_WIDTH, HALF_HEIGHT = 60, 5  # in characters, and in rows above and below zero
AXIS_WIDTH = 6  # characters
MAX_BAR_WIDTH = 6  # characters
ROW_STEPS = (1, 2, 4, 6, 10, 13)  # discs or seeds per row of the chart
MARK_STYLES = {"": "", "?!": "cyan", "?": "yellow", "??": "bold red"}
GREEN, BLUE, ORANGE, RED = "#1e7a46", "#3b7ea1", "#e08a00", "#c22222"


def format_summary(name: str, summary: ReviewSummary, unit: str) -> str:
    """Format the summary of a side in one line; `unit` is discs or seeds."""
    if not summary.moves:
        return f"{name}: no moves to review (forced moves do not count)"
    loss = f"average loss {summary.mean_loss:.2f} {unit} per move"
    marks = f"{summary.inaccuracies} ?!, {summary.mistakes} ?, {summary.blunders} ??"
    return f"{name}: accuracy {summary.accuracy:.1f} %, {loss}; {marks}"


def format_legend(game: Game) -> str:
    """Format the legend of the table, in two lines."""
    scale = MISTAKE_SCALES[game.family]
    marks = f"?! inaccuracy from {scale.inaccuracy}, ? mistake from {scale.mistake}, ?? blunder from {scale.blunder}"
    return f"values in {game.adapter.unit} (= if exact)\nmarks by loss: {marks}"


def draw_table(reviews: Sequence[MoveReview]) -> Table:
    """Draw the moves with their values, losses and best moves."""
    first = reviews[0].position.game.sides[0]
    numbers = ("#", value := f"value for {first}", "loss")
    table = Table()
    for name in ("#", "side", "move", value, "loss", "best", "best line"):
        table.add_column(name, justify="right" if name in numbers else "left", no_wrap=True)
    for review in reviews:
        table.add_row(*_make_cells(review), style=MARK_STYLES[review.mark] if review.is_choice else "dim")
    return table


def _make_cells(review: MoveReview) -> list[str]:
    """Format the cells of a move; the best move is shown only if it is better than the played one."""
    position, names = review.position, review.position.format_moves(review.pv)
    lost = review.loss > 0
    return [
        str(review.ply),
        position.side_name,
        f"{position.format_move(review.move)} {review.mark}".strip(),
        format_value(review.first_player_value, review.exact),
        format_value(review.loss).removeprefix("+") if lost else "",
        position.format_move(review.best_move) if lost else "",
        " ".join(names[:MAX_PV_MOVES]) + (" …" if len(names) > MAX_PV_MOVES else "") if review.is_choice else "",
    ]


def draw_chart(reviews: Sequence[MoveReview], plies: int, width: int = 80) -> Text:
    """Draw the value after each move as a bar, upwards if Black or South is better.

    Mistakes and blunders are marked on the zero line.  If the chart does not fit the width, it is drawn in several
    sections.
    """
    chart_width = max(1, width - AXIS_WIDTH)
    bar_width = min(max(1, min(MAX_CHART_WIDTH, chart_width) // plies), MAX_BAR_WIDTH)
    max_value = max(abs(review.first_player_value) for review in reviews)
    step = next((step for step in ROW_STEPS if max_value <= HALF_HEIGHT * step), ROW_STEPS[-1])
    first, second = reviews[0].position.game.sides
    text = Text(f"value after each move: above the line {first} is better, below it {second}\n")
    length = chart_width // bar_width
    sections = [range(begin, min(begin + length, plies + 1)) for begin in range(1, plies + 1, length)]
    return text.append(Text("\n").join(_draw_section(reviews, section, bar_width, step) for section in sections))


def _draw_section(reviews: Sequence[MoveReview], section: range, bar_width: int, step: int) -> Text:
    """Draw a section of the chart, with move numbers below."""
    text = Text()
    for row in range(HALF_HEIGHT, -HALF_HEIGHT - 1, -1):
        text.append(f"{row * step:+4d} ┤" if row else "   0 ┼")
        cells = dict.fromkeys(section, (" " if row else "─", ""))
        cells |= {review.ply: _draw_bar(review, row, step) for review in reviews if review.ply in section}
        for symbol, style in cells.values():
            text.append(symbol * bar_width if symbol != "?" else "?".ljust(bar_width, "─"), style)
        text.append("\n")
    return text.append(" " * AXIS_WIDTH + _format_scale(section, bar_width))


def _draw_bar(review: MoveReview, row: int, step: int) -> tuple[str, str]:
    """Return the character of a move's bar in a row, at half-character resolution, and its style."""
    if row == 0:
        return ("?", MARK_STYLES[review.mark]) if review.mark in ("?", "??") else ("─", "")
    value = review.first_player_value if row > 0 else -review.first_player_value
    halves = max(1, round(2 * value / step)) if value >= 0.5 else 0
    above = halves - 2 * (abs(row) - 1)
    symbol = "█" if above >= 2 else ("▄" if row > 0 else "▀") if above == 1 else " "
    return symbol, "green" if review.exact else "cyan"


def _format_scale(section: range, bar_width: int) -> str:
    """Format the move numbers below the chart, each at the start of its bar."""
    scale, interval = "", 10 if bar_width == 1 else 5
    for ply in section:
        column = (ply - section.start) * bar_width
        if ply == section.start or (ply % interval == 0 and column > len(scale)):
            scale = scale.ljust(column) + str(ply)
    return scale


def plot_review(axes: Any, reviews: Sequence[MoveReview]) -> None:
    """Plot the value after each move; colour inaccuracies, mistakes and blunders; shade the exact values."""
    game = reviews[0].position.game
    first, unit = game.sides[0], game.adapter.unit
    axes.axhline(0, color="#888", linewidth=1)
    axes.plot(*_points(reviews), color=GREEN, marker=".", label=f"value for {first}")
    for mark, colour, name in (("?!", BLUE, "inaccuracy"), ("?", ORANGE, "mistake"), ("??", RED, "blunder")):
        if marked := [review for review in reviews if review.mark == mark]:
            axes.plot(*_points(marked), "o", color=colour, label=name)
    solved = [review.ply for review in reviews if review.exact]
    if solved:
        axes.axvspan(min(solved) - 0.5, max(solved) + 0.5, color=GREEN, alpha=0.1, label="exact")
    axes.set(xlabel="move", ylabel=f"{unit} for {first}")


def _points(reviews: Sequence[MoveReview]) -> tuple[list[int], list[float]]:
    return [review.ply for review in reviews], [review.first_player_value for review in reviews]
