"""Positions that share a hash: constructed ones get exact scores, and no hash leads to a crash or an illegal move."""

import itertools
import random
import sys
from collections.abc import Iterable

import pytest
import reference_search
from conftest import ROOT

from awello import PASS, Game, Position, parse_position
from awello.bits import multiply_shift
from awello.engine import awale, endgame, transposition_table
from awello.engine.awale_search import AwaleWorker
from awello.engine.awale_state import PAST
from awello.engine.engine import Engine
from awello.engine.othello_search import OthelloWorker
from awello.kernel import U
from awello.limits import Limit
from awello.web.engine_tasks import TaskRunner

sys.path.append(str(ROOT / "benchmarks"))
import fortress_collisions as built
import fortress_truth

WORDS = (0, 1, 1 << 63, built.FULL, built.OWN_FACTOR, built.OPP_FACTOR, *transposition_table.PUBLIC_MULTIPLIERS)


def askable(boards: Iterable[Position], chance: random.Random) -> list[Position]:
    """Positions a move before these boards, in which the mover has a choice."""
    found = (built.position_before(board, chance) for board in boards)
    return [position for position in found if position and not position.over and position.legal_moves() != (PASS,)]


def assert_solved(engine: Engine, positions: list[Position]) -> None:
    for position in positions:
        *_, last = engine.solve(position)
        assert last.exact and last.value == fortress_truth.truth(position), position


def assert_legal(engine: Engine, position: Position, limit: Limit) -> None:
    for answer in engine.analyse(position, limit, best=3):
        assert {move for move, _ in answer.candidates} <= set(position.legal_moves())
        end = position
        for move in answer.line:
            assert move in end.legal_moves()
            end = end.after(move)


# ---- constructed boards ---------------------------------------------------------------------------------------------
def test_a_board_made_of_a_constant_is_solved() -> None:
    """An empty place of the small table was taken for this board's, which hashed to 0."""
    board = parse_position("OXOXOXO--XOOOOOXXOXOX-O-OOOOOOOXOX-OOOXOOX-OOOO-OOO-OO-X-OOOOXXO X")
    with Engine(hash=1) as engine:
        *_, last = engine.solve(board)
    assert last.exact and last.value == 16


def test_no_word_hides_the_other() -> None:
    """Where one word was a constant of the hash, the other did not matter."""
    multipliers = [U(word) for word in transposition_table.PUBLIC_MULTIPLIERS]
    for fixed in WORDS:
        for place in (0, 1):
            pairs = ((fixed, word) if place == 0 else (word, fixed) for word in WORDS)
            hashes = {int(multiply_shift.twin(*map(U, pair), *multipliers)) for pair in pairs}  # type: ignore[attr-defined]
            assert len(hashes) == len(WORDS)


def test_boards_made_of_constants_are_solved() -> None:
    chance = random.Random(1)
    with Engine(hash=1) as engine:
        assert_solved(engine, askable(built.weak_boards(8, chance), chance))


def test_boards_that_shared_hash_0_do_not_crash() -> None:
    """The table gave one board the best move of another, which turned no disc, and the search left its memory."""
    chance = random.Random(2)
    word = built.OWN_FACTOR
    boards = [
        Position(Game.OTHELLO, word, built.without_some(~word & built.FULL, empties, chance))
        for empties in (8, 10, 13, 16, 18, 20) * 5
    ]
    with Engine(hash=1) as engine:
        for position in askable(boards, chance):
            assert_legal(engine, position, Limit(depth=8))


def test_exchanged_factors_are_not_confused() -> None:
    chance = random.Random(5)
    with Engine(hash=1) as engine:
        for _ in range(40):
            pair = built.product_pair(8, chance)
            assert built.product_hash(pair[0].own, pair[0].opp) == built.product_hash(pair[1].own, pair[1].opp)
            assert_solved(engine, askable(pair, chance))


def test_constructed_pairs_differ_under_a_secret_hash() -> None:
    chance = random.Random(3)
    with Engine(hash=1, secret=True) as engine, Engine(hash=1) as public:
        for _ in range(20):
            pair = built.public_pair(chance.randint(10, 20), chance)
            multipliers = [each.team.workers[0].state.multipliers for each in (engine, public)]
            secret, known = (
                {int(transposition_table.hash_of(U(board.own), U(board.opp), each)) for board in pair}
                for each in multipliers
            )
            assert len(known) == 1 and len(secret) == 2
            for position in askable(pair, chance):
                assert_legal(public, position, Limit(depth=8))
        assert_solved(engine, askable(built.public_pair(10, chance), chance))


