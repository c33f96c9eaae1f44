"""Training of the convolutional network: data, symmetries, networks, training steps and exports."""

import copy
import json
import random
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import run as run_python
from random_games import play_random_moves

from awello import PASS, Game, Position, Record
from awello.errors import ConfigError
from awello.learn.cnn_games import MISSING, pack_games, write_games

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from awello.learn import cnn_files  # noqa: E402
from awello.learn import cnn_training as learning  # noqa: E402
from awello.learn.cnn_config import CnnConfig  # noqa: E402
from awello.learn.cnn_files import export_onnx, load_network, save_network, save_snapshot  # noqa: E402
from awello.learn.cnn_metrics import compute_accuracy, compute_losses, compute_soft_targets, evaluate, predict  # noqa: E402
from awello.learn.cnn_models import count_parameters, make_network  # noqa: E402
from awello.learn.cnn_positions import (  # noqa: E402
    PLANE_COUNTS,
    UNKNOWN,
    CnnPositions,
    GameArrays,
    build_symmetry_tables,
    encode_planes,
    find_moves,
    replay_games,
    split_games,
    unpack_bits,
)
from awello.learn.cnn_training import CnnTraining  # noqa: E402

torch.set_num_threads(1)
TINY = CnnConfig(channels=16, blocks=1, batch_size=64, steps=12, eval_interval=4, learning_rate=1e-2)


def make_records(count: int) -> list[Record]:
    """Return random games of the years 2006 to 2025; every fifth is unfinished, every seventh equals the first."""
    games = [play_random_moves(Game.OTHELLO, 0 if n % 7 == 0 else n, 40 if n % 5 == 4 else 200) for n in range(count)]
    return [replace(game, tags={"Date": str(2006 + n % 20)}) for n, game in enumerate(games)]


def make_games(count: int) -> GameArrays:
    return GameArrays(**pack_games(make_records(count)))  # type: ignore[arg-type]


def make_positions(count: int) -> CnnPositions:
    return replay_games(make_games(count), "cpu")


def to_signed(number: int) -> int:
    """Convert an unsigned 64-bit word to a signed integer."""
    return number - (1 << 64) if number >= 1 << 63 else number


def is_symmetric_board(position: Position) -> bool:
    """Return whether a rotation or reflection leaves a board unchanged."""
    own, opp = int(position.own), int(position.opp)
    discs = [(own >> square & 1) - (opp >> square & 1) for square in range(64)]
    rows = [discs[start : start + 8] for start in range(0, 64, 8)]
    others = [[list(row) for row in zip(*rows, strict=True)], rows[::-1], [row[::-1] for row in rows]]
    others += [[row[::-1] for row in others[0]], others[0][::-1], [row[::-1] for row in others[1]]]
    others += [[row[::-1] for row in others[0][::-1]]]
    return rows in others


# ---- data -----------------------------------------------------------------------------------------------------------
def test_games_keep_their_moves_scores_and_years() -> None:
    records = make_records(20)
    packed = pack_games([*records, Record(play_random_moves(Game.OTHELLO, 1, 9).final, ())])
    assert len(packed["year"]) == 20
    for number, record in enumerate(records):
        squares = [move for move in record.moves if move != PASS]
        assert packed["moves"][number].tolist() == squares + [MISSING] * (60 - len(squares))
        assert packed["black_discs"][number] == (record.final.score()[0] if record.final.over else MISSING)
        assert packed["year"][number] == 2006 + number % 20
    moves_id = packed["moves_id"].tolist()
    assert moves_id[0] == moves_id[7] and len(set(moves_id)) == len({record.moves for record in records})


