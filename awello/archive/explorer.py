"""The explorer: the moves played in a position, with their frequency and results."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from awello.archive.archive import Archive, GameFilter
from awello.archive.opening_tree import OpeningTree
from awello.archive.position_index import OFF_BOARD_WIN_SCORE, Entries, canonical_move, find_entries
from awello.archive.position_keys import UNKNOWN_SCORE
from awello.formats.openings import Opening, find_opening_at
from awello.position import Position

MAX_VALUED_GAMES = 250  # if more games reach a position, no values are computed for it
PREFERRED_FIRST_MOVE = "f5"  # Black's first move by convention; the other three are symmetric to it


@dataclass(frozen=True)
class MoveStatistics:
    """Statistics of the games in which a move or a symmetric one was played; results are from the mover's view."""

    move: int
    games: int
    wins: int
    draws: int
    losses: int
    mean_margin: float | None
    """The mover's mean margin in games played to the end."""
    value: int | None
    """The mover's margin by minimax over the games that reach the position; None if unknown."""
    opening: Opening | None
    """The opening that the move reaches; None if the position after the move has no name."""


@dataclass(frozen=True)
class Exploration:
    """Statistics of a position and of the moves played in it, the most frequent move first."""

    position: Position
    games: int
    value: int | None
    """The value of the best move, for the mover; None if no value is known."""
    moves: Sequence[MoveStatistics]


def explore(archive: Archive, position: Position, game_filter: GameFilter | None = None) -> Exploration:
    """Compute the statistics of a position in all games of an archive, or in those that match a filter."""
    with archive.engine.connect() as connection:
        entries = find_entries(connection, position)
        if game_filter is not None:
            entries = entries[np.isin(entries["game"], [row.id for row in game_filter.select_rows(connection)])]
    opening_tree = _build_opening_tree(archive, position, entries)
    values = opening_tree.move_values(position)
    # comparing contiguous copies is much faster than comparing fields of `entries`
    canonical_moves, scores = entries["move"].copy(), entries["score"].copy()
    moves = [
        _count_results(position, move, scores[canonical_moves == canonical], values.get(move))
        for canonical, move in _group_symmetric_moves(position).items()
    ]
    played = sorted((branch for branch in moves if branch.games), key=lambda branch: -branch.games)
    return Exploration(position, len(entries), opening_tree.value(position), played)


def _build_opening_tree(archive: Archive, position: Position, entries: Entries) -> OpeningTree:
    """Build the opening tree of the games that reach a position; it is empty for Awalé or if there are too many."""
    if position.game.family != "othello" or len(entries) > MAX_VALUED_GAMES:
        return OpeningTree()
    return OpeningTree(archive.load_bare_records(np.unique(entries["game"]).tolist()))


def _count_results(position: Position, move: int, scores: npt.NDArray[np.int8], value: int | None) -> MoveStatistics:
    known = scores[scores != UNKNOWN_SCORE]
    wins, draws, losses = (int(np.count_nonzero(outcome)) for outcome in (known > 0, known == 0, known < 0))
    margins = known[abs(known) != OFF_BOARD_WIN_SCORE]
    mean = float(margins.mean()) if len(margins) else None
    return MoveStatistics(move, len(scores), wins, draws, losses, mean, value, find_opening_at(position.after(move)))


def _group_symmetric_moves(position: Position) -> dict[int, int]:
    """Choose one legal move from each set of symmetric moves; return the chosen moves, keyed by canonical move."""
    moves = sorted(position.legal_moves(), key=lambda move: position.format_move(move) != PREFERRED_FIRST_MOVE)
    return {canonical_move(position, move): move for move in reversed(moves)}
