"""PUCT: a tree grown by a network's judgement instead of random games (Silver and others 2017, AlphaZero).

A round *selects* a leaf: it walks down from the root, at every node to the child with the best mean value plus a bonus,
which is larger the more the network expects of the move and the less often it was tried.  It *expands* the leaf at
once, and the network *evaluates* it: how to share its visits out among the children, and who will win; a finished game
is worth its result.  The value is *backpropagated* to every node on the path.

A large network evaluates several leaves at a time (`collect_leaves`, then `resolve_leaves`).  So that they differ,
every walk counts as a loss until its leaf is evaluated (a *virtual loss*).
"""

from typing import Annotated

import numpy as np
import numpy.typing as npt

from awello.evaluate.perceptron import PerceptronState, forward
from awello.kernel import U, kernel
from awello.layout import Layout
from awello.rules.game import PASS, is_over, legal_moves, score
from awello.search.uct import MAX_MOVES, MAX_PATH, Nodes, TreeNode, TreePath, TreeState, append_node, expand

BATCH_SIZE = 8  # leaves that a large network evaluates at a time: more are faster each, but chosen knowing less


class LeafBatch(Layout):
    """Paths to leaves that wait for a network."""

    count: int
    paths: Annotated[list[TreePath], BATCH_SIZE]


Reals = npt.NDArray[np.float32]


# ---- the steps of a round -------------------------------------------------------------------------------------------
@kernel("int64(TreeNode[::1], TreeNode, float64)", inline=True)
def select_child(nodes: Nodes, parent: TreeNode, exploration: float) -> int:
    """The child to visit; one never tried is thought to be worth as much as its parent."""
    visits = float(parent.visits)
    bonus, untried = exploration * np.sqrt(visits), -parent.total_value / max(1.0, visits)
    best, chosen = -np.inf, int(parent.first_child)
    for child in range(parent.first_child, parent.first_child + parent.child_count):
        node = nodes[U(child)]
        visits = float(node.visits)
        mean = node.total_value / visits if visits > 0 else untried
        bound = mean + bonus * node.prior / (1.0 + visits)
        if bound > best:
            best, chosen = bound, child
    return chosen


@kernel("int64(TreeNode[::1], TreePath, float64)", inline=True)
def select_leaf(nodes: Nodes, path: TreePath, exploration: float) -> int:
    """Step 1, select: walk from the root to a leaf; the leaf."""
    leaf = 0
    path.length = 1
    while nodes[U(leaf)].child_count > 0 and path.length < MAX_PATH:
        leaf = append_node(path, select_child(nodes, nodes[U(leaf)], exploration))
    return leaf


@kernel("int64(TreeNode[::1], TreePath, TreeNode)", inline=True)
def follow_pass(nodes: Nodes, path: TreePath, node: TreeNode) -> int:
    """Go on from a node to its only child, which gets all its visits."""
    nodes[U(node.first_child)].prior = 1.0
    return append_node(path, node.first_child)


@kernel("int64(TreeNode[::1], TreeState, int64)")
def expand_leaf(nodes: Nodes, state: TreeState, leaf: int) -> int:
    """Step 2, expand: give a leaf children if there is room, and walk over passes; the end of the path."""
    path = state.path
    while nodes[U(leaf)].child_count == 0 and state.node_count + MAX_MOVES <= len(nodes) and path.length < MAX_PATH:
        expand(nodes, state, leaf)
        node = nodes[U(leaf)]
        if node.child_count == 0 or nodes[U(node.first_child)].move != PASS:
            break
        leaf = follow_pass(nodes, path, node)
    return leaf


@kernel("void(TreeNode[::1], TreeNode, float32[::1])")
def set_priors(nodes: Nodes, parent: TreeNode, promises: Reals | list[float]) -> None:
    """Share a node's visits out among its children by the softmax of what their moves promise."""
    first = parent.first_child
    end = first + parent.child_count
    most, total = -np.inf, 0.0
    for child in range(first, end):
        most = max(most, float(promises[U(nodes[U(child)].move)]))
    for child in range(first, end):
        share = np.exp(float(promises[U(nodes[U(child)].move)]) - most)  # at most 1: nothing can overflow
        nodes[U(child)].prior = share
        total += share
    for child in range(first, end):
        nodes[U(child)].prior /= total


