"""Games of Awalé that the champion plays against itself, for learning: many, shallow and compiled."""

from typing import Any

import numpy.typing as npt

from awello.engine.awale_kernels import probe_tablebase, search_root, terminal_value
from awello.engine.awale_state import INFINITY, NO_PIT, SEED_VALUE, AwaleState
from awello.kernel import U, Words, kernel
from awello.layout import Layout
from awello.rules.awale import BYTE, legal_moves, seeds_in, sow
from awello.search.uct import pick_random_move, xorshift

LONGEST = 200  # plies of a game, more than nearly all take; seeds in play after them go to neither side
GLANCE = (
    4  # plies by which the search before the one that counts is shallower: it finds good first moves at little cost
)


class PlayedPosition(Layout):
    """A position of a game, and what is learnt of it."""

    own: U
    opp: U
    value: float
    """What the mover may expect, in seeds."""
    prize: int
    """The seeds that the best move captures."""
    trust: float
    """How far the rest of the game counts in the value, and not the search."""


Played = npt.NDArray[Any]  # of PlayedPosition


@kernel("void(uint64, uint64, PlayedPosition, int64, AwaleState)", inline=True)
def search_position(own: U, opp: U, played: PlayedPosition, depth: int, state: AwaleState) -> None:
    """Note a position with the value and the capture of its best move, which is left in the state."""
    moves = legal_moves(state.game, own, opp)
    state.root_best_pit = NO_PIT
    search_root(own, opp, moves, -INFINITY, INFINITY, max(1, depth - GLANCE), state)
    played.value = search_root(own, opp, moves, -INFINITY, INFINITY, depth, state) / SEED_VALUE
    played.own, played.opp = own, opp
    _, _, prize = sow(state.game, own, opp, state.root_best_pit)
    played.prize = seeds_in(prize)


@kernel("float64(uint64, uint64, AwaleState)", inline=True)
def end_value(own: U, opp: U, state: AwaleState) -> float:
    """The value of the position in which a game ends: of a solved endgame, of the end by the rules, or nothing."""
    seeds = seeds_in(own + opp)
    if seeds <= state.tablebase_seeds:
        return float(probe_tablebase(own, opp, seeds, state.tablebase))
    if legal_moves(state.game, own, opp) == U(0):
        return float(terminal_value(state.game, own, opp))
    return 0.0


@kernel("void(PlayedPosition[::1], int64, float64)", inline=True)
def mix_values(played: Played, count: int, rest: float) -> None:
    """Mix the value of each position with what the game brought, from the end back (TD(lambda))."""
    for index in range(count - 1, -1, -1):
        position = played[U(index)]
        position.value += position.trust * (position.prize - rest - position.value)
        rest = position.value


@kernel("int64(uint64, uint64, PlayedPosition[::1], uint64[::1], int64, int64, int64, float64, AwaleState)")
def play_one(
    own: U,
    opp: U,
    played: Played,
    chance: Words,
    plies: int,
    depth: int,
    wild: int,
    trust: float,
    state: AwaleState,
) -> int:
    """Play a game on from a position, first so many random moves; the number of positions that are noted after them.

    A value is that of a search, and as far as there is `trust` what the best move won and the value after it.  Of 256
    moves `wild` are random: there is no trust in what follows one.  A game ends where the solved endgames begin.
    """
    random, count = chance[0], 0
    moves = legal_moves(state.game, own, opp)
    while count < LONGEST and moves != U(0) and seeds_in(own + opp) > state.tablebase_seeds:
        random = xorshift(random)
        pit = pick_random_move(moves, random)
        if plies > 0:
            plies -= 1
        else:
            search_position(own, opp, played[U(count)], depth, state)
            if random & BYTE >= U(wild):
                pit = state.root_best_pit
            played[U(count)].trust = trust if pit == state.root_best_pit else 0.0
            count += 1
        own, opp, _ = sow(state.game, own, opp, pit)
        moves = legal_moves(state.game, own, opp)
    chance[0] = random
    mix_values(played, count, end_value(own, opp, state))
    return count
