"""Places: positions as the archive knows them, all symmetric ones as one, under a number of 64 bits.

The place of a position is a mixture of its two words, taken from the smallest of the symmetric boards, and with it go
the moves: those that symmetry turns into each other are one.  Words begin with the mover's, so it does not matter
which colour that is.  Two of a hundred million positions share a number once in some four thousand archives.
"""

import numpy as np
import numpy.typing as npt

from awello.bits import bit, bit_scan
from awello.kernel import U, Words, kernel
from awello.rules.game import count_symmetries, is_over, play, score
from awello.rules.othello import apply_symmetry

FIRST, SECOND, THIRD = U(0x9E3779B97F4A7C15), U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
END = 64  # in place of a move where a game ends
UNKNOWN = 127  # the score of a game that goes on


@kernel("uint64(uint64, uint64)", inline=True)
def number_of(own: U, opp: U) -> U:
    """A mixture of two words.  Archives are full of these numbers: it must never change."""
    word = own * FIRST
    word = (word ^ word >> U(31)) * SECOND + opp
    word = (word ^ word >> U(30)) * THIRD
    word = (word ^ word >> U(27)) * SECOND
    return word ^ word >> U(31)


@kernel("Tuple((uint64, int64))(int64, uint64, uint64, int64)")
def position_key(game: int, own: U, opp: U, move: int) -> tuple[U, int]:
    """The place of a position, and a move as it is called there."""
    best_own, best_opp, best_move = own, opp, move
    on_board = 0 <= move < 64
    for symmetry in range(1, count_symmetries(game)):
        new_own = apply_symmetry(own, symmetry)
        if new_own > best_own:
            continue
        new_opp = apply_symmetry(opp, symmetry)
        if new_own == best_own and new_opp > best_opp:
            continue
        new_move = bit_scan(apply_symmetry(bit(move), symmetry)) if on_board else move
        if new_own < best_own or new_opp < best_opp or new_move < best_move:
            best_own, best_opp, best_move = new_own, new_opp, new_move
    return number_of(best_own, best_opp), best_move


@kernel("void(int64, uint64[::1], uint64[::1], int64[::1], int8[::1], uint64[::1], int8[::1], int64[::1])")
def trace(
    game: int,
    owns: Words,
    opps: Words,
    lengths: npt.NDArray[np.int64],
    moves: npt.NDArray[np.int8],
    places: Words,
    names: npt.NDArray[np.int8],
    scores: npt.NDArray[np.int64],
) -> None:
    """The places and moves of games, one after the other, and how each ended for whoever is to move then.

    A game has one more place than moves, with `END` there.  A score is `UNKNOWN` where the board does not end the game.
    """
    at = 0
    for record in range(owns.size):
        own, opp = owns[record], opps[record]
        for ply in range(lengths[record] + 1):
            move = END if ply == lengths[record] else int(moves[at - record])
            place, name = position_key(game, own, opp, move)
            places[at], names[at] = place, name
            at += 1
            if move == -1:
                own, opp = opp, own
            elif move != END:
                own, opp = play(game, own, opp, move)
        scores[record] = score(game, own, opp) if is_over(game, own, opp) else UNKNOWN
