"""Experiments: complete folders, resuming, and errors."""

import csv
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from conftest import awello, fresh_awello, random_record

from awello import Game, Position
from awello.errors import ConfigError
from awello.evaluate.heuristics import EXACT_SCALE
from awello.evaluate.otage import estimate
from awello.evaluate.otage_memory import OtageEvaluator, OtageMemory
from awello.kernel import U
from awello.lab import benchmark, championship, complexity, example_trees, heuristics, ordering, otage, published
from awello.lab.experiment import ExperimentPlan, run_experiment
from awello.search.iterative_deepening import HINT_KINDS, SQUARE_ORDER, IterativeDeepening, OtageOptions

EXPERIMENTS = {
    "complexity": {"time.csv", "ratios.csv", "nodes.csv", "savings.csv", "nodes-depth-2.png", "nodes-depth-2.svg"},
    "championship": {"pairs-2.csv"},
    "benchmark": {"players.csv"},
    "ordering": {"ordering-2.csv", "nodes-depth-2.png", "nodes-depth-2.svg"},
}
ALWAYS = {"report.md", "report.html", "configuration.json", "games.jsonl"}


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_writes_its_folder(name: str, tmp_path: Path) -> None:
    words = ("lab", name, "--games", "2", "--depths", "1,2", "--out", str(tmp_path / "out"), "--json")
    done = fresh_awello(*words, "--jobs", "2") if name == "complexity" else awello(*words)
    assert done.returncode == 0, done.stderr
    files = {file.name for file in (tmp_path / "out").iterdir()}
    assert EXPERIMENTS[name] | ALWAYS <= files
    configuration = json.loads((tmp_path / "out" / "configuration.json").read_text())
    assert configuration["seed"] == 0
    assert json.loads(done.stdout)["games"] == 2 * len(configuration["pairings"])
    assert "<table>" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_with_awale(name: str, tmp_path: Path) -> None:
    words = ("lab", name, "--game", "awale", "--games", "2", "--depths", "1,2", "--out", str(tmp_path / "out"))
    done = awello(*words)
    assert done.returncode == 0, done.stderr
    assert "diffscore" in (tmp_path / "out" / "report.md").read_text()


def test_move_orderings_are_compared_in_the_same_games(tmp_path: Path) -> None:
    plan = ordering.make_plan("awale", None, 2, (4,), 1)
    played = run_experiment(plan, tmp_path)
    assert len({tuple(map(tuple, (game.score, game.moves))) for game in played if game.number == 1}) == 1
    ordering.write_report(plan, played, (4,), tmp_path)
    with (tmp_path / "ordering-4.csv").open() as file:
        rows = {row["search"]: row for row in csv.DictReader(file)}
    assert plan.variant == "tournament"
    assert float(rows["without order"]["nodes saved, %"]) == 0
    assert 20 < float(rows["frozen order"]["nodes saved, %"]) < float(rows["live order"]["nodes saved, %"]) + 20
    assert sum(ordering.list_nodes_by_ply(played[0])) == sum(map(sum, played[0].nodes))
    assert ordering.list_nodes_by_ply(played[0])[:2] == [played[0].nodes[0][0], played[0].nodes[1][0]]


def test_the_tournament_of_report_1(tmp_path: Path) -> None:
    plan = heuristics.make_plan("awale", None, 1, (1,), 1)
    assert (plan.games, plan.variant, len(plan.pairings)) == (2, "tournament", 36)
    played = run_experiment(plan, tmp_path)
    points, names = heuristics.compute_mean_round_points(plan, played), heuristics.list_players(1)
    for pairing, (one, other) in enumerate(plan.pairings):
        first, second = ([game.score[place] for game in played if game.pairing == pairing] for place in (0, 1))
        expected = 3 if sum(first) > sum(second) else 1 if sum(first) == sum(second) else 0
        assert points[one, other] == expected and points[other, one] == (1 if expected == 1 else 3 - expected)
    heuristics.write_report(plan, played, (1,), tmp_path)
    with (tmp_path / "ranks.csv").open() as file:
        rows = {row["player"]: row for row in csv.DictReader(file)}
    assert rows.keys() == names.keys() == published.REPORT1_POINTS.keys()
    assert float(rows["MinMaxH3.2"]["report 1: points"]) == 20.63
    assert sum(float(row["points"]) for row in rows.values()) == sum(points.values())
    with pytest.raises(ConfigError, match="for Awalé"):
        heuristics.make_plan("othello", None, 1, (1,), 1)


