"""The engine for Awalé: values compared with a plain search and with tablebases, repetition, limits."""

import random
import threading
from dataclasses import replace

import numpy as np
import pytest
from reference_search import evaluate_pits
from test_heuristics import positions

from awello import Game, Match, Position, make_player, parse_position, play_match
from awello.engine import tablebase
from awello.engine.awale_search import AwaleWorker
from awello.engine.awale_state import SEED_VALUE
from awello.engine.engine import Engine
from awello.engine.retrograde import LAYER_OFFSETS
from awello.engine.tablebase import count_board_seeds, load_or_build_tablebase, split_captures_evenly
from awello.engine.threads import SearchRequest
from awello.errors import ConfigError
from awello.evaluate.awale_network import ROW_COUNT, UNIT_COUNT
from awello.evaluate.evaluator import Heuristic
from awello.evaluate.weights import to_awale_network_weights
from awello.kernel import U
from awello.limits import Clock, Limit
from awello.rules.awale import pits_of

VARIANTS = [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN]
DIFFSCORE = Heuristic("diffscore")


@pytest.fixture(scope="module", autouse=True)
def separate_folder(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Keep the small tablebases of these tests in a separate folder."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("tables")
        patch.setattr(tablebase, "user_cache_folder", lambda: folder)
        patch.setattr(tablebase, "DEFAULT_SEEDS", 6)
        yield folder


def worker_of(engine: Engine) -> AwaleWorker:
    worker = engine.search_threads.workers[0]
    assert isinstance(worker, AwaleWorker)
    return worker


def random_weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-99, 100, (ROW_COUNT, UNIT_COUNT)).astype(np.int16)


def set_weights_of(engine: Engine, weights: np.ndarray) -> None:
    """Replace the weights of an engine."""
    worker_of(engine).set_weights(to_awale_network_weights(weights))


# ---- comparison with a plain search ---------------------------------------------------------------------------------
def children(position: Position) -> list[tuple[int, Position]]:
    """Return, for each move, the number of seeds that it captures and the position after it."""
    return [
        (count_board_seeds(position) - count_board_seeds(after), after)
        for after in (split_captures_evenly(position.after(move)) for move in position.legal_moves())
    ]


def final_value(position: Position) -> int:
    """Return the mover's margin in the seeds that remain on the board when the game is over, in the engine's unit."""
    rows = sum(pits_of(position.own)), sum(pits_of(position.opp))
    stopped = position.game == Game.TOURNAMENT and sum(rows) <= 6
    return 0 if stopped else SEED_VALUE * (rows[0] - rows[1])


def known_value(position: Position) -> int | None:
    """Return the exact value if the game is over or the tablebase covers the position, otherwise None."""
    if not position.legal_moves():
        return final_value(position)
    tablebase = load_or_build_tablebase(position.game)
    return SEED_VALUE * tablebase.value(position) if tablebase.covers(position) else None


def plain_quiescence(position: Position, weights: np.ndarray) -> int:
    """Return the value at the horizon: the higher of the evaluation and the value of the best capture."""
    value = known_value(position)
    if value is None:
        after = [SEED_VALUE * gain - plain_quiescence(child, weights) for gain, child in children(position) if gain]
        value = max([evaluate_pits(position.own, position.opp, weights), *after])
    return value


def plain_search(position: Position, depth: int, weights: np.ndarray | None) -> int:
    """Return the value of a position, searched to a depth by plain minimax."""
    if (value := known_value(position)) is not None:
        return value
    if weights is not None and depth == 0:
        return plain_quiescence(position, weights)
    if weights is None and depth <= 1:
        return SEED_VALUE * max(gain for gain, _ in children(position)) if depth else 0
    return max(SEED_VALUE * gain - plain_search(child, depth - 1, weights) for gain, child in children(position))


