"""The textbook searches in plain Python, which keep every node so that the tree can be drawn.

A `TreeSource` describes the tree: nested lists of numbers, as in a textbook, or a position and the depth of the search.
A child that the algorithm never visits is *pruned*.  The value and the numbers of nodes and leaves are the same as
those of the kernel in `negamax`, called with a full window.  Minimax and negamax differ only in how they state values
and windows: minimax from the point of view of the maximiser, negamax from the point of view of the mover at each node.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from awello.errors import ConfigError, NotationError, join_choices
from awello.evaluate.evaluator import Evaluator
from awello.evaluate.heuristics import EXACT_SCALE, evaluate
from awello.kernel import U
from awello.position import Position
from awello.search.textbook_search import ALPHABETA_ALGORITHMS, TEXTBOOK_ALGORITHMS

MAX_TREE_NODES = 20_000  # drawings of larger trees are unreadable
MAX_LIST_DEPTH = 12  # levels: deeper than a drawing can show, and well below Python's recursion limit
MAX_LEAF_VALUE = 1_000_000  # below EXACT_SCALE, so that a leaf is never taken for a finished game
EXAMPLE_TREE = "[[3, 5], [2, 9]]"


@dataclass(frozen=True)
class ListSource:
    """A tree as nested lists of numbers: each number is the value of a leaf for the maximiser."""

    content: Any
    maximising: bool = True
    """Whether the mover is the maximiser, as at the root."""

    @property
    def mover(self) -> str:
        """The name of the mover."""
        return "MAX" if self.maximising else "MIN"

    def children(self) -> "list[tuple[str, TreeSource]]":
        """Return the name of each move and the child to which it leads; a leaf has none."""
        parts = self.content if isinstance(self.content, list) else []
        return [("", ListSource(part, not self.maximising)) for part in parts]

    def value(self) -> float:
        """Return the value of a leaf for its mover."""
        number: float = self.content
        return number if self.maximising else -number

    def peek_value(self) -> float | None:
        """Return the value of a leaf for its mover if it is known without evaluation, otherwise None."""
        return None if isinstance(self.content, list) else self.value()


@dataclass(frozen=True)
class PositionSource:
    """The tree of a position, with all moves up to a depth in plies; a heuristic evaluates the leaves.

    As in the kernels, a pass counts as a ply, and repeated positions do not end the game.
    """

    position: Position
    depth: int
    evaluator: Evaluator
    maximising: bool = True

    @property
    def mover(self) -> str:
        return self.position.side_name

    def children(self) -> "list[tuple[str, TreeSource]]":
        position = replace(self.position, past=frozenset())
        moves = position.legal_moves() if self.depth else ()
        child = replace(self, depth=self.depth - 1, maximising=not self.maximising)
        return [(position.format_move(move), replace(child, position=position.after(move))) for move in moves]

    def value(self) -> float:
        position, evaluator = replace(self.position, past=frozenset()), self.evaluator
        own, opp = U(position.own), U(position.opp)
        return int(evaluate(int(position.game), evaluator.heuristic_id, own, opp, position.over, evaluator.state))

    def peek_value(self) -> float | None:
        return None


TreeSource = ListSource | PositionSource


def parse_lists(text: str) -> ListSource:
    """Parse a tree such as `[[3, 5], [2, 9]]`, or raise `NotationError`, which names the invalid part."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"the error is at {text[error.pos : error.pos + 10]!r}" if error.pos < len(text) else "it is incomplete"
        raise NotationError(
            f"{text[:20]!r} is not a tree ({where}): write nested lists such as {EXAMPLE_TREE}"
        ) from None
    except (RecursionError, ValueError):
        raise NotationError(
            f"{text[:20]!r}... is nested too deeply or contains too long a number: "
            f"use at most {MAX_LIST_DEPTH} levels and numbers up to {MAX_LEAF_VALUE}"
        ) from None
    if not isinstance(content, list):
        raise NotationError(f"{_shorten(content)} is not a tree: write nested lists of numbers, such as {EXAMPLE_TREE}")
    return ListSource(_check_part(content, ()))


