"""The statistics of duels, compared with closed forms and with many simulated duels."""

import math
from itertools import accumulate

import numpy as np
import pytest

from awello.arena.sprt import SCORES, Hypotheses, elo_difference, expected_score, likelihood_of_superiority, mean_score
from awello.errors import ConfigError

USUAL_CHANCES = np.array([0.1, 0.2, 0.4, 0.2, 0.1])


def test_figures_by_hand() -> None:
    """The prior adds 0.5 lost and 0.5 won pairs: 2.5 lost and 6.5 won pairs have mean 13/18 and variance 65/324."""
    counts = [2, 0, 0, 0, 6]
    score, error = mean_score(counts)
    assert (score, error**2) == pytest.approx((13 / 18, 65 / 324 / 9))
    advantage, reach = elo_difference(counts)
    assert advantage == pytest.approx(400 * math.log10(13 / 5))
    assert reach == pytest.approx(1.96 * 400 / math.log(10) * math.sqrt(1 / 9 / (65 / 324)))
    deviations = (13 / 18 - 1 / 2) / math.sqrt(65 / 324 / 9)
    assert likelihood_of_superiority(counts) == pytest.approx(0.5 * math.erfc(-deviations / math.sqrt(2)))
    asked = Hypotheses(0, 400 * math.log10(1.5))  # expected scores of 1/2 and 3/5
    assert asked.llr(counts) == pytest.approx(0.1 * (26 / 18 - 1.1) / (2 * 65 / 324 / 9))


def test_pairs_that_are_never_split_say_more_than_single_games() -> None:
    """If openings decide the games, pairs end 1-1, and the interval is narrower than for independent games."""
    _, reach = elo_difference([2, 0, 40, 0, 6])
    _, single = elo_difference([12, 0, 20, 0, 16])  # the same score, as if the two games of a pair were independent
    assert reach < single / 1.5


def test_figures_are_finite_after_winning_all_pairs() -> None:
    (few, reach), (many, _) = elo_difference([0, 0, 0, 0, 10]), elo_difference([0, 0, 0, 0, 100])
    assert 0 < few - reach < few < many < 1000
    assert 0.99 < likelihood_of_superiority([0, 0, 0, 0, 10]) <= likelihood_of_superiority([0, 0, 0, 0, 100]) <= 1
    verdicts = [Hypotheses().verdict([0, 0, 0, 0, won]) for won in range(20)]
    assert verdicts.index("stronger") in range(5, 15)


def test_both_sides_of_a_duel_see_the_same() -> None:
    counts = [3, 10, 20, 15, 9]
    advantage, reach = elo_difference(counts)
    assert elo_difference(counts[::-1]) == pytest.approx((-advantage, reach))
    assert likelihood_of_superiority(counts[::-1]) == pytest.approx(1 - likelihood_of_superiority(counts))
    assert Hypotheses(-20, 20).llr(counts[::-1]) == pytest.approx(-Hypotheses(-20, 20).llr(counts))


def test_nothing_is_known_before_the_first_pair() -> None:
    advantage, reach = elo_difference([0] * 5)
    assert advantage == 0 < 500 < reach
    assert likelihood_of_superiority([0] * 5) == 0.5
    assert Hypotheses().verdict([0] * 5) == "undecided"


def result_chances(score: float) -> list[float]:
    """Return probabilities of the five results of a pair whose mean score is `score`."""
    away = np.array(SCORES) - 0.5
    found: list[float] = (USUAL_CHANCES * (1 + away * (score - 0.5) / (USUAL_CHANCES @ away**2))).tolist()
    return found


def find_verdict(results: list[int], asked: Hypotheses) -> str:
    """Return the verdict of a duel whose pairs have these results."""
    one = [[int(result == kind) for kind in range(5)] for result in results]
    for counts in accumulate(one, lambda so_far, pair: [a + b for a, b in zip(so_far, pair, strict=True)]):
        if (found := asked.verdict(counts)) != "undecided":
            return found
    return "undecided"


def test_equal_players_rarely_pass_and_better_ones_rarely_fail() -> None:
    asked = Hypotheses(0, 60, alpha=0.05, beta=0.1)
    rng = np.random.default_rng(1)

    def share(score: float, wanted: str) -> float:
        duels = rng.choice(5, (400, 250), p=result_chances(score)).tolist()
        return [find_verdict(results, asked) for results in duels].count(wanted) / len(duels)

    assert 0.02 < share(0.5, "stronger") < 0.08
    assert 0.06 < share(expected_score(60), "not stronger") < 0.14


def test_the_interval_holds_the_truth() -> None:
    """About 95 of 100 intervals contain the true value."""
    duels = np.random.default_rng(2).multinomial(50, result_chances(expected_score(60)), 1000).tolist()
    inside = [abs(advantage - 60) < reach for advantage, reach in map(elo_difference, duels)]
    assert 0.93 < sum(inside) / len(inside) < 0.97


@pytest.mark.parametrize("wrong", [{"elo0": 20}, {"elo1": math.nan}, {"alpha": 0}, {"beta": 0.5}])
def test_invalid_hypotheses(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        Hypotheses(**wrong)
