"""The kernels of the engine compared with plain Python: hashes, flips, patterns, tables, stability, last empties."""

import random
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
import pytest
import reference_search
from hypothesis import given, settings
from hypothesis import strategies as st

from awello import PASS, Game, Position, bits, parse_position
from awello.bits import multiply_shift
from awello.engine import last_empties, transposition_table
from awello.engine.endgame import solve_few_empties
from awello.engine.engine import Engine
from awello.engine.othello_search import OthelloWorker, build_edge_table
from awello.engine.stability import stable_discs
from awello.engine.transposition_table import hash_position
from awello.evaluate import patterns
from awello.evaluate.weights import load_pattern_weights, stage_of
from awello.kernel import U, instruction
from awello.memory import address_of, load8


def worker_of(game: Game) -> OthelloWorker:
    with Engine(game, hash=1) as engine:
        engine.search_threads.begin_search()
        worker = engine.search_threads.workers[0]
        assert isinstance(worker, OthelloWorker)
        return worker


def compiled(instruction: Any) -> Any:
    """Return a compiled function that executes an instruction and can be called from Python."""
    return numba.njit(lambda *words: instruction(*words))


# ---- hashes ---------------------------------------------------------------------------------------------------------
def test_similar_boards_have_different_hashes() -> None:
    """The differences between similar boards must not cancel out in the hash."""
    own, opp, worker = 0x78795808000814E0, 0x8786A7F73F372B1F, worker_of(Game.OTHELLO)
    multipliers = worker.state.multipliers
    seen = {int(hash_position(U(own), U(opp), multipliers)): (own, opp)}
    rng = random.Random(1)
    for _ in range(100_000):
        mine, theirs = own, opp
        for square in rng.sample((28, 29, 30, 31, 32, 33, 56, 57, 58, 59, 60, 61, 62, 63), 4):
            colour = rng.randrange(3)
            mine = mine & ~(1 << square) | (colour == 1) << square
            theirs = theirs & ~(1 << square) | (colour == 2) << square
        key = int(hash_position(U(mine), U(theirs), multipliers))
        assert seen.setdefault(key, (mine, theirs)) == (mine, theirs)
    hashed = multiply_shift.py_func(U(own), U(opp), *map(U, transposition_table.FIXED_MULTIPLIERS))  # type: ignore[attr-defined]
    assert int(hash_position(U(own), U(opp), multipliers)) == int(hashed)


# ---- flips ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("emit", [bits.emit_step_flips, bits.emit_ray_flips])
def test_flips_are_found_step_by_step_and_by_rays(emit: Any) -> None:
    if emit is bits.emit_ray_flips and not bits.HAS_VECTOR_LEADING_ZEROS:
        pytest.skip("this processor has no vector instruction that counts leading zeros")
    flips = compiled(instruction("uint64(uint64, uint64, int64)", emit)(bits.find_flips.py_func))  # type: ignore[attr-defined]
    rng = random.Random(8)
    for _ in range(3000):
        square, discs = rng.randrange(64), rng.getrandbits(64) | rng.getrandbits(64)
        own = discs & rng.getrandbits(64) & ~(1 << square)
        opp = discs & ~own & ~(1 << square)
        plain = bits.find_flips.py_func(U(own), U(opp), square)  # type: ignore[attr-defined]
        assert flips(U(own), U(opp), square) == plain


# ---- patterns -------------------------------------------------------------------------------------------------------
def random_game(seed: int) -> Iterator[tuple[Position, int]]:
    rng, position = random.Random(seed), Position.start()
    while not position.over:
        move = rng.choice(position.legal_moves())
        yield position, move
        position = position.after(move)


