"""Kernels of the opening tree: the keys of its nodes, and their values by minimax.

The tree is a set of positions: a move is known if the position after it is a node.  Symmetric positions are one node.
The key of a node combines its number of empty squares with most bits of its position key.  Nodes are sorted by key, so
the successors of a node precede it.  A table of offsets, indexed by the first bits of the key, leads almost directly to
a node, because position keys are evenly distributed.
"""

import numpy as np
import numpy.typing as npt

from awello.archive.position_keys import compute_position_key
from awello.bits import bit_scan, clear_lowest_bit, popcount, to_signed
from awello.kernel import U, Words, kernel
from awello.rules.game import is_over, legal_moves, play, score

NO_VALUE = -100  # below every margin
Offsets = npt.NDArray[np.int64]
Values = npt.NDArray[np.int8]


@kernel("uint64(int64, uint64, uint64)")
def compute_node_key(game: int, own: U, opp: U) -> U:
    """Compute the node key of a position; equal positions on boards of different sizes have different node keys."""
    position, _ = compute_position_key(game, own, opp, -1)
    return U(popcount(~(own | opp))) << U(58) | (position ^ U(game) << U(6)) >> U(6)


@kernel("void(int8[::1], uint64[:, ::1], uint64[::1])")
def write_keys(games: Values, words: Words, keys: Words) -> None:
    """Write the node keys of positions to `keys`."""
    for node in range(keys.size):
        keys[node] = compute_node_key(int(games[node]), words[node, 0], words[node, 1])


@kernel("int64(int64, uint64, uint64, uint64[::1], int64[::1], uint64, int8[::1])")
def compute_best_child_value(game: int, own: U, opp: U, keys: Words, offsets: Offsets, shift: U, values: Values) -> int:
    """Compute the value of the best known move for the mover, or `NO_VALUE` if no move is known."""
    best, moves = NO_VALUE, legal_moves(game, own, opp)
    while moves != U(0):
        next_own, next_opp = play(game, own, opp, bit_scan(moves))
        moves = clear_lowest_bit(moves)
        key = compute_node_key(game, next_own, next_opp)
        bucket = to_signed(key >> shift)
        for at in range(offsets[bucket], offsets[bucket + 1]):
            if keys[at] == key:
                best = max(best, -int(values[at]))
    return best


@kernel("void(int8[::1], uint64[:, ::1], uint64[::1], int64[::1], uint64, int8[::1])")
def minimax(games: Values, words: Words, keys: Words, offsets: Offsets, shift: U, values: Values) -> None:
    """Write the value of each node to `values`.

    Nodes must be sorted by key; those with the same `key >> shift` start at index `offsets[key >> shift]`.
    """
    for node in range(keys.size):
        game, own, opp = int(games[node]), words[node, 0], words[node, 1]
        if is_over(game, own, opp):
            values[node] = score(game, own, opp)
        elif legal_moves(game, own, opp) == U(0):
            values[node] = -compute_best_child_value(game, opp, own, keys, offsets, shift, values)
        else:
            values[node] = compute_best_child_value(game, own, opp, keys, offsets, shift, values)
