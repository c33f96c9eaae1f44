"""Games of a network against itself, from which it learns: at each move a small tree, as AlphaZero grows it.

So that games differ and no good move stays unseen, chance has a share in what the network expects at the root, and the
first moves of a game are drawn by their visits; later ones are the most visited.  A position teaches two things: the
shares of the visits its moves got, and its value, halfway between the value that the tree found and the result.
"""

import numpy as np
import numpy.typing as npt

from awello.bits import signed
from awello.kernel import U, Words, kernel
from awello.rules.awale import ABAPA
from awello.rules.game import is_over, legal_moves, play, score
from awello.search.puct import PRIOR, TOTAL, grow
from awello.search.uct import COUNT, FIRST, MOVE, VISITS

NOISE = 0.25  # the share of chance

Nodes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]
Weights = npt.NDArray[np.float32]


@kernel("void(int32[:, ::1], float64[:, ::1], float64[::1])")
def stir(nodes: Nodes, worth: Reals, noise: Reals) -> None:
    """Give chance its share in the priors of the root's children."""
    first = nodes[0, FIRST]
    end = first + nodes[0, COUNT]
    total = 0.0
    for child in range(first, end):
        total += noise[nodes[child, MOVE]]
    for child in range(first, end):
        worth[child, PRIOR] += NOISE * (noise[nodes[child, MOVE]] / total - worth[child, PRIOR])


@kernel("int64(int32[:, ::1], float64[::1], float32[::1])")
def choose(nodes: Nodes, luck: Reals, policy: Weights) -> int:
    """Write the shares of the root's visits down; the move with the most visits for its luck.

    With the same luck for all it is the most visited one; with exponential luck every move is as likely as its share.
    """
    first, best = nodes[0, FIRST], -1.0
    chosen = nodes[first, MOVE]
    policy[:] = 0
    for child in range(first, first + nodes[0, COUNT]):
        move, visits = nodes[child, MOVE], float(nodes[child, VISITS])
        policy[move] = visits / (nodes[0, VISITS] - 1)
        if visits / luck[move] > best:
            best, chosen = visits / luck[move], move
    return int(chosen)


@kernel("boolean(uint64[:, ::1], int64, uint64, uint64)")
def is_repeated(seen: Words, plies: int, own: U, opp: U) -> bool:
    """Whether the same player was to move in this position before."""
    repeated = False
    for ply in range(plies - 2, -1, -2):
        repeated = repeated or (seen[ply, 0] == own and seen[ply, 1] == opp)
    return bool(repeated)


@kernel("int64(int64, uint64, uint64)")
def final_score(game: int, own: U, opp: U) -> int:
    """The score for the mover, also of a game of Awalé that ends because its position has come before."""
    if game <= ABAPA or is_over(game, own, opp):
        return score(game, own, opp)
    return signed(own >> U(48)) - signed(opp >> U(48))


@kernel(
    "int64(int64, int32[:, ::1], uint64[:, ::1], float64[:, ::1], int64[::1], float32[::1], int64, float32[:, ::1],"
    " int64, float64, float64[:, ::1], float64[:, ::1], uint64[:, ::1], float32[:, ::1], float64[:, ::1])"
)
def play_game(
    game: int,
    nodes: Nodes,
    boards: Words,
    worth: Reals,
    path: npt.NDArray[np.int64],
    weights: Weights,
    layers: int,
    work: Weights,
    rounds: int,
    explore: float,
    noise: Reals,
    luck: Reals,
    seen: Words,
    policies: Weights,
    values: Reals,
) -> int:
    """Play from seen[0] to the end and write down own, opp and moves, policy and value of each position; the plies.

    The tree must be empty.  Beside its value a position has its side, 1 for the first player and -1 for the second.
    """
    own, opp, side, plies = seen[0, 0], seen[0, 1], 1, 0
    while plies < len(policies):
        # Step 1. Over, or a pass, which teaches nothing.
        moves = legal_moves(game, own, opp)
        if moves == U(0):
            if is_over(game, own, opp):
                break
            own, opp, side = opp, own, -side
            continue
        if is_repeated(seen, plies, own, opp):
            break
        # Step 2. A tree, with chance at its root.
        boards[0, 0], boards[0, 1] = own, opp
        size = grow(game, nodes, boards, worth, path, weights, layers, work, 1, 1, explore)
        stir(nodes, worth, noise[plies])
        size = grow(game, nodes, boards, worth, path, weights, layers, work, size, rounds - 1, explore)
        # Step 3. Its lesson, and its move.
        seen[plies, 0], seen[plies, 1], seen[plies, 2] = own, opp, moves
        values[plies, 0], values[plies, 1] = -worth[0, TOTAL] / nodes[0, VISITS], side
        own, opp = play(game, own, opp, choose(nodes, luck[plies], policies[plies]))
        side, plies = -side, plies + 1
        nodes[:size] = 0
        worth[:size] = 0
    result = np.sign(final_score(game, own, opp)) * side
    for ply in range(plies):
        values[ply, 0] = 0.5 * (values[ply, 0] + result * values[ply, 1])
    return plies
