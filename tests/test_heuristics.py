"""Heuristics compared with counts in plain Python, and their settings."""

import random
from pathlib import Path

import pytest

from awello import Game, Position, parse_position
from awello.errors import ConfigError
from awello.evaluate.evaluator import (
    HEURISTIC_IDS,
    SQUARE_TABLES,
    Evaluator,
    Heuristic,
    count_weights,
    expand_table,
    list_heuristics,
    load_square_table,
)
from awello.evaluate.heuristics import EXACT_SCALE, estimate, evaluate
from awello.kernel import U
from awello.rules.awale import pits_of
from awello.search.textbook_search import analyse


def positions(game: Game, count: int) -> list[Position]:
    """Return `count` positions of random games."""
    rng = random.Random(f"{game}")
    found: list[Position] = []
    while len(found) < count:
        position = Position.start(game)
        while moves := position.legal_moves():
            found.append(position)
            position = position.after(rng.choice(moves))
    return rng.sample(found, count)


def kernel_estimate(position: Position, heuristic: Heuristic) -> int:
    """Return the kernel's estimate of a position."""
    evaluator = Evaluator(position.game, heuristic)
    return estimate(int(position.game), evaluator.heuristic_id, U(position.own), U(position.opp), evaluator.state)


def discs(word: int) -> list[int]:
    return [square for square in range(64) if word >> square & 1]


def squares_value(position: Position, table: str) -> int:
    values = expand_table(load_square_table(table), position.game.size)
    return sum(values[s] for s in discs(position.own)) - sum(values[s] for s in discs(position.opp))


def find_moves(position: Position, own: int, opp: int) -> int:
    return sum(move >= 0 for move in Position(position.game, own, opp).legal_moves())


def mobility(position: Position) -> int:
    own, opp = position.own, position.opp
    return find_moves(position, own, opp) - find_moves(position, opp, own)


@pytest.mark.parametrize("game", [Game.OTHELLO, Game.OTHELLO6, Game.OTHELLO4])
def test_simple_heuristics_equal_plain_counts(game: Game) -> None:
    for position in positions(game, 100):
        difference = position.own.bit_count() - position.opp.bit_count()
        assert kernel_estimate(position, Heuristic("absolute")) == difference
        assert kernel_estimate(position, Heuristic("mobility")) == mobility(position)
        for table in ("1", "2"):
            assert kernel_estimate(position, Heuristic("positional", table)) == squares_value(position, table)
        held = position.own.bit_count() + position.opp.bit_count()
        early, late = 10, 20
        expected = squares_value(position, "2") if held < early else mobility(position) if held < late else difference
        assert kernel_estimate(position, Heuristic("mixed", "2", (early, late))) == expected


def test_corner_bonus() -> None:
    for position in positions(Game.OTHELLO, 200):
        held = sum((position.own >> s & 1) - (position.opp >> s & 1) for s in (0, 7, 56, 63))
        assert kernel_estimate(position, Heuristic("mobility", corners=7)) == mobility(position) + 7 * held


def test_tactical_forgives_squares_beside_a_taken_corner() -> None:
    board = parse_position("XX------" + "XO------" + "-" * 48 + " X")
    assert kernel_estimate(board, Heuristic("tactical", thresholds=(30, 55))) == 500 + 30 + 30
    lost = parse_position("OX------" + "-" * 56 + " X")
    assert kernel_estimate(lost, Heuristic("tactical")) == -500
    assert kernel_estimate(board, Heuristic("tactical", thresholds=(0, 55))) == 560 + 10 * mobility(board)
    assert kernel_estimate(board, Heuristic("tactical", thresholds=(0, 0))) == 2


def test_diffscore_counts_the_captured_seeds() -> None:
    for position in positions(Game.ABAPA, 100):
        assert kernel_estimate(position, Heuristic("diffscore")) == (position.own >> 48) - (position.opp >> 48)


