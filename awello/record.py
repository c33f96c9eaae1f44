"""Played games: start position, moves, times, values, tags and result."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

import numpy as np

from awello.errors import IllegalMoveError
from awello.kernel import U, Words
from awello.position import Position
from awello.rules.game import board_mask_of
from awello.rules.game import replay as replay_moves
from awello.rules.othello import insert_passes

REASON_TEXTS = {
    "resigned": "resigned",
    "time": "ran out of time",
    "forfeit": "forfeited",
    "left": "left the game",
    "behind_at_limit": "was behind at the move limit",
    "draw_agreed": "a draw was agreed",
    "draw_claimed": "a draw was claimed",
    "draw_at_limit": "the move limit was reached",
    "aborted": "aborted",
}  # texts for `Record.reason`, by the code that JSON, the club's messages and its database use


@dataclass(frozen=True)
class Record:
    """A played game, passes included. The constructor does not check that the moves are legal."""

    start: Position
    moves: tuple[int, ...] = ()
    seconds: tuple[float | None, ...] = ()
    """The time of each move in seconds; None for an unknown time. Empty if no times are known."""
    values: tuple[float | None, ...] = ()
    """The value of each move for the mover, in discs or seeds, None if unknown. Empty if no values are known."""
    tags: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Metadata of the game.

    The tags `Black` and `White`, or `South` and `North`, name the players; `Event`, `Site`, `Date` and `Round` are as
    in PGN.  Other tags keep the names used in the file.
    """
    loser: int | None = None
    """The side that lost for a `reason` such as resignation or lack of time; None if the board decides the result."""
    reason: str = ""
    """Why `loser` lost the game, such as `resigned`, `ran out of time` or `crash: ...`."""

    def positions(self) -> Iterator[Position]:
        """Yield every position of the game, from the start to the final one."""
        position = self.start
        yield position
        for move in self.moves:
            position = position.after(move)
            yield position

    def annotated_moves(self) -> Iterator[tuple[int, float | None, float | None]]:
        """Yield every move with its value and its time; an unknown value or time is None."""
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
        """The side that won; None for a draw or an unfinished game."""
        if self.loser is not None:
            return 1 - self.loser
        first, second = self.final.score()
        return None if first == second or not self.final.over else int(second > first)

    def describe(self) -> str:
        """Describe the result of the game in one line."""
        sides, (first, second) = self.start.game.sides, self.final.score()
        if self.loser is not None:
            return f"{sides[1 - self.loser]} wins: {sides[self.loser]} {self.reason}"
        if not self.final.over:
            return f"unfinished after {len(self.moves)} moves"
        reason = f" ({end})" if (end := self.final.describe_end()) else ""
        if self.winner is None:
            return f"a draw, {first}-{second}{reason}"
        return f"{sides[self.winner]} wins {max(first, second)}-{min(first, second)}{reason}"


def replay_words(start: Position, moves: Sequence[int]) -> Words:
    """Return the words of the start position and of the position after each move, up to the first illegal move."""
    words = np.empty((len(moves) + 1, 2), np.uint64)
    legal = replay_moves(int(start.game), U(start.own), U(start.opp), np.array(moves, np.int8), words)
    return words[: legal + 1]


def replay(start: Position, moves: Sequence[int]) -> tuple[int, Position]:
    """Play moves up to the first illegal one; return the number of moves played and the position after them."""
    rows, past = replay_words(start, moves).tolist(), set(start.past)
    legal = len(rows) - 1
    if start.game.adapter.has_repetition:
        for ply, ((own, opp), (_, next_opp)) in enumerate(pairwise(rows)):
            key = own, opp, start.side ^ ply & 1
            if key in past:  # the game ended by repetition
                legal = ply
                break
            if next_opp >> 48 == own >> 48:
                past.add(key)
            else:
                past.clear()
    own, opp = rows[legal]
    return legal, Position(start.game, own, opp, start.side ^ legal & 1, frozenset(past))


def restore_passes(start: Position, moves: Sequence[int]) -> tuple[int, ...]:
    """Insert the missing passes into the moves of an Othello game; raise `IllegalMoveError` if a move is illegal."""
    given, buffer = np.array(moves, np.uint8), np.empty(2 * len(moves), np.int8)
    legal, written = insert_passes(U(start.own), U(start.opp), board_mask_of(int(start.game)), given, buffer)
    complete = tuple(buffer[:written].tolist())
    if legal < len(moves):
        try:
            Record(start, complete).final.play(moves[legal])
        except IllegalMoveError as error:
            raise IllegalMoveError(f"move {legal + 1}: {error}") from None
    return complete
