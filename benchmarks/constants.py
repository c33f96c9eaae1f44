"""Sweep the constants of the engines: compare each value with alternatives.

    python benchmarks/constants.py [NAME ...] [--only MEASURE ...] [--jobs 2] [--out FILE.jsonl]
    python benchmarks/constants.py --tables [--out FILE.jsonl]

Constants are compiled into kernels, so a sweep works on copies of the package: it replaces one value in the source,
measures in a separate process (`constants_measures.py`) and restores the value.  Each copy keeps its kernel cache, so
only changes in kernel files cause compilation.  Results are appended to a JSON Lines file; run the same command again
to resume an interrupted sweep.  `--tables` prints the results as Markdown.
"""

import argparse
import ast
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from constants_list import ALL, MATCHES, Constant
from constants_tables import Results, print_tables

ROOT = Path(__file__).resolve().parent.parent
MEASURE_SCRIPT = Path(__file__).with_name("constants_measures.py")


# ---- values in source text ------------------------------------------------------------------------------------------
def find_value(source: str, name: str) -> tuple[int, int]:
    """Return the start and end of the value of a constant; raise `ValueError` unless it is assigned exactly once.

    The constant may be one of several that are assigned together.  A `name` that is not an identifier is an expression,
    which must occur exactly once in the source.
    """
    if not name.isidentifier():
        if source.count(name) != 1:
            raise ValueError(f"{name!r} occurs {source.count(name)} times in the source: it must occur once")
        return source.index(name), source.index(name) + len(name)
    found = [value for node in ast.walk(ast.parse(source)) for value in _find_values(node, name)]
    if len(found) != 1:
        raise ValueError(f"{name} is assigned {len(found)} times: it must be assigned once")
    value = found[0]
    begin, text = _find_offset(source, value.lineno, value.col_offset), ast.get_source_segment(source, value)
    return begin, begin + len(text or "")


def _find_values(node: ast.AST, name: str) -> Iterable[ast.expr]:
    """Yield the values that an assignment gives to a name."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            yield from (value for variable, value in pairs if isinstance(variable, ast.Name) and variable.id == name)


def _find_offset(source: str, line: int, column: int) -> int:
    """Return the index of a character of the source; `ast` counts columns in bytes."""
    lines = source.splitlines(keepends=True)
    return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())


def read_value(source: str, name: str) -> str:
    """Return the value of a constant as source text."""
    begin, end = find_value(source, name)
    return source[begin:end]


def replace_value(source: str, name: str, value: str) -> str:
    """Replace the value of a constant in source text; return the new text."""
    begin, end = find_value(source, name)
    return source[:begin] + value + source[end:]


def read_source(constant: Constant) -> str:
    """Read the source file of a constant."""
    return (ROOT / "awello" / constant.file).read_text("utf-8")


# ---- copies of the package ------------------------------------------------------------------------------------------
class PackageCopy:
    """A copy of the package with its own cache, in which one value at a time is replaced."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "awello", folder / "awello", ignore=shutil.ignore_patterns("__pycache__", "web"))

    def measure(
        self, constant: Constant, value: str, command: list[str], processes: "MeasuringProcesses"
    ) -> dict[str, Any]:
        """Run a measuring process with the given value of a constant, then restore the file."""
        file = self.folder / "awello" / constant.file
        before, times = file.read_text("utf-8"), (file.stat().st_atime_ns, file.stat().st_mtime_ns)
        changed = replace_value(before, constant.name, value)
        try:
            if changed != before:
                file.write_text(changed, "utf-8")
                # the modification time depends only on the content, so the kernels of this value stay in the cache
                os.utime(file, ns=(times[0], zlib.crc32(changed.encode())))
            return processes.run(command, self.folder)
        finally:
            file.write_text(before, "utf-8")
            os.utime(file, ns=times)  # Numba's cache compares modification times


