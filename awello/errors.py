"""The exceptions of Awello.  Each message is one sentence: what is wrong with which value, then what to do."""

from collections.abc import Iterable, Mapping
from typing import Any


class AwelloError(ValueError):
    """The base class of Awello's exceptions: the message says what is wrong and what to do.

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
    """A text, such as a move, a position, a game or a command, is invalid."""

    code = "notation"


class SpecError(AwelloError):
    """A player spec, a setting, a limit or a clock is invalid."""

    code = "player_spec"


class StorageError(AwelloError):
    """The database cannot be opened, read or written."""

    code = "storage"


class ConfigError(AwelloError):
    """An option or a file is invalid, or a requirement is not met."""

    code = "config"


def join_choices(choices: Iterable[object]) -> str:
    """Join the texts of choices, as in `a, b or c`."""
    *others, last = map(str, choices)
    return f"{', '.join(others)} or {last}" if others else last


MAX_QUOTED_CHARS = 40  # an invalid value with a longer `repr` is replaced by `...`
INVALID_VALUE_TEXTS = {  # by the type of pydantic's error, or by the first word of this type
    "int": "{name} {value!r} is not a whole number: give a number such as 7",
    "float": "{name} {value!r} is not a number: give a number such as 0.5",
    "finite": "{name} {value} is not finite: give a number such as 0.5",
    "bool": "{name} {value!r} is neither true nor false: give true or false",
    "string": "{name} {value!r} is not text: write it in quotes",
    "path": "{name} {value!r} is not a path: write it in quotes",
    "list": "{name} {value!r} is not a list: write values in brackets, such as [20, 50]",
    "dict": "{name} {value!r} has no keys: write keys and values",
    "model": "{name} {value!r} has no keys: write keys and values",
    "greater": "{name} {value} is too small: give at least {ge}",
    "less": "{name} {value} is too large: give at most {le}",
    "too_short": "{name} has too few values ({actual_length}): give at least {min_length}",
    "too_long": "{name} has too many values ({actual_length}): give at most {max_length}",
    "literal": "{name} {value!r} is unknown: choose {expected}",
    "missing": "{name} is missing: add it",
    "value": "{name}: {error}",
}


def describe_invalid_value(name: str, error: Mapping[str, Any]) -> str:
    """Describe an error of pydantic, an item of `ValidationError.errors()`, for the option or key `name`."""
    value = error["input"] if len(repr(error["input"])) <= MAX_QUOTED_CHARS else "..."
    kind, texts = error["type"], INVALID_VALUE_TEXTS
    text = texts.get(kind) or texts.get(kind.partition("_")[0], "{name}: {message}")
    context = {key: str(each).removesuffix(".0") for key, each in error.get("ctx", {}).items()}
    return text.format(name=name, value=value, message=error["msg"], **context)
