"""The experiment about learning: what trainings tell, who equals whom, and the games that show it."""

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

from awello.arena.sprt import mean
from awello.errors import ConfigError
from awello.lab import learning
from awello.lab.curves import (
    COLUMNS,
    TrainingCurves,
    find_networks,
    read_training,
    shipped_trainings,
    write_trainings,
)
from awello.lab.experiment import ExperimentGame, ExperimentPlan, run_experiment
from awello.lab.report import Report

GLANCE = "cnn,symmetries=1"
PLAN = {"network": "residual", "width": 8, "blocks": 1, "whole": 0, "view": "mover", "moves": "all", "taught": 0.8}
REPORT = {
    "plan": PLAN | {"teacher": "some/where/teacher.pt", "batch": 4, "rate": 0.1},
    "parameters": 1234,
    "positions": {"teaching": 99},
    "test": {"winners": {"top1": 0.123456}, "all": {"top1": 0.2}},
}


def measure(step: int, top1: float = 0.5) -> str:
    return json.dumps(dict.fromkeys(COLUMNS, 0.25) | {"step": step, "top1": top1, "error": 0.7}) + "\n"


def make_training(folder: Path, steps: tuple[int, ...] = (10, 20)) -> Path:
    """A folder as a training leaves it, whose networks are all the shipped one."""
    (folder / "epochs").mkdir(parents=True)
    (folder / "curves.jsonl").write_text("".join(map(measure, steps)))
    (folder / "report.json").write_text(json.dumps(REPORT))
    with as_file(files("awello").joinpath("data/cnn.onnx")) as shipped:
        for step in steps:
            shutil.copy(shipped, folder / "epochs" / f"network-{step}.onnx")
    return folder


# ---- trainings ------------------------------------------------------------------------------------------------------
def test_four_trainings_are_told_of() -> None:
    shipped, report, colours, mover = shipped_trainings()
    assert (shipped.parameters, report.parameters) == (1_755_603, 4_432_768)
    assert shipped.plan["teacher"] and not report.plan["teacher"]
    differing = {key for key in colours.plan if colours.plan[key] != mover.plan[key]}
    assert differing == {"view"} and [a == b for a, b in zip(colours.describe(), mover.describe(), strict=True)] == [
        True,
        False,
        True,
    ]
    for each in (shipped, report, colours, mover):
        assert all(one < other for one, other in pairwise(each.column("step")))
        assert each.column("top1")[0] < each.last("top1")
        assert each.winners == pytest.approx(each.last("top1"), abs=0.01), "held out and set aside are alike"
        assert each.winners and each.all and each.all < each.winners
    assert (shipped.last("step"), shipped.winners) == (34_573, 0.6686)
    assert report.describe()[2] == "moves of winners"
    assert shipped.describe()[2] == "a teacher (80 %); all moves, who wins"


def test_a_folder_tells_of_its_training(tmp_path: Path) -> None:
    folder = make_training(tmp_path / "training")
    found = read_training(folder, "mine")
    assert (found.winners, found.all, found.parameters, found.positions) == (0.1235, 0.2, 1234, 99)
    assert found.plan == PLAN | {"teacher": "teacher.pt", "batch": 4}
    assert found.curves == (
        (10, 0.25, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25),
        (20, 0.25, 0.25, 0.25, 0.25, 0.5, 0.25, 0.25),
    )
    write_trainings([found], tmp_path / "file.json")
    (again,) = json.loads((tmp_path / "file.json").read_text())
    assert TrainingCurves(**again | {"curves": tuple(map(tuple, again["curves"]))}) == found
    (folder / "report.json").unlink()
    young = read_training(folder, "mine")
    assert young == replace(found, plan={}, parameters=None, positions=None, winners=None, all=None)
    assert young.describe() == (None, None, None)


def test_measures_that_were_made_again_count_once(tmp_path: Path) -> None:
    lines = [measure(10, 0.1), measure(20, 0.2), measure(30, 0.3), measure(20, 0.4), measure(25, 0.5)]
    (tmp_path / "curves.jsonl").write_text("".join(lines))
    found = read_training(tmp_path, "again")
    assert found.column("step") == [10, 20, 25] and found.column("top1") == [0.1, 0.4, 0.5]


