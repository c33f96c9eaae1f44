"""The training of the Awalé network: evaluation, examples, gradient steps and resuming."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from conftest import awello
from reference_search import evaluate_pits
from waiting import TIMEOUT

from awello import Game, Position
from awello.engine import tablebase
from awello.engine.awale_kernels import estimate
from awello.engine.awale_search import NO_REDUCTIONS, AwaleWorker
from awello.engine.awale_state import SEED_VALUE
from awello.engine.awale_transposition_table import ENTRY_BYTES
from awello.engine.engine import Engine
from awello.engine.tablebase import count_board_seeds, load_or_build_tablebase
from awello.engine.threads import NO_NODE_LIMIT
from awello.engine.transposition_table import TranspositionTable
from awello.errors import ConfigError
from awello.evaluate.awale_network import (
    IN_PLAY_ROW,
    MAX_OUTPUT_WEIGHT,
    MAX_WEIGHT,
    OUTPUT_ROW,
    OUTPUT_SCALE,
    PIT_COUNT,
    PIT_SLOTS,
    ROW_COUNT,
    UNIT_COUNT,
    WEIGHT_SCALE,
)
from awello.evaluate.weights import load_awale_network_weights, to_awale_network_weights
from awello.kernel import U, Words
from awello.learn import awale_network
from awello.learn.awale_games import MAX_GAME_PLIES, PlayedPosition, play_game
from awello.learn.awale_network import (
    AwaleNetworkTraining,
    encode_boards,
    load_training,
    play_games,
    save_training,
    train,
)
from awello.limits import Clock
from awello.players.player import make_player
from awello.rules.awale import ROW_MASK, START_ROW, pits_of


@pytest.fixture(autouse=True)
def use_small_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a small tablebase, few games and small batches."""
    monkeypatch.setattr(tablebase, "user_cache_folder", lambda: tmp_path)
    monkeypatch.setattr(tablebase, "DEFAULT_SEEDS", 7)
    monkeypatch.setattr(awale_network, "GAMES_PER_VARIANT", 8)
    monkeypatch.setattr(awale_network, "SEARCH_DEPTH", 2)
    monkeypatch.setattr(awale_network, "BATCH_SIZE", 256)


def some_boards(count: int) -> Words:
    """Return random positions with at most 48 seeds."""
    rng = np.random.default_rng(4)
    held = np.array([rng.multinomial(rng.integers(49), rng.dirichlet([0.5] * PIT_COUNT)) for _ in range(count)])
    rows = held.reshape(count, 2, 6).astype(np.uint64) << np.arange(0, 48, 8, dtype=np.uint64)
    boards: Words = rows.sum(axis=2, dtype=np.uint64)
    return boards


def test_the_evaluation_agrees_with_plain_python() -> None:
    rng = np.random.default_rng(3)
    for reach, last in ((60, 300), (MAX_WEIGHT, MAX_OUTPUT_WEIGHT)):
        rows = rng.integers(-reach, reach + 1, (ROW_COUNT, UNIT_COUNT)).astype(np.int16)
        rows[OUTPUT_ROW] = rng.integers(-last, last + 1, UNIT_COUNT)
        for own, opp in some_boards(50):
            found = estimate(own, opp, sum(pits_of(int(own)) + pits_of(int(opp))), to_awale_network_weights(rows))
            assert found == evaluate_pits(int(own), int(opp), rows)


def test_sums_do_not_overflow() -> None:
    rows = np.full((ROW_COUNT, UNIT_COUNT), MAX_WEIGHT, np.int16)
    rows[OUTPUT_ROW] = MAX_OUTPUT_WEIGHT
    assert estimate(U(START_ROW), U(START_ROW), 48, to_awale_network_weights(rows)) == SEED_VALUE * 48


def test_quantised_weights_agree_with_the_network() -> None:
    network, boards = AwaleNetworkTraining(), some_boards(200)
    network.rows[OUTPUT_ROW] = np.random.default_rng(2).normal(0, 0.5, UNIT_COUNT)
    weights = to_awale_network_weights(network.weights())
    for (own, opp), predicted in zip(boards, network.predict(boards), strict=True):
        seeds = sum(pits_of(int(own))) + sum(pits_of(int(opp)))
        found = estimate(own, opp, seeds, weights) / SEED_VALUE
        assert abs(found - max(-seeds, min(seeds, predicted))) < 0.25


