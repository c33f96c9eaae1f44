"""Positions with the same hash: scores stay exact, and no collision causes a crash or an illegal move."""

import itertools
import random
import sys
from collections.abc import Iterable

import pytest
import reference_search
from conftest import ROOT

from awello import PASS, Game, Position, parse_position
from awello.bits import multiply_shift
from awello.engine import awale_kernels, endgame, transposition_table
from awello.engine.awale_search import AwaleWorker
from awello.engine.awale_state import PAST_PLIES
from awello.engine.engine import Engine
from awello.engine.othello_search import OthelloWorker
from awello.kernel import U
from awello.limits import Limit
from awello.web.engine_tasks import TaskRunner

sys.path.append(str(ROOT / "benchmarks"))
import stress_checks
import stress_collisions as collisions

CONSTANTS = (0, 1, 1 << 63, collisions.WORD_MASK, collisions.OWN_FACTOR, collisions.OPP_FACTOR)
WORDS = CONSTANTS + transposition_table.FIXED_MULTIPLIERS


def predecessors_of(boards: Iterable[Position], rng: random.Random) -> list[Position]:
    """Return positions from which one move leads to these boards; omit positions in which the mover must pass."""
    found = (collisions.find_predecessor(board, rng) for board in boards)
    return [position for position in found if position and not position.over and position.legal_moves() != (PASS,)]


def assert_solved(engine: Engine, positions: list[Position]) -> None:
    for position in positions:
        *_, last = engine.solve(position)
        assert last.exact and last.value == stress_checks.compute_exact_value(position), position


def assert_legal(engine: Engine, position: Position, limit: Limit) -> None:
    for answer in engine.analyse(position, limit, multipv=3):
        assert {move for move, _ in answer.candidates} <= set(position.legal_moves())
        end = position
        for move in answer.pv:
            assert move in end.legal_moves()
            end = end.after(move)


# ---- constructed boards ---------------------------------------------------------------------------------------------
def test_a_board_made_of_a_constant_is_solved() -> None:
    """In an old version of the endgame table, this board had hash 0, so it matched empty entries."""
    board = parse_position("OXOXOXO--XOOOOOXXOXOX-O-OOOOOOOXOX-OOOXOOX-OOOO-OOO-OO-X-OOOOXXO X")
    with Engine(hash=1) as engine:
        *_, last = engine.solve(board)
    assert last.exact and last.value == 16


def test_each_word_affects_the_hash() -> None:
    """In an old version, the hash of a board did not depend on one word if the other word equalled a constant."""
    multipliers = [U(word) for word in transposition_table.FIXED_MULTIPLIERS]
    for fixed in WORDS:
        for place in (0, 1):
            pairs = ((fixed, word) if place == 0 else (word, fixed) for word in WORDS)
            hashes = {int(multiply_shift.py_func(*map(U, pair), *multipliers)) for pair in pairs}  # type: ignore[attr-defined]
            assert len(hashes) == len(WORDS)


def test_boards_made_of_constants_are_solved() -> None:
    rng = random.Random(1)
    with Engine(hash=1) as engine:
        assert_solved(engine, predecessors_of(collisions.make_weak_boards(8, rng), rng))


def test_boards_that_shared_hash_0_do_not_crash() -> None:
    """In an old version, a hash collision gave a move that flips no disc; the search then accessed invalid memory."""
    rng = random.Random(2)
    word = collisions.OWN_FACTOR
    boards = [
        Position(Game.OTHELLO, word, collisions.clear_random_bits(~word & collisions.WORD_MASK, empties, rng))
        for empties in (8, 10, 13, 16, 18, 20) * 5
    ]
    with Engine(hash=1) as engine:
        for position in predecessors_of(boards, rng):
            assert_legal(engine, position, Limit(depth=8))


def test_exchanged_factors_are_not_confused() -> None:
    rng = random.Random(5)
    with Engine(hash=1) as engine:
        for _ in range(40):
            pair = collisions.make_product_collision(8, rng)
            assert collisions.compute_product_hash(pair[0].own, pair[0].opp) == collisions.compute_product_hash(
                pair[1].own, pair[1].opp
            )
            assert_solved(engine, predecessors_of(pair, rng))


def test_constructed_pairs_differ_under_a_random_hash() -> None:
    rng = random.Random(3)
    with Engine(hash=1, random_hash=True) as engine, Engine(hash=1) as fixed_engine:
        for _ in range(20):
            pair = collisions.make_fixed_hash_collision(rng.randint(10, 20), rng)
            multipliers = [each.search_threads.workers[0].state.multipliers for each in (engine, fixed_engine)]
            random_hashes, fixed_hashes = (
                {int(transposition_table.hash_position(U(board.own), U(board.opp), each)) for board in pair}
                for each in multipliers
            )
            assert len(fixed_hashes) == 1 and len(random_hashes) == 2
            for position in predecessors_of(pair, rng):
                assert_legal(fixed_engine, position, Limit(depth=8))
        assert_solved(engine, predecessors_of(collisions.make_fixed_hash_collision(10, rng), rng))


