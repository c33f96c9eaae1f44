"""The state of a thread that searches Awalé."""

from typing import Annotated

from awello.engine.thread_state import ThreadState
from awello.kernel import U
from awello.layout import Layout, record_at

SEED_VALUE = 16  # the value of one seed: large enough for fine estimates, small enough for the 12 bits in a TT entry
INFINITY = 1 << 11  # larger than any value: the largest value, for 48 seeds, is 768
MAX_DEPTH = 100  # the largest depth of a search; a TT entry has 7 bits for it
PAST_PLIES = 256  # frames before the root, for the positions of the game so far; the earliest are dropped if necessary
NO_PIT = 7  # stands for "no move"; like a pit, it fits into three bits of a TT entry


class StackFrame(Layout):
    """The search stack entry of one ply."""

    moves: Annotated[list[int], 6]
    """The keys of the moves in the order in which they are searched; `pit_of` gives the pit of a key."""
    own: U
    opp: U
    plies_since_capture: int
    """The number of plies since the last capture; only positions since then can recur."""
    killer: U
    """The last quiet move that caused a cutoff at this ply, as its `sowing_index`; 0 if there is none."""


class AwaleState(ThreadState):
    """The state of one search thread."""

    estimates: int
    """The number of times that an estimate was used; a value found without one is proven."""
    root_best_pit: int
    """The move to search first at the root and, after the search, the best move found; NO_PIT if there is none."""
    game: int
    """The id of the variant, its value in the enumeration `Game`."""
    tt: int
    """The address of the transposition table, which all threads share."""
    tt_mask: int
    """The bit mask that turns a hash into an entry index: the number of TT entries (a power of two) minus one."""
    tablebase: int
    """The address of the endgame tablebase, one byte per position."""
    tablebase_seeds: int
    """The largest number of seeds for which the tablebase is used."""
    weights: int
    """The address of the trained `AwaleNetworkWeights`, which all threads share; 0 for DiffScore."""
    horizon: int
    """The depth at which positions are evaluated: 0, or 1 for DiffScore, which plays the last ply itself."""
    reduce_from_depth: int
    """The depth from which late quiet moves are reduced by a ply."""
    history: Annotated[list[int], 6 * 64]
    """For each `sowing_index`, a number that grows by the squared depth whenever this sowing causes a cutoff."""
    stack: Annotated[list[StackFrame], PAST_PLIES + MAX_DEPTH + 1]
    """The frame of each ply; the root is at index PAST_PLIES, after the positions since the last capture."""


awale_state_at = record_at(AwaleState)
