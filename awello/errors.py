"""What can go wrong: every error is one sentence that names the offending part and how to mend it."""


class AwelloError(ValueError):
    """Something the caller gave is wrong; the message says what and how to mend it."""


class IllegalMoveError(AwelloError):
    """A move that the rules do not allow in this position."""


class NotationError(AwelloError):
    """Text that is no move, board, diagram or transcript."""


class SpecError(AwelloError):
    """A player spec that names no player, or gives it something it does not take."""


class StorageError(AwelloError):
    """A database that cannot be opened, read or written."""


class ConfigError(AwelloError):
    """An option, a configuration file or an openings file with a wrong part in it."""
