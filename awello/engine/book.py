"""An opening book for Awalé: positions with values from deep searches, built by drop-out expansion.

A book is used until the opponent leaves it, so it should be deep after good moves and shallow after bad ones.  Drop-out
expansion (Lincke 2000) always expands the leaf with the lowest cost.  The cost of a leaf is a sum over the moves that
lead to it: each costs 1, plus `PLIES_PER_SEED` for each seed by which it is worse than the best move.  To expand a
leaf, all its moves are searched, and their values are backed up to the root.

A position is stored as the mover's row and the opponent's, without the captured seeds.  Romein and Bal (2002) solved
the game under their rules (romein): the rightmost pit is the only first move that does not lose.  The books for these
rules and for the similar tournament rules therefore contain no other first move.
"""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from awello.engine.tablebase import split_captures_evenly
from awello.errors import ConfigError
from awello.folders import data_file
from awello.position import Position, format_position, parse_position
from awello.rules.awale import START_ROW, TOTAL_SEEDS, pits_of
from awello.rules.game import Game

PLIES_PER_SEED = 2.0
ONLY_FIRST_MOVE = {Game.ROMEIN: 5, Game.TOURNAMENT: 5}

BookKey = tuple[int, int]
PositionEvaluator = Callable[[Position], float]


@dataclass
class OpeningBook:
    """An opening book.  A value is the expected margin in seeds won from now on, from the mover's view."""

    game: Game
    values: dict[BookKey, float] = field(default_factory=dict)
    """The value that a search found for each position, before values are backed up from deeper positions."""
    _backed_up: dict[BookKey, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    def moves(self, key: BookKey) -> dict[int, tuple[int, BookKey]]:
        """Return the moves of a position, each with the number of seeds that it captures and the resulting position."""
        position = Position(self.game, *key)
        legal = position.legal_moves()
        if key == (START_ROW, START_ROW) and self.game in ONLY_FIRST_MOVE:
            legal = (ONLY_FIRST_MOVE[self.game],)
        children = ((move, position.after(move).board_words) for move in legal)
        before = sum(map(sum, map(pits_of, key)))
        return {move: (before - sum(map(sum, map(pits_of, child))), child) for move, child in children}

    def is_expanded(self, key: BookKey) -> bool:
        """Return whether the book has a value for each move of a position."""
        moves = self.moves(key) if key in self.values else {}
        return bool(moves) and all(child in self.values for _, child in moves.values())

    def move_values(self, key: BookKey) -> dict[int, float]:
        """Return the value of each move of an expanded position."""
        return {move: gain - self.value(child) for move, (gain, child) in self.moves(key).items()}

    def value(self, key: BookKey) -> float:
        """Return the value of a position, backed up from the positions below it."""
        if key not in self._backed_up:
            self._backed_up[key] = self.values[key]  # used if moves lead back to this position
            if self.is_expanded(key):
                self._backed_up[key] = max(self.move_values(key).values())
        return self._backed_up[key]

    def choose(self, position: Position) -> tuple[int, float] | None:
        """Return the best move and its value, or None if the position is not expanded in the book."""
        key = position.board_words
        if not self.is_expanded(key):
            return None
        move_values = self.move_values(key)
        best = max((move for move in move_values if move in position.legal_moves()), key=lambda move: move_values[move])
        return best, move_values[best]

    def leaves(self) -> Iterator[tuple[float, BookKey]]:
        """Yield the unexpanded positions with their costs, the cheapest first."""
        queue, seen = [(0.0, (START_ROW, START_ROW))], set()
        while queue:
            cost, key = heapq.heappop(queue)
            if key in seen:
                continue
            seen.add(key)
            if not self.is_expanded(key):
                yield cost, key
                continue
            move_values = self.move_values(key)
            best = max(move_values.values())
            for move, (_, child) in self.moves(key).items():
                heapq.heappush(queue, (cost + 1 + PLIES_PER_SEED * (best - move_values[move]), child))

    def expand(self, evaluate: PositionEvaluator) -> BookKey | None:
        """Search all moves of the leaf with the lowest cost.  Return the leaf, or None if no leaf is left."""
        for _, key in self.leaves():
            if moves := self.moves(key):
                self.values.setdefault(key, 0.0)
                for _, child in moves.values():
                    if child not in self.values:
                        position = Position(self.game, *child)
                        self.values[child] = (
                            evaluate(split_captures_evenly(position)) if position.legal_moves() else position.margin
                        )
                self._backed_up.clear()
                return key
        return None


# ---- files: one line per position, with its diagram and its value ---------------------------------------------------
def format_book(book: OpeningBook) -> str:
    """Format a book as text."""
    lines = [f"% opening book for Awalé, {book.game}: positions with the mover's margin in seeds still to be won"]
    for (own, opp), value in book.values.items():
        captured = TOTAL_SEEDS - sum(pits_of(own)) - sum(pits_of(opp))
        position = Position(book.game, own | captured << 48, opp)
        lines.append(f"{format_position(position)} {value:g}")
    return "\n".join(lines) + "\n"


def parse_book(text: str, game: Game, name: str) -> OpeningBook:
    """Parse a book, or raise a `ConfigError` that names the invalid line."""
    book = OpeningBook(game)
    for number, line in enumerate(text.splitlines(), 1):
        if content := line.split("%")[0].split():
            try:
                diagram, value = content
                book.values[parse_position(diagram, game).board_words] = float(value)
            except ValueError as error:
                raise ConfigError(f"{name}, line {number} is invalid ({error}): write a position and a value") from None
    return book


def load_book(file: Path, game: Game) -> OpeningBook:
    """Read a book from a file; return an empty book if the file does not exist."""
    if not file.exists():
        return OpeningBook(game)
    try:
        return parse_book(file.read_text("utf-8"), game, str(file))
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not an opening book: choose another file") from None


@cache
def load_shipped_book(game: Game) -> OpeningBook:
    """Load the shipped book of a game; return an empty book if there is none."""
    return load_book(data_file(f"{game}.book"), game)
