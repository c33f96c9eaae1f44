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

SIGNS = {"lower": "≥", "upper": "≤", None: ""}
PRINCIPAL, CUT = "bold green", "dim"

MARGIN, HEAD, FOOT, NODE, GAP, LEVEL = 24, 90, 60, 34, 8, 84
MANY, TURNED = 80, 22  # with more leaves than that, they are turned and this wide
LETTER = 8.2  # the width of a digit of the values
LEAST_WIDTH = 880
NAME = 12  # the size of a move's letters on a branch
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
    return "" if value is None else SIGNS[node.bound] + format_value(value)


def describe_tree(tree: SearchTree) -> list[str]:
    """What was searched and found, in a few lines."""
    counts = f"nodes visited: {tree.nodes:,}, leaves evaluated: {tree.leaves:,}, branches cut: {tree.cut:,}"
    if tree.cut and tree.whole:
        counts += " (plain minimax: {:,} nodes, {:,} leaves)".format(*tree.whole)
    mover = tree.root.source.mover
    view = "whoever moves at the node" if tree.mover_view else mover
    side = "" if mover == "MAX" else f"; {mover} is MAX"
    return [
        _printable(f"{tree.label}: value {format_value(tree.value)} for {mover}"),
        counts,
        f"line: {' '.join(tree.line) or 'none'}; values from the view of {view}{side}",
    ]


def _printable(text: str) -> str:
    """A text without the signs that neither a terminal nor XML can show."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _shown(node: SearchNode, ply: int, plies: int | None) -> list[SearchNode]:
    """The children of a node that are drawn."""
    return node.children if plies is None or ply < plies else []


def draw_tree(tree: SearchTree, plies: int | None = None, windows: bool = False) -> Text:
    """The tree as text, a node a line, down to a number of plies, if asked for with the windows."""
    legend = "* principal line" + ("; cut: never visited; ≥ ≤: a cut left only a bound" if tree.cut else "")
    text = Text("\n".join([*describe_tree(tree), legend]))
    for node, branch, ply in _rows(tree.root, "", "", 0, plies):
        text.append(f"\n{branch}", CUT).append_text(_describe_node(node, windows))
        text.append(" …" if node.children and not _shown(node, ply, plies) else "", CUT)
    return text


def _rows(
    node: SearchNode, branch: str, below: str, ply: int, plies: int | None
) -> Iterator[tuple[SearchNode, str, int]]:
    """Each node in order, with the branches to its left and its ply."""
    yield node, branch, ply
    children = _shown(node, ply, plies)
    for child in children:
        last = child is children[-1]
        yield from _rows(child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "), ply + 1, plies)


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
    return Text(" ".join(word for word in words if word), CUT if node.cut else PRINCIPAL if node.principal else "")


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
        """This spot and all below it."""
        yield self
        for child in self.children:
            yield from child.walk()


def draw_tree_svg(tree: SearchTree, plies: int | None = None) -> str:
    """The tree as an SVG picture: leaves evenly spaced, each parent centred above its children.

    In a large tree the values of the leaves are turned to stand closer.
    """
    lines, root = describe_tree(tree), _plant(tree.root, 0, plies)
    spots = list(root.walk())
    longest = LETTER * max(len(spot.label) for spot in spots) + 14
    box, turned = max(NODE, longest), sum(not spot.node.children for spot in spots) > MANY
    breadth = _measure(root, box + GAP, TURNED if turned else box + GAP)
    width = max(LEAST_WIDTH, LETTER * max(map(len, lines)) + 2 * MARGIN, breadth + 2 * MARGIN)
    _place(root, (width - breadth) / 2, HEAD + NODE, min(max(LEVEL, breadth / 16), 2.5 * LEVEL))
    height = max(spot.y for spot in spots) + max(NODE, turned * longest) + FOOT
    shapes = [_words(MARGIN, 30 + 22 * row, line, 14 if row else 17) for row, line in enumerate(lines)]
    edges = [(spot, child) for spot in spots for child in spot.children]
    for spot, child in sorted(edges, key=lambda edge: edge[1].node.principal):
        shapes += _edge(spot, child)
    for spot in spots:
        shapes += _node(spot, box, turned)
    paper = f'<rect width="100%" height="100%" fill="{PAPER}"/>'
    return format_svg(round(width), round(height), [paper, *shapes, *_legend(height - FOOT / 2, tree.cut > 0)])


def _plant(node: SearchNode, ply: int, plies: int | None) -> NodeLayout:
    """A spot for each node that is drawn."""
    return NodeLayout(node, [_plant(child, ply + 1, plies) for child in _shown(node, ply, plies)])


def _measure(spot: NodeLayout, box: float, leaf: float) -> float:
    """The width a spot needs, with all below it, if each box and each leaf need so much."""
    below = sum(_measure(child, box, leaf) for child in spot.children)
    spot.width = max(box if spot.node.children else leaf, below)
    return spot.width


def _place(spot: NodeLayout, left: float, y: float, level: float) -> None:
    """Put a spot and all below it where they belong, from this left edge and this height down."""
    left += (spot.width - sum(child.width for child in spot.children)) / 2
    spot.x, spot.y = left, y
    for child in spot.children:
        _place(child, left, y + level, level)
        left += child.width
    if spot.children:
        spot.x = (spot.children[0].x + spot.children[-1].x) / 2


def _edge(parent: NodeLayout, child: NodeLayout) -> list[str]:
    """The branch to a child, with the move's name near the child or, if the branch was cut, a bar across."""
    node, rise = child.node, child.y - parent.y
    x, y, end_x, end_y = parent.x, parent.y, child.x, child.y - NODE / 2
    colour, thick = (GREY, 1.3) if node.cut else (GREEN, 4) if node.principal else (INK, 1.3)
    shapes = [_line(x, y, end_x, end_y, colour, thick, DASHES if node.cut else "")]
    near = 0.55 if node.cut else 1 - 22 / rise
    at_x, at_y = x + near * (end_x - x), y + near * (end_y - y)
    if node.cut:
        shapes.append(_bar(at_x, at_y, end_x - x, end_y - y))
    elif node.name:
        shapes.append(_words(at_x, at_y, node.name, NAME, colour, "middle"))
    return shapes


