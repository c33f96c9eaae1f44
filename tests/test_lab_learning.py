"""The experiment `learning`: training curves, levels of equal strength and results."""

import csv
import json
import math
import shutil
from dataclasses import replace
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import awello

from awello.arena.sprt import mean_score
from awello.errors import ConfigError
from awello.lab import learning
from awello.lab.experiment import ExperimentGame, ExperimentPlan, run_experiment
from awello.lab.report import Report
from awello.lab.training_runs import (
    CURVE_COLUMNS,
    TrainingRun,
    find_snapshots,
    load_shipped_training_runs,
    read_training_run,
    write_training_runs,
)

POLICY_PLAYER = "cnn,symmetries=1"
SETTINGS = {"network": "residual", "channels": 8, "blocks": 1, "input_planes": "mover", "target_moves": "all"}
SETTINGS |= {"squeeze_excitation": 0, "teacher_weight": 0.8, "batch_size": 4}
REPORT = {
    "config": SETTINGS | {"teacher": "some/where/teacher.pt", "learning_rate": 0.1},
    "parameters": 1234,
    "positions": {"training": 99},
    "test": {"winners": {"top1": 0.123456}, "all": {"top1": 0.2}},
}


def make_row(step: int, top1: float = 0.5) -> str:
    return json.dumps(dict.fromkeys(CURVE_COLUMNS, 0.25) | {"step": step, "top1": top1, "value_mse": 0.7}) + "\n"


def make_training(folder: Path, steps: tuple[int, ...] = (10, 20)) -> Path:
    """Create the folder of a training run in which every snapshot is the shipped network; return the folder."""
    (folder / "snapshots").mkdir(parents=True)
    (folder / "curves.jsonl").write_text("".join(map(make_row, steps)))
    (folder / "report.json").write_text(json.dumps(REPORT))
    with as_file(files("awello").joinpath("data/cnn.onnx")) as shipped:
        for step in steps:
            shutil.copy(shipped, folder / "snapshots" / f"network-{step}.onnx")
    return folder


# ---- training folders -----------------------------------------------------------------------------------------------
def test_four_training_runs_are_shipped() -> None:
    shipped, report, colours, mover = load_shipped_training_runs()
    assert (shipped.parameters, report.parameters) == (1_755_603, 4_432_768)
    assert shipped.settings["teacher"] and not report.settings["teacher"]
    differing = {key for key in colours.settings if colours.settings[key] != mover.settings[key]}
    assert differing == {"input_planes"} and [
        a == b for a, b in zip(colours.describe(), mover.describe(), strict=True)
    ] == [
        True,
        False,
        True,
    ]
    for each in (shipped, report, colours, mover):
        assert all(one < other for one, other in pairwise(each.column("step")))
        assert each.column("top1")[0] < each.last("top1")
        assert each.winners_top1 == pytest.approx(each.last("top1"), abs=0.01), (
            "the accuracies on the test set and on the validation set are similar"
        )
        assert each.winners_top1 and each.all_top1 and each.all_top1 < each.winners_top1
    assert (shipped.last("step"), shipped.winners_top1) == (34_573, 0.6686)
    assert report.describe()[2] == "moves of winners"
    assert shipped.describe()[2] == "a teacher (80 %); all moves, result"


def test_the_folder_of_a_training_is_read(tmp_path: Path) -> None:
    folder = make_training(tmp_path / "training")
    found = read_training_run(folder, "mine")
    assert (found.winners_top1, found.all_top1, found.parameters, found.positions) == (0.1235, 0.2, 1234, 99)
    assert found.settings == SETTINGS | {"teacher": "teacher.pt"}
    assert found.curves == (
        (10, 0.25, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25),
        (20, 0.25, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25),
    )
    write_training_runs([found], tmp_path / "file.json")
    (again,) = json.loads((tmp_path / "file.json").read_text())
    assert TrainingRun(**again | {"curves": tuple(map(tuple, again["curves"]))}) == found
    (folder / "report.json").unlink()
    unfinished = read_training_run(folder, "mine")
    assert unfinished == replace(found, settings={}, parameters=None, positions=None, winners_top1=None, all_top1=None)
    assert unfinished.describe() == (None, None, None)


def test_repeated_evaluations_count_once(tmp_path: Path) -> None:
    lines = [make_row(10, 0.1), make_row(20, 0.2), make_row(30, 0.3), make_row(20, 0.4), make_row(25, 0.5)]
    (tmp_path / "curves.jsonl").write_text("".join(lines))
    found = read_training_run(tmp_path, "again")
    assert found.column("step") == [10, 20, 25] and found.column("top1") == [0.1, 0.4, 0.5]


