"""Learning from a game that was played (report 4, section III.2.3).

The factors change a little, and each pattern that was met shares the result.  After a loss this is repeated until some
move that a search chose freely would be another one, searched as deep as it was; a bounded number of times.

A game enters the book (section II.5.2) if Otage lost it, should have lost it, or played it against a strong opponent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from awello.engine.engine import Engine
from awello.evaluate.otage_memory import OtageMemory
from awello.limits import Limit
from awello.position import Position
from awello.record import Record
from awello.search.iterative_deepening import IterativeDeepening

MAX_REPEATS = 10  # times that a lost game is learnt
DEFAULT_DEPTH = 4  # plies
SOLVED_EMPTIES = range(2, 13)  # empty squares with which it is looked up whether a game was lost for a while
DEPTHS_TAG = "Depths"  # the tag of a game that Otage played: for each ply how deep it searched with a free choice, or 0


@dataclass(frozen=True)
class Lesson:
    """How often a game was learnt, and the first ply that would be played differently now; None if there is none."""

    repeats: int
    ply: int | None


def learn_game(memory: OtageMemory, record: Record, side: int) -> Lesson:
    """Let a memory learn from a finished game that Otage played on a side."""
    depths = read_depths(record) or default_depths(record)
    memory.games += 1
    for repeats in range(1, MAX_REPEATS + 1):
        memory.adjust(record)
        memory.note(record)
        if record.winner in (None, side):
            return Lesson(repeats, None)
        ply = find_first_change(memory, record, side, depths)
        if ply is not None:
            break
    return Lesson(repeats, ply)


def find_first_change(memory: OtageMemory, record: Record, side: int, depths: Mapping[int, int]) -> int | None:
    """The first ply at which a side would play another move now, None if there is none."""
    search = IterativeDeepening(memory)
    for ply, position in enumerate(record.positions()):
        if position.side != side or not depths.get(ply):
            continue
        if search.choose(position, Limit(depth=depths[ply])).move != record.moves[ply]:
            return ply
    return None


def default_depths(record: Record) -> dict[int, int]:
    """Where nobody knows how deep moves were searched: a depth for each of them that leaves a choice."""
    plies = enumerate(list(record.positions())[:-1])
    return {ply: DEFAULT_DEPTH for ply, position in plies if len(position.legal_moves()) > 1}


def format_depths(record: Record, depths: Mapping[Position, int]) -> str:
    """The tag of a game for the positions that were searched with a free choice."""
    return " ".join(str(depths.get(position, 0)) for position in list(record.positions())[:-1])


def read_depths(record: Record) -> dict[int, int]:
    """By ply, how deep the moves of a game were searched."""
    return {ply: int(depth) for ply, depth in enumerate(record.tags.get(DEPTHS_TAG, "").split()) if depth.isdecimal()}


# ---- after a game ---------------------------------------------------------------------------------------------------
def is_worth_keeping(record: Record, side: int, strong: bool) -> bool:
    """Whether a game enters the book."""
    if strong or record.winner == 1 - side:
        return True
    with Engine(hash=1) as engine:
        return was_lost(engine, record, side)


def was_lost(engine: Engine, record: Record, side: int) -> bool:
    """Whether a side was lost for a while near the end, by exact scores."""
    for position in record.positions():
        if position.empties in SOLVED_EMPTIES and not position.over:
            *_, found = engine.solve(position, wld=True)
            if (found.value if position.side == side else -found.value) < 0:
                return True
    return False
