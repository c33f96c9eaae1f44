"""Experiments: complete folders, safe to interrupt, honest about what is missing."""

import csv
import json
from pathlib import Path

import pytest
from conftest import awello, fresh_awello

from awello.errors import ConfigError
from awello.lab import benchmark, championship, complexity, heuristics, ordering, published
from awello.lab.experiment import Plan, run

EXPERIMENTS = {
    "complexity": {"time.csv", "ratios.csv", "nodes.csv", "savings.csv", "nodes-depth-2.png", "nodes-depth-2.svg"},
    "championship": {"pairs-2.csv"},
    "benchmark": {"players.csv"},
    "ordering": {"ordering-2.csv", "nodes-depth-2.png", "nodes-depth-2.svg"},
}
ALWAYS = {"report.md", "report.html", "configuration.json", "games.jsonl"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_writes_its_folder(name: str, tmp_path: Path) -> None:
    words = ("lab", name, "--games", "2", "--depths", "1,2", "--out", str(tmp_path / "out"), "--jobs", "2", "--json")
    done = (fresh_awello if name == "complexity" else awello)(*words)
    assert done.returncode == 0, done.stderr
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert EXPERIMENTS[name] | ALWAYS <= files
    configuration = json.loads((tmp_path / "out" / "configuration.json").read_text())
    assert configuration["seed"] == 0
    assert json.loads(done.stdout)["games"] == 2 * len(configuration["pairings"])
    assert "<table>" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_awale_has_the_same_experiments(name: str, tmp_path: Path) -> None:
    words = ("lab", name, "--game", "awale", "--games", "2", "--depths", "1,2", "--out", str(tmp_path / "out"))
    done = awello(*words)
    assert done.returncode == 0, done.stderr
    assert "diffscore" in (tmp_path / "out" / "report.md").read_text()


def test_orders_of_moves_are_compared_in_the_same_games(tmp_path: Path) -> None:
    plan = ordering.plan("awale", None, 2, (4,), 1)
    played = run(plan, tmp_path, 1, lambda _: None)
    assert len({tuple(map(tuple, (game.score, game.moves))) for game in played if game.number == 1}) == 1
    ordering.write(plan, played, (4,), tmp_path)
    with (tmp_path / "ordering-4.csv").open() as file:
        rows = {row["search"]: row for row in csv.DictReader(file)}
    assert plan.variant == "tournament"
    assert float(rows["without order"]["nodes saved, %"]) == 0
    assert 20 < float(rows["frozen order"]["nodes saved, %"]) < float(rows["live order"]["nodes saved, %"]) + 20
    assert sum(ordering.nodes_by_ply(played[0])) == sum(map(sum, played[0].nodes))
    assert ordering.nodes_by_ply(played[0])[:2] == [played[0].nodes[0][0], played[0].nodes[1][0]]


def test_the_tournament_of_report_1(tmp_path: Path) -> None:
    plan = heuristics.plan("awale", None, 1, (1,), 1)
    assert (plan.games, plan.variant, len(plan.pairings)) == (2, "tournament", 36)
    played = run(plan, tmp_path, 1, lambda _: None)
    points, names = heuristics.round_points(plan, played), heuristics.entrants(1)
    for pairing, (one, other) in enumerate(plan.pairings):
        first, second = ([game.score[place] for game in played if game.pairing == pairing] for place in (0, 1))
        expected = 3 if sum(first) > sum(second) else 1 if sum(first) == sum(second) else 0
        assert points[one, other] == expected and points[other, one] == (1 if expected == 1 else 3 - expected)
    heuristics.write(plan, played, (1,), tmp_path)
    with (tmp_path / "ranks.csv").open() as file:
        rows = {row["program"]: row for row in csv.DictReader(file)}
    assert rows.keys() == names.keys() == published.HEURISTICS.keys()
    assert float(rows["MinMaxH3.2"]["report 1: points"]) == 20.63
    assert sum(float(row["points"]) for row in rows.values()) == sum(points.values())
    with pytest.raises(ConfigError, match="for Awalé"):
        heuristics.plan("othello", None, 1, (1,), 1)


def quick_plan(games: int = 4) -> Plan:
    return Plan(
        "quick", "othello", None, (("alphabeta@1", "random"), ("minimax@1", "greedy")), games, 3, opening_plies=2
    )


def without_times(folder: Path) -> list[dict[str, object]]:
    games = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    for game in games:
        del game["seconds"]
    return sorted(games, key=lambda game: (game["pairing"], game["number"]))


def test_an_interrupted_experiment_goes_on(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run(quick_plan(), whole, 1, lambda _: None)
    reports = []

    def interrupt(count: int) -> None:
        reports.append(count)
        if len(reports) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(quick_plan(), parts, 1, interrupt)
    with (parts / "games.jsonl").open("a") as file:
        file.write('{"pairing": 1, "num')  # cut short in the middle of a line
    again: list[int] = []
    run(quick_plan(), parts, 1, again.append)
    assert again[0] == 3
    assert len(again) == 1 + 8 - 3
    assert without_times(whole) == without_times(parts)


def test_experiments_are_not_mixed(tmp_path: Path) -> None:
    run(quick_plan(2), tmp_path, 1, lambda _: None)
    with pytest.raises(ConfigError, match="another experiment"):
        run(quick_plan(4), tmp_path, 1, lambda _: None)


def test_searches_that_agree_play_the_same_games(tmp_path: Path) -> None:
    plan = complexity.plan("othello", None, 4, (2, 3), 1)
    games = run(plan, tmp_path, 1, lambda _: None)
    by_heuristic: dict[tuple[str, int], set[tuple[int, ...]]] = {}
    for game in games:
        heuristic = plan.pairings[game.pairing][0].partition(":")[2].partition(",")[0]
        by_heuristic.setdefault((heuristic, game.number), set()).add((*game.score, *game.moves))
    assert all(len(results) == 1 for results in by_heuristic.values())


def test_published_figures_stand_beside_ours(tmp_path: Path) -> None:
    for experiment, file, figure in (
        (complexity, "ratios.csv", "57.52"),
        (championship, "strategies.csv", "35.46"),
    ):
        plan = experiment.plan("othello", None, 2, (2,), 1)
        folder = tmp_path / plan.name
        experiment.write(plan, run(plan, folder, 1, lambda _: None), (2,), folder)
        with (folder / file).open() as lines:
            assert any(figure in row for row in csv.reader(lines))
    assert benchmark.plan("othello", None, 2, (8,), 1).pairings[0] == ("alphabeta:positional@8", "random")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--depths", "2,x"), "depths '2,x'"),
        (("--depths", "0"), "depths '0'"),
        (("--game", "awale", "--variant", "ouri"), "unknown variant 'ouri'"),
        (("--game", "chess"), "unknown game 'chess'"),
        (("--out", "/proc/nowhere"), "cannot write"),
    ],
)
def test_bad_input_gets_one_clear_line(words: tuple[str, ...], part: str) -> None:
    done = awello("lab", "complexity", "--games", "1", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_experiment_is_refused() -> None:
    assert "no experiment 'alchemy': choose complexity" in awello("lab", "alchemy").stderr
