"""Moves that the champion avoids because it lost earlier games with them.

After a lost game, the champion takes the positions in which it was to move, from the last one back to the first, and
searches each without the move that it played there.  At the first position where another move promises a better result
than the game had, the champion stores the move that it played, with the result of the game as the value of this move.
When the position occurs again, the champion repeats the move only if all other moves are worse.
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
    """Moves that lost games, by position.

    The value of a move is the final margin of the lost game, from the mover's view, minus the mover's lead
    (`Position.lead`) before the move.
    """

    file: Path | None = None
    """The file that stores the moves; with None, they are kept in memory only."""
    moves: dict[Board, dict[int, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        try:
            lines = self.file.read_text("utf-8").splitlines() if self.file is not None and self.file.exists() else []
        except UnicodeDecodeError:
            raise ConfigError(f"{self.file} is not a text file: choose another file") from None
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                game = find_game(entry["game"], entry.get("size"), entry.get("variant"))
                position = parse_position(entry["position"], game)
                self._set(position, position.parse_move(entry["move"]), float(entry["value"]))
            except (ValueError, KeyError, TypeError) as error:
                advice = "correct or delete this line"
                raise ConfigError(f"{self.file}, line {number} is invalid ({error}): {advice}") from None

    def moves_at(self, position: Position) -> dict[int, float]:
        """Return the moves to avoid in a position, with their values."""
        return self.moves.get((position.game, *position.board_words), {})

    def add(self, position: Position, move: int, value: float) -> None:
        """Add a move that lost a game; if there is a file, append the move to it."""
        self._set(position, move, value)
        if self.file is not None:
            text, name = format_position(position), position.format_move(move)
            entry = {**position.game.options, "position": text, "move": name, "value": value}
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def _set(self, position: Position, move: int, value: float) -> None:
        self.moves.setdefault((position.game, *position.board_words), {})[move] = value
