"""Errors of the club: the page has a text for each code, and the error has a value for each placeholder of the text."""

import ast
import re
from collections import defaultdict
from pathlib import Path

from conftest import ROOT
from test_translations import ENGLISH

SOURCES = [*(ROOT / "awello" / "club").glob("*.py"), *(ROOT / "awello" / "web").glob("*.py")]
ON_CLUB_PAGES = ("accounts_api.py", "club_connection.py", "club_service.py")
COMMANDS_ONLY = {
    "invalid_grace",
    "invalid_rounds",
    "invalid_tournament_name",
    "pairing_closed",
    "tournament_name_taken",
    "unknown_system",
}


def raised(file: Path) -> list[tuple[str, set[str]]]:
    """Return, for every error created in a file, its code and the names of the values passed for the placeholders."""
    errors = []
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            position = {"ClubError": 0, "Refusal": 1, "ApiError": 1}.get(node.func.id)
            code = node.args[position] if position is not None and len(node.args) > position else None
            if isinstance(code, ast.Constant) and (file.parent.name == "club" or file.name in ON_CLUB_PAGES):
                errors.append((str(code.value), {str(keyword.arg) for keyword in node.keywords}))
    return errors


def test_every_error_has_a_text_on_the_page() -> None:
    values = defaultdict(list)
    for file in SOURCES:
        for code, names in raised(file):
            values[code].append(names)
    assert len(values) > 60
    for code in values.keys() - COMMANDS_ONLY:
        text = ENGLISH.get(f"club.error.{code}") or ENGLISH[f"error.{code}"]
        placeholders = set(re.findall(r"\{(\w+)\}", text))
        assert all(placeholders <= names for names in values[code]), code
