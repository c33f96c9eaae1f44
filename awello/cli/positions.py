"""The games and positions that commands read: from an argument, a file or standard input."""

import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from awello.errors import AwelloError, ConfigError
from awello.formats.obf import parse_lines
from awello.position import Position, parse_position
from awello.rules.game import Game

T = TypeVar("T")


def start_position(game: Game, text: str | None) -> Position:
    """The given position, or the start of the game."""
    return Position.start(game) if text is None else parse_position(text, game)


def is_source(what: str) -> bool:
    """Whether it is `-` or the name of a file; a long transcript cannot even be a name."""
    with suppress(OSError, ValueError):
        return what == "-" or (bool(what) and Path(what).exists())
    return False


def read_source(what: str, hint: str) -> tuple[str, str]:
    """The name and the text of a file or of standard input (`-`)."""
    name = "standard input" if what == "-" else what
    try:
        content = sys.stdin.buffer.read() if what == "-" else Path(what).read_bytes()
        return name, content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{name} is not text: {hint}") from None


def read_lines(what: str, parse: Callable[[str], T], form: str) -> list[T]:
    """What the lines of a file or of standard input hold; an error names the file and the line."""
    name, text = read_source(what, f"write one {form} per line")
    try:
        found = parse_lines(text, parse)
    except AwelloError as error:
        raise ConfigError(f"{name}, {error}") from None
    if not found:
        raise ConfigError(f"{name} holds no position: write one {form} per line")
    return found
