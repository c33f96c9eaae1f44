"""How long a player may think: a limit for one move, a clock for a whole game."""

import math
import re
from dataclasses import dataclass

from awello.errors import SpecError

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
MAX_PLIES, MAX_NODES = 10**9 - 1, 10**18 - 1  # as many digits as a limit may be written with


def parse_duration(text: str) -> float:
    """The seconds of a duration such as `100ms`, `30s`, `5m`; a bare number means seconds."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m|h)?", text.strip())
    if not match:
        raise SpecError(f"{text!r} is no time: write 100ms, 30s, 5m or 1h")
    return float(match[1]) * UNITS[match[2] or "s"]


def format_duration(seconds: float) -> str:
    """A duration as `parse_duration` reads it, in the largest unit that keeps it whole."""
    for unit in ("h", "m", "s"):
        if seconds >= UNITS[unit] and math.isclose(seconds / UNITS[unit] % 1, 0, abs_tol=1e-12):
            return f"{seconds / UNITS[unit]:.12g}{unit}"
    return f"{seconds * 1000:.12g}ms"


@dataclass(frozen=True)
class Limit:
    """What a search may spend on one move; what is None is not limited."""

    depth: int | None = None
    seconds: float | None = None
    nodes: int | None = None
    level: int | None = None
    """A strength that the player itself translates into depths and times."""

    def __post_init__(self) -> None:
        if self.depth is not None and not 0 <= self.depth <= MAX_PLIES:
            raise SpecError(f"a depth of {self.depth}: choose 0 to {MAX_PLIES:,d} plies")
        if self.nodes is not None and not 0 <= self.nodes <= MAX_NODES:
            raise SpecError(f"a limit of {self.nodes} nodes: choose 0 to {MAX_NODES:,d}")
        if self.seconds is not None and not self.seconds >= 0:  # a time that is no number is not either
            raise SpecError(f"a limit of {self.seconds} seconds: choose 0 or more")


def parse_limit(text: str) -> Limit:
    """The limit of a text: `6` plies, `100ms`, `450000n` nodes, `level=12`; also with the `@` of a player spec."""
    text = text.strip().removeprefix("@")
    if re.fullmatch(r"[0-9]{1,9}", text):
        return Limit(depth=int(text))
    if re.fullmatch(r"[0-9]{1,18}n", text):
        return Limit(nodes=int(text[:-1]))
    if re.fullmatch(r"level=[0-9]{1,9}", text):
        return Limit(level=int(text.removeprefix("level=")))
    try:
        return Limit(seconds=parse_duration(text))
    except SpecError:
        raise SpecError(f"{text!r} is no limit: write 6 (plies), 100ms, 30s, 450000n (nodes) or level=12") from None


def format_limit(limit: Limit) -> str:
    """A limit as `parse_limit` reads it."""
    if limit.depth is not None:
        return str(limit.depth)
    if limit.nodes is not None:
        return f"{limit.nodes}n"
    if limit.level is not None:
        return f"level={limit.level}"
    return format_duration(limit.seconds or 0)


@dataclass(frozen=True)
class Clock:
    """A player's clock: the seconds left for the game, and those added after each move."""

    seconds: float = math.inf
    increment: float = 0.0

    def spend(self, seconds: float) -> "Clock":
        """The clock after a move; it is below zero if the flag has fallen."""
        left = self.seconds - seconds
        return Clock(left + self.increment if left >= 0 else left, self.increment)


def parse_clock(text: str) -> Clock:
    """The clock of a text such as `5m` or `30s+500ms`: time for the game, and time added after each move."""
    main, plus, increment = text.partition("+")
    clock = Clock(parse_duration(main), parse_duration(increment) if plus else 0.0)
    if not clock.seconds:
        raise SpecError(f"the clock {text!r} leaves no time to play: give some, such as 5m or 30s+500ms")
    return clock
