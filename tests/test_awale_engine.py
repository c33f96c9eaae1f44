"""The champion of Awalé: its search against a plain one, proofs against solved endgames, repetition, limits."""

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
from awello.engine.awale_state import UNIT
from awello.engine.engine import Engine
from awello.engine.retrograde import OFFSET
from awello.engine.tablebase import evenly, load_or_build, seeds_on_board
from awello.engine.threads import SearchRequest
from awello.errors import ConfigError
from awello.evaluate.awale_network import ROWS, UNITS
from awello.evaluate.settings import Heuristic
from awello.evaluate.weights import as_awale_network_weights
from awello.kernel import U
from awello.limits import Clock, Limit
from awello.rules.awale import pits_of

VARIANTS = [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN]
DIFFSCORE = Heuristic("diffscore")


@pytest.fixture(scope="module", autouse=True)
def own_folder(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Tables of these tests lie in a folder of their own, small ones."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("tables")
        patch.setattr(tablebase, "user_cache", lambda: folder)
        patch.setattr(tablebase, "SMALL", 6)
        yield folder


def worker_of(engine: Engine) -> AwaleWorker:
    worker = engine.team.workers[0]
    assert isinstance(worker, AwaleWorker)
    return worker


def random_weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-99, 100, (ROWS, UNITS)).astype(np.int16)


def teach(engine: Engine, weights: np.ndarray) -> None:
    """Give an engine other weights."""
    worker_of(engine).evaluate_by(as_awale_network_weights(weights))


# ---- a plain search -------------------------------------------------------------------------------------------------
def children(position: Position) -> list[tuple[int, Position]]:
    """What each move captures, and the position after it."""
    return [
        (seeds_on_board(position) - seeds_on_board(after), after)
        for after in (evenly(position.after(move)) for move in position.legal_moves())
    ]


def final(position: Position) -> int:
    """What the mover still gets when the game is over."""
    rows = sum(pits_of(position.own)), sum(pits_of(position.opp))
    stopped = position.game == Game.TOURNAMENT and sum(rows) <= 6
    return 0 if stopped else UNIT * (rows[0] - rows[1])


def known(position: Position) -> int | None:
    """What needs no search: the end of the game, or a solved endgame."""
    if not position.legal_moves():
        return final(position)
    base = load_or_build(position.game)
    return UNIT * base.value(position) if base.covers(position) else None


def captures(position: Position, weights: np.ndarray) -> int:
    """The value at the horizon: stand still, or capture and go on."""
    value = known(position)
    if value is None:
        after = [UNIT * gain - captures(child, weights) for gain, child in children(position) if gain]
        value = max([evaluate_pits(position.own, position.opp, weights), *after])
    return value


def plain(position: Position, depth: int, weights: np.ndarray | None) -> int:
    """The value by the definition."""
    if (value := known(position)) is not None:
        return value
    if weights is not None and depth == 0:
        return captures(position, weights)
    if weights is None and depth <= 1:
        return UNIT * max(gain for gain, _ in children(position)) if depth else 0
    return max(UNIT * gain - plain(child, depth - 1, weights) for gain, child in children(position))


@pytest.mark.parametrize("game", VARIANTS)
def test_values_are_those_of_a_plain_search(game: Game) -> None:
    weights = random_weights(int(game))
    with Engine(game, hash=1, heuristic=DIFFSCORE) as simple, Engine(game, hash=1) as learnt:
        teach(learnt, weights)
        for position in map(evenly, positions(game, 10)):
            if load_or_build(game).covers(position):
                continue
            for depth in (1, 2, 3, 4):
                for engine, judge in ((simple, None), (learnt, weights)):
                    engine.clear()  # what deeper searches found is better, not the same
                    *_, found = engine.analyse(position, Limit(depth=depth), best=6)
                    expected = {
                        move: (UNIT * gain - plain(child, depth - 1, judge)) / UNIT
                        for move, (gain, child) in zip(position.legal_moves(), children(position), strict=True)
                    }
                    assert dict(found.candidates) == expected
                    assert found.value == max(expected.values()) == expected[found.move]


