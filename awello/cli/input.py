"""Read the input of commands: positions and texts from arguments, files or standard input."""

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


def parse_start_position(game: Game, text: str | None) -> Position:
    """Parse a position, or return the start position if none is given."""
    return Position.start(game) if text is None else parse_position(text, game)


def is_file_or_stdin(argument: str) -> bool:
    """Return whether an argument is `-` or an existing path; False if it cannot be a path."""
    with suppress(OSError, ValueError):
        return argument == "-" or (bool(argument) and Path(argument).exists())
    return False


def read_text(argument: str, hint: str) -> tuple[str, str]:
    """Return the name and text of a file or standard input (`-`); `hint` completes the error message."""
    name = "standard input" if argument == "-" else argument
    try:
        content = sys.stdin.buffer.read() if argument == "-" else Path(argument).read_bytes()
        return name, content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{name} is not UTF-8 text: {hint}") from None


def read_lines(argument: str, parse: Callable[[str], T], line_format: str) -> list[T]:
    """Parse each line of a file or standard input; errors name the file and the line."""
    name, text = read_text(argument, f"write one {line_format} per line")
    try:
        items = parse_lines(text, parse)
    except AwelloError as error:
        raise ConfigError(f"{name}, {error}") from None
    if not items:
        raise ConfigError(f"{name} contains no positions: write one {line_format} per line")
    return items
