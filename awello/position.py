"""Positions: two 64-bit words, the game and the side to move."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from awello import drawing
from awello.errors import IllegalMoveError, NotationError, join_choices
from awello.kernel import U
from awello.rules import game
from awello.rules.awale import MAJORITY_SEEDS
from awello.rules.game import DEFAULT_BY_FAMILY, PASS, Game

if TYPE_CHECKING:
    from rich.text import Text

END_REASON_TEXTS = {
    "blocked": "the empty squares go to the winner",
    "repetition": "a position was repeated",
    "stuck": "{mover} has no move",
    "majority": f"{MAJORITY_SEEDS} seeds win",
    "few": "few seeds are left",
}


@dataclass(frozen=True, slots=True)
class Position:
    """A position of any game. `own` is the mover's word and `opp` the opponent's; a move swaps them."""

    game: Game
    own: int
    opp: int
    side: int = 0
    """0 if the first player (Black, South) is to move, 1 if the second."""
    past: frozenset[tuple[int, int, int]] = field(default=frozenset(), compare=False)
    """The positions since the last capture; repeating one of them ends a game of Awalé.

    Comparisons, `repr` and the text of a position ignore `past`, because it is not part of the board.
    """

    @classmethod
    def start(cls, game: Game | str = Game.OTHELLO) -> "Position":
        """Return the start position of a game, given as a `Game` or by name, such as "othello" or "romein"."""
        game = Game(game)  # type: ignore[arg-type]  # names are accepted, too
        return cls(game, *game.adapter.start)

    @property
    def first(self) -> int:
        """The word of the first player: Black's discs, or South's row and captured seeds."""
        return self.opp if self.side else self.own

    @property
    def second(self) -> int:
        """The word of the second player: White's discs, or North's row and captured seeds."""
        return self.own if self.side else self.opp

    @property
    def side_name(self) -> str:
        """The name of the side to move, such as "Black" or "South"."""
        return self.game.sides[self.side]

    @property
    def lead(self) -> int:
        """The mover's captured seeds minus the opponent's; 0 in Othello.

        The engine's values ignore captured seeds: each is the expected margin of the seeds still on the board.  A value
        plus the lead is the expected margin at the end of the game.
        """
        return self.game.adapter.lead(self.own, self.opp)

    @property
    def empties(self) -> int:
        """The number of empty squares on an Othello board."""
        return self.game.max_score - (self.own | self.opp).bit_count()

    @property
    def board_words(self) -> tuple[int, int]:
        """Both words without the captured seeds; the same for all positions that differ only in captured seeds."""
        bits = self.game.adapter.position_mask
        return self.own & bits, self.opp & bits

    def check(self) -> None:
        """Raise `NotationError` if this is not a valid position of the game.

        Kernels do not check positions. Call this for positions that were not created by this package.
        """
        if self.side not in (0, 1):
            raise NotationError(f"the side to move is {self.side}: choose 0 or 1")
        self.game.adapter.check(self.own, self.opp)
        if not all(0 <= own < 1 << 64 and 0 <= opp < 1 << 64 for own, opp, _ in self.past):
            advice = "create the position by playing moves from the start position"
            raise NotationError(f"`past` contains a number that is negative or exceeds 64 bits: {advice}")

    @property
    def repeated(self) -> bool:
        """Whether this position has occurred before in the game."""
        return (self.own, self.opp, self.side) in self.past

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.repeated or bool(game.is_over(int(self.game), U(self.own), U(self.opp)))

    def legal_moves(self) -> tuple[int, ...]:
        """Return the legal moves: `(PASS,)` if the mover must pass, `()` if the game is over."""
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
        """Return the position after a move, given by number or name; raise `IllegalMoveError` if it is illegal."""
        if isinstance(move, str):
            move = self.parse_move(move)
        if move not in self.legal_moves():
            raise IllegalMoveError(self._explain_illegal(move))
        return self.after(move)

    def after(self, move: int) -> "Position":
        """Return the position after a move, without checking that it is legal."""
        if move == PASS:
            return Position(self.game, self.opp, self.own, 1 - self.side)
        own, opp = game.play(int(self.game), U(self.own), U(self.opp), move)
        if not self.game.adapter.has_repetition:
            return Position(self.game, int(own), int(opp), 1 - self.side)
        captured_nothing = int(opp) >> 48 == self.own >> 48
        past = self.past | {(self.own, self.opp, self.side)} if captured_nothing else frozenset()
        return Position(self.game, int(own), int(opp), 1 - self.side, past)

    def skip_pass(self) -> "Position":
        """Return the position after a forced pass, or this position if no pass is due."""
        return self.after(PASS) if self.legal_moves() == (PASS,) else self

    def _explain_illegal(self, move: int) -> str:
        """Explain why a move is illegal and list the legal moves."""
        moves = self.legal_moves()
        if not moves:
            return "the game is over: no move can be played"
        if moves == (PASS,):
            return f"{self.side_name} has no move and must pass"
        legal = join_choices(map(self.format_move, moves))
        name = self.format_move(move) if move in (PASS, *self.all_moves()) else str(move)
        return f"{name} {self.game.adapter.explain_illegal(self.own, move)}: {self.side_name} can play {legal}"

    def all_moves(self) -> tuple[int, ...]:
        """Return all moves of this game except the pass, legal or not."""
        return self.game.adapter.all_moves

    def counts(self) -> tuple[int, int]:
        """Return the discs or captured seeds of the first and second player; the final counts if the game is over."""
        own, opp = self.game.adapter.counts(self.own, self.opp, self.repeated)
        return (opp, own) if self.side else (own, opp)

    def score(self) -> tuple[int, int]:
        """Return the official score (first, second) as if the game ended now.

        In Othello, empty squares go to the winner.
        """
        return self.game.adapter.score(*self.counts())

    @property
    def margin(self) -> int:
        """The mover's official score minus the opponent's, as if the game ended now."""
        first, second = self.score()
        return second - first if self.side else first - second

    @property
    def end_reason(self) -> str:
        """The key of `END_REASON_TEXTS` that says why the game ended.

        Empty if the game is not over, or if the Othello board is full.
        """
        return self.game.adapter.end_reason(self.own, self.opp, self.repeated) if self.over else ""

    def describe_end(self) -> str:
        """Describe why the game ended; empty if the game is not over or the Othello board is full."""
        return END_REASON_TEXTS[self.end_reason].format(mover=self.side_name) if self.end_reason else ""

    def canonical(self) -> tuple[int, int]:
        """Return the words of the canonical position, which is the same for all positions symmetric to this one."""
        return self.game.adapter.canonical(self.own, self.opp)

    def format_move(self, move: int) -> str:
        """Return the name of a move of the side to move, such as `f5`, `pass`, `C` or `c`."""
        return "pass" if move == PASS else self.game.adapter.format_move(move, self.side)

    def format_moves(self, moves: Iterable[int]) -> list[str]:
        """Return the names of successive moves from this position; stop before the first illegal one."""
        position, names = self, []
        for move in moves:
            if move not in position.legal_moves():
                break
            names.append(position.format_move(move))
            position = position.after(move)
        return names

    def parse_move(self, text: str) -> int:
        """Parse the name of a move; raise `NotationError` for invalid names, `IllegalMoveError` for illegal moves."""
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
    """Format a position as text: an OBF board such as `---X... X`, or a diagram such as `4-4-...-0-0-S`."""
    return position.game.adapter.format_position(position.first, position.second, position.side)


def parse_position(text: str, game: Game | None = None) -> Position:
    """Parse a position; without `game`, the format determines the game (abapa for an Awalé diagram)."""
    if (expected := game) is None:
        expected = next(usual for usual in reversed(DEFAULT_BY_FAMILY.values()) if usual.adapter.is_position(text))
    first, second, side, game_id = expected.adapter.parse_position(text)
    if game not in (None, game_id):
        size = expected.size
        raise NotationError(
            f"the board has size {Game(game_id).size}, not {size}: "
            f"give a board of size {size}, or choose the game {Game(game_id)}"
        )
    return Position(Game(game_id), *((second, first) if side else (first, second)), side)
