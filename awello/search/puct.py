"""PUCT: a tree grown by a network's judgement instead of random games (Silver and others 2017, AlphaZero).

Each round walks down from the root, at every node to the child with the best mean result plus a bonus, which is larger
the more the network expects of the move and the less often it was tried.  A leaf gets all its children at once, with
the network's expectations of them; its worth is what the network says, or the result if the game is over there, and is
told to every node on the way.  A node is a row as in `uct.py`, beside two numbers: its prior, the share of the
parent's visits that the network expects it to deserve, and its total, the sum of its results, from -1 for a loss to 1
for a win, for the player who moved into it.

A large network is asked about several leaves at a time (`reach`, then `settle`).  So that they differ, a walk counts as
a loss until its leaf is judged.
"""

import numpy as np
import numpy.typing as npt

from awello.evaluate.perceptron import OUTPUTS, judge
from awello.kernel import U, Words, kernel
from awello.rules.game import PASS, is_over, legal_moves, score
from awello.search.uct import COUNT, DEEPEST, FIRST, MOST_MOVES, MOVE, VISITS, expand

PRIOR, TOTAL = range(2)

Nodes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]


@kernel("int64(int32[:, ::1], float64[:, ::1], int64, float64)", inline=True)
def best_child(nodes: Nodes, worth: Reals, node: int, explore: float) -> int:
    """The child to visit; one never tried is thought to be worth as much as its parent."""
    visits = float(nodes[node, VISITS])
    bonus, hope = explore * np.sqrt(visits), -worth[node, TOTAL] / max(1.0, visits)
    first, best = nodes[node, FIRST], -np.inf
    chosen = first
    for child in range(first, first + nodes[node, COUNT]):
        visits = float(nodes[child, VISITS])
        mean = worth[child, TOTAL] / visits if visits > 0 else hope
        bound = mean + bonus * worth[child, PRIOR] / (1.0 + visits)
        if bound > best:
            best, chosen = bound, child
    return int(chosen)


@kernel("UniTuple(int64, 2)(int32[:, ::1], float64[:, ::1], int64[::1], float64)", inline=True)
def walk(nodes: Nodes, worth: Reals, path: npt.NDArray[np.int64], explore: float) -> tuple[int, int]:
    """Walk from the root to a leaf; the leaf, and how many nodes the path has."""
    leaf, length = 0, 1
    path[0] = 0
    while nodes[leaf, COUNT] > 0 and length < DEEPEST:
        leaf = best_child(nodes, worth, leaf, explore)
        path[length] = leaf
        length += 1
    return leaf, length


@kernel("void(int32[:, ::1], float64[:, ::1], int64, float32[::1])")
def set_priors(nodes: Nodes, worth: Reals, node: int, promises: Weights) -> None:
    """Share a node's visits out among its children by what their moves promise; other moves get nothing."""
    first = nodes[node, FIRST]
    end = first + nodes[node, COUNT]
    most, total = -np.inf, 0.0
    for child in range(first, end):
        most = max(most, float(promises[nodes[child, MOVE]]))
    for child in range(first, end):
        worth[child, PRIOR] = np.exp(float(promises[nodes[child, MOVE]]) - most)
        total += worth[child, PRIOR]
    for child in range(first, end):
        worth[child, PRIOR] /= total


@kernel("void(int32[:, ::1], float64[:, ::1], int64[::1], int64, float64)")
def tell(nodes: Nodes, worth: Reals, path: npt.NDArray[np.int64], length: int, value: float) -> None:
    """Tell every node of a path what its end is worth for the mover there."""
    for place in range(length - 1, -1, -1):
        value = -value  # for the player who moved here
        nodes[path[place], VISITS] += 1
        worth[path[place], TOTAL] += value


