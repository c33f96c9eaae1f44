"""Otage: evaluation and search compared with plain Python, learning, and play."""

import math
import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import random_record
from waiting import wait_until

from awello import PASS, Game, Position, Record, parse_transcript
from awello.errors import ConfigError, SpecError
from awello.evaluate.evaluator import SQUARE_TABLES
from awello.evaluate.heuristics import EXACT_SCALE
from awello.evaluate.otage import MAX_PATTERN_VALUE, estimate
from awello.evaluate.otage_memory import (
    CORNER_PATTERNS,
    DEFAULT_FACTORS,
    EDGE_PATTERNS,
    FACTOR_SCALE,
    OtageEvaluator,
    OtageMemory,
)
from awello.kernel import U
from awello.limits import Clock, Limit
from awello.players.otage import OtagePlayer, is_endgame, solve_outcome_then_score
from awello.players.player import make_player
from awello.search.iterative_deepening import HINT_KINDS, IterativeDeepening, OtageOptions


def positions(count: int, seed: int = 0) -> Iterator[Position]:
    """Yield one position of each of `count` random games."""
    for number in range(count):
        record = random_record(Game.OTHELLO, seed + number)
        yield random.Random(number).choice([each for each in record.positions() if not each.over])


def board(position: Position) -> list[list[int]]:
    """Return the board from the mover's view: 1 for own discs, -1 for those of the opponent."""
    signs = [(position.own >> square & 1) - (position.opp >> square & 1) for square in range(64)]
    return [signs[row : row + 8] for row in range(0, 64, 8)]


def random_memory(seed: int = 1) -> OtageMemory:
    """Return a memory with random contents."""
    rng, memory = np.random.default_rng(seed), OtageMemory(factors=(7.0, 2.0, 1.5, 3.0))
    for patterns in (memory.edges, memory.corners):
        classes = np.unique(patterns.kind.canonical_indices)
        patterns.games[classes] = rng.integers(0, 9, len(classes))
        patterns.balance[classes] = rng.integers(-patterns.games[classes], patterns.games[classes] + 1)
    return memory


# ---- the evaluation -------------------------------------------------------------------------------------------------
def plain_estimate(position: Position, memory: OtageMemory) -> int:
    """Compute Otage's evaluation with loops over squares instead of bitboards."""
    signs, quarter = board(position), SQUARE_TABLES["1"]
    squares = [(row, column) for row in range(8) for column in range(8)]
    near = [(row, column) for row in (-1, 0, 1) for column in (-1, 0, 1) if row or column]
    liberties = sum(
        -signs[row][column]
        for row, column in squares
        for down, right in near
        if 0 <= row + down < 8 and 0 <= column + right < 8 and signs[row + down][column + right] == 0
    )
    values = sum(signs[row][column] * quarter[min(row, 7 - row)][min(column, 7 - column)] for row, column in squares)
    views = [signs, signs[::-1], [row[::-1] for row in signs], [row[::-1] for row in signs[::-1]]]
    columns = [list(column) for column in zip(*signs, strict=True)]
    edges = [pattern_value(memory.edges, line) for line in (signs[0], signs[7], columns[0], columns[7])]
    corners = [pattern_value(memory.corners, [sign for row in view[:3] for sign in row[:3]]) for view in views]
    terms = liberties, values, sum(edges), sum(corners)
    return sum(round(FACTOR_SCALE * factor) * term for factor, term in zip(memory.factors, terms, strict=True))


def pattern_value(patterns: object, line: Sequence[int]) -> int:
    kind, balance, games = patterns.kind, patterns.balance, patterns.games  # type: ignore[attr-defined]
    images = [line, [line[square] for square in kind.mirror_order]]
    index = min(sum((0, 1, 2)[sign] * 3**power for power, sign in enumerate(image)) for image in images)
    return round(MAX_PATTERN_VALUE * float(balance[index]) / (float(games[index]) + 4))


def test_the_evaluation_equals_that_of_plain_loops() -> None:
    memory = random_memory()
    evaluator = OtageEvaluator(memory)
    for position in positions(60):
        value = estimate(U(position.own), U(position.opp), evaluator.otage)
        assert value == plain_estimate(position, memory), position


def test_symmetric_positions_have_equal_values() -> None:
    evaluator = OtageEvaluator(random_memory())
    line = parse_transcript("f5d6c3d3c4f4f6f3").moves
    turned = [tuple(square ^ change for square in line) for change in (0, 63)]  # XOR with 63 rotates by 180 degrees
    values = [Record(Position.start(), moves).final for moves in turned]
    assert len({int(estimate(U(each.own), U(each.opp), evaluator.otage)) for each in values}) == 1


