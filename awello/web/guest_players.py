"""Players that guests of the page may name: only settings that are listed here, within their ranges.

A setting that is not listed may read a file, start a program or take memory or processors: those are the owner's.
Players of the owner's own file (`AWELLO_PLAYERS`) take all their settings from guests too.
"""

import re
from collections.abc import Callable

from awello.errors import AwelloError
from awello.evaluate.settings import LARGEST, TABLES
from awello.players.player import USER_MODULE_PREFIX, Player, find_player, make_player
from awello.players.spec import parse_spec

ELSEWHERE = ("human", "gtp", "nboard", "uci")  # players that a terminal is needed for

Check = tuple[Callable[[str], bool], str]  # whether a value is allowed, and which ones are


def _one_of(*values: str) -> Check:
    return values.__contains__, f"choose {', '.join(values)}"


def _number(least: float, most: float) -> Check:
    def check(text: str) -> bool:
        return bool(re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", text)) and least <= float(text) <= most

    return check, f"choose {least:g} to {most:g}"


YES_OR_NO = _one_of("true", "false")
SETTINGS: dict[str, Check] = {
    "aspiration": YES_OR_NO,
    "book": YES_OR_NO,
    "corners": _number(-LARGEST, LARGEST),
    "exploration": _number(0, 10),
    "hints": _one_of("none", "move", "branch", "tables"),
    "max_loss": _number(0, 1000),
    "mistake_percent": _number(0, 100),
    "move_ordering": _one_of("true", "false", "none", "frozen", "live"),
    "patterns": YES_OR_NO,
    "share_factor": _number(1, 2),
    "skip_mirrors": YES_OR_NO,
    "strict_cutoff": YES_OR_NO,
    "symmetries": _number(1, 8),
    "table": _one_of(*TABLES),
    "thresholds": (
        lambda text: bool(re.fullmatch(r"[0-9]{1,2}-[0-9]{1,2}", text)),
        "choose two numbers of discs, as 30-55",
    ),
    "variety_percent": _number(0, 100),
}


def may_set(player: str, setting: str) -> bool:
    """Whether guests may give a setting of a player."""
    return setting in ("heuristic", "limit", *SETTINGS) or _is_own(player)


def guest_player(text: str) -> Player:
    """The player of a spec that came from outside; the spec is checked before anything is made of it."""
    return make_player(check_spec(text))


def check_spec(text: str) -> str:
    """The same spec; `AwelloError` if guests may not name this player or give one of its settings."""
    spec = parse_spec(text)
    find_player(spec.name)
    if spec.name in ELSEWHERE:
        raise AwelloError(f"{spec.name!r} plays at a terminal: name a program of this page")
    for key, value in () if _is_own(spec.name) else spec.options.items():
        if key not in SETTINGS:
            raise AwelloError(f"{key} cannot be set from here: leave it out")
        allowed, advice = SETTINGS[key]
        if not allowed(value):
            raise AwelloError(f"{key}={value} cannot be set from here: {advice}")
    return text


def _is_own(player: str) -> bool:
    """Whether a player comes from the owner's file."""
    return find_player(player).player_class.__module__.startswith(USER_MODULE_PREFIX)
