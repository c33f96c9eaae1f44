"""How Otage learns from a finished game (report 4, section III.2.3).

Otage adjusts the factors of its evaluation slightly, and credits the result to each pattern that occurred in the game.
After a loss, Otage learns from the game repeatedly, up to `MAX_LEARNING_REPEATS` times, until a search to the same
depth as in the game chooses a different move at some ply.

A game is added to the book (section II.5.2) if Otage lost it, had a lost position in it, or played a strong opponent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from awello.engine.engine import Engine
from awello.evaluate.otage_memory import OtageMemory
from awello.limits import Limit
from awello.position import Position
from awello.record import Record
from awello.search.iterative_deepening import IterativeDeepening

MAX_LEARNING_REPEATS = 10  # the maximum number of times that a lost game is learnt
DEFAULT_RECORDED_DEPTH = 4  # the depth assumed for a game without recorded depths
SOLVED_EMPTIES = range(2, 13)  # positions with these numbers of empty squares are solved, to see whether they were lost
DEPTHS_TAG = "Depths"  # tag with Otage's search depth at each ply; 0: no such search, as for a book move


@dataclass(frozen=True)
class LearningResult:
    """How many times Otage learnt from a game, and the first ply at which it would now play another move, if any."""

    repeats: int
    changed_ply: int | None


def learn_game(memory: OtageMemory, record: Record, side: int) -> LearningResult:
    """Update a memory with a finished game, in which Otage played `side`."""
    depths = parse_depths(record) or make_default_depths(record)
    memory.games += 1
    for repeats in range(1, MAX_LEARNING_REPEATS + 1):
        memory.learn_factors(record)
        memory.learn_patterns(record)
        if record.winner in (None, side):
            return LearningResult(repeats, None)
        ply = find_first_change(memory, record, side, depths)
        if ply is not None:
            break
    return LearningResult(repeats, ply)


def find_first_change(memory: OtageMemory, record: Record, side: int, depths: Mapping[int, int]) -> int | None:
    """Return the first ply at which a side would now play another move, or None if there is none."""
    search = IterativeDeepening(memory)
    for ply, position in enumerate(record.positions()):
        if position.side != side or not depths.get(ply):
            continue
        if search.analyse(position, Limit(depth=depths[ply])).move != record.moves[ply]:
            return ply
    return None


def make_default_depths(record: Record) -> dict[int, int]:
    """Return the default depth for each ply with more than one legal move."""
    plies = enumerate(list(record.positions())[:-1])
    return {ply: DEFAULT_RECORDED_DEPTH for ply, position in plies if len(position.legal_moves()) > 1}


def format_depths(record: Record, depths: Mapping[Position, int]) -> str:
    """Format the search depths of a game as the value of its tag `Depths`."""
    return " ".join(str(depths.get(position, 0)) for position in list(record.positions())[:-1])


def parse_depths(record: Record) -> dict[int, int]:
    """Parse the search depth of each ply from the tag `Depths` of a game."""
    return {ply: int(depth) for ply, depth in enumerate(record.tags.get(DEPTHS_TAG, "").split()) if depth.isdecimal()}


# ---- after a game ----------------------------------------------------------------------------------------------------
def should_keep(record: Record, side: int, strong_opponent: bool) -> bool:
    """Return whether to add a game to the book."""
    if strong_opponent or record.winner == 1 - side:
        return True
    with Engine(hash=1) as engine:
        return was_lost(engine, record, side)


def was_lost(engine: Engine, record: Record, side: int) -> bool:
    """Return whether a side had a lost position near the end, according to exact searches."""
    for position in record.positions():
        if position.empties in SOLVED_EMPTIES and not position.over:
            *_, found = engine.solve(position, wld=True)
            if (found.value if position.side == side else -found.value) < 0:
                return True
    return False