# ---- the memory -----------------------------------------------------------------------------------------------------
def test_a_memory_survives_saving_and_loading(tmp_path: Path) -> None:
    memory = random_memory()
    memory.games, memory.autoplay_games = 12, 7
    memory.save(tmp_path / "memory.txt")
    again = OtageMemory.load(tmp_path / "memory.txt")
    assert again.format() == memory.format() and again.factors == memory.factors
    for name in ("edges", "corners"):
        assert (getattr(again, name).values() == getattr(memory, name).values()).all()
    assert OtageMemory.load(tmp_path / "none.txt").factors == DEFAULT_FACTORS


def test_patterns_are_formatted_as_in_the_report() -> None:
    corner = "-1 1 1\n-1 -1 -1\n-1 -1 -1 = -160 302 -0.529801"
    memory = OtageMemory.parse(f"[edges]\n1 1 0 -1 -1 1 -1 -1 = 2 4 0.500000\n[corners]\n{corner}\n")
    assert "= 2 4 0.500000\n" in memory.format()
    assert "= -160 302 -0.529801\n" in memory.format()
    assert (EDGE_PATTERNS.canonical_indices.max(), CORNER_PATTERNS.canonical_indices.max()) == (3**8 - 1, 3**9 - 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("games = x", "a.txt, line 1: expected 'NAME = NUMBER' (NAME: games or autoplay), found 'games"),
        ("[factors]\nluck = 1", "a.txt, line 2: expected 'NAME = NUMBER' (NAME: liberties, squares"),
        ("[edges]\n1 1 1 = 2 4", "a.txt, line 2: expected 8 squares"),
        ("[edges]\n0 0 0 0 0 0 0 7 = 2 4", "line 2"),
        ("[corners]\n1 1 1\n1 1 1\n1 1 1 = 5 4", "line 4"),
    ],
)
def test_an_invalid_memory_is_rejected(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        OtageMemory.parse(text, "a.txt")


def test_patterns_count_the_result_once_per_game() -> None:
    memory, record = OtageMemory(), next(each for each in map(random_game, range(9)) if each.winner == 0)
    memory.learn_patterns(record)
    empty = memory.edges.games[0], memory.edges.balance[0]
    assert empty == (2, 0), "the empty edge counts once for each side to move, with opposite results"
    assert set(memory.edges.games.tolist()) == {0, 1, 2}
    full = [index for index in np.flatnonzero(memory.corners.games).tolist() if memory.corners.games[index] == 1]
    assert {int(memory.corners.balance[index]) for index in full} == {-1, 1}


def test_factors_change_slightly_to_predict_the_winner_better() -> None:
    for record in map(random_game, range(9)):
        memory = random_memory()
        before = log_likelihood(memory, record)
        factors = memory.factors
        memory.learn_factors(record)
        assert np.allclose(factors, memory.factors, rtol=0.011)
        assert log_likelihood(memory, record) >= before, "learning must not worsen the prediction of the winner"
        assert (memory.factors != factors) == (record.winner is not None)


def log_likelihood(memory: OtageMemory, record: Record) -> float:
    """Return the log-likelihood of a game's result, as predicted by the evaluation of its midgame positions."""
    evaluator, total = OtageEvaluator(memory), 0.0
    for position in record.positions():
        if 16 <= 64 - (position.own | position.opp).bit_count() <= 48 and record.winner is not None:
            terms = evaluator.compute_terms(position.own, position.opp)
            value = sum(factor * term for factor, term in zip(memory.factors, terms, strict=True)) / 465
            total -= math.log1p(math.exp(-value if position.side == record.winner else value))
    return total


def random_game(seed: int) -> Record:
    return random_record(Game.OTHELLO, seed)


# ---- the search -----------------------------------------------------------------------------------------------------
def plain_negamax(position: Position, depth: int, evaluator: OtageEvaluator) -> int:
    """Compute the value with plain negamax."""
    if position.over:
        first, second = position.score()
        return EXACT_SCALE * (first - second if position.side == 0 else second - first)
    if depth == 0:
        return int(estimate(U(position.own), U(position.opp), evaluator.otage))
    return max(-plain_negamax(position.after(move), depth - 1, evaluator) for move in position.legal_moves())


@pytest.mark.parametrize("aspiration", [False, True])
@pytest.mark.parametrize("order", [False, True])
@pytest.mark.parametrize("hints", HINT_KINDS)
def test_values_equal_those_of_plain_negamax(hints: str, order: bool, aspiration: bool) -> None:
    memory = random_memory()
    search = IterativeDeepening(memory, OtageOptions(hints, order, aspiration, ply_capacity=0))
    for position in positions(12):
        if position.legal_moves() == (PASS,):
            continue
        for found in search.deepen(position, 3):
            assert found.value == plain_negamax(position, found.depth, search)
            assert dict(found.candidates)[found.move] == found.value


def test_the_first_variation_leads_to_the_value() -> None:
    search = IterativeDeepening(random_memory(), OtageOptions(ply_capacity=0))
    for position in positions(20, 50):
        for found in search.deepen(position, 4):
            line = found.variations[found.move]
            *_, last = Record(position, line).positions()
            value = plain_negamax(last, 0, search)
            assert (value if len(line) % 2 == 0 else -value) == found.value
            assert set(found.variations) == {move for move, _ in found.candidates}


def test_table_cleanups_do_not_change_results() -> None:
    position = parse_transcript("c4e3f4g3e6d6f5f6").final
    large, small = (
        list(IterativeDeepening(OtageMemory(), OtageOptions(ply_capacity=room)).deepen(position, 6))
        for room in (1 << 16, 0)
    )
    assert [(each.value, each.variations, each.leaves) for each in large] == [
        (each.value, each.variations, each.leaves) for each in small
    ]
    assert (large[-1].cleanups, small[-1].cleanups > 0) == (0, True)


def test_fewer_leaves_with_each_technique() -> None:
    totals = dict.fromkeys(HINT_KINDS, 0)
    for position in positions(25, 200):
        if not 16 < (position.own | position.opp).bit_count() < 40:
            continue
        values = set()
        for hints in HINT_KINDS:
            *_, last = IterativeDeepening(OtageMemory(), OtageOptions(hints, aspiration=False)).deepen(position, 5)
            totals[hints] += last.leaves
            values.add(last.value)
        assert len(values) == 1
    assert all(more > fewer for more, fewer in pairwise(totals.values())), totals


def test_excluded_moves_and_limits() -> None:
    search, position = IterativeDeepening(OtageMemory()), Position.start()
    assert search.analyse(position, Limit(depth=3), excluded_moves=(19, 26)).move in (37, 44)
    assert (
        search.analyse(position, Limit(depth=1), excluded_moves=position.legal_moves()).move in position.legal_moves()
    )
    found = search.analyse(position, Limit(nodes=2000))
    assert found.nodes <= 2000 and found.depth >= 2 and found.pv[0] == found.move
    quick = search.analyse(position, Limit(), seconds=0.0)
    assert quick.depth == 1


# ---- the player -----------------------------------------------------------------------------------------------------
def test_it_plays_legal_moves_to_the_end_and_solves_it() -> None:
    player = make_player("otage@2")
    player.begin(Game.OTHELLO, 1)
    position, exact = Position.start(), False
    while not position.over:
        choice = player.choose(position, Clock()) if position.legal_moves() != (PASS,) else None
        exact = exact or bool(choice and choice.analysis and choice.analysis.exact)
        position = position.play(choice.move if choice else PASS)
    player.end()
    assert exact


def test_endgames_are_solved_in_two_passes() -> None:
    from awello.engine.engine import Engine

    with Engine(hash=1) as engine:
        for seed in range(6):
            position = next(each for each in random_game(seed).positions() if (each.own | each.opp).bit_count() == 55)
            if position.over or position.legal_moves() == (PASS,):
                continue
            found = solve_outcome_then_score(engine, position, 10.0)
            *_, expected = engine.solve(position)
            assert found and found.exact and found.value == expected.value
            assert is_endgame(position, 0.1) and not is_endgame(Position.start(), 1e9)


def test_threads_find_the_same_values() -> None:
    memory = random_memory()
    for position in positions(8, 300):
        alone, together = (list(IterativeDeepening(memory, threads=threads).deepen(position, 5)) for threads in (1, 3))
        assert [(each.depth, each.value) for each in alone] == [(each.depth, each.value) for each in together]


def test_it_ponders() -> None:
    player = make_player("otage@3,ponder=true,threads=2")
    assert isinstance(player, OtagePlayer)
    player.begin(Game.OTHELLO, 1)
    position, guessed = parse_transcript("f5d6c3d3c4").final, 0
    for _ in range(6):
        choice = player.choose(position, Clock())
        position = position.play(choice.move)
        wait_until(
            lambda: len(player.ponder_iterations) > 3 or not (player.ponder_thread and player.ponder_thread.is_alive())
        )
        expected = player.expected_position
        answer = next((move for move in position.legal_moves() if position.after(move) == expected), None)
        position = position.play(position.legal_moves()[0] if answer is None else answer)
        guessed += position == expected and len(player.ponder_iterations) > 3
        assert position.legal_moves() != (PASS,)
    player.end()
    assert guessed > 2 and not (player.ponder_thread and player.ponder_thread.is_alive())


def test_invalid_settings_are_refused(tmp_path: Path) -> None:
    for spec, game, message in (
        ("otage@level=3", Game.OTHELLO, "needs a depth"),
        ("otage@0n", Game.OTHELLO, "needs a depth"),
        ("otage@3", Game.ABAPA, "Othello on 8x8 only"),
        (f"otage@3,memory={tmp_path / 'none'}", Game.OTHELLO, "awello autoplay"),
    ):
        with pytest.raises(SpecError, match=message):
            make_player(spec).begin(game, 0)
