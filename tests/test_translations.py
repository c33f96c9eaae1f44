"""Test that the page's translations are complete in both languages, contain no unused texts, and cover every error."""

import ast
import re
from pathlib import Path

import pytest
from conftest import ROOT

from awello.club.game_state import (
    ABORTED,
    BEHIND_AT_LIMIT,
    DRAW_AGREED,
    DRAW_AT_LIMIT,
    DRAW_CLAIMED,
    LEFT_GAME,
    RESIGNED,
    TIMED_OUT,
)
from awello.record import REASON_TEXTS

STATIC = ROOT / "awello" / "web" / "static"
ENTRY = re.compile(r'^  "((?:[^"\\]|\\.)+)": "((?:[^"\\]|\\.)*)",$', re.M)
OTHERS = re.compile(r"^(export default \{|\};|\s*//.*|)$")
KEY = r"[a-z][a-zA-Z0-9]*(?:\.[^\s\"`$.{}]+)+"


def load_texts(language: str) -> dict[str, str]:
    """Return the texts of a language by key."""
    return dict(ENTRY.findall((STATIC / "js" / "translations" / f"{language}.js").read_text()))


def page_sources() -> dict[Path, str]:
    """Return the content of all files of the page except its translations."""
    files = [*STATIC.glob("js/*.js"), *STATIC.glob("*.html")]
    return {path: path.read_text() for path in files}


ENGLISH, FRENCH = load_texts("en"), load_texts("fr")


@pytest.mark.parametrize("language", ["en", "fr"])
def test_every_line_is_parsed(language: str) -> None:
    text = (STATIC / "js" / "translations" / f"{language}.js").read_text()
    assert [line for line in ENTRY.sub("", text).splitlines() if not OTHERS.match(line)] == []
    keys = [key for key, _ in ENTRY.findall(text)]
    assert len(keys) == len(set(keys)) > 200


def test_languages_have_the_same_keys_and_values() -> None:
    assert list(ENGLISH) == list(FRENCH)
    for key, text in ENGLISH.items():
        values = set(re.findall(r"\{\w+\}", text))
        assert set(re.findall(r"\{\w+\}", FRENCH[key])) == values, key
        assert text.strip() and FRENCH[key].strip(), key


def test_french_is_french() -> None:
    """Long texts are translated, and in French a non-breaking space precedes the marks `?!;:»`."""
    for key, text in ENGLISH.items():
        if len(re.findall(r"[a-z]{3,}", re.sub(r"\{\w+\}", "", text))) >= 3:
            assert FRENCH[key] != text, key
        assert not re.search(r"[^\xa0 ][?!;:»](\s|$)| [?!;:»](\s|$)", FRENCH[key]), f"{key}: no non-breaking space"
        assert "'" not in text + FRENCH[key], f"{key}: not a typographic apostrophe"


def used_keys() -> tuple[set[str], list[re.Pattern[str]]]:
    """Return the keys that the page uses literally, and patterns of the keys that it builds."""
    everything = "\n".join(page_sources().values())
    literal = set(re.findall(rf'"({KEY})"', everything)) | set(re.findall(rf'data-t(?:-\w+)?="({KEY})"', everything))
    made = re.findall(r"`([a-z]+\.[^`]*\$\{[^`]*|[a-z]+\.\$\{[^`]*)`", everything)
    patterns = [re.compile(".+".join(map(re.escape, re.split(r"\$\{[^}]*\}", one)))) for one in made]
    return literal, patterns


def test_every_key_has_a_text() -> None:
    """Keys given to t() or to a data-t attribute exist."""
    for path, text in page_sources().items():
        keys = re.findall(r'\bt\("([^"]+)"', text) + re.findall(r'data-t(?:-\w+)?="([^"]+)"', text)
        keys += [key for key in re.findall(rf'"({KEY})"', text) if key.split(".")[0] in groups() and key != "tree.svg"]
        assert [key for key in keys if key not in ENGLISH] == [], path.name
        for start in re.findall(r"\bt\(`([a-z.]+)\$\{", text):
            assert any(key.startswith(start) for key in ENGLISH), f"{path.name}: {start}"


def groups() -> set[str]:
    """Return the parts of the keys before the first dot."""
    return {key.split(".")[0] for key in ENGLISH}


def test_every_text_is_used() -> None:
    literal, patterns = used_keys()
    unused = [key for key in ENGLISH if key not in literal and not any(one.fullmatch(key) for one in patterns)]
    assert unused == []


# ---- errors ---------------------------------------------------------------------------------------------------------
CODE = re.compile(r"[a-z]+(_[a-z]+)*")
CODE_PLACES = {"ClubError": 0, "ApiError": 1}  # index of the code argument; for other calls, see codes_of()
PAGE_CODES = {"offline", "status", "unexpected", "move", "wait", "link", "file_too_large"}  # errors of the page itself
COMMAND_LINE_CODES = {  # errors that only commands can cause
    "invalid_tournament_name",
    "tournament_name_taken",
    "unknown_system",
    "invalid_rounds",
    "invalid_grace",
    "pairing_closed",
}


def error_codes() -> set[str]:
    """Return the error codes in the sources: arguments of calls that create errors, and values assigned to `code`."""
    trees = [ast.parse(path.read_text()) for path in (ROOT / "awello").rglob("*.py")]
    found = {code for tree in trees for node in ast.walk(tree) for code in codes_of(node)}
    return {code for code in found if CODE.fullmatch(code)}


def codes_of(node: ast.AST) -> list[str]:
    """Return the strings that a call or an assignment uses as error codes."""
    values: list[ast.expr] = []
    if isinstance(node, ast.Assign) and re.match(r"code\b", ast.unparse(node.targets[0]).strip("()")):
        values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
    elif isinstance(node, ast.Call) and re.search("error|conflict", ast.unparse(node.func).lower()):
        place = CODE_PLACES.get(ast.unparse(node.func))
        values = [one.value for one in node.keywords if one.arg == "code"]
        values += [one for one in node.args[:2] if place is None and "_" in ast.unparse(one)]
        values += [] if place is None else node.args[place : place + 1]
    return [str(value.value) for value in values if isinstance(value, ast.Constant)]


def test_every_error_code_has_a_text() -> None:
    codes = error_codes() - COMMAND_LINE_CODES
    assert len(codes) > 50
    assert [code for code in codes if not {f"error.{code}", f"club.error.{code}"} & ENGLISH.keys()] == []


def test_every_end_of_a_club_game_has_a_text() -> None:
    reasons = (RESIGNED, TIMED_OUT, DRAW_AGREED, ABORTED, BEHIND_AT_LIMIT, DRAW_AT_LIMIT, LEFT_GAME, DRAW_CLAIMED)
    keys = {key.removesuffix(".othello").removesuffix(".awale") for key in ENGLISH}
    assert [reason for reason in reasons if f"result.{reason}" not in keys or reason not in REASON_TEXTS] == []


def test_every_error_text_has_a_code() -> None:
    texts = {key.removesuffix(".short").split("error.")[1] for key in ENGLISH if re.match(r"(club\.)?error\.", key)}
    assert texts - error_codes() - PAGE_CODES == set()
