"""The words of the page: both languages say the same things, and nothing is said that is not asked for."""

import re
from pathlib import Path

import pytest
from conftest import ROOT

STATIC = ROOT / "awello" / "web" / "static"
ENTRY = re.compile(r'^  "((?:[^"\\]|\\.)+)": "((?:[^"\\]|\\.)*)",$', re.M)
OTHERS = re.compile(r"^(export default \{|\};|\s*//.*|)$")
KEY = r"[a-z][a-zA-Z0-9]*(?:\.[^\s\"`$.{}]+)+"


def words(language: str) -> dict[str, str]:
    """The texts of a language by key."""
    return dict(ENTRY.findall((STATIC / "js" / "translations" / f"{language}.js").read_text()))


def sources() -> dict[Path, str]:
    """All of the page but its words."""
    files = [*STATIC.glob("js/*.js"), *STATIC.glob("*.html")]
    return {path: path.read_text() for path in files}


ENGLISH, FRENCH = words("en"), words("fr")


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_line_is_understood(language: str) -> None:
    text = (STATIC / "js" / "translations" / f"{language}.js").read_text()
    assert [line for line in ENTRY.sub("", text).splitlines() if not OTHERS.match(line)] == []
    keys = [key for key, _ in ENTRY.findall(text)]
    assert len(keys) == len(set(keys)) > 200


def test_both_languages_say_the_same() -> None:
    assert list(ENGLISH) == list(FRENCH)
    for key, text in ENGLISH.items():
        values = set(re.findall(r"\{\w+\}", text))
        assert set(re.findall(r"\{\w+\}", FRENCH[key])) == values, key
        assert text.strip() and FRENCH[key].strip(), key


def test_french_is_french() -> None:
    """Long texts differ, and signs are spaced as in French."""
    for key, text in ENGLISH.items():
        if len(re.findall(r"[a-z]{3,}", re.sub(r"\{\w+\}", "", text))) >= 3:
            assert FRENCH[key] != text, key
        assert not re.search(r"\w[?!;:](\s|$)", FRENCH[key]), FRENCH[key]
        assert "'" not in text + FRENCH[key], f"{key}: a typewriter's apostrophe"


def asked_for() -> tuple[set[str], list[re.Pattern[str]]]:
    """The keys that the page asks for as they stand, and patterns of those that it puts together."""
    everything = "\n".join(sources().values())
    literal = set(re.findall(rf'"({KEY})"', everything)) | set(re.findall(rf'data-t(?:-\w+)?="({KEY})"', everything))
    made = re.findall(r"`([a-z]+\.[^`]*\$\{[^`]*|[a-z]+\.\$\{[^`]*)`", everything)
    patterns = [re.compile(".+".join(map(re.escape, re.split(r"\$\{[^}]*\}", one)))) for one in made]
    return literal, patterns


def test_every_key_has_a_text() -> None:
    """Whatever is given to t() or to a data-t attribute is in the list."""
    for path, text in sources().items():
        keys = re.findall(r'\bt\("([^"]+)"', text) + re.findall(r'data-t(?:-\w+)?="([^"]+)"', text)
        keys += [key for key in re.findall(rf'"({KEY})"', text) if key.split(".")[0] in groups() and key != "tree.svg"]
        assert [key for key in keys if key not in ENGLISH] == [], path.name
        for start in re.findall(r"\bt\(`([a-z.]+)\$\{", text):
            assert any(key.startswith(start) for key in ENGLISH), f"{path.name}: {start}"


def groups() -> set[str]:
    """The first words of the keys."""
    return {key.split(".")[0] for key in ENGLISH}


def test_every_text_is_asked_for() -> None:
    literal, patterns = asked_for()
    unused = [key for key in ENGLISH if key not in literal and not any(one.fullmatch(key) for one in patterns)]
    assert unused == []
