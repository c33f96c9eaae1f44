"""Compiled kernels that play shallow self-play games of Awalé for training."""

from typing import Any

import numpy.typing as npt

from awello.engine.awale_kernels import probe_tablebase, search_root, terminal_value
from awello.engine.awale_state import INFINITY, NO_PIT, SEED_VALUE, AwaleState
from awello.kernel import U, Words, kernel
from awello.layout import Layout
from awello.rules.awale import BYTE_MASK, count_seeds, legal_moves, sow
from awello.search.uct import pick_random_move, xorshift

MAX_GAME_PLIES = 200  # plies after the opening; then a game is cut off, and seeds on the board count for neither side
PRESEARCH_REDUCTION_PLIES = 4  # each position is first searched this many plies less deeply, for move ordering


class PlayedPosition(Layout):
    """A position of a game, and its training target."""

    own: U
    opp: U
    value: float
    """Expected margin of the seeds still on the board, from the mover's view."""
    captured: int
    """Seeds captured by the best move."""
    td_lambda: float
    """Share of `value` that is the result of playing on; the rest is the value of the search."""


PlayedPositions = npt.NDArray[Any]  # of PlayedPosition


@kernel("void(uint64, uint64, PlayedPosition, int64, AwaleState)", inline=True)
def search_position(own: U, opp: U, played: PlayedPosition, depth: int, state: AwaleState) -> None:
    """Search a position; record it with its value and the number of seeds that the best move captures.

    `state.root_best_pit` receives the best move.
    """
    moves = legal_moves(state.game, own, opp)
    state.root_best_pit = NO_PIT
    search_root(own, opp, moves, -INFINITY, INFINITY, max(1, depth - PRESEARCH_REDUCTION_PLIES), state)
    played.value = search_root(own, opp, moves, -INFINITY, INFINITY, depth, state) / SEED_VALUE
    played.own, played.opp = own, opp
    _, _, captured = sow(state.game, own, opp, state.root_best_pit)
    played.captured = count_seeds(captured)


@kernel("float64(uint64, uint64, AwaleState)", inline=True)
def evaluate_end(own: U, opp: U, state: AwaleState) -> float:
    """Return the value of the last position: from the tablebase, by the rules if the game is over, else 0."""
    seeds = count_seeds(own + opp)
    if seeds <= state.tablebase_seeds:
        return float(probe_tablebase(own, opp, seeds, state.tablebase))
    if legal_moves(state.game, own, opp) == U(0):
        return float(terminal_value(state.game, own, opp))
    return 0.0


@kernel("void(PlayedPosition[::1], int64, float64)", inline=True)
def mix_values(played: PlayedPositions, count: int, rest: float) -> None:
    """Mix the value of each position with the result of the rest of the game, backwards from the end (TD(lambda))."""
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
    """Play a game that starts with `opening_plies` random moves; return the number of positions recorded after them.

    The target of a position is a weighted mean of the value of the search and, with weight `td_lambda`, the result of
    playing on: the number of seeds that the best move captures minus the target of the next position.  If a random move
    other than the best move is played, the target is the value of the search alone.  After the opening, on average
    `exploration` out of 256 moves are random.  The game also stops at the first position that the tablebase contains,
    and after `MAX_GAME_PLIES`.
    """
    random, count = random_state[0], 0
    moves = legal_moves(state.game, own, opp)
    while count < MAX_GAME_PLIES and moves != U(0) and count_seeds(own + opp) > state.tablebase_seeds:
        random = xorshift(random)
        pit = pick_random_move(moves, random)
        if opening_plies > 0:
            opening_plies -= 1
        else:
            search_position(own, opp, played[U(count)], depth, state)
            if random & BYTE_MASK >= U(exploration):
                pit = state.root_best_pit
            played[U(count)].td_lambda = td_lambda if pit == state.root_best_pit else 0.0
            count += 1
        own, opp, _ = sow(state.game, own, opp, pit)
        moves = legal_moves(state.game, own, opp)
    random_state[0] = random
    mix_values(played, count, evaluate_end(own, opp, state))
    return count
