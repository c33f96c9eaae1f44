"""PUCT: a tree grown by a neural network's evaluations instead of playouts (Silver et al. 2017, AlphaZero).

The neural network is a perceptron or the convolutional network.  A simulation *selects* a leaf: from the root down, it
chooses the child whose mean value plus a bonus is highest; the bonus is larger for a higher prior and for fewer visits.
The simulation then *expands* and *evaluates* the leaf: the neural network predicts the priors of the children, and the
expected result, which is the value of the leaf.  If the game is over at the leaf, its value is the actual result.  The
value is *backpropagated* to every node on the path.

The convolutional network evaluates several leaves at a time (`collect_leaves`, then `resolve_leaves`).  To select
different leaves, every visit counts as a loss until its leaf is evaluated (a *virtual loss*).
"""

from typing import Annotated

import numpy as np

from awello.evaluate.perceptron import PerceptronState, forward
from awello.kernel import Float32Array, U, kernel
from awello.layout import Layout
from awello.rules.game import PASS, is_over, legal_moves, score
from awello.search.uct import MAX_MOVES, MAX_PATH, Nodes, TreeNode, TreePath, TreeState, append_node, expand

# Leaves per evaluation by the convolutional network.  Larger batches are faster per leaf, but their leaves are selected
# with less information.
BATCH_SIZE = 8


class LeafBatch(Layout):
    """The paths to the leaves that are evaluated next."""

    count: int
    paths: Annotated[list[TreePath], BATCH_SIZE]


# ---- the steps of a simulation --------------------------------------------------------------------------------------
@kernel("int64(TreeNode[::1], TreeNode, float64)", inline=True)
def select_child(nodes: Nodes, parent: TreeNode, exploration: float) -> int:
    """Return the child to visit; a child without visits is assumed to have the value of its parent."""
    visits = float(parent.visits)
    bonus, unvisited = exploration * np.sqrt(visits), -parent.total_value / max(1.0, visits)
    best, chosen = -np.inf, int(parent.first_child)
    for child in range(parent.first_child, parent.first_child + parent.child_count):
        node = nodes[U(child)]
        visits = float(node.visits)
        mean = node.total_value / visits if visits > 0 else unvisited
        bound = mean + bonus * node.prior / (1.0 + visits)
        if bound > best:
            best, chosen = bound, child
    return chosen


@kernel("int64(TreeNode[::1], TreePath, float64)", inline=True)
def select_leaf(nodes: Nodes, path: TreePath, exploration: float) -> int:
    """Step 1, select: descend from the root to a leaf and return it."""
    leaf = 0
    path.length = 1
    while nodes[U(leaf)].child_count > 0 and path.length < MAX_PATH:
        leaf = append_node(path, select_child(nodes, nodes[U(leaf)], exploration))
    return leaf


@kernel("int64(TreeNode[::1], TreePath, TreeNode)", inline=True)
def follow_pass(nodes: Nodes, path: TreePath, node: TreeNode) -> int:
    """Extend the path from a node to its only child, which gets a prior of one."""
    nodes[U(node.first_child)].prior = 1.0
    return append_node(path, node.first_child)


@kernel("int64(TreeNode[::1], TreeState, int64)")
def expand_leaf(nodes: Nodes, state: TreeState, leaf: int) -> int:
    """Step 2, expand: add the children of a leaf if they fit into the tree, and follow passes; return the new leaf."""
    path = state.path
    while nodes[U(leaf)].child_count == 0 and state.node_count + MAX_MOVES <= len(nodes) and path.length < MAX_PATH:
        expand(nodes, state, leaf)
        node = nodes[U(leaf)]
        if node.child_count == 0 or nodes[U(node.first_child)].move != PASS:
            break
        leaf = follow_pass(nodes, path, node)
    return leaf


@kernel("void(TreeNode[::1], TreeNode, float32[::1])")
def set_priors(nodes: Nodes, parent: TreeNode, logits: Float32Array | list[float]) -> None:
    """Set the priors of a node's children to the softmax of their logits."""
    first = parent.first_child
    end = first + parent.child_count
    largest, total = -np.inf, 0.0
    for child in range(first, end):
        largest = max(largest, float(logits[U(nodes[U(child)].move)]))
    for child in range(first, end):
        share = np.exp(float(logits[U(nodes[U(child)].move)]) - largest)  # at most 1: no overflow
        nodes[U(child)].prior = share
        total += share
    for child in range(first, end):
        nodes[U(child)].prior /= total


