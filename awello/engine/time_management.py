"""Time management: each move gets a share of the clock, and no depth is started that cannot be finished in time.

As in report 4, the time for a move follows from the clock and the moves left.  After each depth the search predicts
from its last two depths how long the next one takes.  Only the moves until the endgame is solved count as left, because
after that moves take almost no time.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from awello.engine.tablebase import seeds_on_board
from awello.limits import Clock
from awello.position import Position

SOLVED_EMPTIES = 20  # empty squares from which the rest of the game takes almost no time
MOVES_PER_SEED = 0.7  # expected moves of a player for each seed in play
RESERVE_MOVES = 2  # moves added to the expected ones
MOVE_OVERHEAD_SECONDS = 0.02  # of each move, besides the search
RESERVED_TIME_SHARE = 0.05  # of a time per move, for everything besides the search
MAX_CLOCK_SHARE = 0.25  # the largest share of the clock that a move aims at
DEFAULT_GROWTH = 3.0  # time of the next depth over the last, until two depths can be compared
MAX_OVERTIME_FACTOR = 2.5  # a depth that has started may take this many times the optimum
INCREMENT_SHARE = 0.8  # the share of the increment that is added to a move's share of the clock
MAX_INCREMENT_SHARE = 0.5  # the share of the increment that is added to MAX_CLOCK_SHARE
MAX_OVERRUN_SHARE = 0.6  # the share of the clock that no move exceeds
MIN_GROWTH, MAX_GROWTH = 1.5, 8.0  # bounds on the expected time of the next depth over the last
MIN_MEASURABLE_SECONDS = 1e-4  # shorter depths do not predict the next


@dataclass(frozen=True)
class TimeBudget:
    """Seconds for one move: the time to aim at, and the time never to exceed."""

    optimum: float
    maximum: float


MOVES_LEFT: dict[str, Callable[[Position], float]] = {
    "othello": lambda position: max(0, position.empties - SOLVED_EMPTIES) / 2,
    "awale": lambda position: MOVES_PER_SEED * seeds_on_board(position),
}
UNLIMITED = TimeBudget(math.inf, math.inf)


def estimate_moves_left(position: Position) -> float:
    """Estimate the moves of a player until the rest of the game takes almost no time."""
    return MOVES_LEFT[position.game.family](position)


def allocate_time(clock: Clock, moves: float) -> TimeBudget:
    """Allocate time for a move when this many moves are left."""
    if math.isinf(clock.seconds):
        return UNLIMITED
    left = max(0.0, clock.seconds - MOVE_OVERHEAD_SECONDS)
    moves += RESERVE_MOVES
    optimum = min(
        left / moves + INCREMENT_SHARE * clock.increment,
        left * MAX_CLOCK_SHARE + MAX_INCREMENT_SHARE * clock.increment,
        left,
    )
    return TimeBudget(optimum, min(MAX_OVERTIME_FACTOR * optimum, MAX_OVERRUN_SHARE * left))


def has_time_for_next_depth(budget: TimeBudget, elapsed: float, last: float, before: float) -> bool:
    """Whether the next depth can be finished in time, judging by the seconds of the last two depths."""
    growth = last / before if before > MIN_MEASURABLE_SECONDS else DEFAULT_GROWTH
    expected = last * min(max(growth, MIN_GROWTH), MAX_GROWTH)
    return elapsed < budget.maximum and elapsed + expected <= budget.optimum
