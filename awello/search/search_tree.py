"""The textbook search once more, in plain Python, keeping every node it meets so that it can be drawn.

The tree comes from a `Source`: nested lists of numbers, as in a lesson, or the moves of a position down to a depth.
Either way the search learns of a node only what the algorithm asks for, and a child it never asks about is *cut*.
Values, nodes and leaves are those of the kernel in `negamax` with a full window at the root.  Minimax and negamax
differ in the view from which values and windows are shown: the maximiser's, or that of whoever moves at the node.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from awello.errors import ConfigError, NotationError
from awello.evaluate.heuristics import EXACT, evaluate
from awello.evaluate.settings import Evaluator
from awello.kernel import U
from awello.position import Position
from awello.search.root import PRUNING, TEXTBOOK

MOST_NODES = 20_000  # more than anyone can look at
DEEPEST_LISTS = 12  # levels: far below where Python gives up, and deeper than anyone draws
LARGEST_NUMBER = 1_000_000  # below EXACT, so that no leaf looks like a finished game
EXAMPLE = "[[3, 5], [2, 9]]"


@dataclass(frozen=True)
class ListSource:
    """Nested lists: a number is a leaf, worth so much for the maximiser."""

    content: Any
    maximising: bool = True
    """Whether the mover is the one who maximises: the mover at the root does."""

    @property
    def mover(self) -> str:
        """What the mover is called."""
        return "MAX" if self.maximising else "MIN"

    def children(self) -> "list[tuple[str, Source]]":
        """What each move leads to, with its name; nothing at a leaf."""
        parts = self.content if isinstance(self.content, list) else []
        return [("", ListSource(part, not self.maximising)) for part in parts]

    def value(self) -> float:
        """What a leaf is worth for the mover."""
        number: float = self.content
        return number if self.maximising else -number

    def peek(self) -> float | None:
        """What is written on a leaf for all to see, for the mover; None where somebody has to evaluate it."""
        return None if isinstance(self.content, list) else self.value()


@dataclass(frozen=True)
class PositionSource:
    """The moves of a position to a depth in plies, then what a heuristic says.

    As in the kernels, a pass is a ply, and a position that comes again ends nothing.
    """

    position: Position
    depth: int
    evaluator: Evaluator
    maximising: bool = True

    @property
    def mover(self) -> str:
        return self.position.mover

    def children(self) -> "list[tuple[str, Source]]":
        here = replace(self.position, past=frozenset())
        moves = here.legal_moves() if self.depth else ()
        below = replace(self, depth=self.depth - 1, maximising=not self.maximising)
        return [(here.format_move(move), replace(below, position=here.after(move))) for move in moves]

    def value(self) -> float:
        here = replace(self.position, past=frozenset())
        own, opp = U(here.own), U(here.opp)
        return int(evaluate(int(here.game), self.evaluator.heuristic, own, opp, here.over, self.evaluator.state))

    def peek(self) -> float | None:
        return None


Source = ListSource | PositionSource


def parse_lists(text: str) -> ListSource:
    """The source of a tree such as `[[3, 5], [2, 9]]`; `NotationError` names the part that is wrong."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        near = text[error.pos : error.pos + 10] or "the end"
        raise NotationError(f"{error.msg} at {near!r}: write nested lists of numbers, such as {EXAMPLE}") from None
    except (RecursionError, ValueError):
        raise NotationError(f"{text[:20]!r}... goes too deep or has too long a number") from None
    if not isinstance(content, list):
        raise NotationError(f"{_shorten(content)} is no tree: write nested lists of numbers, such as {EXAMPLE}")
    return ListSource(_check_part(content, ()))