def test_games_are_read_from_wthor_and_archives(tmp_path: Path) -> None:
    from awello.archive.archive import Archive
    from awello.formats.wthor import WthorHeader, write_wthor

    records = [play_random_moves(Game.OTHELLO, seed, 200) for seed in range(3)]
    (tmp_path / "WTH_2001.wtb").write_bytes(b"".join(write_wthor(records, WthorHeader(year=2001))))
    archive = Archive(tmp_path / "games.sqlite")
    for record in records:
        archive.add(replace(record, tags={"Date": "2001.05.01"}))
    archive.close()
    for source in (tmp_path, tmp_path / "games.sqlite"):
        assert write_games([source], tmp_path / "games.npz") == 3
        games = GameArrays.load(tmp_path / "games.npz")
        assert games.year.tolist() == [2001] * 3
        assert games.black_discs.tolist() == [record.final.score()[0] for record in records]
    with pytest.raises(ConfigError, match="does not exist"):
        write_games([tmp_path / "none"], tmp_path / "games.npz")
    with pytest.raises(ConfigError, match="cannot read games"):
        GameArrays.load(tmp_path / "none.npz")


def test_replay_agrees_with_positions() -> None:
    records = make_records(40)
    assert any(PASS in record.moves for record in records)
    found = replay_games(GameArrays(**pack_games(records)), "cpu")  # type: ignore[arg-type]
    rows = zip(*(getattr(found, name).tolist() for name in vars(found)), strict=True)
    expected = set()
    for number, record in enumerate(records):
        for position, move in zip(record.positions(), record.moves, strict=False):
            if move == PASS:
                continue
            scores, legal = record.final.score(), sum(1 << square for square in position.legal_moves())
            margin = scores[position.side] - scores[1 - position.side] if record.final.over else UNKNOWN
            words = to_signed(int(position.own)), to_signed(int(position.opp)), to_signed(legal)
            empties = 64 - (int(position.own) | int(position.opp)).bit_count()
            expected.add((*words, move, position.side == 0, margin, number, empties, is_symmetric_board(position)))
    assert set(rows) == expected and len(found) == len(expected)


def test_an_illegal_move_is_refused() -> None:
    games = make_games(2)
    games.moves[1, 5] = games.moves[1, 4]
    with pytest.raises(ConfigError, match=r"game 1 of the \.npz file contains an illegal move"):
        replay_games(games, "cpu")


def test_no_game_is_in_two_sets() -> None:
    rng = np.random.default_rng(0)
    moves_id = rng.integers(300, size=2000).astype(np.uint32)
    years = rng.integers(1977, 2026, size=2000).astype(np.uint16)
    games = GameArrays(np.zeros((2000, 60), np.uint8), np.zeros(2000, np.uint8), years, moves_id)
    train, aside, held = split_games(games, 1)
    assert (train.astype(int) + aside + held == 1).all() and train.any() and aside.any()
    assert (held == (years >= 2016)).all()
    assert not set(moves_id[train]) & set(moves_id[aside])
    assert (split_games(games, 2)[1] != aside).any()


# ---- symmetries -----------------------------------------------------------------------------------------------------
def pack_bits(bits: Any) -> Any:
    return (bits << torch.arange(64)).sum(1)


@pytest.mark.parametrize("symmetry_id", range(8))
def test_a_transformed_board_has_transformed_moves(symmetry_id: int) -> None:
    positions = make_positions(4)
    symmetry_ids = torch.full_like(positions.own, symmetry_id)
    own, opp, legal = (unpack_bits(words, symmetry_ids) for words in (positions.own, positions.opp, positions.legal))
    assert (find_moves(pack_bits(own), pack_bits(opp)) == pack_bits(legal)).all()
    squares = build_symmetry_tables(torch.device("cpu"))[1][symmetry_ids, positions.square.long()]
    assert (legal.gather(1, squares[:, None]) == 1).all()
    assert ((pack_bits(own) == positions.own).all()) == (symmetry_id == 0)


def predict_first_plane(board: Any) -> Any:
    """Predict like a network whose logits are 30 times its first input plane."""
    return 30 * board[:, :1].flatten(2), board[:, 0, 0, 0]


def test_predictions_of_transformed_boards_are_transformed_back() -> None:
    squares = torch.arange(64)
    full, none = torch.full_like(squares, -1), torch.zeros_like(squares)
    columns = torch.ones_like(squares) << squares, none, full, squares.to(torch.uint8), none == 0
    pointing = CnnPositions(*columns, torch.ones_like(squares).to(torch.int8), none, none, none == 1)
    shares, _ = predict(TINY, predict_first_plane, pointing, 8)
    assert (shares.argmax(1) == squares).all() and (shares.max(1).values > 0.99).all()
    for seed in range(4):
        symmetry_ids = torch.randint(8, (64,), generator=torch.Generator().manual_seed(seed))
        assert compute_losses(replace(TINY, label_smoothing=0.0), predict_first_plane, pointing, symmetry_ids)[0] < 1e-6