def test_pattern_indices_follow_the_moves() -> None:
    turn, swap, value = map(compiled, (patterns.update_indices, patterns.swap_indices, patterns.evaluate_patterns))
    fresh, kept, twin = (patterns.PatternIndices.new() for _ in range(3))
    weights = patterns.StageWeights.view(load_pattern_weights()[stage_of(30)])
    for position, move in random_game(3):
        patterns.fill_indices(position.own, position.opp, fresh)
        after = position.after(move)
        kept.lanes = twin.lanes = fresh.lanes
        if move == PASS:
            swap(kept)
            patterns.swap_indices.py_func(twin)  # type: ignore[attr-defined]
        else:
            flips = U(position.opp & ~after.own)
            turn(fresh, move, flips, kept)
            patterns.update_indices.py_func(fresh, move, flips, twin)  # type: ignore[attr-defined]
        patterns.fill_indices(after.own, after.opp, fresh)
        assert list(kept.lanes) == list(twin.lanes) == list(fresh.lanes)
        assert value(kept, weights) == patterns.evaluate_patterns.py_func(kept, weights)  # type: ignore[attr-defined]


def test_an_index_counts_own_discs_up_and_enemy_discs_down() -> None:
    indices = patterns.PatternIndices.new()
    patterns.fill_indices(1 << 0, 1 << 1, indices)
    corner = patterns.SHAPES[0].split()
    assert indices.lanes[0] == 3 ** corner.index("a1") - 3 ** corner.index("b1")
    for shape, squares in zip(patterns.SHAPES, patterns.LANES[:: patterns.VIEW_COUNT], strict=True):
        assert len(set(squares)) == len(shape.split())


def test_a_rotated_board_has_the_same_value() -> None:
    weights, indices = patterns.StageWeights.view(load_pattern_weights()[stage_of(30)]), patterns.PatternIndices.new()
    position = parse_position("-OOOOO----OOOOX--OOOOOO-XXXXXOO--XXOOX--OOXOXX----OXXO---OOO--O- X")
    values = []
    own, opp = position.own, position.opp
    for _ in range(4):
        patterns.fill_indices(own, opp, indices)
        values.append(int(patterns.evaluate_patterns.py_func(indices, weights)))  # type: ignore[attr-defined]
        own, opp = (
            sum(1 << patterns._rotate(square) for square in range(64) if word >> square & 1) for word in (own, opp)
        )
    assert len(set(values)) == 1


# ---- memory, transposition table, stability -------------------------------------------------------------------------
def test_bytes_are_loaded() -> None:
    table = np.array([2, 1], np.uint8)
    read = compiled(load8)
    assert [int(read(address_of(table), U(place))) for place in (0, 1)] == [2, 1]
    assert [int(load8.py_func(address_of(table), U(place))) for place in (0, 1)] == [2, 1]  # type: ignore[attr-defined]


def find_bucket(key: int, worker: OthelloWorker) -> transposition_table.TableBucket:
    """Return the bucket of a key in the worker's transposition table."""
    return transposition_table.TableBucket.view(worker.tt.words.reshape(-1, 8)[(key >> 20) % worker.tt.buckets])


def store_entry(key: int, depth: int, worker: OthelloWorker, age: int = 0) -> transposition_table.TableBucket:
    """Store an entry with the given key and depth; return its bucket."""
    bucket = find_bucket(key, worker)
    transposition_table.store_tt(bucket, U(key), -4, 6, 10, 20, depth, 3, age)
    return bucket


def test_the_table_stores_all_fields() -> None:
    worker = worker_of(Game.OTHELLO)
    key = 0x9234567890ABCDEF
    entry = int(transposition_table.probe_tt(store_entry(key, 21, worker), U(key)))
    assert (
        transposition_table.entry_lower_bound(entry),
        transposition_table.entry_upper_bound(entry),
        transposition_table.entry_depth(entry),
        transposition_table.entry_selectivity(entry),
    ) == (
        -4,
        6,
        21,
        3,
    )
    assert (transposition_table.entry_move(entry), transposition_table.entry_second_move(entry)) == (10, 20)
    assert transposition_table.probe_tt(find_bucket(key, worker), U(key ^ 1)) == 0


