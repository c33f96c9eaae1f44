"""Read the lock files."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
LINE = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ;]+)(?: ; (?P<marker>[^\\]+?))?(?P<hashes>(?: --hash=\S+)*)")


@dataclass(frozen=True)
class Pin:
    """A package and its pinned version, for the environments that match its marker."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def read_lock(file: Path) -> list[Pin]:
    """Read the pins of a lock file; raise `ValueError` for an invalid line."""
    lines = re.sub(r" \\\n +", " ", file.read_text("utf-8")).splitlines()
    return [_pin(line, file.name) for line in lines if not line.startswith("#")]


def _pin(line: str, name: str) -> Pin:
    match = LINE.fullmatch(line)
    if not match:
        raise ValueError(f"{name}: {line[:60]!r} is not a pinned version: run make lock")
    hashes = tuple(value.removeprefix("--hash=") for value in match["hashes"].split())
    return Pin(match["name"], match["version"], match["marker"] or "", hashes)


def all_pins() -> list[Pin]:
    """Read the pins of all lock files, without duplicates."""
    return sorted({pin for file in FOLDER.glob("*.lock") for pin in read_lock(file)}, key=lambda pin: pin.name)
