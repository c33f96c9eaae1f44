"""Ask the package index for known weaknesses of every pinned version: `make audit`.

By pip-audit's client, for all systems and Pythons at once, where pip-audit itself would look at the pins of this
machine only.  Some mirrors of the index answer for a package but not for one version of it: the answer is then about
the newest version, and taken if that is the pinned one.  A version of which nothing could be learnt is a failure.
"""

import sys
from collections.abc import Callable
from typing import Any

from locks import Pin, all_pins
from packaging.version import Version
from pip_audit._service import PyPIService, ResolvedDependency, ServiceError
from requests import RequestException

PATIENCE = 30  # seconds for an answer
WEAK, UNKNOWN = 1, 2  # how it ends, if not well


def main() -> int:
    """Print what was found; 0 if every pinned version is known and none has a known weakness."""
    pins = list({(pin.name, pin.version): pin for pin in all_pins()}.values())
    service = PyPIService(timeout=PATIENCE)
    service.session.get = or_newest(service.session.get)
    weak, unknown = 0, []
    for pin in pins:
        found = weaknesses(service, pin)
        if found is None:
            unknown.append(f"{pin.name} {pin.version}")
            continue
        weak += bool(found)
        for line in found:
            print(line)
    print(f"{len(pins)} pinned versions: {weak} with known weaknesses, {len(unknown)} of which nothing could be learnt")
    if unknown:
        some = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        print(f"The audit is not complete: the package index does not tell about {some}", file=sys.stderr)
    return WEAK if weak else UNKNOWN if unknown else 0


def or_newest(get: Callable[..., Any]) -> Callable[..., Any]:
    """Ask about a version, and about the newest if that is the same."""

    def ask(url: str, timeout: float) -> Any:
        answer = get(url=url, timeout=timeout)
        package, version, page = url.rsplit("/", 2)
        if answer.status_code == 404:
            newest = get(url=f"{package}/{page}", timeout=timeout)
            if newest.ok and newest.json()["info"]["version"] == version:
                return newest
        return answer

    return ask


def weaknesses(service: PyPIService, pin: Pin) -> list[str] | None:
    """A line for each known weakness; None if the index does not tell."""
    try:
        answered, found = service.query(ResolvedDependency(pin.name, Version(pin.version)))
    except (ServiceError, RequestException):
        return None
    if answered.is_skipped():
        return None
    once = {frozenset({each.id, *each.aliases}): each for each in found}  # databases list each other's
    return [f"{pin.name} {pin.version}: {_line(each)}" for each in once.values()]


def _line(found: Any) -> str:
    names = ", ".join([found.id, *sorted(found.aliases)])
    mended = ", ".join(map(str, found.fix_versions)) or "no version yet"
    return f"{names}; mended in {mended}: {' '.join(found.description.split())[:200]}"


if __name__ == "__main__":
    sys.exit(main())