@kernel("float64(TreeNode[::1], TreeState, int64, float32[::1], PerceptronState)")
def evaluate_leaf(
    nodes: Nodes, state: TreeState, leaf: int, weights: Float32Array, perceptron_state: PerceptronState
) -> float:
    """Step 3, evaluate: return the value of a leaf for the player to move, and set the priors of new children."""
    node = nodes[U(leaf)]
    if node.child_count == 0 and is_over(state.game, node.own, node.opp):
        return float(np.sign(score(state.game, node.own, node.opp)))
    value = forward(state.game, node.own, node.opp, weights, perceptron_state)
    if node.child_count > 0 and node.visits == 0:
        set_priors(nodes, node, perceptron_state.outputs[0:])
    return value


@kernel("void(TreeNode[::1], TreePath, float64)")
def backpropagate(nodes: Nodes, path: TreePath, value: float) -> None:
    """Step 4, backpropagate: add the value of the leaf, from its mover's view, to every node of the path."""
    for index in range(path.length - 1, -1, -1):
        value = -value  # now from the point of view of the player who made this move
        node = nodes[U(path.nodes[U(index)])]
        node.visits += 1
        node.total_value += value


@kernel("void(TreeNode[::1], TreeState, float32[::1], PerceptronState, int64)")
def run_simulations(
    nodes: Nodes, state: TreeState, weights: Float32Array, perceptron_state: PerceptronState, simulations: int
) -> None:
    """Run this many simulations with evaluations by a perceptron."""
    for _ in range(simulations):
        leaf = select_leaf(nodes, state.path, state.exploration)
        leaf = expand_leaf(nodes, state, leaf)
        value = evaluate_leaf(nodes, state, leaf, weights, perceptron_state)
        backpropagate(nodes, state.path, value)


# ---- batches of leaves ----------------------------------------------------------------------------------------------
@kernel("void(TreeNode[::1], TreePath, int64)")
def add_virtual_losses(nodes: Nodes, path: TreePath, count: int) -> None:
    """Add `count` lost visits to every node of a path; a negative count removes them."""
    for index in range(path.length):
        node = nodes[U(path.nodes[U(index)])]
        node.visits += count
        node.total_value -= count


@kernel("int64(TreeNode[::1], TreeState, TreePath, int64)")
def skip_pass(nodes: Nodes, state: TreeState, path: TreePath, leaf: int) -> int:
    """If the only move at a leaf is a pass and there is room, add the child and return it; else return the leaf."""
    node = nodes[U(leaf)]
    if path.length == MAX_PATH or state.node_count == len(nodes) or legal_moves(state.game, node.own, node.opp) != U(0):
        return leaf
    expand(nodes, state, leaf)
    return follow_pass(nodes, path, node) if node.child_count > 0 else leaf


@kernel("boolean(LeafBatch, int64)")
def is_in_batch(batch: LeafBatch, leaf: int) -> bool:
    """Return whether a leaf is already in the batch."""
    for number in range(batch.count):
        path = batch.paths[U(number)]
        if path.nodes[U(path.length - 1)] == leaf:
            return True
    return False


@kernel("int64(TreeNode[::1], TreeState, LeafBatch, int64)")
def collect_leaves(nodes: Nodes, state: TreeState, batch: LeafBatch, simulations: int) -> int:
    """Select leaves for evaluation by the network; return the number of simulations started.

    The selection ends early if it reaches a leaf that is already in the batch.  The result of a finished game is
    backpropagated immediately and counts as a simulation.
    """
    batch.count = 0
    for done in range(simulations):
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
    return simulations


@kernel("void(TreeNode[::1], TreeState, LeafBatch, float32[:, ::1], float32[::1])")
def resolve_leaves(
    nodes: Nodes, state: TreeState, batch: LeafBatch, logits: Float32Array, values: Float32Array
) -> None:
    """Expand the leaves of a batch and backpropagate their evaluations."""
    for number in range(batch.count):
        path = batch.paths[U(number)]
        leaf = path.nodes[U(path.length - 1)]
        add_virtual_losses(nodes, path, -1)
        if state.node_count + MAX_MOVES <= len(nodes):
            expand(nodes, state, leaf)
            set_priors(nodes, nodes[U(leaf)], logits[U(number)])
        backpropagate(nodes, path, float(values[U(number)]))