# ---- Otage ----------------------------------------------------------------------------------------------------------
def test_the_tree_of_report_4() -> None:
    tree = example_trees.make_report4_tree()
    assert otage.count_leaves(tree) == published.REPORT4_TREE_LEAVES
    before, last = example_trees.deepen(tree, (2, 3))
    assert before.variations == {"1": ("1", "1.3"), "2": ("2", "2.2"), "3": ("3", "3.2")}
    assert (before.move, last.move) == ("3", "3")


def test_more_hints_mean_fewer_leaves() -> None:
    counts = otage.count_random_leaves(60, 1)
    assert list(counts) == list(published.REPORT4_TREE_LEAVES)
    assert all(more > fewer for more, fewer in pairwise(counts.values())), counts


def build_example_tree(position: Position, depth: int, evaluator: OtageEvaluator) -> example_trees.ExampleNode:
    """Build the tree of all moves from a position to the given depth."""
    if position.over:
        black, white = position.score()
        return example_trees.ExampleNode(EXACT_SCALE * (white - black if position.side else black - white))
    moves = position.legal_moves() if depth else ()
    children = {
        position.format_move(move): build_example_tree(position.after(move), depth - 1, evaluator) for move in moves
    }
    return example_trees.ExampleNode(int(estimate(U(position.own), U(position.opp), evaluator.otage)), children)


def sample_positions() -> Iterator[Position]:
    """Yield midgame positions, and late positions whose trees contain passes and finished games."""
    yield from (otage.sample_position(2, number) for number in range(3))
    for seed in range(12):
        late = list(random_record(Game.OTHELLO, seed).positions())[-5]
        if len(late.legal_moves()) > 1:
            yield late


@pytest.mark.parametrize("order", [False, True])
def test_the_kernels_agree_with_the_searches_of_example_trees(order: bool) -> None:
    searched = 0
    for position in sample_positions():
        tree = build_example_tree(position, 4, OtageEvaluator(OtageMemory()))
        for hints in HINT_KINDS:
            search = IterativeDeepening(OtageMemory(), OtageOptions(hints, order, aspiration=False))
            plain = example_trees.deepen(tree, range(1, 5), hints, SQUARE_ORDER.split() if order else ())
            for ours, theirs in zip(search.deepen(position, 4), plain, strict=False):
                assert (ours.value, ours.leaves) == (theirs.value, theirs.leaves)
                assert position.format_move(ours.move) == theirs.move
                if hints in ("pv", "refutations"):
                    lines = {tuple(map(position.format_move, line)) for line in ours.variations.values()}
                    assert lines == set(theirs.variations.values())
                searched += 1
    assert searched > 150


def test_the_otage_experiment(tmp_path: Path) -> None:
    words = ("lab", "otage", "--positions", "3", "--depths", "3,4", "--out", str(tmp_path / "out"))
    done = awello(*words)
    assert done.returncode == 0, done.stderr
    assert "20 positions done" in done.stdout
    tables = {}
    for name in ("trees", "positions-3", "positions-4", "game", "variations"):
        with (tmp_path / "out" / f"{name}.csv").open() as file:
            tables[name] = list(csv.DictReader(file))
    assert [int(row["one tree: leaves"]) for row in tables["trees"]] == list(published.REPORT4_TREE_LEAVES.values())
    assert {row["search"] for row in tables["positions-4"]} == set(otage.SEARCHES)
    *moves, total = tables["game"]
    assert len(moves) == 17 and int(total["report 4: saved"]) == sum(published.REPORT4_LEAVES_SAVED)
    assert int(total["saved"]) == sum(int(row["without variations"]) - int(row["with variations"]) for row in moves)
    *ours, theirs = tables["variations"]
    assert len(ours) == 11 and theirs["depth 5"] == "g5 h4 h5 g4 h3"
    assert {len(row["depth 5"].split()) for row in ours} == {2, 5}, "each line is a refutation or a full variation"
    lines = [json.loads(line) for line in (tmp_path / "out" / "games.jsonl").read_text().splitlines()]
    depth4 = sum(line["leaves"]["best move"][3] for line in lines if line["kind"] == "sample")
    row = next(row for row in tables["positions-4"] if row["search"] == "best move")
    assert int(row["leaves of this depth"]) == depth4
    assert int(row["leaves up to this depth"]) > depth4
    assert json.loads(awello(*words, "--json").stdout)["positions"] == 20, "the same command resumes"
    assert "contains another experiment (different seed)" in awello(*words, "--seed", "1").stderr
    assert "is for Othello" in awello("lab", "otage", "--game", "awale").stderr
    assert "give --positions instead of --games" in awello("lab", "otage", "--games", "3").stderr
    assert "--positions works only" in awello("lab", "ordering", "--positions", "3").stderr


