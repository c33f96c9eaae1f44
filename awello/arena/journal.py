"""The journal of a long run: a folder with its configuration and one line of JSON per finished job.

A run with the same configuration continues where the journal ends; another one is refused.  A line is written when its
job ends, so SIGKILL costs no more than the jobs in progress.  Only one process at a time may write to a journal.
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
    """The folder of a run; `done` are the results that it held when it was opened."""

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
                raise ConfigError(f"{self.folder} is a file: name a folder with --out") from None
            except OSError as error:
                raise ConfigError(f"cannot write to {self.folder}: {error.strerror}") from None
            self._lock = lock.pop_all()
        return self

    def _check_configuration(self) -> None:
        """Refuse a folder of something else."""
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
            raise ConfigError(
                f"{self.folder} holds another {self.kind} ({changed}): choose another --out, or remove it"
            )

    def _read(self) -> list[Any]:
        """The results so far; a line cut short by an interruption is removed."""
        if not self.lines.exists():
            return []
        lines = self.lines.read_bytes().splitlines(keepends=True)  # a cut may go through a letter
        whole = [line for line in lines if line.endswith(b"\n")]
        if whole != lines:
            write_atomically(self.lines, b"".join(whole))
        try:
            return [json.loads(line) for line in whole]
        except ValueError:
            raise ConfigError(f"{self.lines} is damaged: choose another --out, or remove the folder") from None

    def write(self, result: Mapping[str, Any]) -> None:
        """Append a result; the first one writes the configuration too."""
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
                self.folder.rmdir()  # nothing was done: leave nothing behind
        self._lock.close()
