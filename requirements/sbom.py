"""Write the list of all parts of the project, as CycloneDX: `make sbom`.

The lock files say what the parts are, with hashes; what is installed here says their licences and who needs whom.
A part's scope tells who meets it: everybody (required), users of an extra (optional), developers only (excluded).
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

SCOPES = {"all": "optional", "run": "required"}  # of the parts of a lock file, the later one if a part is in both
KEPT = ("description", "licenses")  # of what is installed
Parts = dict[str, Any]


def main(file: Path) -> None:
    """Write the list to a file, if it is complete and as the format says."""
    pins = all_pins()
    parts = ask("requirements", "-", "--pyproject", str(FOLDER.parent / "pyproject.toml"), given=text_of(pins))
    parts = complete(parts, ask("environment", sys.executable))
    listed = {part["purl"] for part in parts["components"]}
    if lacking := sorted({purl(pin) for pin in pins} - listed):
        sys.exit(f"the list lacks {', '.join(lacking)}: it is not written")
    text = json.dumps(parts, indent=2, sort_keys=True) + "\n"
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        sys.exit(f"the list is no CycloneDX: {wrong}")
    file.parent.mkdir(exist_ok=True)
    file.write_text(text, "utf-8")
    licensed = sum("licenses" in part for part in parts["components"])
    print(f"{file}: {len(listed)} parts, the licences of {licensed} known")


def ask(*words: str, given: str = "") -> Parts:
    """What the tool says."""
    command = [sys.executable, "-W", "ignore", "-m", "cyclonedx_py", *words, "--output-reproducible"]
    said: Parts = json.loads(run(command, input=given, capture_output=True, text=True, check=True).stdout)
    return said


def text_of(pins: list[Pin]) -> str:
    """Pins as one lock file; where they differ in their markers only, once."""
    once = {(pin.name, pin.version): pin for pin in pins}.values()
    return "".join(f"{pin.name}=={pin.version} {' '.join(f'--hash={each}' for each in pin.hashes)}\n" for pin in once)


def purl(pin: Pin) -> str:
    """What a package is called everywhere."""
    return f"pkg:pypi/{pin.name}@{pin.version}"


def complete(parts: Parts, installed: Parts) -> Parts:
    """Add the scope of each part, and what is known of those that are installed."""
    scopes = {purl(pin): scope for name, scope in SCOPES.items() for pin in read_lock(FOLDER / f"{name}.lock")}
    known = {part["purl"]: part for part in installed["components"] if "purl" in part}
    for part in parts["components"]:
        part["bom-ref"] = part["purl"]
        part["scope"] = scopes.get(part["purl"], "excluded")
        del part["description"]  # the line of the lock file
        part |= {key: known[part["purl"]][key] for key in KEPT if key in known.get(part["purl"], {})}
    root = parts["metadata"]["component"]
    root |= {"version": __version__, "bom-ref": "awello", "purl": f"pkg:pypi/awello@{__version__}"}
    parts["dependencies"] = needs(installed, {"awello", *(part["purl"] for part in parts["components"])})
    return parts


def needs(installed: Parts, listed: set[str]) -> list[Parts]:
    """Which listed part needs which, for any of its extras."""
    names = {part["bom-ref"]: part.get("purl", "") for part in installed["components"]}
    names |= {ref: "awello" for ref in names if ref.startswith("awello==")}
    found = {}
    for each in installed["dependencies"]:
        wanted = sorted({names.get(ref, "") for ref in each.get("dependsOn", ())} & listed)
        found[names.get(each["ref"], "")] = {"dependsOn": wanted} if wanted else {}
    return [{"ref": ref, **found.get(ref, {})} for ref in sorted(listed)]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
