"""Searched trees for people's eyes: text with colour for a terminal, SVG for a page or a lesson.

Nothing here searches but to tell what plain minimax would have cost: a `Tree` comes in, a picture goes out.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from rich.text import Text

from awello.drawing import format_svg
from awello.evaluate.heuristics import EXACT
from awello.search.search_tree import SearchNode, SearchTree

BOUND_SIGNS = {"lower": "≥", "upper": "≤", None: ""}
PRINCIPAL_STYLE, CUT_STYLE = "bold green", "dim"

MARGIN, HEADER_HEIGHT, FOOTER_HEIGHT, NODE_SIZE, GAP, LEVEL_HEIGHT = 24, 90, 60, 34, 8, 84
MAX_UPRIGHT_LEAVES, ROTATED_LEAF_WIDTH = 80, 22  # with more leaves than that, they are rotated and this wide
LETTER_WIDTH = 8.2  # the width of a digit of the values
MIN_WIDTH = 880
MOVE_FONT_SIZE = 12  # the size of a move's letters on a branch
DASHES = ' stroke-dasharray="5 4"'
INK, GREY, GREEN, PAPER = "#222", "#a3a3a3", "#0a7d3c", "#fff"
FILLS = {True: "#dbe9fb", False: "#fde6cf"}  # MAX, MIN


def format_value(value: float) -> str:
    """A value for people: `-12`, `0.5`, or `+12!` for the result of a finished game."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) >= EXACT:
        return f"{int(value / EXACT):+d}!"
    return str(int(value)) if value == int(value) else f"{value:.10g}"


def format_node(node: SearchNode) -> str:
    """What is known of a node's value: `4`, `≥4` where a cut left a bound, nothing where nobody looked."""
    value = node.written if node.cut else node.value
    return "" if value is None else BOUND_SIGNS[node.bound] + format_value(value)


def describe_tree(tree: SearchTree) -> list[str]:
    """What was searched and found, in a few lines."""
    counts = f"nodes visited: {tree.nodes:,}, leaves evaluated: {tree.leaves:,}, branches cut: {tree.cut:,}"
    if tree.cut and tree.whole:
        counts += " (plain minimax: {:,} nodes, {:,} leaves)".format(*tree.whole)
    mover = tree.root.source.mover
    view = "the side to move at each node" if tree.mover_view else mover
    side = "" if mover == "MAX" else f"; {mover} is MAX"
    return [
        _make_printable(f"{tree.label}: value {format_value(tree.value)} for {mover}"),
        counts,
        f"line: {' '.join(tree.line) or 'none'}; values from the view of {view}{side}",
    ]