@pytest.mark.parametrize("threads", [1, 2])
def test_boards_that_hash_to_0_or_all_ones_are_searched(threads: int) -> None:
    rng, boards = random.Random(7), [Position(Game.OTHELLO, *words) for words in collisions.EXTREME_HASH_BOARDS]
    assert {collisions.compute_fixed_hash(*words) for words in collisions.EXTREME_HASH_BOARDS} == {
        0,
        collisions.WORD_MASK,
    }
    with Engine(hash=1, threads=threads) as engine:
        for position in [*boards, *predecessors_of(boards, rng), *predecessors_of(boards, rng)]:
            assert_legal(engine, position, Limit(depth=9))


def test_engines_with_a_random_hash_have_different_multipliers() -> None:
    for game in (Game.OTHELLO, Game.ABAPA):
        engines = [Engine(game, hash=1, random_hash=random_hash) for random_hash in (True, True, False)]
        drawn = [engine.search_threads.tt.multipliers for engine in engines]
        assert len(set(drawn)) == 3 and drawn[2] == transposition_table.FIXED_MULTIPLIERS


def test_the_engines_of_a_server_have_a_random_hash() -> None:
    assert TaskRunner().get_engine(Game.OTHELLO).search_threads.tt.multipliers != transposition_table.FIXED_MULTIPLIERS


# ---- poor hashes ----------------------------------------------------------------------------------------------------
@pytest.fixture(params=[(0, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1)], ids=["no word", "own word", "other word"])
def poor_hash(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a hash that depends on only one of the two words or on neither, so that most positions collide."""
    monkeypatch.setattr("awello.engine.engine.FIXED_MULTIPLIERS", request.param)


@pytest.mark.usefixtures("poor_hash")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("game", Game, ids=str)
def test_moves_are_legal_with_a_poor_hash(game: Game, threads: int) -> None:
    rng = random.Random(threads)
    with Engine(game, threads, hash=1) as engine:
        for plies in (0, 3, 8, 12, 20, 30, 40) if game == Game.OTHELLO else (0, 2, 4, 8):
            position = Position.start(game)
            while plies > 0 and not position.over:
                position, plies = position.after(rng.choice(position.legal_moves())), plies - 1
            if not position.over:
                assert_legal(engine, position, Limit(depth=rng.choice((3, 6, 10))))


@pytest.mark.usefixtures("poor_hash")
def test_the_last_squares_are_solved_with_a_poor_hash() -> None:
    rng = random.Random(6)
    with Engine(hash=1) as engine:
        assert_solved(engine, [reference_search.random_position(Game.OTHELLO, 10, rng) for _ in range(10)])


# ---- empty entries, and entries of other positions ------------------------------------------------------------------
def test_empty_entries_are_never_found() -> None:
    with Engine(hash=1) as engine:
        worker = engine.search_threads.workers[0]
        assert isinstance(worker, OthelloWorker)
        bucket = transposition_table.TableBucket.view(worker.tt.words[:8])
        assert transposition_table.probe_tt(bucket, U(0)) == 0
        assert not any(endgame.matches_board(entry, U(1), U(2)) for entry in worker.state.endgame_tt)
        transposition_table.store_tt(bucket, U(0), -4, 6, 10, 20, 9, 3, 0)
        assert transposition_table.entry_move(transposition_table.probe_tt(bucket, U(0))) == 10


def test_endgame_entries_belong_to_one_board() -> None:
    rng, seen = random.Random(4), dict[int, Position]()
    with Engine(hash=1) as engine:
        worker, compared = engine.search_threads.workers[0], 0
        assert isinstance(worker, OthelloWorker)
        while compared < 20:
            board = reference_search.random_position(Game.OTHELLO, 7, rng)
            place = int(endgame.endgame_tt_index(U(board.own), U(board.opp)))
            other = seen.setdefault(place, board)
            if other != board:
                for position in (other, board, other):
                    exact, words = reference_search.solve(position), (U(position.own), U(position.opp))
                    bound = endgame.solve_few_empties(
                        *words, reference_search.legal_moves_mask(position), exact - 1, worker.state
                    )
                    assert bound == exact
                compared += 1


def test_only_equal_positions_are_repetitions() -> None:
    """The zeros on the stack before the first past position must not match a position with hash 0."""
    with Engine(Game.ABAPA, hash=1) as engine:
        worker = engine.search_threads.workers[0]
        assert isinstance(worker, AwaleWorker)
        rows, words = worker.state.stack, (U(0x010203), U(0x030201))
        rows[PAST_PLIES].plies_since_capture = 40
        assert not awale_kernels.is_repeated(*words, PAST_PLIES, worker.state)
        before = rows[PAST_PLIES - awale_kernels.MIN_CYCLE_PLIES]
        for one, other in itertools.permutations((words[0], words[1], U(0)), 2):
            before.own, before.opp = one, other
            assert awale_kernels.is_repeated(*words, PAST_PLIES, worker.state) == ((one, other) == words)
        assert (rows[PAST_PLIES].own, rows[PAST_PLIES].opp) == words
