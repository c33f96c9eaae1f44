"""What the lock files pin."""

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
LINE = re.compile(r"(?P<name>[a-z0-9-]+)==(?P<version>[^ ;]+)(?: ; (?P<marker>[^\\]+?))?(?P<hashes>(?: --hash=\S+)*)")


@dataclass(frozen=True)
class Pin:
    """A package and the one version of it that is installed, where its marker says so."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]


def read_lock(file: Path) -> list[Pin]:
    """The pins of a lock file; `ValueError` names a line that is none."""
    lines = re.sub(r" \\\n +", " ", file.read_text("utf-8")).splitlines()
    return [_pin(line, file.name) for line in lines if not line.startswith("#")]


def _pin(line: str, name: str) -> Pin:
    found = LINE.fullmatch(line)
    if not found:
        raise ValueError(f"{name} pins nothing with {line[:60]!r}: make lock writes it anew")
    hashes = tuple(each.removeprefix("--hash=") for each in found["hashes"].split())
    return Pin(found["name"], found["version"], found["marker"] or "", hashes)


def all_pins() -> list[Pin]:
    """The pins of all lock files, each once."""
    return sorted({pin for file in FOLDER.glob("*.lock") for pin in read_lock(file)}, key=lambda pin: pin.name)
