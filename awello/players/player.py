"""The base class of players, and the registry of players by name.

A player is a dataclass, and its fields are its settings.  A spec sets `heuristic` after a colon, `limit` after an `@`,
and the others as `key=value`.  Other packages and users add players with `register`:

    @register("mine", "the first legal move")
    @dataclass
    class FirstMove(Player):
        def choose(self, position, clock):
            return Choice(position.legal_moves()[0])
"""

import os
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from traceback import extract_tb
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from awello.analysis import Analysis
from awello.errors import SpecError, describe_invalid_value, join_choices
from awello.limits import Clock
from awello.players.spec import NAME_PATTERN, PlayerSpec, parse_spec
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game


@dataclass(frozen=True)
class Choice:
    """A chosen move, with an analysis of the position if the player searched."""

    move: int
    analysis: Analysis | None = None


class Resignation(Exception):
    """Raised by a player to resign."""


class Forfeit(Exception):
    """Raised if a player fails or exceeds a limit: it loses the current game, and the match continues."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason, self.message = reason, message

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


class UnknownPlayerError(SpecError):
    """Raised if no player has the given name."""

    code = "unknown_player"


class TakeBack(Exception):
    """Raised by a player to take back its last move."""


class Player:
    """The base class of players, which choose moves.  Subclasses are dataclasses, registered with `register`."""

    spec: PlayerSpec
    rng: random.Random
    """The source of all random choices, seeded for each game so that games can be repeated."""

    def begin(self, game: Game, seed: int) -> None:
        """Prepare for a new game."""
        self.rng = random.Random(seed)

    def follow(self, record: Record) -> None:
        """Receive the game so far.  Called before each `choose`, for players that need more than the position."""

    def choose(self, position: Position, clock: Clock) -> Choice:
        """Choose a move in a position.  Not called if the only legal move is a pass."""
        raise NotImplementedError

    def end(self) -> None:
        """End the game, and stop any search that is still running."""

    def learn(self, record: Record, side: int) -> Mapping[str, int]:
        """Learn from a finished game, and return counts for the match report, such as `{"kept": 1}`.

        Called after `end`.
        """
        return {}

    def __str__(self) -> str:
        return str(self.spec)


@dataclass(frozen=True)
class RegistryEntry:
    """A registered player: its class, and a summary for the list of players."""

    player_class: type[Player]
    summary: str


REGISTRY: dict[str, RegistryEntry] = {}
PlayerClass = TypeVar("PlayerClass", bound=type[Player])
USER_MODULE_PREFIX = "awello_players_"  # prefix of the module names under which players files are imported


def register(name: str, summary: str) -> Callable[[PlayerClass], PlayerClass]:
    """Register a player class under a name, with a one-line summary."""

    def add(player_class: PlayerClass) -> PlayerClass:
        if not re.fullmatch(NAME_PATTERN, name) or not is_dataclass(player_class):
            raise SpecError(
                f"player {name!r} must be a dataclass, and its name must start with a lowercase letter "
                "and contain only lowercase letters, digits, - and _"
            )
        if name in REGISTRY and REGISTRY[name].player_class.__qualname__ != player_class.__qualname__:
            raise SpecError(f"player {name!r} is already registered: choose another name")
        REGISTRY[name] = RegistryEntry(player_class, summary)
        return player_class

    return add


@cache
def import_players(file: str) -> None:
    """Import a Python file that registers players."""
    path = Path(file)
    module = spec_from_file_location(f"{USER_MODULE_PREFIX}{path.stem}", path)
    if not path.is_file() or module is None or module.loader is None:
        raise SpecError(f"{file!r} is not a Python file or does not exist: give a file that registers players")
    try:
        module.loader.exec_module(module_from_spec(module))
    except Exception as error:
        raise SpecError(_format_import_error(error, file)) from error


def _format_import_error(error: Exception, file: str) -> str:
    """Format an error in a players file as one line: file, line number, type and message."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    where, line, message = file, lines[-1] if lines else 0, str(error)
    if isinstance(error, SyntaxError):
        where, line, message = error.filename or file, error.lineno or 0, error.msg
    return f"{where}:{line}: {type(error).__name__}: {message}"


def read_user_players() -> tuple[str, bytes] | None:
    """Return the path and the content of the file given by AWELLO_PLAYERS, or None if the variable is not set."""
    file = os.environ.get("AWELLO_PLAYERS")
    return (file, Path(file).read_bytes()) if file else None


def unregister_user_players() -> None:
    """Unregister the players loaded from files, so that the process can load another file."""
    import_players.cache_clear()
    for name in [
        name for name, entry in REGISTRY.items() if entry.player_class.__module__.startswith(USER_MODULE_PREFIX)
    ]:
        del REGISTRY[name]


def load_registry() -> dict[str, RegistryEntry]:
    """Return all players by name, including those of the AWELLO_PLAYERS file."""
    import_module("awello.protocols")  # registers the external engines
    if file := os.environ.get("AWELLO_PLAYERS"):
        import_players(file)
    return dict(sorted(REGISTRY.items()))  # sorted, so that the order does not depend on the order of imports


def find_player(name: str) -> RegistryEntry:
    """Find a registered player by name, or raise `UnknownPlayerError`."""
    if name not in load_registry():
        near = get_close_matches(name, REGISTRY, 1)
        advice = f"did you mean {near[0]!r}?" if near else "see 'awello players' for a list"
        raise UnknownPlayerError(f"unknown player {name!r}: {advice}", player=name)
    return REGISTRY[name]


def make_player(spec: PlayerSpec | str) -> Player:
    """Make a player from a spec, or raise `SpecError` if a part of the spec is invalid."""
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    player_class = find_player(spec.name).player_class
    settings: dict[str, Any] = dict(spec.settings)
    settings |= {"heuristic": spec.heuristic} if spec.heuristic else {}
    settings |= {"limit": spec.limit} if spec.limit else {}
    names = [setting.name for setting in fields(player_class)]  # type: ignore[arg-type]
    for key in settings:
        if key not in names:
            advice = f"choose {join_choices(names)}" if names else "remove it"
            message = f"player {spec.name!r} has no setting {key!r}: {advice}"
            raise SpecError(message, "unknown_setting", player=spec.name, setting=key)
    try:
        player = TypeAdapter(player_class).validate_python(settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "settings"
        message, value = f"player {spec.name!r}: {describe_invalid_value(where, dict(first))}", str(first["input"])
        raise SpecError(message, "invalid_setting", player=spec.name, setting=where, value=value) from None
    player.spec = spec
    return player
