"""Class names are unique, and the docs list exactly the public names and the commands."""

import ast
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import awello
from awello.cli.app import COMMANDS, app

ROOT = Path(awello.__file__).parents[1]
FOLDERS = ("awello", "tests", "benchmarks", "examples", "docs", "requirements")


def load_command(name: str) -> Any:
    """Return the command with this name, including its subcommands."""
    for module in COMMANDS[name][1:] or (name,):
        import_module(f"awello.cli.{module}")
    group: Any = typer.main.get_group(app)
    return group.loaded[name]


def list_leaf_commands(name: str) -> dict[str, Any]:
    """Return the subcommands of a command by full name, or the command itself if it has none."""
    command = load_command(name)
    subcommands = getattr(command, "commands", None)
    return {f"{name} {sub}": each for sub, each in subcommands.items()} if subcommands else {name: command}


def test_no_class_name_is_defined_twice() -> None:
    files = defaultdict(list)
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            if "node_modules" in file.parts:
                continue
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.ClassDef):
                    files[node.name].append(str(file.relative_to(ROOT)))
    assert len(files) > 200
    assert {name: paths for name, paths in files.items() if len(paths) > 1} == {}


def test_public_names_are_importable_and_typed() -> None:
    exported = [name for names in awello._EXPORTS.values() for name in names]
    assert sorted(exported) == sorted(awello.__all__) == sorted(set(awello.__all__))
    tree = ast.parse(Path(awello.__file__).read_text("utf-8"))
    typed = {
        (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("awello.")
        for alias in node.names
    }
    assert typed == {(module, name) for module, names in awello._EXPORTS.items() for name in names}
    for name in awello.__all__:
        assert getattr(awello, name) is not None
        assert name in dir(awello)


def test_docs_list_the_public_names() -> None:
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)", text, re.M)) == set(awello.__all__)


def test_docs_list_the_commands() -> None:
    text = (ROOT / "docs" / "commands.md").read_text("utf-8")
    rows = set(re.findall(r"^\| `([a-z]+)", text, re.M))
    assert rows == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_texts_are_short(name: str) -> None:
    assert len(COMMANDS[name][0]) < 60
    for path, command in list_leaf_commands(name).items():
        assert command.help, path
        assert len(command.help.partition("\n")[0]) < 60, path
        for parameter in command.params:
            assert getattr(parameter, "help", None), f"{path}: {parameter.name} has no help"
