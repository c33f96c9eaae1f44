"""Pictures for the notebooks in this folder: boards side by side, and the probabilities of moves on a board.

The functions take words and numbers and return SVG; they do not depend on the rules.
"""

from collections.abc import Iterator, Mapping, Sequence

from awello import Position

BOARD_COLOUR, LINE_COLOUR, BLACK_COLOUR, WHITE_COLOUR, MARK_COLOUR = (
    "#1e7a46",
    "#12502d",
    "#15181a",
    "#f5f5f0",
    "#f2b441",
)
BACKGROUND_COLOUR, GRID_COLOUR, SET_BIT_COLOUR = "#f4f4f1", "#ccc", "#2a5d8f"
GAP_PIXELS, CAPTION_PIXELS, EDGE_PIXELS = 14, 20, 16  # between boards, for names, for coordinates


class Picture:
    """An SVG that a notebook displays if it is the value of a cell."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def __repr__(self) -> str:
        return "<a picture>"

    def _repr_svg_(self) -> str:
        return self.svg


def show(boards: Mapping[str, int | tuple[int, ...]], across: int = 6, cell: int = 14) -> Picture:
    """Draw small boards by name: one word as bits, two words as black and white discs; a third one marks squares."""
    shapes = {
        name: _discs(*board, cell=cell) if isinstance(board, tuple) else _bits(board, cell)
        for name, board in boards.items()
    }
    return _gallery(shapes, across, 8 * cell)


def show_policies(boards: Mapping[str, tuple[Position, Sequence[float]]], across: int = 2, cell: int = 36) -> Picture:
    """Draw positions by name, each with the probabilities of the squares in percent; larger ones are brighter."""
    shapes = {}
    for name, (position, policy) in boards.items():
        board = _discs(position.first, position.second, cell=cell)
        for square, probability in enumerate(policy):
            if probability >= 0.005:
                board += f'<g opacity="{probability**0.5:.2f}">{_fill(1 << square, cell, MARK_COLOUR)}</g>'
                board += _text(
                    *_middle(square, cell), f"{100 * probability:.0f}", 13, "#fff" if probability < 0.2 else "#000"
                )
        for index in range(8):
            board += _text(_middle(index, cell)[0], -EDGE_PIXELS / 2, "abcdefgh"[index], 11)
            board += _text(-EDGE_PIXELS / 2, _middle(8 * index, cell)[1], str(index + 1), 11)
        shapes[name] = f'<g transform="translate({EDGE_PIXELS} {EDGE_PIXELS})">{board}</g>'
    return _gallery(shapes, across, 8 * cell + EDGE_PIXELS)


def _bits(word: int, cell: int) -> str:
    """Draw a board with the squares of a word filled."""
    return _ground(cell, BACKGROUND_COLOUR) + _fill(word, cell, SET_BIT_COLOUR) + _grid(cell, GRID_COLOUR)


def _discs(black: int, white: int, marked: int = 0, cell: int = 14) -> str:
    """Draw a board with discs and marked squares."""
    board = _ground(cell, BOARD_COLOUR) + _fill(marked, cell, MARK_COLOUR) + _grid(cell, LINE_COLOUR)
    for word, colour in ((black, BLACK_COLOUR), (white, WHITE_COLOUR)):
        for square in _squares(word):
            x, y = _middle(square, cell)
            board += f'<circle cx="{x:g}" cy="{y:g}" r="{0.4 * cell:g}" fill="{colour}"/>'
    return board


def _squares(word: int) -> Iterator[int]:
    return (square for square in range(64) if word >> square & 1)


def _middle(square: int, cell: int) -> tuple[float, float]:
    return (square % 8 + 0.5) * cell, (square // 8 + 0.5) * cell


def _ground(cell: int, colour: str) -> str:
    return f'<path d="M0 0h{8 * cell}v{8 * cell}h-{8 * cell}z" fill="{colour}"/>'


def _fill(word: int, cell: int, colour: str) -> str:
    lines = (f"M{square % 8 * cell} {square // 8 * cell}h{cell}v{cell}h-{cell}z" for square in _squares(word))
    return f'<path d="{"".join(lines)}" fill="{colour}"/>'


def _grid(cell: int, colour: str) -> str:
    lines = (f"M0 {offset}h{8 * cell}M{offset} 0v{8 * cell}" for offset in range(0, 9 * cell, cell))
    return f'<path d="{"".join(lines)}" stroke="{colour}"/>'


def _text(x: float, y: float, text: str, size: int, colour: str = "#777") -> str:
    attributes = f'x="{x:g}" y="{y:g}" font-size="{size}" fill="{colour}"'
    return f'<text {attributes} text-anchor="middle" dominant-baseline="central">{text}</text>'


def _gallery(shapes: Mapping[str, str], across: int, side: int) -> Picture:
    """Arrange boards of one size in rows, each with its name below."""
    across = min(across, len(shapes))
    column_width, row_height = side + GAP_PIXELS, side + CAPTION_PIXELS + GAP_PIXELS
    parts = []
    for index, (name, board) in enumerate(shapes.items()):
        caption = name.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        x, y = index % across * column_width + GAP_PIXELS / 2, index // across * row_height + GAP_PIXELS / 2
        label = _text(side / 2, side + CAPTION_PIXELS / 2 + 2, caption, 11)
        parts.append(f'<g transform="translate({x:g} {y:g})">{board}{label}</g>')
    width, height = across * column_width, -(-len(shapes) // across) * row_height
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return Picture(f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif">{"".join(parts)}</svg>')