def _check_part(part: Any, path: tuple[int, ...]) -> Any:
    """Check a part of nested lists and convert whole numbers to integers.

    `path` contains the indices that lead to the part, counted from 1.
    """
    where = f"part {'.'.join(map(str, path))}" if path else "the tree"
    if isinstance(part, list):
        if not part:
            raise NotationError(f"{where} is an empty list: write numbers or lists in it, as in {EXAMPLE_TREE}")
        if len(path) == MAX_LIST_DEPTH:
            raise NotationError(f"{where} is nested {len(path) + 1} levels deep: use at most {MAX_LIST_DEPTH} levels")
        return [_check_part(child, (*path, number)) for number, child in enumerate(part, 1)]
    if isinstance(part, bool) or not isinstance(part, int | float):
        raise NotationError(
            f"{where}, {_shorten(part)}, is neither a number nor a list: write a tree such as {EXAMPLE_TREE}"
        )
    if not abs(part) <= MAX_LEAF_VALUE:
        raise NotationError(f"{where}, {_shorten(part)}, is out of range: use -{MAX_LEAF_VALUE} to {MAX_LEAF_VALUE}")
    return int(part) if part == int(part) else part


def _shorten(part: Any) -> str:
    """Return a part as JSON on one short line."""
    text = json.dumps(part, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."


@dataclass(eq=False)
class SearchNode:
    """A node of a search tree, and the result of searching it."""

    name: str
    """The move that leads to this node; empty at the root and in nested lists."""
    source: TreeSource = field(repr=False)
    children: "list[SearchNode]" = field(default_factory=list)
    value: float | None = None
    """The value from the algorithm's view (see `to_view`); None if the node was never visited."""
    window: tuple[float, float] = (-math.inf, math.inf)
    """Alpha and beta when the node was entered, from the algorithm's view."""
    principal: bool = False
    """Whether the node is on the principal variation."""
    pruned_value: float | None = None
    """The value of this node if it is a pruned leaf of nested lists, from the algorithm's view; otherwise None."""

    @property
    def maximising(self) -> bool:
        """Whether the mover maximises."""
        return self.source.maximising

    @property
    def pruned(self) -> bool:
        """Whether the search skipped this node, because it could not affect the result."""
        return self.value is None

    @property
    def leaf(self) -> bool:
        """Whether the node was evaluated directly, instead of through its children."""
        return not (self.pruned or self.children)

    @property
    def exact(self) -> bool:
        """Whether the value is the result of a finished game; False for 0, which can also be an evaluation."""
        return self.value is not None and abs(self.value) >= EXACT_SCALE

    @property
    def has_pruned_nodes(self) -> bool:
        """Whether any node below this one was pruned."""
        return any(child.pruned or child.has_pruned_nodes for child in self.children)

    @property
    def bound(self) -> Literal["lower", "upper"] | None:
        """`lower` or `upper` if the value is only a bound, because nodes below this one were pruned; otherwise None."""
        if self.value is None or self.window[0] < self.value < self.window[1] or not self.has_pruned_nodes:
            return None
        return "lower" if self.value >= self.window[1] else "upper"

    def walk(self) -> "Iterator[SearchNode]":
        """Yield this node and all nodes below it in search order."""
        yield self
        for child in self.children:
            yield from child.walk()

    def to_json(self) -> dict[str, Any]:
        """Return the node and all nodes below it as JSON data.

        Exact values are in discs or seeds, and an infinite end of a window is null.
        """
        return {
            "move": self.name,
            "player": "max" if self.maximising else "min",
            "value": _unscale(self.value),
            "exact": self.exact,
            "bound": self.bound,
            "window": None if self.pruned else [None if math.isinf(end) else end for end in self.window],
            "leaf": self.leaf,
            "pruned": self.pruned,
            "pruned_value": self.pruned_value,
            "principal": self.principal,
            "children": [child.to_json() for child in self.children],
        }


def _unscale(value: float | None) -> float | None:
    """Convert the value of a finished game to discs or seeds; return other values unchanged."""
    return int(value / EXACT_SCALE) if value is not None and abs(value) >= EXACT_SCALE else value


@dataclass(eq=False)
class SearchTree:
    """A search tree, with the numbers of its visited, evaluated and pruned nodes."""

    algorithm: str
    root: SearchNode
    label: str
    """The name of the search, such as `alphabeta:positional@3`."""
    nodes: int = 0
    """Visited nodes, including the root and the leaves."""
    leaves: int = 0
    """Evaluated nodes."""
    pruned: int = 0
    """Pruned branches: nodes that the search skipped, not counting the nodes below them."""

    @property
    def mover_view(self) -> bool:
        """Whether values are from the mover's view at each node (negamax), not from the maximiser's view (minimax)."""
        return self.algorithm.startswith("negamax")

    @property
    def value(self) -> float:
        """The value of the root."""
        return self.root.value or 0

    @property
    def pv(self) -> list[str]:
        """The moves of the principal variation; a move without a name is replaced by its number, counted from 1."""
        names, node = [], self.root
        while node.children:
            number, node = next((number, child) for number, child in enumerate(node.children, 1) if child.principal)
            names.append(node.name or str(number))
        return names

    @cached_property
    def minimax_counts(self) -> tuple[int, int] | None:
        """The numbers of nodes and leaves that plain minimax visits; None if the tree is too large to draw."""
        try:
            tree = search_tree("minimax", self.root.source)
        except ConfigError:
            return None
        return tree.nodes, tree.leaves

    def visit(self, node: SearchNode, alpha: float = -math.inf, beta: float = math.inf) -> list[SearchNode]:
        """Enter a node with a window: count it, and return its children."""
        node.window = (alpha, beta) if self.mover_view or node.maximising else (-beta, -alpha)
        node.children = [SearchNode(name, source) for name, source in node.source.children()]
        self.nodes += 1
        self.pruned += len(node.children)  # counted as pruned until they are visited
        self.pruned -= node is not self.root
        if self.nodes + self.pruned > MAX_TREE_NODES:
            advice = "lower the depth or shorten the lists"
            raise ConfigError(f"a tree of more than {MAX_TREE_NODES:,} nodes is too large to draw: {advice}")
        return node.children

    def evaluate(self, node: SearchNode) -> float:
        """Return the value of a leaf for its mover."""
        self.leaves += 1
        return node.source.value()

    def to_view(self, node: SearchNode, value: float) -> float:
        """Convert a value from the mover's view to the view of the algorithm (see `mover_view`)."""
        return value if self.mover_view or node.maximising else -value

    def finish(self) -> None:
        """Mark the principal variation and fill in the values of pruned leaves."""
        node, sign = self.root, -1 if self.mover_view else 1
        node.principal = True
        while node.children:
            node = next(
                child for child in node.children if not child.pruned and sign * (child.value or 0) == node.value
            )
            node.principal = True
        for node in self.root.walk():
            value = node.source.peek_value() if node.pruned else None
            node.pruned_value = None if value is None else self.to_view(node, value)

    def to_json(self) -> dict[str, Any]:
        """Return the tree as JSON data."""
        return {
            "search": self.label,
            "value": _unscale(self.value),
            "nodes": self.nodes,
            "leaves": self.leaves,
            "pruned": self.pruned,
            "pv": self.pv,
            "tree": self.root.to_json(),
        }


def search(tree: SearchTree, node: SearchNode, alpha: float = -math.inf, beta: float = math.inf) -> float:
    """Search a node by negamax with the window (alpha, beta), and return its value for the mover."""
    # Step 1. Evaluate a leaf for its mover.
    children = tree.visit(node, alpha, beta)
    best = -math.inf if children else tree.evaluate(node)
    # Step 2. Search the children until the opponent would avoid this position.  Only alpha-beta narrows the window; the
    # window of a child is (-beta, -alpha).
    for child in children:
        if alpha >= beta:
            break
        best = max(best, -search(tree, child, -beta, -alpha))
        alpha = max(alpha, best) if tree.algorithm in ALPHABETA_ALGORITHMS else alpha
    node.value = tree.to_view(node, best)
    return best


def check_algorithm(name: str) -> None:
    """Raise `ConfigError` if there is no textbook search with this name."""
    if name not in TEXTBOOK_ALGORITHMS:
        raise ConfigError(f"{name!r} is not a textbook search: choose {join_choices(TEXTBOOK_ALGORITHMS)}")


def search_tree(algorithm: str, source: TreeSource, label: str = "") -> SearchTree:
    """Search the tree of a source; raise `ConfigError` if it is too large to draw or the algorithm is unknown."""
    check_algorithm(algorithm)
    tree = SearchTree(algorithm, SearchNode("", source), label or algorithm)
    search(tree, tree.root)
    tree.finish()
    return tree
