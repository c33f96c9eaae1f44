"""The kernels of the champion against twins and plain judges: patterns, memory, table, stability, last squares."""

import random
from collections.abc import Iterator
from typing import Any

import judges
import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from awello import PASS, Game, Position, parse_position
from awello.bits import multiply_shift
from awello.engine import block as slots
from awello.engine import last, table
from awello.engine.endgame import few
from awello.engine.engine import Engine
from awello.engine.othello_search import OthelloWorker, edge_table
from awello.engine.stability import stable_discs
from awello.engine.table import hash_of
from awello.evaluate import patterns
from awello.evaluate.weights import pattern_weights, stage_of
from awello.kernel import U
from awello.memory import address_of, clear_bits, load, load8, load16, set_bits


def worker_of(game: Game) -> OthelloWorker:
    with Engine(game, hash=1) as made:
        made.team.begin()
        worker = made.team.workers[0]
        assert isinstance(worker, OthelloWorker)
        return worker


def compiled(instruction: Any) -> Any:
    """An instruction as a function that Python can call."""
    return numba.njit(lambda *words: instruction(*words))


# ---- hashes ---------------------------------------------------------------------------------------------------------
def test_boards_that_resemble_each_other_have_different_hashes() -> None:
    """A hash in which changes of some squares cancelled each other made searches take one board for another."""
    own, opp, worker = 0x78795808000814E0, 0x8786A7F73F372B1F, worker_of(Game.OTHELLO)
    block = worker.address
    seen = {int(hash_of(U(own), U(opp), block)): (own, opp)}
    chance = random.Random(1)
    for _ in range(100_000):
        mine, theirs = own, opp
        for square in chance.sample((28, 29, 30, 31, 32, 33, 56, 57, 58, 59, 60, 61, 62, 63), 4):
            colour = chance.randrange(3)
            mine = mine & ~(1 << square) | (colour == 1) << square
            theirs = theirs & ~(1 << square) | (colour == 2) << square
        key = int(hash_of(U(mine), U(theirs), block))
        assert seen.setdefault(key, (mine, theirs)) == (mine, theirs)
    hashed = multiply_shift.twin(U(own), U(opp), *map(U, table.PUBLIC_MULTIPLIERS))  # type: ignore[attr-defined]
    assert int(hash_of(U(own), U(opp), block)) == int(hashed)


# ---- patterns -------------------------------------------------------------------------------------------------------
def aligned_rows(count: int) -> list[Any]:
    room = np.zeros(64 * count + 64, np.int16)
    skip = -address_of(room) % 64 // 2
    return [room[skip + 64 * row : skip + 64 * row + 64] for row in range(count)]


def random_game(seed: int) -> Iterator[tuple[Position, int]]:
    chance, position = random.Random(seed), Position.start()
    while not position.over:
        move = chance.choice(position.legal_moves())
        yield position, move
        position = position.after(move)


def test_pattern_rows_follow_the_moves() -> None:
    turn, swap, value = map(compiled, (patterns.turn_row, patterns.swap_row, patterns.worth))
    fresh, kept, twin = aligned_rows(3)
    weights = pattern_weights()[stage_of(30)]
    for position, move in random_game(3):
        patterns.fill_row(position.own, position.opp, fresh)
        after = position.after(move)
        kept[:] = twin[:] = fresh
        if move == PASS:
            swap(address_of(kept))
            patterns.swap_row.twin(address_of(twin))  # type: ignore[attr-defined]
        else:
            flips = U(position.opp & ~after.own)
            turn(address_of(fresh), move, flips, address_of(kept))
            patterns.turn_row.twin(address_of(fresh), move, flips, address_of(twin))  # type: ignore[attr-defined]
        patterns.fill_row(after.own, after.opp, fresh)
        assert (kept[:48] == fresh[:48]).all() and (twin[:48] == fresh[:48]).all()
        plain = patterns.worth.twin(address_of(kept), address_of(weights))  # type: ignore[attr-defined]
        assert value(address_of(kept), address_of(weights)) == plain


def test_an_index_counts_own_discs_up_and_enemy_discs_down() -> None:
    row = np.zeros(64, np.int16)
    patterns.fill_row(1 << 0, 1 << 1, row)
    corner = patterns.SHAPES[0].split()
    assert row[0] == 3 ** corner.index("a1") - 3 ** corner.index("b1")
    for shape, squares in zip(patterns.SHAPES, patterns.LANES[:: patterns.VIEWS], strict=True):
        assert len(set(squares)) == len(shape.split())


def test_a_turned_board_has_the_same_value() -> None:
    weights, row = pattern_weights()[stage_of(30)], np.zeros(64, np.int16)
    position = parse_position("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X")
    values = []
    own, opp = position.own, position.opp
    for _ in range(4):
        patterns.fill_row(own, opp, row)
        values.append(int(patterns.worth.twin(address_of(row), address_of(weights))))  # type: ignore[attr-defined]
        own, opp = (
            sum(1 << patterns._turned(square) for square in range(64) if word >> square & 1) for word in (own, opp)
        )
    assert len(set(values)) == 1


