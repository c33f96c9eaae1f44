"""UCT: a tree of visit counts, grown by random games played to the end (Kocsis and Szepesvári 2006).

Each round walks down from the root, at every node to the child with the best upper confidence bound: its mean result
plus a bonus that is the larger the less often it was tried.  A leaf that is met again gets all its children.  From the
end of the walk a random game is played, and its result is told to every node on the way.  A node is a row of arrays;
its points count halves of a game for the player who moved into it, so that a parent maximises over its children.
The loop of these rounds is `ppaf.grow`, which serves both.
"""

import numpy as np
import numpy.typing as npt

from awello.bits import index_of, popcount, rest_of
from awello.kernel import U, Words, kernel
from awello.rules.game import PASS, is_over, legal_moves, play, score

LONGEST = 400  # plies of a random game; seeds that are still in play then go to nobody
DEEPEST = 512  # plies of the tree
MOST_MOVES = 64
NTH = np.array([([pit for pit in range(6) if pits >> pit & 1] + 8 * [0])[n] for pits in range(64) for n in range(8)])
FIRST, COUNT, MOVE, VISITS, POINTS = range(5)  # a node: its first child, their number; its move, visits, half points

Nodes = npt.NDArray[np.int32]


@kernel("uint64(uint64)", inline=True)
def shuffle(state: U) -> U:
    """The next state of a xorshift generator."""
    state ^= state << U(13)
    state ^= state >> U(7)
    return state ^ state << U(17)


@kernel("int64(uint64, uint64)", inline=True)
def random_move(moves: U, state: U) -> int:
    """One of the moves, all equally likely; a table spares Awalé a branch that no processor can foretell."""
    skip = ((state >> U(32)) * U(popcount(moves))) >> U(32)
    if moves < U(64):
        return int(NTH[moves << U(3) | skip])
    while skip != U(0):
        moves = rest_of(moves)
        skip -= U(1)
    return index_of(moves)


@kernel("Tuple((int64, uint64))(int64, uint64, uint64, uint64)")
def playout(game: int, own: U, opp: U, state: U) -> tuple[int, U]:
    """The half points of the mover in a random game from here, and the generator's next state."""
    swapped = False
    for _ in range(LONGEST):
        moves = legal_moves(game, own, opp)
        if moves != U(0):
            state = shuffle(state)
            own, opp = play(game, own, opp, random_move(moves, state))
        elif is_over(game, own, opp):
            break
        else:
            own, opp = opp, own
        swapped = not swapped
    final = score(game, own, opp)
    result = 2 if final > 0 else 1 if final == 0 else 0
    return (2 - result if swapped else result), state


@kernel("int64(int64, int32[:, ::1], uint64[:, ::1], int64, int64)")
def expand(game: int, nodes: Nodes, boards: Words, node: int, size: int) -> int:
    """Give a node all its children; the new size of the tree."""
    own, opp = boards[node, 0], boards[node, 1]
    moves = legal_moves(game, own, opp)
    if moves == U(0) and not is_over(game, own, opp):
        boards[size, 0], boards[size, 1] = opp, own
        nodes[size, MOVE] = PASS
        nodes[node, FIRST], nodes[node, COUNT] = size, 1
        return size + 1
    nodes[node, FIRST] = size
    while moves != U(0):
        move = index_of(moves)
        moves = rest_of(moves)
        boards[size, 0], boards[size, 1] = play(game, own, opp, move)
        nodes[size, MOVE] = move
        size += 1
    nodes[node, COUNT] = size - nodes[node, FIRST]
    return size


@kernel("int64(int32[:, ::1], int64, float64)", inline=True)
def best_child(nodes: Nodes, node: int, explore: float) -> int:
    """The child to visit: one never tried, else that of the best upper confidence bound."""
    bonus = explore * np.sqrt(np.log(float(max(1, nodes[node, VISITS]))))
    best, chosen = -1.0, nodes[node, FIRST]
    for child in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, COUNT]):
        visits = float(nodes[child, VISITS])
        if visits == 0:
            return child
        bound = 0.5 * float(nodes[child, POINTS]) / visits + bonus / np.sqrt(visits)
        if bound > best:
            best, chosen = bound, child
    return int(chosen)


@kernel("UniTuple(int64, 2)(int64, int32[:, ::1], uint64[:, ::1], int64[::1], int64, float64)")
def descend(
    game: int, nodes: Nodes, boards: Words, path: npt.NDArray[np.int64], size: int, explore: float
) -> tuple[int, int]:
    """Walk from the root to a leaf, which grows children if it was met before; nodes on the path, size of the tree."""
    node, length = 0, 1
    while nodes[node, COUNT] > 0 and length < DEEPEST:
        node = best_child(nodes, node, explore)
        path[length] = node
        length += 1
    if nodes[node, VISITS] > 0 and size + MOST_MOVES <= len(nodes) and length < DEEPEST:
        size = expand(game, nodes, boards, node, size)
        if nodes[node, COUNT] > 0:
            path[length] = nodes[node, FIRST]
            length += 1
    return length, size


@kernel("void(int32[:, ::1], int64[::1], int64, int64)")
def tell(nodes: Nodes, path: npt.NDArray[np.int64], length: int, result: int) -> None:
    """Tell every node of a path the half points that its end won for the mover there."""
    for place in range(length - 1, -1, -1):
        result = 2 - result  # for the player who moved here
        nodes[path[place], VISITS] += 1
        nodes[path[place], POINTS] += result
