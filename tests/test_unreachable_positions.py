"""Run every search on positions that no game reaches, with compiled kernels and with checked memory accesses."""

import random
import sys

import pytest
from conftest import ROOT, run

from awello import Game
from awello.engine.tablebase import load_or_build_tablebase

sys.path.append(str(ROOT / "benchmarks"))
import stress_unreachable

CHECK = """
import numpy as np
from awello.evaluate import patterns
from awello.kernel import U
from awello.memory import address_of, load8, compare_and_swap8

def is_rejected(access):
    try:
        access()
    except (IndexError, ValueError):
        return True
    return False

table, more = np.zeros(64, np.uint8), np.zeros(64, np.uint8)
address, second = address_of(table), address_of(more)
assert compare_and_swap8(address + 63, 0, 5) and load8(address, U(63)) == 5
part = address_of(table[16:32])
assert load8(part, U(15)) == 0
assert is_rejected(lambda: load8(address, U(64))) and is_rejected(lambda: load8(part, U(16)))
assert is_rejected(lambda: compare_and_swap8(address + 64, 0, 1))
assert is_rejected(lambda: load8(second, U((address - second) % 2**63)))
del table, more
assert is_rejected(lambda: load8(address, U(0))) and is_rejected(lambda: load8(part, U(0)))
assert is_rejected(lambda: load8(8, U(0)))
indices, weights = patterns.PatternIndices.new(), patterns.StageWeights.new()
indices.lanes[:] = 30_000
assert is_rejected(lambda: patterns.evaluate_patterns(indices, weights))
assert is_rejected(lambda: patterns.update_indices(indices, 0, U(0), indices))
assert is_rejected(lambda: patterns.stage_weights_at(8))
"""


@pytest.mark.parametrize("game", Game, ids=str)
def test_searches_handle_unreachable_positions(game: Game) -> None:
    rng, searches = random.Random(int(game)), stress_unreachable.SearchRunner(game)
    positions = [
        *stress_unreachable.list_extreme_positions(game),
        *(stress_unreachable.make_unreachable_position(game, rng) for _ in range(10)),
    ]
    assert sum(map(searches.run, positions)) > 100


def test_no_search_accesses_memory_outside_its_arrays() -> None:
    for game in (Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN):
        load_or_build_tablebase(game)  # built here, because the next process compiles no kernels
    done = run("benchmarks/stress_unreachable.py", "--positions", "3", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(Game)


def test_uncompiled_accesses_outside_an_array_are_rejected() -> None:
    done = run("-c", CHECK, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
