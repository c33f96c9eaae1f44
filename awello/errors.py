"""The exceptions of Awello.  Each message is one sentence: what is wrong with which value, then what to do."""

from collections.abc import Iterable
from typing import Any


class AwelloError(ValueError):
    """Invalid input: the message says what is wrong and how to correct it.

    `code` and `params` let a user interface show the error in another language.
    """

    code = "invalid"

    def __init__(self, message: object = "", code: str = "", **params: Any) -> None:
        super().__init__(message)
        self.code, self.params = code or self.code, params


class IllegalMoveError(AwelloError):
    """The move is illegal in this position."""

    code = "illegal_move"


class NotationError(AwelloError):
    """The text is not a valid move, board, diagram or transcript."""

    code = "notation"


class SpecError(AwelloError):
    """A player spec, a setting, a limit or a clock is invalid."""

    code = "player_spec"


class StorageError(AwelloError):
    """The database cannot be opened, read or written."""

    code = "storage"


class ConfigError(AwelloError):
    """An option, a configuration file or an openings file is invalid."""

    code = "config"


def join_choices(choices: Iterable[object]) -> str:
    """Join the texts of choices, as in `a, b or c`."""
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last
