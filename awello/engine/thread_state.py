"""What the search threads of both games have in common: the first fields of their state.

A search thread owns one record of memory, its *state*.  Othello's `OthelloState` and Awalé's `AwaleState` extend
`ThreadState`, so code that starts, limits and stops threads does not depend on the game.
"""

from awello.kernel import U
from awello.layout import Layout

NO_MOVE = 64
STOP_BIT = U(1) << U(63)  # the bit of `ThreadState.stop` that ends the whole search of a thread


class HashMultipliers(Layout):
    """The multipliers of the hash of a position, 128 bits for each of its two words."""

    own_low: U
    """The lower 64 bits of the multiplier of the mover's word."""
    own_high: U
    opp_low: U
    """The lower 64 bits of the multiplier of the opponent's word."""
    opp_high: U


class ThreadState(Layout):
    """The fields by which a search thread is controlled."""

    nodes: int
    """Positions visited since the beginning of the search."""
    max_nodes: int
    """The search ends when it has visited so many positions."""
    stop: U
    """The search ends when its bit STOP_BIT is set, by another thread too."""
    multipliers: HashMultipliers
    """Those of the transposition table, which all threads share."""
