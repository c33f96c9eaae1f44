"""The opening tree: played games merged into a tree, whose values are computed by minimax over these games.

The method comes from Otage (report 4, III.6), which chose its openings from the games it had played.  The tree consists
of games played to the end; their margins are the values of the leaves.  Symmetric positions are one node, and so
are equal positions reached by different moves.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from awello.archive.archive import Archive, GameFilter
from awello.archive.opening_tree_kernels import compute_node_key, minimax, write_keys
from awello.errors import ConfigError
from awello.kernel import U
from awello.position import Position
from awello.record import Record, replay_words
from awello.rules.game import GAMES_BY_SIZE, is_over


@dataclass(frozen=True)
class Advice:
    """Advice from played games for the side to move."""

    move: int | None
    """The move to play; None if no known move wins and some legal moves are unknown, or if the game is over."""
    value: int
    """The value of the best known move."""
    excluded_moves: tuple[int, ...] = ()
    """The moves to exclude from a search: all known moves, if none of them wins and some legal moves are unknown."""


class OpeningTree:
    """The tree of the positions in Othello games, with their values; games on boards of all sizes can be added."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.games = 0
        self._nodes = [
            (np.empty(0, np.int8), np.empty((0, 2), np.uint64))
        ]  # pairs of arrays (rule sets and words of positions): one for the merged nodes, then one per unmerged game
        self._keys, self._values = np.empty(0, np.uint64), np.empty(0, np.int8)
        self.add(records)

    @classmethod
    def of(cls, archive: Archive, game_filter: GameFilter) -> "OpeningTree":
        """Build the tree of the games that match a filter.

        If the filter's fields `games` and `position` are both empty, only games of Othello match.
        """
        if not game_filter.games and game_filter.position is None:
            game_filter = replace(game_filter, games=tuple(GAMES_BY_SIZE.values()))
        return cls(archive.load_bare_records(archive.find_numbers(game_filter)))

    def add(self, records: Iterable[Record]) -> None:
        """Add games to the tree; games not played to the end are ignored."""
        for record in records:
            start = record.start
            if start.game not in GAMES_BY_SIZE.values():
                raise ConfigError("the opening tree supports only Othello: leave out games of Awalé")
            words = replay_words(start, record.moves)
            if is_over(int(start.game), *words[-1]):
                self.games += 1
                self._nodes.append((np.full(len(words), int(start.game), np.int8), words))

    def __len__(self) -> int:
        self._update()
        return len(self._values)

    def value(self, position: Position) -> int | None:
        """Return the mover's margin if both sides play the best known moves; None if the position is unknown."""
        self._update()
        key = U(compute_node_key(int(position.game), U(position.own), U(position.opp)))
        at = np.searchsorted(self._keys, key)
        return int(self._values[at]) if at < len(self._keys) and self._keys[at] == key else None

    def move_values(self, position: Position) -> dict[int, int]:
        """Return the legal moves that lead to known positions, with their values for the mover."""
        values = {move: self.value(position.after(move)) for move in position.legal_moves()}
        return {move: -value for move, value in values.items() if value is not None}

    def advise(self, position: Position) -> Advice | None:
        """Return the best known move if it wins or all moves are known, else the moves to exclude.

        Returns None if the position is unknown.
        """
        value = self.value(position)
        if value is None:
            return None
        known, legal = self.move_values(position), position.legal_moves()
        if value <= 0 and len(known) < len(legal):
            return Advice(None, value, tuple(known))
        return Advice(max(known, key=lambda move: known[move], default=None), value)

    def _update(self) -> None:
        """Merge added games and recompute all values, since one game can change many of them."""
        if len(self._nodes) == 1:
            return
        games, words = map(np.concatenate, zip(*self._nodes, strict=True))
        keys = np.empty(len(games), np.uint64)
        write_keys(games, words, keys)
        self._keys, first = np.unique(keys, return_index=True)
        self._nodes = [(games[first], words[first])]
        bits = max(1, len(first).bit_length() - 1)
        shift = U(64 - bits)
        counts = np.bincount((self._keys >> shift).astype(np.int64), minlength=1 << bits)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        self._values = np.empty(len(first), np.int8)
        minimax(*self._nodes[0], self._keys, offsets, shift, self._values)
