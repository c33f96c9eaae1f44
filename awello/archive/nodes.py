"""The positions of played games as nodes of one tree, and what each is worth there.

The tree is the set of its positions: a move is known if the position after it is a node, whichever game brought it in.
Symmetric positions are one node.  The key of a node is its count of empty squares and its place.  Nodes lie in the
order of their keys, so what can come after a node lies before it; and as places are evenly spread, a table of where
each of the first bits begins finds a node almost at once.  Most moves lead to no node: to see that sooner than by its
place, a position has a look, made of counts of discs, and a bit tells whether any node looks like that.
"""

import numpy as np
import numpy.typing as npt

from awello.archive.places import number_of, place_of
from awello.bits import bit, index_of, popcount, rest_of, signed
from awello.kernel import U, Words, kernel
from awello.rules.game import is_over, legal_moves, play, score

LOWEST = -100  # below every margin
RINGS = np.array(  # the sets of squares that symmetry turns into each other
    [
        0x8100000000000081,
        0x4281000000008142,
        0x2400810000810024,
        0x1800008181000018,
        0x0042000000004200,
        0x0024420000422400,
        0x0018004242001800,
        0x0000240000240000,
        0x0000182424180000,
        0x0000001818000000,
    ],
    np.uint64,
)
Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.int8]


@kernel("uint64(uint64, uint64)", inline=True)
def sorted_by_empty(empty: U, number: U) -> U:
    """A number that begins with how many squares are empty."""
    return U(popcount(empty)) << U(58) | number >> U(6)


@kernel("uint64(int64, uint64, uint64)")
def key_of(game: int, own: U, opp: U) -> U:
    """The key of a position; the same discs on a board of another size are another node."""
    place, _ = place_of(game, own, opp, -1)
    return sorted_by_empty(~(own | opp), place ^ U(game) << U(6))


@kernel("uint64(uint64)", inline=True)
def count_rings(word: U) -> U:
    """How many squares of each ring a word has, four bits a ring."""
    counts = U(0)
    for ring in range(10):
        counts |= U(popcount(word & RINGS[ring])) << U(4 * ring)
    return counts


@kernel("Tuple((uint64, uint64))(uint64, uint64, uint64)", inline=True)
def look_of(own: U, opp: U, shift: U) -> tuple[U, U]:
    """A word and a bit of it that symmetric positions share, and others by chance."""
    look = number_of(count_rings(own), count_rings(opp))
    return sorted_by_empty(~(own | opp), look) >> shift, bit(signed(look & U(63)))


@kernel(
    "UniTuple(int64, 2)(int8[::1], uint64[::1], uint64[::1], int64[::1], int8[::1],"
    " int8[::1], uint64[::1], uint64[::1], uint64[::1])"
)
def walk(
    games: Bytes,
    owns: Words,
    opps: Words,
    lengths: Numbers,
    moves: Bytes,
    node_games: Bytes,
    node_owns: Words,
    node_opps: Words,
    keys: Words,
) -> tuple[int, int]:
    """Write the positions of the games that end on the board; how many games and how many positions those are."""
    ended, begin, at = 0, 0, 0
    for record in range(owns.size):
        game, own, opp, first = int(games[record]), owns[record], opps[record], at
        for ply in range(lengths[record] + 1):
            node_games[at], node_owns[at], node_opps[at], keys[at] = game, own, opp, key_of(game, own, opp)
            at += 1
            if ply == lengths[record]:
                break
            move = int(moves[begin + ply])
            if move == -1:
                own, opp = opp, own
            else:
                own, opp = play(game, own, opp, move)
        begin += lengths[record]
        if is_over(game, own, opp):
            ended += 1
        else:
            at = first
    return ended, at


@kernel("int64(int64, uint64, uint64, uint64[::1], int64[::1], uint64[::1], uint64, int8[::1])")
def best_known(game: int, own: U, opp: U, keys: Words, begins: Numbers, looks: Words, shift: U, values: Bytes) -> int:
    """The value of the best move to a node, `LOWEST` if there is none."""
    best, moves = LOWEST, legal_moves(game, own, opp)
    while moves != U(0):
        next_own, next_opp = play(game, own, opp, index_of(moves))
        moves = rest_of(moves)
        word, mark = look_of(next_own, next_opp, shift)
        if looks[signed(word)] & mark == U(0):
            continue
        key = key_of(game, next_own, next_opp)
        bucket = signed(key >> shift)
        for at in range(begins[bucket], begins[bucket + 1]):
            if keys[at] == key:
                best = max(best, -int(values[at]))
    return best


@kernel("void(int8[::1], uint64[::1], uint64[::1], uint64[::1], int64[::1], uint64[::1], uint64, int8[::1])")
def minimax(
    games: Bytes, owns: Words, opps: Words, keys: Words, begins: Numbers, looks: Words, shift: U, values: Bytes
) -> None:
    """Give the nodes, which lie in the order of their keys, their values for whoever is to move.

    Keys that are `bucket` when shifted begin at `begins[bucket]`.  `looks`, a word a bucket, is empty at first.
    """
    for node in range(keys.size):
        word, mark = look_of(owns[node], opps[node], shift)
        looks[signed(word)] |= mark
    for node in range(keys.size):
        game, own, opp = int(games[node]), owns[node], opps[node]
        if is_over(game, own, opp):
            values[node] = score(game, own, opp)
        elif legal_moves(game, own, opp) == U(0):
            values[node] = -best_known(game, opp, own, keys, begins, looks, shift, values)
        else:
            values[node] = best_known(game, own, opp, keys, begins, looks, shift, values)
