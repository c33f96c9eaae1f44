"""The journal of a run: a folder with its configuration and one line of JSON per finished job.

A run with the same configuration resumes at the end of the journal; other runs are refused.  The runner writes
results in order, each as soon as possible, so SIGKILL loses only the jobs in progress and results that wait for an
earlier one.  Only one process at a time may write to a journal.
"""

import json
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self, TextIO

from awello.errors import ConfigError
from awello.folders import lock_path, write_atomically

JOURNAL_FILE = "games.jsonl"


class Journal:
    """The folder of a run; `results` holds the results that were in the folder when it was opened."""

    def __init__(self, folder: Path, kind: str, configuration: Mapping[str, Any]) -> None:
        self.folder, self.lines = folder, folder / JOURNAL_FILE
        self.kind, self.configuration = kind, json.loads(json.dumps(configuration))
        self.results: list[Any] = []
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        self._is_new = not self.folder.exists()
        with ExitStack() as lock:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                lock.enter_context(lock_path(self.folder, wait=False))
                self._check_configuration()
                self.results = self._read()
            except BlockingIOError:
                advice = "wait for it, or choose another --out"
                raise ConfigError(f"another process is writing to {self.folder}: {advice}") from None
            except FileExistsError:
                raise ConfigError(f"{self.folder} is a file: give a folder with --out") from None
            except OSError as error:
                raise ConfigError(f"cannot write to {self.folder}: {error.strerror}; choose another --out") from None
            self._lock = lock.pop_all()
        return self

    def _check_configuration(self) -> None:
        """Raise `ConfigError` if the folder belongs to another run."""
        file = self.folder / "configuration.json"
        if not file.exists():
            return
        try:
            stored = dict(json.loads(file.read_text("utf-8")))
        except (ValueError, TypeError):
            raise ConfigError(f"{file} is damaged: choose another --out, or remove the folder") from None
        names = sorted({*stored, *self.configuration})
        if differing := [name for name in names if stored.get(name) != self.configuration.get(name)]:
            changed = ", ".join(differing)
            advice = "choose another --out, or remove the folder"
            raise ConfigError(f"{self.folder} contains another {self.kind} (different {changed}): {advice}")

    def _read(self) -> list[Any]:
        """Read the results so far; remove an incomplete last line."""
        if not self.lines.exists():
            return []
        lines = self.lines.read_bytes().splitlines(
            keepends=True
        )  # bytes, because the last line may end in the middle of a character
        whole = [line for line in lines if line.endswith(b"\n")]
        if whole != lines:
            write_atomically(self.lines, b"".join(whole))
        try:
            return [json.loads(line) for line in whole]
        except ValueError:
            raise ConfigError(f"{self.lines} is damaged: choose another --out, or remove the folder") from None

    def write(self, result: Mapping[str, Any]) -> None:
        """Append a result; the first call also writes the configuration."""
        if self._file is None:
            text = json.dumps(self.configuration, indent=2, ensure_ascii=False)
            write_atomically(self.folder / "configuration.json", text + "\n")
            self._file = self.lines.open("a", encoding="utf-8")
        self._file.write(json.dumps(result, ensure_ascii=False) + "\n")
        self._file.flush()

    def __exit__(self, *error: object) -> None:
        if self._file:
            self._file.close()
        elif self._is_new:
            with suppress(OSError):
                self.folder.rmdir()  # nothing was written: remove the empty folder
        self._lock.close()
