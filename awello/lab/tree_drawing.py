"""Draw search trees: as coloured text for a terminal, or as SVG for a file or the web page.

The description of a pruned tree also gives the numbers of nodes and leaves that plain minimax visits.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from xml.sax.saxutils import escape

from rich.text import Text

from awello.drawing import format_svg
from awello.evaluate.heuristics import EXACT_SCALE
from awello.search.search_tree import SearchNode, SearchTree

BOUND_SIGNS = {"lower": "≥", "upper": "≤", None: ""}
PRINCIPAL_STYLE, PRUNED_STYLE = "bold green", "dim"

MARGIN, HEADER_HEIGHT, FOOTER_HEIGHT, NODE_SIZE, GAP, LEVEL_HEIGHT = 24, 90, 60, 34, 8, 84
MAX_UPRIGHT_LEAVES, ROTATED_LEAF_WIDTH = 80, 22  # leaf labels are rotated in trees with more leaves than this
LETTER_WIDTH = 8.2  # pixels per digit
MIN_WIDTH = 880
MOVE_FONT_SIZE = 12
DASHES = ' stroke-dasharray="5 4"'
INK, GREY, GREEN, PAPER = "#222", "#a3a3a3", "#0a7d3c", "#fff"
NODE_FILLS = {True: "#dbe9fb", False: "#fde6cf"}  # MAX, MIN


def format_value(value: float) -> str:
    """Format a value: `-12`, `0.5`, or `+12!` for the result of a finished game."""
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if abs(value) >= EXACT_SCALE:
        return f"{int(value / EXACT_SCALE):+d}!"
    return str(int(value)) if value == int(value) else f"{value:.10g}"


def format_node(node: SearchNode) -> str:
    """Format the value of a node: `4`, or `≥4` for a bound after a cutoff; empty for a pruned node of unknown value."""
    value = node.pruned_value if node.pruned else node.value
    return "" if value is None else BOUND_SIGNS[node.bound] + format_value(value)


def describe_tree(tree: SearchTree) -> list[str]:
    """Describe the search and its result in a few lines."""
    counts = f"nodes visited: {tree.nodes:,}, leaves evaluated: {tree.leaves:,}, branches pruned: {tree.pruned:,}"
    if tree.pruned and tree.minimax_counts:
        counts += " (plain minimax: {:,} nodes, {:,} leaves)".format(*tree.minimax_counts)
    mover = tree.root.source.mover
    view = "the side to move at each node" if tree.mover_view else mover
    side = "" if mover == "MAX" else f"; {mover} is MAX"
    return [
        _make_printable(f"{tree.label}: value {format_value(tree.value)} for {mover}"),
        counts,
        f"principal variation: {' '.join(tree.pv) or 'none'}; values from the point of view of {view}{side}",
    ]


def _make_printable(text: str) -> str:
    """Replace unprintable characters, some of which are invalid in XML, with `?`."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _drawn_children(node: SearchNode, ply: int, plies: int | None) -> list[SearchNode]:
    """Return the children of a node that are drawn; none at the maximum depth `plies`."""
    return node.children if plies is None or ply < plies else []


def draw_tree(tree: SearchTree, plies: int | None = None, windows: bool = False) -> Text:
    """Draw the tree as text, one node per line, down to a depth in plies; `windows` adds alpha and beta."""
    legend = "* principal variation" + ("; pruned: never visited; ≥ ≤: only a bound is known" if tree.pruned else "")
    text = Text("\n".join([*describe_tree(tree), legend]))
    for node, branch, ply in _walk_rows(tree.root, "", "", 0, plies):
        text.append(f"\n{branch}", PRUNED_STYLE).append_text(_describe_node(node, windows))
        text.append(" …" if node.children and not _drawn_children(node, ply, plies) else "", PRUNED_STYLE)
    return text


