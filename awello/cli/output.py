"""Output of commands: results as JSON or text, files and error messages."""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

from awello.errors import ConfigError
from awello.folders import write_atomically


def print_json(content: dict[str, Any]) -> None:
    """Print one JSON object, with non-ASCII characters escaped unless standard output uses a Unicode encoding."""
    print(json.dumps(content, ensure_ascii=not (sys.stdout.encoding or "").lower().startswith("utf")))


def format_games(count: int) -> str:
    """Format a number of games, such as `1 game` or `2,048 games`."""
    return f"{count:,d} game" + "s" * (count != 1)


def print_result(content: dict[str, Any], text: str, json: bool) -> None:
    """Print the result of a command as JSON or as text."""
    if json:
        print_json(content)
    else:
        print(text)


def describe_learning(learnt: dict[str, dict[str, int]]) -> list[str]:
    """Describe what the players have learnt, one line per player."""
    return [
        f"{spec} learnt from {counts['games']} game{'s' * (counts['games'] > 1)}: "
        + ", ".join(f"{name} {count}" for name, count in counts.items() if name != "games")
        for spec, counts in learnt.items()
    ]


def hide_password(text: str) -> str:
    """Hide the password of any database URL in a text."""
    return re.sub(r"(\w+:/+[^:/@\s]*):(?!PASSWORD@HOST)\S*@", r"\1:***@", text)


def print_error(message: str, status: int = 2) -> int:
    """Print an error in one line and return the exit status."""
    print(f"awello: {hide_password(' '.join(message.split()))}", file=sys.stderr)
    return status


def check_output(file: Path) -> None:
    """Check that an output file can be written, before long work starts."""
    if file.is_dir():
        raise ConfigError(f"cannot write {str(file)!r}: it is a folder; give a file in it")
    if not file.parent.is_dir():
        raise ConfigError(f"cannot write {str(file)!r}: there is no folder {str(file.parent)!r}; create it first")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise ConfigError(f"cannot write {str(file)!r}: permission denied; give another file")


def write_file(path: Path, text: str) -> None:
    """Write a file atomically."""
    check_output(path)
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise ConfigError(f"cannot write {str(path)!r}: it is not a regular file; choose another name")
        write_atomically(path, text)
    except OSError as error:
        raise ConfigError(f"cannot write {str(path)!r}: {error.strerror}; give another file") from None
