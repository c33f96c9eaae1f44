"""The sweep of constants: values are replaced in the source and restored, and every listed constant exists."""

import ast
import json
import sys
from pathlib import Path

import pytest
from conftest import ROOT

sys.path.append(str(ROOT / "benchmarks"))
import constants
import constants_list
import constants_tables
from constants_list import Constant

SOURCE = '''"""DEPTH = 9 in a text, é."""
DEPTH = 4  # plies: DEPTH = 4
NEAR, FAR = -3, (1, 2)
class Search:
    WIDTH: int
    WIDTH = 7
def search(DEPTH_LEFT: int) -> int:
    return DEPTH + DEPTH * DEPTH
'''


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("DEPTH", "5", "\nDEPTH = 5  # plies: DEPTH = 4\n"),
        ("NEAR", "0", "\nNEAR, FAR = 0, (1, 2)\n"),
        ("FAR", "()", "\nNEAR, FAR = -3, ()\n"),
        ("WIDTH", "8", "\n    WIDTH = 8\n"),
        ("DEPTH * DEPTH", "1", " return DEPTH + 1\n"),
    ],
)
def test_one_value_is_replaced(name: str, value: str, expected: str) -> None:
    changed = constants.replace_value(SOURCE, name, value)
    assert expected in changed
    assert len(changed.splitlines()) == len(SOURCE.splitlines())


@pytest.mark.parametrize("name", ["BREADTH", "DEPTH_LEFT", "TWICE", "DEPTH / 2", "DEPTH ="])
def test_a_name_that_is_missing_or_assigned_twice_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="must"):
        constants.replace_value(SOURCE + "TWICE = 1\nTWICE = 2\n", name, "1")


@pytest.mark.parametrize("constant", constants_list.ALL, ids=lambda constant: f"{constant.file} {constant.name}")
def test_every_swept_constant_exists_once(constant: Constant) -> None:
    source = constants.read_source(constant)
    present = constants.read_value(source, constant.name)
    assert constant.alternatives and constant.measures
    assert len({present, *constant.alternatives}) == len(constant.alternatives) + 1
    for value in constant.alternatives:
        ast.parse(constants.replace_value(source, constant.name, value))


def test_a_copy_is_restored(tmp_path: Path) -> None:
    constant = next(each for each in constants_list.ALL if each.name == "MAX_OVERTIME_FACTOR")
    copy, seen = constants.PackageCopy(tmp_path), list[str]()
    file = tmp_path / "awello" / constant.file

    class Watching(constants.MeasuringProcesses):
        def run(self, command: list[str], folder: Path) -> dict[str, object]:
            seen.append(constants.read_value((folder / "awello" / constant.file).read_text("utf-8"), constant.name))
            raise RuntimeError

    before = file.read_bytes(), file.stat().st_mtime_ns
    with pytest.raises(RuntimeError):
        copy.measure(constant, "99.0", [], Watching())
    assert seen == ["99.0"] and (file.read_bytes(), file.stat().st_mtime_ns) == before


def test_results_are_kept_and_compared(tmp_path: Path) -> None:
    constant, file = Constant("N", "a.py", ("2",), ("solve",), ""), tmp_path / "results.jsonl"
    results = constants_tables.Results(file)
    results.add(constant, "solve", "1", {"nodes": [100, 200], "seconds": [1.0, 1.0]})
    results.add(constant, "solve", "2", {"nodes": [110, 220], "seconds": [1.0, 0.9]})
    assert [json.loads(line)["value"] for line in file.read_text().splitlines()] == ["1", "2"]
    again = constants_tables.Results(file)
    assert again.find(constant, "solve", "3") is None
    text = constants_tables.describe(again, constant, "solve", "2", "1")
    assert text == "nodes +10.0 % ± 0.0, total +10.0 %, time −5.0 %"
    match = {"points": [2.0, 1.0, 1.5, 0.5], "margins": [8, 0, 2, -2], "flags": [0, 1]}
    text = constants_tables.describe_match(match)
    assert text.startswith("62.5 % ± 31.6 of 8 games, margin +1.00, lost on time 0 : 1")
