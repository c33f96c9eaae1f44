"""Search limits for one move, and clocks for a whole game."""

import math
import re
from dataclasses import dataclass

from awello.errors import SpecError

SECONDS_PER_UNIT = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
MAX_PLIES, MAX_NODES = 10**9 - 1, 10**18 - 1  # the largest numbers that `parse_limit` accepts


def parse_duration(text: str) -> float:
    """Parse a duration such as `100ms`, `30s` or `5m`, or a number of seconds; return the seconds."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(ms|s|m|h)?", text.strip())
    if not match:
        raise SpecError(f"{text!r} is not a duration: write 100ms, 30s, 5m or 1h")
    return float(match[1]) * SECONDS_PER_UNIT[match[2] or "s"]


def format_duration(seconds: float) -> str:
    """Format a duration as accepted by `parse_duration`, in the largest unit that gives a whole number."""
    for unit in ("h", "m", "s"):
        if seconds >= SECONDS_PER_UNIT[unit] and math.isclose(seconds / SECONDS_PER_UNIT[unit] % 1, 0, abs_tol=1e-12):
            return f"{seconds / SECONDS_PER_UNIT[unit]:.12g}{unit}"
    return f"{seconds * 1000:.12g}ms"


@dataclass(frozen=True)
class Limit:
    """The limits of a search for one move; None means unlimited."""

    depth: int | None = None
    seconds: float | None = None
    nodes: int | None = None
    level: int | None = None
    """A playing level of the champion (see `engine.levels`)."""

    def __post_init__(self) -> None:
        if self.depth is not None and not 0 <= self.depth <= MAX_PLIES:
            raise SpecError(f"the depth limit {self.depth} is out of range: choose 0 to {MAX_PLIES:,d} plies")
        if self.nodes is not None and not 0 <= self.nodes <= MAX_NODES:
            raise SpecError(f"the node limit {self.nodes} is out of range: choose 0 to {MAX_NODES:,d} nodes")
        if self.seconds is not None and not self.seconds >= 0:  # also rejects NaN
            raise SpecError(f"the time limit {self.seconds} is out of range: choose 0 seconds or more")


def parse_limit(text: str) -> Limit:
    """Parse a limit: `6` (plies), `100ms`, `450000n` (nodes) or `level=12`; a leading `@`, as in a spec, is ignored."""
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
        raise SpecError(f"{text!r} is not a limit: write 6 (plies), 100ms, 30s, 450000n (nodes) or level=12") from None


def format_limit(limit: Limit) -> str:
    """Format a limit as accepted by `parse_limit`."""
    if limit.depth is not None:
        return str(limit.depth)
    if limit.nodes is not None:
        return f"{limit.nodes}n"
    if limit.level is not None:
        return f"level={limit.level}"
    return format_duration(limit.seconds or 0)


@dataclass(frozen=True)
class Clock:
    """A player's clock: the seconds left for the game and the increment per move."""

    seconds: float = math.inf
    increment: float = 0.0

    def spend(self, seconds: float) -> "Clock":
        """Return the clock after a move; its time is negative if the player has run out of time."""
        left = self.seconds - seconds
        return Clock(left + self.increment if left >= 0 else left, self.increment)


def parse_clock(text: str) -> Clock:
    """Parse a clock such as `5m` or `30s+500ms`: the time for the game and the increment per move."""
    main, plus, increment = text.partition("+")
    clock = Clock(parse_duration(main), parse_duration(increment) if plus else 0.0)
    if not clock.seconds:
        raise SpecError(f"the clock {text!r} has no main time: write 5m or 30s+500ms")
    return clock
