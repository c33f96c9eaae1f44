"""Dependencies are declared, pinned and hashed, and lock files agree; assertions only help the type checker."""

import ast
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from locks import FOLDER, Pin, read_lock
from packaging.requirements import Requirement

ROOT = FOLDER.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCKS = {"run": "", "all": "all", "dev": "dev", "notebooks": "notebooks", "tools": None}
"""The lock files and the extra that each one pins; "" stands for no extra, None for a dependency group."""


def wanted(extra: str) -> Iterator[Requirement]:
    """Yield the requirements of an extra, of the extras that it includes, and of the package itself."""
    lines = PROJECT["project"]["optional-dependencies"][extra] if extra else PROJECT["project"]["dependencies"]
    for requirement in map(Requirement, lines):
        if requirement.name == "awello":
            for named in requirement.extras:
                yield from wanted(named)
        elif requirement.name != "torch":  # not locked: the right build depends on the machine
            yield requirement
    if extra:
        yield from wanted("")


def asked_of(lock: str) -> list[Requirement]:
    groups, extra = PROJECT["dependency-groups"], LOCKS[lock]
    if extra is None:
        return [Requirement(line) for line in groups["tools"]]
    backend = PROJECT["build-system"]["requires"]
    return [*wanted(extra), *(Requirement(line) for line in (*groups["build"], *backend))]


def by_name(pins: list[Pin]) -> dict[str, list[Pin]]:
    return {name: [pin for pin in pins if pin.name == name] for name in {pin.name for pin in pins}}


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_lock_file_is_looked_at() -> None:
    assert {file.stem for file in FOLDER.glob("*.lock")} == set(LOCKS)
    extras = PROJECT["project"]["optional-dependencies"]
    reached = {str(each) for name in ("all", "dev", "notebooks") for each in wanted(name)}
    assert not {str(each) for extra in extras for each in wanted(extra)} - reached


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_has_what_is_asked_for(lock: str) -> None:
    pins = by_name(read_lock(FOLDER / f"{lock}.lock"))
    for requirement in asked_of(lock):
        found = pins.get(canonical(requirement.name), [])
        assert found, f"{requirement} is not in {lock}.lock: run 'make lock'"
        for pin in found:
            assert requirement.specifier.contains(pin.version), (
                f"{lock}.lock has {pin.version}, not {requirement}: run 'make lock'"
            )


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_has_hashes_and_names_no_place(lock: str) -> None:
    file = FOLDER / f"{lock}.lock"
    pins = read_lock(file)  # refuses lines that do not pin a version, such as an index or a path
    assert all(pin.hashes and all(re.fullmatch("sha256:[0-9a-f]{64}", each) for each in pin.hashes) for pin in pins)
    assert not {pin.name for pin in pins} & set(PROJECT["tool"]["uv"]["pip"]["no-emit-package"])
    assert not [pin.name for pin in pins if pin.name.startswith(("cuda-", "nvidia-"))], (
        "CUDA packages take gigabytes, and only PyTorch needs them"
    )
    comments = [line for line in file.read_text("utf-8").splitlines() if line.lstrip().startswith("#")]
    assert comments[1:] == ["#    make lock"]


def test_javascript_tools_are_pinned_too() -> None:
    """The JavaScript tools are pinned by hash, without the address of a registry."""
    packages = json.loads((FOLDER / "js" / "package-lock.json").read_text("utf-8"))["packages"]
    asked = json.loads((FOLDER / "js" / "package.json").read_text("utf-8"))["devDependencies"]
    assert packages.pop("")["devDependencies"] == asked
    assert {f"node_modules/{name}" for name in asked} <= set(packages)
    assert all(each["integrity"].startswith("sha512-") and "resolved" not in each for each in packages.values())


def test_lock_files_agree() -> None:
    dev = by_name(read_lock(FOLDER / "dev.lock"))
    for lock in LOCKS:
        for pin in read_lock(FOLDER / f"{lock}.lock"):
            assert pin.version in {each.version for each in dev.get(pin.name, [pin])}


@pytest.mark.parametrize(
    "line", ["--index-url https://example.org/simple", "rich>=13", "rich @ file:rich.whl", "-r other.lock"]
)
def test_what_pins_nothing_is_refused(tmp_path: Path, line: str) -> None:
    (tmp_path / "odd.lock").write_text(f"{line}\n")
    with pytest.raises(ValueError, match="make lock"):
        read_lock(tmp_path / "odd.lock")


def test_every_imported_package_is_declared() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    declared = {canonical(each.name) for extra in ("", *extras) for each in wanted(extra)} | {"awello", "torch"}
    packages = packages_distributions()
    for file in (ROOT / "awello").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in {name.partition(".")[0] for name in names} - sys.stdlib_module_names:
                assert {canonical(each) for each in packages.get(name, [name])} & declared, (file, name)


def test_asserts_only_say_what_is_there() -> None:
    """`python -O` removes assertions, so they may help the type checker, but must not validate anything."""
    for file in sorted((ROOT / "awello").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Assert):
                terms = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
                assert node.msg is None and all(map(_says_what_is_there, terms)), (
                    f"{file}:{node.lineno}: raise an error instead"
                )


def _says_what_is_there(term: ast.expr) -> bool:
    """Return whether an expression is `x`, `x is not None` or `isinstance(x, ...)`."""
    if isinstance(term, ast.Compare):
        return isinstance(term.ops[0], ast.IsNot)
    if isinstance(term, ast.Call):
        return isinstance(term.func, ast.Name) and term.func.id == "isinstance"
    return isinstance(term, ast.Name | ast.Attribute)
