"""The tree of played games: what the games that went through a position say of it, and of the moves there.

After Otage (report 4, III.6), which opened from the games it had played.  Games that the board decided are its
branches, their margins its leaves, and minimax over the moves that were played gives every position a value.  Positions
are found as they lie on the board, symmetric ones as one, so games that reach the same by other ways join there.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from awello.archive.archive import Archive, Wanted
from awello.archive.nodes import Bytes, Numbers, key_of, minimax, walk
from awello.errors import ConfigError
from awello.kernel import U, Words
from awello.position import Position
from awello.record import Record
from awello.rules.game import SIZES

BATCH = 20_000  # games walked through at once


@dataclass(frozen=True)
class Advice:
    """What played games say to whoever is to move."""

    move: int | None
    """The one to play; None if every known one loses and others can be tried."""
    value: int
    """The best that is known, for the mover."""
    forbidden: tuple[int, ...] = ()
    """Known moves, none of them good, that a search for another leaves out."""


@dataclass(frozen=True)
class Nodes:
    """Positions, and the keys by which they are found."""

    games: Bytes
    owns: Words
    opps: Words
    keys: Words

    def pick(self, chosen: Numbers | slice) -> "Nodes":
        """Some of them."""
        return Nodes(self.games[chosen], self.owns[chosen], self.opps[chosen], self.keys[chosen])


def join(parts: Iterable[Nodes]) -> Nodes:
    """All of the parts, each position once, in the order of the keys."""
    columns = [(part.games, part.owns, part.opps, part.keys) for part in parts]
    games, owns, opps, keys = map(np.concatenate, zip(*columns, strict=True))
    _, first = np.unique(keys, return_index=True)
    return Nodes(games, owns, opps, keys).pick(first)


class Tree:
    """Games of Othello, of any size, as one tree of positions with values."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.games = 0
        self._nodes = Nodes(np.empty(0, np.int8), *(np.empty(0, np.uint64) for _ in range(3)))
        self._values = np.empty(0, np.int8)
        self._new: list[Nodes] = []
        self.add(records)

    @classmethod
    def of(cls, archive: Archive, wanted: Wanted) -> "Tree":
        """The tree of the games that are asked for, of all sizes unless some are named."""
        if not wanted.kinds and wanted.through is None:
            wanted = replace(wanted, kinds=tuple(SIZES.values()))
        return cls(archive.lines(archive.numbers(wanted)))

    def add(self, records: Iterable[Record]) -> None:
        """Let games grow into the tree; those that the board did not decide are left out."""
        coming = iter(records)
        while batch := list(islice(coming, BATCH)):
            ended, nodes = _walk(batch)
            self.games += ended
            self._new.append(nodes)

    def __len__(self) -> int:
        self._grow()
        return len(self._values)

    def value(self, position: Position) -> int | None:
        """The margin for whoever is to move if both play the best that is known; None of an unknown position."""
        self._grow()
        key = U(key_of(int(position.game), U(position.own), U(position.opp)))
        at = np.searchsorted(self._nodes.keys, key)
        return int(self._values[at]) if at < len(self._values) and self._nodes.keys[at] == key else None

    def branches(self, position: Position) -> dict[int, int]:
        """The legal moves to known positions, and their values for the mover."""
        values = {move: self.value(position.after(move)) for move in position.legal_moves()}
        return {move: -value for move, value in values.items() if value is not None}

    def advise(self, position: Position) -> Advice | None:
        """The best known move if it wins, else the moves to leave out when another is sought; None if unknown.

        Where every move is known it is the best of them, good or bad.
        """
        value = self.value(position)
        if value is None:
            return None
        known, legal = self.branches(position), position.legal_moves()
        if value <= 0 and len(known) < len(legal):
            return Advice(None, value, tuple(known))
        return Advice(max(known, key=lambda move: known[move], default=None), value)

    def _grow(self) -> None:
        """Take in what was added, and find all values again: a new one can change those of many positions before."""
        if not self._new:
            return
        nodes = join([self._nodes, *self._new])
        bits = max(1, len(nodes.keys).bit_length() - 1)
        shift = U(64 - bits)
        held = np.bincount((nodes.keys >> shift).astype(np.int64), minlength=1 << bits)
        begins = np.concatenate([[0], np.cumsum(held)])
        values = np.empty(len(nodes.keys), np.int8)
        minimax(nodes.games, nodes.owns, nodes.opps, nodes.keys, begins, shift, values)
        self._nodes, self._values, self._new = nodes, values, []


def _walk(records: list[Record]) -> tuple[int, Nodes]:
    """How many games the board decided, and the positions of those."""
    starts, lengths = [record.start for record in records], np.array([len(record.moves) for record in records])
    games = np.array([int(start.game) for start in starts], np.int8)
    if games.max() > max(SIZES.values()):
        raise ConfigError("the tree of played games holds games of Othello: leave those of Awalé out")
    owns, opps = (np.array([getattr(start, word) for start in starts], np.uint64) for word in ("own", "opp"))
    moves = np.array([move for record in records for move in record.moves], np.int8)
    room = len(moves) + len(records)
    nodes = Nodes(np.empty(room, np.int8), *(np.empty(room, np.uint64) for _ in range(3)))
    ended, count = walk(games, owns, opps, lengths, moves, nodes.games, nodes.owns, nodes.opps, nodes.keys)
    return ended, nodes.pick(slice(count))
