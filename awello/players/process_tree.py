"""The processes that a player starts: what they use, and how to end them all.

On Linux the tree of processes is read from `/proc`, and a process can adopt the descendants whose parents have ended
(`PR_SET_CHILD_SUBREAPER`), so that programs which leave their session or process group stay in the tree.  Other systems
offer neither to an ordinary user: there a tree consists of its root, nothing is adopted, and nothing is measured.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from glob import glob
from pathlib import Path

SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36  # of prctl(2)


def list_children(pid: int) -> list[int]:
    """The children of a process, ended ones included until their exit status is read."""
    found: list[int] = []
    for file in glob(f"/proc/{pid}/task/*/children"):  # noqa: PTH207  (this is asked for at each move)
        with suppress(OSError), open(file, "rb") as content:  # noqa: PTH123
            found += map(int, content.read().split())
    return found


def list_descendants(pid: int) -> list[int]:
    """The children of a process, their children, and so on."""
    found = list_children(pid)
    for each in found:  # which grows meanwhile
        found += list_children(each)
    return found


def memory_use(pids: Iterable[int]) -> int:
    """The bytes of resident memory of processes; a page shared by several is divided among them."""
    files = [(f"/proc/{pid}/smaps_rollup", f"/proc/{pid}/status") for pid in pids]  # the first needs Linux 4.14
    return sum(_read_memory(rollup, "Pss:") or _read_memory(status, "VmRSS:") for rollup, status in files)


def _read_memory(file: str, name: str) -> int:
    with suppress(OSError):
        for line in Path(file).read_text("ascii", "replace").splitlines():
            if line.startswith(name):
                return int(line.split()[1]) << 10
    return 0


def anonymous_memory_use(pid: int) -> int:
    """The bytes of resident memory of a process that no file backs."""
    return _read_memory(f"/proc/{pid}/status", "RssAnon:")


def cpu_time(pids: Iterable[int]) -> float:
    """The seconds of processor time of processes, and of their children that have ended."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()  # the name may hold anything
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


def kill_tree(root: int) -> None:
    """Kill a process, unless it is the calling one, and its descendants."""
    if sys.platform == "win32":
        os.kill(root, signal.SIGTERM)
        return
    found = {os.getpid()}
    while fresh := {root, *list_descendants(root)} - found:
        _send(signal.SIGSTOP, fresh)  # a process that is stopped starts no other, and its children stay its children
        found |= fresh
    _send(signal.SIGKILL, found - {os.getpid()})


def _send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def describe_exit(status: int) -> str:
    """How a process ended, for people."""
    return f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"


def adopt_orphans() -> None:
    """Become the parent of each descendant whose own parent ends."""
    if sys.platform == "linux":
        _prctl(SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Be killed when the parent process ends."""
    if sys.platform == "linux":
        _prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
