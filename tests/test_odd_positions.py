"""Positions that no game reaches: every search runs on them, uncompiled too, where accesses to memory are checked."""

import random
import sys

import pytest
from conftest import ROOT, run

from awello import Game
from awello.engine.tablebase import need

sys.path.append(str(ROOT / "benchmarks"))
import fortress_odd

CHECK = """
import numpy as np
from awello.evaluate import patterns
from awello.kernel import U
from awello.memory import address_of, load, load8, load16, store, swap8

def refused(work):
    try:
        work()
    except (IndexError, ValueError):
        return True
    return False

words, more = np.zeros(8, np.int64), np.zeros(8, np.int64)
address, second = address_of(words), address_of(more)
part = address_of(words[2:4])
store(address, 7, 5)
assert load(address, 7) == 5 and load(part, 0) == 0 and load16(address, 31) == 0
assert refused(lambda: load(address, 8)) and refused(lambda: store(address, -1, 5))
assert refused(lambda: load(part, 2)) and refused(lambda: load16(address, 32))
assert refused(lambda: load8(address, U(64)))
assert refused(lambda: swap8(address + 64, 0, 1)) and refused(lambda: load(second, (address - second) // 8))
del words, more
assert refused(lambda: load(address, 0)) and refused(lambda: load(part, 0)) and refused(lambda: load(8, 0))
row, weights = np.full(64, 30_000, np.int16), np.zeros(patterns.NUMBERS, np.int16)
assert refused(lambda: patterns.worth(address_of(row), address_of(weights)))
assert refused(lambda: patterns.turn_row(address_of(row), 0, U(0), address_of(row)))
"""


@pytest.mark.parametrize("game", Game, ids=str)
def test_searches_stand_odd_positions(game: Game) -> None:
    chance, searches = random.Random(int(game)), fortress_odd.Searches(game)
    positions = [*fortress_odd.fixed_positions(game), *(fortress_odd.odd_position(game, chance) for _ in range(10))]
    assert sum(map(searches.run, positions)) > 100


def test_no_search_leaves_its_memory() -> None:
    for game in (Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN):
        need(game)  # made here, where it is compiled
    done = run("benchmarks/fortress_odd.py", "--positions", "3", NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == len(Game)


def test_uncompiled_an_access_outside_an_array_is_refused() -> None:
    done = run("-c", CHECK, NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