def _check_part(part: Any, path: tuple[int, ...]) -> Any:
    """A part of nested lists, its whole numbers as integers; the path counts from 1 at each level."""
    where = f"part {'.'.join(map(str, path))}" if path else "the tree"
    if isinstance(part, list):
        if not part:
            raise NotationError(f"{where} is an empty list: give it numbers or lists, such as {EXAMPLE}")
        if len(path) == DEEPEST_LISTS:
            raise NotationError(f"{where} is a list at level {len(path) + 1}: {DEEPEST_LISTS} levels are the most")
        return [_check_part(child, (*path, number)) for number, child in enumerate(part, 1)]
    if isinstance(part, bool) or not isinstance(part, int | float):
        raise NotationError(f"{where}, {_shorten(part)}, is neither a number nor a list, such as {EXAMPLE}")
    if not abs(part) <= LARGEST_NUMBER:
        raise NotationError(f"{where}, {_shorten(part)}, is no number from -{LARGEST_NUMBER} to {LARGEST_NUMBER}")
    return int(part) if part == int(part) else part


def _shorten(part: Any) -> str:
    """A part as it was written, on one short line."""
    text = json.dumps(part, ensure_ascii=False)
    return text if len(text) <= 40 else f"{text[:37]}..."


@dataclass(eq=False)
class SearchNode:
    """A node of a searched tree: what the algorithm knew of it when it left it."""

    name: str
    """The move that leads here; nothing at the root and in nested lists."""
    source: Source = field(repr=False)
    children: "list[SearchNode]" = field(default_factory=list)
    value: float | None = None
    """From the view that the algorithm takes; None if it never came here."""
    window: tuple[float, float] = (-math.inf, math.inf)
    """Alpha and beta as they were on arrival."""
    principal: bool = False
    """Whether best play of both sides comes here."""
    written: float | None = None
    """What nested lists say of a leaf that was cut."""

    @property
    def maximising(self) -> bool:
        """Whether the mover maximises."""
        return self.source.maximising

    @property
    def cut(self) -> bool:
        """Whether the search never came here, because it could not matter."""
        return self.value is None

    @property
    def leaf(self) -> bool:
        """Whether the value comes from no children."""
        return not (self.cut or self.children)

    @property
    def exact(self) -> bool:
        """Whether the value is the result of a finished game."""
        return self.value is not None and abs(self.value) >= EXACT

    @property
    def pruned(self) -> bool:
        """Whether something below was cut."""
        return any(child.cut or child.pruned for child in self.children)

    @property
    def bound(self) -> Literal["lower", "upper"] | None:
        """Which bound the value is, where a cut left it outside the window and so less than certain."""
        if self.value is None or self.window[0] < self.value < self.window[1] or not self.pruned:
            return None
        return "lower" if self.value >= self.window[1] else "upper"

    def walk(self) -> "Iterator[SearchNode]":
        """This node and all below it, in the order in which they were visited or would have been."""
        yield self
        for child in self.children:
            yield from child.walk()

    def as_json(self) -> dict[str, Any]:
        """The node and all below it for machines: values in discs or seeds if exact; no end of a window is null."""
        return {
            "move": self.name,
            "player": "max" if self.maximising else "min",
            "value": _plain(self.value),
            "exact": self.exact,
            "bound": self.bound,
            "window": None if self.cut else [None if math.isinf(end) else end for end in self.window],
            "leaf": self.leaf,
            "cut": self.cut,
            "written": self.written,
            "principal": self.principal,
            "children": [child.as_json() for child in self.children],
        }


def _plain(value: float | None) -> float | None:
    """A value in discs or seeds if the game is finished, else as it is."""
    return int(value / EXACT) if value is not None and abs(value) >= EXACT else value


