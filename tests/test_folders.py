"""Atomic writes: an interruption at any step keeps the old content and leaves no temporary file."""

import os
from pathlib import Path

import pytest

from awello.folders import draft_path, write_atomically


def test_text_and_bytes_replace_the_content(tmp_path: Path) -> None:
    file = tmp_path / "file"
    write_atomically(file, "Awalé\n")
    assert file.read_bytes() == "Awalé\n".encode()
    write_atomically(file, b"\x00\xff")
    assert file.read_bytes() == b"\x00\xff"
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_an_interruption_leaves_the_old_file(
    step: str, error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    file = tmp_path / "file"
    file.write_text("old")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(error):
        write_atomically(file, "new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_atomically(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_an_error_names_the_file_and_not_its_draft(tmp_path: Path) -> None:
    file = tmp_path / "none" / "file"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(file, "text")
    assert caught.value.filename == str(file)


def test_a_draft_replaces_the_file_or_is_removed(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with draft_path(file) as draft:
        draft.write_text("new")
        assert not file.exists() and draft.parent == tmp_path
    with pytest.raises(OSError, match="disk"), draft_path(file) as draft:
        draft.write_text("half")
        raise OSError("the disk is full")
    assert file.read_text() == "new" and list(tmp_path.iterdir()) == [file]