def test_all_input_planes_show_the_board() -> None:
    positions = make_positions(3)
    symmetry_ids = torch.zeros_like(positions.own)
    mover, colours, one = (encode_planes(name, positions, symmetry_ids).flatten(2) for name in PLANE_COUNTS)
    assert [board.shape[1] for board in (mover, colours, one)] == list(PLANE_COUNTS.values())
    assert (mover[:, 0] - mover[:, 1] == one[:, 0]).all() and (mover[:, 3] == 1).all()
    black = positions.black_to_move
    assert (colours[black, :2] == mover[black, :2]).all() and (colours[~black, 0] == mover[~black, 1]).all()
    assert (colours[:, 2].mean(1).bool() == black).all()
    assert Position.start().own == sum(1 << int(square) for square in one[0, 0].eq(1).nonzero())


def test_symmetric_boards_are_not_transformed() -> None:
    start = make_positions(3).take(slice(0, 3))
    assert start.symmetric.all()
    seen = []

    def network(board: Any) -> Any:
        seen.append(board)
        return predict_first_plane(board)

    shares, _ = predict(TINY, network, start, 8)
    compute_losses(TINY, network, start, torch.arange(1, 4))
    assert len(seen) == 9 and all(torch.equal(board, seen[0]) for board in seen)
    assert torch.allclose(shares, predict(TINY, predict_first_plane, start, 1)[0])


# ---- networks -------------------------------------------------------------------------------------------------------
def test_networks_have_the_documented_sizes() -> None:
    report = make_network(CnnConfig(network="report0", input_planes="one"))
    assert count_parameters(report) == 4_432_768  # table 2.1 of report 0
    assert report(torch.zeros(2, 1, 8, 8))[0].shape == (2, 1, 64)
    ours = make_network(CnnConfig())
    assert count_parameters(ours) < 4_950_000  # less than 10 MB with two bytes per parameter
    moves, value = ours(torch.zeros(2, 4, 8, 8))
    assert moves.shape == (2, 2, 64) and value.shape == (2,)


def test_losers_train_only_their_own_head() -> None:
    positions = make_positions(3)
    network = make_network(TINY)
    last = network.moves[2]
    for not_lost, head in ((True, 0), (False, 1)):
        some = positions.take(positions.not_lost == not_lost)
        network.zero_grad()
        compute_losses(TINY, network, some, torch.zeros_like(some.own))[0].backward()
        assert last.weight.grad[head].abs().sum() > 0 and last.weight.grad[1 - head].abs().sum() == 0


def test_targets_are_the_predictions_of_the_teacher() -> None:
    positions = make_positions(6)
    with torch.no_grad():
        shares, values = predict(TINY, make_network(TINY).eval(), positions, 1)
    config, soft_targets = replace(TINY, teacher_weight=1.0), (shares.half(), values)
    log_policies = torch.log(shares + 1e-9)

    def teacher_network(symmetry_ids: Any) -> Any:
        """Return a network with the teacher's values, and with the teacher's policies transformed like the boards."""
        return lambda board: (
            log_policies.gather(1, build_symmetry_tables(board.device)[0][symmetry_ids])[:, None],
            values,
        )

    entropy = -(shares * log_policies).sum(1).mean()
    for symmetry_id in range(8):
        symmetry_ids = torch.full_like(positions.own, symmetry_id).masked_fill(positions.symmetric, 0)
        policy_loss, value_loss = compute_losses(
            config, teacher_network(symmetry_ids), positions, symmetry_ids, soft_targets
        )
        assert policy_loss == pytest.approx(float(entropy), abs=1e-3) and value_loss == pytest.approx(0, abs=1e-6)
    played = replace(TINY, teacher_weight=0.0, label_smoothing=0.0)
    some = positions.take(positions.not_lost & (positions.margin != UNKNOWN))
    network, chosen = make_network(TINY).eval(), positions.not_lost & (positions.margin != UNKNOWN)
    alone = compute_losses(played, network, some, torch.zeros_like(some.own))
    beside = compute_losses(played, network, some, torch.zeros_like(some.own), (shares.half()[chosen], values[chosen]))
    assert torch.allclose(torch.stack(alone), torch.stack(beside))