@kernel(
    "int64(int64, int32[:, ::1], uint64[:, ::1], float64[:, ::1], int64[::1], float32[::1], int64, float32[:, ::1],"
    " int64, int64, float64)"
)
def grow(
    game: int,
    nodes: Nodes,
    boards: Words,
    worth: Reals,
    path: npt.NDArray[np.int64],
    weights: Weights,
    layers: int,
    work: Weights,
    size: int,
    rounds: int,
    explore: float,
) -> int:
    """So many rounds; the size of the tree after them."""
    for _ in range(rounds):
        # Step 1. Walk to a leaf.
        leaf, length = walk(nodes, worth, path, explore)
        # Step 2. Give it children; a pass leaves no choice and is walked over at once.
        while nodes[leaf, COUNT] == 0 and size + MOST_MOVES <= len(nodes) and length < DEEPEST:
            size = expand(game, nodes, boards, leaf, size)
            if nodes[leaf, COUNT] == 0 or nodes[nodes[leaf, FIRST], MOVE] != PASS:
                break
            leaf = nodes[leaf, FIRST]
            worth[leaf, PRIOR] = 1.0
            path[length] = leaf
            length += 1
        # Step 3. Ask what it is worth.
        own, opp = boards[leaf, 0], boards[leaf, 1]
        if nodes[leaf, COUNT] == 0 and is_over(game, own, opp):
            value = float(np.sign(score(game, own, opp)))
        else:
            value = judge(game, own, opp, weights, layers, work)
            if nodes[leaf, COUNT] > 0 and nodes[leaf, VISITS] == 0:
                set_priors(nodes, worth, leaf, work[OUTPUTS])
        tell(nodes, worth, path, length, value)
    return size


@kernel(
    "UniTuple(int64, 3)(int64, int32[:, ::1], uint64[:, ::1], float64[:, ::1], int64[:, ::1], int64[::1], int64, int64,"
    " float64)"
)
def reach(
    game: int,
    nodes: Nodes,
    boards: Words,
    worth: Reals,
    paths: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    size: int,
    rounds: int,
    explore: float,
) -> tuple[int, int, int]:
    """Walk to leaves that a network is to judge; how many wait, the rounds done, the size of the tree.

    Walks to finished games are rounds too, and are told at once.  A leaf that is met again ends it before its time.
    """
    waiting, done = 0, 0
    while done < rounds:
        # Step 1. Walk to a leaf.
        path = paths[waiting]
        leaf, length = walk(nodes, worth, path, explore)
        # Step 2. A pass leaves no choice and is walked over.
        if length < DEEPEST and size < len(nodes) and legal_moves(game, boards[leaf, 0], boards[leaf, 1]) == U(0):
            size = expand(game, nodes, boards, leaf, size)
            if nodes[leaf, COUNT] > 0:
                leaf = nodes[leaf, FIRST]
                worth[leaf, PRIOR] = 1.0
                path[length] = leaf
                length += 1
        # Step 3. Tell the result, or let the leaf wait.
        own, opp = boards[leaf, 0], boards[leaf, 1]
        if is_over(game, own, opp):
            tell(nodes, worth, path, length, float(np.sign(score(game, own, opp))))
        else:
            for other in range(waiting):
                if paths[other, lengths[other] - 1] == leaf:
                    return waiting, done, size
            for place in range(length):
                nodes[path[place], VISITS] += 1
                worth[path[place], TOTAL] -= 1
            lengths[waiting] = length
            waiting += 1
        done += 1
    return waiting, done, size


@kernel(
    "int64(int64, int32[:, ::1], uint64[:, ::1], float64[:, ::1], int64[:, ::1], int64[::1], int64, int64,"
    " float32[:, ::1], float32[::1])"
)
def settle(
    game: int,
    nodes: Nodes,
    boards: Words,
    worth: Reals,
    paths: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    size: int,
    waiting: int,
    promises: Weights,
    values: Weights,
) -> int:
    """Give the leaves that wait their children, and tell what the network said of them; the size of the tree."""
    for number in range(waiting):
        path, length = paths[number], lengths[number]
        leaf = path[length - 1]
        for place in range(length):
            nodes[path[place], VISITS] -= 1
            worth[path[place], TOTAL] += 1
        if size + MOST_MOVES <= len(nodes):
            size = expand(game, nodes, boards, leaf, size)
            set_priors(nodes, worth, leaf, promises[number])
        tell(nodes, worth, path, length, float(values[number]))
    return size