def test_encoded_boards_agree_with_the_search() -> None:
    position = Position.start(Game.ABAPA).play("A").play("c")
    indices = encode_boards(np.array([[position.own, position.opp]], np.uint64))
    seeds = [*pits_of(position.own), *pits_of(position.opp)]
    assert indices[0].tolist() == [*(PIT_SLOTS * pit + count for pit, count in enumerate(seeds)), IN_PLAY_ROW + 48]


@pytest.mark.parametrize("game", [Game.ABAPA, Game.TOURNAMENT, Game.ROMEIN])
def test_values_mix_searches_with_the_rest_of_the_game(game: Game) -> None:
    base = load_or_build_tablebase(game)
    worker = AwaleWorker(0, base, TranspositionTable(1, bucket_bytes=ENTRY_BYTES), None)
    worker.state.node_limit, worker.state.tablebase_seeds = NO_NODE_LIMIT, base.seeds
    worker.state.reduce_from_depth = NO_REDUCTIONS
    games = []
    for td_lambda in (0.0, 0.6):
        played = PlayedPosition.new_array(MAX_GAME_PLIES)
        worker.tt.clear()
        worker.clear()
        start, rng = U(START_ROW), np.array([9], np.uint64)
        games.append(played[: play_game(start, start, played, rng, 5, 2, 40, td_lambda, worker.state)])
    searched, mixed = games
    assert (searched[["own", "opp"]] == mixed[["own", "opp"]]).all() and 20 < len(mixed) < MAX_GAME_PLIES
    followed = mixed["td_lambda"] > 0
    assert 0.5 < followed.mean() < 1 and (mixed["value"][~followed] == searched["value"][~followed]).all()
    for index in np.flatnonzero(followed):
        position = Position(game, int(mixed[index].own), int(mixed[index].opp))
        children = [position.after(move) for move in position.legal_moves()]
        won = {(child.own, child.opp & int(ROW_MASK)): child for child in children}
        if index + 1 < len(mixed):
            following = mixed[index + 1]
            child, rest = won[int(following.own), int(following.opp)], {float(following.value)}
            assert mixed[index].captured == count_board_seeds(position) - count_board_seeds(child)
        else:  # after the last position, the tablebase or the end of the game decides
            rest = {float(base.value(child)) for child in children if base.covers(child)} or {0.0}
        expected = [0.4 * searched[index].value + 0.6 * (mixed[index].captured - value) for value in rest]
        assert np.isclose(mixed[index].value, expected).any()


def test_no_example_has_a_capture_for_its_best_move(monkeypatch: pytest.MonkeyPatch) -> None:
    def play(own: U, opp: U, played: npt.NDArray[Any], *settings: object) -> int:
        played["own"][:3], played["value"][:3], played["captured"][:3] = (5, 6, 7), (1, 2, 3), (0, 4, 0)
        return 3

    monkeypatch.setattr(awale_network, "play_game", play)
    boards, values = play_games(Game.TOURNAMENT, to_awale_network_weights(AwaleNetworkTraining().weights()), 2, "1")
    assert boards[:, 0].tolist() == [5, 7, 5, 7] and values.tolist() == [1, 3, 1, 3]


def test_a_step_follows_the_gradient() -> None:
    network, rng = AwaleNetworkTraining(), np.random.default_rng(5)
    network.rows[OUTPUT_ROW] = rng.normal(0, 1, UNIT_COUNT)
    boards, values = some_boards(64), rng.normal(0, 5, 64).astype(np.float32)
    before = network.rows.copy()

    def loss(row: int, unit: int, change: float) -> float:
        network.rows = before.astype(np.float64)
        network.rows[row, unit] += change
        return float(np.mean(np.square(network.predict(boards) - values)))

    network.step(encode_boards(boards), values, 1e-3)
    gradient = network.mean / (1 - awale_network.ADAM_BETA1)
    for row in (0, 1, PIT_SLOTS * 7, IN_PLAY_ROW + 20, OUTPUT_ROW):
        for unit in range(4):
            measured = (loss(row, unit, 1e-4) - loss(row, unit, -1e-4)) / 2e-4
            assert gradient[row, unit] == pytest.approx(measured, rel=0.02, abs=0.01)


