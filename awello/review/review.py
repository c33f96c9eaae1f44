"""Review a played game with the engine: compare the value of each move with that of the best move.

Values are margins at the end of the game and include the seeds already captured.  The review proceeds from the last
move to the first, so when it reaches a move, the engine's transposition table already contains the positions after the
move.  The value of a move is the negated value of the next position.  If the values of the positions before and after a
move are both estimates, and the move is not the engine's choice, the next position is searched again, because only
estimates at the same depth are comparable.  Passes and forced moves are not analysed.

In Awalé, except in the variant romein, the game ends when a player has captured 25 seeds, but the engine evaluates
only the seeds on the board, as if play continued.  The final score of such a game is therefore not used for the moves
before the last, and the winning move has no loss.
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
    """The smallest losses that make a move an inaccuracy, a mistake or a blunder."""

    inaccuracy: float
    mistake: float
    blunder: float
    halving_loss: float
    """The mean loss per move that halves the accuracy."""

    def mark(self, loss: float) -> str:
        """Return the annotation for a loss: `?!` for an inaccuracy, `?` for a mistake, `??` for a blunder."""
        if loss >= self.blunder:
            return "??"
        return "?" if loss >= self.mistake else "?!" if loss >= self.inaccuracy else ""


MISTAKE_SCALES = {"othello": MistakeScale(2, 4, 10, 5), "awale": MistakeScale(1, 2, 5, 2.5)}


class PositionAnalyser(Protocol):
    """The engine interface that a review needs."""

    def analyse(self, position: Position, limit: Limit) -> Iterator[Analysis]:
        """Analyse a position in which the game is not over; yield results of increasing quality."""


@dataclass(frozen=True)
class MoveReview:
    """A played move compared with the best one.  Values are margins at the end of the game, from the mover's view."""

    ply: int
    """The number of the move in the game, counted from 1, passes included."""
    position: Position
    """The position before the move."""
    move: int
    value: float
    best_value: float
    best_move: int
    """The best move found; the played move if no other move was better."""
    loss: float
    """The best value minus the value of the move, at least 0."""
    exact: bool
    """Whether `value` is the final result under best play rather than an estimate."""
    pv: tuple[int, ...]
    """The principal variation, starting with the best move."""

    @property
    def is_choice(self) -> bool:
        """Whether there was more than one legal move."""
        return len(self.position.legal_moves()) > 1

    @property
    def mark(self) -> str:
        """The annotation of the move: `?!`, `?`, `??` or nothing."""
        return MISTAKE_SCALES[self.position.game.family].mark(self.loss)

    @property
    def first_player_value(self) -> float:
        """The value of the move from the point of view of the first player, Black or South."""
        return (-self.value if self.position.side else self.value) + 0.0  # + 0.0 avoids minus zero


@dataclass(frozen=True)
class ReviewSummary:
    """Statistics of one side's moves, excluding passes and forced moves."""

    moves: int
    mean_loss: float
    accuracy: float
    """A percentage that halves with every 5 discs or 2.5 seeds of mean loss per move.

    In Othello, the accuracy is 100 for a mean loss of 0 discs per move, 87 for 1 disc, 76 for 2 and 25 for 10.
    """
    inaccuracies: int
    """The number of moves marked `?!`."""
    mistakes: int
    """The number of moves marked `?`."""
    blunders: int
    """The number of moves marked `??`."""


def summarise(reviews: Iterable[MoveReview], side: int) -> ReviewSummary:
    """Summarise the reviewed moves of one side."""
    choices = [review for review in reviews if review.position.side == side and review.is_choice]
    if not choices:
        return ReviewSummary(0, 0.0, 100.0, 0, 0, 0)
    mean = statistics.fmean(review.loss for review in choices)
    accuracy = 100 * 2 ** (-mean / MISTAKE_SCALES[choices[0].position.game.family].halving_loss)
    marks = [review.mark for review in choices]
    return ReviewSummary(len(choices), mean, accuracy, marks.count("?!"), marks.count("?"), marks.count("??"))


@dataclass(frozen=True)
class PositionValue:
    """The value of a position as a margin from the mover's view, with its principal variation."""

    value: float
    exact: bool
    pv: tuple[int, ...]
    depth: int = 0
    """The depth of the search."""


def review_game(record: Record, engine: PositionAnalyser, limit: Limit) -> Iterator[MoveReview]:
    """Review every move of a game, the last one first."""
    if not record.moves:
        return
    *positions, final = record.positions()
    after = PositionValue(float(final.margin), True, ()) if final.over else _analyse(final, engine, limit)
    for ply, position, move in reversed(list(zip(range(1, len(positions) + 1), positions, record.moves, strict=True))):
        wins = ply == len(positions) and final.end_reason == "majority"
        if wins or len(position.legal_moves()) == 1:
            played = PositionValue(0.0 - after.value, after.exact, (move, *after.pv))
            yield MoveReview(ply, position, move, played.value, played.value, move, 0.0, played.exact, played.pv)
            after = _analyse(position, engine, limit) if wins else played
        else:
            before = _analyse(position, engine, limit)
            if move != before.pv[0] and not after.exact and not before.exact and before.depth > 1:
                # Only estimates of the same depth are comparable.
                after = _analyse(position.after(move), engine, replace(limit, depth=before.depth - 1, level=None))
            review = _review_move(ply, position, move, after, before)
            yield review
            after = PositionValue(review.best_value, before.exact, review.pv)


def _review_move(ply: int, position: Position, move: int, after: PositionValue, before: PositionValue) -> MoveReview:
    """Review a move, given the values of the positions before and after it."""
    value, best, best_move = 0.0 - after.value, before.value, before.pv[0]
    exact = after.exact or (move == best_move and before.exact)
    # Step 1. Make sure that the value of the move does not exceed the best value: if only the best value is exact,
    # lower the value of the move, otherwise raise the best value.
    if before.exact and not after.exact:
        value = min(value, best)
    else:
        best = max(value, best)
    # Step 2. If the played move is the engine's choice, use the more reliable of the two values for both.
    if move == best_move:
        value = best = value if after.exact and not before.exact else best
    # Step 3. If the played move has no loss, it counts as the best move.
    if value < best:
        return MoveReview(ply, position, move, value, best, best_move, best - value, exact, before.pv)
    pv = before.pv if move == best_move else (move, *after.pv)
    return MoveReview(ply, position, move, value, best, move, 0.0, exact, pv)


def _analyse(position: Position, engine: PositionAnalyser, limit: Limit) -> PositionValue:
    """Analyse a position, and return its value in the last result of the engine."""
    *_, last = engine.analyse(position, limit)
    return PositionValue(position.lead + last.value, last.exact, last.pv or (last.move,), last.depth)