def features(position: Position, name: str) -> list[int]:
    """Compute the features of an Awalé heuristic by definition; features of the mover and the opponent alternate."""

    def of(own: int, opp: int) -> list[int]:
        pits, captured = pits_of(own), own >> 48
        small = "".join("x" if pit < 3 else " " for pit in pits)
        run = max(map(len, small.split()), default=0)
        large = [pit for pit in pits if pit >= 12]
        ends = [last_pit(own, opp, pit) for pit in range(6)]
        if name == "h6":
            captures = [ends.count(2), ends.count(3)]
            reach = sum(pit + index >= 6 for index, pit in enumerate(pits))
            return [*captures, reach, sum(pit > 12 for pit in pits), captured, pits.count(0)]
        if name == "travers":
            return [captured, pits.count(0), pits.count(1) + pits.count(2), len(large)]
        return [captured, small.count("x"), run, sum(large)][: count_weights(name) // 2]

    pairs = zip(of(position.own, position.opp), of(position.opp, position.own), strict=True)
    return [value for pair in pairs for value in pair]


def last_pit(own: int, opp: int, pit: int) -> int:
    """Return the number of seeds in the last pit of a sowing if they are captured, otherwise 0."""
    if not pits_of(own)[pit]:
        return 0
    pits = [*pits_of(own), *pits_of(opp)]
    seeds, last = pits[pit], pit
    pits[pit] = 0
    while seeds:
        last = (last + 1) % 12
        if last != pit:
            pits[last] += 1
            seeds -= 1
    first = last
    while first >= 6 and pits[first] in (2, 3):
        first -= 1
    grand_slam = first < last and not any(pits[6 : first + 1]) and not any(pits[last + 1 :])
    return pits[last] if last >= 6 and pits[last] in (2, 3) and not grand_slam else 0


def test_awale_heuristics_are_features_times_weights() -> None:
    rng = random.Random(3)
    for position in positions(Game.ABAPA, 300):
        for name in list_heuristics(Game.ABAPA)[1:]:
            weights = tuple(rng.randint(-20, 20) for _ in range(count_weights(name)))
            expected = sum(w * f for w, f in zip(weights, features(position, name), strict=True))
            assert kernel_estimate(position, Heuristic(name, weights=weights)) == expected, name
    with pytest.raises(ConfigError, match="h3 needs 8 weights, not 3"):
        Evaluator(Game.ABAPA, Heuristic("h3", weights=(1, 2, 3)))


def test_awale_values_are_from_the_view_of_the_player_at_the_root() -> None:
    weights = (7, -3)
    for position in positions(Game.ABAPA, 50):
        evaluator = Evaluator(Game.ABAPA, Heuristic("h1", weights=weights))
        captured = position.own >> 48, position.opp >> 48
        words = int(position.game), evaluator.heuristic_id, U(position.own), U(position.opp), evaluator.state
        evaluator.prepare(position, 4)
        assert estimate(*words) == 7 * captured[0] - 3 * captured[1]
        evaluator.prepare(position, 3)  # the opponent is to move at the leaves
        assert estimate(*words) == -(7 * captured[1] - 3 * captured[0])


def test_h5_counts_from_the_root_and_chooses_like_h3() -> None:
    weights = (9, -8, 1, 3, -2, 5, 4, -6)
    for position in positions(Game.TOURNAMENT, 30):
        for depth in (1, 2, 3):
            three, five = (
                analyse(position, "alphabeta", depth, Evaluator(position.game, Heuristic(name, weights=weights)))
                for name in ("h3", "h5")
            )
            assert three.best_moves == five.best_moves
            evaluator = Evaluator(position.game, Heuristic("h5", weights=weights))
            evaluator.prepare(position, 2)
            words = U(position.own), U(position.opp)
            assert estimate(int(position.game), evaluator.heuristic_id, *words, evaluator.state) == 0


def test_the_value_of_a_finished_game_exceeds_any_estimate(game: Game) -> None:
    evaluator = Evaluator(game, Heuristic("positional" if game.family == "othello" else "diffscore"))
    rng = random.Random(4)
    for _ in range(20):
        position = Position.start(game)
        while moves := position.legal_moves():
            position = position.after(rng.choice(moves))
        first, second = position.score()
        difference = first - second if position.side == 0 else second - first
        if not position.repeated:
            value = evaluate(int(game), evaluator.heuristic_id, U(position.own), U(position.opp), True, evaluator.state)
            assert value == EXACT_SCALE * difference


def test_tables_are_the_published_ones() -> None:
    values = expand_table(SQUARE_TABLES["1"], 8)
    assert values[:8] == [500, -150, 30, 10, 10, 30, -150, 500]
    assert values == values[::-1]
    assert expand_table(SQUARE_TABLES["2"], 8)[8:12] == [-20, -50, -2, -2]
    assert expand_table(SQUARE_TABLES["1"], 4)[18:22] == [500, 10, 10, 500]
    assert expand_table(SQUARE_TABLES["1"], 6)[9:15] == [500, -150, 10, 10, -150, 500]


def test_a_table_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("square_table:\n" + "  - [9, 0, 0, 0]\n" + "  - [0, 0, 0, 0]\n" * 3)
    assert expand_table(load_square_table(str(file)), 8)[7] == 9
    for content in (
        "square_table: [[1, 2], [3]]",
        "square_table: 5",
        "[1]",
        "square_table: [[a, b]]",
        "square_table:\n" + "  - [1, 2, 3]\n" * 4,
    ):
        file.write_text(content)
        with pytest.raises(ConfigError, match="4 rows of 4"):
            load_square_table(str(file))
    file.write_text("square_table:\n" + "  - [1, 2, 3, 4, 5, 6, 7, 8]\n" * 8)
    assert expand_table(load_square_table(str(file)), 8)[:9] == [1, 2, 3, 4, 5, 6, 7, 8, 1]
    with pytest.raises(ConfigError, match="size 6"):
        expand_table(load_square_table(str(file)), 6)
    with pytest.raises(ConfigError, match="'missing' is not a square table"):
        load_square_table("missing")


def test_heuristics_belong_to_games() -> None:
    for name in HEURISTIC_IDS:
        for game in (Game.OTHELLO, Game.ABAPA):
            if name in list_heuristics(game):
                Evaluator(game, Heuristic(name))
            else:
                with pytest.raises(ConfigError, match=f"'{name}' is not a heuristic for {game.family}"):
                    Evaluator(game, Heuristic(name))
    with pytest.raises(ConfigError, match="use ascending numbers"):
        Evaluator(Game.OTHELLO, Heuristic("mixed", thresholds=(55, 30)))
