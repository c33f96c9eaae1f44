"""The part of a search thread's state that Othello and Awalé share.

A search thread owns one record, its *state*.  `OthelloState` and `AwaleState` extend `ThreadState`, so the code that
starts, limits and stops threads does not depend on the game.
"""

from awello.kernel import U
from awello.layout import Layout

NO_MOVE = 64
STOP_BIT = U(1) << U(63)  # the bit of `ThreadState.stop` that ends the whole search of a thread


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
    """The number of positions visited since the start of the search."""
    node_limit: int
    """The value of `nodes` at which the search stops."""
    stop: U
    """The search ends when STOP_BIT is set; other threads may set it."""
    multipliers: HashMultipliers
    """The multipliers of the hash function, which are the same for all threads."""