def test_damaged_training_runs_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*curves\.jsonl: give the folder of a training run"):
        read_training_run(tmp_path / "nowhere", "")
    for text, part in (("", "is empty"), ("{", "is damaged"), ('{"step": 1}\n', "is damaged")):
        (tmp_path / "curves.jsonl").write_text(text)
        with pytest.raises(ConfigError, match=part):
            read_training_run(tmp_path, "")
    (tmp_path / "curves.jsonl").write_text(make_row(1))
    for text in ("", "[]", '{"config": {}}'):
        (tmp_path / "report.json").write_text(text)
        with pytest.raises(ConfigError, match=r"report\.json is damaged"):
            read_training_run(tmp_path, "")


def test_snapshots_are_found_by_step(tmp_path: Path) -> None:
    (tmp_path / "snapshots").mkdir()
    for name in ("network-900.onnx", "network-1000.onnx", "network-old.onnx", "network-5.part"):
        (tmp_path / "snapshots" / name).touch()
    assert [(step, file.name) for step, file in find_snapshots(tmp_path).items()] == [
        (900, "network-900.onnx"),
        (1000, "network-1000.onnx"),
    ]
    assert find_snapshots(tmp_path / "nowhere") == {}


# ---- results --------------------------------------------------------------------------------------------------------
def test_isotonic_regression() -> None:
    assert learning.fit_decreasing([0.9, 0.4, 0.6, 0.1]) == [0.9, 0.5, 0.5, 0.1]
    assert learning.fit_decreasing([0.1, 0.2, 0.6]) == pytest.approx([0.3] * 3)
    assert learning.fit_decreasing([0.45, 0.3, 0.7]) == pytest.approx([1.45 / 3] * 3)
    assert learning.fit_decreasing([0.6, 0.2, 0.4, 0.6]) == pytest.approx([0.6, 0.4, 0.4, 0.4])


@pytest.mark.parametrize(
    ("points", "level", "text"),
    [
        ({1: 0.9, 2: 0.6, 3: 0.2}, 2.25, "2.2"),
        ({1: 0.9, 2: 0.75, 4: 0.25}, 3.0, "3.0"),
        ({1: 0.8, 2: 0.4, 3: 0.6, 4: 0.2}, 2.0, "2.0"),
        ({1: 0.8, 2: 0.7, 8: 0.6}, math.inf, "above 8"),
        ({2: 0.4, 3: 0.2}, -math.inf, "below 2"),
        ({1: 0.5, 2: 0.5}, 1.5, "1.5"),
    ],
)
def test_the_level_that_a_player_equals(points: dict[int, float], level: float, text: str) -> None:
    assert learning.find_equal_level(points) == pytest.approx(level)
    assert learning.format_level(learning.find_equal_level(points), list(points)) == text


def test_summaries_count_pairs() -> None:
    def game(number: int, one: int, other: int) -> ExperimentGame:
        return ExperimentGame(0, number, number % 2, (one, other), (one, other), (0, 0), (0.3, 0.1), (30, 20), ([], []))

    games = [game(3, 20, 44), game(0, 40, 24), game(1, 32, 32), game(2, 64, 0)]
    plan = ExperimentPlan("quick", "othello", None, (("a", "b"),), 4, 0)
    found = learning.summarise_pairings(plan, games)["a", "b"]
    assert (found.wins, found.draws, found.losses, found.points_share) == (2, 1, 1, 0.625)
    assert found.mean_margin == (16 + 0 + 64 - 24) / 4
    assert found.milliseconds == pytest.approx((10, 5))
    assert found.half_interval == pytest.approx(1.96 * mean_score([0, 0, 1, 1, 0])[1], rel=1e-3)


# ---- the experiment -------------------------------------------------------------------------------------------------
def test_slow_players_play_fewer_games() -> None:
    plan = learning.make_plan("othello", None, 100, (2, 4), 0)
    counts = dict(zip(plan.pairings, plan.counts, strict=True))
    assert counts["cnn", "alphabeta:mobility@4"] == counts["cnn", "otage@20ms"] == 100
    assert counts["puct:cnn@100ms", learning.champion_spec(8)] == counts["cnn-value@2", learning.champion_spec(1)] == 40
    assert plan.total == len(set(plan.schedule)) == sum(plan.counts) == 100 * (8 + 2 + 6) + 40 * 10
    assert all(number < plan.counts[pairing] for pairing, number in plan.schedule)
    assert set(learning.make_plan("othello", None, 1, (2,), 0).counts) == {2}, (
        "the number of games is rounded up to pairs"
    )
    jobs = {plan.schedule[number]: plan.make_job(number) for number in range(3 * len(plan.pairings))}
    openings = [jobs[3, number].opening for number in range(3)]
    assert openings[0] == openings[1] != openings[2] and {len(opening) for opening in openings} == {8}
    assert openings == [jobs[17, number].opening for number in range(3)]


