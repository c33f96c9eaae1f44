"""An opening book of Awalé: positions with the values that deep searches gave them, grown by drop-out expansion.

A book is used until an opponent drops out of it, so it should be deep where play is good and shallow where it is not.
Drop-out expansion (Lincke 2000) therefore always expands the leaf of least cost: a ply costs one, and a move that is
worse than the best of its position as many plies as it gives away seeds, times `PLIES_PER_SEED`.  All moves of the
leaf are searched and their values backed up to the root.

Positions are rows without the seeds taken, from the mover's view.  That the rightmost pit is the one first move that
does not lose is known from the solution of the game (Romein and Bal 2002), under whose rules and those nearest to them
no other is looked at.
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
from awello.rules.awale import SEEDS, START, pits_of
from awello.rules.game import Game

PLIES_PER_SEED = 2.0
ONLY_FIRST_MOVE = {Game.ROMEIN: 5, Game.TOURNAMENT: 5}

BookKey = tuple[int, int]
PositionEvaluator = Callable[[Position], float]


@dataclass
class OpeningBook:
    """The positions of a book with their searched values, in seeds still to be won."""

    game: Game
    values: dict[BookKey, float] = field(default_factory=dict)
    _backed_up: dict[BookKey, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    def moves(self, key: BookKey) -> dict[int, tuple[int, BookKey]]:
        """The moves of a position that the book looks at: what each captures, and where it leads."""
        position = Position(self.game, *key)
        legal = position.legal_moves()
        if key == (START, START) and self.game in ONLY_FIRST_MOVE:
            legal = (ONLY_FIRST_MOVE[self.game],)
        children = ((move, position.after(move).board) for move in legal)
        before = sum(map(sum, map(pits_of, key)))
        return {move: (before - sum(map(sum, map(pits_of, child))), child) for move, child in children}

    def is_expanded(self, key: BookKey) -> bool:
        """Whether the book knows what each move of a position is worth."""
        moves = self.moves(key) if key in self.values else {}
        return bool(moves) and all(child in self.values for _, child in moves.values())

    def move_values(self, key: BookKey) -> dict[int, float]:
        """What each move of an expanded position is worth."""
        return {move: gain - self.value(child) for move, (gain, child) in self.moves(key).items()}

    def value(self, key: BookKey) -> float:
        """The value of a position with all that the book knows below it."""
        if key not in self._backed_up:
            self._backed_up[key] = self.values[key]  # where a line circles, the search stands
            if self.is_expanded(key):
                self._backed_up[key] = max(self.move_values(key).values())
        return self._backed_up[key]

    def choose(self, position: Position) -> tuple[int, float] | None:
        """The best move of a position and its value, if the book knows it."""
        key = position.board
        if not self.is_expanded(key):
            return None
        move_values = self.move_values(key)
        best = max((move for move in move_values if move in position.legal_moves()), key=lambda move: move_values[move])
        return best, move_values[best]

    def leaves(self) -> Iterator[tuple[float, BookKey]]:
        """The positions that are not expanded, by their cost."""
        queue, seen = [(0.0, (START, START))], set()
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
        """Search all moves of the leaf of least cost; the leaf, or None if there is nothing left to expand."""
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


# ---- files: a line for each position, its diagram and its value -----------------------------------------------------
def format_book(book: OpeningBook) -> str:
    """A book as text."""
    lines = [f"% an opening book of Awalé, {book.game}: positions and their values in seeds still to be won"]
    for (own, opp), value in book.values.items():
        taken = SEEDS - sum(pits_of(own)) - sum(pits_of(opp))
        position = Position(book.game, own | taken << 48, opp)
        lines.append(f"{format_position(position)} {value:g}")
    return "\n".join(lines) + "\n"


def parse_book(text: str, game: Game, name: str) -> OpeningBook:
    """The book of a text; `ConfigError` names the line that is wrong."""
    book = OpeningBook(game)
    for number, line in enumerate(text.splitlines(), 1):
        if content := line.split("%")[0].split():
            try:
                diagram, value = content
                book.values[parse_position(diagram, game).board] = float(value)
            except ValueError as error:
                raise ConfigError(f"{name}, line {number}: no position and value: {error}") from None
    return book


def load_book(file: Path, game: Game) -> OpeningBook:
    """The book of a file; an empty one if there is none."""
    if not file.exists():
        return OpeningBook(game)
    try:
        return parse_book(file.read_text("utf-8"), game, str(file))
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is no book: choose another file") from None


@cache
def shipped_book(game: Game) -> OpeningBook:
    """The book that Awello ships for a game; an empty one if there is none."""
    return load_book(data_file(f"{game}.book"), game)
