"""Measure the resource use of a player's process tree, and kill the tree.

On Linux, the process tree is read from `/proc` and includes processes that have left their session or process group.  A
process can adopt descendants whose parents have ended (`PR_SET_CHILD_SUBREAPER`), so that they stay in its tree.  On
other systems, a tree consists of its root only, and resource use is not measured.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Iterable
from contextlib import suppress
from glob import glob
from pathlib import Path

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36  # options of prctl(2)


def list_children(pid: int) -> list[int]:
    """List the children of a process, including zombies."""
    found: list[int] = []
    for file in glob(f"/proc/{pid}/task/*/children"):  # noqa: PTH207  (faster; called at each move)
        with suppress(OSError), open(file, "rb") as content:  # noqa: PTH123
            found += map(int, content.read().split())
    return found


def list_descendants(pid: int) -> list[int]:
    """List the descendants of a process."""
    found = list_children(pid)
    for each in found:  # the list grows during the loop
        found += list_children(each)
    return found


def measure_memory(pids: Iterable[int]) -> int:
    """Return the resident memory of processes in bytes; a shared page is divided among all processes that share it."""
    # Before Linux 4.14 there is no smaps_rollup.
    files = [(f"/proc/{pid}/smaps_rollup", f"/proc/{pid}/status") for pid in pids]
    return sum(_read_memory(rollup, "Pss:") or _read_memory(status, "VmRSS:") for rollup, status in files)


def _read_memory(file: str, name: str) -> int:
    with suppress(OSError):
        for line in Path(file).read_text("ascii", "replace").splitlines():
            if line.startswith(name):
                return int(line.split()[1]) << 10
    return 0


def measure_anonymous_memory(pid: int) -> int:
    """Return the anonymous resident memory of a process in bytes."""
    return _read_memory(f"/proc/{pid}/status", "RssAnon:")


def measure_cpu_seconds(pids: Iterable[int]) -> float:
    """Return the CPU time of processes, including their ended children, in seconds."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            fields = (
                Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
            )  # the process name may contain spaces and brackets
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0


def kill_tree(root: int) -> None:
    """Kill a process and its descendants, but not the calling process."""
    if sys.platform == "win32":
        os.kill(root, signal.SIGTERM)
        return
    found = {os.getpid()}
    while fresh := {root, *list_descendants(root)} - found:
        _send(signal.SIGSTOP, fresh)  # a stopped process cannot start others or lose its children
        found |= fresh
    _send(signal.SIGKILL, found - {os.getpid()})


def _send(number: signal.Signals, pids: Iterable[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def describe_exit(status: int) -> str:
    """Describe an exit status: `by SIGKILL`, `with exit status 3`."""
    return f"by {signal.Signals(-status).name}" if status < 0 else f"with exit status {status}"


def adopt_orphans() -> None:
    """Make this process the parent of descendants whose own parents end (Linux only)."""
    if sys.platform == "linux":
        _prctl(PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent ends (Linux only)."""
    if sys.platform == "linux":
        _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)
