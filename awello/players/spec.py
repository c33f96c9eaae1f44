"""Player specs: `name[:heuristic][@limit][,key=value ...]`, the same in commands, in files and on the web page."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from awello.errors import SpecError
from awello.limits import Limit, format_limit, parse_limit

NAME_PATTERN = r"[a-z][a-z0-9_-]*"


@dataclass(frozen=True)
class PlayerSpec:
    """The name and settings of a player."""

    name: str
    heuristic: str | None = None
    limit: Limit | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    text: str = field(default="", repr=False, compare=False)
    """The text from which the spec was parsed."""

    @property
    def typed(self) -> str:
        """The spec as the user wrote it."""
        return self.text or str(self)

    def __str__(self) -> str:
        heuristic = f":{self.heuristic}" if self.heuristic else ""
        limit = f"@{format_limit(self.limit)}" if self.limit else ""
        return self.name + heuristic + limit + "".join(f",{key}={value}" for key, value in self.settings.items())


def parse_spec(text: str) -> PlayerSpec:
    """Parse a spec, or raise a `SpecError` that names the invalid part."""
    head, *pairs = text.strip().split(",")
    match = re.fullmatch(rf"({NAME_PATTERN})(?::({NAME_PATTERN}))?(?:@(.+))?", head)
    if not match:
        raise SpecError(
            f"{head!r} is not a player spec: write name[:heuristic][@limit] in lowercase, such as alphabeta:mobility@4"
        )
    settings = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (re.fullmatch(NAME_PATTERN, key) and equals and value):
            raise SpecError(f"{pair!r} in {text!r} is not a setting: write key=value")
        if key in settings:
            raise SpecError(f"setting {key!r} appears twice in {text!r}: remove one")
        settings[key] = value
    return PlayerSpec(match[1], match[2], parse_limit(match[3]) if match[3] else None, settings, text.strip())
