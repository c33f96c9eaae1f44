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
    UNIT,
    left_over,
    probe,
    search_root,
)
from awello.kernel import U, Words, kernel
from awello.memory import load, store
from awello.rules.awale import BYTE, legal_moves, seeds_in, sow
from awello.search.uct import random_move, shuffle

LONGEST = 200  # plies of a game; what is in play then goes to nobody
GLANCE = 4  # plies that the search before the one that counts looks less far
VALUE, PRIZE, TRUST = range(3)  # columns of what is told of a position

Reals = npt.NDArray[np.float64]


@kernel("int64(uint64[:, ::1], float64[:, ::1], uint64[::1], int64, int64, int64, float64, int64)")
def play_one(
    boards: Words, told: Reals, chance: Words, plies: int, depth: int, wild: int, trust: float, block: int
) -> int:
    """A game from boards[0] and so many random moves on: its positions, their values and what the best moves capture.

    A value is that of a search, and as far as there is `trust` what the best move won and the value after it, from the
    end of the game back.  Of 256 moves `wild` are random: there is no trust in what follows one.  A game ends
    where the table of endgames begins, with the value it has there.  Returns the number of positions.
    """
    game, state, count = load(block, GAME), chance[0], 0
    own, opp = boards[0, 0], boards[0, 1]
    moves = legal_moves(game, own, opp)
    while count < LONGEST and moves != U(0) and seeds_in(own + opp) > load(block, BASE_SEEDS):
        state = shuffle(state)
        pit = random_move(moves, state)
        if plies > 0:
            plies -= 1
        else:
            store(block, BEST, NONE)
            search_root(own, opp, moves, -INFINITY, INFINITY, max(1, depth - GLANCE), block)
            told[count, VALUE] = search_root(own, opp, moves, -INFINITY, INFINITY, depth, block) / UNIT
            best = load(block, BEST)
            if state & BYTE >= U(wild):
                pit = best
            boards[count, 0], boards[count, 1] = own, opp
            _, _, prize = sow(game, own, opp, best)
            told[count, PRIZE], told[count, TRUST] = seeds_in(prize), trust if pit == best else 0.0
            count += 1
        own, opp, _ = sow(game, own, opp, pit)
        moves = legal_moves(game, own, opp)
    chance[0] = state
    seeds = seeds_in(own + opp)
    rest = 0.0
    if seeds <= load(block, BASE_SEEDS):
        rest = float(probe(own, opp, seeds, load(block, BASE)))
    elif moves == U(0):
        rest = float(left_over(game, own, opp))
    for place in range(count - 1, -1, -1):
        rest = told[place, VALUE] + told[place, TRUST] * (told[place, PRIZE] - rest - told[place, VALUE])
        told[place, VALUE] = rest
    return count
