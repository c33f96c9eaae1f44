"""A played game: where it started, the moves, the time they took, and how it ended."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from awello.errors import IllegalMoveError
from awello.kernel import U, Words
from awello.position import Position
from awello.rules.game import replay as replay_moves
from awello.rules.game import squares_of
from awello.rules.othello import insert_passes


@dataclass(frozen=True)
class Record:
    """A game as it was played, passes included; whoever makes one answers for the legality of its moves."""

    start: Position
    moves: tuple[int, ...] = ()
    seconds: tuple[float | None, ...] = ()
    """The time each move took, None where it is unknown; as long as `moves`, or empty if nobody looked at a clock."""
    values: tuple[float | None, ...] = ()
    """What whoever moved thought of it, for themselves, in discs or seeds; as long as `moves`, or empty."""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    """What else is known of the game.

    `Black` and `White`, `South` and `North` are the players; `Event`, `Site`, `Date` and `Round` say where and when.
    Whatever else a file tells keeps the name that it has there.
    """
    loser: int | None = None
    """The side that lost by resigning, by the clock or by breaking a rule; None if the board decides."""
    reason: str = ""
    """How that side lost: `resigned`, `ran out of time`, `crash: ...`."""

    def positions(self) -> Iterator[Position]:
        """Every position of the game, from the start to the final one."""
        position = self.start
        yield position
        for move in self.moves:
            position = position.after(move)
            yield position

    def annotated_moves(self) -> Iterator[tuple[int, float | None, float | None]]:
        """Every move with its value and its time, None where they are unknown."""
        unknown = (None,) * len(self.moves)
        return zip(self.moves, self.values or unknown, self.seconds or unknown, strict=True)

    @cached_property
    def final(self) -> Position:
        """The position after the last move."""
        legal, last = replay(self.start, self.moves)
        if legal < len(self.moves):
            *_, last = self.positions()
        return last

    @property
    def winner(self) -> int | None:
        """The side that won, None for a draw or a game not yet decided."""
        if self.loser is not None:
            return 1 - self.loser
        first, second = self.final.score()
        return None if first == second or not self.final.over else int(second > first)

    def describe(self) -> str:
        """How the game ended, in a line for people."""
        sides, (first, second) = self.start.game.sides, self.final.score()
        if self.loser is not None:
            return f"{sides[1 - self.loser]} wins: {sides[self.loser]} {self.reason}"
        if not self.final.over:
            return f"unfinished after {len(self.moves)} moves"
        why = f" ({ending})" if (ending := self.final.describe_end()) else ""
        if self.winner is None:
            return f"a draw, {first}-{second}{why}"
        return f"{sides[self.winner]} wins {max(first, second)}-{min(first, second)}{why}"


def replay_words(start: Position, moves: Sequence[int]) -> Words:
    """The words of the start and of the position after each move, up to the first that is illegal."""
    words = np.empty((len(moves) + 1, 2), np.uint64)
    legal = replay_moves(int(start.game), U(start.own), U(start.opp), np.array(moves, np.int8), words)
    return words[: legal + 1]


def replay(start: Position, moves: Sequence[int]) -> tuple[int, Position]:
    """How many of the moves are legal one after the other, and the position after those; fast."""
    rows, past = replay_words(start, moves).tolist(), set(start.past)
    legal = len(rows) - 1
    if start.game.adapter.has_repetition:
        for ply, ((own, opp), (_, next_opp)) in enumerate(pairwise(rows)):
            key = own, opp, start.side ^ ply & 1
            if key in past:  # a repetition has ended the game
                legal = ply
                break
            if next_opp >> 48 == own >> 48:
                past.add(key)
            else:
                past.clear()
    own, opp = rows[legal]
    return legal, Position(start.game, own, opp, start.side ^ legal & 1, frozenset(past))


def restore_passes(start: Position, moves: Sequence[int]) -> tuple[int, ...]:
    """Moves of Othello given without passes, and the passes that the rules demand between them; fast.

    `IllegalMoveError` names the first that is illegal.
    """
    given, buffer = np.array(moves, np.uint8), np.empty(2 * len(moves), np.int8)
    legal, written = insert_passes(U(start.own), U(start.opp), squares_of(int(start.game)), given, buffer)
    complete = tuple(buffer[:written].tolist())
    if legal < len(moves):
        try:
            Record(start, complete).final.play(moves[legal])
        except IllegalMoveError as error:
            raise IllegalMoveError(f"move {legal + 1}: {error}") from None
    return complete
