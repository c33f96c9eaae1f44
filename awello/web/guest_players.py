"""The player specs that clients of the page can use: only the settings listed here, within their ranges.

Other settings can read files, start programs or take memory or processors, so only the owner can use them.  Players
from the owner's file (`AWELLO_PLAYERS`) accept all their settings from clients too.
"""

import re
from collections.abc import Callable

from awello.errors import AwelloError
from awello.evaluate.settings import MAX_SETTING, SQUARE_TABLES
from awello.players.player import USER_MODULE_PREFIX, Player, find_player, make_player
from awello.players.spec import parse_spec

TERMINAL_PLAYERS = ("human", "gtp", "nboard", "uci")  # players that need a terminal or another program

Check = tuple[Callable[[str], bool], str]  # whether a value is allowed, and a description of the allowed values


def _one_of(*values: str) -> Check:
    return values.__contains__, ", ".join(values)


def _number(minimum: float, maximum: float) -> Check:
    def check(text: str) -> bool:
        return bool(re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", text)) and minimum <= float(text) <= maximum

    return check, f"{minimum:g} to {maximum:g}"


BOOLEAN = _one_of("true", "false")
ALLOWED_SETTINGS: dict[str, Check] = {
    "aspiration": BOOLEAN,
    "book": BOOLEAN,
    "corners": _number(-MAX_SETTING, MAX_SETTING),
    "exploration": _number(0, 10),
    "hints": _one_of("none", "move", "branch", "tables"),
    "max_loss": _number(0, 1000),
    "mistake_percent": _number(0, 100),
    "move_ordering": _one_of("true", "false", "none", "frozen", "live"),
    "patterns": BOOLEAN,
    "share_factor": _number(1, 2),
    "skip_mirrors": BOOLEAN,
    "strict_cutoff": BOOLEAN,
    "symmetries": _number(1, 8),
    "table": _one_of(*SQUARE_TABLES),
    "thresholds": (
        lambda text: bool(re.fullmatch(r"[0-9]{1,2}-[0-9]{1,2}", text)),
        "two numbers of discs, such as 30-55",
    ),
    "variety_percent": _number(0, 100),
}


def is_allowed_setting(player: str, setting: str) -> bool:
    """Whether clients can give a setting of a player."""
    return setting in ("heuristic", "limit", *ALLOWED_SETTINGS) or _is_own(player)


def make_guest_player(text: str) -> Player:
    """Make the player of a client's spec, after validating the spec."""
    return make_player(validate_spec(text))


def validate_spec(text: str) -> str:
    """The same spec; raises `AwelloError` if clients cannot use this player or one of the settings."""
    spec = parse_spec(text)
    find_player(spec.name)
    if spec.name in TERMINAL_PLAYERS:
        message = f"{spec.name!r} plays in a terminal: choose another player"
        raise AwelloError(message, "terminal_player", player=spec.name)
    for key, value in () if _is_own(spec.name) else spec.options.items():
        if key not in ALLOWED_SETTINGS:
            message = f"the setting {key!r} cannot be changed on this server: leave it out"
            raise AwelloError(message, "setting_not_allowed", setting=key)
        is_allowed, allowed = ALLOWED_SETTINGS[key]
        if not is_allowed(value):
            message = f"'{key}={value}' is not allowed on this server: choose {allowed}"
            raise AwelloError(message, "setting_out_of_range", setting=key, value=value, allowed=allowed)
    return text


def _is_own(player: str) -> bool:
    """Whether a player is defined in the owner's file."""
    return find_player(player).player_class.__module__.startswith(USER_MODULE_PREFIX)
