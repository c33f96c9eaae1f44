"""Position keys: 64-bit hashes by which the archive finds positions, equal for symmetric positions.

The key is a hash of two words, the mover's and the opponent's, so it does not depend on the colours.  Of all symmetric
boards, the one with the smallest words is hashed; the symmetry that leads to this board also maps the moves.  In an
archive of a hundred million positions, the probability that at least two different positions share a key is about 1 in
4,000.
"""

import numpy as np
import numpy.typing as npt

from awello.bits import bit, bit_scan
from awello.kernel import U, Words, kernel
from awello.rules.game import count_symmetries, is_over, play, score
from awello.rules.othello import apply_symmetry

GOLDEN_GAMMA, MIX_1, MIX_2 = U(0x9E3779B97F4A7C15), U(0xBF58476D1CE4E5B9), U(0x94D049BB133111EB)
END_OF_GAME = 64  # stored as the move in the last position of a game, where no move was played
UNKNOWN_SCORE = 127  # the score of an unfinished game


@kernel("uint64(uint64, uint64)", inline=True)
def hash_words(own: U, opp: U) -> U:
    """Hash two words.  Archives contain these hashes, so the function must never change."""
    word = own * GOLDEN_GAMMA
    word = (word ^ word >> U(31)) * MIX_1 + opp
    word = (word ^ word >> U(30)) * MIX_2
    word = (word ^ word >> U(27)) * MIX_1
    return word ^ word >> U(31)


@kernel("Tuple((uint64, int64))(int64, uint64, uint64, int64)")
def compute_position_key(game: int, own: U, opp: U, move: int) -> tuple[U, int]:
    """Compute the key of a position, and the given move mapped by the symmetry used for the key."""
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
    return hash_words(best_own, best_opp), best_move


@kernel("void(int64, uint64[::1], uint64[::1], int64[::1], int8[::1], uint64[::1], int8[::1], int64[::1])")
def write_position_keys(
    game: int,
    owns: Words,
    opps: Words,
    lengths: npt.NDArray[np.int64],
    moves: npt.NDArray[np.int8],
    keys: Words,
    canonical_moves: npt.NDArray[np.int8],
    scores: npt.NDArray[np.int64],
) -> None:
    """Write the keys and canonical moves of games, one game after the other, and the final score of each game.

    Each position of a game, including the final one, has a key; the move stored for the final position is
    `END_OF_GAME`.  The score is the margin of the side to move at the end; `UNKNOWN_SCORE` if the game was not played
    to the end.
    """
    at = 0
    for record in range(owns.size):
        own, opp = owns[record], opps[record]
        for ply in range(lengths[record] + 1):
            move = END_OF_GAME if ply == lengths[record] else int(moves[at - record])
            key, canonical_move = compute_position_key(game, own, opp, move)
            keys[at], canonical_moves[at] = key, canonical_move
            at += 1
            if move == -1:
                own, opp = opp, own
            elif move != END_OF_GAME:
                own, opp = play(game, own, opp, move)
        scores[record] = score(game, own, opp) if is_over(game, own, opp) else UNKNOWN_SCORE
