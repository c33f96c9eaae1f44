"""Learn weights of Awalé's heuristics with a genetic algorithm (report 1, sections 3.6 and 3.7; Daoud et al., 2004).

An individual is a list of genes, the weights of a heuristic.  In each generation, some individuals are drawn as
*opponents*; the *reference opponent* is a search to a fixed depth.  Every individual plays two games against each
opponent, and two games, which count double, against the reference opponent.  Then the best half breeds.  All random
choices are derived from the seed and the number of the generation, so no random state has to be saved, and the results
are the same for any number of worker processes.  `otage_factors` learns Otage's factors with the same algorithm.
"""

import json
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

from awello import __version__
from awello.errors import ConfigError
from awello.evaluate.evaluator import Heuristic
from awello.folders import write_atomically
from awello.learn.categories import DEFAULT_GAMES, learn_scores
from awello.position import Position
from awello.rules.game import Game, find_game
from awello.search.budget_search import BudgetSearch

try:
    from deap import tools
except ImportError:
    raise ConfigError("the genetic algorithm needs deap: run pip install 'awello[learn]'") from None

MANUAL_WEIGHTS = {  # chosen by hand
    "h1": (10, -10),
    "h2": (10, -10, -1, 1, -1, 1),
    "h3": (10, -10, -1, 1, -1, 1, 1, -1),
    "h4": (10, -10, -2, 2, 0, 0, 2, -2),
    "h5": (10, -10, -1, 1, -1, 1, 1, -1),
    "h6": (1, -1, 1, -1, 1, -1, 2, -2, 10, -10, -1, 1),
    "travers": (10, -10, -1, 1, -1, 1, 3, -3),
}
FIXED_WEIGHT_COUNTS = {"travers": 2}  # number of leading weights that are not learnt
WIN_POINTS, DRAW_POINTS = 200, 100
REFERENCE_GAME_FACTOR = 2  # weight of the games against the reference opponent
ORDERING_NODES_PER_MOVE = 5000  # in the games from which move ordering is learnt
MAX_GAME_PLIES = 300  # otherwise, players that avoid captures would play for thousands of plies

Genes = tuple[int, ...]
MoveSearch = Callable[[Position], Sequence[int]]  # returns the best moves, which have equal values


class Individual(list[int]):
    """Genes and their fitness in the current generation."""

    fitness = 0


@dataclass(frozen=True)
class GeneticConfig:
    """Settings of the genetic algorithm; the defaults are those of report 1."""

    heuristic: str
    variant: str = "tournament"
    seed: int = 0
    nodes: int = 1000
    """Node budget per move of an individual."""
    population_size: int = 42
    opponents: int = 5
    """Number of individuals against which all individuals of a generation play."""
    mutation_rate: float = 0.2
    """Share of the children that mutate."""
    max_gene: int = 20
    reference_depth: int = 8
    """Search depth of the reference opponent, in plies."""

    @property
    def game(self) -> Game:
        """The rules of the games."""
        return find_game("awale", variant=self.variant)

    @property
    def initial_genes(self) -> Individual:
        """The initial genes, chosen by hand."""
        return Individual(MANUAL_WEIGHTS[self.heuristic][FIXED_WEIGHT_COUNTS.get(self.heuristic, 0) :])

    @property
    def min_gene(self) -> int:
        """Lower bound of a gene; `max_gene` is the upper bound."""
        return -self.max_gene

    def make_heuristic(self, genes: Sequence[int]) -> Heuristic:
        """Make the heuristic with an individual's weights: the fixed weights, then the genes."""
        return Heuristic(
            self.heuristic,
            weights=(*MANUAL_WEIGHTS[self.heuristic][: FIXED_WEIGHT_COUNTS.get(self.heuristic, 0)], *genes),
        )

    def weights(self, genes: Sequence[int]) -> tuple[float, ...]:
        """Return the weights of an individual's heuristic: the fixed weights, then the genes."""
        return self.make_heuristic(genes).weights

    def start_position(self, seed: str) -> Position:
        """Return the start position of both games against an opponent."""
        return Position.start(self.game)

    def make_search(self, genes: Sequence[int]) -> MoveSearch:
        """Make the search of an individual, with a node budget."""
        search = BudgetSearch(self.game, self.make_heuristic(genes))
        return lambda position: search.search_budget(position, self.nodes).best_moves

    def make_reference_search(self) -> MoveSearch:
        """Make the search of the reference opponent: to a fixed depth, evaluating only captured seeds."""
        search = BudgetSearch(self.game, Heuristic("diffscore"))
        return lambda position: search.search_depth(position, self.reference_depth).best_moves


