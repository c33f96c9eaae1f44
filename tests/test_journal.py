"""The journal of a run stays intact if the process is killed at any time."""

import json
import os
from pathlib import Path

import pytest

from awello.arena.journal import Journal
from awello.errors import ConfigError


def open_journal(folder: Path) -> Journal:
    return Journal(folder, "work", {"seed": 1})


def fail(*_: object) -> None:
    raise OSError(5, "killed")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_repair_that_fails_keeps_all_lines(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_journal(tmp_path) as first:
        first.write({"part": 1})
    lines = tmp_path / "games.jsonl"
    with lines.open("a") as file:
        file.write('{"part": 2')
    before = lines.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(os, step, fail)
        with pytest.raises(ConfigError, match="cannot write to"), open_journal(tmp_path):
            pass
    assert lines.read_bytes() == before
    with open_journal(tmp_path) as again:
        assert again.results == [{"part": 1}]
    assert lines.read_bytes() == b'{"part": 1}\n'


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_the_configuration_is_whole_or_absent(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    with monkeypatch.context() as patch, open_journal(folder) as first:
        patch.setattr(os, step, fail)
        with pytest.raises(OSError, match="killed"):
            first.write({"part": 1})
    assert not folder.exists()
    with open_journal(folder) as again:
        again.write({"part": 1})
    assert json.loads((folder / "configuration.json").read_text())["seed"] == 1
    assert sorted(file.name for file in folder.iterdir()) == ["configuration.json", "games.jsonl"]


def test_only_one_process_writes_to_a_folder(tmp_path: Path) -> None:
    with open_journal(tmp_path) as first:
        first.write({"part": 1})
        with pytest.raises(ConfigError, match="another process is writing"), open_journal(tmp_path):
            pass
        first.write({"part": 2})
    with open_journal(tmp_path) as again:
        assert len(again.results) == 2


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="is a file: give a folder with --out"), open_journal(tmp_path / "file"):
        pass