def _bar(x: float, y: float, along: float, down: float) -> str:
    """A short bar across a branch that runs `along` and `down`."""
    scale = 7 / math.hypot(along, down)
    right, up = scale * down, scale * along
    return _line(x - right, y + up, x + right, y - up, GREY, 2)


def _node(spot: NodeLayout, box: float, turned: bool) -> list[str]:
    """A square for MAX, a circle for MIN, drawn long if values are; leaves and cut branches are bare values."""
    node, x, y = spot.node, spot.x, spot.y
    colour = GREY if node.cut else GREEN if node.principal else INK
    if not node.children and turned:
        return [_words(x, y - NODE / 2 + 3, spot.label, 15, colour, "end", node.principal, turned=True)]
    value = _words(x, y, spot.label, 15, colour, "middle", node.principal)
    if not node.children:
        return [value]
    folded = [] if spot.children else [_words(x, y + 0.75 * NODE, "…", 15, GREY, "middle")]
    return [_shape(x, y, box / 2, node.maximising, colour), value, *folded]


def _shape(x: float, y: float, half: float, maximising: bool, colour: str) -> str:
    place = f'x="{x - half:.1f}" y="{y - NODE / 2:.1f}" width="{2 * half:.1f}" height="{NODE}"'
    corner = 2 if maximising else NODE / 2
    return f'<rect {place} rx="{corner:g}" fill="{FILLS[maximising]}" stroke="{colour}" stroke-width="1.5"/>'


def _words(
    x: float,
    y: float,
    text: str,
    size: int,
    colour: str = INK,
    anchor: str = "start",
    bold: bool = False,
    turned: bool = False,
) -> str:
    """Words; a move's name has a rim of paper, so that the branch behind does not disturb."""
    look = f'dy="0.35em" font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
    look += ' font-weight="bold"' if bold else ""
    look += f' transform="rotate(-90 {x:.1f} {y:.1f})"' if turned else ""
    look += f' stroke="{PAPER}" stroke-width="4" paint-order="stroke"' if size == NAME else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>'


def _legend(y: float, cut: bool) -> list[str]:
    """What the signs mean."""
    x = MARGIN + NODE / 2
    shapes = [_shape(x, y, NODE / 2, True, INK), _words(x + 24, y, "MAX chooses", 14)]
    shapes += [_shape(x + 150, y, NODE / 2, False, INK), _words(x + 174, y, "MIN chooses", 14)]
    shapes += [_line(x + 284, y, x + 314, y, GREEN, 4), _words(x + 322, y, "principal line", 14)]
    if cut:
        shapes += [_line(x + 436, y, x + 472, y, GREY, 1.3, DASHES), _bar(x + 454, y, 1, 0)]
        shapes.append(_words(x + 480, y, "cut, never visited; ≥ ≤ only a bound is known", 14))
    return shapes


def _line(x: float, y: float, end_x: float, end_y: float, colour: str, thick: float, look: str = "") -> str:
    ends = f"M{x:.1f} {y:.1f}L{end_x:.1f} {end_y:.1f}"
    return f'<path d="{ends}" stroke="{colour}" stroke-width="{thick:g}"{look}/>'
