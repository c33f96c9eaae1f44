"""Exceptions. The message is one sentence: what is wrong with which value, and how to fix it."""


class AwelloError(ValueError):
    """Base class of all errors caused by invalid input."""


class IllegalMoveError(AwelloError):
    """The move is illegal in this position."""


class NotationError(AwelloError):
    """The text is not a valid move, board, diagram or transcript."""


class SpecError(AwelloError):
    """The player spec names an unknown player or has an invalid setting."""


class StorageError(AwelloError):
    """The database cannot be opened, read or written."""


class ConfigError(AwelloError):
    """An option, a configuration file or an openings file is invalid."""