def test_a_student_learns_from_the_file_of_its_teacher(tmp_path: Path) -> None:
    save_network(tmp_path / "teacher.pt", TINY, make_network(TINY))
    positions = make_positions(3)
    config = replace(TINY, channels=8, squeeze_excitation=0, teacher=str(tmp_path / "teacher.pt"))
    training, precomputed = CnnTraining(config, positions, positions), CnnTraining(config, positions, positions)
    assert training.teacher and not training.soft_targets
    precomputed.soft_targets = compute_soft_targets(training.teacher, positions, 1)  # computed in advance, as on a GPU
    assert len(precomputed.soft_targets[0]) == len(positions)
    for _ in range(3):
        training.train_step()
        precomputed.train_step()
    training.check_loss()
    assert torch.allclose(training.loss_sums, precomputed.loss_sums, atol=1e-2)
    assert count_parameters(training.network) < count_parameters(make_network(TINY))
    (tmp_path / "teacher.pt").write_bytes(b"none")
    for name in ("teacher.pt", "missing.pt"):
        with pytest.raises(ConfigError, match="cannot read a network"):
            load_network(tmp_path / name)


# ---- training -------------------------------------------------------------------------------------------------------
def test_a_resumed_training_gives_the_same_weights(tmp_path: Path) -> None:
    positions = make_positions(8)
    whole, first, second = (CnnTraining(TINY, positions, positions) for _ in range(3))
    for _ in range(10):
        whole.train_step()
    for _ in range(5):
        first.train_step()
    first.save_checkpoint(tmp_path / "checkpoint.pt")
    second.load_checkpoint(tmp_path / "checkpoint.pt")
    assert second.step == 5
    for _ in range(5):
        second.train_step()
    for part in ("network", "average"):
        pairs = zip(getattr(whole, part).parameters(), getattr(second, part).parameters(), strict=True)
        assert all(torch.equal(one, other) for one, other in pairs)
    with pytest.raises(ConfigError, match="other settings"):
        CnnTraining(replace(TINY, channels=32), positions, positions).load_checkpoint(tmp_path / "checkpoint.pt")


def test_the_average_follows_the_weights() -> None:
    training = CnnTraining(replace(TINY, ema_decay=0.5), make_positions(2), make_positions(2))
    before = copy.deepcopy(training.average.state_dict())
    training.step = 100
    training.train_step()
    for name, mean in training.average.state_dict().items():
        if mean.is_floating_point():
            assert torch.allclose(mean, (before[name] + training.network.state_dict()[name]) / 2, atol=1e-6)