def test_a_torn_entry_is_not_found() -> None:
    worker = worker_of(Game.OTHELLO)
    key = 0x9234567890ABCDEF
    bucket = store_entry(key, 21, worker)
    stored = next(stored for stored in bucket.entries if stored.packed)
    stored.packed ^= U(1 << 50)
    assert transposition_table.probe_tt(bucket, U(key)) == 0


def test_a_shallow_search_does_not_replace_a_deep_one() -> None:
    worker, key = worker_of(Game.OTHELLO), 0x9234567890ABCDEF
    for depth, known in ((20, 20), (8, 20), (21, 21)):
        assert (
            transposition_table.entry_depth(int(transposition_table.probe_tt(store_entry(key, depth, worker), U(key))))
            == known
        )


def test_old_and_shallow_entries_are_replaced_first() -> None:
    worker = worker_of(Game.OTHELLO)
    keys = [number << 56 | 7 << 30 for number in range(1, 7)]
    for number, (key, depth, age) in enumerate(zip(keys, (9, 30, 12, 15, 8, 11), (2, 1, 2, 2, 2, 2), strict=True)):
        store_entry(key, depth, worker, age)
        if number == 4:
            assert not transposition_table.probe_tt(find_bucket(keys[1], worker), U(keys[1])), (
                "the entry of the older search is replaced first"
            )
    known = [bool(transposition_table.probe_tt(find_bucket(key, worker), U(key))) for key in keys]
    assert known == [True, False, True, True, False, True]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 25))
def test_stable_discs_are_never_flipped(seed: int, empties: int) -> None:
    rng = random.Random(seed)
    position = reference_search.random_position(Game.OTHELLO, empties, rng)
    stable = int(stable_discs(U(position.own), U(position.opp), build_edge_table()))
    assert stable & ~position.own == 0
    side = position.side
    for _ in range(10):
        later = position
        while not later.over:
            later = later.after(rng.choice(later.legal_moves()))
            assert (later.second if side else later.first) & stable == stable


def test_stable_discs_on_edges() -> None:
    edges = build_edge_table().stable
    assert edges[0b00000111 << 8] == 0b111, "discs connected to a corner are stable"
    assert edges[0b00000110 << 8] == 0, "discs not connected to a corner are not stable"
    assert edges[0b00111100 << 8 | 0b11000011] == 0b00111100, "all discs of a full edge are stable"


# ---- the last squares -----------------------------------------------------------------------------------------------
def test_flips_of_the_last_move_are_counted() -> None:
    rng, count = random.Random(1), compiled(last_empties.count_last_flips)
    for _ in range(300):
        square = rng.randrange(64)
        own = rng.getrandbits(64) & ~(1 << square)
        opp = ~own & ~(1 << square) & (1 << 64) - 1
        turned = int(count(U(own), U(opp), square))
        position = Position(Game.OTHELLO, own, opp)
        legal = square in position.legal_moves()
        assert turned == (position.opp.bit_count() - position.after(square).own.bit_count() if legal else 0)
        assert turned == last_empties.count_last_flips.py_func(U(own), U(opp), square)  # type: ignore[attr-defined]


@pytest.mark.parametrize("game", reference_search.BOARDS, ids=str)
def test_few_squares_match_plain_minimax(game: Game) -> None:
    rng, worker = random.Random(4), worker_of(game)
    for empties in [*range(1, 7)] * 12:
        position = reference_search.random_position(game, empties, rng)
        exact = reference_search.solve(position)
        for alpha in (-64, -11, -1, 0, 1, exact - 1, exact, exact + 3, 63):
            bound = solve_few_empties(
                U(position.own), U(position.opp), reference_search.legal_moves_mask(position), alpha, worker.state
            )
            assert (bound > alpha) == (exact > alpha)
            assert exact >= bound if bound > alpha else exact <= bound
