"""The engine: values compared with plain minimax, threads, stopped searches, hash sizes, limits and levels."""

import itertools
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import reference_search
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from waiting import SteppingTime, wait_until

from awello import PASS, Clock, Game, Match, Position, format_transcript, make_player, parse_position, play_match
from awello.analysis import Analysis
from awello.arena import game as game_loop
from awello.engine.engine import SEARCHES_BY_FAMILY, Engine
from awello.engine.levels import MAX_LEVEL, find_level
from awello.engine.othello_search import OthelloIterativeSearch
from awello.engine.probcut import NO_SELECTIVITY, load_probcut_coefficients
from awello.engine.threads import SearchRequest
from awello.engine.time_management import UNLIMITED_TIME, allocate_time
from awello.errors import AwelloError, ConfigError, NotationError, SpecError
from awello.evaluate import patterns
from awello.evaluate.weights import load_pattern_weights, stage_of
from awello.folders import data_file
from awello.formats.obf import parse_obf
from awello.kernel import U
from awello.limits import Limit
from awello.memory import address_of

SUITES = ROOT / "../shared/data/suites"


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine(hash=16) as engine:
        yield engine


def last_analysis(answers: Iterator[Analysis]) -> Analysis:
    *_, final = answers
    return final


# ---- exact values ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("game", reference_search.BOARDS, ids=str)
def test_scores_match_plain_minimax(game: Game) -> None:
    rng = random.Random(6)
    with Engine(game, hash=1) as engine:
        for empties in (1, 2, 3, 5, 7, 8):
            for _ in range(3):
                position = reference_search.random_position(
                    game, min(empties, 7) if game == Game.OTHELLO else empties, rng
                )
                exact = reference_search.solve(position)
                found = last_analysis(engine.solve(position))
                assert (found.value, found.exact, found.confidence) == (exact, True, 100)
                assert -reference_search.solve(position.after(found.move)) == exact
                assert last_analysis(engine.solve(position, wld=True)).value == (exact > 0) - (exact < 0)
                end = position
                for move in found.pv:
                    end = end.play(move)
                assert end.over
                assert reference_search.final_score(end) == (exact if end.side == position.side else -exact)


def test_the_pv_ends_the_game_even_if_all_replies_lose_every_disc(engine: Engine) -> None:
    position = parse_position("OXXXXXXX-XXXX-XXXXXX-XOXXXXXXOXXXXXXXXXXXXXXXXXXXXX X".rjust(66, "X"))
    found = last_analysis(engine.solve(position))
    assert found.value == 64 and len(position.after(found.move).legal_moves()) > 1
    for move in found.pv:
        position = position.play(move)
    assert position.over and 0 in position.score()


def test_every_search_of_a_root_returns_a_legal_move(engine: Engine) -> None:
    position = late_positions(1, 6, seed=2)[0]
    moves = U(reference_search.legal_moves_mask(position))
    engine.search_threads.begin_search()
    for alpha in (-65, -64, -1, 0, 63, 64):
        request = SearchRequest(position, moves, alpha, alpha + 1, position.empties, NO_SELECTIVITY)
        assert engine.search_threads.search(request).move in position.legal_moves()


def test_small_boards_from_the_start() -> None:
    with Engine(Game.OTHELLO4, hash=1) as engine:
        found = last_analysis(engine.solve(Position.start(Game.OTHELLO4)))
    assert found.value == reference_search.solve(Position.start(Game.OTHELLO4)) == -10


