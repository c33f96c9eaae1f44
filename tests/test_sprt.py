"""The figures of a duel: closed forms where there are any, many simulated duels where there are none."""

import math
from typing import Any

import numpy as np
import pytest

from awello.arena.sprt import Hypotheses, elo, elo_interval, log_likelihood, score_of, superiority
from awello.errors import ConfigError


@pytest.mark.parametrize("score", [0.2, 0.5, 0.7])
def test_pairs_won_or_lost_are_a_coin(score: float) -> None:
    """With the imaginary halves, 30 won and 10 lost pairs are a coin that fell 30.5 and 10.5 times."""
    coin = 30.5 * math.log(score) + 10.5 * math.log(1 - score)
    best = 30.5 * math.log(30.5 / 41) + 10.5 * math.log(10.5 / 41)
    assert log_likelihood([10, 0, 0, 0, 30], score) == pytest.approx(coin - best)


def test_a_ratio_by_hand() -> None:
    """40 drawn pairs: from the mean 3/5 the likeliest frequencies follow from a quadratic equation.

    With t' = t / 10 the condition is 0.5 * -6 / (1 - 6 t') + 40 * -1 / (1 - t') + 0.5 * 4 / (1 + 4 t') = 0.
    """
    roots = np.roots(  # multiplied out
        np.polyadd(
            np.polyadd(-3 * np.polymul([-1, 1], [4, 1]), -40 * np.polymul([-6, 1], [4, 1])),
            2 * np.polymul([-6, 1], [-1, 1]),
        )
    )
    (root,) = [t for t in roots if -1 / 4 < t < 1 / 6]
    expected = -(0.5 * math.log(1 - 6 * root) + 40 * math.log(1 - root) + 0.5 * math.log(1 + 4 * root))
    assert log_likelihood([0, 0, 40, 0, 0], 0.6) == pytest.approx(expected)
    assert log_likelihood([0, 0, 40, 0, 0], 0.5) == pytest.approx(0)
    hypotheses = Hypotheses(0, 400 * math.log10(1.5))
    assert hypotheses.ratio([0, 0, 40, 0, 0]) == pytest.approx(expected)
    assert hypotheses.verdict([0, 0, 40, 0, 0]) == "not stronger"


def test_many_pairs_follow_their_variance() -> None:
    """Where there are many pairs, all figures are those of the normal distribution of their mean."""
    counts = np.array([300, 800, 2000, 900, 400])
    scores = np.linspace(0, 1, 5)
    mean = counts @ scores / counts.sum()
    variance = counts @ (scores - mean) ** 2 / counts.sum()
    error = math.sqrt(variance / counts.sum())
    low, high = elo_interval(counts)
    assert score_of(elo(counts)) == pytest.approx(mean, abs=1e-4)
    assert (score_of(low), score_of(high)) == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=1e-4)
    assert superiority(counts) == pytest.approx(0.5 * math.erfc(-(mean - 0.5) / error / math.sqrt(2)), abs=1e-4)
    s0, s1 = 0.5, score_of(10)
    approximately = counts.sum() * (s1 - s0) * (2 * mean - s0 - s1) / (2 * variance)
    assert Hypotheses(0, 10).ratio(counts) == pytest.approx(approximately, rel=0.02)


def test_who_won_everything_has_figures_too() -> None:
    few, many = elo_interval([0, 0, 0, 0, 10]), elo_interval([0, 0, 0, 0, 100])
    assert 100 < few[0] < many[0] < elo([0, 0, 0, 0, 100]) < many[1] < 3000
    assert 0.99 < superiority([0, 0, 0, 0, 10]) < superiority([0, 0, 0, 0, 100]) <= 1
    assert Hypotheses().verdict([0, 0, 0, 0, 10]) == "undecided"
    assert Hypotheses().verdict([0, 0, 0, 0, 100]) == "stronger"


def test_both_sides_of_a_duel_see_the_same() -> None:
    counts = [3, 10, 20, 15, 9]
    assert elo(counts[::-1]) == pytest.approx(-elo(counts))
    assert elo_interval(counts[::-1]) == pytest.approx([-edge for edge in elo_interval(counts)[::-1]])
    assert superiority(counts[::-1]) == pytest.approx(1 - superiority(counts))
    assert Hypotheses(-20, 20).ratio(counts[::-1]) == pytest.approx(-Hypotheses(-20, 20).ratio(counts))


def test_nothing_is_known_before_the_first_pair() -> None:
    assert elo([0] * 5) == 0
    assert superiority([0] * 5) == pytest.approx(0.5)
    assert Hypotheses().verdict([0] * 5) == "undecided"


def chances(mean: float) -> Any:
    """Some unequal chances of the five results, with a given mean."""
    level = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    return level + (mean - 0.5) / (level @ (np.linspace(-0.5, 0.5, 5) ** 2)) * level * np.linspace(-0.5, 0.5, 5)


def passed(mean: float, hypotheses: Hypotheses, duels: int = 600, pairs: int = 800) -> tuple[float, float]:
    """How many of many simulated duels end with `stronger`, and how many with `not stronger`."""
    results = np.random.default_rng(1).choice(5, (duels, pairs), p=chances(mean))
    looks = np.arange(7, pairs, 8)  # after every eighth pair
    counts = np.stack([(results == kind).cumsum(1)[:, looks] for kind in range(5)], -1)
    ratios, (low, high) = hypotheses.ratio(counts), hypotheses.bounds
    won, lost = ratios >= high, ratios <= low
    first = np.where((won | lost).any(1), (won | lost).argmax(1), -1)
    rows = np.arange(duels)
    return float(won[rows, first].mean()), float(lost[rows, first].mean())


def test_equal_players_rarely_pass_and_better_ones_rarely_fail() -> None:
    hypotheses = Hypotheses(0, 30, alpha=0.05, beta=0.1)
    wrong, right = passed(0.5, hypotheses)
    assert 0.02 < wrong < 0.065
    assert right > 0.93
    right, wrong = passed(score_of(30), hypotheses)
    assert 0.06 < wrong < 0.12
    assert right > 0.87


def test_the_interval_holds_the_truth() -> None:
    """In 95 of 100 duels of 50 pairs, or nearly."""
    truth = score_of(60)
    counts = np.random.default_rng(2).multinomial(50, chances(truth), 2000)
    inside = -2 * log_likelihood(counts, truth) < 1.96**2
    assert 0.93 < inside.mean() < 0.97


@pytest.mark.parametrize("wrong", [{"elo0": 20}, {"elo1": math.nan}, {"alpha": 0}, {"beta": 0.5}])
def test_questions_that_make_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Hypotheses(**wrong)
