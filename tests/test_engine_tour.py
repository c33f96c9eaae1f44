"""The tour of the engine in the documentation: its figures, quotes, names and constants match the code."""

import re
import runpy
from contextlib import redirect_stdout
from importlib import import_module
from io import StringIO
from textwrap import dedent, indent

import pytest
from conftest import ROOT

FOLDER = ROOT / "docs" / "explanation"
PAGE = (FOLDER / "engine.md").read_text("utf-8")
ENGINE = ROOT / "awello" / "engine"
SOURCES = {file: file.read_text("utf-8") for file in sorted(ENGINE.glob("*.py"))}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.M | re.S)


def is_quoted(block: str, source: str) -> bool:
    """Return whether a source contains a block of lines, at any indentation."""
    return any(indent(dedent(block), " " * depth) in source for depth in range(0, 17, 4))


def test_figures_match_the_script() -> None:
    with redirect_stdout(StringIO()) as printed:
        runpy.run_path(str(FOLDER / "trace_engine.py"), run_name="__main__")
    figures = set(printed.getvalue().splitlines())
    shown = [line for block in blocks("text") for line in block.splitlines() if line.strip() not in ("", "...")]
    assert len(shown) > 50
    assert [line for line in shown if line not in figures] == []


def test_quotes_are_code() -> None:
    quotes = [block for block in blocks("python") if ">>>" not in block]
    assert len(quotes) == 2
    assert [quote for quote in quotes if not any(is_quoted(quote, source) for source in SOURCES.values())] == []


LINKS = re.findall(r"\[`([\w.]+)`\]\(([^)]+\.py)\)", PAGE)


@pytest.mark.parametrize(("name", "file"), sorted(set(LINKS)))
def test_linked_names_are_defined_in_the_linked_file(name: str, file: str) -> None:
    source = SOURCES[(FOLDER / file).resolve()]
    for part in name.split("."):
        assert re.search(rf"^ *(def|class) {part}\b", source, re.M), part


def test_names_in_the_page_exist() -> None:
    everything = "\n".join(SOURCES.values())
    names = {part for name in re.findall(r"`~?([A-Za-z_][\w.]+)`", PAGE) for part in name.split(".")}
    assert [name for name in sorted(names) if not re.search(rf"\b{name}\b", everything)] == []


def test_constants_have_their_values() -> None:
    modules = [import_module(f"awello.engine.{file.stem}") for file in SOURCES if file.stem != "__init__"]
    stated = re.findall(r"`([A-Z_]+)` \((-?\d+)\)", PAGE)
    assert len(stated) > 10
    for name, value in stated:
        assert int(value) in {getattr(module, name, None) for module in modules}, name


def test_links_lead_somewhere() -> None:
    names = [re.sub(r"[^\w -]", "", line).lower().replace(" ", "-") for line in re.findall("^#+ (.*)$", PAGE, re.M)]
    for target in re.findall(r"\]\(([^)]+)\)", PAGE):
        file, _, section = target.partition("#")
        assert (FOLDER / file).is_file() if file else section in names, target
