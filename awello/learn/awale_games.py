"""Games of Awalé that the champion plays against itself, for learning: many, shallow and compiled."""

import numpy as np
import numpy.typing as npt

from awello.engine.awale import (
    BASE,
    BASE_SEEDS,
    BEST,
    GAME,
    INFINITY,
    NONE,
    left_over,
    probe,
    search_root,
)
from awello.kernel import U, kernel
from awello.memory import load, store
from awello.rules.awale import legal_moves, seeds_in, sow
from awello.search.uct import random_move, shuffle

LONGEST = 200  # plies of a game; what is in play then goes to nobody

Words = npt.NDArray[np.uint64]


@kernel("int64(uint64[:, ::1], int64[::1], uint64[::1], int64, int64, int64)")
def play_one(boards: Words, gains: npt.NDArray[np.int64], chance: Words, plies: int, depth: int, block: int) -> int:
    """A game from boards[0] and so many random moves on: its positions, and what the mover of each won after it.

    Returns the number of positions.  A game ends where the table of endgames begins, with the value it has there.
    """
    game, state, count = load(block, GAME), chance[0], 0
    own, opp = boards[0, 0], boards[0, 1]
    moves = legal_moves(game, own, opp)
    while count < LONGEST and moves != U(0) and seeds_in(own + opp) > load(block, BASE_SEEDS):
        if plies > 0:
            state = shuffle(state)
            own, opp, _ = sow(game, own, opp, random_move(moves, state))
            plies -= 1
        else:
            store(block, BEST, NONE)
            search_root(own, opp, moves, -INFINITY, INFINITY, depth, block)
            boards[count, 0], boards[count, 1] = own, opp
            own, opp, prize = sow(game, own, opp, load(block, BEST))
            gains[count] = seeds_in(prize)
            count += 1
        moves = legal_moves(game, own, opp)
    seeds = seeds_in(own + opp)
    rest = 0
    if seeds <= load(block, BASE_SEEDS):
        rest = probe(own, opp, seeds, load(block, BASE))
    elif moves == U(0):
        rest = left_over(game, own, opp)
    chance[0] = state
    for place in range(count - 1, -1, -1):
        rest = gains[place] - rest
        gains[place] = rest
    return count
