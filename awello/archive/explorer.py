"""The explorer: what was played in a position, how often, and how it went."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from awello.archive.archive import Archive, GameFilter
from awello.archive.game_tree import GameTree
from awello.archive.index import OFF_BOARD_WIN, Entries, canonical_move, find_entries
from awello.archive.position_keys import UNKNOWN_SCORE
from awello.formats.openings import Opening, opening_at
from awello.position import Position

MAX_VALUED_GAMES = 250  # games through a position, at most, whose tree is grown to tell values
PREFERRED_FIRST_MOVE = "f5"  # of Black's four first moves, which are one by symmetry, the one that most people write


@dataclass(frozen=True)
class MoveStatistics:
    """A move and the games in which it, or one that symmetry turns into it, was played; results are the mover's."""

    move: int
    games: int
    wins: int
    draws: int
    losses: int
    score: float | None
    """The mean margin of the mover in the games that the board decided."""
    value: int | None
    """The mover's margin in the tree of these games; None where that is not known."""
    opening: Opening | None
    """The name of the position after the move."""


@dataclass(frozen=True)
class Exploration:
    """A position, the games that came through it, and the moves that were played there, the most frequent first."""

    position: Position
    games: int
    value: int | None
    """The mover's margin after the best of the moves that have one."""
    moves: Sequence[MoveStatistics]


def explore(archive: Archive, position: Position, game_filter: GameFilter | None = None) -> Exploration:
    """What the games of an archive, or those that are asked for, did in a position."""
    with archive.engine.connect() as connection:
        entries = find_entries(connection, position)
        if game_filter is not None:
            entries = entries[np.isin(entries["record"], [row.id for row in game_filter.rows(connection)])]
    tree = _build_tree(archive, position, entries)
    values = tree.move_values(position)
    names, scores = entries["move"].copy(), entries["score"].copy()  # side by side, they are compared much faster
    moves = [
        _count_results(position, move, scores[names == name], values.get(move))
        for name, move in _canonical_moves(position).items()
    ]
    played = sorted((branch for branch in moves if branch.games), key=lambda branch: -branch.games)
    return Exploration(position, len(entries), tree.value(position), played)


def _build_tree(archive: Archive, position: Position, entries: Entries) -> GameTree:
    """The tree of the games that came through a position; an empty one if they are too many, or not of Othello."""
    if position.game.family != "othello" or len(entries) > MAX_VALUED_GAMES:
        return GameTree()
    return GameTree(archive.bare_records(np.unique(entries["record"]).tolist()))


def _count_results(position: Position, move: int, scores: npt.NDArray[np.int8], value: int | None) -> MoveStatistics:
    known = scores[scores != UNKNOWN_SCORE]
    wins, draws, losses = (int(np.count_nonzero(outcome)) for outcome in (known > 0, known == 0, known < 0))
    margins = known[abs(known) != OFF_BOARD_WIN]
    mean = float(margins.mean()) if len(margins) else None
    return MoveStatistics(move, len(scores), wins, draws, losses, mean, value, opening_at(position.after(move)))


def _canonical_moves(position: Position) -> dict[int, int]:
    """By the name that the index has for it, one of each set of moves that symmetry turns into each other."""
    moves = sorted(position.legal_moves(), key=lambda move: position.format_move(move) != PREFERRED_FIRST_MOVE)
    return {canonical_move(position, move): move for move in reversed(moves)}
