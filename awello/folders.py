"""Where Awello keeps things: what can be made again, and what people want to keep."""

import os
import platform
from pathlib import Path


def user_cache() -> Path:
    """The folder for what can be made again: `AWELLO_CACHE`, or the system's usual place."""
    return _folder("AWELLO_CACHE", "~/Library/Caches", "LOCALAPPDATA", "XDG_CACHE_HOME", "~/.cache")


def user_data() -> Path:
    """The folder for what people want to keep: `AWELLO_DATA`, or the system's usual place."""
    return _folder("AWELLO_DATA", "~/Library/Application Support", "APPDATA", "XDG_DATA_HOME", "~/.local/share")


def _folder(chosen: str, mac: str, windows: str, unix: str, usual: str) -> Path:
    """The folder that a variable names, else Awello's in the place of this system."""
    if folder := os.environ.get(chosen):
        return Path(folder).expanduser()
    match platform.system():
        case "Darwin":
            base = mac
        case "Windows":
            base = os.environ.get(windows) or usual
        case _:
            base = os.environ.get(unix) or usual
    return Path(base).expanduser() / "awello"
