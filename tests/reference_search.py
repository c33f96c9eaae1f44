"""Reference searches for the tests of the engine: exhaustive, without windows, transposition tables or cutoffs."""

import random
from collections.abc import Callable
from functools import cache

import numpy as np

from awello import PASS, Game, Position
from awello.evaluate.awale_network import IN_PLAY_ROW, MAX_ACTIVATION, OUTPUT_ROW, OUTPUT_SHIFT, PIT_SLOTS
from awello.kernel import U
from awello.rules.awale import pits_of
from awello.rules.game import legal_moves

BOARDS = [Game.OTHELLO, Game.OTHELLO6, Game.OTHELLO4]


def random_position(game: Game, empties: int, rng: random.Random) -> Position:
    """Return a random position with `empties` empty squares, in which the mover has a legal move."""
    while True:
        position = Position.start(game)
        while not position.over and position.empties > empties:
            position = position.after(rng.choice(position.legal_moves()))
        if position.empties == empties and not position.over and position.legal_moves() != (PASS,):
            return position


def legal_moves_mask(position: Position) -> U:
    """Return the legal moves as a bit mask, as the kernels return them."""
    return legal_moves(int(position.game), U(position.own), U(position.opp))


def final_score(position: Position) -> int:
    """Return the mover's margin in a finished game."""
    score = position.score()
    return score[position.side] - score[1 - position.side]


@cache
def solve(position: Position) -> int:
    """Return the mover's margin with best play by both sides."""
    if position.over:
        return final_score(position)
    return max(-solve(position.after(move)) for move in position.legal_moves())


def search(position: Position, depth: int, value: Callable[[Position], int]) -> int:
    """Return the minimax value of a position, searched to a depth; a pass does not reduce the depth."""
    if position.over:
        return final_score(position)
    if position.legal_moves() == (PASS,):
        return -search(position.after(PASS), depth, value)
    if depth == 0:
        return value(position)
    return max(-search(position.after(move), depth - 1, value) for move in position.legal_moves())


def evaluate_pits(own: int, opp: int, weights: np.ndarray) -> int:
    """Compute the output of the Awalé network for a position, in 16ths of a seed."""
    held = [*pits_of(own), *pits_of(opp)]
    described = [PIT_SLOTS * pit + seeds % PIT_SLOTS for pit, seeds in enumerate(held)] + [IN_PLAY_ROW + sum(held)]
    sums = weights[described].astype(int).sum(axis=0)
    value = int(np.clip(sums, 0, MAX_ACTIVATION) ** 2 @ weights[OUTPUT_ROW].astype(int)) >> OUTPUT_SHIFT
    return max(-16 * sum(held), min(16 * sum(held), value))