@dataclass(eq=False)
class SearchTree:
    """A searched tree, and what the search counted."""

    algorithm: str
    root: SearchNode
    label: str
    """What people call the search, such as `alphabeta:positional@3`."""
    nodes: int = 0
    """Visited, the root and the leaves included."""
    leaves: int = 0
    """Evaluated."""
    cut: int = 0
    """Branches never entered."""

    @property
    def mover_view(self) -> bool:
        """Whether values are from the view of each node's mover (negamax), not of the maximiser (minimax)."""
        return self.algorithm.startswith("negamax")

    @property
    def value(self) -> float:
        """The value of the root."""
        return self.root.value or 0

    @property
    def pv(self) -> list[str]:
        """The moves of the principal line; where they have no names, their numbers from 1."""
        names, node = [], self.root
        while node.children:
            number, node = next((number, child) for number, child in enumerate(node.children, 1) if child.principal)
            names.append(node.name or str(number))
        return names

    @cached_property
    def whole(self) -> tuple[int, int] | None:
        """The nodes and leaves that plain minimax visits; None if they are too many to look at."""
        try:
            tree = search_tree("minimax", self.root.source)
        except ConfigError:
            return None
        return tree.nodes, tree.leaves

    def visit(self, node: SearchNode, alpha: float = -math.inf, beta: float = math.inf) -> list[SearchNode]:
        """Come to a node with a window: count it, and list its children, none of them visited yet."""
        node.window = (alpha, beta) if self.mover_view or node.maximising else (-beta, -alpha)
        node.children = [SearchNode(name, source) for name, source in node.source.children()]
        self.nodes += 1
        self.cut += len(node.children)  # until they are visited
        self.cut -= node is not self.root
        if self.nodes + self.cut > MOST_NODES:
            raise ConfigError(f"a tree of more than {MOST_NODES:,} nodes is too large to draw: lower the depth")
        return node.children

    def evaluate(self, node: SearchNode) -> float:
        """The value of a leaf for its mover."""
        self.leaves += 1
        return node.source.value()

    def seen(self, node: SearchNode, value: float) -> float:
        """A mover's value from the view that the algorithm takes."""
        return value if self.mover_view or node.maximising else -value

    def finish(self) -> None:
        """After the search: mark the principal line, and note what is written on leaves that were cut."""
        node, sign = self.root, -1 if self.mover_view else 1
        node.principal = True
        while node.children:
            node = next(child for child in node.children if not child.cut and sign * (child.value or 0) == node.value)
            node.principal = True
        for node in self.root.walk():
            written = node.source.peek() if node.cut else None
            node.written = None if written is None else self.seen(node, written)

    def as_json(self) -> dict[str, Any]:
        """The tree for machines."""
        return {
            "search": self.label,
            "value": _plain(self.value),
            "nodes": self.nodes,
            "leaves": self.leaves,
            "cut": self.cut,
            "pv": self.pv,
            "tree": self.root.as_json(),
        }


def search(tree: SearchTree, node: SearchNode, alpha: float = -math.inf, beta: float = math.inf) -> float:
    """Negamax: the value for the mover, who has `alpha` elsewhere while the opponent concedes at most `beta`."""
    # Step 1. Leaves: their value for the mover.
    children = tree.visit(node, alpha, beta)
    best = -math.inf if children else tree.evaluate(node)
    # Step 2. The best of the children, until the opponent would never allow this position.  Only alpha-beta narrows the
    # window, which changes sides with the mover.
    for child in children:
        if alpha >= beta:
            break
        best = max(best, -search(tree, child, -beta, -alpha))
        alpha = max(alpha, best) if tree.algorithm in PRUNING else alpha
    node.value = tree.seen(node, best)
    return best


def check_algorithm(name: str) -> None:
    """Raise `ConfigError` if no textbook search has this name."""
    if name not in TEXTBOOK:
        raise ConfigError(f"no tree search {name!r}: choose {', '.join(TEXTBOOK)}")


def search_tree(algorithm: str, source: Source, label: str = "") -> SearchTree:
    """Search a source with one of the four algorithms; `ConfigError` if the tree gets too large to draw."""
    check_algorithm(algorithm)
    tree = SearchTree(algorithm, SearchNode("", source), label or algorithm)
    search(tree, tree.root)
    tree.finish()
    return tree