# ---- search to a depth ----------------------------------------------------------------------------------------------
def static_value(position: Position) -> int:
    """Return the evaluation of a position, rounded to whole discs as in the search."""
    indices, weights = patterns.PatternIndices.new(), load_pattern_weights()[stage_of(position.empties)]
    patterns.fill_indices(position.own, position.opp, indices)
    value = int(patterns.evaluate_patterns.py_func(indices, patterns.StageWeights.view(weights)))  # type: ignore[attr-defined]
    for place, board in enumerate((position, replace(position, own=position.opp, opp=position.own))):
        value += int(weights[patterns.PATTERN_WEIGHT_COUNT + 32 * place + len(set(board.legal_moves()) - {PASS})])
    discs = min(62, (abs(value) + 64) // 128)
    return discs if value > 0 else -discs


@pytest.mark.parametrize("empties", [14, 20, 33, 46, 56])
def test_a_full_search_is_minimax(empties: int, engine: Engine) -> None:
    rng = random.Random(empties)
    for depth in (1, 2, 3):
        position = reference_search.random_position(Game.OTHELLO, empties, rng)
        engine.clear()
        values = {
            move: -reference_search.search(position.after(move), depth - 1, static_value)
            for move in position.legal_moves()
        }
        found = last_analysis(engine.analyse(position, Limit(depth=depth), multipv=len(values)))
        assert dict(found.candidates) == values
        assert found.value == max(values.values()) and not found.exact and found.depth == depth
        assert found.exact_moves == ()


def test_best_moves_are_sorted(engine: Engine) -> None:
    position = reference_search.random_position(Game.OTHELLO, 12, random.Random(2))
    found = last_analysis(engine.analyse(position, multipv=3))
    assert len(found.candidates) == 3 and found.exact
    assert found.exact_moves == tuple(move for move, _ in found.candidates)
    children = [position.after(move) for move in position.legal_moves()]
    values = sorted((-last_analysis(engine.solve(child)).value for child in children), reverse=True)
    assert [value for _, value in found.candidates] == values[:3]


def test_a_heuristic_can_evaluate() -> None:
    player = make_player("champion:positional@3")
    player.begin(Game.OTHELLO, 0)
    assert player.choose(Position.start(), Clock()).move in Position.start().legal_moves()
    with pytest.raises(ConfigError, match="is not a heuristic"):
        make_player("champion:nothing@3").begin(Game.OTHELLO, 0)


def test_depth_increases_and_a_pass_is_analysed(engine: Engine) -> None:
    answers = list(engine.analyse(Position.start(), Limit(depth=6)))
    assert [answer.depth for answer in answers] == [1, 2, 3, 4, 5, 6]
    nodes = [answer.nodes for answer in answers]
    assert nodes == sorted(nodes)
    finished = parse_position("X" * 64 + " O")
    with pytest.raises(AwelloError, match="over"):
        list(engine.analyse(finished))
    passing = parse_position("X" * 62 + "O- O")
    assert passing.legal_moves() == (PASS,)
    found = last_analysis(engine.analyse(passing))
    assert found.move == PASS == found.pv[0]
    assert found.value == reference_search.solve(passing)
    assert found.exact_moves == (PASS,)


def test_invalid_settings_and_other_games_are_refused(engine: Engine) -> None:
    with pytest.raises(AwelloError, match="plays othello, not othello6"):
        list(engine.analyse(Position.start(Game.OTHELLO6)))
    with pytest.raises(ConfigError, match="threads"):
        Engine(threads=0)
    with pytest.raises(ConfigError, match="MiB"):
        Engine(hash=0)


INVALID_POSITIONS = [
    Position(Game.OTHELLO, 0x0000001810000000, 0x0000001008000000),
    Position(Game.OTHELLO, -1, 0),
    Position(Game.OTHELLO, 1 << 64, 0),
    Position(Game.OTHELLO4, 0x0000000810000001, 0x0000001008000000),
    replace(Position.start(), side=2),
    Position(Game.ABAPA, 0xC8, 0),
    Position(Game.ROMEIN, 0x303030303030, 0x303030303030),
    Position(Game.TOURNAMENT, 0x040404040404, 0x040404040403),
    Position(Game.ABAPA, 1 << 60, 0),
    replace(Position.start(Game.ABAPA), past=frozenset({(-1, 0, 0)})),
]


@pytest.mark.parametrize("position", INVALID_POSITIONS, ids=range(len(INVALID_POSITIONS)))
def test_invalid_positions_are_refused(position: Position) -> None:
    with Engine(position.game, hash=1) as engine:
        for search in (
            lambda: engine.analyse(position),
            lambda: engine.solve(position),
            lambda: engine.choose(position, Clock(1.0)),
            lambda: engine.find_best_move(position, Limit(depth=1)),
            lambda: engine.ponder(position),
        ):
            with pytest.raises(NotationError):
                search()


def test_invalid_limits_are_refused(engine: Engine) -> None:
    wrong: list[dict[str, Any]] = [{"depth": -1}, {"depth": 10**9}, {"nodes": -1}, {"nodes": 1 << 62}]
    for settings in [*wrong, {"seconds": -0.1}, {"seconds": float("nan")}]:
        with pytest.raises(SpecError, match="choose 0"):
            Limit(**settings)
    for limit in (Limit(depth=0), Limit(level=31), Limit(level=-1)):
        for search in (engine.analyse, engine.find_best_move):
            with pytest.raises(SpecError, match="choose"):
                search(Position.start(), limit)
    with pytest.raises(SpecError, match="multipv 0"):
        engine.analyse(Position.start(), multipv=0)


def test_running_out_of_memory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> None:
        raise MemoryError

    monkeypatch.setitem(SEARCHES_BY_FAMILY, "othello", (refuse, OthelloIterativeSearch))
    with pytest.raises(ConfigError, match="not enough memory for a hash size of 9 MiB"):
        Engine(hash=9)


@pytest.mark.parametrize("board", ["XO", "OX", "XOO", "XXXO"])
def test_boards_of_very_few_discs(board: str, engine: Engine) -> None:
    position = parse_position(f"{'-' * 27}{board}".ljust(64, "-") + " X")
    for depth in (1, 2, 9):
        found = last_analysis(engine.analyse(position, Limit(depth=depth)))
        assert found.move in position.legal_moves()


@pytest.mark.parametrize("board", ["OX--OXXOOXOO-XXO O", "-X-O-XO-OOXXOOOO X", "X-O-XXO-XXX-X-OX O"])
def test_estimates_stay_within_the_largest_score(board: str) -> None:
    with Engine(Game.OTHELLO4, hash=1) as engine:
        answers = list(engine.analyse(parse_position(board), Limit(depth=3)))
    assert max(abs(found.value) for found in answers) == 16


def test_illegal_excluded_moves_are_ignored(engine: Engine) -> None:
    start = Position.start()
    found = engine.choose(
        start, Clock(), Limit(depth=2), excluded_moves=(PASS, 99, 10**9, start.legal_moves()[0]), multipv=9
    )
    assert {move for move, _ in found.candidates} == set(start.legal_moves()[1:])
    passing = parse_position("X" * 62 + "O- O")
    assert (
        engine.find_best_move(passing, Limit(depth=1))
        == PASS
        == engine.choose(passing, Clock(), excluded_moves=(PASS,)).move
    )


# ---- threads, stopping, limits --------------------------------------------------------------------------------------
def late_positions(count: int, empties: int, seed: int) -> list[Position]:
    rng = random.Random(seed)
    return [reference_search.random_position(Game.OTHELLO, empties, rng) for _ in range(count)]


def test_threads_find_the_same_values() -> None:
    with Engine(threads=1, hash=4) as one, Engine(threads=3, hash=4) as three:
        for position in late_positions(6, 17, 8):
            alone, together = last_analysis(one.solve(position)), last_analysis(three.solve(position))
            assert alone.value == together.value and together.exact
            assert -last_analysis(one.solve(position.after(together.move))).value == alone.value
        question = SearchRequest(
            Position.start(), reference_search.legal_moves_mask(Position.start()), -64, 64, 9, NO_SELECTIVITY
        )
        for engine in (one, three):
            engine.clear()
            engine.search_threads.begin_search()
        assert one.search_threads.search(question)[0] == three.search_threads.search(question)[0]


def test_any_table_gives_the_same_scores() -> None:
    sizes = [Engine(hash=size) for size in (1, 64)]
    for position in late_positions(4, 18, 9):
        assert len({last_analysis(engine.solve(position)).value for engine in sizes}) == 1


def stop_at_random(rounds: int, threads: int, seed: int) -> None:
    """Start and stop searches at random; check that exact values are correct and that no thread remains."""
    rng, before = random.Random(seed), threading.active_count()
    positions = late_positions(10, 16, seed)
    with Engine(threads=threads, hash=2) as engine:
        exact = {position: last_analysis(engine.solve(position)).value for position in positions}
        for _ in range(rounds):
            position = rng.choice(positions)
            answers = engine.analyse(position)
            found = next(answers)
            timer = threading.Timer(rng.random() * 0.02, engine.stop)
            timer.start()
            for found in answers:  # noqa: B007  (only the last one is used)
                pass
            timer.join()
            assert found.move in position.legal_moves()
            assert not found.exact or found.value == exact[position]
            if rng.random() < 0.3:
                engine.ponder(position)
                time.sleep(rng.random() * 0.005)  # pondering ends after a random time
            if rng.random() < 0.2:
                engine.clear()
    assert threading.active_count() == before


def test_stopping_at_random_leaves_nothing_behind() -> None:
    stop_at_random(25, 2, 1)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_stopping_two_hundred_times_leaves_nothing_behind(threads: int) -> None:
    stop_at_random(200, threads, 2)


def test_a_closed_stream_stops_the_search(engine: Engine) -> None:
    answers = engine.analyse(Position.start())
    next(answers)
    before = threading.active_count()
    answers.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before - 1
    first, second = engine.analyse(Position.start()), engine.analyse(Position.start(), Limit(depth=3))
    next(first)
    assert last_analysis(second).depth == 3, "a new search ends the previous one"
    list(first)


def test_a_search_has_an_analysis_however_often_it_is_stopped() -> None:
    over, answers = threading.Event(), 0
    with Engine(hash=1, threads=2) as engine:

        def halt() -> None:
            while not over.wait(0.0001):
                engine.stop()

        stopping = threading.Thread(target=halt)
        stopping.start()
        for position in late_positions(30, 20, 4):
            answers += len(list(engine.analyse(position, multipv=8))) > 0
            assert engine.find_best_move(position, Limit(depth=5)) in position.legal_moves()
        over.set()
        stopping.join()
    assert answers == 30


def test_threads_can_share_an_engine() -> None:
    positions, wrong = late_positions(12, 9, 5), list[Position]()
    exact = {position: reference_search.solve(position) for position in positions[:3]}
    with Engine(hash=1) as engine:

        def search_all() -> None:
            for position in positions * 6:
                found = last_analysis(engine.analyse(position, multipv=3))
                if found.move not in position.legal_moves():
                    wrong.append(position)
                if found.exact and found.value != exact.get(position, found.value):
                    wrong.append(position)

        threads = [threading.Thread(target=search_all) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not wrong


def test_a_deleted_engine_stops_pondering() -> None:
    before = threading.active_count()
    engine = Engine(hash=1)
    engine.ponder(Position.start())
    assert threading.active_count() == before + 1
    del engine
    wait_until(lambda: threading.active_count() == before)


def test_concurrent_loads_share_the_weights(tmp_path: Path) -> None:
    file = tmp_path / "new.npz"  # a new file, so the weights are not in the cache
    file.write_bytes(data_file("patterns.npz").read_bytes())
    start, found = threading.Barrier(8), list[int]()

    def load() -> None:
        start.wait()
        found.append(address_of(load_pattern_weights(file)))

    threads = [threading.Thread(target=load) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [address_of(load_pattern_weights(file))] * 8


def test_limits_are_respected(engine: Engine) -> None:
    engine.clear()
    few_nodes = last_analysis(engine.analyse(Position.start(), Limit(nodes=20_000)))
    assert 0 < few_nodes.nodes <= 20_000
    assert last_analysis(engine.analyse(Position.start(), Limit(nodes=1))).depth >= 1
    quick = last_analysis(engine.analyse(Position.start(), Limit(seconds=0.05)))
    assert quick.move in Position.start().legal_moves()
    assert last_analysis(engine.analyse(Position.start(), Limit(seconds=0))).depth == 1


# ---- levels and clock -----------------------------------------------------------------------------------------------
def test_strength_increases_with_the_level() -> None:
    levels = [find_level(number) for number in range(MAX_LEVEL + 1)]
    for lower, higher in itertools.pairwise(levels):
        assert (lower.depth, lower.exact_empties) <= (higher.depth, higher.exact_empties)
    assert levels[12].endgame_selectivity(20) == NO_SELECTIVITY and levels[12].endgame_selectivity(30) is None
    assert levels[0].endgame_selectivity(1) is None
    with pytest.raises(SpecError, match="level 31 does not exist: choose 0 to 30"):
        find_level(31)


@given(st.floats(0, 10_000), st.floats(0, 60), st.floats(0, 60))
def test_no_move_is_allocated_more_than_the_clock(seconds: float, increment: float, moves: float) -> None:
    budget = allocate_time(Clock(seconds, increment), moves)
    assert budget.optimum >= 0 and 0 <= budget.maximum <= seconds
    assert allocate_time(Clock(), moves) == UNLIMITED_TIME


def test_early_moves_get_more_time() -> None:
    early, late = allocate_time(Clock(60), 15), allocate_time(Clock(60), 2)
    assert early.optimum < late.optimum <= 15


def test_probcut_margins_rise_with_selectivity() -> None:
    parts = list(load_probcut_coefficients().margin_parts)
    assert len(parts) == NO_SELECTIVITY and parts == sorted(parts)


# ---- the player -----------------------------------------------------------------------------------------------------
def test_the_champion_beats_the_textbook_and_repeats_itself() -> None:
    match = Match(Game.OTHELLO, "champion@level=3", "alphabeta:mixed@3", games=4, seed=5)
    first, again = play_match(match), play_match(match)
    assert first.wins >= 3
    assert (first.wins, first.draws, first.losses) == (again.wins, again.draws, again.losses)


def test_the_champion_plays_by_the_clock_and_ponders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(game_loop, "time", SteppingTime(0.05))  # a clock that does not depend on the load
    before = threading.active_count()
    match = Match(Game.OTHELLO6, "champion,ponder=true,hash=1", "random", games=2, seed=1, clock=Clock(1.2))
    result = play_match(match)
    assert result.games == 2 and result.forfeits == (0, 0)
    assert threading.active_count() == before


@pytest.mark.parametrize("game", [Game.OTHELLO, Game.ABAPA], ids=str)
def test_the_champion_gives_away_no_more_than_its_slack(game: Game) -> None:
    given, rng = 0, random.Random(4)
    player = make_player("champion@3,hash=1,max_loss=3,mistake_percent=100")
    player.begin(game, 1)
    for plies in range(4, 16):
        position = Position.start(game)
        for _ in range(plies):
            position = position.after(rng.choice(position.legal_moves()))
        choice = player.choose(position, Clock())
        assert choice.analysis
        values = dict(choice.analysis.candidates)
        assert values.keys() == set(position.legal_moves())
        loss = max(values.values()) - values[choice.move]
        assert loss <= 3 and choice.analysis.value == values[choice.move]
        assert loss > 0 or not any(0 < max(values.values()) - value <= 3 for value in values.values())
        given += loss > 0
    player.end()
    assert given > 5


def test_the_champion_gives_away_as_often_as_set() -> None:
    def games(spec: str, seed: int) -> list[str]:
        match = Match(Game.OTHELLO6, f"champion@2,hash=1{spec}", "champion@2,hash=1", games=4, seed=seed)
        return [format_transcript(record) for record in play_match(match).records]

    assert games(",max_loss=4", 1) == games(",mistake_percent=50", 1) == games("", 1)
    assert games(",max_loss=4,mistake_percent=50", 1) == games(",max_loss=4,mistake_percent=50", 1)
    assert games(",max_loss=4,mistake_percent=50", 1) not in (games("", 1), games(",max_loss=4,mistake_percent=50", 2))


def test_invalid_champion_settings_are_refused() -> None:
    with pytest.raises(SpecError, match="level 99 does not exist"):
        make_player("champion@level=99").begin(Game.OTHELLO, 0)
    with pytest.raises(SpecError, match="champion@0 needs a depth"):
        make_player("champion@0").begin(Game.OTHELLO, 0)
    with pytest.raises(SpecError, match="threads"):
        make_player("champion,threads=0")
    for wrong in ("max_loss=-1", "max_loss=nan", "mistake_percent=101", "mistake_percent=-1"):
        with pytest.raises(SpecError, match=wrong.partition("=")[0]):
            make_player(f"champion,{wrong}")


# ---- published problems ---------------------------------------------------------------------------------------------
def read_problems(name: str) -> list[Any]:
    file = Path(SUITES / name)
    if not file.exists():
        pytest.skip(f"{name} is not available")
    return parse_obf(file.read_text("utf-8"))


@pytest.mark.parametrize("name", ["fforum-1-19.obf", "fforum-20-39.obf"])
def test_published_problems(name: str, engine: Engine) -> None:
    for problem in read_problems(name):
        if problem.position.empties <= 18:
            found = last_analysis(engine.solve(problem.position))
            assert found.value == problem.best_score and found.move in problem.best_moves


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fforum-1-19.obf", "fforum-20-39.obf", "fforum-40-59.obf"])
def test_all_published_problems_to_49(name: str) -> None:
    with Engine(threads=2, hash=128) as engine:
        for problem in read_problems(name)[:10] if "40" in name else read_problems(name):
            found = last_analysis(engine.solve(problem.position))
            assert found.value == problem.best_score and found.move in problem.best_moves
