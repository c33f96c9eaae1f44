"""The folders that Awello writes to (a cache, and data to keep), and how to write a file atomically."""

import atexit
import os
import platform
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PRIVATE_MODE = 0o700
TEMPORARY_CACHE_VARIABLE = "AWELLO_TEMPORARY_CACHE"  # tells worker processes which temporary folder their parent made


def user_cache_folder() -> Path:
    """The folder for what can be made again: `AWELLO_CACHE`, or the system's usual place."""
    return _folder("AWELLO_CACHE", "~/Library/Caches", "LOCALAPPDATA", "XDG_CACHE_HOME", "~/.cache")


def user_data_folder() -> Path:
    """The folder for what people want to keep: `AWELLO_DATA`, or the system's usual place."""
    return _folder("AWELLO_DATA", "~/Library/Application Support", "APPDATA", "XDG_DATA_HOME", "~/.local/share")


def data_file(name: str) -> Path:
    """A file that Awello ships."""
    return Path(__file__).parent / "data" / name


def _folder(variable: str, mac: str, windows: str, unix: str, default: str) -> Path:
    """The folder that a variable names, else Awello's in the place of this system."""
    if folder := os.environ.get(variable):
        return Path(folder).expanduser()
    match platform.system():
        case "Darwin":
            base = mac
        case "Windows":
            base = os.environ.get(windows) or default
        case _:
            base = os.environ.get(unix) or default
    return Path(base).expanduser() / "awello"


@contextmanager
def draft_path(path: Path) -> Iterator[Path]:
    """The path of a file to write, which replaces `path` at the end, or is removed after an error."""
    path = path.resolve()  # so that a link stays a link
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield draft
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def replace_atomically(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which replaces `path` at the end: if the process is killed, the file is the old or the new."""
    with draft_path(path) as draft, draft.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_atomically(path: Path, data: bytes | str) -> None:
    """Replace the content of a file (text as UTF-8) as a whole or not at all."""
    with replace_atomically(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def lock_path(path: Path, wait: bool = True) -> Iterator[None]:
    """Hold the lock of a folder, or of a file that is created; `BlockingIOError` if it is taken and `wait` is false.

    There are no such locks on Windows.
    """
    if fcntl is None:
        yield
        return
    lock = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(lock)


@cache
def writable_cache_folder(preferred: Path, name: str) -> Path:
    """The folder of this name in the usual cache if files can be made in it, else in a private temporary folder."""
    if _is_writable(preferred / name):
        return preferred / name
    folder = _find_temporary_cache() / name
    folder.mkdir(exist_ok=True)
    return folder


def _find_temporary_cache() -> Path:
    """A shared folder that only this user can write, because compiled code is loaded from it.

    If others own it or can write to it, this process and the ones it starts share a inherited one, removed at the end.
    """
    if inherited := os.environ.get(TEMPORARY_CACHE_VARIABLE):
        return Path(inherited)
    shared = Path(tempfile.gettempdir()) / f"awello-{getattr(os, 'getuid', int)()}"
    if _is_private(shared) and _is_writable(shared):
        return shared
    created = tempfile.mkdtemp(prefix="awello-")
    atexit.register(shutil.rmtree, created, ignore_errors=True)
    os.environ[TEMPORARY_CACHE_VARIABLE] = created
    print(f"awello: '{shared}' is not a private folder of this user: using '{created}' for this run", file=sys.stderr)
    return Path(created)


def _is_private(folder: Path) -> bool:
    """Whether it is a folder of this user that nobody else can enter; it is made if it does not exist."""
    try:
        folder.mkdir(PRIVATE_MODE, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):  # Windows: each user has a temporary folder of their own
        return stat.S_ISDIR(status.st_mode)
    mine = status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == PRIVATE_MODE
    return stat.S_ISDIR(status.st_mode) and mine


def _is_writable(folder: Path) -> bool:
    """Whether files can be made in a folder; it is made if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