def shorten_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        learning, "CHAMPION_LEVELS", {POLICY_PLAYER: (0, 1), "cnn-value@1": (1,), "puct:cnn@8n": (0, 1)}
    )
    monkeypatch.setattr(learning, "OTAGE_SPECS", ("otage@1",))


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_learning_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_experiment(monkeypatch)
    training, out = make_training(tmp_path / "training"), tmp_path / "out"
    words = ("lab", "learning", "--games", "1", "--depths", "1", "--out", str(out), "--training", str(training))
    done = awello(*words)
    assert done.returncode == 0, done.stderr
    assert "44 games done" in done.stdout, (
        "22 pairs: 4 against heuristics, 1 against Otage, 5 against levels, 3 for each of 2 snapshots and 2 opponents"
    )
    outcomes = {(row["player"], row["against"]): row for row in table(out, "games")}
    assert len(outcomes) == 14
    for (player, _), row in outcomes.items():
        assert int(row["wins"]) + int(row["draws"]) + int(row["losses"]) == (6 if "weights=" in player else 2)
    assert [row["heuristic"] for row in table(out, "heuristics")] == ["positional", "absolute", "mobility", "mixed"]
    for row in table(out, "heuristics"):
        games = outcomes[f"`{POLICY_PLAYER}`", f"`alphabeta:{row['heuristic']}@1`"]
        assert float(row["depth 1, %"]) == float(games["points, %"])
    levels = {row["level"]: row for row in table(out, "levels")}
    assert levels["0"]["`cnn-value@1`"] == "" and levels["1"]["`puct:cnn@8n`"] != ""
    assert [row["player"] for row in table(out, "equal")] == [f"`{POLICY_PLAYER}`", "`cnn-value@1`", "`puct:cnn@8n`"]
    assert [(row["step"], row["winners' moves (validation), %"]) for row in table(out, "snapshots")] == [
        ("10", "50.0"),
        ("20", "50.0"),
    ]
    *_, own = table(out, "training_runs")
    assert own["training run"] == f"`{training}`" and own["winners' moves, %"] == "12.35"
    plots = {file.stem for file in out.glob("*.svg")}
    assert (
        plots
        == {"curves-top1", "curves-policy-loss", "snapshots", "levels"}
        == {file.stem for file in out.glob("*.png")}
    )
    before = (out / "games.jsonl").read_text()
    again = list[int]()
    assert len(run_experiment(learning.make_plan("othello", None, 1, (1,), 0, training), out, 1, again.append)) == 44
    assert again == [44] and (out / "games.jsonl").read_text() == before, (
        "a repeated run finds all games in the journal"
    )
    snapshots = training / "snapshots"
    (snapshots / "network-10.onnx").write_bytes((snapshots / "network-20.onnx").read_bytes() + b"1")
    assert "contains another experiment (different networks)" in awello(*words).stderr


def test_without_a_training_there_are_no_snapshots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten_experiment(monkeypatch)
    monkeypatch.setattr(Report, "add_plot", lambda *given: None)
    plan = learning.make_plan("othello", None, 2, (1,), 0)
    blank = [
        ExperimentGame(*job, 0, (40, 24), (40, 24), (0, 0), (0.1, 0.1), (30, 30), ([], [])) for job in plan.schedule
    ]
    learning.write_report(plan, blank, (1,), tmp_path)
    assert len(table(tmp_path, "training_runs")) == 4
    assert not list(tmp_path.glob("snapshots.*"))
    assert "Strength of the snapshots" not in (tmp_path / "report.md").read_text()
    assert {row["equals level"] for row in table(tmp_path, "equal")} == {"above 1"}


def test_invalid_input_is_refused(tmp_path: Path) -> None:
    assert "is for Othello on 8x8" in awello("lab", "learning", "--game", "awale").stderr
    assert "give the folder of a training run" in awello("lab", "learning", "--training", str(tmp_path)).stderr
    assert "--training works only with" in awello("lab", "benchmark", "--training", str(tmp_path)).stderr
    folder = make_training(tmp_path / "a,b", (1,))
    assert "rename the folder" in awello("lab", "learning", "--training", str(folder)).stderr
    damaged = make_training(tmp_path / "damaged", (1,))
    (damaged / "snapshots" / "network-1.onnx").write_bytes(b"none")
    with pytest.raises(ConfigError, match="is not a convolutional network"):
        run_experiment(learning.make_plan("othello", None, 2, (1,), 0, damaged), tmp_path / "out")
