"""A reviewed game for people's eyes: a table and a chart for the terminal, a plot for a page.

Values are turned round here to the view of the first player, Black or South, so that one curve tells the whole game.
"""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from awello.analysis import format_value
from awello.review.review import SCALES, MoveReview, ReviewSummary
from awello.rules.game import Game

LINE = 5  # moves of the best line that are shown
COLUMNS, ROWS = 60, 5  # the chart: its usual width, and its rows above and below zero
AXIS = 6  # letters for the values to the left of it
WIDEST = 6  # letters of a bar in a short game
STEPS = (1, 2, 4, 6, 10, 13)  # discs or seeds that a row of the chart may stand for
STYLES = {"": "", "?!": "cyan", "?": "yellow", "??": "bold red"}
GREEN, BLUE, ORANGE, RED = "#1e7a46", "#3b7ea1", "#e08a00", "#c22222"


def format_summary(name: str, summary: ReviewSummary) -> str:
    """How well a side played, in a line."""
    if not summary.moves:
        return f"{name}: no choice to judge"
    choices = f"{summary.moves} choice{'s' * (summary.moves != 1)}"
    marks = f"{summary.inaccuracies} ?!, {summary.mistakes} ?, {summary.blunders} ??"
    return f"{name}: accuracy {summary.accuracy:.1f} %, mean loss {summary.mean_loss:.2f} in {choices}; {marks}"


def legend(game: Game) -> str:
    """What the signs of the table mean."""
    scale = SCALES[game.family]
    losses = f"?! {scale.inaccuracy} (inaccuracy), ? {scale.mistake} (mistake), ?? {scale.blunder} (blunder)"
    return f"in {game.adapter.unit}; = exact; lost: {losses}"


def draw_table(judgements: Sequence[MoveReview]) -> Table:
    """The moves in their order, each with its value, its loss and what was better."""
    first = judgements[0].position.game.sides[0]
    numbers = ("#", value := f"value for {first}", "loss")
    table = Table()
    for name in ("#", "side", "move", value, "loss", "best", "best line"):
        table.add_column(name, justify="right" if name in numbers else "left", no_wrap=True)
    for judgement in judgements:
        table.add_row(*_cells(judgement), style=STYLES[judgement.mark] if judgement.choice else "dim")
    return table


def _cells(judgement: MoveReview) -> list[str]:
    """A move as a row of the table; what was better is only named if something was."""
    position, names = judgement.position, judgement.position.format_moves(judgement.line)
    lost = judgement.loss > 0
    return [
        str(judgement.ply),
        position.mover,
        f"{position.format_move(judgement.move)} {judgement.mark}".strip(),
        format_value(judgement.first_value, judgement.exact),
        format_value(judgement.loss).removeprefix("+") if lost else "",
        position.format_move(judgement.best_move) if lost else "",
        " ".join(names[:LINE]) + (" …" if len(names) > LINE else "") if judgement.choice else "",
    ]


def draw_chart(judgements: Sequence[MoveReview], plies: int, width: int = 80) -> Text:
    """The value after each move of a game as bars, Black's or South's upwards, mistakes marked on the zero line.

    A game with more moves than the width has room for is drawn in several parts.
    """
    room = max(1, width - AXIS)
    wide = min(max(1, min(COLUMNS, room) // plies), WIDEST)
    most = max(abs(judgement.first_value) for judgement in judgements)
    step = next((step for step in STEPS if most <= ROWS * step), STEPS[-1])
    first, second = judgements[0].position.game.sides
    text = Text(f"value after each move: {first} is better above the line, {second} below\n")
    length = room // wide
    parts = [range(begin, min(begin + length, plies + 1)) for begin in range(1, plies + 1, length)]
    return text.append(Text("\n").join(_draw_part(judgements, part, wide, step) for part in parts))


def _draw_part(judgements: Sequence[MoveReview], part: range, wide: int, step: int) -> Text:
    """The chart of some moves, and their numbers under it."""
    text = Text()
    for row in range(ROWS, -ROWS - 1, -1):
        text.append(f"{row * step:+4d} ┤" if row else "   0 ┼")
        cells = dict.fromkeys(part, (" " if row else "─", ""))
        cells |= {judgement.ply: _bar(judgement, row, step) for judgement in judgements if judgement.ply in part}
        for letter, style in cells.values():
            text.append(letter * wide if letter != "?" else "?".ljust(wide, "─"), style)
        text.append("\n")
    return text.append(" " * AXIS + _scale(part, wide))


def _bar(judgement: MoveReview, row: int, step: int) -> tuple[str, str]:
    """What a row of the chart shows of a move's bar, half a letter at a time, and in which style."""
    if row == 0:
        return ("?", STYLES[judgement.mark]) if judgement.mark in ("?", "??") else ("─", "")
    value = judgement.first_value if row > 0 else -judgement.first_value
    halves = max(1, round(2 * value / step)) if value >= 0.5 else 0
    above = halves - 2 * (abs(row) - 1)
    letter = "█" if above >= 2 else ("▄" if row > 0 else "▀") if above == 1 else " "
    return letter, "green" if judgement.exact else "cyan"


def _scale(part: range, wide: int) -> str:
    """The numbers of the moves under the chart, each where its bar begins."""
    scale, distance = "", 10 if wide == 1 else 5
    for ply in part:
        at = (ply - part.start) * wide
        if ply == part.start or (ply % distance == 0 and at > len(scale)):
            scale = scale.ljust(at) + str(ply)
    return scale


def plot_review(axes: Any, judgements: Sequence[MoveReview]) -> None:
    """Draw the value by move on the axes of a plot: mistakes dotted, the solved part shaded."""
    game = judgements[0].position.game
    first, unit = game.sides[0], game.adapter.unit
    axes.axhline(0, color="#888", linewidth=1)
    axes.plot(*_points(judgements), color=GREEN, marker=".", label=f"value for {first}")
    for mark, colour, name in (("?!", BLUE, "inaccuracy"), ("?", ORANGE, "mistake"), ("??", RED, "blunder")):
        if found := [judgement for judgement in judgements if judgement.mark == mark]:
            axes.plot(*_points(found), "o", color=colour, label=name)
    solved = [judgement.ply for judgement in judgements if judgement.exact]
    if solved:
        axes.axvspan(min(solved) - 0.5, max(solved) + 0.5, color=GREEN, alpha=0.1, label="exact")
    axes.set(xlabel="move", ylabel=f"{unit} for {first}")


def _points(judgements: Sequence[MoveReview]) -> tuple[list[int], list[float]]:
    return [judgement.ply for judgement in judgements], [judgement.first_value for judgement in judgements]
