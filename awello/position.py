"""A position: two 64-bit words, the game they belong to, and who is to move."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from awello import drawing
from awello.errors import IllegalMoveError, NotationError
from awello.kernel import U
from awello.rules import game
from awello.rules.awale import MAJORITY
from awello.rules.game import DEFAULT_GAMES, PASS, Game

if TYPE_CHECKING:
    from rich.text import Text

ENDINGS = {
    "blocked": "the empty squares go to the winner",
    "repetition": "a position came again",
    "stuck": "{mover} has no move",
    "majority": f"{MAJORITY} seeds win",
    "few": "few seeds are left",
}


@dataclass(frozen=True, slots=True)
class Position:
    """A position of any game: the mover's word comes first, and a move swaps the words."""

    game: Game
    own: int
    opp: int
    side: int = 0
    """0 if the first player (Black, South) is to move, 1 if the second."""
    past: frozenset[tuple[int, int, int]] = field(default=frozenset(), compare=False)
    """The positions since the last capture, which end a game of Awalé when they come again.

    They belong to the game played, not to the board: equality, `repr` and text leave them out.
    """

    @classmethod
    def start(cls, game: Game | str = Game.OTHELLO) -> "Position":
        """The position a game begins with; the game may be given by its name, such as "othello" or "romein"."""
        game = Game(game)  # type: ignore[arg-type]  # a name too
        return cls(game, *game.adapter.start)

    @property
    def first(self) -> int:
        """The word of the first player: Black's discs or South's row."""
        return self.opp if self.side else self.own

    @property
    def second(self) -> int:
        """The word of the second player: White's discs or North's row."""
        return self.own if self.side else self.opp

    @property
    def side_name(self) -> str:
        """What the side to move is called."""
        return self.game.sides[self.side]

    @property
    def lead(self) -> int:
        """What the mover has already and cannot lose: the seeds taken more than the opponent's, 0 in Othello.

        A value of the engine counts what is still to be won; with the lead it is the margin at the end of the game.
        """
        return self.game.adapter.lead(self.own, self.opp)

    @property
    def empties(self) -> int:
        """The number of empty squares of an Othello board."""
        return self.game.points - (self.own | self.opp).bit_count()

    @property
    def board_words(self) -> tuple[int, int]:
        """Both words without what legal moves do not depend on: the seeds taken."""
        bits = self.game.adapter.board_mask
        return self.own & bits, self.opp & bits

    def check(self) -> None:
        """`NotationError` if the words are no position of the game: those of a text are one, numbers may be anything.

        Kernels ask no questions; who takes positions from others asks here first.
        """
        if self.side not in (0, 1):
            raise NotationError(f"the side to move is {self.side}: choose 0 or 1")
        self.game.adapter.check(self.own, self.opp)
        if not all(0 <= own < 1 << 64 and 0 <= opp < 1 << 64 for own, opp, _ in self.past):
            raise NotationError("a position of the past is not two words of 64 bits: play the moves that led here")

    @property
    def repeated(self) -> bool:
        """Whether this position has occurred before in the game."""
        return (self.own, self.opp, self.side) in self.past

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.repeated or bool(game.is_over(int(self.game), U(self.own), U(self.opp)))

    def legal_moves(self) -> tuple[int, ...]:
        """The moves the rules allow: `(PASS,)` if the mover must pass, none if the game is over."""
        if self.repeated:
            return ()
        word = int(game.legal_moves(int(self.game), U(self.own), U(self.opp)))
        if not word:
            return () if self.over else (PASS,)
        moves = []
        while word:
            moves.append((word & -word).bit_length() - 1)
            word &= word - 1
        return tuple(moves)

    def play(self, move: int | str) -> "Position":
        """The position after a move, given by number or name; `IllegalMoveError` if the rules forbid it."""
        if isinstance(move, str):
            move = self.parse_move(move)
        if move not in self.legal_moves():
            raise IllegalMoveError(self._explain_illegal(move))
        return self.after(move)

    def after(self, move: int) -> "Position":
        """The position after a move that is known to be legal."""
        if move == PASS:
            return Position(self.game, self.opp, self.own, 1 - self.side)
        own, opp = game.play(int(self.game), U(self.own), U(self.opp), move)
        if not self.game.adapter.has_repetition:
            return Position(self.game, int(own), int(opp), 1 - self.side)
        captured_nothing = int(opp) >> 48 == self.own >> 48
        past = self.past | {(self.own, self.opp, self.side)} if captured_nothing else frozenset()
        return Position(self.game, int(own), int(opp), 1 - self.side, past)

    def skip_pass(self) -> "Position":
        """The position in which there is a choice: this one, or the one after a forced pass."""
        return self.after(PASS) if self.legal_moves() == (PASS,) else self

    def _explain_illegal(self, move: int) -> str:
        """Why a move is illegal, and what is legal."""
        moves = self.legal_moves()
        if not moves:
            return "the game is over: no move can be played"
        if moves == (PASS,):
            return f"{self.side_name} has no move and must pass"
        legal = ", ".join(map(self.format_move, moves))
        name = self.format_move(move) if move in (PASS, *self.all_moves()) else str(move)
        return f"{name} {self.game.adapter.explain_illegal(self.own, move)}: {self.side_name} can play {legal}"

    def all_moves(self) -> tuple[int, ...]:
        """All moves that have a name in this game, legal or not."""
        return self.game.adapter.all_moves

    def counts(self) -> tuple[int, int]:
        """What the first and the second player hold: discs on the board; seeds taken, shared out at the end."""
        own, opp = self.game.adapter.counts(self.own, self.opp, self.repeated)
        return (opp, own) if self.side else (own, opp)

    def score(self) -> tuple[int, int]:
        """The official score (first, second) if the game ends here: Othello's empty squares go to the winner."""
        return self.game.adapter.score(*self.counts())

    @property
    def margin(self) -> int:
        """The official score of the mover less the opponent's if the game ends here."""
        first, second = self.score()
        return second - first if self.side else first - second

    @property
    def end_reason(self) -> str:
        """What ended the game: one of the keys of `ENDINGS`, or nothing if it goes on or needs no explanation."""
        return self.game.adapter.end_reason(self.own, self.opp, self.repeated) if self.over else ""

    def describe_end(self) -> str:
        """Why the game is over, for people; empty if it goes on or if nothing needs to be said."""
        return ENDINGS[self.end_reason].format(mover=self.side_name) if self.end_reason else ""

    def canonical(self) -> tuple[int, int]:
        """The two words that all symmetric positions share; Awalé has no symmetry but the sides."""
        return self.game.adapter.canonical(self.own, self.opp)

    def format_move(self, move: int) -> str:
        """The name of a move of the side to move: `f5`, `pass`, `C`, `c`."""
        return "pass" if move == PASS else self.game.adapter.format_move(move, self.side)

    def format_moves(self, moves: Iterable[int]) -> list[str]:
        """The names of moves that are played from here on, as far as they are legal."""
        position, names = self, []
        for move in moves:
            if move not in position.legal_moves():
                break
            names.append(position.format_move(move))
            position = position.after(move)
        return names

    def parse_move(self, text: str) -> int:
        """The move of a name; `NotationError` if it is no name, `IllegalMoveError` if the rules forbid it."""
        move = self.game.adapter.parse_move(text, self.side)
        if move not in self.legal_moves():
            raise IllegalMoveError(self._explain_illegal(move))
        return move

    def __repr__(self) -> str:
        rules = f", {self.game!r}" if self.game.variant not in (None, "abapa") else ""
        return f"parse_position({format_position(self)!r}{rules})"

    def __str__(self) -> str:
        return drawing.draw_text(self.game, self.first, self.second, self.side, self.legal_moves()).plain

    def __rich__(self) -> "Text":
        return drawing.draw_text(self.game, self.first, self.second, self.side, self.legal_moves())

    def _repr_svg_(self) -> str:
        return drawing.draw_svg(self.game, self.first, self.second, self.side, self.legal_moves())


def format_position(position: Position) -> str:
    """A position as text: an OBF board such as `---X... X`, or a diagram such as `4-4-...-0-0-S`."""
    return position.game.adapter.format_position(position.first, position.second, position.side)


def parse_position(text: str, game: Game | None = None) -> Position:
    """The position of a text; without a game, the text tells it (Awalé's variant is then abapa)."""
    if (expected := game) is None:
        expected = next(usual for usual in reversed(DEFAULT_GAMES.values()) if usual.adapter.is_position(text))
    first, second, side, number = expected.adapter.parse_position(text)
    if game not in (None, number):
        raise NotationError(f"the board is of size {Game(number).size}, not {expected.size}: choose the size it has")
    return Position(Game(number), *((second, first) if side else (first, second)), side)
