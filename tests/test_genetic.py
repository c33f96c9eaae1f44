"""The genetic algorithm: each step compared with its definition, and reproducible generations."""

import json
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice, pairwise
from math import inf
from pathlib import Path
from typing import Any

import pytest
from conftest import awello, fresh_awello, random_record, run

from awello.arena.workers import open_worker_pool
from awello.errors import ConfigError
from awello.evaluate.awale import FEATURES
from awello.evaluate.evaluator import Evaluator, Heuristic, count_weights, read_trained_numbers
from awello.evaluate.otage_memory import DEFAULT_FACTORS, MAX_FACTOR, MEMORY_FILE, OtageMemory
from awello.learn import genetic
from awello.learn.genetic import (
    Evolution,
    Generation,
    Genes,
    GeneticConfig,
    Individual,
    breed,
    evolve,
    run_generation,
    start_evolution,
)
from awello.learn.otage_factors import OtageGeneticConfig, make_config, write_factors
from awello.limits import Clock
from awello.players.budget import BudgetPlayer
from awello.players.player import make_player
from awello.players.textbook import TextbookPlayer
from awello.position import Position
from awello.rules.game import Game
from awello.search.budget_search import load_scores

CONFIG = GeneticConfig("h2", nodes=1, population_size=6, opponents=2, reference_depth=1)

OWN = (10.0, 2.0, 0.25, 0.75)  # factors of an Otage memory


@pytest.fixture(autouse=True)
def seed_random() -> None:
    random.seed(1)


def with_fitness(genes: Iterable[int], fitness: int) -> Individual:
    individual = Individual(genes)
    individual.fitness = fitness
    return individual


def content(evolution: Evolution) -> tuple[list[Individual], Individual, list[Generation]]:
    """Return everything in an evolution except its time."""
    return evolution.population, evolution.best, evolution.history


def weights_in(evaluator: Evaluator) -> list[int]:
    """Return the weights in the kernel state, in the order of the settings."""
    state, names = evaluator.state.weights, FEATURES[evaluator.heuristic_id]
    return [int(getattr(side, name)) for name in names for side in (state.own, state.opp)]


def sum_fitness(function: Callable[[Genes], int], tried: Iterable[Genes]) -> Iterator[int]:
    """Return the sum of the genes of each individual as its fitness, instead of playing games."""
    return map(sum, tried)


@pytest.mark.parametrize("name", genetic.MANUAL_WEIGHTS)
def test_population_zero(name: str) -> None:
    config = GeneticConfig(name, seed=3)
    evolution = start_evolution(config)
    assert len(evolution.population) == 42
    assert evolution.best == evolution.population[0] == config.initial_genes
    assert config.weights(config.initial_genes) == genetic.MANUAL_WEIGHTS[name]
    genes = [gene for individual in evolution.population[1:] for gene in individual]
    assert {len(config.weights(individual)) for individual in evolution.population} == {count_weights(name)}
    assert set(genes) <= set(range(-20, 21)) and len(set(genes)) > 30


def test_the_weights_of_captured_seeds_are_fixed_for_travers() -> None:
    assert GeneticConfig("travers").weights([1, 2, 3, 4, 5, 6]) == (10, -10, 1, 2, 3, 4, 5, 6)
    assert GeneticConfig("h3").weights([1, 2, 3, 4, 5, 6, 7, 8]) == (1, 2, 3, 4, 5, 6, 7, 8)


@pytest.mark.parametrize(("own", "opp", "points"), [(25, 20, 225), (20, 25, 20), (21, 21, 121), (0, 30, 0)])
def test_points_of_a_game(own: int, opp: int, points: int) -> None:
    assert genetic.score_game(own, opp) == points


