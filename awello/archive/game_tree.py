"""The tree of played games: what the games that went through a position say of it, and of the moves there.

After Otage (report 4, III.6), which opened from the games it had played.  Games that the board decided are its
branches, their margins its leaves, and minimax over the moves that were played gives every position a value.  Positions
are found as they lie on the board, symmetric ones as one, so games that reach the same by other ways join there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from awello.archive.archive import Archive, GameFilter
from awello.archive.nodes import minimax, node_key, write_keys
from awello.errors import ConfigError
from awello.kernel import U
from awello.position import Position
from awello.record import Record, replay_words
from awello.rules.game import SIZES, is_over


@dataclass(frozen=True)
class Advice:
    """What played games say to whoever is to move."""

    move: int | None
    """The one to play; None if every known one loses and others can be tried."""
    value: int
    """The best that is known, for the mover."""
    forbidden: tuple[int, ...] = ()
    """Known moves, none of them good, that a search for another leaves out."""


class GameTree:
    """Games of Othello, of any size, as one tree of positions with values."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.games = 0
        self._nodes = [(np.empty(0, np.int8), np.empty((0, 2), np.uint64))]  # games and words, in parts if some are new
        self._keys, self._values = np.empty(0, np.uint64), np.empty(0, np.int8)
        self.add(records)

    @classmethod
    def of(cls, archive: Archive, game_filter: GameFilter) -> "GameTree":
        """The tree of the games that are asked for, of all sizes unless some are named."""
        if not game_filter.games and game_filter.through is None:
            game_filter = replace(game_filter, games=tuple(SIZES.values()))
        return cls(archive.bare_records(archive.numbers(game_filter)))

    def add(self, records: Iterable[Record]) -> None:
        """Let games grow into the tree; those that the board did not decide are left out."""
        for record in records:
            start = record.start
            if start.game not in SIZES.values():
                raise ConfigError("the tree of played games holds games of Othello: leave those of Awalé out")
            words = replay_words(start, record.moves)
            if is_over(int(start.game), *words[-1]):
                self.games += 1
                self._nodes.append((np.full(len(words), int(start.game), np.int8), words))

    def __len__(self) -> int:
        self._update()
        return len(self._values)

    def value(self, position: Position) -> int | None:
        """The margin for whoever is to move if both play the best that is known; None of an unknown position."""
        self._update()
        key = U(node_key(int(position.game), U(position.own), U(position.opp)))
        at = np.searchsorted(self._keys, key)
        return int(self._values[at]) if at < len(self._keys) and self._keys[at] == key else None

    def move_values(self, position: Position) -> dict[int, int]:
        """The legal moves to known positions, and their values for the mover."""
        values = {move: self.value(position.after(move)) for move in position.legal_moves()}
        return {move: -value for move, value in values.items() if value is not None}

    def advise(self, position: Position) -> Advice | None:
        """The best known move if it wins or all are known, else the moves to leave out; None if nothing is known."""
        value = self.value(position)
        if value is None:
            return None
        known, legal = self.move_values(position), position.legal_moves()
        if value <= 0 and len(known) < len(legal):
            return Advice(None, value, tuple(known))
        return Advice(max(known, key=lambda move: known[move], default=None), value)

    def _update(self) -> None:
        """Take in what was added, and find all values again: a new one can change those of many positions before."""
        if len(self._nodes) == 1:
            return
        games, words = map(np.concatenate, zip(*self._nodes, strict=True))
        keys = np.empty(len(games), np.uint64)
        write_keys(games, words, keys)
        self._keys, first = np.unique(keys, return_index=True)
        self._nodes = [(games[first], words[first])]
        bits = max(1, len(first).bit_length() - 1)
        shift = U(64 - bits)
        held = np.bincount((self._keys >> shift).astype(np.int64), minlength=1 << bits)
        offsets = np.concatenate([[0], np.cumsum(held)])
        self._values = np.empty(len(first), np.int8)
        minimax(*self._nodes[0], self._keys, offsets, shift, self._values)
