"""The fields that the states of the search threads of both games share.

A search thread owns one record of memory, its *state*.  `OthelloState` and `AwaleState` extend `ThreadState`, so code
that starts, limits and stops threads does not depend on the game.
"""

from awello.kernel import U
from awello.layout import Layout

NO_MOVE = 64
STOP_BIT = U(1) << U(63)  # of `ThreadState.stop`: ends the whole search of a thread


class HashMultipliers(Layout):
    """The multipliers of the hash function, 128 bits for each word of a position."""

    own_low: U
    """The lower 64 bits of the multiplier of the mover's word."""
    own_high: U
    opp_low: U
    """The lower 64 bits of the multiplier of the opponent's word."""
    opp_high: U


class ThreadState(Layout):
    """The fields that control a search thread."""

    nodes: int
    """Positions visited since the start of the search."""
    max_nodes: int
    """The search stops when `nodes` reaches this."""
    stop: U
    """The search ends when STOP_BIT is set; other threads may set it."""
    multipliers: HashMultipliers
    """Of the transposition table, which all threads share."""
