"""Time management: each move gets a share of the clock, and a depth is started only if it is expected to end in time.

As in report 4 (see docs/sources.md), the time for a move depends on the clock and on the number of moves left.  After
each depth, the duration of the next depth is predicted from the last two.  In Othello, moves made when at most
SOLVED_EMPTIES squares are empty are not counted, because they take almost no time.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from awello.engine.tablebase import count_board_seeds
from awello.limits import Clock
from awello.position import Position

SOLVED_EMPTIES = 20  # with this many empty squares or fewer, the rest of the game takes almost no time
MOVES_PER_SEED = 0.7  # expected moves of a player per seed in play
RESERVE_MOVES = 2  # added to the expected number of moves left, as a safety margin
MOVE_OVERHEAD_SECONDS = 0.02  # the time that a move takes outside the search
RESERVED_TIME_SHARE = 0.05  # the share of a time limit per move that is reserved for work outside the search
MAX_CLOCK_SHARE = 0.25  # the largest share of the clock for the optimum time of a move
DEFAULT_TIME_GROWTH = 3.0  # assumed ratio of the durations of two consecutive depths, until it can be measured
MAX_OVERTIME_FACTOR = 2.5  # the maximum time of a move as a multiple of the optimum
INCREMENT_SHARE = 0.8  # the share of the increment that is added to a move's share of the clock
MAX_INCREMENT_SHARE = 0.5  # the share of the increment that is added to the limit set by MAX_CLOCK_SHARE
MAX_OVERRUN_SHARE = 0.6  # the largest share of the clock for the maximum time of a move
MIN_TIME_GROWTH, MAX_TIME_GROWTH = 1.5, 8.0  # bounds on the expected ratio of the durations of two depths
MIN_MEASURABLE_SECONDS = 1e-4  # a depth that takes less is too short to measure the ratio


@dataclass(frozen=True)
class TimeBudget:
    """The time for one move, in seconds.

    A depth that is expected to end after the optimum is not started; at the maximum, the search is stopped.
    """

    optimum: float
    maximum: float


MOVES_LEFT_ESTIMATES: dict[str, Callable[[Position], float]] = {
    "othello": lambda position: max(0, position.empties - SOLVED_EMPTIES) / 2,
    "awale": lambda position: MOVES_PER_SEED * count_board_seeds(position),
}
UNLIMITED_TIME = TimeBudget(math.inf, math.inf)


def estimate_moves_left(position: Position) -> float:
    """Estimate the number of a player's moves until the rest of the game takes almost no time."""
    return MOVES_LEFT_ESTIMATES[position.game.family](position)


def allocate_time(clock: Clock, moves: float) -> TimeBudget:
    """Allocate time for a move of a player who has `moves` moves left."""
    if math.isinf(clock.seconds):
        return UNLIMITED_TIME
    left = max(0.0, clock.seconds - MOVE_OVERHEAD_SECONDS)
    moves += RESERVE_MOVES
    optimum = min(
        left / moves + INCREMENT_SHARE * clock.increment,
        left * MAX_CLOCK_SHARE + MAX_INCREMENT_SHARE * clock.increment,
        left,
    )
    return TimeBudget(optimum, min(MAX_OVERTIME_FACTOR * optimum, MAX_OVERRUN_SHARE * left))


def has_time_for_next_depth(
    budget: TimeBudget, elapsed_seconds: float, last_seconds: float, previous_seconds: float
) -> bool:
    """Return whether the next depth is expected to end in time, given the durations of the last two depths."""
    growth = last_seconds / previous_seconds if previous_seconds > MIN_MEASURABLE_SECONDS else DEFAULT_TIME_GROWTH
    expected = last_seconds * min(max(growth, MIN_TIME_GROWTH), MAX_TIME_GROWTH)
    return elapsed_seconds < budget.maximum and elapsed_seconds + expected <= budget.optimum
