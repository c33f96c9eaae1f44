"""How long to think: a share of the clock, and no depth that will not be finished in time.

As in report 4, the clock and the moves left give the time for a move, and after each depth it is asked whether the next
one can be finished in it.  How much longer that takes is seen between the last depths of this search, and the moves
left are only those until the endgame is solved, when moves cost nothing any more.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from awello.engine.tablebase import seeds_on_board
from awello.limits import Clock
from awello.position import Position

SOLVED_EMPTIES = 20  # empty squares from which the rest of the game takes next to no time
MOVES_PER_SEED = 0.7  # moves that a player makes for each seed in play
RESERVE_MOVES = 2  # moves kept in hand
MOVE_OVERHEAD_SECONDS = 0.02  # seconds that a move costs beside thinking
RESERVED_TIME_SHARE = 0.05  # the share of a time for one move that is kept for everything around the search
MAX_CLOCK_SHARE = 0.25  # the largest share of the clock for one move
DEFAULT_GROWTH = 3.0  # times longer for one ply more, until two depths have been compared
MAX_OVERTIME_FACTOR = 2.5  # a depth that has begun may take so many times the share
INCREMENT_SHARE = 0.8  # of the increment that a move may use beside its share of the clock; the rest is saved
MAX_INCREMENT_SHARE = 0.5  # the share of the increment that is added to the largest share of the clock
MAX_OVERRUN_SHARE = 0.6  # the share of the clock that no move exceeds, however far a depth has come
MIN_GROWTH, MAX_GROWTH = 1.5, 8.0  # bounds on how many times longer the next depth is expected to take
MIN_MEASURABLE_SECONDS = 1e-4  # seconds below which a depth says nothing about the next


@dataclass(frozen=True)
class TimeBudget:
    """The seconds for one move: what to aim at, and what never to exceed."""

    optimum: float
    maximum: float


MOVES_LEFT: dict[str, Callable[[Position], float]] = {
    "othello": lambda position: max(0, position.empties - SOLVED_EMPTIES) / 2,
    "awale": lambda position: MOVES_PER_SEED * seeds_on_board(position),
}
UNLIMITED = TimeBudget(math.inf, math.inf)


def estimate_moves_left(position: Position) -> float:
    """The moves that a player may still have to think about."""
    return MOVES_LEFT[position.game.family](position)


def allocate_time(clock: Clock, moves: float) -> TimeBudget:
    """The share of the clock for a move, with so many moves after it."""
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
    """Whether the next depth can be finished, by the seconds that the last two depths took."""
    growth = last / before if before > MIN_MEASURABLE_SECONDS else DEFAULT_GROWTH
    expected = last * min(max(growth, MIN_GROWTH), MAX_GROWTH)
    return elapsed < budget.maximum and elapsed + expected <= budget.optimum
