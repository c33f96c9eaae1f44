"""What a thread that searches Awalé keeps besides numbers: one record, passed down the search as one pointer."""

from typing import Annotated

from awello.engine.thread_state import ThreadState
from awello.kernel import U
from awello.layout import Layout, record_at

SEED_VALUE = (
    16  # parts of a seed in which values count: fine enough for estimates, and all values fit into 12 bits of the table
)
INFINITY = 1 << 11  # more than any value: 48 seeds are 768 UNITs
MAX_DEPTH = 100  # plies of the deepest search: more rows cost only memory, and the table has 7 bits for a depth
PAST_PLIES = (
    256  # rows for positions of the game before the root: more than games without a capture last; older are forgotten
)
NO_PIT = 7  # no pit, in three bits


class StackFrame(Layout):
    """What the search keeps for one position on the way from the root."""

    moves: Annotated[list[int], 6]
    """The keys of the moves in the order in which they are tried; `awale.pit_of` gives the pit of a key."""
    own: U
    opp: U
    quiet_moves: int
    """Moves without a capture that lead here: only positions since the last capture can come again."""
    killer: U
    """The quiet move that last refuted a position at this ply, by its `awale.sowing_index`; 0 if there is none yet."""


class AwaleState(ThreadState):
    """The state of one search thread."""

    estimates: int
    """How often an estimate was used: a value found without any is proved."""
    root_best_pit: int
    """The move to try first at the root, later the best one found there, or NO_PIT."""
    game: int
    """The number of the variant."""
    tt: int
    """The address of the transposition table, which threads share; its length is chosen at run time."""
    tt_mask: int
    """The number of its entries, a power of two, less one."""
    tablebase: int
    """The address of the solved endgames, a byte for each position."""
    tablebase_seeds: int
    """Positions of up to so many seeds are looked up there."""
    weights: int
    """The address of the learnt `AwaleNetworkWeights`, which threads share; 0 for DiffScore."""
    horizon: int
    """The depth at which positions are judged instead of searched: 0, or 1 for DiffScore, which plays the last move."""
    reduce_from_depth: int
    """Late quiet moves are searched a ply less deep from this depth on."""
    history: Annotated[list[int], 6 * 64]
    """By `awale.sowing_index`, how often and how deep in the tree a pit with so many seeds refuted a position."""
    stack: Annotated[list[StackFrame], PAST_PLIES + MAX_DEPTH + 1]
    """By ply; the root is at ply PAST_PLIES, behind the positions of the game since the last capture."""


awale_state_at = record_at(AwaleState)
