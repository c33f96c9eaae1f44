"""Pairings and standings: examples checked by hand, and invariants."""

import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awello.club.pairing import (
    Pairing,
    PlayerPair,
    Standing,
    build_histories,
    compute_standings,
    count_rounds_without_repeats,
    find_cheapest_matching,
    pair_round_robin,
    pair_swiss_round,
)

RESULTS = [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)]
A, B, C, D, E, F = range(6)


# ---- cheapest matching -----------------------------------------------------------------------------------------------
Costs = dict[tuple[int, int], int]


def least_cost(size: int, costs: Costs) -> int:
    """Find the lowest total cost of a complete matching by exhaustive search."""

    @cache
    def least(left: frozenset[int]) -> int:
        if not left:
            return 0
        one = min(left)
        return min(costs[one, other] + least(left - {one, other}) for other in left - {one})

    return least(frozenset(range(size)))


def check_pairs(size: int, costs: Costs) -> None:
    pairs = find_cheapest_matching(costs)
    assert sorted(who for pair in pairs for who in pair) == list(range(size))
    assert sum(costs[pair] for pair in pairs) == least_cost(size, costs)


@given(st.integers(0, 5), st.sampled_from([1, 2, 7, 1000, 10**20]), st.data())
@settings(max_examples=150, deadline=None)
def test_no_pairs_are_cheaper(half: int, most: int, data: st.DataObject) -> None:
    check_pairs(2 * half, {pair: data.draw(st.integers(-most, most)) for pair in combinations(range(2 * half), 2)})


def test_few_different_costs() -> None:
    """With few different costs, there are many odd cycles of equal costs, on which an inexact algorithm fails."""
    rng = random.Random(4)
    for number in range(300):
        size = 2 * rng.randint(4, 6)
        near = {(a, b): abs(a % 5 - b % 5) ** 2 for a, b in combinations(range(size), 2)}
        check_pairs(size, {pair: cost + rng.randrange(1 + number % 4) for pair, cost in near.items()})


# ---- round robin ----------------------------------------------------------------------------------------------------
def test_four_and_three_in_a_circle() -> None:
    assert pair_round_robin([A, B, C, D]) == [[(A, D), (B, C)], [(D, B), (C, A)], [(C, D), (A, B)]]
    assert pair_round_robin([A, B, C]) == [[(B, C), (A, None)], [(C, A), (B, None)], [(A, B), (C, None)]]
    assert pair_round_robin([A, B], twice=True) == [[(A, B)], [(B, A)]]