def _make_printable(text: str) -> str:
    """A text without the signs that neither a terminal nor XML can show."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _drawn_children(node: SearchNode, ply: int, plies: int | None) -> list[SearchNode]:
    """The children of a node that are drawn."""
    return node.children if plies is None or ply < plies else []


def draw_tree(tree: SearchTree, plies: int | None = None, windows: bool = False) -> Text:
    """The tree as text, a node a line, down to a number of plies, if asked for with the windows."""
    legend = "* principal line" + ("; cut: never visited; ≥ ≤: a cut left only a bound" if tree.cut else "")
    text = Text("\n".join([*describe_tree(tree), legend]))
    for node, branch, ply in _walk_rows(tree.root, "", "", 0, plies):
        text.append(f"\n{branch}", CUT_STYLE).append_text(_describe_node(node, windows))
        text.append(" …" if node.children and not _drawn_children(node, ply, plies) else "", CUT_STYLE)
    return text


def _walk_rows(
    node: SearchNode, branch: str, below: str, ply: int, plies: int | None
) -> Iterator[tuple[SearchNode, str, int]]:
    """Each node in order, with the branches to its left and its ply."""
    yield node, branch, ply
    children = _drawn_children(node, ply, plies)
    for child in children:
        last = child is children[-1]
        yield from _walk_rows(
            child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "), ply + 1, plies
        )


def _describe_node(node: SearchNode, windows: bool) -> Text:
    """A node on its line: the move, who chooses, the value and the marks."""
    player = "MAX" if node.maximising else "MIN"
    words = [
        f"{node.name}:" if node.name else "",
        player if node.children else "",
        format_node(node),
        "cut" if node.cut else "",
        f"({', '.join(map(format_value, node.window))})" if windows and not node.cut else "",
        "*" if node.principal else "",
    ]
    return Text(
        " ".join(word for word in words if word), CUT_STYLE if node.cut else PRINCIPAL_STYLE if node.principal else ""
    )


@dataclass
class NodeLayout:
    """Where a node stands on the picture, and the width kept free for it and all below it."""

    node: SearchNode
    children: "list[NodeLayout]"
    width: float = 0
    x: float = 0
    y: float = 0

    @property
    def label(self) -> str:
        """What stands there: the value, or on a cut branch at least the move."""
        return format_node(self.node) or self.node.name

    def walk(self) -> "Iterator[NodeLayout]":
        """This layout and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def draw_tree_svg(tree: SearchTree, plies: int | None = None) -> str:
    """The tree as an SVG picture: leaves evenly spaced, each parent centred above its children.

    In a large tree the values of the leaves are rotated to stand closer.
    """
    lines, root = describe_tree(tree), _layout_node(tree.root, 0, plies)
    layouts = list(root.walk())
    longest = LETTER_WIDTH * max(len(layout.label) for layout in layouts) + 14
    box_width, rotated = (
        max(NODE_SIZE, longest),
        sum(not layout.node.children for layout in layouts) > MAX_UPRIGHT_LEAVES,
    )
    tree_width = _measure_width(root, box_width + GAP, ROTATED_LEAF_WIDTH if rotated else box_width + GAP)
    width = max(MIN_WIDTH, LETTER_WIDTH * max(map(len, lines)) + 2 * MARGIN, tree_width + 2 * MARGIN)
    _place(
        root,
        (width - tree_width) / 2,
        HEADER_HEIGHT + NODE_SIZE,
        min(max(LEVEL_HEIGHT, tree_width / 16), 2.5 * LEVEL_HEIGHT),
    )
    height = max(layout.y for layout in layouts) + max(NODE_SIZE, rotated * longest) + FOOTER_HEIGHT
    shapes = [_draw_text(MARGIN, 30 + 22 * row, line, 14 if row else 17) for row, line in enumerate(lines)]
    edges = [(layout, child) for layout in layouts for child in layout.children]
    for layout, child in sorted(edges, key=lambda edge: edge[1].node.principal):
        shapes += _draw_edge(layout, child)
    for layout in layouts:
        shapes += _draw_node(layout, box_width, rotated)
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return format_svg(
        round(width), round(height), [paper, *shapes, *_draw_legend(height - FOOTER_HEIGHT / 2, tree.cut > 0)]
    )


def _layout_node(node: SearchNode, ply: int, plies: int | None) -> NodeLayout:
    """A layout for each node that is drawn."""
    return NodeLayout(node, [_layout_node(child, ply + 1, plies) for child in _drawn_children(node, ply, plies)])


def _measure_width(layout: NodeLayout, box_width: float, leaf: float) -> float:
    """The width a layout needs, with all below it, if each box and each leaf need so much."""
    below = sum(_measure_width(child, box_width, leaf) for child in layout.children)
    layout.width = max(box_width if layout.node.children else leaf, below)
    return layout.width


def _place(layout: NodeLayout, left: float, y: float, level: float) -> None:
    """Put a layout and all below it where they belong, from this left edge and this height down."""
    left += (layout.width - sum(child.width for child in layout.children)) / 2
    layout.x, layout.y = left, y
    for child in layout.children:
        _place(child, left, y + level, level)
        left += child.width
    if layout.children:
        layout.x = (layout.children[0].x + layout.children[-1].x) / 2


