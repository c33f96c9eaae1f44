"""Kernels: compiled and uncompiled results agree; cached kernels are reused until a source file changes."""

import ast
import itertools
import json
import random
import re
from pathlib import Path
from typing import Any

import numba
import pytest
from conftest import fresh_awello, run

from awello import bits, kernel
from awello.kernel import KERNEL_SOURCES, PACKAGE, U

CHANCE = random.Random(5)
WORDS = [U(CHANCE.getrandbits(64) & CHANCE.getrandbits(64)) for _ in range(200)] + [U(1), U(1 << 63), U(bits.ALL_BITS)]
PAIRS = [(one, U(int(two) & ~int(one))) for one, two in itertools.pairwise(WORDS)]
MODULES_WITHOUT_KERNELS = ("awello.errors", "awello.folders")  # allowed, because no kernel uses them
ARGUMENTS: dict[str, list[tuple[Any, ...]]] = {
    **{
        name: [(word,) for word in WORDS]
        for name in ("popcount", "bit_scan", "leading_zeros", "clear_lowest_bit", "byte_swap", "to_signed")
    },
    "bit": [(index,) for index in range(64)],
    "find_moves": list(PAIRS),
    "multiply_shift": [(*pair, *WORDS[n : n + 4]) for n, pair in enumerate(PAIRS[:-2])],
    "find_flips": [
        (*pair, square) for pair in PAIRS[:40] for square in range(64) if not int(pair[0] | pair[1]) >> square & 1
    ],
}


def test_every_instruction_is_compared() -> None:
    assert ARGUMENTS.keys() == {name for name, value in vars(bits).items() if hasattr(value, "py_func")}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_instructions_agree_with_their_python_functions(name: str) -> None:
    instruction = getattr(bits, name)
    compiled = numba.njit(lambda *words: instruction(*words))
    for words in ARGUMENTS[name]:
        assert int(compiled(*words)) == int(instruction.py_func(*words))


def test_uncompiled_kernels_print_the_same_results() -> None:
    compiled, plain = run("tests/kernel_results.py"), run("tests/kernel_results.py", NUMBA_DISABLE_JIT="1")
    assert compiled.returncode == plain.returncode == 0, plain.stderr
    assert compiled.stdout.splitlines() == plain.stdout.splitlines()
    assert len(plain.stdout.splitlines()) > 1000


def test_kernel_files_import_only_kernel_files() -> None:
    """Cached kernels are reused until a kernel file changes, so kernels must not depend on other files."""
    kernel_modules = {".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts) for file in KERNEL_SOURCES}
    for source in KERNEL_SOURCES:
        for node in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("awello"):
                modules = {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
                assert modules & kernel_modules or node.module in MODULES_WITHOUT_KERNELS, (
                    f"{source.name} imports {node.module}"
                )


def test_no_other_module_compiles() -> None:
    for source in PACKAGE.rglob("*.py"):
        if source.name != "kernel.py":
            assert not re.search(r"\bn?jit\b", source.read_text("utf-8")), source


def test_recursive_calls_pass_no_literals() -> None:
    """A literal in a recursive call aborts the process when the kernel is loaded from the cache."""
    for source in KERNEL_SOURCES:
        for function in ast.walk(ast.parse(source.read_text("utf-8"))):
            if isinstance(function, ast.FunctionDef):
                for call in ast.walk(function):
                    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == function.name:
                        assert not any(isinstance(argument, ast.Constant) for argument in call.args), function.name


def test_the_cache_folder_changes_with_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWELLO_CACHE", str(tmp_path))
    source = tmp_path / "rules.py"
    source.write_text("ONE = 1")
    before = kernel._cache_folder([source])
    assert kernel._cache_folder([source]) == before
    source.write_text("ONE = 2")
    assert kernel._cache_folder([source]) != before


def test_a_read_only_cache_is_tolerated(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    done = fresh_awello("perft", "othello", "3", AWELLO_CACHE=str(tmp_path / "file"))
    assert done.returncode == 0, done.stderr
    assert "56 leaves" in done.stdout


@pytest.mark.slow
def test_a_damaged_cache_is_rebuilt(tmp_path: Path) -> None:
    words = ("perft", "othello", "3")
    assert fresh_awello(*words, AWELLO_CACHE=str(tmp_path)).returncode == 0
    for file in tmp_path.rglob("*.nb?"):
        file.write_bytes(b"" if file.suffix == ".nbc" else b"junk")
    again, third = (fresh_awello(*words, AWELLO_CACHE=str(tmp_path)) for _ in range(2))
    assert again.returncode == 0, again.stderr
    assert "compiling" in again.stderr
    assert "compiling" not in third.stderr


ENTRY_POINTS = [
    ("perft", "othello", "5"),
    ("match", "awale", "greedy", "random", "--games", "4", "--jobs", "2"),
    ("analyse", "f5d6c3d3c4", "--limit", "2"),
    ("run", "examples/run.yaml", "--json"),
    ("perft", "awale", "5", "--variant", "romein"),
    ("match", "othello", "random", "greedy", "--games", "2"),
    ("play", "othello", "--first", "random", "--second", "greedy", "--size", "4"),
    ("match", "othello", "minimax@2", "alphabeta:mixed@3", "--games", "2"),
    ("match", "awale", "negamax@2", "negamax-alphabeta@3,tt_entries=0,move_ordering=false", "--games", "2"),
    ("tree", "othello", "--search", "negamax@2"),
    ("players",),
    ("solve", "othello", "start", "--size", "4"),
    ("match", "othello", "champion@level=1", "random", "--games", "2"),
    ("match", "awale", "puct@50n", "random", "--games", "2"),
    ("warmup",),
]


@pytest.fixture(scope="module")
def warm_cache() -> None:
    """Fill the default cache in another process, if it is not filled yet."""
    filled = fresh_awello("warmup")
    assert filled.returncode == 0, filled.stderr


RUN_ALL = """
import json, sys
from awello.cli.app import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["awello", *words]
    try:
        main()
    except SystemExit as exit:
        assert not exit.code, words
"""


@pytest.mark.usefixtures("warm_cache")
@pytest.mark.parametrize("words", ENTRY_POINTS[:4], ids=" ".join)
def test_entry_points_work_with_a_warm_cache(words: tuple[str, ...]) -> None:
    warm = fresh_awello(*words)
    assert warm.returncode == 0, warm.stderr
    assert "compiling" not in warm.stderr


@pytest.mark.usefixtures("warm_cache")
def test_entry_points_compile_no_cached_kernels() -> None:
    """All entry points run in one new process; in the slow test below, each runs in its own process."""
    warm = run("-c", RUN_ALL, json.dumps(ENTRY_POINTS))
    assert warm.returncode == 0, warm.stderr
    assert "compiling" not in warm.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", ENTRY_POINTS, ids=" ".join)
def test_entry_points_work_with_a_cold_and_then_a_warm_cache(words: tuple[str, ...], tmp_path: Path) -> None:
    cold, warm = (fresh_awello(*words, AWELLO_CACHE=str(tmp_path)) for _ in range(2))
    assert cold.returncode == 0, cold.stderr
    assert warm.returncode == 0, warm.stderr
    assert "compiling" in cold.stderr
    assert "compiling" not in warm.stderr
