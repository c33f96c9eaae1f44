"""A played game seen again with the engine's eyes: what each move was worth, and what the best would have been.

The review goes from the end to the start.  So the engine's table already knows what lies behind a position, and
each position is analysed once at most: a move is worth minus what the next position is worth to its mover.  Passes
and forced moves need no analysis at all.
"""

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from awello.analysis import Analysis
from awello.limits import Limit
from awello.position import Position
from awello.record import Record

MISTAKE, BLUNDER = 4, 10  # a loss of so many discs has a name
HALVING = 5  # a mean loss of so many discs a move halves the accuracy


class Analyst(Protocol):
    """What the review asks of an engine: a stream of ever better answers about a position that is not over."""

    def analyse(self, position: Position, limit: Limit, best: int = 1) -> Iterator[Analysis]:
        """Analyse a position within a limit."""


@dataclass(frozen=True)
class Judgement:
    """A played move beside the best one; values are from the mover's view."""

    ply: int
    """The number of the move in the game, passes included, from 1."""
    position: Position
    """The position in which it was played."""
    move: int
    value: float
    best_value: float
    best_move: int
    """The move played itself, if no better one was found."""
    loss: float
    """What the move gave away: the best value less its own, never below 0."""
    exact: bool
    """Whether `value` is the final result under best play from there, not an estimate."""
    line: tuple[int, ...]
    """Best play from the position, the best move first."""

    @property
    def choice(self) -> bool:
        """Whether the player had any choice."""
        return len(self.position.legal_moves()) > 1

    @property
    def mark(self) -> str:
        """The sign annotators put behind the move: `?` for a mistake, `??` for a blunder."""
        return "??" if self.loss >= BLUNDER else "?" if self.loss >= MISTAKE else ""

    @property
    def first_value(self) -> float:
        """The value of the move from the first player's view: Black's, South's."""
        return (-self.value if self.position.side else self.value) + 0.0  # + 0.0: there is no minus zero

    def line_names(self) -> list[str]:
        """The best line under the names of its moves."""
        position, names = self.position, []
        for move in self.line:
            names.append(position.format_move(move))
            position = position.after(move)
        return names


@dataclass(frozen=True)
class Summary:
    """How well a side played; only moves that were a choice count."""

    moves: int
    mean_loss: float
    mistakes: int
    """Moves that lost 4 or more; blunders are among them."""
    blunders: int
    """Moves that lost 10 or more."""

    @property
    def accuracy(self) -> float:
        """A percentage that a mean loss of 5 discs a move halves: 100 · 2^(-mean loss / 5).

        A game without loss has 100, a mean loss of 1 disc a move 87, of 2 discs 76, of 10 discs 25.
        """
        return float(100 * 2 ** (-self.mean_loss / HALVING))


def summarise(judgements: Iterable[Judgement], side: int) -> Summary:
    """How well a side played in the moves that were judged."""
    losses = [judgement.loss for judgement in judgements if judgement.position.side == side and judgement.choice]
    return Summary(
        moves=len(losses),
        mean_loss=statistics.fmean(losses) if losses else 0.0,
        mistakes=sum(loss >= MISTAKE for loss in losses),
        blunders=sum(loss >= BLUNDER for loss in losses),
    )


@dataclass(frozen=True)
class Worth:
    """What a position is worth to its mover, and the play that shows it."""

    value: float
    exact: bool
    line: tuple[int, ...] = ()


def review(record: Record, engine: Analyst, limit: Limit) -> Iterator[Judgement]:
    """Judge every move of a game, the last one first."""
    if not record.moves:
        return
    *positions, final = record.positions()
    after = _result(final) if final.over else _worth(_analyse(final, engine, limit))
    for ply, position, move in reversed(list(zip(range(1, len(positions) + 1), positions, record.moves, strict=True))):
        if len(position.legal_moves()) == 1:
            here = Worth(-after.value, after.exact, (move, *after.line))
            yield Judgement(ply, position, move, here.value, here.value, move, 0.0, here.exact, here.line)
        else:
            found = _analyse(position, engine, limit)
            judgement = _judge(ply, position, move, after, found)
            here = Worth(judgement.best_value, found.exact, judgement.line)
            yield judgement
        after = here


def _judge(ply: int, position: Position, move: int, after: Worth, found: Analysis) -> Judgement:
    """Judge a move by what is known of the position before it and of the one after it."""
    value, best = -after.value, found.value
    exact = after.exact or (move == found.move and found.exact)
    # Step 1. Nothing is better than the best: an estimate yields to an exact value, else the lower to the higher.
    if found.exact and not after.exact:
        value = min(value, best)
    else:
        best = max(value, best)
    # Step 2. The engine's own choice has one value, the surer of the two.
    if move == found.move:
        value = best = value if after.exact and not found.exact else best
    # Step 3. A move without loss is a best move.
    if value < best:
        return Judgement(ply, position, move, value, best, found.move, best - value, exact, found.line)
    line = found.line if move == found.move else (move, *after.line)
    return Judgement(ply, position, move, value, best, move, 0.0, exact, line)


def _analyse(position: Position, engine: Analyst, limit: Limit) -> Analysis:
    """The last and best of the engine's answers."""
    *_, last = engine.analyse(position, limit)
    return last


def _worth(found: Analysis) -> Worth:
    return Worth(found.value, found.exact, found.line)


def _result(position: Position) -> Worth:
    """What a finished game is worth to whoever would have to move."""
    first, second = position.score()
    return Worth(float(second - first if position.side else first - second), True)