@pytest.mark.parametrize("game", VARIANTS)
def test_what_it_calls_exact_is_what_the_endgames_say(game: Game) -> None:
    table = np.zeros(int(OFFSET[10]), np.uint8)
    for level in range(7 if game == Game.TOURNAMENT else 1, 10):
        tablebase.solve_level(game, table, level, 1, lambda passes: None)
    judge, chance, proved, some = tablebase.Tablebase(game, 9, table), random.Random(3), 0, 0
    with Engine(game, hash=4) as engine:
        for _ in range(200):
            pits = [0] * 12
            for _ in range(chance.randint(7, 9)):
                pits[chance.randrange(12)] += 1
            position = evenly(parse_position("-".join(map(str, [*pits, 48 - sum(pits), 0])) + "-S", game))
            if position.over:
                continue
            *_, found = engine.analyse(position, Limit(depth=9), best=1)
            if found.exact:
                proved += 1
                assert found.value == judge.value(position)
                assert judge.values(position)[found.move] == found.value
                assert found.exact_moves == (found.move,)
            *_, found = engine.analyse(position, Limit(depth=9), best=6)
            some += 0 < len(found.exact_moves) < len(found.candidates)
            assert (found.move in found.exact_moves) == found.exact
            values = dict(found.candidates)
            assert all(values[move] == judge.values(position)[move] for move in found.exact_moves)
    assert proved >= 5
    assert some


# ---- repetition -----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", VARIANTS)
def test_a_position_that_came_before_ends_the_game(game: Game) -> None:
    seen = 0
    with Engine(game, hash=1) as engine:
        for position in positions(game, 40):
            quiet = [m for m in position.legal_moves() if seeds_on_board(position.after(m)) == seeds_on_board(position)]
            if load_or_build(game).covers(position) or not quiet:
                continue
            again = position.after(quiet[0])
            position = replace(position, past=position.past | {(again.own, again.opp, again.side)})
            assert position.after(quiet[0]).over
            engine.clear()
            *_, found = engine.analyse(position, Limit(depth=4), best=6)
            left = sum(pits_of(position.after(quiet[0]).opp)) - sum(pits_of(position.after(quiet[0]).own))
            assert dict(found.candidates)[quiet[0]] == (left if game == Game.ABAPA else 0)
            seen += 1
    assert seen > 10


def test_many_positions_before_do_not_overflow() -> None:
    position = Position.start(Game.ABAPA)
    past = frozenset((own << 8 | 1, 1, side) for own in range(400) for side in (0, 1))
    with Engine(Game.ABAPA, hash=1) as engine:
        *_, found = engine.analyse(replace(position, past=past), Limit(depth=13))
    assert found.move in position.legal_moves()


# ---- the engine and the player --------------------------------------------------------------------------------------
def test_inside_the_endgames_every_move_has_its_value() -> None:
    position = parse_position("0-0-0-0-0-1-1-0-0-0-0-0-23-23-S", Game.ROMEIN)
    with Engine(Game.ROMEIN, hash=1) as engine:
        (found,) = engine.analyse(position, Limit(seconds=5), best=6)
        assert (found.value, found.exact, found.move) == (2, True, 5)
        assert set(found.exact_moves) == set(position.legal_moves())
        (outcome,) = engine.solve(position, wld=True)
        assert (outcome.value, outcome.exact_moves) == (1, (5,))
        assert position.legal_moves() == tuple(sorted(move for move, _ in found.candidates))


def test_limits_are_kept() -> None:
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
        list(stream)  # comes to an end
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


def test_no_endgame_is_looked_up_that_its_own_table_does_not_hold() -> None:
    with Engine(Game.ABAPA, hash=1) as engine:
        worker = worker_of(engine)
        moreover = worker.base.seeds + 2  # a larger table may be built while an engine is at work
        worker.prepare(SearchRequest(Position.start(Game.ABAPA), U(63), -1, 1, 1, moreover), 1, 0)
        assert worker.state.tablebase_seeds == worker.base.seeds


def test_moves_are_left_out_however_often_they_are_named() -> None:
    start = Position.start(Game.ABAPA)
    with Engine(Game.ABAPA, hash=1) as engine:
        best = engine.choose(start, Clock(), Limit(depth=4)).move
        assert engine.choose(start, Clock(), Limit(depth=4), [best, best]).move != best


def test_the_one_move_that_is_left_is_searched_all_the_same() -> None:
    start = Position.start(Game.ABAPA)
    with Engine(Game.ABAPA, hash=1) as engine:
        found = engine.choose(start, Clock(), Limit(depth=6), start.legal_moves()[1:])
        assert (found.move, found.depth) == (start.legal_moves()[0], 6)


@pytest.mark.parametrize("game", VARIANTS)
def test_the_champion_beats_random(game: Game) -> None:
    match = Match(game, "champion@level=6,hash=1", "random", games=4, seed=3, clock=Clock(20.0))
    result = play_match(match)
    assert result.wins == 4 and result.forfeits == (0, 0)


def test_only_diffscore_can_stand_in_for_what_was_learnt() -> None:
    with pytest.raises(ConfigError, match="does not use h3"):
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
