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

SOLVED_FROM = 20  # empty squares from which the rest of the game takes next to no time
PER_SEED = 0.7  # moves that a player makes for each seed in play
RESERVE = 2  # moves kept in hand
LAG = 0.02  # seconds that a move costs beside thinking
SPARE = 0.05  # the share of a time for one move that is kept for everything around the search
MOST = 0.25  # the largest share of the clock for one move
BRANCHING = 3.0  # times longer for one ply more, until two depths have been compared
STRETCH = 2.5  # a depth that has begun may take so many times the share
INCREMENT_SHARE = 0.8  # of the increment that a move may use beside its share of the clock; the rest is saved
MOST_INCREMENT = 0.5  # the share of the increment that is added to the largest share of the clock
MOST_OVERRUN = 0.6  # the share of the clock that no move exceeds, however far a depth has come
LEAST_GROWTH, MOST_GROWTH = 1.5, 8.0  # bounds on how many times longer the next depth is expected to take
MEASURABLE = 1e-4  # seconds below which a depth says nothing about the next


@dataclass(frozen=True)
class TimeBudget:
    """The seconds for one move: what to aim at, and what never to exceed."""

    aim: float
    most: float


MOVES_LEFT: dict[str, Callable[[Position], float]] = {
    "othello": lambda position: max(0, position.empties - SOLVED_FROM) / 2,
    "awale": lambda position: PER_SEED * seeds_on_board(position),
}
UNLIMITED = TimeBudget(math.inf, math.inf)


def moves_left(position: Position) -> float:
    """The moves that a player may still have to think about."""
    return MOVES_LEFT[position.game.family](position)


def time_budget(clock: Clock, moves: float) -> TimeBudget:
    """The share of the clock for a move, with so many moves after it."""
    if math.isinf(clock.seconds):
        return UNLIMITED
    left = max(0.0, clock.seconds - LAG)
    moves += RESERVE
    aim = min(left / moves + INCREMENT_SHARE * clock.increment, left * MOST + MOST_INCREMENT * clock.increment, left)
    return TimeBudget(aim, min(STRETCH * aim, MOST_OVERRUN * left))


def is_time_for_more(allowed: TimeBudget, elapsed: float, last: float, before: float) -> bool:
    """Whether the next depth can be finished, by the seconds that the last two depths took."""
    growth = last / before if before > MEASURABLE else BRANCHING
    expected = last * min(max(growth, LEAST_GROWTH), MOST_GROWTH)
    return elapsed < allowed.most and elapsed + expected <= allowed.aim