def test_what_is_wrong_with_a_training_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no folder of a training: it has no curves\.jsonl"):
        read_training(tmp_path / "nowhere", "")
    for text, part in (("", "is empty"), ("{", "is damaged"), ('{"step": 1}\n', "is damaged")):
        (tmp_path / "curves.jsonl").write_text(text)
        with pytest.raises(ConfigError, match=part):
            read_training(tmp_path, "")
    (tmp_path / "curves.jsonl").write_text(measure(1))
    for text in ("", "[]", '{"plan": {}}'):
        (tmp_path / "report.json").write_text(text)
        with pytest.raises(ConfigError, match=r"report\.json is damaged"):
            read_training(tmp_path, "")


def test_networks_on_the_way_are_found_by_step(tmp_path: Path) -> None:
    (tmp_path / "epochs").mkdir()
    for name in ("network-900.onnx", "network-1000.onnx", "network-old.onnx", "network-5.part"):
        (tmp_path / "epochs" / name).touch()
    assert [(step, file.name) for step, file in find_networks(tmp_path).items()] == [
        (900, "network-900.onnx"),
        (1000, "network-1000.onnx"),
    ]
    assert find_networks(tmp_path / "nowhere") == {}


# ---- results --------------------------------------------------------------------------------------------------------
def test_the_nearest_falling_row() -> None:
    assert learning.falling([0.9, 0.4, 0.6, 0.1]) == [0.9, 0.5, 0.5, 0.1]
    assert learning.falling([0.1, 0.2, 0.6]) == pytest.approx([0.3] * 3)
    assert learning.falling([0.45, 0.3, 0.7]) == pytest.approx([1.45 / 3] * 3)
    assert learning.falling([0.6, 0.2, 0.4, 0.6]) == pytest.approx([0.6, 0.4, 0.4, 0.4])


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
    assert learning.equal_level(points) == pytest.approx(level)
    assert learning.format_level(learning.equal_level(points), list(points)) == text


def test_outcomes_count_pairs() -> None:
    def game(number: int, one: int, other: int) -> ExperimentGame:
        return ExperimentGame(0, number, number % 2, (one, other), (one, other), (0, 0), (0.3, 0.1), (30, 20), ([], []))

    games = [game(3, 20, 44), game(0, 40, 24), game(1, 32, 32), game(2, 64, 0)]
    plan = ExperimentPlan("quick", "othello", None, (("a", "b"),), 4, 0)
    found = learning.outcomes(plan, games)["a", "b"]
    assert (found.won, found.drawn, found.lost, found.points) == (2, 1, 1, 0.625)
    assert found.lead == (16 + 0 + 64 - 24) / 4
    assert found.milliseconds == pytest.approx((10, 5))
    assert found.reach == pytest.approx(1.96 * mean([0, 0, 1, 1, 0])[1], rel=1e-3)


# ---- the experiment -------------------------------------------------------------------------------------------------
def test_players_that_take_long_play_fewer_games() -> None:
    plan = learning.plan("othello", None, 100, (2, 4), 0)
    counts = dict(zip(plan.pairings, plan.counts, strict=True))
    assert counts["cnn", "alphabeta:mobility@4"] == counts["cnn", "otage@20ms"] == 100
    assert counts["puct:cnn@100ms", learning.champion(8)] == counts["cnn-value@2", learning.champion(1)] == 40
    assert plan.total == len(set(plan.wanted)) == sum(plan.counts) == 100 * (8 + 2 + 6) + 40 * 10
    assert all(number < plan.counts[pairing] for pairing, number in plan.wanted)
    assert set(learning.plan("othello", None, 1, (2,), 0).counts) == {2}, "games come in pairs"
    jobs = {plan.wanted[number]: plan.job(number) for number in range(3 * len(plan.pairings))}
    openings = [jobs[3, number].opening for number in range(3)]
    assert openings[0] == openings[1] != openings[2] and {len(opening) for opening in openings} == {8}
    assert openings == [jobs[17, number].opening for number in range(3)]


