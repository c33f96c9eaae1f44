"""What can go wrong: every error is one sentence that names the offending part and how to mend it."""

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
    """A move that the rules do not allow in this position."""

    code = "illegal_move"


class NotationError(AwelloError):
    """Text that is no move, board, diagram or transcript."""

    code = "notation"


class SpecError(AwelloError):
    """A player spec that names no player, or gives it something it does not take."""

    code = "player_spec"


class StorageError(AwelloError):
    """A database that cannot be opened, read or written."""

    code = "storage"


class ConfigError(AwelloError):
    """An option, a configuration file or an openings file with a wrong part in it."""

    code = "config"
