"""Check every pinned version for known vulnerabilities: `make audit`.

Uses pip-audit's client for the pins of all systems and Python versions; pip-audit itself would check only those of this
machine.  Some mirrors of the package index lack pages for single versions.  The page of the package is used instead if
its newest version is the pinned one.  The audit fails if a version cannot be checked.
"""

import sys
from collections.abc import Callable
from typing import Any

from locks import Pin, all_pins
from packaging.version import Version
from pip_audit._service import PyPIService, ResolvedDependency, ServiceError
from requests import RequestException

TIMEOUT_SECONDS = 30
VULNERABLE, INCOMPLETE = 1, 2  # exit status


def main() -> int:
    """Print the vulnerabilities; return 0 if all versions were checked and none is vulnerable."""
    pins = list({(pin.name, pin.version): pin for pin in all_pins()}.values())
    service = PyPIService(timeout=TIMEOUT_SECONDS)
    service.session.get = with_fallback(service.session.get)
    vulnerable, unknown = 0, []
    for pin in pins:
        vulnerabilities = find_vulnerabilities(service, pin)
        if vulnerabilities is None:
            unknown.append(f"{pin.name} {pin.version}")
            continue
        vulnerable += bool(vulnerabilities)
        for line in vulnerabilities:
            print(line)
    print(f"{len(pins)} pinned versions: {vulnerable} vulnerable, {len(unknown)} could not be checked")
    if unknown:
        names = ", ".join(unknown[:5]) + (", ..." if len(unknown) > 5 else "")
        print(f"The audit is incomplete: the package index has no data on {names}", file=sys.stderr)
    return VULNERABLE if vulnerable else INCOMPLETE if unknown else 0


def with_fallback(get: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a GET function: for a version without a page, get the page of the package if that is its newest version."""

    def get_version(url: str, timeout: float) -> Any:
        response = get(url=url, timeout=timeout)
        package, version, page = url.rsplit("/", 2)
        if response.status_code == 404:
            latest = get(url=f"{package}/{page}", timeout=timeout)
            if latest.ok and latest.json()["info"]["version"] == version:
                return latest
        return response

    return get_version


def find_vulnerabilities(service: PyPIService, pin: Pin) -> list[str] | None:
    """Describe each known vulnerability in a line; return None if the index has no data."""
    try:
        dependency, results = service.query(ResolvedDependency(pin.name, Version(pin.version)))
    except (ServiceError, RequestException):
        return None
    if dependency.is_skipped():
        return None
    # several databases may list the same vulnerability
    distinct = {frozenset({result.id, *result.aliases}): result for result in results}
    return [f"{pin.name} {pin.version}: {_describe(result)}" for result in distinct.values()]


def _describe(result: Any) -> str:
    names = ", ".join([result.id, *sorted(result.aliases)])
    fixed = ", ".join(map(str, result.fix_versions)) or "no version yet"
    return f"{names}; fixed in {fixed}: {' '.join(result.description.split())[:200]}"


if __name__ == "__main__":
    sys.exit(main())
