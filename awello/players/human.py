"""The player `human`: shows the board and reads a person's moves and commands in the terminal."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from awello.analysis import format_value
from awello.errors import AwelloError
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, Resignation, TakeBack, register
from awello.position import Position
from awello.rules.game import Game

if TYPE_CHECKING:
    from awello.engine.engine import Engine

with suppress(ImportError):
    import readline  # noqa: F401  (enables the arrow keys)

HINT_LIMIT = Limit(seconds=1.0)
COMMANDS_HELP = """\
  a move     {example}
  moves      show the legal moves
  hint       show the expected result of each move
  undo       take back your last move
  resign     resign the game
  quit       leave the game; also Ctrl-D or Ctrl-C
  help       show this list"""


@register("human", "a person who types moves in the terminal")
@dataclass
class HumanPlayer(Player):
    """Reads moves from the terminal."""

    def __post_init__(self) -> None:
        self.engine: Engine | None = None

    def begin(self, game: Game, seed: int) -> None:
        self.end()
        self.console = Console(highlight=False, markup=False, soft_wrap=True)
        self.moves = 0

    def choose(self, position: Position, clock: Clock) -> Choice:
        self.console.print(position)
        while True:
            word = self.console.input(f"{position.side_name} ({self._format_moves(position)}): ").strip()
            try:
                if (move := self._run_command(word, position)) is not None:
                    self.moves += 1
                    return Choice(move)
            except AwelloError as error:
                self.console.print(f"{error}. Type help for a list of commands.", style="red")

    def _format_moves(self, position: Position) -> str:
        return " ".join(map(position.format_move, position.legal_moves()))

    def _format_hints(self, position: Position) -> str:
        """Format the expected final margin after each move, from the mover's view, best first."""
        from awello.engine.engine import Engine

        self.engine = self.engine or Engine(position.game)
        *_, analysis = self.engine.analyse(position, HINT_LIMIT, multipv=len(position.legal_moves()))
        values = [
            f"{position.format_move(move)} {format_value(position.lead + value, move in analysis.exact_moves)}"
            for move, value in analysis.candidates
        ]
        return f"{', '.join(values)} ({position.game.adapter.unit} ahead at the end; = marks exact values)"

    def end(self) -> None:
        if self.engine is not None:
            self.engine.close()
            self.engine = None

    def _run_command(self, word: str, position: Position) -> int | None:
        """Run a command and return None, or return the move that was typed."""
        match word.lower():
            case "":
                return None
            case "undo" if self.moves:
                self.moves -= 1
                raise TakeBack
            case "undo":
                self.console.print("There is no move to take back.")
            case "resign":
                raise Resignation
            case "help" | "?":
                self.console.print(COMMANDS_HELP.format(example=position.game.adapter.move_example))
            case "moves":
                self.console.print(self._format_moves(position))
            case "hint":
                self.console.print(self._format_hints(position))
            case "quit":
                raise EOFError
            case _:
                return position.parse_move(word)
        return None
