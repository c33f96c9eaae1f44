"""Games of Awalé that the champion plays against itself, for learning: many, shallow and compiled."""

from typing import Any

import numpy.typing as npt

from awello.engine.awale import left_over, probe, search_root
from awello.engine.awale_state import INFINITY, NONE, UNIT, AwaleState
from awello.kernel import U, Words, kernel
from awello.layout import Layout
from awello.rules.awale import BYTE, legal_moves, seeds_in, sow
from awello.search.uct import random_move, shuffle

MAX_PLIES = 200  # plies of a game, more than nearly all take; seeds in play after them go to neither side
PRESEARCH_REDUCTION = (
    4  # plies by which the search before the one that counts is shallower: it finds good first moves at little cost
)


class PlayedPosition(Layout):
    """A position of a game, and what is learnt of it."""

    own: U
    opp: U
    value: float
    """What the mover may expect, in seeds."""
    captured: int
    """The seeds that the best move captures."""
    td_lambda: float
    """How far the rest of the game counts in the value, and not the search."""


PlayedPositions = npt.NDArray[Any]  # of PlayedPosition


@kernel("void(uint64, uint64, PlayedPosition, int64, AwaleState)", inline=True)
def search_position(own: U, opp: U, played: PlayedPosition, depth: int, state: AwaleState) -> None:
    """Note a position with the value and the capture of its best move, which is left in the state."""
    moves = legal_moves(state.game, own, opp)
    state.best_pit = NONE
    search_root(own, opp, moves, -INFINITY, INFINITY, max(1, depth - PRESEARCH_REDUCTION), state)
    played.value = search_root(own, opp, moves, -INFINITY, INFINITY, depth, state) / UNIT
    played.own, played.opp = own, opp
    _, _, captured = sow(state.game, own, opp, state.best_pit)
    played.captured = seeds_in(captured)


@kernel("float64(uint64, uint64, AwaleState)", inline=True)
def evaluate_end(own: U, opp: U, state: AwaleState) -> float:
    """The value of the position in which a game ends: of a solved endgame, of the end by the rules, or nothing."""
    seeds = seeds_in(own + opp)
    if seeds <= state.tablebase_seeds:
        return float(probe(own, opp, seeds, state.tablebase))
    if legal_moves(state.game, own, opp) == U(0):
        return float(left_over(state.game, own, opp))
    return 0.0


@kernel("void(PlayedPosition[::1], int64, float64)", inline=True)
def mix_values(played: PlayedPositions, count: int, rest: float) -> None:
    """Mix the value of each position with what the game brought, from the end back (TD(lambda))."""
    for index in range(count - 1, -1, -1):
        position = played[U(index)]
        position.value += position.td_lambda * (position.captured - rest - position.value)
        rest = position.value


@kernel("int64(uint64, uint64, PlayedPosition[::1], uint64[::1], int64, int64, int64, float64, AwaleState)")
def play_game(
    own: U,
    opp: U,
    played: PlayedPositions,
    random_state: Words,
    opening_plies: int,
    depth: int,
    exploration: int,
    td_lambda: float,
    state: AwaleState,
) -> int:
    """Play a game on from a position, first so many random moves; the number of positions that are noted after them.

    A value is that of a search, and as far as there is `trust` what the best move won and the value after it.  Of 256
    moves `exploration` are random: there is no trust in what follows one.  A game ends where the solved endgames begin.
    """
    random, count = random_state[0], 0
    moves = legal_moves(state.game, own, opp)
    while count < MAX_PLIES and moves != U(0) and seeds_in(own + opp) > state.tablebase_seeds:
        random = shuffle(random)
        pit = random_move(moves, random)
        if opening_plies > 0:
            opening_plies -= 1
        else:
            search_position(own, opp, played[U(count)], depth, state)
            if random & BYTE >= U(exploration):
                pit = state.best_pit
            played[U(count)].td_lambda = td_lambda if pit == state.best_pit else 0.0
            count += 1
        own, opp, _ = sow(state.game, own, opp, pit)
        moves = legal_moves(state.game, own, opp)
    random_state[0] = random
    mix_values(played, count, evaluate_end(own, opp, state))
    return count