@dataclass
class Generation:
    """Statistics of a generation: the fitness and weights of the best individual so far, and the mean fitness."""

    best: int
    mean: float
    weights: list[float]


@dataclass
class Evolution:
    """The state of the evolution: the next population, the best individual so far, and the history."""

    population: list[Individual]
    best: Individual
    history: list[Generation] = field(default_factory=list)
    seconds: float = 0.0


# ---- games ----------------------------------------------------------------------------------------------------------
def play_game(position: Position, searches: Sequence[MoveSearch], seed: str) -> tuple[int, int]:
    """Play a game between two searches, with random choices among the best moves; return the final score."""
    rng, ply = random.Random(seed), 0
    while not position.over and ply < MAX_GAME_PLIES:
        ply += 1
        position = position.after(rng.choice(searches[position.side](position)))
    return position.score()


def score_game(own: int, opp: int) -> int:
    """Return the points for a game: a bonus for a win or a draw, plus the player's own seeds or discs."""
    return own + (WIN_POINTS if own > opp else DRAW_POINTS if own == opp else 0)


MapFunction = Callable[[Callable[[Genes], int], Iterable[Genes]], Iterable[int]]


def compute_fitness(config: GeneticConfig, generation: int, opponents: Sequence[Genes], genes: Genes) -> int:
    """Return the fitness of an individual: its points in two games against each opponent and the reference opponent."""
    own, total = config.make_search(genes), 0
    for number, opponent in enumerate((config.make_reference_search(), *map(config.make_search, opponents))):
        seed = f"{config.seed}/{generation}/{number}"  # the same for all individuals
        first = play_game(config.start_position(seed), (own, opponent), f"{seed}/first")
        second = play_game(config.start_position(seed), (opponent, own), f"{seed}/second")
        total += (1 if number else REFERENCE_GAME_FACTOR) * (score_game(*first) + score_game(*reversed(second)))
    return total


# ---- operators ------------------------------------------------------------------------------------------------------
def mutate(individual: Individual, min_gene: int, max_gene: int) -> None:
    """Give one gene a new value."""
    individual[random.randrange(len(individual))] = random.randint(min_gene, max_gene)


@contextmanager
def seeded_random(*words: object) -> Iterator[None]:
    """Seed the global random generator, which deap uses; restore it afterwards."""
    before = random.getstate()
    random.seed("/".join(map(str, words)))
    try:
        yield
    finally:
        random.setstate(before)


