"""What every player is, and the registry of their names, to which any room can add.

A player is a dataclass: its fields are the settings that a spec may give (`heuristic`, `limit` and the
options by name), with their types and defaults.

    @register("mine", "the first legal move")
    @dataclass
    class Mine(Player):
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
from awello.errors import SpecError
from awello.limits import Clock
from awello.players.spec import NAME_PATTERN, PlayerSpec, parse_spec
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game


@dataclass(frozen=True)
class Choice:
    """A chosen move, and what the player found out about the position, if it searched."""

    move: int
    analysis: Analysis | None = None


class Resignation(Exception):
    """Raised by a player who gives the game up."""


class Forfeit(Exception):
    """Raised in place of a move where the player loses this game, and nothing else, for a reason."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(reason, message)
        self.reason, self.message = reason, message

    def __str__(self) -> str:
        return f"{self.reason}: {self.message}"


class UnknownPlayerError(SpecError):
    """There is no player of this name."""


class TakeBack(Exception):
    """Raised by a player who wants their last move back."""


class Player:
    """Who chooses a move.  Subclasses are dataclasses that enter themselves with `register`."""

    spec: PlayerSpec
    rng: random.Random
    """For random choices; the same seed makes the same ones."""

    def begin(self, game: Game, seed: int) -> None:
        """Get ready for a new game."""
        self.rng = random.Random(seed)

    def follow(self, record: Record) -> None:
        """The game so far, told before each choice, for those whom its last position does not tell enough."""

    def choose(self, position: Position, clock: Clock) -> Choice:
        """The move to play in a position with at least one legal move that is no pass."""
        raise NotImplementedError

    def end(self) -> None:
        """The game is over: leave nothing running."""

    def learn(self, record: Record, side: int) -> Mapping[str, int]:
        """Learn from a finished game, after `end`; returns counts for the report, such as `{"kept": 1}`."""
        return {}

    def __str__(self) -> str:
        return str(self.spec)


@dataclass(frozen=True)
class RegistryEntry:
    """A line of the registry: the class to make, and a line for people."""

    player_class: type[Player]
    summary: str


REGISTRY: dict[str, RegistryEntry] = {}
PlayerClass = TypeVar("PlayerClass", bound=type[Player])
USER_MODULE_PREFIX = "awello_players_"  # how the names of modules begin that are made of files of players


def register(name: str, summary: str) -> Callable[[PlayerClass], PlayerClass]:
    """Enter a class of players under a name, with one line that says what it does."""

    def add(player_class: PlayerClass) -> PlayerClass:
        if not re.fullmatch(NAME_PATTERN, name) or not is_dataclass(player_class):
            raise SpecError(f"player {name!r} must be a dataclass with a name of small letters, digits, - and _")
        if name in REGISTRY and REGISTRY[name].player_class.__qualname__ != player_class.__qualname__:
            raise SpecError(f"a player {name!r} exists already: choose another name")
        REGISTRY[name] = RegistryEntry(player_class, summary)
        return player_class

    return add


@cache
def import_players(file: str) -> None:
    """Run a Python file that registers players."""
    path = Path(file)
    module = spec_from_file_location(f"{USER_MODULE_PREFIX}{path.stem}", path)
    if not path.is_file() or module is None or module.loader is None:
        raise SpecError(f"no players in {file!r}: give a Python file that registers some")
    try:
        module.loader.exec_module(module_from_spec(module))
    except Exception as error:
        raise SpecError(_locate(error, file)) from error


def _locate(error: Exception, file: str) -> str:
    """An error in a file of players in one line, with the line of the file that it comes from."""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    where, line, message = file, lines[-1] if lines else 0, str(error)
    if isinstance(error, SyntaxError):
        where, line, message = error.filename or file, error.lineno or 0, error.msg
    return f"{where}:{line}: {type(error).__name__}: {message}"


def read_user_players() -> tuple[str, bytes] | None:
    """The user's file of players and its content: other machines may not have it, and it decides results."""
    file = os.environ.get("AWELLO_PLAYERS")
    return (file, Path(file).read_bytes()) if file else None


def unregister_user_players() -> None:
    """Take the players of all files out again, for a process that goes on with those of another one."""
    import_players.cache_clear()
    for name in [
        name for name, entry in REGISTRY.items() if entry.player_class.__module__.startswith(USER_MODULE_PREFIX)
    ]:
        del REGISTRY[name]


def load_registry() -> dict[str, RegistryEntry]:
    """All players by name, with those of the file that AWELLO_PLAYERS names; worker processes see the same ones."""
    import_module("awello.protocols")  # the players of the layer above
    if file := os.environ.get("AWELLO_PLAYERS"):
        import_players(file)
    return dict(sorted(REGISTRY.items()))  # whatever was imported first


def find_player(name: str) -> RegistryEntry:
    """The registry's line of a name; `SpecError` if there is none."""
    if name not in load_registry():
        near = get_close_matches(name, REGISTRY, 1)
        advice = f"did you mean {near[0]!r}?" if near else "'awello players' lists those there are"
        raise UnknownPlayerError(f"unknown player {name!r}: {advice}")
    return REGISTRY[name]


def make_player(spec: PlayerSpec | str) -> Player:
    """The player of a spec; `SpecError` says which part of it no player takes."""
    spec = parse_spec(spec) if isinstance(spec, str) else spec
    player_class = find_player(spec.name).player_class
    settings: dict[str, Any] = dict(spec.options)
    settings |= {"heuristic": spec.heuristic} if spec.heuristic else {}
    settings |= {"limit": spec.limit} if spec.limit else {}
    names = [setting.name for setting in fields(player_class)]  # type: ignore[arg-type]
    for key in settings:
        if key not in names:
            raise SpecError(f"player {spec.name!r} takes no {key}: it takes {', '.join(names) or 'no settings'}")
    try:
        player = TypeAdapter(player_class).validate_python(settings)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "settings"
        raise SpecError(f"player {spec.name!r}: {where}: {first['msg']}, not {first['input']!r}") from None
    player.spec = spec
    return player