@pytest.mark.parametrize("size", range(2, 24))
@pytest.mark.parametrize("twice", [False, True])
def test_all_players_meet(size: int, twice: bool) -> None:
    players = list(range(100, 100 + size))
    rounds = pair_round_robin(players, twice)
    assert len(rounds) == count_rounds_without_repeats(size) * (1 + twice)
    for pairs in rounds:
        assert sorted(who for pair in pairs for who in pair if who is not None) == players
    games = [pair for pairs in rounds for pair in pairs if pair[1] is not None]
    assert len(games) == len(set(games)) == size * (size - 1) // 2 * (1 + twice)
    assert len({frozenset(game) for game in games}) == size * (size - 1) // 2
    byes = Counter(first for pairs in rounds for first, second in pairs if second is None)
    assert set(byes.values()) == ({1 + twice} if size % 2 else set())
    for player in players:
        sides = [pair.index(player) for pair in games if player in pair]
        lean = len(sides) - 2 * sum(sides)
        assert lean == 0 if twice or size % 2 else abs(lean) == 1
        half = sides[: len(rounds) // (1 + twice)]
        repeats = sum(one == other for one, other in pairwise(half))
        assert repeats <= (0 if player == players[-1] and size % 2 == 0 else 2), (
            "players change sides in nearly every round"
        )


# ---- Swiss ----------------------------------------------------------------------------------------------------------
def test_the_first_round_pairs_halves() -> None:
    assert pair_swiss_round([A, B, C, D, E, F], []) == [(A, D), (E, B), (C, F)]
    assert pair_swiss_round([A, B, C, D, E], []) == [(A, C), (D, B), (E, None)]
    assert pair_swiss_round([A], []) == [(A, None)] and pair_swiss_round([], []) == []


def test_those_with_equal_points_meet() -> None:
    played = [Pairing(A, D, (1, 0)), Pairing(E, B, (0, 1)), Pairing(C, F, (0, 1))]
    # A, B and F have one point each, so one of them must play an opponent without points.
    # If B, who moved second, plays C, who moved first, all players change sides, and no pairing is repeated.
    assert pair_swiss_round([A, B, C, D, E, F], played) == [(F, A), (B, C), (D, E)]


def test_no_player_has_a_second_bye() -> None:
    players = [A, B, C]
    played = [Pairing(A, B, (1, 0)), Pairing(C, None, (1, 0))]
    assert pair_swiss_round(players, played) == [(C, A), (B, None)]
    played += [Pairing(C, A, (0, 1)), Pairing(B, None, (1, 0))]
    assert pair_swiss_round(players, played) == [(B, C), (A, None)], (
        "the leader has the bye, because the others have had one"
    )


def test_a_forfeit_has_no_sides() -> None:
    played = [Pairing(A, B, (1, 0), forfeit=True)]
    assert build_histories([A, B], played)[A].sides == [] and build_histories([A, B], played)[A].points == 1
    assert pair_swiss_round([A, B], played) == [(A, B)], "a pairing is repeated if no other is possible"


def all_ways(players: tuple[int | None, ...]) -> Iterator[list[tuple[int | None, int | None]]]:
    """Yield all ways to pair players; None is the bye."""
    if not players:
        yield []
        return
    one, *others = players
    for other in others:
        for rest in all_ways(tuple(each for each in others if each != other)):
            yield [(one, other), *rest]


def faults(pairs: Sequence[tuple[int | None, int | None]], played: Sequence[Pairing]) -> tuple[int, int, float, float]:
    """Return the penalties of pairings, the most important first.

    They are the number of repeated pairings, the number of pairings of players who have both played the same side too
    often, the points of the player with the bye, and the sum of the squared differences of points.
    """
    points: Counter[int | None] = Counter()
    lean: Counter[int | None] = Counter()
    met = Counter(frozenset((each.first, each.second)) for each in played)
    for each in played:
        for side, player in enumerate((each.first, each.second)):
            points[player] += each.points[side]  # type: ignore[assignment]
            lean[player] += (1 - 2 * side) * (each.second is not None)
    found = [0, 0, 0.0, 0.0]
    for one, other in pairs:
        found[0] += met[frozenset((one, other))]
        if one is None or other is None:
            found[2] += points[one if other is None else other]
        else:
            found[1] += abs(lean[one]) >= 2 and abs(lean[other]) >= 2 and lean[one] * lean[other] > 0
            found[3] += (points[one] - points[other]) ** 2
    return int(found[0]), int(found[1]), found[2], found[3]


def play(pairs: Sequence[PlayerPair], rng: random.Random) -> list[Pairing]:
    """Return the pairings with random results; players with low numbers win more often."""
    found = []
    for first, second in pairs:
        if second is None:
            found.append(Pairing(first, None, (1.0, 0.0)))
            continue
        better = RESULTS[0] if first < second else RESULTS[2]
        found.append(Pairing(first, second, better if rng.random() < 0.5 else rng.choice(RESULTS)))
    return found


@given(st.integers(2, 8), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_no_other_pairs_have_fewer_faults(size: int, seed: int) -> None:
    players, rng, played = list(range(size)), random.Random(seed), list[Pairing]()
    for _ in range(count_rounds_without_repeats(size)):
        pairs = pair_swiss_round(players, played)
        assert sorted(who for pair in pairs for who in pair if who is not None) == players
        slots = (*players, None) if size % 2 else tuple(players)
        assert faults(pairs, played) == min(faults(way, played) for way in all_ways(slots))
        played += play(pairs, rng)


@given(st.integers(4, 24), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_half_as_many_rounds_as_players_need_no_repeated_pairing(size: int, seed: int) -> None:
    players, rng, played = list(range(size)), random.Random(seed), list[Pairing]()
    for number in range(size // 2):
        pairs = pair_swiss_round(players, played)
        points = {player: past.points for player, past in build_histories(players, played).items()}
        if size % 2:
            rested = {each.first for each in played if each.second is None}
            left = {points[player] for player in players if player not in rested}
            bye = next(first for first, second in pairs if second is None)
            assert bye not in rested and (points[bye] == min(left) or number > 1)
        played += play(pairs, rng)
        assert all(abs(past.side_balance) <= 2 for past in build_histories(players, played).values())
    met = Counter(frozenset((each.first, each.second)) for each in played)
    assert max(met.values()) == 1


def test_pairing_sixty_four_players_is_fast() -> None:
    players, rng, played = list(range(64)), random.Random(2), list[Pairing]()
    begun = time.process_time()
    for _ in range(9):
        played += play(pair_swiss_round(players, played), rng)
    assert (time.process_time() - begun) / 9 < 0.5
    assert len({frozenset((each.first, each.second)) for each in played}) == 9 * 32
    assert max(abs(past.side_balance) for past in build_histories(players, played).values()) == 1
    top = compute_standings(players, played)[:2]
    assert top[0].player < 16 and top[0].points > 6


# ---- standings ------------------------------------------------------------------------------------------------------
def test_standings_by_hand() -> None:
    played = [
        Pairing(A, C, (1, 0)),
        Pairing(B, D, (0.5, 0.5)),
        Pairing(A, B, (0, 1)),
        Pairing(D, C, (1, 0)),
        Pairing(D, A, (0.5, 0.5)),
        Pairing(C, B, (0, 1)),
    ]
    assert compute_standings([A, B, C, D], played) == [
        Standing(1, B, 2.5, 3.5, 2.5, 2),
        Standing(2, D, 2.0, 4.0, 2.0, 1),
        Standing(3, A, 1.5, 4.5, 1.0, 1),
        Standing(4, C, 0.0, 6.0, 0.0, 0),
    ]


def test_equal_players_share_a_rank_and_byes_count_a_point() -> None:
    assert [row.rank for row in compute_standings([A, B, C], [])] == [1, 1, 1]
    played = [Pairing(A, B, (0.5, 0.5)), Pairing(C, None, (1, 0))]
    rows = compute_standings([A, B, C], played)
    assert [(row.rank, row.player) for row in rows] == [(1, C), (2, A), (2, B)]
    assert rows[0] == Standing(1, C, 1.0, 0.0, 0.0, 0)
    both = [Pairing(A, B, (0, 0), forfeit=True)]
    assert [row.points for row in compute_standings([A, B], both)] == [0.0, 0.0]
