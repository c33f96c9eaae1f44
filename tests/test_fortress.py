"""The engine under siege: some hundred random analyses, and that the siege finds what is wrong."""

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
import fortress
import fortress_truth


class Ear:
    """The other end of a channel: keeps what is sent."""

    def __init__(self) -> None:
        self.tally, self.held = fortress.Tally(), list[Any]()

    def send(self, news: Any) -> None:
        if isinstance(news, fortress.Tally):
            self.tally.add(news)
        elif not isinstance(news, range):
            self.held.append(news)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of one seed more than the engine has are soon made."""
    monkeypatch.setattr(fortress_truth, "MORE", 1)


def besiege(numbers: range) -> fortress.Tally:
    ear: Any = Ear()
    fortress.besiege(ear, 7, numbers)
    found: fortress.Tally = ear.tally
    return found


def test_the_engine_stands() -> None:
    before = threading.active_count()
    tally = besiege(range(300))
    assert not tally.faults
    assert tally.counts["analyses"] == 300 and tally.counts["refused"] > 30
    assert tally.counts["exact scores"] > 60 and tally.counts["lines to the end"] > 15
    assert threading.active_count() == before


def one_too_many(solve: Callable[..., SearchResult]) -> Callable[..., SearchResult]:
    return lambda *given: solve(*given)._replace(value=2)


def test_a_wrong_score_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OthelloIterativeSearch, "solve_by_bounds", one_too_many(OthelloIterativeSearch.solve_by_bounds))
    assert any("is worth" in fault for fault in besiege(range(40)).faults)


def test_an_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SearchThreads, "nodes", property(lambda team: 1 // 0))
    assert any("ZeroDivisionError" in fault for fault in besiege(range(20)).faults)


def test_what_is_not_refused_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Engine, "analyse", lambda *given: iter(()))
    assert any("not refused" in fault for fault in besiege(range(60)).faults)


def fall(channel: Any, seed: int, numbers: range) -> None:
    """Do two analyses at a time, and crash at the fifth."""
    for number in numbers[::2]:
        channel.send(range(number, number + 2))
        if number == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        channel.send(fortress.Tally(Counter(analyses=2)))
    channel.send((1.0, 1, 1))


def test_a_crash_is_counted_and_the_siege_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = multiprocessing.get_context("fork")  # has the kernels already
    monkeypatch.setattr(multiprocessing, "get_context", lambda kind: copied)
    tally, steps = fortress.Tally(), list[int]()
    assert fortress.watch(1, range(10), tally, steps.append, fall) == [(1.0, 1, 1)]
    assert tally.counts == {"analyses": 8, "crashes": 1} and sum(steps) == 8
    assert tally.faults == [f"analyses [4, 5]: the process ended with {-signal.SIGKILL}"]