@pytest.mark.parametrize("game", VARIANTS)
def test_values_are_those_of_a_plain_search(game: Game) -> None:
    weights = random_weights(int(game))
    with Engine(game, hash=1, heuristic=DIFFSCORE) as simple, Engine(game, hash=1) as learnt:
        set_weights_of(learnt, weights)
        for position in map(split_captures_evenly, positions(game, 10)):
            if load_or_build_tablebase(game).covers(position):
                continue
            for depth in (1, 2, 3, 4):
                for engine, judge in ((simple, None), (learnt, weights)):
                    engine.clear()  # transposition table entries of deeper searches would change the values
                    *_, found = engine.analyse(position, Limit(depth=depth), multipv=6)
                    expected = {
                        move: (SEED_VALUE * gain - plain_search(child, depth - 1, judge)) / SEED_VALUE
                        for move, (gain, child) in zip(position.legal_moves(), children(position), strict=True)
                    }
                    assert dict(found.candidates) == expected
                    assert found.value == max(expected.values()) == expected[found.move]


@pytest.mark.parametrize("game", VARIANTS)
def test_exact_values_match_the_tablebase(game: Game) -> None:
    table = np.zeros(int(LAYER_OFFSETS[10]), np.uint8)
    for layer in range(7 if game == Game.TOURNAMENT else 1, 10):
        tablebase.solve_layer(game, table, layer, 1, lambda passes: None)
    judge, rng, exact, some = tablebase.Tablebase(game, 9, table), random.Random(3), 0, 0
    with Engine(game, hash=4) as engine:
        for _ in range(200):
            pits = [0] * 12
            for _ in range(rng.randint(7, 9)):
                pits[rng.randrange(12)] += 1
            position = split_captures_evenly(
                parse_position("-".join(map(str, [*pits, 48 - sum(pits), 0])) + "-S", game)
            )
            if position.over:
                continue
            *_, found = engine.analyse(position, Limit(depth=9), multipv=1)
            if found.exact:
                exact += 1
                assert found.value == judge.value(position)
                assert judge.move_values(position)[found.move] == found.value
                assert found.exact_moves == (found.move,)
            *_, found = engine.analyse(position, Limit(depth=9), multipv=6)
            some += 0 < len(found.exact_moves) < len(found.candidates)
            assert (found.move in found.exact_moves) == found.exact
            values = dict(found.candidates)
            assert all(values[move] == judge.move_values(position)[move] for move in found.exact_moves)
    assert exact >= 5
    assert some


# ---- repetition -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", VARIANTS)
def test_a_repeated_position_ends_the_game(game: Game) -> None:
    seen = 0
    with Engine(game, hash=1) as engine:
        for position in positions(game, 40):
            seeds = count_board_seeds(position)
            quiet = [move for move in position.legal_moves() if count_board_seeds(position.after(move)) == seeds]
            if load_or_build_tablebase(game).covers(position) or not quiet:
                continue
            again = position.after(quiet[0])
            position = replace(position, past=position.past | {(again.own, again.opp, again.side)})
            assert position.after(quiet[0]).over
            engine.clear()
            *_, found = engine.analyse(position, Limit(depth=4), multipv=6)
            left = sum(pits_of(position.after(quiet[0]).opp)) - sum(pits_of(position.after(quiet[0]).own))
            assert dict(found.candidates)[quiet[0]] == (left if game == Game.ABAPA else 0)
            seen += 1
    assert seen > 10


def test_a_long_past_does_not_overflow() -> None:
    position = Position.start(Game.ABAPA)
    past = frozenset((own << 8 | 1, 1, side) for own in range(400) for side in (0, 1))
    with Engine(Game.ABAPA, hash=1) as engine:
        *_, found = engine.analyse(replace(position, past=past), Limit(depth=13))
    assert found.move in position.legal_moves()


# ---- the engine and the player --------------------------------------------------------------------------------------
def test_tablebase_positions_have_exact_values_for_all_moves() -> None:
    position = parse_position("0-0-0-0-0-1-1-0-0-0-0-0-23-23-S", Game.ROMEIN)
    with Engine(Game.ROMEIN, hash=1) as engine:
        (found,) = engine.analyse(position, Limit(seconds=5), multipv=6)
        assert (found.value, found.exact, found.move) == (2, True, 5)
        assert set(found.exact_moves) == set(position.legal_moves())
        (outcome,) = engine.solve(position, wld=True)
        assert (outcome.value, outcome.exact_moves) == (1, (5,))
        assert position.legal_moves() == tuple(sorted(move for move, _ in found.candidates))