def test_fitness_of_constructed_results(monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = []

    def play_game(start: object, searches: tuple[str, str], seed: str) -> tuple[int, int]:
        seeds.append(seed)
        first, second = searches
        strength = {"reference": 2, "own": 1, "weak": 0}
        return (26, 10) if strength[first] > strength[second] else (10, 26) if first != second else (20, 20)

    monkeypatch.setattr(genetic, "play_game", play_game)
    monkeypatch.setattr(GeneticConfig, "make_reference_search", lambda config: "reference")
    monkeypatch.setattr(GeneticConfig, "make_search", lambda config, genes: "own" if genes == (1,) else "weak")
    against_reference, against_weak, against_self = 2 * (10 + 10), 226 + 226, 120 + 120
    assert genetic.compute_fitness(CONFIG, 5, ((2,), (1,)), (1,)) == against_reference + against_weak + against_self
    assert len(seeds) == len(set(seeds)) == 6
    again = list(seeds)
    seeds.clear()
    assert genetic.compute_fitness(CONFIG, 5, ((2,), (1,)), (2,)) == against_reference + 240 + 20
    assert seeds == again  # the same seeds for all individuals


def test_games_depend_only_on_their_seed() -> None:
    searches = CONFIG.make_search(CONFIG.initial_genes), CONFIG.make_reference_search()
    results = {
        seed: [genetic.play_game(CONFIG.start_position(seed), searches, seed) for _ in range(2)] for seed in "abcdef"
    }
    assert all(first == second and sum(first) <= 48 for first, second in results.values())
    assert len({first for first, _ in results.values()}) > 1


def test_crossover_distributes_the_genes_of_both_parents() -> None:
    config = GeneticConfig("h6", mutation_rate=0.0, population_size=40)
    parents = [with_fitness(range(100 * index, 100 * index + 12), 1) for index in range(2)]
    children = breed(config, parents * 2)
    assert len(children) == 40
    for one, other in zip(children[::2], children[1::2], strict=True):
        genes = [sorted(pair) for pair in zip(one, other, strict=True)]
        assert genes in (
            [[index + 100 * a, index + 100 * b] for index in range(12)] for a, b in ((0, 0), (0, 1), (1, 1))
        )
    kept = [sum(gene < 100 for gene in child) for child in children]
    assert {0, 12} < set(kept)  # some children have the genes of one parent only


def test_only_the_best_half_breeds() -> None:
    config = GeneticConfig("h1", mutation_rate=0.0, population_size=10)
    population = [with_fitness([index, index], index * 7 % 10) for index in range(10)]
    best = {individual[0] for individual in population if individual.fitness >= 5}
    genes = {gene for _ in range(20) for child in breed(config, population) for gene in child}
    assert genes == best
    assert population == [[index, index] for index in range(10)]


def test_mutation_changes_at_most_one_gene_within_bounds() -> None:
    changed = []
    for _ in range(2000):
        individual = Individual([99] * 8)
        genetic.mutate(individual, -20, 20)
        new = [gene for gene in individual if gene != 99]
        assert len(new) == 1 and -20 <= new[0] <= 20
        changed.append((individual.index(new[0]), new[0]))
    assert {gene for gene, _ in changed} == set(range(8))
    assert {gene for _, gene in changed} == set(range(-20, 21))


def test_one_child_in_five_mutates() -> None:
    config = GeneticConfig("h3", population_size=2000)
    children = breed(config, [with_fitness([99] * 8, 0) for _ in range(4)])
    mutants = [child for child in children if child != [99] * 8]
    assert 300 < len(mutants) < 500
    assert all(child.count(99) == 7 for child in mutants)


def test_the_best_is_among_the_opponents_and_tried_again() -> None:
    seen: list[Genes] = []
    opponents: list[Genes] = []

    def spy(function: Any, tried: Iterable[Genes]) -> Iterator[int]:
        seen.extend(tried)
        opponents.extend(function.args[2])
        return sum_fitness(function, seen)

    evolution = Evolution([Individual([index] * 6) for index in range(6)], Individual([9] * 6))
    run_generation(CONFIG, evolution, spy)
    assert seen == [(9,) * 6, *((index,) * 6 for index in range(6))]
    assert opponents[0] == (9,) * 6 and len(opponents) == 2


def test_only_a_better_one_replaces_the_best() -> None:
    bests = [generation.best for generation in islice(evolve(CONFIG, start_evolution(CONFIG), inf, sum_fitness), 30)]
    assert all(sum(after) >= sum(before) for before, after in pairwise(bests))
    assert sum(bests[-1]) > sum(bests[0]) > 0
    even = [
        generation.best
        for generation in islice(evolve(CONFIG, start_evolution(CONFIG), inf, lambda f, t: [0] * len(list(t))), 5)
    ]
    assert all(best == CONFIG.initial_genes for best in even)


def test_generations_are_counted() -> None:
    population = [Individual([index] * 6) for index in range(6)]
    lived = run_generation(CONFIG, Evolution(population, Individual([3] * 6)), sum_fitness).history
    assert lived == [Generation(30, 15.0, [5] * 6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a memory of Otage that has learnt from random games."""
    memory = OtageMemory(games=5, autoplay_games=3, factors=OWN)
    for number in range(5):
        memory.learn_patterns(random_record(Game.OTHELLO, number))
    (made := tmp_path / "memory").mkdir()
    memory.save(made / MEMORY_FILE)
    return made


@pytest.fixture(params=["h2", "otage"])
def config(request: pytest.FixtureRequest, folder: Path) -> GeneticConfig:
    """Return settings for a quick run with Awalé (h2) or Othello (Otage)."""
    return CONFIG if request.param == "h2" else make_small_config(folder)


def make_small_config(folder: Path) -> OtageGeneticConfig:
    return replace(make_config(folder, seed=1, nodes=20), population_size=5, opponents=2, reference_depth=1)


def test_an_interrupted_evolution_is_resumed(config: GeneticConfig, tmp_path: Path) -> None:
    whole = list(islice(evolve(config, start_evolution(config), inf), 4))
    file = tmp_path / "weights.json"
    for generation in islice(evolve(config, genetic.resume_evolution(file, config), inf), 2):
        genetic.save_evolution(file, config, generation)
    random.seed(77)  # other code may change the state of the global random generator
    parts = list(islice(evolve(config, genetic.resume_evolution(file, config), inf), 2))
    assert [content(generation) for generation in whole[2:]] == [content(generation) for generation in parts]
    assert parts[-1].seconds > parts[0].seconds > genetic.resume_evolution(file, config).seconds > 0
    assert {each.name for each in tmp_path.iterdir()} == {"memory", "weights.json"}


def test_the_number_of_workers_makes_no_difference(config: GeneticConfig) -> None:
    alone = list(islice(evolve(config, start_evolution(config), inf), 2))
    with open_worker_pool(2) as each:
        together = list(islice(evolve(config, start_evolution(config), inf, each), 2))
    assert [content(generation) for generation in alone] == [content(generation) for generation in together]


def test_it_stops_when_the_time_is_spent() -> None:
    assert list(evolve(CONFIG, Evolution([], Individual(), [], 10.0), 10.0)) == []
    fresh = Evolution(start_evolution(CONFIG).population, CONFIG.initial_genes, [Generation(0, 0, [])] * 9, 9.0)
    assert list(evolve(CONFIG, fresh, 9.9)) == []  # a generation takes one second on average
    assert next(evolve(CONFIG, fresh, 10.1)).seconds > 9.0


def test_other_settings_and_other_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    genetic.save_evolution(file, CONFIG, start_evolution(CONFIG))
    with pytest.raises(ConfigError, match="other settings"):
        genetic.resume_evolution(file, GeneticConfig("h2", nodes=2, population_size=6, opponents=2, reference_depth=1))
    for text in ("", "[]", '{"weights": {}}', "\0"):
        file.write_text(text)
        with pytest.raises(ConfigError, match="was not written by 'awello train'"):
            genetic.resume_evolution(file, CONFIG)


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
    with pytest.raises(ConfigError, match=r"does not contain the weights of h1: .*'awello train'"):
        read_trained_numbers(str(tmp_path / "weights.json"), "weights", "h1")


def test_weights_out_of_bounds_are_refused() -> None:
    with pytest.raises(ConfigError, match="weight of h1 is out of range: use -10000 to 10000"):
        Heuristic("h1", weights=(10_001, 0)).check(Game.ABAPA)


def test_travers_reads_its_weights_and_its_order(tmp_path: Path) -> None:
    file, config = tmp_path / "travers.json", GeneticConfig("travers", nodes=1)
    evolution = Evolution([], Individual([1, 2, 3, 4, 5, 6]))
    genetic.save_evolution(file, config, evolution)
    player = make_player(f"travers@1,weights={file}")
    assert isinstance(player, BudgetPlayer)
    player.begin(Game.TOURNAMENT, 0)
    assert list(player.searcher.category_scores) == list(load_scores(Game.TOURNAMENT))
    games: list[int] = []
    scores = genetic.learn_ordering(config, evolution, games.append, games=2, nodes=10)
    genetic.save_evolution(file, config, evolution, scores)
    player.begin(Game.TOURNAMENT, 0)
    assert weights_in(player.searcher) == [10, -10, 1, 2, 3, 4, 5, 6]
    assert list(player.searcher.category_scores) == scores and any(scores) and games == [1, 1]
    file.write_text('{"weights": {"travers": [10, -10, 1, 2, 3, 4, 5, 6]}}')
    with pytest.raises(ConfigError, match="does not contain the scores"):
        player.begin(Game.TOURNAMENT, 0)


# ---- Otage's factors ------------------------------------------------------------------------------------------------
def test_factors_begin_with_those_of_the_memory_and_stay_in_bounds(folder: Path) -> None:
    config = replace(make_small_config(folder), population_size=40)
    assert start_evolution(config).best == [5, 16, 4, 12] and config.weights([5, 16, 4, 12]) == OWN
    assert config.weights([8, 8, 8, 8]) == DEFAULT_FACTORS
    write_factors(folder, (15.5, 0.05, 0.05, 50.0))
    assert replace(config, seed=2).initial_genes == [8, 1, 1, 40]
    lived = list(islice(evolve(config, start_evolution(config), inf, sum_fitness), 20))
    genes = {gene for generation in lived for individual in generation.population for gene in individual}
    assert (min(genes), max(genes)) == (1, 40)
    factors = [factor for gene in genes for factor in config.weights([gene] * 4)]
    assert min(factors) > 0 and max(factors) <= MAX_FACTOR


def test_games_of_otage_begin_differently_and_equally_for_both_colours(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = []

    def play_game(start: Position, searches: object, seed: str) -> tuple[int, int]:
        starts.append(start)
        return 32, 32

    monkeypatch.setattr(genetic, "play_game", play_game)
    config = make_small_config(folder)
    opponents = (1, 2, 3, 4), (4, 3, 2, 1)
    genetic.compute_fitness(config, 0, opponents, (1, 1, 1, 1))
    once = list(starts)
    assert once[::2] == once[1::2] and len(set(once)) == 3
    assert {sum(start.counts()) for start in once} <= {10, 11, 12}  # eight plies, of which at most two are passes
    genetic.compute_fitness(config, 0, opponents, (2, 2, 2, 2))
    assert starts[6:] == once
    genetic.compute_fitness(config, 1, opponents, (1, 1, 1, 1))
    assert not {*starts[12:]} & {*once}


def test_an_individual_and_the_reference_opponent_play_as_their_players_do(folder: Path) -> None:
    config = replace(make_small_config(folder), nodes=300, reference_depth=2)
    write_factors(folder, config.weights([3, 20, 1, 16]))
    own, reference = config.make_search([3, 20, 1, 16]), config.make_reference_search()
    otage, alphabeta = make_player(f"otage@300n,book=false,memory={folder}"), make_player("alphabeta:mixed@2")
    otage.begin(Game.OTHELLO, 0)
    alphabeta.begin(Game.OTHELLO, 0)
    for number in range(30):
        position = list(random_record(Game.OTHELLO, number).positions())[10 + number]  # before the endgame solver
        assert own(position) == (otage.choose(position, Clock()).move,)
        assert alphabeta.choose(position, Clock()).move in reference(position)


def test_only_the_factors_of_a_memory_are_replaced(folder: Path) -> None:
    before = (folder / MEMORY_FILE).read_text().splitlines()
    write_factors(folder, (1.0, 2.5, 3.0, 4.5))
    after = (folder / MEMORY_FILE).read_text().splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    assert changed == ["liberties = 1.000000", "squares = 2.500000", "edges = 3.000000", "corners = 4.500000"]


def train_otage(folder: Path, *words: str) -> Any:
    return awello("train", "otage", "--nodes", "1", "--duration", "1ms", "--memory", str(folder), *words)


def test_the_command_saves_the_factors_in_the_memory(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(genetic, "compute_fitness", lambda config, generation, opponents, genes: sum(genes))
    file = tmp_path / "otage.json"
    done = train_otage(folder, "--out", str(file), "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["heuristic"] == "otage" and printed["generations"]
    assert printed["weights"] == json.loads(file.read_text())["weights"]["otage"] != list(OWN)
    assert OtageMemory.load(folder / MEMORY_FILE).factors == tuple(printed["weights"])
    again = train_otage(folder, "--out", str(file))  # resumes, because the factors do not count as settings
    assert again.returncode == 0 and again.stdout.endswith(f"the factors are saved in {folder / MEMORY_FILE}\n")
    replace(OtageMemory.load(folder / MEMORY_FILE), games=6).save(folder / MEMORY_FILE)
    other = train_otage(folder, "--out", str(file))
    assert other.returncode == 2 and other.stderr.count("\n") == 1 and "other settings" in other.stderr


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (None, "no memory.txt in"),
        ("[factors]\nedges = x\n", "memory.txt, line 2: expected 'NAME = NUMBER' (NAME: liberties"),
    ],
)
def test_a_damaged_memory_is_a_one_line_error(text: str | None, part: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / MEMORY_FILE).write_text(text)
    done = train_otage(tmp_path, "--out", str(tmp_path / "otage.json"))
    assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1
    assert part in done.stderr and not (tmp_path / "otage.json").exists()


# ---- the command ----------------------------------------------------------------------------------------------------
def train(*words: str, command: Callable[..., Any] = awello) -> Any:
    return command("train", "h1", "--nodes", "1", *words)


def test_the_command_learns_and_resumes(tmp_path: Path) -> None:
    file, plot = tmp_path / "h1.json", tmp_path / "h1.svg"
    first = train("--duration", "1ms", "--out", str(file), "--json", command=fresh_awello)
    assert first.returncode == 0, first.stderr
    printed = json.loads(first.stdout)
    assert printed["generations"] == 1 and printed["weights"] == json.loads(file.read_text())["weights"]["h1"]
    again = train("--duration", "1ms", "--out", str(file), "--plot", str(plot))
    assert again.stdout.startswith("generation 1: best fitness") and again.stdout.count("\n") == 1
    assert "<svg" in plot.read_text()
    player = make_player(f"alphabeta:h1@1,weights={file}")
    player.begin(Game.ABAPA, 0)
    assert isinstance(player, TextbookPlayer)
    assert weights_in(player.evaluator) == printed["weights"]
    other = train("--duration", "1ms", "--out", str(file), "--seed", "8")
    assert other.returncode == 2 and other.stderr.count("\n") == 1 and "other settings" in other.stderr


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("--duration", "0s"), "--duration 0s is not positive"),
        (("--variant", "ouri"), "unknown variant 'ouri'"),
        (("--out", "nowhere/h1.json"), "cannot write 'nowhere/h1.json': there is no folder 'nowhere'; create it first"),
    ],
)
def test_invalid_input_is_a_one_line_error(words: tuple[str, ...], part: str) -> None:
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