def _walk_rows(
    node: SearchNode, branch: str, below: str, ply: int, plies: int | None
) -> Iterator[tuple[SearchNode, str, int]]:
    """Yield each node, the branch lines to its left as text, and its ply."""
    yield node, branch, ply
    children = _drawn_children(node, ply, plies)
    for child in children:
        last = child is children[-1]
        yield from _walk_rows(
            child, below + ("└─ " if last else "├─ "), below + ("   " if last else "│  "), ply + 1, plies
        )


def _describe_node(node: SearchNode, windows: bool) -> Text:
    """Format a node in one line: move, MAX or MIN, value and marks."""
    player = "MAX" if node.maximising else "MIN"
    words = [
        f"{node.name}:" if node.name else "",
        player if node.children else "",
        format_node(node),
        "pruned" if node.pruned else "",
        f"({', '.join(map(format_value, node.window))})" if windows and not node.pruned else "",
        "*" if node.principal else "",
    ]
    return Text(
        " ".join(word for word in words if word),
        PRUNED_STYLE if node.pruned else PRINCIPAL_STYLE if node.principal else "",
    )


@dataclass
class NodeLayout:
    """The position of a node in the drawing, and the width of its subtree."""

    node: SearchNode
    children: "list[NodeLayout]"
    width: float = 0
    x: float = 0
    y: float = 0

    @property
    def label(self) -> str:
        """The text of the node: its value, or its move if the value is unknown."""
        return format_node(self.node) or self.node.name

    def walk(self) -> "Iterator[NodeLayout]":
        """Yield this layout and its descendants."""
        yield self
        for child in self.children:
            yield from child.walk()


def draw_tree_svg(tree: SearchTree, plies: int | None = None, captions: bool = True) -> str:
    """Draw the tree as SVG: leaves evenly spaced, each parent centred above its children.

    In a large tree, leaf labels are rotated to save width.  `captions` adds the result of the search above the tree and
    a legend below it.
    """
    lines, root = describe_tree(tree) if captions else [], _layout_node(tree.root, 0, plies)
    layouts = list(root.walk())
    longest = LETTER_WIDTH * max(len(layout.label) for layout in layouts) + 14
    box_width = max(NODE_SIZE, longest)
    rotated = sum(not layout.node.children for layout in layouts) > MAX_UPRIGHT_LEAVES
    tree_width = _measure_width(root, box_width + GAP, ROTATED_LEAF_WIDTH if rotated else box_width + GAP)
    width = max([tree_width, *(LETTER_WIDTH * len(line) for line in lines)]) + 2 * MARGIN
    width = max(width, MIN_WIDTH * captions)
    _place(
        root,
        (width - tree_width) / 2,
        (HEADER_HEIGHT if captions else 0) + NODE_SIZE,
        min(max(LEVEL_HEIGHT, tree_width / 16), 2.5 * LEVEL_HEIGHT),
    )
    height = max(layout.y for layout in layouts) + max(NODE_SIZE, rotated * longest) + FOOTER_HEIGHT * captions
    shapes = [_draw_text(MARGIN, 30 + 22 * row, line, 14 if row else 17) for row, line in enumerate(lines)]
    edges = [(layout, child) for layout in layouts for child in layout.children]
    for layout, child in sorted(edges, key=lambda edge: edge[1].node.principal):
        shapes += _draw_edge(layout, child)
    for layout in layouts:
        shapes += _draw_node(layout, box_width, rotated)
    if captions:
        shapes += _draw_legend(height - FOOTER_HEIGHT / 2, tree.pruned > 0)
    return format_svg(round(width), round(height), [f'<rect width="100%" height="100%" fill="{PAPER}"/>', *shapes])


def _layout_node(node: SearchNode, ply: int, plies: int | None) -> NodeLayout:
    """Make the layouts of a node and its drawn descendants."""
    return NodeLayout(node, [_layout_node(child, ply + 1, plies) for child in _drawn_children(node, ply, plies)])


def _measure_width(layout: NodeLayout, box_width: float, leaf: float) -> float:
    """Set the widths in a subtree and return its own width, given the widths of a box and of a leaf."""
    below = sum(_measure_width(child, box_width, leaf) for child in layout.children)
    layout.width = max(box_width if layout.node.children else leaf, below)
    return layout.width


