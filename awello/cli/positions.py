"""The position that a command starts from."""

from awello.position import Position, parse_position
from awello.rules.game import Game


def start_position(game: Game, text: str | None) -> Position:
    """The given position, or the start of the game."""
    return Position.start(game) if text is None else parse_position(text, game)
