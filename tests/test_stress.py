"""The stress test of the engine: a few hundred random analyses, and failures that it must report."""

import multiprocessing
import os
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from conftest import ROOT

from awello.engine.engine import Engine
from awello.engine.othello_search import OthelloIterativeSearch
from awello.engine.threads import SearchResult, SearchThreads

sys.path.append(str(ROOT / "benchmarks"))
import stress
import stress_checks


class RecordingChannel:
    """A channel that records what is sent."""

    def __init__(self) -> None:
        self.tally, self.resources = stress.Tally(), list[Any]()

    def send(self, update: Any) -> None:
        if isinstance(update, stress.Tally):
            self.tally.add(update)
        elif not isinstance(update, range):
            self.resources.append(update)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check results with tablebases of only one seed more than the engine's own, which are quick to build."""
    monkeypatch.setattr(stress_checks, "EXTRA_TABLEBASE_SEEDS", 1)


def run_analyses(numbers: range) -> stress.Tally:
    channel: Any = RecordingChannel()
    stress.run_analyses(channel, 7, numbers)
    found: stress.Tally = channel.tally
    return found


def test_random_analyses_have_no_failures() -> None:
    before = threading.active_count()
    tally = run_analyses(range(300))
    assert not tally.failures
    assert tally.counts["analyses"] == 300 and tally.counts["refused"] > 30
    assert tally.counts["exact scores"] > 60 and tally.counts["complete variations"] > 15
    assert threading.active_count() == before


def with_wrong_value(solve: Callable[..., SearchResult]) -> Callable[..., SearchResult]:
    return lambda *given: solve(*given)._replace(value=2)


def test_a_wrong_score_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        OthelloIterativeSearch, "solve_by_bounds", with_wrong_value(OthelloIterativeSearch.solve_by_bounds)
    )
    assert any("has value" in failure for failure in run_analyses(range(40)).failures)


def test_an_error_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchThreads, "nodes", property(lambda threads: 1 // 0))
    assert any("ZeroDivisionError" in failure for failure in run_analyses(range(20)).failures)


def test_accepted_invalid_input_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "analyse", lambda *given: iter(()))
    assert any("was accepted" in failure for failure in run_analyses(range(60)).failures)


def run_until_crash(channel: Any, seed: int, numbers: range) -> None:
    """Pretend to run two analyses at a time, and crash during analyses 4 and 5."""
    for number in numbers[::2]:
        channel.send(range(number, number + 2))
        if number == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        channel.send(stress.Tally(Counter(analyses=2)))
    channel.send((1.0, 1, 1))


def test_the_test_continues_after_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = multiprocessing.get_context("fork")  # a forked process need not load the kernels
    monkeypatch.setattr(multiprocessing, "get_context", lambda kind: copied)
    tally, steps = stress.Tally(), list[int]()
    assert stress.supervise(1, range(10), tally, steps.append, run_until_crash) == [(1.0, 1, 1)]
    assert tally.counts == {"analyses": 8, "crashes": 1} and sum(steps) == 8
    assert tally.failures == [f"analyses [4, 5]: the process exited with {-signal.SIGKILL}"]
