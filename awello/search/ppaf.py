"""PPAF: UCT whose random games learn, move by move, what tends to win (Cazenave and Diemert 2018).

A random game does not choose evenly but by weights: a move is as likely as the exponential of the weight of its
*features* says.  After each game the policy adapts: the winner's moves gain weight, at the cost of the moves that
could have been played instead.  Features are what makes moves alike: in Awalé the pit, its seeds and the seeds where
the last one lands (report 1's categories), in Othello the square and how many discs it turns.  The weights are kept
from one decision of a game to the next.
"""

import numpy as np
import numpy.typing as npt

from awello.bits import index_of, popcount, rest_of
from awello.kernel import U, Words, kernel
from awello.rules.awale import ABAPA, BYTE
from awello.rules.game import is_over, legal_moves, play, score
from awello.search.uct import LONGEST, MOST_MOVES, descend, shuffle, tell
from awello.search.uct import playout as play_randomly

KINDS = 6 * 48 * 49  # of moves
LEARNING = 0.32  # what the winner's move gains
SCALE = 2.0**-53

Nodes = npt.NDArray[np.int32]
Reals = npt.NDArray[np.float64]


@kernel("int64(int64, uint64, uint64, int64)")
def kind_of(game: int, own: U, opp: U, move: int) -> int:
    """The number of a move's features."""
    if game >= ABAPA:  # here and not in `rules`: what makes moves alike is no rule of the game
        seeds = int(own >> U(8 * move) & BYTE)
        place = (move + 1 + (seeds - 1) % 11) % 12  # a long lap skips the pit it began in
        row, pit = (own, place) if place < 6 else (opp, place - 6)
        landing = int(row >> U(8 * pit) & BYTE)
        return move + 6 * min(seeds, 47) + 6 * 48 * landing
    turned = popcount(opp) - popcount(play(game, own, opp, move)[0])
    return move + 64 * min(turned, 7)


@kernel("float64(int64, uint64, uint64, uint64, float64[::1], float64[::1])")
def weigh(game: int, own: U, opp: U, moves: U, weights: Reals, shares: Reals) -> float:
    """Write down how likely each move is, in the order of the bits; their sum."""
    total, count = 0.0, 0
    while moves != U(0):
        shares[count] = np.exp(weights[kind_of(game, own, opp, index_of(moves))])
        total += shares[count]
        moves = rest_of(moves)
        count += 1
    return total


@kernel("Tuple((int64, int64, uint64))(int64, uint64[:, ::1], int64[::1], uint64, float64[::1], float64[::1])")
def playout(
    game: int, boards: Words, chosen: npt.NDArray[np.int64], state: U, weights: Reals, shares: Reals
) -> tuple[int, int, U]:
    """A game by the policy from boards[0], written down: its half points for the first mover, its plies, the state."""
    ply = 0
    while ply < LONGEST:
        own, opp = boards[ply, 0], boards[ply, 1]
        moves = legal_moves(game, own, opp)
        if moves == U(0):
            if is_over(game, own, opp):
                break
            chosen[ply] = -1
            ply += 1
            boards[ply, 0], boards[ply, 1] = opp, own
            continue
        state = shuffle(state)
        point = float(state >> U(11)) * SCALE * weigh(game, own, opp, moves, weights, shares)
        count = 0
        while rest_of(moves) != U(0) and point >= shares[count]:
            point -= shares[count]
            moves = rest_of(moves)
            count += 1
        chosen[ply] = index_of(moves)
        ply += 1
        boards[ply, 0], boards[ply, 1] = play(game, own, opp, index_of(moves))
    final = score(game, boards[ply, 0], boards[ply, 1])
    if ply & 1:
        final = -final
    return (2 if final > 0 else 1 if final == 0 else 0), ply, state


@kernel("void(int64, uint64[:, ::1], int64[::1], int64, int64, float64[::1], float64[::1], float64[::1])")
def adapt(
    game: int,
    boards: Words,
    chosen: npt.NDArray[np.int64],
    first: int,
    plies: int,
    weights: Reals,
    shares: Reals,
    changes: Reals,
) -> None:
    """Give weight to the moves on plies `first`, `first` + 2 and so on; all changes follow from the weights before."""
    for ply in range(first, plies, 2):
        if chosen[ply] >= 0:
            own, opp = boards[ply, 0], boards[ply, 1]
            moves = legal_moves(game, own, opp)
            total, count = weigh(game, own, opp, moves, weights, shares), 0
            changes[kind_of(game, own, opp, chosen[ply])] += LEARNING
            while moves != U(0):
                changes[kind_of(game, own, opp, index_of(moves))] -= LEARNING * shares[count] / total
                moves = rest_of(moves)
                count += 1
    for ply in range(first, plies, 2):
        if chosen[ply] >= 0:
            own, opp = boards[ply, 0], boards[ply, 1]
            moves = legal_moves(game, own, opp)
            while moves != U(0):
                kind = kind_of(game, own, opp, index_of(moves))
                weights[kind] += changes[kind]
                changes[kind] = 0.0
                moves = rest_of(moves)


@kernel(
    "int64(int64, int32[:, ::1], uint64[:, ::1], int64[::1], uint64[::1], int64, int64, float64, float64[::1],"
    " float64[::1])"
)
def grow(
    game: int,
    nodes: Nodes,
    boards: Words,
    path: npt.NDArray[np.int64],
    chance: Words,
    size: int,
    rounds: int,
    explore: float,
    weights: Reals,
    changes: Reals,
) -> int:
    """So many rounds, with games that learn from their winner, or plain UCT without weights; the size of the tree."""
    state, learns, shares = chance[0], weights.size > 0, np.empty(MOST_MOVES)
    played, chosen = np.empty((LONGEST + 1, 2), np.uint64), np.empty(LONGEST + 1, np.int64)
    for _ in range(rounds):
        length, size = descend(game, nodes, boards, path, size, explore)
        leaf = path[length - 1]
        played[0, 0], played[0, 1] = boards[leaf, 0], boards[leaf, 1]
        if learns:
            result, plies, state = playout(game, played, chosen, state, weights, shares)
            if result != 1:
                adapt(game, played, chosen, 0 if result == 2 else 1, plies, weights, shares, changes)
        else:
            result, state = play_randomly(game, boards[leaf, 0], boards[leaf, 1], state)
        tell(nodes, path, length, result)
    chance[0] = state
    return size