def test_it_learns_the_joint_value_of_two_pits() -> None:
    network, boards = AwaleNetworkTraining(), some_boards(4000)
    indices = encode_boards(boards)
    values = np.where((indices[:, 0] == 0) & (indices[:, 6] != 6 * PIT_SLOTS), 4, -2).astype(np.float32)
    for start in range(0, 4000 * 10, 100):
        chosen = np.arange(start, start + 100) % 4000
        network.step(indices[chosen], values[chosen], 5e-3)
    assert np.sqrt(np.mean(np.square(network.predict(boards) - values))) < 0.3 * values.std()


def test_training_is_resumed(tmp_path: Path) -> None:
    file = tmp_path / "awale_network.npz"
    whole = AwaleNetworkTraining()
    rounds = list(train(whole, 3, 2, 3, lambda done: None))
    assert rounds[0].error == rounds[0].baseline_error, "the first round starts with an untrained network"
    for stop in (1, 2, 3):
        network = load_training(file)
        next(train(network, 3, 1, 3, lambda done: None))
        save_training(file, network)
        assert network.rounds == stop
    assert (np.asarray(load_awale_network_weights(file).rows) == whole.weights()).all() and whole.weights().any(
        axis=1
    ).sum() > 100
    assert list(train(load_training(file), 3, 1, 3, lambda done: None)) == []


def test_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "awale_network.npz"
    save_training(file, AwaleNetworkTraining())
    for wrong in (b"", file.read_bytes()[:300], b"nothing"):
        file.write_bytes(wrong)
        with pytest.raises(ConfigError, match="remove it"):
            load_training(file)
        with pytest.raises(ConfigError, match="train awale-network"):
            load_awale_network_weights(file)
    done = awello("train", "awale-network", "--rounds", "1", "--out", str(file))
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_an_interruption_does_not_wait_for_the_round(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, cancelled = list[tuple[object, ...]](), threading.Event()

    def interrupted(*given: object) -> None:
        calls.append(given)
        if len(calls) == 1:
            raise KeyboardInterrupt
        assert cancelled.wait(TIMEOUT)

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(False, cancel_futures=cancel_futures)
            cancelled.set()
            super().shutdown(wait)

    monkeypatch.setattr(awale_network, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(awale_network, "play_games", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(train(AwaleNetworkTraining(), 1, 1, 1, lambda done: None))
    assert len(calls) < 3, "no game starts after an interrupt"


def test_the_champion_uses_a_weights_file(tmp_path: Path) -> None:
    for pit in range(6):
        network = AwaleNetworkTraining()
        network.rows[:] = 0
        network.rows[PIT_SLOTS * (6 + pit)] = 1  # to this network, an empty pit of the opponent is bad for the mover
        network.rows[OUTPUT_ROW] = -8 / UNIT_COUNT
        file = tmp_path / f"{pit}.npz"
        save_training(file, network)
        player = make_player(f"champion@1,book=false,hash=1,weights={file}")
        player.begin(Game.ABAPA, 1)
        choice = player.choose(Position.start(Game.ABAPA), Clock())
        player.end()
        assert choice.move == pit and choice.analysis is not None and abs(choice.analysis.value - 8) < 0.1
    with pytest.raises(ConfigError, match="does not contain pattern weights"):
        Engine(weights=file)


def test_the_shipped_weights_are_nearly_antisymmetric() -> None:
    network, boards = AwaleNetworkTraining(), some_boards(2000)
    weights = np.asarray(load_awale_network_weights().rows)
    network.rows[:] = weights / WEIGHT_SCALE
    network.rows[OUTPUT_ROW] = weights[OUTPUT_ROW] / OUTPUT_SCALE
    mine, theirs = network.predict(boards), network.predict(boards[:, ::-1].copy())
    assert np.corrcoef(mine, -theirs)[0, 1] > 0.7  # exchanging the sides roughly negates the value
