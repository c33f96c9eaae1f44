"""`awello train cnn`: errors, output, the split into training, validation and test games, and resuming."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from conftest import awello, run
from random_games import play_random_moves

from awello import Game, Position, Record
from awello.cli.train_cnn import BATCH_SIZES, describe_training, draw_curves, format_report
from awello.errors import ConfigError
from awello.learn.cnn_games import pack_games

FIGURES = {"positions": 1200, "top1": 0.5, "top3": 0.75}
REPORT = {
    "config": {"network": "residual", "input_planes": "mover", "target_moves": "all", "batch_size": 256},
    "parameters": 127_315,
    "games": {"training": 900, "validation": 20, "test": 100},
    "positions": {"training": 54_000, "validation": 1200, "test": 6000},
    "step": 1000,
    "epochs": 4.74,
    "seconds": 60.4,
    "test": {
        **dict.fromkeys(("winners", "all", "winners_new"), FIGURES),
        "all_new": {"positions": 0, "top1": 0.0, "top3": 0.0},
        "stages": {str(low): FIGURES | {"positions": low} for low in (50, 0, 10)},
        "value": {"mse": 0.7, "sign_accuracy": 0.625},
    },
}


def make_records(number: int, year: str = "") -> list[Record]:
    """Return `number` random games."""
    tags = {"Date": year} if year else {}
    return [replace(play_random_moves(Game.OTHELLO, seed, 200), tags=tags) for seed in range(number)]


def make_file(folder: Path, number: int, year: str = "") -> str:
    """Write a file of random games to train on; return its path."""
    np.savez(folder / "games.npz", **pack_games(make_records(number, year)))  # type: ignore[arg-type]
    return str(folder / "games.npz")


# ---- without PyTorch ------------------------------------------------------------------------------------------------
def test_without_torch_the_error_names_the_extra(tmp_path: Path) -> None:
    words = ["train", "cnn", make_file(tmp_path, 3), "--out", str(tmp_path / "out")]
    code = f"import sys; sys.modules['torch'] = None; sys.argv[1:] = {words}; import awello.cli.app as a; a.main()"
    done = run("-c", code)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr == "awello: training needs PyTorch, onnx and onnxruntime: run pip install 'awello[train]'\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "'nowhere' does not exist: give WTHOR files, a folder of them, or an archive"),
        (["README.md", "nowhere"], "'nowhere' does not exist"),
        (["README.md", "--duration", "0s"], "--duration 0s is not positive"),
        (["README.md", "--plot", "curves.gif"], "cannot plot to 'curves.gif'"),
        (["README.md", "--input-planes", "both"], "--input-planes 'both' is unknown: choose mover, colours or one"),
        ([], "PATH is missing"),
    ],
)
def test_invalid_input_is_refused_early(words: list[str], message: str) -> None:
    done = awello("train", "cnn", *words)
    assert done.returncode == 2 and done.stderr.startswith("awello: ") and done.stderr.count("\n") == 1
    assert message in done.stderr


def test_a_file_of_games_must_be_the_only_argument(tmp_path: Path) -> None:
    done = awello("train", "cnn", make_file(tmp_path, 3), "README.md")
    assert done.returncode == 2 and "must be the only argument" in done.stderr


def test_games_without_moves_are_left_out() -> None:
    assert len(pack_games([*make_records(2), Record(Position.start(), ())])["year"]) == 2


def test_the_report_is_a_table() -> None:
    lines = format_report(REPORT)
    assert lines[1].split() == ["winners'", "moves", "1,200", "50.00%", "75.00%"]
    assert lines[4].split()[-3:] == ["0", "-", "-"]
    assert [line.split()[0] for line in lines[6:9]] == ["0", "10", "50"]
    assert lines[-1].startswith("the value favours the winner in 62.5%")
    assert len({len(line) for line in (*lines[:5], *lines[6:9])}) == 1
    assert describe_training(REPORT, Path("mine"))[-1] == (
        f"to play with the network, use the player cnn,weights={Path('mine', 'network.onnx')}"
    )
    other = REPORT | {"config": REPORT["config"] | {"network": "report0", "input_planes": "one"}}  # type: ignore[operator]
    assert "no player" in describe_training(other, Path("mine"))[-1] and "value" not in format_report(other)[-1]


def test_the_curves_are_drawn() -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    rows = [{"step": step, "policy_loss": 3 / step, "top1": step / 10, "top1_all": step / 20} for step in (1, 2, 3)]
    draw_curves(figure.add_subplot(), rows)
    loss, found = ([line.get_ydata() for line in axes.get_lines()] for axes in figure.axes)
    assert list(loss[0]) == [3, 1.5, 1]
    assert [list(line) for line in found] == [[10.0, 20.0, 30.0], [5.0, 10.0, 15.0]]


# ---- split of the games ---------------------------------------------------------------------------------------------
def make_games(years: list[int], moves_id: list[int] | None = None) -> Any:
    """Return games without moves, played in these years; games with the same `moves_id` count as equal."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from awello.learn.cnn_positions import GameArrays

    empty = np.zeros((len(years), 60), np.uint8), np.zeros(len(years), np.uint8), np.array(years, np.uint16)
    return GameArrays(*empty, np.array(range(len(years)) if moves_id is None else moves_id, np.uint32))


