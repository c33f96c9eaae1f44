"""A position: two 64-bit words, the game they belong to, and who is to move."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from awello import drawing
from awello.errors import IllegalMoveError, NotationError
from awello.kernel import U
from awello.rules import awale, game, othello
from awello.rules.game import PASS, SIZES, Game

if TYPE_CHECKING:
    from rich.text import Text

ENDINGS = {
    "blocked": "the empty squares go to the winner",
    "repetition": "a position came again",
    "stuck": "{mover} has no move",
    "majority": f"{awale.MAJORITY} seeds win",
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
        if game.family == "othello":
            return cls(game, othello.BLACK_START, othello.WHITE_START)
        return cls(game, awale.START, awale.START)

    @property
    def first(self) -> int:
        """The word of the first player: Black's discs or South's row."""
        return self.opp if self.side else self.own

    @property
    def second(self) -> int:
        """The word of the second player: White's discs or North's row."""
        return self.own if self.side else self.opp

    @property
    def mover(self) -> str:
        """What the side to move is called."""
        return self.game.sides[self.side]

    @property
    def lead(self) -> int:
        """What the mover has already and cannot lose: the seeds taken more than the opponent's, 0 in Othello.

        A value of the engine counts what is still to be won; with the lead it is the margin at the end of the game.
        """
        return (self.own >> 48) - (self.opp >> 48) if self.game >= Game.ABAPA else 0

    def check(self) -> None:
        """`NotationError` if the words are no position of the game: those of a text are one, numbers may be anything.

        Kernels ask no questions; who takes positions from others asks here first.
        """
        if self.side not in (0, 1):
            raise NotationError(f"the side to move is {self.side}: choose 0 or 1")
        if self.game < Game.ABAPA:
            othello.check_words(self.own, self.opp, self.game.size)
            return
        awale.check_words(self.own, self.opp)
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
            raise IllegalMoveError(self._refusal(move))
        return self.after(move)

    def after(self, move: int) -> "Position":
        """The position after a move that is known to be legal."""
        if move == PASS:
            return Position(self.game, self.opp, self.own, 1 - self.side)
        own, opp = game.play(int(self.game), U(self.own), U(self.opp), move)
        past = self.past
        if self.game >= Game.ABAPA:
            quiet = int(opp) >> 48 == self.own >> 48
            past = past | {(self.own, self.opp, self.side)} if quiet else frozenset()
        return Position(self.game, int(own), int(opp), 1 - self.side, past)

    def _refusal(self, move: int) -> str:
        """Why a move is illegal, and what is legal."""
        moves = self.legal_moves()
        if not moves:
            return "the game is over: no move can be played"
        legal = ", ".join(map(self.format_move, moves))
        if self.game >= Game.ABAPA and 0 <= move < 6:
            if not self.own >> 8 * move & 0xFF:
                return f"{self.format_move(move)} is empty: {self.mover} can play {legal}"
            return f"{self.format_move(move)} would leave the opponent without seeds: {self.mover} can play {legal}"
        if moves == (PASS,):
            return f"{self.mover} has no move and must pass"
        name = self.format_move(move) if move in (PASS, *self.squares()) else str(move)
        return f"{name} is no legal move: {self.mover} can play {legal}"

    def squares(self) -> tuple[int, ...]:
        """All moves that have a name in this game, legal or not."""
        return othello.squares_of(self.game.size) if self.game < Game.ABAPA else tuple(range(6))

    def holdings(self) -> tuple[int, int]:
        """What the first and the second player hold: discs on the board; seeds taken, shared out at the end."""
        if self.game < Game.ABAPA:
            return self.first.bit_count(), self.second.bit_count()
        if not self.over:
            return self.first >> 48, self.second >> 48
        own, opp = awale.share_out(int(self.game), self.own, self.opp, self.repeated)
        return (opp, own) if self.side else (own, opp)

    def score(self) -> tuple[int, int]:
        """The official score (first, second) if the game ends here: Othello's empty squares go to the winner."""
        first, second = self.holdings()
        if self.game >= Game.ABAPA:
            return first, second
        empty = self.game.points - first - second
        share = empty if first > second else empty // 2 if first == second else 0
        return first + share, second + empty - share

    @property
    def end(self) -> str:
        """What ended the game: one of the keys of `ENDINGS`, or nothing if it goes on or needs no explanation."""
        if not self.over:
            return ""
        if self.game < Game.ABAPA:
            return "" if sum(self.holdings()) == self.game.points else "blocked"
        if self.repeated:
            return "repetition"
        if not awale.is_stopped(int(self.game), U(self.own), U(self.opp)):
            return "stuck"
        return "majority" if max(self.own, self.opp) >= awale.WON else "few"

    def ending(self) -> str:
        """Why the game is over, for people; empty if it goes on or if nothing needs to be said."""
        return ENDINGS[self.end].format(mover=self.mover) if self.end else ""

    def canonical(self) -> tuple[int, int]:
        """The two words that all symmetric positions share; Awalé has no symmetry but the sides."""
        if self.game >= Game.ABAPA:
            return self.own, self.opp
        own, opp = othello.canonical(U(self.own), U(self.opp))
        return int(own), int(opp)

    def format_move(self, move: int) -> str:
        """The name of a move of the side to move: `f5`, `pass`, `C`, `c`."""
        if move == PASS:
            return "pass"
        if self.game < Game.ABAPA:
            return othello.format_square(move, self.game.size)
        return awale.format_pit(move, self.side)

    def parse_move(self, text: str) -> int:
        """The move of a name; `NotationError` if it is no name, `IllegalMoveError` if the rules forbid it."""
        if self.game >= Game.ABAPA:
            move = awale.parse_pit(text, self.side)
        else:
            word = text.strip().lower()
            move = PASS if word in othello.PASSES else othello.parse_square(text, self.game.size)
        if move not in self.legal_moves():
            raise IllegalMoveError(self._refusal(move))
        return move

    def __repr__(self) -> str:
        rules = f", {self.game!r}" if self.game > Game.ABAPA else ""
        return f"parse_position({format_position(self)!r}{rules})"

    def __str__(self) -> str:
        return drawing.draw(self.game, self.first, self.second, self.side, self.legal_moves()).plain

    def __rich__(self) -> "Text":
        return drawing.draw(self.game, self.first, self.second, self.side, self.legal_moves())

    def _repr_svg_(self) -> str:
        return drawing.draw_svg(self.game, self.first, self.second, self.side, self.legal_moves())


def format_position(position: Position) -> str:
    """A position as text: an OBF board such as `---X... X`, or a diagram such as `4-4-...-0-0-S`."""
    if position.game < Game.ABAPA:
        return othello.format_board(position.first, position.second, position.side, position.game.size)
    return awale.format_diagram(position.first, position.second, position.side)


def parse_position(text: str, game: Game | None = None) -> Position:
    """The position of a text; unless said, the text tells the game (Awalé's variant is then abapa)."""
    diagram = game >= Game.ABAPA if game is not None else re.match(r"\s*\d+-", text)
    if diagram:
        first, second, side = awale.parse_diagram(text)
        found = Game.ABAPA if game is None else game
    else:
        first, second, side, size = othello.parse_board(text)
        found = SIZES[size]
    if game is not None and game != found:
        raise NotationError(f"the board is of size {found.size}, not {game.size}: choose the size it has")
    return Position(found, *((second, first) if side else (first, second)), side)
