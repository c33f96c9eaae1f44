"""Awello: a game-AI laboratory and a champion for Othello and Awalé.

The most frequently used classes and functions can be imported directly from `awello`.  Each is loaded only on first
use, because most of them need Numba, which is slow to import.
"""

TYPE_CHECKING = False  # importing `typing` is slow, and Ctrl-C during its import would print a traceback
if TYPE_CHECKING:
    from typing import Any

    from awello.arena.match import Match, play_match
    from awello.errors import AwelloError
    from awello.formats.transcript import format_transcript, parse_transcript
    from awello.limits import Clock, Limit
    from awello.players.player import Choice, Player, Resignation, make_player, register
    from awello.players.weights_player import WeightsPlayer
    from awello.position import Position, format_position, parse_position
    from awello.record import Record
    from awello.rules.game import PASS, Game, find_game

__version__ = "0.1.0"

_EXPORTS = {
    "awello.arena.match": ("Match", "play_match"),
    "awello.formats.transcript": ("format_transcript", "parse_transcript"),
    "awello.errors": ("AwelloError",),
    "awello.limits": ("Clock", "Limit"),
    "awello.players.player": ("Choice", "Player", "Resignation", "make_player", "register"),
    "awello.players.weights_player": ("WeightsPlayer",),
    "awello.position": ("Position", "format_position", "parse_position"),
    "awello.record": ("Record",),
    "awello.rules.game": ("PASS", "Game", "find_game"),
}
__all__ = [
    "PASS",
    "AwelloError",
    "Choice",
    "Clock",
    "Game",
    "Limit",
    "Match",
    "Player",
    "Position",
    "Record",
    "Resignation",
    "WeightsPlayer",
    "find_game",
    "format_position",
    "format_transcript",
    "make_player",
    "parse_position",
    "parse_transcript",
    "play_match",
    "register",
]


def __getattr__(name: str) -> "Any":
    from importlib import import_module

    for module, names in _EXPORTS.items():
        if name in names:
            return getattr(import_module(module), name)
    raise AttributeError(f"module 'awello' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