def split(games: Any, seed: int = 1) -> Any:
    from awello.learn import cnn_positions

    return cnn_positions.split_games(games, seed)


@pytest.mark.parametrize(
    ("late", "years"), [(0, 1999), (0, 0), (1000, 0), (600, 1999), (9, 1999)], ids=["old", "none", "all", "most", "few"]
)
def test_the_test_set_is_random_without_enough_years(late: int, years: int) -> None:
    games = make_games([2020] * late + [years] * (1000 - late))
    parts = split(games)
    assert (sum(part.astype(int) for part in parts) == 1).all()
    assert [round(float(part.mean()), 1) for part in parts] == [0.9, 0.0, 0.1] and parts[1].sum() > 5
    assert all((one == other).all() for one, other in zip(parts, split(games), strict=True))
    assert (split(games, 2)[2] != parts[2]).any()


@pytest.mark.parametrize("late", [10, 150, 500])
def test_the_latest_games_are_the_test_set(late: int) -> None:
    years = [2015] * (1000 - late) + [2016] * late
    assert split(make_games(years))[2].tolist() == [year == 2016 for year in years]


def test_equal_games_stay_together() -> None:
    moves_id = [number % 30 for number in range(300)]
    parts = [{moves_id[number] for number in part.nonzero()[0]} for part in split(make_games([0] * 300, moves_id))]
    assert all(parts) and sum(map(len, parts)) == 30


@pytest.mark.parametrize("seed", range(20))
def test_three_games_are_enough_and_two_are_not(seed: int) -> None:
    assert [part.sum() for part in split(make_games([0] * 3), seed)] == [1, 1, 1]
    for years, moves_id in (([0, 0], None), ([0] * 9, [0, 1, 0] * 3), ([2001, 2020], None)):
        with pytest.raises(ConfigError, match="too few different games"):
            split(make_games(years, moves_id), seed)


def test_subsampling_keeps_whole_games() -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from awello.learn.cnn_positions import GameArrays, replay_games

    positions = replay_games(GameArrays(**pack_games(make_records(29))), "cpu")  # type: ignore[arg-type]
    some = positions.subsample(600)
    assert 400 < len(some) <= 620 and positions.subsample(len(positions)) is positions
    for game in some.game.unique().tolist():
        assert (some.game == game).sum() == (positions.game == game).sum()


