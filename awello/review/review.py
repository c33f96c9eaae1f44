"""A played game seen again with the engine's eyes: what each move was worth, and what the best would have been.

Values are margins: what the game will end with, the seeds already taken included.  The review goes from the end to
the start.  So the engine's table already knows what lies behind a position, and a move is worth minus what the next
position is worth to its mover; only an estimate that looked farther than the one before the move is made anew, as far
as that one looked.  Passes and forced moves need no analysis.

In Awalé 25 seeds end the game before all are won, but the engine looks at the seeds on the board alone and plays on.
So the score of such a game says nothing about the moves before the last, and the move that wins it loses nothing.
"""

import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Protocol

from awello.analysis import Analysis
from awello.limits import Limit
from awello.position import Position
from awello.record import Record


@dataclass(frozen=True)
class MistakeScale:
    """How much must be lost in a game for a loss to have a name."""

    inaccuracy: float
    mistake: float
    blunder: float
    halving: float
    """A mean loss of so much a move halves the accuracy."""

    def mark(self, loss: float) -> str:
        """The sign annotators put behind a move: `?!` for an inaccuracy, `?` for a mistake, `??` for a blunder."""
        if loss >= self.blunder:
            return "??"
        return "?" if loss >= self.mistake else "?!" if loss >= self.inaccuracy else ""


SCALES = {"othello": MistakeScale(2, 4, 10, 5), "awale": MistakeScale(1, 2, 5, 2.5)}


class Analyst(Protocol):
    """What the review asks of an engine: a stream of ever better answers about a position that is not over."""

    def analyse(self, position: Position, limit: Limit, best: int = 1) -> Iterator[Analysis]:
        """Analyse a position within a limit."""


@dataclass(frozen=True)
class MoveReview:
    """A played move beside the best one; values are margins at the end of the game, from the mover's view."""

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
    pv: tuple[int, ...]
    """Best play from the position, the best move first."""

    @property
    def choice(self) -> bool:
        """Whether the player had any choice."""
        return len(self.position.legal_moves()) > 1

    @property
    def mark(self) -> str:
        """The sign annotators put behind the move, if it lost enough."""
        return SCALES[self.position.game.family].mark(self.loss)

    @property
    def first_value(self) -> float:
        """The value of the move from the first player's view: Black's, South's."""
        return (-self.value if self.position.side else self.value) + 0.0  # + 0.0: there is no minus zero


@dataclass(frozen=True)
class ReviewSummary:
    """How well a side played; only moves that were a choice count."""

    moves: int
    mean_loss: float
    accuracy: float
    """A percentage that a mean loss of 5 discs or 2.5 seeds a move halves.

    A game without loss has 100, a mean loss of 1 disc a move 87, of 2 discs 76, of 10 discs 25.
    """
    inaccuracies: int
    """Moves marked `?!`."""
    mistakes: int
    """Moves marked `?`."""
    blunders: int
    """Moves marked `??`."""


def summarise(judgements: Iterable[MoveReview], side: int) -> ReviewSummary:
    """How well a side played in the moves that were judged."""
    choices = [judgement for judgement in judgements if judgement.position.side == side and judgement.choice]
    if not choices:
        return ReviewSummary(0, 0.0, 100.0, 0, 0, 0)
    mean = statistics.fmean(judgement.loss for judgement in choices)
    accuracy = 100 * 2 ** (-mean / SCALES[choices[0].position.game.family].halving)
    marks = [judgement.mark for judgement in choices]
    return ReviewSummary(len(choices), mean, accuracy, marks.count("?!"), marks.count("?"), marks.count("??"))


@dataclass(frozen=True)
class PositionValue:
    """What a position is worth to its mover, as a margin, and the play that shows it."""

    value: float
    exact: bool
    pv: tuple[int, ...]
    depth: int = 0
    """How far the search looked that found it."""


def review(record: Record, engine: Analyst, limit: Limit) -> Iterator[MoveReview]:
    """Judge every move of a game, the last one first."""
    if not record.moves:
        return
    *positions, final = record.positions()
    after = PositionValue(float(final.margin), True, ()) if final.over else _analyse(final, engine, limit)
    for ply, position, move in reversed(list(zip(range(1, len(positions) + 1), positions, record.moves, strict=True))):
        wins = ply == len(positions) and final.end == "majority"
        if wins or len(position.legal_moves()) == 1:
            played = PositionValue(0.0 - after.value, after.exact, (move, *after.pv))
            yield MoveReview(ply, position, move, played.value, played.value, move, 0.0, played.exact, played.pv)
            after = _analyse(position, engine, limit) if wins else played
        else:
            found = _analyse(position, engine, limit)
            if move != found.pv[0] and not after.exact and not found.exact and found.depth > 1:
                # Estimates differ with the depth: only those that looked equally far can be compared.
                after = _analyse(position.after(move), engine, replace(limit, depth=found.depth - 1, level=None))
            judgement = _judge(ply, position, move, after, found)
            yield judgement
            after = PositionValue(judgement.best_value, found.exact, judgement.pv)


def _judge(ply: int, position: Position, move: int, after: PositionValue, found: PositionValue) -> MoveReview:
    """Judge a move by what is known of the position before it and of the one after it."""
    value, best, best_move = 0.0 - after.value, found.value, found.pv[0]
    exact = after.exact or (move == best_move and found.exact)
    # Step 1. Nothing is better than the best: an estimate yields to an exact value, else the lower to the higher.
    if found.exact and not after.exact:
        value = min(value, best)
    else:
        best = max(value, best)
    # Step 2. The engine's own choice has one value, the surer of the two.
    if move == best_move:
        value = best = value if after.exact and not found.exact else best
    # Step 3. A move without loss is a best move.
    if value < best:
        return MoveReview(ply, position, move, value, best, best_move, best - value, exact, found.pv)
    line = found.pv if move == best_move else (move, *after.pv)
    return MoveReview(ply, position, move, value, best, move, 0.0, exact, line)


def _analyse(position: Position, engine: Analyst, limit: Limit) -> PositionValue:
    """What the last and best of the engine's answers says."""
    *_, last = engine.analyse(position, limit)
    return PositionValue(position.lead + last.value, last.exact, last.pv or (last.move,), last.depth)