def _draw_edge(parent: NodeLayout, child: NodeLayout) -> list[str]:
    """The branch to a child, with the move's name near the child or, if the branch was cut, a bar across."""
    node, rise = child.node, child.y - parent.y
    x, y, end_x, end_y = parent.x, parent.y, child.x, child.y - NODE_SIZE / 2
    colour, thickness = (GREY, 1.3) if node.cut else (GREEN, 4) if node.principal else (INK, 1.3)
    shapes = [_draw_line(x, y, end_x, end_y, colour, thickness, DASHES if node.cut else "")]
    near = 0.55 if node.cut else 1 - 22 / rise
    at_x, at_y = x + near * (end_x - x), y + near * (end_y - y)
    if node.cut:
        shapes.append(_draw_bar(at_x, at_y, end_x - x, end_y - y))
    elif node.name:
        shapes.append(_draw_text(at_x, at_y, node.name, MOVE_FONT_SIZE, colour, "middle"))
    return shapes


def _draw_bar(x: float, y: float, along: float, down: float) -> str:
    """A short bar across a branch that runs `along` and `down`."""
    scale = 7 / math.hypot(along, down)
    right, up = scale * down, scale * along
    return _draw_line(x - right, y + up, x + right, y - up, GREY, 2)


def _draw_node(layout: NodeLayout, box_width: float, rotated: bool) -> list[str]:
    """A square for MAX, a circle for MIN, drawn long if values are; leaves and cut branches are bare values."""
    node, x, y = layout.node, layout.x, layout.y
    colour = GREY if node.cut else GREEN if node.principal else INK
    if not node.children and rotated:
        return [_draw_text(x, y - NODE_SIZE / 2 + 3, layout.label, 15, colour, "end", node.principal, rotated=True)]
    value = _draw_text(x, y, layout.label, 15, colour, "middle", node.principal)
    if not node.children:
        return [value]
    folded = [] if layout.children else [_draw_text(x, y + 0.75 * NODE_SIZE, "…", 15, GREY, "middle")]
    return [_draw_shape(x, y, box_width / 2, node.maximising, colour), value, *folded]


def _draw_shape(x: float, y: float, half: float, maximising: bool, colour: str) -> str:
    attributes = f'x="{x - half:.1f}" y="{y - NODE_SIZE / 2:.1f}" width="{2 * half:.1f}" height="{NODE_SIZE}"'
    corner = 2 if maximising else NODE_SIZE / 2
    return f'<rect {attributes} rx="{corner:g}" fill="{FILLS[maximising]}" stroke="{colour}" stroke-width="1.5"/>'


def _draw_text(
    x: float,
    y: float,
    text: str,
    size: int,
    colour: str = INK,
    anchor: str = "start",
    bold: bool = False,
    rotated: bool = False,
) -> str:
    """Words; a move's name has a rim of paper, so that the branch behind does not disturb."""
    style = f'dy="0.35em" font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
    style += ' font-weight="bold"' if bold else ""
    style += f' transform="rotate(-90 {x:.1f} {y:.1f})"' if rotated else ""
    style += f' stroke="{PAPER}" stroke-width="4" paint-order="stroke"' if size == MOVE_FONT_SIZE else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _draw_legend(y: float, cut: bool) -> list[str]:
    """What the signs mean."""
    x = MARGIN + NODE_SIZE / 2
    shapes = [_draw_shape(x, y, NODE_SIZE / 2, True, INK), _draw_text(x + 24, y, "MAX chooses", 14)]
    shapes += [_draw_shape(x + 150, y, NODE_SIZE / 2, False, INK), _draw_text(x + 174, y, "MIN chooses", 14)]
    shapes += [_draw_line(x + 284, y, x + 314, y, GREEN, 4), _draw_text(x + 322, y, "principal line", 14)]
    if cut:
        shapes += [_draw_line(x + 436, y, x + 472, y, GREY, 1.3, DASHES), _draw_bar(x + 454, y, 1, 0)]
        shapes.append(_draw_text(x + 480, y, "cut, never visited; ≥ ≤ only a bound is known", 14))
    return shapes


def _draw_line(x: float, y: float, end_x: float, end_y: float, colour: str, thickness: float, style: str = "") -> str:
    path = f"M{x:.1f} {y:.1f}L{end_x:.1f} {end_y:.1f}"
    return f'<path d="{path}" stroke="{colour}" stroke-width="{thickness:g}"{style}/>'
