"""What the champion learnt from games it lost: moves that it should not play again.

After a lost game it looks back, last move first, for a position where another move promises more than the game
brought.  There the move played is written down with what it was worth; earlier moves are not to blame.  When the
position comes again, that move is left out, unless everything else is worse.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from awello.errors import ConfigError
from awello.position import Position, format_position, parse_position
from awello.rules.game import Game, find_game

Board = tuple[Game, int, int]


@dataclass
class AvoidedMoves:
    """Moves that lost, by position, with what they turned out to be worth."""

    file: Path | None = None
    """Where they are kept from one program to the next."""
    lost: dict[Board, dict[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            lines = self.file.read_text("utf-8").splitlines() if self.file is not None and self.file.exists() else []
        except UnicodeDecodeError:
            raise ConfigError(f"{self.file} is not text: choose another file") from None
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                game = find_game(entry["game"], entry.get("size"), entry.get("variant"))
                position = parse_position(entry["position"], game)
                self._enter(position, position.parse_move(entry["move"]), float(entry["worth"]))
            except (ValueError, KeyError, TypeError) as error:
                raise ConfigError(f"{self.file}, line {number}: no move that lost: {error}") from None

    def of(self, position: Position) -> dict[int, float]:
        """The moves that lost in a position before, and what they were worth."""
        return self.lost.get((position.game, *position.board_words), {})

    def note(self, position: Position, move: int, worth: float) -> None:
        """Write down a move that lost."""
        self._enter(position, move, worth)
        if self.file is not None:
            text, name = format_position(position), position.format_move(move)
            entry = {**position.game.options, "position": text, "move": name, "worth": worth}
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def _enter(self, position: Position, move: int, worth: float) -> None:
        self.lost.setdefault((position.game, *position.board_words), {})[move] = worth
