"""The user's cache and data folders, atomic writes and file locks."""

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
TEMPORARY_CACHE_VARIABLE = "AWELLO_TEMPORARY_CACHE"  # set so that worker processes use the same folder


def user_cache_folder() -> Path:
    """Return the cache folder: `AWELLO_CACHE`, or the default of the operating system."""
    return _folder("AWELLO_CACHE", "~/Library/Caches", "LOCALAPPDATA", "XDG_CACHE_HOME", "~/.cache")


def user_data_folder() -> Path:
    """Return the folder for the user's data: `AWELLO_DATA`, or the default of the operating system."""
    return _folder("AWELLO_DATA", "~/Library/Application Support", "APPDATA", "XDG_DATA_HOME", "~/.local/share")


def data_file(name: str) -> Path:
    """Return the path of a data file of the package."""
    return Path(__file__).parent / "data" / name


def _folder(variable: str, mac: str, windows: str, unix: str, default: str) -> Path:
    """Return the folder set by an environment variable, or Awello's default folder on this system."""
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
    """Yield a temporary path whose file replaces `path` on success and is removed after an error."""
    target = path.resolve()  # replaces the target of a symbolic link, not the link
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        yield draft
        draft.replace(target)
    except OSError as error:
        if error.filename == str(draft):
            error.filename = str(path)  # errors name the file that the user gave
        raise
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def replace_atomically(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that replaces `path` on success; if the process is killed, `path` keeps its old content."""
    with draft_path(path) as draft, draft.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_atomically(path: Path, data: bytes | str) -> None:
    """Write a file atomically; text is encoded as UTF-8."""
    with replace_atomically(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


@contextmanager
def lock_path(path: Path, wait: bool = True) -> Iterator[None]:
    """Lock a folder or a file; a missing file is created.

    Raises `BlockingIOError` if the path is already locked and `wait` is false. Does nothing on Windows.
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
    """Return the folder `name` in the preferred cache or, if that is not writable, in a private temporary folder."""
    if _is_writable(preferred / name):
        return preferred / name
    folder = _find_temporary_cache() / name
    folder.mkdir(exist_ok=True)
    return folder


def _find_temporary_cache() -> Path:
    """Return a temporary folder that only this user can write to, because it will hold compiled code.

    All processes of a user share one such folder. If the shared folder is not private or not writable, this process and
    its children use a new folder, which is removed on exit.
    """
    if inherited := os.environ.get(TEMPORARY_CACHE_VARIABLE):
        return Path(inherited)
    shared = Path(tempfile.gettempdir()) / f"awello-{getattr(os, 'getuid', int)()}"
    if _is_private(shared) and _is_writable(shared):
        return shared
    created = tempfile.mkdtemp(prefix="awello-")
    atexit.register(shutil.rmtree, created, ignore_errors=True)
    os.environ[TEMPORARY_CACHE_VARIABLE] = created
    problem = f"'{shared}' is not a private, writable folder of this user"
    print(f"awello: using the temporary cache '{created}', because {problem}", file=sys.stderr)
    return Path(created)


def _is_private(folder: Path) -> bool:
    """Return whether only this user can access a folder; create it if it does not exist."""
    try:
        folder.mkdir(PRIVATE_MODE, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    if not hasattr(os, "getuid"):  # Windows: each user has their own temporary folder
        return stat.S_ISDIR(status.st_mode)
    mine = status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) == PRIVATE_MODE
    return stat.S_ISDIR(status.st_mode) and mine


def _is_writable(folder: Path) -> bool:
    """Return whether files can be created in a folder; create it if it does not exist."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True
