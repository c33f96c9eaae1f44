"""Draw boards: coloured text for a terminal, SVG for notebooks and the web API.

The functions receive the legal moves from the caller, so they need not apply the rules.
"""

import math
from collections.abc import Sequence

from rich.text import Text

from awello.rules import awale, othello
from awello.rules.game import Game

MARGIN, CELL = 28, 50
FELT = "on green"
STYLES = {
    "X": f"bold black {FELT}",
    "O": f"bold bright_white {FELT}",
    "+": f"bright_yellow {FELT}",
    "-": f"black {FELT}",
}
WOOD, WOOD_DARK, SEED = "#c89b6b", "#9a6b3f", "#5b3a1e"


def draw_text(game: Game, first: int, second: int, side: int, legal: Sequence[int]) -> Text:
    """Draw the board as text, in colour if the terminal supports it."""
    return RENDERERS[game.family][0](game, first, second, side, legal)


def draw_svg(game: Game, first: int, second: int, side: int, legal: Sequence[int]) -> str:
    """Draw the board as an SVG picture."""
    return RENDERERS[game.family][1](game, first, second, side, legal)


def _draw_othello(game: Game, black: int, white: int, side: int, legal: Sequence[int]) -> Text:
    size = game.size
    text = Text("   " + " ".join(othello.COLUMN_LETTERS[:size]) + "\n")
    for row in range(size):
        text.append(f"{row + 1:>2} ")
        for column in range(size):
            square = othello.square_at(column, row, size)
            letter = "X" if black >> square & 1 else "O" if white >> square & 1 else "+" if square in legal else "-"
            text.append(letter, STYLES[letter])
            text.append(" " if column < size - 1 else "", FELT)
        text.append("\n")
    counts = f"Black X {black.bit_count()}, White O {white.bit_count()}"
    return text.append(f"{counts}; {_describe_turn(game, side, legal)}")


def _draw_awale(game: Game, south: int, north: int, side: int, legal: Sequence[int]) -> Text:
    rule = "+----" * 6 + "+\n"
    text = Text()
    for owner, word in ((1, north), (0, south)):
        order = range(5, -1, -1) if owner else range(6)
        names = "".join(f"   {awale.PIT_NAMES[owner][pit]} " for pit in order).rstrip() + "\n"
        text.append(names + rule if owner else "")
        for pit in order:
            playable = owner == side and pit in legal
            text.append("|").append(f" {awale.pits_of(word)[pit]:>2} ", "bold reverse" if playable else "bold")
        text.append("|\n" + rule + ("" if owner else names))
    return text.append(f"captured: South {south >> 48}, North {north >> 48}; {_describe_turn(game, side, legal)}")


def _describe_turn(game: Game, side: int, legal: Sequence[int]) -> str:
    return f"{game.sides[side]} to move" if legal else "the game is over"


def format_svg(width: int, height: int, shapes: list[str]) -> str:
    """Wrap shapes in an SVG document."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">'
    return "\n".join([head, *shapes, "</svg>\n"])


def _svg_label(x: float, y: float, text: str, size: int = 14, colour: str = "#666") -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}" text-anchor="middle" '
        f'dominant-baseline="central">{text}</text>'
    )


def _svg_circle(x: float, y: float, radius: float, fill: str, stroke: str = "none") -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}" stroke="{stroke}"/>'


def _svg_othello(game: Game, black: int, white: int, side: int, legal: Sequence[int]) -> str:
    size = game.size
    board = size * CELL
    shapes = [f'<rect x="{MARGIN}" y="{MARGIN}" width="{board}" height="{board}" fill="#1e7a46"/>']
    for line in range(size + 1):
        at = MARGIN + line * CELL
        shapes.append(f'<path d="M{MARGIN} {at}h{board}M{at} {MARGIN}v{board}" stroke="#12502d" stroke-width="1.5"/>')
    for line in range(size):
        middle = MARGIN + (line + 0.5) * CELL
        shapes += [
            _svg_label(middle, MARGIN / 2, othello.COLUMN_LETTERS[line]),
            _svg_label(MARGIN / 2, middle, str(line + 1)),
        ]
    for index, square in enumerate(othello.squares_of(size)):
        x, y = (MARGIN + (line + 0.5) * CELL for line in (index % size, index // size))
        if black >> square & 1:
            shapes.append(_svg_circle(x, y, 0.42 * CELL, "#15181a", "#000"))
        elif white >> square & 1:
            shapes.append(_svg_circle(x, y, 0.42 * CELL, "#f5f5f0", "#9a9a92"))
        elif square in legal:
            shapes.append(_svg_circle(x, y, 0.1 * CELL, "#9fd6b4"))
    return format_svg(board + 2 * MARGIN, board + 2 * MARGIN, shapes)


def _svg_awale(game: Game, south: int, north: int, side: int, legal: Sequence[int]) -> str:
    step, store = 84, 74
    width, height = 2 * store + 6 * step, 250
    shapes = [f'<rect x="2" y="22" width="{width - 4}" height="206" rx="40" fill="{WOOD}" stroke="{WOOD_DARK}"/>']
    for owner, word in ((1, north), (0, south)):
        y = 175 - 100 * owner
        for pit, seeds in enumerate(awale.pits_of(word)):
            x = store + step * ((5 - pit if owner else pit) + 0.5)
            playable = owner == side and pit in legal
            shapes.append(_svg_circle(x, y, 36, "#b3804f", "#f7e3b5" if playable else WOOD_DARK))
            shapes += _svg_seeds(x, y + (6 if owner else -6), seeds)
            shapes.append(_svg_label(x, y + (-28 if owner else 28), str(seeds), 14, "#fff"))
            shapes.append(_svg_label(x, 11 if owner else 240, awale.PIT_NAMES[owner][pit]))
        x = store / 2 if owner else width - store / 2
        shapes += [
            _svg_label(x, 112, game.sides[owner], 14, "#3c2815"),
            _svg_label(x, 136, str(word >> 48), 22, "#3c2815"),
        ]
    return format_svg(width, height, shapes)


def _svg_seeds(x: float, y: float, seeds: int) -> list[str]:
    """Arrange the seeds of a pit in a sunflower spiral, so that any number fits."""
    shapes = []
    for index in range(seeds):
        radius, angle = 19 * math.sqrt((index + 0.5) / max(seeds, 8)), 2.39996 * index
        shapes.append(_svg_circle(x + radius * math.cos(angle), y + radius * math.sin(angle), 3.6, SEED, "#3c2512"))
    return shapes


RENDERERS = {"othello": (_draw_othello, _svg_othello), "awale": (_draw_awale, _svg_awale)}