def make_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "LEVELS", {GLANCE: (0, 1), "cnn-value@1": (1,), "puct:cnn@8n": (0, 1)})
    monkeypatch.setattr(learning, "OTAGE", ("otage@1",))


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open() as file:
        return list(csv.DictReader(file))


def test_the_experiment_about_learning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_quick(monkeypatch)
    training, out = make_training(tmp_path / "training"), tmp_path / "out"
    words = ("lab", "learning", "--games", "1", "--depths", "1", "--out", str(out), "--training", str(training))
    done = awello(*words)
    assert done.returncode == 0, done.stderr
    assert "44 games done" in done.stdout, "pairs: four heuristics, Otage, five levels, and thrice two ages against two"
    outcomes = {(row["player"], row["against"]): row for row in table(out, "games")}
    assert len(outcomes) == 14
    for (player, _), row in outcomes.items():
        assert int(row["won"]) + int(row["drawn"]) + int(row["lost"]) == (6 if "file=" in player else 2)
    assert [row["heuristic"] for row in table(out, "heuristics")] == ["positional", "absolute", "mobility", "mixed"]
    for row in table(out, "heuristics"):
        games = outcomes[f"`{GLANCE}`", f"`alphabeta:{row['heuristic']}@1`"]
        assert float(row["depth 1, %"]) == float(games["points, %"])
    levels = {row["level"]: row for row in table(out, "levels")}
    assert levels["0"]["`cnn-value@1`"] == "" and levels["1"]["`puct:cnn@8n`"] != ""
    assert [row["player"] for row in table(out, "equal")] == [f"`{GLANCE}`", "`cnn-value@1`", "`puct:cnn@8n`"]
    assert [(row["step"], row["winners' moves set aside, %"]) for row in table(out, "ages")] == [
        ("10", "50.0"),
        ("20", "50.0"),
    ]
    *_, own = table(out, "trainings")
    assert own["training"] == f"`{training}`" and own["winners' moves, %"] == "12.35"
    plots = {file.stem for file in out.glob("*.svg")}
    assert plots == {"curves-top1", "curves-moves", "ages", "levels"} == {file.stem for file in out.glob("*.png")}
    before = (out / "games.jsonl").read_text()
    again = list[int]()
    assert len(run_experiment(learning.plan("othello", None, 1, (1,), 0, training), out, 1, again.append)) == 44
    assert again == [44] and (out / "games.jsonl").read_text() == before, (
        "the same command goes on, and there is nothing left to play"
    )
    (training / "epochs" / "network-10.onnx").write_bytes((training / "epochs" / "network-20.onnx").read_bytes() + b"1")
    assert "holds another experiment (networks)" in awello(*words).stderr


def test_without_a_training_there_are_no_ages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_quick(monkeypatch)
    monkeypatch.setattr(Report, "plot", lambda *given: None)
    plan = learning.plan("othello", None, 2, (1,), 0)
    blank = [ExperimentGame(*job, 0, (40, 24), (40, 24), (0, 0), (0.1, 0.1), (30, 30), ([], [])) for job in plan.wanted]
    learning.write(plan, blank, (1,), tmp_path)
    assert len(table(tmp_path, "trainings")) == 4
    assert not list(tmp_path.glob("ages.*")) and "Strength by age" not in (tmp_path / "report.md").read_text()
    assert {row["equals level"] for row in table(tmp_path, "equal")} == {"above 1"}


def test_what_the_experiment_refuses(tmp_path: Path) -> None:
    assert "is for Othello on 8x8" in awello("lab", "learning", "--game", "awale").stderr
    assert "no folder of a training" in awello("lab", "learning", "--training", str(tmp_path)).stderr
    assert "--training only works with" in awello("lab", "benchmark", "--training", str(tmp_path)).stderr
    folder = make_training(tmp_path / "a,b", (1,))
    assert "rename the folder" in awello("lab", "learning", "--training", str(folder)).stderr
    damaged = make_training(tmp_path / "damaged", (1,))
    (damaged / "epochs" / "network-1.onnx").write_bytes(b"none")
    with pytest.raises(ConfigError, match="holds no network"):
        run_experiment(learning.plan("othello", None, 2, (1,), 0, damaged), tmp_path / "out")