@kernel("float64(TreeNode[::1], TreeState, int64, float32[::1], PerceptronState)")
def evaluate_leaf(nodes: Nodes, state: TreeState, leaf: int, weights: Reals, perceptron: PerceptronState) -> float:
    """Step 3, evaluate: the value of a leaf for the player to move; new children get their priors."""
    node = nodes[U(leaf)]
    if node.child_count == 0 and is_over(state.game, node.own, node.opp):
        return float(np.sign(score(state.game, node.own, node.opp)))
    value = forward(state.game, node.own, node.opp, weights, perceptron)
    if node.child_count > 0 and node.visits == 0:
        set_priors(nodes, node, perceptron.outputs[0:])
    return value


@kernel("void(TreeNode[::1], TreePath, float64)")
def backpropagate(nodes: Nodes, path: TreePath, value: float) -> None:
    """Step 4, backpropagate: add what the end of a path is worth to the mover there to every node of it."""
    for place in range(path.length - 1, -1, -1):
        value = -value  # for the player who moved here
        node = nodes[U(path.nodes[U(place)])]
        node.visits += 1
        node.total_value += value


@kernel("void(TreeNode[::1], TreeState, float32[::1], PerceptronState, int64)")
def grow(nodes: Nodes, state: TreeState, weights: Reals, perceptron: PerceptronState, rounds: int) -> None:
    """Grow a tree by so many rounds, each with an evaluation by a perceptron."""
    for _ in range(rounds):
        leaf = select_leaf(nodes, state.path, state.exploration)
        leaf = expand_leaf(nodes, state, leaf)
        value = evaluate_leaf(nodes, state, leaf, weights, perceptron)
        backpropagate(nodes, state.path, value)


# ---- several leaves at a time ---------------------------------------------------------------------------------------
@kernel("void(TreeNode[::1], TreePath, int64)")
def add_virtual_losses(nodes: Nodes, path: TreePath, count: int) -> None:
    """Count visits that both sides lose on a path, or take them back if the count is negative."""
    for place in range(path.length):
        node = nodes[U(path.nodes[U(place)])]
        node.visits += count
        node.total_value -= count


@kernel("int64(TreeNode[::1], TreeState, TreePath, int64)")
def skip_pass(nodes: Nodes, state: TreeState, path: TreePath, leaf: int) -> int:
    """Walk over a pass, which leaves no choice; the end of the path."""
    node = nodes[U(leaf)]
    if path.length == MAX_PATH or state.node_count == len(nodes) or legal_moves(state.game, node.own, node.opp) != U(0):
        return leaf
    expand(nodes, state, leaf)
    return follow_pass(nodes, path, node) if node.child_count > 0 else leaf


@kernel("boolean(LeafBatch, int64)")
def is_in_batch(batch: LeafBatch, leaf: int) -> bool:
    """Whether a leaf is in the batch already."""
    for number in range(batch.count):
        path = batch.paths[U(number)]
        if path.nodes[U(path.length - 1)] == leaf:
            return True
    return False


@kernel("int64(TreeNode[::1], TreeState, LeafBatch, int64)")
def collect_leaves(nodes: Nodes, state: TreeState, batch: LeafBatch, rounds: int) -> int:
    """Walk to leaves that a network is to evaluate; the rounds done, which end early if a leaf is met again.

    A walk to a finished game is a round too, and is backpropagated at once.
    """
    batch.count = 0
    for done in range(rounds):
        path = batch.paths[U(batch.count)]
        leaf = select_leaf(nodes, path, state.exploration)
        leaf = skip_pass(nodes, state, path, leaf)
        node = nodes[U(leaf)]
        if is_over(state.game, node.own, node.opp):
            backpropagate(nodes, path, float(np.sign(score(state.game, node.own, node.opp))))
        elif is_in_batch(batch, leaf):
            return done
        else:
            add_virtual_losses(nodes, path, 1)
            batch.count += 1
    return rounds


@kernel("void(TreeNode[::1], TreeState, LeafBatch, float32[:, ::1], float32[::1])")
def resolve_leaves(nodes: Nodes, state: TreeState, batch: LeafBatch, promises: Reals, values: Reals) -> None:
    """Expand the leaves of a batch, and backpropagate what the network says of them."""
    for number in range(batch.count):
        path = batch.paths[U(number)]
        leaf = path.nodes[U(path.length - 1)]
        add_virtual_losses(nodes, path, -1)
        if state.node_count + MAX_MOVES <= len(nodes):
            expand(nodes, state, leaf)
            set_priors(nodes, nodes[U(leaf)], promises[U(number)])
        backpropagate(nodes, path, float(values[U(number)]))