def test_limits_are_respected() -> None:
    position = Position.start(Game.TOURNAMENT)
    with Engine(Game.TOURNAMENT, hash=1) as engine:
        *_, found = engine.analyse(position, Limit(nodes=20_000))
        assert engine.nodes <= 21_000 and found.depth > 3
        *_, found = engine.analyse(position, Limit(depth=7))
        assert found.depth == 7 and not found.exact
        *_, found = engine.analyse(position, Limit(level=3))
        assert found.depth == 3


def test_threads_search_together_and_end() -> None:
    before = threading.active_count()
    position = Position.start(Game.ABAPA)
    with Engine(Game.ABAPA, threads=2, hash=4, heuristic=DIFFSCORE) as engine:
        *_, found = engine.analyse(position, Limit(depth=14))
        assert found.depth == 14 and found.value == 0
        stream = engine.analyse(position)
        next(stream)
        engine.stop()
        list(stream)  # the stream must end
    assert threading.active_count() == before


def test_a_cleared_engine_searches_as_a_new_one() -> None:
    start = Position.start(Game.TOURNAMENT)
    with Engine(Game.TOURNAMENT, hash=1) as engine:
        searched = []
        for moves in ((), (5, 0, 3), ()):
            position = start
            for move in moves:
                position = position.after(move)
            engine.clear()
            *_, found = engine.analyse(position, Limit(depth=10))
            searched.append(found.nodes)
    assert searched[0] == searched[2]


def test_lookups_stay_within_the_tablebase() -> None:
    with Engine(Game.ABAPA, hash=1) as engine:
        worker = worker_of(engine)
        more_seeds = worker.tablebase.seeds + 2  # a larger tablebase may be built while the engine runs
        worker.prepare(SearchRequest(Position.start(Game.ABAPA), U(63), -1, 1, 1, more_seeds), 1, 0)
        assert worker.state.tablebase_seeds == worker.tablebase.seeds


def test_excluded_moves_may_be_repeated() -> None:
    start = Position.start(Game.ABAPA)
    with Engine(Game.ABAPA, hash=1) as engine:
        best = engine.choose(start, Clock(), Limit(depth=4)).move
        assert engine.choose(start, Clock(), Limit(depth=4), [best, best]).move != best


def test_a_single_remaining_move_is_searched() -> None:
    start = Position.start(Game.ABAPA)
    with Engine(Game.ABAPA, hash=1) as engine:
        found = engine.choose(start, Clock(), Limit(depth=6), start.legal_moves()[1:])
        assert (found.move, found.depth) == (start.legal_moves()[0], 6)


@pytest.mark.parametrize("game", VARIANTS)
def test_the_champion_beats_random(game: Game) -> None:
    match = Match(game, "champion@level=6,hash=1", "random", games=4, seed=3, clock=Clock(20.0))
    result = play_match(match)
    assert result.wins == 4 and result.forfeits == (0, 0)


def test_diffscore_is_the_only_heuristic() -> None:
    with pytest.raises(ConfigError, match="does not support the heuristic 'h3'"):
        make_player("champion:h3").begin(Game.ABAPA, 0)
    make_player("champion:diffscore,hash=1").begin(Game.ABAPA, 0)


def test_a_search_that_is_stopped_keeps_a_better_move() -> None:
    changed = 0
    with Engine(Game.TOURNAMENT, hash=1) as engine:
        for position in positions(Game.TOURNAMENT, 8):
            for nodes in range(1000, 20_000, 1500):
                engine.clear()
                answers = list(engine.analyse(position, Limit(nodes=nodes)))
                assert answers[-1].move in position.legal_moves()
                if len(answers) > 1 and answers[-1].move != answers[-2].move and answers[-1].value == answers[-2].value:
                    changed += 1
    assert changed > 0