def test_a_loss_that_is_not_finite_ends_training(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the loss is not finite near step"):
        list(learning.run(replace(TINY, learning_rate=1e20), make_games(60), tmp_path, tmp_path / "checkpoint.pt"))


def play_largest_square(seed: int, year: int) -> Record:
    """Return a game with six random moves, after which each move is the legal square with the largest number."""
    opening = play_random_moves(Game.OTHELLO, seed, 6)
    position, moves = opening.final, list(opening.moves)
    while legal := position.legal_moves():
        moves.append(max(legal))
        position = position.after(moves[-1])
    return Record(Position.start(), tuple(moves), tags={"Date": str(year)})


def test_a_network_learns_and_is_saved(tmp_path: Path) -> None:
    rng = random.Random(0)
    packed = pack_games([play_largest_square(seed, 2015 if rng.random() < 0.8 else 2020) for seed in range(150)])
    np.savez(tmp_path / "games.npz", **packed)  # type: ignore[arg-type]
    words = [str(tmp_path / "games.npz"), "--out", str(tmp_path / "out"), "--channels", "16", "--blocks", "2"]
    words += [
        "--batch-size",
        "256",
        "--learning-rate",
        "1e-2",
        "--steps",
        "60",
        "--eval-interval",
        "20",
        "--ema-decay",
        "0.9",
        "--device",
        "cpu",
    ]
    assert learning.main(words) == 0
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["finished"] and report["step"] == 60
    assert report["games"]["test"] == int((packed["year"] == 2020).sum())
    rows = [json.loads(line) for line in (tmp_path / "out" / "curves.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [20, 40, 60]
    untrained = CnnTraining(
        TINY, make_positions(1), replay_games(GameArrays.load(tmp_path / "games.npz"), "cpu")
    ).evaluate(0)
    assert report["test"]["winners"]["top1"] > untrained["top1"] + 0.1
    assert report["test"]["winners"]["top3"] >= report["test"]["winners"]["top1"]
    config, network = load_network(tmp_path / "out" / "weights.pt")
    positions = replay_games(GameArrays.load(tmp_path / "games.npz"), "cpu")
    held = positions.take(torch.from_numpy(packed["year"] == 2020)[positions.game.long()])
    found = compute_accuracy(evaluate(config, network, held), held.not_lost)
    assert found["top1"] == pytest.approx(report["test"]["winners"]["top1"], abs=0.01)

    if find_spec("onnx") and find_spec("onnxruntime"):
        kept = {file.name for file in (tmp_path / "out" / "snapshots").iterdir()}
        assert kept == {"network-20.onnx", "network-40.onnx", "network-60.onnx"}


def test_a_network_is_exported(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    training = CnnTraining(TINY, make_positions(8), make_positions(1))
    for _ in range(8):
        training.train_step()
    network, positions = training.network.eval(), make_positions(2)
    board = encode_planes("mover", positions, torch.zeros_like(positions.own))
    export_onnx(TINY, network, board, tmp_path / "network.onnx")
    with torch.no_grad():
        moves, value = network(board)
    session = onnxruntime.InferenceSession(str(tmp_path / "network.onnx"))
    found = session.run(["moves", "value"], {"board": board.numpy()})
    spread = float(moves[:, 0].std()), float(value.std())
    assert abs(found[0] - moves[:, 0].numpy()).mean() < 0.1 * spread[0]  # exported with eight bits per weight
    assert abs(found[1] - value.numpy()).mean() < 0.1 * spread[1]


def test_snapshots_are_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []

    def write(config: CnnConfig, network: Any, boards: Any, file: Path) -> None:
        shown.append(boards)
        file.write_text("a network")

    monkeypatch.setattr(cnn_files, "export_onnx", write)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    folder, positions = tmp_path / "snapshots", make_positions(40)

    def keep(step: int, done: float, config: CnnConfig = TINY) -> list[str]:
        save_snapshot(folder, config, make_network(config), positions, step, done)
        return sorted(file.name for file in folder.iterdir()) if folder.exists() else []

    assert keep(1, 0.06) == []
    for unsupported in (replace(TINY, input_planes="one"), CnnConfig(network="report0", input_planes="one")):
        assert keep(1, 1.0, unsupported) == [], "no player supports this network"
    assert keep(2, 0.07) == keep(3, 0.1) == ["network-2.onnx"]
    assert 256 < len(shown[0]) <= 512 and shown[0][:, :2].sum((1, 2, 3)).float().std() > 10, (
        "the boards are from all stages of the game"
    )
    assert keep(4, 0.3) == ["network-2.onnx", "network-4.onnx"]
    assert keep(3, 0.3) == ["network-2.onnx", "network-3.onnx"], (
        "a training run resumed before step 4 replaces the snapshot of step 4"
    )
    assert keep(9, 1.0) == ["network-2.onnx", "network-3.onnx", "network-9.onnx"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert len(keep(10, 1.0)) == 3, "nothing is exported if the libraries are missing"


def test_training_needs_no_compiler() -> None:
    names = "numba", "awello.kernel"
    words = f"import sys, awello.learn.cnn_training; sys.exit(any(name in sys.modules for name in {names}))"
    assert run_python("-c", words).returncode == 0
