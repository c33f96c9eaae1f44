"""Check the player specs of clients: only the settings and values listed here are allowed.

Other settings can read files, start programs, or use much memory or many processors, so only the owner of the server
can use them.  Clients can change all settings of the players in the owner's file (`AWELLO_PLAYERS`).
"""

import re
from collections.abc import Callable
from typing import Any

from awello.errors import AwelloError
from awello.evaluate.evaluator import MAX_SETTING, SQUARE_TABLES
from awello.players.player import USER_MODULE_PREFIX, Player, find_player, make_player
from awello.players.spec import parse_spec

TERMINAL_PLAYERS = ("human", "gtp", "nboard", "uci")  # these need a terminal or another program

SettingCheck = Callable[[str, str], AwelloError | None]  # returns an error if the value of a setting is not allowed


def _allow_values(*values: str) -> SettingCheck:
    def setting_error(setting: str, value: str) -> AwelloError | None:
        if value in values:
            return None
        choices = ", ".join(values)
        return _invalid_setting_error(setting, value, f"one of {choices}", code="setting_not_in_list", choices=choices)

    return setting_error


def _allow_range(minimum: float, maximum: float) -> SettingCheck:
    def setting_error(setting: str, value: str) -> AwelloError | None:
        if re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", value) and minimum <= float(value) <= maximum:
            return None
        expected = f"a number from {minimum:g} to {maximum:g}"
        return _invalid_setting_error(setting, value, expected, code="setting_out_of_range", min=minimum, max=maximum)

    return setting_error


def _thresholds_error(setting: str, value: str) -> AwelloError | None:
    if re.fullmatch(r"[0-9]{1,2}-[0-9]{1,2}", value):
        return None
    return _invalid_setting_error(setting, value, "two numbers of discs, such as 30-55", code="setting_not_thresholds")


def _invalid_setting_error(setting: str, value: str, expected: str, code: str, **params: Any) -> AwelloError:
    message = f"'{setting}={value}' is not allowed on this server: choose {expected}"
    return AwelloError(message, code, setting=setting, value=value, **params)


BOOLEAN = _allow_values("true", "false")
ALLOWED_SETTINGS: dict[str, SettingCheck] = {
    "aspiration": BOOLEAN,
    "book": BOOLEAN,
    "corners": _allow_range(-MAX_SETTING, MAX_SETTING),
    "exploration": _allow_range(0, 10),
    "hints": _allow_values("none", "move", "pv", "refutations"),
    "learnt_ordering": _allow_values("none", "frozen", "live"),
    "max_loss": _allow_range(0, 1000),
    "mistake_percent": _allow_range(0, 100),
    "move_ordering": BOOLEAN,
    "patterns": BOOLEAN,
    "share_factor": _allow_range(1, 2),
    "skip_mirrors": BOOLEAN,
    "square_table": _allow_values(*SQUARE_TABLES),
    "strict_cutoff": BOOLEAN,
    "symmetries": _allow_range(1, 8),
    "thresholds": _thresholds_error,
    "variety_percent": _allow_range(0, 100),
}


def is_allowed_setting(player: str, setting: str) -> bool:
    """Return whether clients can change a setting of a player."""
    return setting in ("heuristic", "limit", *ALLOWED_SETTINGS) or _is_owners_player(player)


def make_client_player(text: str) -> Player:
    """Create the player for a client's spec; raise `AwelloError` if clients cannot use it."""
    return make_player(validate_spec(text))


def validate_spec(text: str) -> str:
    """Return the spec if clients can use its player and settings, else raise `AwelloError`."""
    spec = parse_spec(text)
    find_player(spec.name)
    if spec.name in TERMINAL_PLAYERS:
        message = f"{spec.name!r} needs a terminal or another program: choose another player"
        raise AwelloError(message, "terminal_player", player=spec.name)
    for key, value in () if _is_owners_player(spec.name) else spec.settings.items():
        if key not in ALLOWED_SETTINGS:
            message = f"the setting {key!r} cannot be changed on this server: leave it out"
            raise AwelloError(message, "setting_not_allowed", setting=key)
        if error := ALLOWED_SETTINGS[key](key, value):
            raise error
    return text


def _is_owners_player(player: str) -> bool:
    """Return whether a player is defined in the owner's file."""
    return find_player(player).player_class.__module__.startswith(USER_MODULE_PREFIX)
