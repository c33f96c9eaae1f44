"""UCT: Monte Carlo tree search with *playouts*, random games played to the end (Kocsis and Szepesvári 2006).

A simulation has four steps.  *Select*: from the root down, choose the child with the highest upper confidence bound
until a leaf is reached; the bound of a child is its mean result plus a bonus that is larger for children with fewer
visits.  *Expand*: if the leaf has been visited before, add all its children and continue with the first of them.
*Evaluate*: run a playout from there.  *Backpropagate*: add the result to every node on the path.

A tree is an array of nodes.  The root is node 0, and the children of a node are contiguous.
"""

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from awello.bits import bit_scan, clear_lowest_bit, popcount
from awello.kernel import U, kernel
from awello.layout import Int16, Int32, Layout
from awello.rules.game import PASS, is_over, legal_moves, play, score

MAX_PLAYOUT_PLIES = 400  # games of Awalé can be endless; at this limit, each side gets the seeds in its row
MAX_PATH = 512  # nodes from the root to a leaf: enough for Othello; in Awalé, a leaf at this depth is not expanded
MAX_MOVES = 64  # children of a node, one per square: a leaf is expanded only if the tree has room for this many
WIN, DRAW, LOSS = 2, 1, 0  # results in half points, so that sums are integers

# At index 8 * number + n: the position of the n-th set bit of a six-bit number, where n counts from 0.
NTH_BIT = np.array(
    [([bit for bit in range(6) if word >> bit & 1] + 8 * [0])[n] for word in range(64) for n in range(8)]
)


class TreeNode(Layout):
    """A position, and the results of its simulations for the player whose move led to it.

    Only PUCT uses `total_value` and `prior`.  Without these two fields, a node would take 32 bytes instead of 48, but
    UCT would not be faster.
    """

    own: U
    opp: U
    first_child: Int32
    child_count: Int16  # 0 in a leaf
    move: Int16
    visits: Int32
    half_points: Int32  # the sum of the results of playouts
    total_value: float  # in PUCT: the sum of the values, each from -1 for a loss to 1 for a win
    prior: float  # in PUCT: the predicted share of the parent's visits


class TreePath(Layout):
    """The nodes from the root to a leaf."""

    length: int
    nodes: Annotated[list[int], MAX_PATH]


class TreeState(Layout):
    """The state of a search, except for its nodes."""

    game: int
    node_count: int  # nodes in use
    exploration: float  # the weight of the bonus; a larger weight spreads the visits over more moves
    random_state: U
    path: TreePath


Nodes = npt.NDArray[Any]  # an array of TreeNode


# ---- playouts -------------------------------------------------------------------------------------------------------
@kernel("uint64(uint64)", inline=True)
def xorshift(state: U) -> U:
    """Return the next state of an xorshift generator, which runs through all states except zero (Marsaglia 2003)."""
    state ^= state << U(13)
    state ^= state >> U(7)
    return state ^ state << U(17)


@kernel("int64(uint64, uint64)", inline=True)
def pick_random_move(moves: U, state: U) -> int:
    """Pick one of the moves at random; for Awalé, a table avoids a loop whose branches are hard to predict."""
    skip = ((state >> U(32)) * U(popcount(moves))) >> U(32)
    if moves < U(64):
        return int(NTH_BIT[moves << U(3) | skip])
    while skip != U(0):
        moves = clear_lowest_bit(moves)
        skip -= U(1)
    return bit_scan(moves)


@kernel("int64(int64)", inline=True)
def half_points_of(margin: int) -> int:
    """Return the half points of a player who finishes the game with this margin."""
    return WIN if margin > 0 else DRAW if margin == 0 else LOSS


@kernel("Tuple((int64, uint64))(int64, uint64, uint64, uint64)")
def run_playout(game: int, own: U, opp: U, state: U) -> tuple[int, U]:
    """Play random moves to the end of the game; return the half points of the mover, and the new random state."""
    swapped = False
    for _ in range(MAX_PLAYOUT_PLIES):
        moves = legal_moves(game, own, opp)
        if moves != U(0):
            state = xorshift(state)
            own, opp = play(game, own, opp, pick_random_move(moves, state))
        elif is_over(game, own, opp):
            break
        else:
            own, opp = opp, own
        swapped = not swapped
    result = half_points_of(score(game, own, opp))
    return (WIN - result if swapped else result), state


