"""Write the software bill of materials in CycloneDX: `make sbom`.

The components and their hashes come from the lock files; licences and dependencies from the installed packages.  The
scope of a component is `required`, `optional` (part of an extra) or `excluded` (only for development).
"""

import json
import sys
from pathlib import Path
from subprocess import run
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from locks import FOLDER, Pin, all_pins, read_lock

from awello import __version__

SCOPES = {"all": "optional", "run": "required"}  # by lock file; `run` overrides `all`
COPIED_FIELDS = ("description", "licenses")  # from the installed packages
Json = dict[str, Any]


def main(file: Path) -> None:
    """Write the bill of materials to a file if it is complete and valid."""
    pins = all_pins()
    project = str(FOLDER.parent / "pyproject.toml")
    bom = run_cyclonedx("requirements", "-", "--pyproject", project, given=format_pins(pins))
    bom = complete(bom, run_cyclonedx("environment", sys.executable))
    listed = {part["purl"] for part in bom["components"]}
    if missing := sorted({purl(pin) for pin in pins} - listed):
        sys.exit(f"the bill of materials was not written: it lacks {', '.join(missing)}")
    text = json.dumps(bom, indent=2, sort_keys=True) + "\n"
    if error := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"the bill of materials was not written: it is not valid CycloneDX: {error}")
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    licensed = sum("licenses" in part for part in bom["components"])
    print(f"{file}: {len(listed)} components, {licensed} with a known licence")


def run_cyclonedx(*words: str, given: str = "") -> Json:
    """Run `cyclonedx-py` and return its bill of materials."""
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", *words, "--output-reproducible"]
    bom: Json = json.loads(run(command, input=given, capture_output=True, text=True, check=True).stdout)
    return bom


def format_pins(pins: list[Pin]) -> str:
    """Format pins as one lock file, without pins that differ only in their markers."""
    distinct = {(pin.name, pin.version): pin for pin in pins}.values()
    return "".join(
        f"{pin.name}=={pin.version} {' '.join(f'--hash={each}' for each in pin.hashes)}\n" for pin in distinct
    )


def purl(pin: Pin) -> str:
    """Return the package URL of a pin."""
    return f"pkg:pypi/{pin.name}@{pin.version}"


def complete(bom: Json, installed: Json) -> Json:
    """Add the scope of each component, and the licences and dependencies of the installed packages."""
    scopes = {purl(pin): scope for name, scope in SCOPES.items() for pin in read_lock(FOLDER / f"{name}.lock")}
    known = {part["purl"]: part for part in installed["components"] if "purl" in part}
    for part in bom["components"]:
        part["bom-ref"] = part["purl"]
        part["scope"] = scopes.get(part["purl"], "excluded")
        del part["description"]  # only repeats the line of the lock file
        part |= {key: known[part["purl"]][key] for key in COPIED_FIELDS if key in known.get(part["purl"], {})}
    root = bom["metadata"]["component"]
    root |= {"version": __version__, "bom-ref": "awello", "purl": f"pkg:pypi/awello@{__version__}"}
    bom["dependencies"] = list_dependencies(installed, {"awello", *(part["purl"] for part in bom["components"])})
    return bom


def list_dependencies(installed: Json, listed: set[str]) -> list[Json]:
    """List the dependencies between components, including those of extras."""
    names = {part["bom-ref"]: part.get("purl", "") for part in installed["components"]}
    names |= {ref: "awello" for ref in names if ref.startswith("awello==")}
    dependencies = {}
    for entry in installed["dependencies"]:
        needed = sorted({names.get(ref, "") for ref in entry.get("dependsOn", ())} & listed)
        dependencies[names.get(entry["ref"], "")] = {"dependsOn": needed} if needed else {}
    return [{"ref": ref, **dependencies.get(ref, {})} for ref in sorted(listed)]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
