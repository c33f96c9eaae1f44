"""OBF files: Othello problems, with one position and its known scores per line.

A line consists of the board, the side to move, then `A2:+38;` for each move, best first, or a single `+38;` for the
position.  Fields end with `;`, and `%` starts a comment.  Scores are in discs, from the mover's view.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from awello.errors import AwelloError, NotationError
from awello.position import Position, format_position, parse_position
from awello.rules.game import PASS, Game

T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """A position to solve, with its known scores."""

    position: Position
    scores: tuple[tuple[int, int], ...] = ()
    """Moves with their scores, in file order."""
    score: int | None = None
    """The score of the position, if the file gives no scores of moves."""

    @property
    def best_score(self) -> int | None:
        """The score under best play; None if unknown."""
        return max((score for _, score in self.scores), default=self.score)

    @property
    def best_moves(self) -> tuple[int, ...]:
        """The listed moves with the best score."""
        return tuple(move for move, score in self.scores if score == self.best_score)


def format_obf(problem: Problem) -> str:
    """Format a problem as a line of an OBF file."""
    position = problem.position
    fields = [format_position(position)]
    for move, score in problem.scores:
        fields.append(f"{'PA' if move == PASS else position.format_move(move).upper()}:{score:+d}")
    if problem.score is not None:
        fields.append(f"{problem.score:+d}")
    return "; ".join(fields) + ";"


def parse_obf(text: str) -> list[Problem]:
    """Parse the problems of an OBF file."""
    return parse_lines(text, parse_problem)


def parse_lines(text: str, parse: Callable[[str], T]) -> list[T]:
    """Parse each line without its comment, skipping empty lines; errors name the line."""
    parsed = []
    for number, line in enumerate(text.splitlines(), 1):
        if content := line.split("%")[0].strip():
            try:
                parsed.append(parse(content))
            except AwelloError as error:
                raise NotationError(f"line {number}: {error}") from None
    return parsed


def parse_problem(line: str) -> Problem:
    """Parse a line of an OBF file; the line must not contain a comment."""
    board, *rest = line.split(";")
    *_, size = Game.OTHELLO.adapter.parse_position(board)
    position = parse_position(board, Game(size))  # the second argument excludes Awalé diagrams
    scores: dict[int, int] = {}
    position_scores: list[int] = []
    for field in filter(None, map(str.strip, rest)):
        name, colon, score = field.rpartition(":")
        if not colon:
            position_scores.append(_parse_score(field, position))
            continue
        move = position.parse_move(name[:12])
        if move in scores:
            raise NotationError(f"{field[:12]!r} repeats a move: list each move once")
        scores[move] = _parse_score(score, position)
    if len(position_scores) + bool(scores) > 1:
        raise NotationError("found too many scores: give either one for the position, or one for each move")
    return Problem(position, tuple(scores.items()), position_scores[0] if position_scores else None)


def _parse_score(text: str, position: Position) -> int:
    """Parse a score in discs, such as `+38`."""
    max_score = position.game.max_score
    if re.fullmatch(r"[+-]?[0-9]{1,2}", text.strip()) and abs(score := int(text)) <= max_score:
        return score
    raise NotationError(
        f"{text.strip()[:12]!r} is not a score: write a number of discs from -{max_score} to +{max_score}"
    )