def _place(layout: NodeLayout, left: float, y: float, level: float) -> None:
    """Place a subtree, given its left edge, the y coordinate of its root, and the height of a level."""
    left += (layout.width - sum(child.width for child in layout.children)) / 2
    layout.x, layout.y = left, y
    for child in layout.children:
        _place(child, left, y + level, level)
        left += child.width
    if layout.children:
        layout.x = (layout.children[0].x + layout.children[-1].x) / 2


def _draw_edge(parent: NodeLayout, child: NodeLayout) -> list[str]:
    """Draw the branch to a child, with the name of the move, or with a bar if the child was pruned."""
    node, rise = child.node, child.y - parent.y
    x, y, end_x, end_y = parent.x, parent.y, child.x, child.y - NODE_SIZE / 2
    colour, thickness = (GREY, 1.3) if node.pruned else (GREEN, 4) if node.principal else (INK, 1.3)
    shapes = [_draw_line(x, y, end_x, end_y, colour, thickness, DASHES if node.pruned else "")]
    near = 0.55 if node.pruned else 1 - 22 / rise
    at_x, at_y = x + near * (end_x - x), y + near * (end_y - y)
    if node.pruned:
        shapes.append(_draw_bar(at_x, at_y, end_x - x, end_y - y))
    elif node.name:
        shapes.append(_draw_text(at_x, at_y, node.name, MOVE_FONT_SIZE, colour, "middle"))
    return shapes


def _draw_bar(x: float, y: float, along: float, down: float) -> str:
    """Draw a short bar across a branch that has the direction (`along`, `down`)."""
    scale = 7 / math.hypot(along, down)
    right, up = scale * down, scale * along
    return _draw_line(x - right, y + up, x + right, y - up, GREY, 2)


def _draw_node(layout: NodeLayout, box_width: float, rotated: bool) -> list[str]:
    """Draw a node: a box for MAX, a rounded box for MIN, only the label for leaves and pruned nodes."""
    node, x, y = layout.node, layout.x, layout.y
    colour = GREY if node.pruned else GREEN if node.principal else INK
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
    return f'<rect {attributes} rx="{corner:g}" fill="{NODE_FILLS[maximising]}" stroke="{colour}" stroke-width="1.5"/>'


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
    """Draw text; move names get an outline in the background colour, so that they are readable over branches."""
    style = f'dy="0.35em" font-size="{size}" fill="{colour}" text-anchor="{anchor}"'
    style += ' font-weight="bold"' if bold else ""
    style += f' transform="rotate(-90 {x:.1f} {y:.1f})"' if rotated else ""
    style += f' stroke="{PAPER}" stroke-width="4" paint-order="stroke"' if size == MOVE_FONT_SIZE else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" {style}>{escape(text)}</text>'


def _draw_legend(y: float, pruned: bool) -> list[str]:
    """Draw the legend."""
    x = MARGIN + NODE_SIZE / 2
    shapes = [_draw_shape(x, y, NODE_SIZE / 2, True, INK), _draw_text(x + 24, y, "MAX chooses", 14)]
    shapes += [_draw_shape(x + 150, y, NODE_SIZE / 2, False, INK), _draw_text(x + 174, y, "MIN chooses", 14)]
    shapes += [_draw_line(x + 284, y, x + 314, y, GREEN, 4), _draw_text(x + 322, y, "principal variation", 14)]
    if pruned:
        shapes += [_draw_line(x + 464, y, x + 500, y, GREY, 1.3, DASHES), _draw_bar(x + 482, y, 1, 0)]
        shapes.append(_draw_text(x + 508, y, "pruned: never visited; ≥ ≤: only a bound is known", 14))
    return shapes


def _draw_line(x: float, y: float, end_x: float, end_y: float, colour: str, thickness: float, style: str = "") -> str:
    path = f"M{x:.1f} {y:.1f}L{end_x:.1f} {end_y:.1f}"
    return f'<path d="{path}" stroke="{colour}" stroke-width="{thickness:g}"{style}/>'