def breed(config: GeneticConfig, population: list[Individual]) -> list[Individual]:
    """Breed the best half: random pairs exchange genes (uniform crossover), and some children mutate."""
    parents, children = tools.selBest(population, (config.population_size + 1) // 2), list[Individual]()
    while len(children) < config.population_size:
        children += tools.cxUniform(*map(Individual, random.sample(parents, 2)), indpb=0.5)
    del children[config.population_size :]
    for child in children:
        if random.random() < config.mutation_rate:
            mutate(child, config.min_gene, config.max_gene)
    return children


# ---- generations ----------------------------------------------------------------------------------------------------
def start_evolution(config: GeneticConfig) -> Evolution:
    """Create the first population: random individuals, and one with the initial genes, which is the best so far."""
    with seeded_random(config.seed, "begin"):
        others = [
            Individual(random.randint(config.min_gene, config.max_gene) for _ in config.initial_genes)
            for _ in range(config.population_size - 1)
        ]
    return Evolution([config.initial_genes, *others], config.initial_genes)


def run_generation(config: GeneticConfig, evolution: Evolution, map_jobs: MapFunction = map) -> Evolution:
    """Evaluate a population, update the best individual, and breed the next population."""
    started, number = time.perf_counter(), len(evolution.history)
    population, best = evolution.population, evolution.best
    with seeded_random(config.seed, number):
        # Step 1. Choose the opponents; the best individual so far is always one of them.
        opponents = tuple(map(tuple, (best, *random.sample(population, config.opponents - 1))))
        # Step 2. Evaluate all individuals and the best so far; duplicates are evaluated once.
        candidates = list(dict.fromkeys(map(tuple, (best, *population))))
        fitnesses = dict(
            zip(candidates, map_jobs(partial(compute_fitness, config, number, opponents), candidates), strict=True)
        )
        for individual in (best, *population):
            individual.fitness = fitnesses[tuple(individual)]
        # Step 3. Replace the best individual if another one is better.
        best = max((best, *population), key=lambda individual: individual.fitness)
        # Step 4. Breed the best half.
        children = breed(config, population)
    mean = sum(individual.fitness for individual in population) / len(population)
    generation = Generation(best.fitness, mean, list(config.weights(best)))
    seconds = evolution.seconds + time.perf_counter() - started
    return Evolution(children, best, [*evolution.history, generation], seconds)


def evolve(
    config: GeneticConfig, evolution: Evolution, seconds: float, map_jobs: MapFunction = map
) -> Iterator[Evolution]:
    """Run generations while the next one is expected to end within `seconds`, including the time of earlier runs."""
    while evolution.seconds * (1 + 1 / max(1, len(evolution.history))) < seconds:
        evolution = run_generation(config, evolution, map_jobs)
        yield evolution


def learn_ordering(
    config: GeneticConfig,
    evolution: Evolution,
    on_progress: Callable[[int], None],
    games: int = DEFAULT_GAMES,
    nodes: int = ORDERING_NODES_PER_MOVE,
) -> list[int]:
    """Learn move ordering scores with the best individual; `on_progress` is called with 1 after each game."""
    scores = learn_scores(config.make_heuristic(evolution.best), games, nodes, config.seed, on_progress, config.game)
    return [int(score) for score in scores]


# ---- files ----------------------------------------------------------------------------------------------------------
def save_evolution(file: Path, config: GeneticConfig, evolution: Evolution, scores: Sequence[int] = ()) -> None:
    """Save the weights and the state needed to resume the evolution."""
    content = {
        "weights": {config.heuristic: config.weights(evolution.best)},
        "scores": scores,
        "learning": {"awello": __version__, **asdict(config)},
        **asdict(evolution),
    }
    write_atomically(file, json.dumps(content) + "\n")


def resume_evolution(file: Path, config: GeneticConfig) -> Evolution:
    """Load an evolution, or start one; raise `ConfigError` if the file is damaged or has other settings."""
    if not file.exists():
        return start_evolution(config)
    try:
        content = json.loads(file.read_text("utf-8"))
        settings = content["learning"]
        population = [Individual(genes) for genes in content["population"]]
        history = [Generation(**entry) for entry in content["history"]]
        evolution = Evolution(population, Individual(content["best"]), history, content["seconds"])
    except (ValueError, KeyError, TypeError):
        raise ConfigError(
            f"{file} is damaged or was not written by 'awello train': choose another --out, or remove it"
        ) from None
    if settings != {"awello": __version__, **asdict(config)}:
        raise ConfigError(
            f"{file} was written with other settings or by another version: choose another --out, or remove it"
        )
    return evolution