# ---- training -------------------------------------------------------------------------------------------------------
@pytest.fixture
def learning(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the training module; it uses one thread and a clock that advances an eighth of a second per reading."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from awello.learn import cnn_training

    ticks, threads = count(), torch.get_num_threads()
    monkeypatch.setattr(cnn_training, "time", SimpleNamespace(monotonic=lambda: next(ticks) / 8))
    torch.set_num_threads(1)
    yield cnn_training
    torch.set_num_threads(threads)


def train(*words: str) -> Any:
    """Train the smallest possible network."""
    return awello("train", "cnn", *words, "--duration", "1s", "--channels", "8", "--blocks", "1", "--device", "cpu")


def test_a_network_is_trained_and_plays(learning: Any, tmp_path: Path) -> None:
    from awello.archive.archive import Archive
    from awello.formats.wthor import WthorHeader, write_wthor
    from awello.players.player import make_player

    (tmp_path / "wthor").mkdir()
    for year in (2001, 2019):
        games = write_wthor(make_records(8), WthorHeader(year=year))
        (tmp_path / "wthor" / f"WTH_{year}.wtb").write_bytes(b"".join(games))
    archive = Archive(tmp_path / "games.sqlite")
    for record in make_records(12, "2003.05.01"):
        archive.add(record)
    archive.close()
    out = tmp_path / "deep" / "out"
    done = train(str(tmp_path / "wthor"), str(tmp_path / "games.sqlite"), "--out", str(out))
    assert done.returncode == 0 and "WARNING" not in done.stderr
    rows = learning.read_curves(out)
    assert [row["step"] for row in rows] == list(range(1, 8)) and done.stdout.splitlines()[0] == learning.format_row(
        rows[0]
    )
    report = learning.read_report(out)
    assert report["games"]["test"] == 8 and sum(report["games"].values()) == 28
    assert report["finished"] and report["step"] == rows[-1]["step"]
    assert report["test"]["all"]["positions"] > 300 and report["test"]["all_new"]["positions"] == 0
    spec = done.stdout.split()[-1]
    player, position = make_player(spec), Position.start()
    player.begin(Game.OTHELLO, 0)
    from awello.limits import Clock

    assert player.choose(position, Clock()).move in position.legal_moves()
    again = train(str(out / "games.npz"), "--out", str(out), "--json")  # the training run is already finished
    assert again.returncode == 0
    found = json.loads(again.stdout)
    assert found == json.loads(json.dumps(report | {"file": str(out / "network.onnx")}))


def test_an_interrupted_training_is_resumed(learning: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, out, show = make_file(tmp_path, 20), tmp_path / "out", learning.CnnTraining.train_step
    words = file, "--out", str(out)

    def interrupt(training: Any) -> None:
        if training.step == 5:
            raise KeyboardInterrupt
        show(training)

    monkeypatch.setattr(learning, "CHECKPOINT_SECONDS", 0)
    with monkeypatch.context() as patch:
        patch.setattr(learning.CnnTraining, "train_step", interrupt)
        done = train(*words)
    assert done.returncode == 130
    assert done.stderr == f"awello: interrupted; run the same command again to resume from {out}\n"
    first = []

    def watched(training: Any) -> None:
        first.append((training.step, training.seconds))
        show(training)

    monkeypatch.setattr(learning.CnnTraining, "train_step", watched)
    other = train(*words, "--seed", "2")
    assert other.returncode == 2 and "other settings" in other.stderr
    (tmp_path / "other").mkdir()
    other = train(make_file(tmp_path / "other", 19), "--out", str(out))
    assert other.returncode == 2 and "other games" in other.stderr and not first
    done = train(*words)
    assert done.returncode == 0 and first[0] == (5, 0.75)
    assert learning.read_report(out)["step"] == len(first) + 5 == 7
    (out / "checkpoint.pt").write_bytes(b"torn")
    torn = train(*words)
    assert torn.returncode == 2 and "is damaged" in torn.stderr


def test_invalid_input_is_refused(learning: Any, tmp_path: Path) -> None:
    cut = [replace(play_random_moves(Game.OTHELLO, seed, 20)) for seed in range(9)]
    np.savez(tmp_path / "cut.npz", **pack_games(cut))  # type: ignore[arg-type]
    for target_moves in ("all", "winners"):
        done = train(str(tmp_path / "cut.npz"), "--out", str(tmp_path / "out"), "--target-moves", target_moves)
        assert done.returncode == 2 and "no training game is finished" in done.stderr
    (tmp_path / "text.npz").write_text("no games")
    done = train(str(tmp_path / "text.npz"), "--out", str(tmp_path / "out"))
    assert done.returncode == 2 and "cannot read games" in done.stderr
    done = train(make_file(tmp_path, 9), "--teacher", str(tmp_path / "missing.pt"), "--out", str(tmp_path / "out"))
    assert done.returncode == 2 and "cannot read a network" in done.stderr
    done = train(str(tmp_path / "text.npz"), "--device", "cuda")
    assert done.returncode == 2
    assert not (tmp_path / "out").exists()


def test_the_network_of_report_0_and_a_student(learning: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BATCH_SIZES, "cpu", 16)
    file, out = make_file(tmp_path, 12, "2022"), tmp_path / "out"
    done = train(file, "--network", "report0", "--input-planes", "one", "--target-moves", "winners", "--out", str(out))
    assert done.returncode == 0 and "no player can use this network" in done.stdout
    student = tmp_path / "student"
    done = train(file, "--teacher", str(out / "weights.pt"), "--out", str(student), "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["config"]["teacher"] == str(out / "weights.pt")
    assert (student / "network.onnx").exists()
