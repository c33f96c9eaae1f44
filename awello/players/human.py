"""A person at the terminal: shows the board, takes moves and a few words."""

from contextlib import suppress
from dataclasses import dataclass

from rich.console import Console

from awello.errors import AwelloError
from awello.limits import Clock
from awello.players.player import Choice, Player, Resignation, TakeBack, make_player, register
from awello.position import Position
from awello.rules.game import Game

with suppress(ImportError):
    import readline  # noqa: F401  (the arrow keys work)

HELP = """\
  a move     {example}
  moves      show the legal moves
  hint       ask for a move
  undo       take your last move back
  resign     give the game up
  help       show this
Ctrl-D or Ctrl-C leaves the game."""


@register("human", "a person who types moves in the terminal")
@dataclass
class Human(Player):
    """Asks the person at the terminal."""

    def begin(self, game: Game, seed: int) -> None:
        self.console = Console(highlight=False, markup=False, soft_wrap=True)
        self.moves = 0
        self.adviser = make_player("alphabeta@6")
        self.adviser.begin(game, seed)

    def choose(self, position: Position, clock: Clock) -> Choice:
        self.console.print(position)
        while True:
            word = self.console.input(f"{position.mover} ({self._list(position)}): ").strip()
            try:
                if (move := self._answer(word, position, clock)) is not None:
                    self.moves += 1
                    return Choice(move)
            except AwelloError as error:
                self.console.print(f"{error}. Type help for more.", style="red")

    def _list(self, position: Position) -> str:
        return " ".join(map(position.format_move, position.legal_moves()))

    def _answer(self, word: str, position: Position, clock: Clock) -> int | None:
        """The move of a line typed in, or None if the line only asked for something."""
        match word.lower():
            case "":
                return None
            case "undo" if self.moves:
                self.moves -= 1
                raise TakeBack
            case "undo":
                self.console.print("There is nothing to take back.")
            case "resign":
                raise Resignation
            case "help" | "?":
                example = "a square, such as f5" if position.game.family == "othello" else "a pit, such as C"
                self.console.print(HELP.format(example=example))
            case "moves":
                self.console.print(self._list(position))
            case "hint":
                advice = self.adviser.choose(position, clock).move
                self.console.print(f"{self.adviser} would play {position.format_move(advice)}.")
            case _:
                return position.parse_move(word)
        return None