# ---- memory, table, stability ---------------------------------------------------------------------------------------
def test_bits_and_bytes_of_memory() -> None:
    words = np.zeros(2, np.int64)
    address = address_of(words)
    for setting, clearing in (
        (set_bits.twin, clear_bits.twin),  # type: ignore[attr-defined]
        (compiled(set_bits), compiled(clear_bits)),
    ):
        setting(address, 1, U(1 << 63 | 5))
        assert words.tolist() == [0, 5 - (1 << 63)]
        clearing(address, 1, U(1 << 63 | 1))
        assert words.tolist() == [0, 4]
        clearing(address, 1, U(4))
    words[0] = 0x0102
    read = compiled(load8)
    assert [int(read(address, U(place))) for place in (0, 1)] == [2, 1]
    assert [int(load8.twin(address, U(place))) for place in (0, 1)] == [2, 1]  # type: ignore[attr-defined]
    words[0] = 5 << 16 | 0xFFFD
    read = compiled(load16)
    assert [int(read(address, place)) for place in (0, 1)] == [-3, 5]
    assert [int(load16.twin(address, place)) for place in (0, 1)] == [-3, 5]  # type: ignore[attr-defined]


def entry(key: int, depth: int, worker: OthelloWorker, age: int = 0) -> int:
    """Remember something of this depth under a key; its bucket."""
    worker.words[slots.AGE] = age
    bucket = int(table.bucket_of(U(key), worker.address))
    table.remember(bucket, U(key), -4, 6, 10, 20, depth, 3, worker.address)
    return bucket


def test_the_table_remembers_all_parts() -> None:
    worker = worker_of(Game.OTHELLO)
    key = 0x9234567890ABCDEF
    data = int(table.recall(entry(key, 21, worker), U(key)))
    assert (table.lower_of(data), table.upper_of(data), table.depth_of(data), table.certainty_of(data)) == (
        -4,
        6,
        21,
        3,
    )
    assert (table.move_of(data), table.second_of(data)) == (10, 20)
    assert table.recall(table.bucket_of(U(key), worker.address), U(key ^ 1)) == 0


def test_a_torn_entry_is_not_found() -> None:
    worker = worker_of(Game.OTHELLO)
    key = 0x9234567890ABCDEF
    bucket = entry(key, 21, worker)
    place = next(place for place in range(4) if load.twin(bucket, 2 * place + 1))  # type: ignore[attr-defined]
    compiled(set_bits)(bucket, 2 * place + 1, U(1 << 50))
    assert table.recall(bucket, U(key)) == 0


def test_a_shallow_search_does_not_wipe_out_a_deep_one() -> None:
    worker, key = worker_of(Game.OTHELLO), 0x9234567890ABCDEF
    for depth, known in ((20, 20), (8, 20), (21, 21)):
        assert table.depth_of(int(table.recall(entry(key, depth, worker), U(key)))) == known


def test_old_and_shallow_entries_go_first() -> None:
    worker = worker_of(Game.OTHELLO)
    keys = [number << 56 | 7 << 30 for number in range(1, 7)]
    for number, (key, depth, age) in enumerate(zip(keys, (9, 30, 12, 15, 8, 11), (2, 1, 2, 2, 2, 2), strict=True)):
        entry(key, depth, worker, age)
        if number == 4:
            assert not table.recall(table.bucket_of(U(keys[1]), worker.address), U(keys[1])), "the old one is gone"
    known = [bool(table.recall(table.bucket_of(U(key), worker.address), U(key))) for key in keys]
    assert known == [True, False, True, True, False, True]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 25))
def test_stable_discs_are_never_turned(seed: int, empties: int) -> None:
    chance = random.Random(seed)
    position = judges.random_position(Game.OTHELLO, empties, chance)
    stable = int(stable_discs(U(position.own), U(position.opp), address_of(edge_table())))
    assert stable & ~position.own == 0
    side = position.side
    for _ in range(10):
        later = position
        while not later.over:
            later = later.after(chance.choice(later.legal_moves()))
            assert (later.second if side else later.first) & stable == stable


def test_edges_that_are_stable() -> None:
    edges = edge_table()
    assert edges[0b00000111 << 8] == 0b111, "from a corner on"
    assert edges[0b00000110 << 8] == 0, "not without it"
    assert edges[0b00111100 << 8 | 0b11000011] == 0b00111100, "a full edge"


# ---- the last squares -----------------------------------------------------------------------------------------------
def test_the_last_move_is_counted() -> None:
    chance, count = random.Random(1), compiled(last.last_flips)
    for _ in range(300):
        square = chance.randrange(64)
        own = chance.getrandbits(64) & ~(1 << square)
        opp = ~own & ~(1 << square) & (1 << 64) - 1
        turned = int(count(U(own), U(opp), square))
        position = Position(Game.OTHELLO, own, opp)
        legal = square in position.legal_moves()
        assert turned == (position.opp.bit_count() - position.after(square).own.bit_count() if legal else 0)
        assert turned == last.last_flips.twin(U(own), U(opp), square)  # type: ignore[attr-defined]


@pytest.mark.parametrize("game", judges.BOARDS, ids=str)
def test_few_squares_are_solved_as_by_the_plain_judge(game: Game) -> None:
    chance, worker = random.Random(4), worker_of(game)
    for empties in [*range(1, 7)] * 12:
        position = judges.random_position(game, empties, chance)
        exact = judges.solve(position)
        for alpha in (-64, -11, -1, 0, 1, exact - 1, exact, exact + 3, 63):
            bound = few(U(position.own), U(position.opp), judges.moves_word(position), alpha, worker.address)
            assert (bound > alpha) == (exact > alpha)
            assert exact >= bound if bound > alpha else exact <= bound