class MeasuringProcesses:
    """The processes that measure the engine, each with a given value of a constant."""

    def __init__(self) -> None:
        self.processes: set[subprocess.Popen[str]] = set()
        self.stopped = threading.Event()

    def run(self, command: list[str], folder: Path) -> dict[str, Any]:
        """Run a measuring process and return its result."""
        if self.stopped.is_set():
            raise InterruptedError
        environment = {**os.environ, "PYTHONPATH": str(folder), "AWELLO_CACHE": str(folder / "cache")}
        process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )
        self.processes.add(process)
        out, errors = process.communicate()
        self.processes.discard(process)
        if self.stopped.is_set():
            raise InterruptedError
        if process.returncode:
            raise RuntimeError(errors[-2000:])
        result: dict[str, Any] = json.loads(out.splitlines()[-1])
        return result

    def stop(self) -> None:
        """Kill all processes and their children."""
        self.stopped.set()
        for process in list(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


# ---- a sweep --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Job:
    """A value of a constant, and the name of the measurement to make with it."""

    constant: Constant
    measure: str
    value: str


def list_jobs(constants: Iterable[Constant], only: Iterable[str], alternatives: Iterable[str] = ()) -> list[list[Job]]:
    """Return the jobs of each constant, the current value first; matches have jobs only for the alternatives."""
    groups = []
    for constant in constants:
        present = read_value(read_source(constant), constant.name)
        measures = [measure for measure in constant.measures if not only or measure in only]
        values = [value for value in constant.alternatives if not alternatives or value in alternatives]
        jobs = [Job(constant, measure, value) for value in (present, *values) for measure in measures]
        groups.append([job for job in jobs if job.value != present or job.measure not in MATCHES])
    return groups


class Sweep:
    """All jobs of a sweep, their results in a file, and the progress."""

    def __init__(self, args: argparse.Namespace, groups: list[list[Job]], folder: Path) -> None:
        self.args, self.groups, self.folder = args, groups, folder
        self.results, self.processes, self.lock = Results(args.out), MeasuringProcesses(), threading.Lock()
        self.copies: queue.SimpleQueue[PackageCopy] = queue.SimpleQueue()
        self.started, self.done, self.total = time.monotonic(), 0, 0

    def run(self) -> None:
        """Run all jobs that have no result yet."""
        for number in range(self.args.jobs):
            self.copies.put(PackageCopy(self.folder / str(number)))
        base = PackageCopy(self.folder / "base")
        groups = [[job for job in group if not self.has_result(job)] for group in self.groups]
        self.total = sum(map(len, groups))
        with ThreadPoolExecutor(self.args.jobs) as pool:
            futures = [pool.submit(self.run_group, group, base) for group in groups if group]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                self.processes.stop()
                pool.shutdown(cancel_futures=True)
                raise

    def has_result(self, job: Job) -> bool:
        """Return whether a job has a result."""
        return self.results.find(job.constant, job.measure, job.value) is not None

    def run_group(self, group: list[Job], base: PackageCopy) -> None:
        """Run the jobs of one constant, one after the other in one copy."""
        copy = self.copies.get()
        try:
            for job in group:
                try:
                    result = copy.measure(job.constant, job.value, self.command(job, base), self.processes)
                except RuntimeError as error:  # continue with the next value
                    print(f"{job.measure}: {job.constant.name} = {job.value} failed: {error}", file=sys.stderr)
                    continue
                with self.lock:
                    self.results.add(job.constant, job.measure, job.value, result)
                    self.report_progress(job)
        finally:
            self.copies.put(copy)

    def command(self, job: Job, base: PackageCopy) -> list[str]:
        """Return the command of the process that runs a job."""
        args = self.args
        options = {"--data": args.data, "--base": base.folder, "--pairs": args.pairs, "--runs": args.runs}
        words = [str(word) for option in options.items() for word in option]
        return [sys.executable, str(MEASURE_SCRIPT), job.measure, *words, *["--quick"] * args.quick]

    def report_progress(self, job: Job) -> None:
        """Print the finished job and the estimated remaining time to stderr."""
        self.done += 1
        left = (time.monotonic() - self.started) / self.done * (self.total - self.done)
        line = f"{self.done}/{self.total}  {job.measure}: {job.constant.name} = {job.value}"
        print(f"{line}  (about {left / 60:.0f} min left)", file=sys.stderr, flush=True)


def main() -> None:
    """Run a sweep, or print the results of one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="constants to sweep (default: all)")
    parser.add_argument("--only", nargs="+", default=[], metavar="MEASURE", help="what to measure (default: all)")
    parser.add_argument("--values", nargs="+", default=[], help="values to try (default: all listed)")
    parser.add_argument("--jobs", type=int, default=2, help="values measured at the same time (default: 2)")
    parser.add_argument("--pairs", type=int, default=100, help="openings of a match, each played twice (default: 100)")
    parser.add_argument("--runs", type=int, default=2, help="searches per position; the fastest counts (default: 2)")
    parser.add_argument("--quick", action="store_true", help="use fewer positions")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder of test data")
    parser.add_argument("--out", type=Path, default=Path("constants.jsonl"), help="file (default: constants.jsonl)")
    parser.add_argument("--tables", action="store_true", help="print the results as Markdown instead")
    args = parser.parse_args()
    if unknown := set(args.names) - {constant.name for constant in ALL}:
        parser.error(f"unknown constants: {', '.join(sorted(unknown))}; see benchmarks/constants_list.py")
    chosen = [constant for constant in ALL if not args.names or constant.name in args.names]
    if args.tables:
        print_tables(
            Results(args.out), {constant: read_value(read_source(constant), constant.name) for constant in chosen}
        )
        return
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # also in a background job, where SIGINT is ignored
    with tempfile.TemporaryDirectory(prefix="awello-constants-") as folder:
        try:
            Sweep(args, list_jobs(chosen, args.only, args.values), Path(folder)).run()
        except (KeyboardInterrupt, InterruptedError):
            sys.exit(f"interrupted: run the same command again to resume; results so far are in {args.out}")


if __name__ == "__main__":
    main()