# ---- nodes ----------------------------------------------------------------------------------------------------------
@kernel("void(TreeNode, uint64, uint64, int64)", inline=True)
def init_node(node: TreeNode, own: U, opp: U, move: int) -> None:
    """Initialise a node as a leaf without visits."""
    node.own, node.opp, node.move = own, opp, move
    node.first_child, node.child_count = 0, 0
    node.visits, node.half_points = 0, 0
    node.total_value, node.prior = 0.0, 0.0


@kernel("void(TreeNode[::1], TreeState, int64, uint64, uint64)")
def init_tree(nodes: Nodes, state: TreeState, game: int, own: U, opp: U) -> None:
    """Start a new tree whose root is a leaf."""
    init_node(nodes[U(0)], own, opp, PASS)
    state.game, state.node_count = game, 1


@kernel("void(TreeNode[::1], TreeState, int64)")
def expand(nodes: Nodes, state: TreeState, leaf: int) -> None:
    """Add all children of a leaf; a finished game has none."""
    node, count = nodes[U(leaf)], state.node_count
    own, opp = node.own, node.opp
    moves = legal_moves(state.game, own, opp)
    if moves == U(0) and not is_over(state.game, own, opp):
        init_node(nodes[U(count)], opp, own, PASS)
        count += 1
    while moves != U(0):
        move = bit_scan(moves)
        moves = clear_lowest_bit(moves)
        child_own, child_opp = play(state.game, own, opp, move)
        init_node(nodes[U(count)], child_own, child_opp, move)
        count += 1
    node.first_child, node.child_count = state.node_count, count - state.node_count
    state.node_count = count


@kernel("int64(TreePath, int64)", inline=True)
def append_node(path: TreePath, node: int) -> int:
    """Append a node to a path and return the node."""
    path.nodes[U(path.length)] = node
    path.length += 1
    return node


# ---- the steps of a simulation --------------------------------------------------------------------------------------
@kernel("int64(TreeNode[::1], TreeNode, float64)", inline=True)
def select_child(nodes: Nodes, parent: TreeNode, exploration: float) -> int:
    """Return the child to visit: a child without visits, else the child with the highest upper confidence bound."""
    bonus = exploration * np.sqrt(np.log(float(max(1, parent.visits))))
    best, chosen = -1.0, int(parent.first_child)
    for child in range(parent.first_child, parent.first_child + parent.child_count):
        visits = float(nodes[U(child)].visits)
        if visits == 0:
            return child
        bound = 0.5 * float(nodes[U(child)].half_points) / visits + bonus / np.sqrt(visits)
        if bound > best:
            best, chosen = bound, child
    return chosen


@kernel("int64(TreeNode[::1], TreeState)")
def select_leaf(nodes: Nodes, state: TreeState) -> int:
    """Step 1, select: descend from the root to a leaf and return it."""
    leaf, path = 0, state.path
    path.length = 1
    while nodes[U(leaf)].child_count > 0 and path.length < MAX_PATH:
        leaf = append_node(path, select_child(nodes, nodes[U(leaf)], state.exploration))
    return leaf


@kernel("int64(TreeNode[::1], TreeState, int64)")
def expand_leaf(nodes: Nodes, state: TreeState, leaf: int) -> int:
    """Step 2, expand: add the children of a visited leaf if there is room; return the first child, else the leaf."""
    node, path = nodes[U(leaf)], state.path
    if node.visits == 0 or state.node_count + MAX_MOVES > len(nodes) or path.length == MAX_PATH:
        return leaf
    expand(nodes, state, leaf)
    return append_node(path, node.first_child) if node.child_count > 0 else leaf


@kernel("int64(TreeState, TreeNode)")
def evaluate_leaf(state: TreeState, node: TreeNode) -> int:
    """Step 3, evaluate: run a playout from a leaf; return the half points of the mover at the leaf."""
    result, state.random_state = run_playout(state.game, node.own, node.opp, state.random_state)
    return result


@kernel("void(TreeNode[::1], TreePath, int64)")
def backpropagate(nodes: Nodes, path: TreePath, result: int) -> None:
    """Step 4, backpropagate: add the result, in half points of the mover at the leaf, to every node of the path."""
    for index in range(path.length - 1, -1, -1):
        result = WIN - result  # half points of the player whose move led to this node
        node = nodes[U(path.nodes[U(index)])]
        node.visits += 1
        node.half_points += result


@kernel("void(TreeNode[::1], TreeState, int64)")
def run_simulations(nodes: Nodes, state: TreeState, simulations: int) -> None:
    """Run this many simulations."""
    for _ in range(simulations):
        leaf = select_leaf(nodes, state)
        leaf = expand_leaf(nodes, state, leaf)
        result = evaluate_leaf(state, nodes[U(leaf)])
        backpropagate(nodes, state.path, result)
