"""The iterative deepening of `search/iterative_kernels.py`, in plain Python and on small explicit trees.

The searches and the first tree are from report 4, section II.3.

The search to each depth finds a *variation* for each root move: the principal variation for the best move, a
refutation for every other move.  At the next depth, the *hints* are searched first: no moves (`none`), the best move
(`move`), its whole variation (`pv`), or the variations of all root moves (`refutations`, the refutation tables).  The
moves of a variation are hints only below its own root move.
"""

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

Variation = tuple[str, ...]

# Report 4 shows its tree of 27 leaves without values.  These values were chosen to reproduce the report's leaf counts
# and variations (3 3.2, 1 1.3, 2 2.2); all of them are from the point of view of the root's mover.
SHALLOW_VALUES = [[18, 10, 9], [15, 8, 17], [15, 10, 11]]
DEEP_VALUES = [
    [[18, 17, 12], [9, 4, 10], [11, 4, 6]],
    [[11, 16, 8], [10, 6, 8], [12, 5, 14]],
    [[15, 12, 6], [8, 11, 7], [11, 4, 11]],
]

MAX_LEAF_VALUE, MAX_NOISE = 99, 20  # for random trees; MAX_NOISE is the maximum error of the shallow values
BRANCHING = (3, 5)


@dataclass(frozen=True)
class ExampleNode:
    """A position in a tree: its static value for its mover, and its children by move."""

    value: float
    children: Mapping[str, "ExampleNode"] = field(default_factory=dict)


@dataclass(frozen=True)
class DepthResult:
    """The result of the search to one depth."""

    depth: int
    move: str
    value: float
    variations: dict[str, Variation]
    """The variation of each root move; its first move is the root move."""
    leaves: int


# ---- searches -------------------------------------------------------------------------------------------------------
def minimax(node: ExampleNode, depth: int) -> tuple[float, int]:
    """Return the minimax value of a tree searched to a depth, and the number of leaves."""
    if depth == 0 or not node.children:
        return node.value, 1
    results = [minimax(child, depth - 1) for child in node.children.values()]
    return max(-value for value, _ in results), sum(leaves for _, leaves in results)


def deepen(
    root: ExampleNode, depths: Iterable[int], hints: str = "refutations", order: Sequence[str] = ()
) -> Iterator[DepthResult]:
    """Search to each depth, trying the hints from the previous depth first, then the moves in `order`."""
    previous = None
    for depth in depths:
        previous = search_depth(root, depth, hints, order, previous)
        yield previous


def search_depth(
    root: ExampleNode, depth: int, hints: str, order: Sequence[str], previous: DepthResult | None
) -> DepthResult:
    """Search the root to a depth, with hints from the result of the previous depth."""
    best, best_move, leaves = -math.inf, "", 0
    variations: dict[str, Variation] = {}
    first = [previous.move] if previous and hints != "none" else []
    for move in sort_moves(root.children, [*first, *order]):
        hinted = previous and (hints == "refutations" or (hints == "pv" and move == previous.move))
        search = ExampleSearch([*previous.variations[move], *order] if previous and hinted else order)
        found, answers = search.search(root.children[move], -math.inf, -best, depth - 1)
        variations[move], leaves = (move, *answers), leaves + search.leaves
        if -found > best:
            best, best_move = -found, move
    return DepthResult(depth, best_move, best, variations, leaves)


class ExampleSearch:
    """Alpha-beta with a fixed move order; counts leaves."""

    def __init__(self, order: Sequence[str]) -> None:
        self.order, self.leaves = order, 0

    def search(self, node: ExampleNode, alpha: float, beta: float, depth: int) -> tuple[float, Variation]:
        """Return the fail-soft value and the best line, which is empty if no move raised alpha."""
        if depth == 0 or not node.children:
            self.leaves += 1
            return node.value, ()
        best, variation = -math.inf, Variation()
        for move in sort_moves(node.children, self.order):
            found, answers = self.search(node.children[move], -beta, -alpha, depth - 1)
            best = max(best, -found)
            if -found > alpha:
                alpha, variation = -found, (move, *answers)
                if alpha >= beta:
                    break
        return best, variation


def sort_moves(moves: Iterable[str], order: Sequence[str]) -> list[str]:
    """Sort moves as in `order`; moves that it does not contain come last, in their original order."""
    return sorted(moves, key=lambda move: order.index(move) if move in order else len(order))


# ---- trees ----------------------------------------------------------------------------------------------------------
def make_report4_tree() -> ExampleNode:
    """Make report 4's tree with 27 leaves."""
    return build_tree(DEEP_VALUES, SHALLOW_VALUES)


def make_random_tree(rng: random.Random) -> ExampleNode:
    """Make a tree of three levels with random leaves; the values of their parents are the true values plus noise."""

    def moves() -> range:
        return range(rng.randint(*BRANCHING))

    deep = [[[rng.randint(-MAX_LEAF_VALUE, MAX_LEAF_VALUE) for _ in moves()] for _ in moves()] for _ in moves()]
    return build_tree(deep, [[max(leaves) + rng.randint(-MAX_NOISE, MAX_NOISE) for leaves in part] for part in deep])


def build_tree(deep: Sequence[Sequence[Sequence[int]]], shallow: Sequence[Sequence[int]]) -> ExampleNode:
    """Build a tree of three levels; `deep` has the values of the leaves and `shallow` those of their parents.

    Both give the values from the point of view of the root's mover.
    """
    root: dict[str, ExampleNode] = {}
    for one, (part, values) in enumerate(zip(deep, shallow, strict=True), 1):
        replies = {}
        for two, (leaves, value) in enumerate(zip(part, values, strict=True), 1):
            leaf_nodes = {f"{one}.{two}.{three}": ExampleNode(-leaf) for three, leaf in enumerate(leaves, 1)}
            replies[f"{one}.{two}"] = ExampleNode(value, leaf_nodes)
        root[f"{one}"] = ExampleNode(0, replies)
    return ExampleNode(0, root)