def test_searches_that_disagree_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    position = otage.sample_position(1, 1)
    assert 14 <= (position.own | position.opp).bit_count() <= 30 and position == otage.sample_position(1, 1)
    other_memory = OtageMemory(factors=(1.0, 2.0, 3.0, 4.0))
    monkeypatch.setattr(
        otage,
        "_make_search",
        lambda name: IterativeDeepening(other_memory if name == "best move" else OtageMemory(), OtageOptions()),
    )
    with pytest.raises(AssertionError, match="disagree"):
        otage.search_position(position, "sample", 1, tuple(otage.HINT_LEVELS), 2)


def make_quick_plan(games: int = 4) -> ExperimentPlan:
    return ExperimentPlan(
        "quick", "othello", None, (("alphabeta@1", "random"), ("minimax@1", "greedy")), games, 3, opening_plies=2
    )


def read_games_without_times(folder: Path) -> list[dict[str, object]]:
    games = [json.loads(line) for line in (folder / "games.jsonl").read_text().splitlines()]
    for game in games:
        del game["seconds"]
    return games


def test_an_interrupted_experiment_is_resumed(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    run_experiment(make_quick_plan(), whole)
    reports = []

    def interrupt(count: int) -> None:
        reports.append(count)
        if len(reports) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_experiment(make_quick_plan(), parts, 1, interrupt)
    with (parts / "games.jsonl").open("a") as file:
        file.write('{"game": "oth')  # an incomplete line
    again: list[int] = []
    run_experiment(make_quick_plan(), parts, 1, again.append)
    assert again == [3, 4, 5, 6, 7, 8]
    assert read_games_without_times(whole) == read_games_without_times(parts)


def test_experiments_are_not_mixed(tmp_path: Path) -> None:
    run_experiment(make_quick_plan(2), tmp_path)
    with pytest.raises(ConfigError, match="another experiment"):
        run_experiment(make_quick_plan(4), tmp_path)


def test_searches_that_agree_play_the_same_games(tmp_path: Path) -> None:
    plan = complexity.make_plan("othello", None, 4, (2, 3), 1)
    games = run_experiment(plan, tmp_path)
    by_heuristic: dict[tuple[str, int], set[tuple[int, ...]]] = {}
    for game in games:
        heuristic = plan.pairings[game.pairing][0].partition(":")[2].partition(",")[0]
        by_heuristic.setdefault((heuristic, game.number), set()).add((*game.score, *game.moves))
    assert all(len(results) == 1 for results in by_heuristic.values())


def test_published_figures_are_in_the_tables(tmp_path: Path) -> None:
    for experiment, file, figure in (
        (complexity, "ratios.csv", "57.52"),
        (championship, "strategies.csv", "35.46"),
    ):
        plan = experiment.make_plan("othello", None, 2, (2,), 1)
        folder = tmp_path / plan.name
        experiment.write_report(plan, run_experiment(plan, folder), (2,), folder)
        with (folder / file).open() as lines:
            assert any(figure in row for row in csv.reader(lines))
    assert benchmark.make_plan("othello", None, 2, (8,), 1).pairings[0] == ("alphabeta:positional@8", "random")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--depths", "2,x"), "'2,x' is not a list of depths"),
        (("--depths", "0"), "'0' is not a list of depths"),
        (("--game", "awale", "--variant", "ouri"), "unknown variant 'ouri'"),
        (("--game", "chess"), "unknown game 'chess'"),
        (("--out", "/proc/nowhere"), "cannot write"),
    ],
)
def test_invalid_input_is_a_one_line_error(words: tuple[str, ...], part: str) -> None:
    done = awello("lab", "complexity", "--games", "1", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_experiment_is_refused() -> None:
    assert "unknown experiment 'alchemy': choose complexity" in awello("lab", "alchemy").stderr
