"""The notebooks of the docs: well-formed, executed from top to bottom, and up to date."""

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest
from conftest import ROOT

FOLDER = ROOT / "docs" / "notebooks"
NAMES = ["bitboards", "network"]
MOST = 400_000  # the maximum size of a notebook, in bytes

Cell = dict[str, Any]


def cells_of(name: str) -> list[Cell]:
    cells: list[Cell] = json.loads((FOLDER / f"{name}.ipynb").read_text("utf-8"))["cells"]
    return cells


def code_of(name: str) -> list[Cell]:
    return [cell for cell in cells_of(name) if cell["cell_type"] == "code"]


def shown(cell: Cell) -> str:
    """Return the text that a cell printed."""
    return "".join("".join(output["text"]) for output in cell["outputs"] if output["output_type"] == "stream")


def test_all_are_tested() -> None:
    assert sorted(file.stem for file in FOLDER.glob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_form(name: str) -> None:
    file = FOLDER / f"{name}.ipynb"
    notebook = json.loads(file.read_text("utf-8"))
    assert file.stat().st_size < MOST
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"
    cells = notebook["cells"]
    assert len({cell["id"] for cell in cells}) == len(cells)
    for cell in cells:
        more = {"execution_count", "outputs"} if cell["cell_type"] == "code" else set()
        assert cell.keys() == {"cell_type", "id", "metadata", "source"} | more
        assert cell["cell_type"] in ("code", "markdown")


@pytest.mark.parametrize("name", NAMES)
def test_every_cell_was_run_in_order(name: str) -> None:
    cells = code_of(name)
    assert [cell["execution_count"] for cell in cells] == [*range(1, len(cells) + 1)]
    for cell in cells:
        for output in cell["outputs"]:
            assert output["output_type"] in ("stream", "display_data", "execute_result")
            assert output.get("name", "stdout") == "stdout"  # a warning would be an output named `stderr`


@pytest.mark.parametrize("name", NAMES)
def test_nothing_tells_of_the_machine(name: str) -> None:
    for cell in code_of(name):
        said = shown(cell) + "".join(
            "".join(output["data"].get("text/plain", "")) for output in cell["outputs"] if "data" in output
        )
        assert not re.search(r"(^|[\s'\"(])(/\w|[A-Z]:\\)| at 0x|\b\d{1,2}:\d\d\b", said), said


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    for cell in cells_of(name):
        if cell["cell_type"] == "markdown":
            for link in re.findall(r"\]\(([^)\s]+)\)", "".join(cell["source"])):
                assert (FOLDER / link).exists(), link


def run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the cells without Jupyter; in `bitboards`, check the output of cells that show no times or source code."""
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.chdir(FOLDER)
    pyplot.switch_backend("agg")
    names: dict[str, Any] = {"__name__": name}
    for cell in code_of(name):
        source, said = "".join(cell["source"]), StringIO()
        with redirect_stdout(said):
            exec(compile(source, f"cell {cell['execution_count']} of {name}", "exec"), names)
        if name == "bitboards" and not re.search(r"perf_counter\(\)|source_of\(", source):
            assert said.getvalue() == shown(cell), (
                f"the output of cell {cell['execution_count']} has changed: run 'make notebooks'"
            )
    pyplot.close("all")


def test_bitboards_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    run("bitboards", monkeypatch)


@pytest.mark.slow
def test_network_is_true(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("torch", "onnx", "onnxruntime"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    run("network", monkeypatch)