@pytest.mark.parametrize("threads", [1, 2])
def test_boards_that_hash_to_0_or_to_all_ones_are_like_others(threads: int) -> None:
    chance, boards = random.Random(7), [Position(Game.OTHELLO, *words) for words in built.EXTREMES]
    assert {built.public_hash(*words) for words in built.EXTREMES} == {0, built.FULL}
    with Engine(hash=1, threads=threads) as engine:
        for position in [*boards, *askable(boards, chance), *askable(boards, chance)]:
            assert_legal(engine, position, Limit(depth=9))


def test_every_engine_has_its_own_secret() -> None:
    for game in (Game.OTHELLO, Game.ABAPA):
        engines = [Engine(game, hash=1, secret=secret) for secret in (True, True, False)]
        drawn = [engine.team.table.multipliers for engine in engines]
        assert len(set(drawn)) == 3 and drawn[2] == transposition_table.PUBLIC_MULTIPLIERS


def test_the_engines_of_a_server_are_secret() -> None:
    assert TaskRunner().engine(Game.OTHELLO).team.table.multipliers != transposition_table.PUBLIC_MULTIPLIERS


# ---- the worst hash there is ----------------------------------------------------------------------------------------
@pytest.fixture(params=[(0, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1)], ids=["no word", "own word", "other word"])
def poor_hash(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hash of one word or none: the table takes most positions for one another."""
    monkeypatch.setattr("awello.engine.engine.PUBLIC_MULTIPLIERS", request.param)


@pytest.mark.usefixtures("poor_hash")
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("game", Game, ids=str)
def test_moves_are_legal_whatever_the_table_says(game: Game, threads: int) -> None:
    chance = random.Random(threads)
    with Engine(game, threads, hash=1) as engine:
        for plies in (0, 3, 8, 12, 20, 30, 40) if game == Game.OTHELLO else (0, 2, 4, 8):
            position = Position.start(game)
            while plies > 0 and not position.over:
                position, plies = position.after(chance.choice(position.legal_moves())), plies - 1
            if not position.over:
                assert_legal(engine, position, Limit(depth=chance.choice((3, 6, 10))))


@pytest.mark.usefixtures("poor_hash")
def test_the_last_squares_are_solved_whatever_the_hash() -> None:
    chance = random.Random(6)
    with Engine(hash=1) as engine:
        assert_solved(engine, [reference_search.random_position(Game.OTHELLO, 10, chance) for _ in range(10)])


# ---- empty entries, and entries of others ---------------------------------------------------------------------------
def test_empty_entries_tell_nothing() -> None:
    with Engine(hash=1) as engine:
        worker = engine.team.workers[0]
        assert isinstance(worker, OthelloWorker)
        bucket = transposition_table.TableBucket.view(worker.table.words[:8])
        assert transposition_table.recall(bucket, U(0)) == 0
        assert not any(endgame.holds(entry, U(1), U(2)) for entry in worker.state.small_table)
        transposition_table.remember(bucket, U(0), -4, 6, 10, 20, 9, 3, 0)
        assert transposition_table.move_of(transposition_table.recall(bucket, U(0))) == 10


def test_a_place_of_the_small_table_belongs_to_one_board() -> None:
    chance, seen = random.Random(4), dict[int, Position]()
    with Engine(hash=1) as engine:
        worker, compared = engine.team.workers[0], 0
        assert isinstance(worker, OthelloWorker)
        while compared < 20:
            board = reference_search.random_position(Game.OTHELLO, 7, chance)
            place = int(endgame.small_index(U(board.own), U(board.opp)))
            other = seen.setdefault(place, board)
            if other != board:
                for position in (other, board, other):
                    exact, words = reference_search.solve(position), (U(position.own), U(position.opp))
                    bound = endgame.solve_few_empties(
                        *words, reference_search.legal_moves_mask(position), exact - 1, worker.state
                    )
                    assert bound == exact
                compared += 1


def test_only_the_same_position_is_a_repetition() -> None:
    """Rows in the place of a past that is shorter than a cycle hold zeros, which a hash of 0 was equal to."""
    with Engine(Game.ABAPA, hash=1) as engine:
        worker = engine.team.workers[0]
        assert isinstance(worker, AwaleWorker)
        rows, words = worker.state.rows, (U(0x010203), U(0x030201))
        rows[PAST].quiet_moves = 40
        assert not awale.is_repeated(*words, PAST, worker.state)
        before = rows[PAST - awale.CYCLE]
        for one, other in itertools.permutations((words[0], words[1], U(0)), 2):
            before.own, before.opp = one, other
            assert awale.is_repeated(*words, PAST, worker.state) == ((one, other) == words)
        assert (rows[PAST].own, rows[PAST].opp) == words
