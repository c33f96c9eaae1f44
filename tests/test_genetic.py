"""The genetic algorithm: each step against its definition, and the same generations however it is run."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from math import inf
from pathlib import Path
from typing import Any

import pytest
from conftest import awello, fresh_awello, run

from awello.arena.workers import crew
from awello.errors import ConfigError
from awello.evaluate.heuristics import WEIGHTS
from awello.evaluate.settings import Heuristic, read_learnt, weights_of
from awello.learn import genetic
from awello.learn.genetic import Evolution, Generation, Individual, Plan, Trial, advance, begin, breed, evolve
from awello.players.budget import Budgeted
from awello.players.player import make_player
from awello.players.textbook import Textbook
from awello.rules.game import Game
from awello.search.budgeting import learnt_scores

PLAN = Plan("h2", nodes=1, population=6, fighters=2, boss_depth=1)


@pytest.fixture(autouse=True)
def seeded() -> None:
    random.seed(1)


def with_fitness(genes: Iterable[int], fitness: int) -> Individual:
    individual = Individual(genes)
    individual.fitness = fitness
    return individual


def content(evolution: Evolution) -> tuple[list[Individual], Individual, list[Generation]]:
    """All but the time."""
    return evolution.population, evolution.best, evolution.history


def by_sum(function: Callable[[Trial], int], trials: Iterable[Trial]) -> Iterator[int]:
    """Instead of games: who has the larger genes is fitter."""
    return (sum(trial.genes) for trial in trials)


@pytest.mark.parametrize("name", genetic.NAIVE)
def test_population_zero(name: str) -> None:
    plan = Plan(name, seed=3)
    evolution = begin(plan)
    assert len(evolution.population) == 42
    assert evolution.best == evolution.population[0] == plan.naive
    assert plan.weights(plan.naive) == genetic.NAIVE[name]
    genes = [gene for individual in evolution.population[1:] for gene in individual]
    assert {len(plan.weights(individual)) for individual in evolution.population} == {weights_of(name)}
    assert set(genes) <= set(range(-20, 21)) and len(set(genes)) > 30


def test_the_seeds_taken_are_fixed_for_travers() -> None:
    assert Plan("travers").weights([1, 2, 3, 4, 5, 6]) == (10, -10, 1, 2, 3, 4, 5, 6)
    assert Plan("h3").weights([1, 2, 3, 4, 5, 6, 7, 8]) == (1, 2, 3, 4, 5, 6, 7, 8)


@pytest.mark.parametrize(("own", "opp", "worth"), [(25, 20, 225), (20, 25, 20), (21, 21, 121), (0, 30, 0)])
def test_points_of_a_game(own: int, opp: int, worth: int) -> None:
    assert genetic.points(own, opp) == worth


def test_fitness_of_constructed_results(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []

    def fight(game: object, searches: tuple[str, str], seed: str) -> tuple[int, int]:
        seeds.append(seed)
        first, second = searches
        strength = {"boss": 2, "own": 1, "weak": 0}
        return (26, 10) if strength[first] > strength[second] else (10, 26) if first != second else (20, 20)

    monkeypatch.setattr(genetic, "fight", fight)
    monkeypatch.setattr(genetic, "boss", lambda plan: "boss")
    monkeypatch.setattr(genetic, "search_with", lambda plan, genes: "own" if genes == (1,) else "weak")
    against_boss, against_weak, against_self = 2 * (10 + 10), 226 + 226, 120 + 120
    assert genetic.fitness(Trial(PLAN, 5, ((2,), (1,)), (1,))) == against_boss + against_weak + against_self
    assert len(seeds) == len(set(seeds)) == 6
    again = list(seeds)
    seeds.clear()
    assert genetic.fitness(Trial(PLAN, 5, ((2,), (1,)), (2,))) == against_boss + 240 + 20
    assert seeds == again  # the same chance for everybody


def test_games_are_those_of_their_seed() -> None:
    searches = genetic.search_with(PLAN, PLAN.naive), genetic.boss(PLAN)
    results = {seed: [genetic.fight(PLAN.game, searches, seed) for _ in range(2)] for seed in "abcdef"}
    assert all(first == second and sum(first) <= 48 for first, second in results.values())
    assert len({first for first, _ in results.values()}) > 1


def test_crossover_shares_out_the_genes_of_both_parents() -> None:
    plan = Plan("h6", mutation=0.0, population=40)
    parents = [with_fitness(range(100 * index, 100 * index + 12), 1) for index in range(2)]
    children = breed(plan, parents * 2)
    assert len(children) == 40
    for one, other in zip(children[::2], children[1::2], strict=True):
        genes = [sorted(pair) for pair in zip(one, other, strict=True)]
        assert genes in (
            [[index + 100 * a, index + 100 * b] for index in range(12)] for a, b in ((0, 0), (0, 1), (1, 1))
        )
    kept = [sum(gene < 100 for gene in child) for child in children]
    assert {0, 12} < set(kept)  # twins' children are twins, others are mixed


def test_only_the_best_half_breeds() -> None:
    plan = Plan("h1", mutation=0.0, population=10)
    population = [with_fitness([index, index], index * 7 % 10) for index in range(10)]
    best = {individual[0] for individual in population if individual.fitness >= 5}
    genes = {gene for _ in range(20) for child in breed(plan, population) for gene in child}
    assert genes == best
    assert population == [[index, index] for index in range(10)]


def test_mutation_changes_at_most_one_gene_within_bounds() -> None:
    changed = []
    for _ in range(2000):
        individual = Individual([99] * 8)
        genetic.mutate(individual, 20)
        new = [gene for gene in individual if gene != 99]
        assert len(new) == 1 and -20 <= new[0] <= 20
        changed.append((individual.index(new[0]), new[0]))
    assert {place for place, _ in changed} == set(range(8))
    assert {gene for _, gene in changed} == set(range(-20, 21))


def test_one_child_in_five_mutates() -> None:
    plan = Plan("h3", population=2000)
    children = breed(plan, [with_fitness([99] * 8, 0) for _ in range(4)])
    mutants = [child for child in children if child != [99] * 8]
    assert 300 < len(mutants) < 500
    assert all(child.count(99) == 7 for child in mutants)


def test_the_best_is_among_the_fighters_and_tried_again() -> None:
    seen: list[Trial] = []

    def spy(function: Callable[[Trial], int], trials: Iterable[Trial]) -> Iterator[int]:
        seen.extend(trials)
        return by_sum(function, seen)

    evolution = Evolution([Individual([index] * 6) for index in range(6)], Individual([9] * 6))
    advance(PLAN, evolution, spy)
    assert [trial.genes for trial in seen] == [(9,) * 6, *((index,) * 6 for index in range(6))]
    assert all(trial.fighters == seen[0].fighters for trial in seen)
    assert seen[0].fighters[0] == (9,) * 6 and len(seen[0].fighters) == 2


def test_only_a_better_one_replaces_the_best() -> None:
    bests = [generation.best for generation in islice(evolve(PLAN, begin(PLAN), inf, by_sum), 30)]
    assert all(sum(after) >= sum(before) for before, after in pairwise(bests))
    assert sum(bests[-1]) > sum(bests[0]) > 0
    even = [
        generation.best for generation in islice(evolve(PLAN, begin(PLAN), inf, lambda f, t: [0] * len(list(t))), 5)
    ]
    assert all(best == PLAN.naive for best in even)


def test_generations_are_counted() -> None:
    population = [Individual([index] * 6) for index in range(6)]
    lived = advance(PLAN, Evolution(population, Individual([3] * 6)), by_sum).history
    assert lived == [Generation(30, 15.0, [5] * 6)]


def test_an_interrupted_learning_goes_on(tmp_path: Path) -> None:
    whole = list(islice(evolve(PLAN, begin(PLAN), inf), 4))
    file = tmp_path / "weights.json"
    for generation in islice(evolve(PLAN, genetic.resume(file, PLAN), inf), 2):
        genetic.save(file, PLAN, generation)
    random.seed(77)  # whatever else has drawn from it
    parts = list(islice(evolve(PLAN, genetic.resume(file, PLAN), inf), 2))
    assert [content(generation) for generation in whole[2:]] == [content(generation) for generation in parts]
    assert parts[-1].seconds > parts[0].seconds > genetic.resume(file, PLAN).seconds > 0
    assert [file] == list(tmp_path.iterdir())


def test_the_number_of_workers_makes_no_difference() -> None:
    alone = list(islice(evolve(PLAN, begin(PLAN), inf), 2))
    with crew(2) as each:
        together = list(islice(evolve(PLAN, begin(PLAN), inf, each), 2))
    assert [content(generation) for generation in alone] == [content(generation) for generation in together]


def test_time_ends_it() -> None:
    assert list(evolve(PLAN, Evolution([], Individual(), [], 10.0), 10.0)) == []
    fresh = Evolution(begin(PLAN).population, PLAN.naive, [Generation(0, 0, [])] * 9, 9.0)
    assert list(evolve(PLAN, fresh, 9.9)) == []  # another one would take a second
    assert next(evolve(PLAN, fresh, 10.1)).seconds > 9.0


def test_other_plans_and_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    genetic.save(file, PLAN, begin(PLAN))
    with pytest.raises(ConfigError, match="holds another learning"):
        genetic.resume(file, Plan("h2", nodes=2, population=6, fighters=2, boss_depth=1))
    for text in ("", "[]", '{"weights": {}}', "\0"):
        file.write_text(text)
        with pytest.raises(ConfigError, match="no file of 'awello train'"):
            genetic.resume(file, PLAN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"weights": {"h2": [1]}}',
        '{"weights": {"h1": ["x"]}}',
        '{"weights": {"h1": [Infinity, 0]}}',
        '{"weights": {"h1": [10000000000000000000000, 0]}}',
    ],
)
def test_files_without_the_weights_are_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "weights.json").write_text(text)
    with pytest.raises(ConfigError, match=r"no weights of h1 in .*'awello train'"):
        read_learnt(str(tmp_path / "weights.json"), "weights", "h1")


def test_weights_out_of_bounds_are_refused() -> None:
    with pytest.raises(ConfigError, match="weights of h1 must lie between -10000 and 10000"):
        Heuristic("h1", weights=(10_001, 0)).check(Game.ABAPA)


def test_travers_reads_its_weights_and_its_order(tmp_path: Path) -> None:
    file, plan = tmp_path / "travers.json", Plan("travers", nodes=1)
    evolution = Evolution([], Individual([1, 2, 3, 4, 5, 6]))
    genetic.save(file, plan, evolution)
    player = make_player(f"travers@1,file={file}")
    assert isinstance(player, Budgeted)
    player.begin(Game.TOURNAMENT, 0)
    assert list(player.searcher.scores) == list(learnt_scores())
    games: list[int] = []
    scores = genetic.learn_order(plan, evolution, games.append, games=2, nodes=10)
    genetic.save(file, plan, evolution, scores)
    player.begin(Game.TOURNAMENT, 0)
    assert list(player.searcher.words[WEIGHTS : WEIGHTS + 8]) == [10, -10, 1, 2, 3, 4, 5, 6]
    assert list(player.searcher.scores) == scores and any(scores) and games == [1, 1]
    file.write_text('{"weights": {"travers": [10, -10, 1, 2, 3, 4, 5, 6]}}')
    with pytest.raises(ConfigError, match="no scores in"):
        player.begin(Game.TOURNAMENT, 0)


def train(*words: str, command: Callable[..., Any] = awello) -> Any:
    return command("train", "h1", "--nodes", "1", *words)


def test_the_command_learns_and_goes_on(tmp_path: Path) -> None:
    file, plot = tmp_path / "h1.json", tmp_path / "h1.svg"
    first = train("--budget", "1ms", "--out", str(file), "--json", command=fresh_awello)
    assert first.returncode == 0, first.stderr
    told = json.loads(first.stdout)
    assert told["generations"] == 1 and told["weights"] == json.loads(file.read_text())["weights"]["h1"]
    again = train("--budget", "1ms", "--out", str(file), "--plot", str(plot))
    assert again.stdout.startswith("generation 1: best") and again.stdout.count("\n") == 1
    assert "<svg" in plot.read_text()
    player = make_player(f"alphabeta:h1@1,file={file}")
    player.begin(Game.ABAPA, 0)
    assert isinstance(player, Textbook)
    assert list(player.block.words[WEIGHTS : WEIGHTS + 2]) == told["weights"]
    other = train("--budget", "1ms", "--out", str(file), "--seed", "8")
    assert other.returncode == 2 and other.stderr.count("\n") == 1 and "another learning" in other.stderr


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--budget", "0s"), "nothing is learnt in no time"),
        (("--variant", "ouri"), "unknown variant 'ouri'"),
        (("--out", "nowhere/h1.json"), "No such file or directory"),
    ],
)
def test_bad_input_gets_one_clear_line(words: tuple[str, ...], part: str) -> None:
    done = train(*words)
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert part in done.stderr


def test_a_missing_library_is_named() -> None:
    lines = (
        "import sys; sys.modules['deap'] = None; sys.argv[1:] = ['train', 'h1']; import awello.cli.app as a; a.main()"
    )
    done = run("-c", lines)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "pip install 'awello[learn]'" in done.stderr
