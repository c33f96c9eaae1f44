"""Weights for Awalé's heuristics by a genetic algorithm (report 1, sections 3.6 and 3.7; after Daoud et al. 2004).

An individual is a list of genes, the weights of a heuristic.  In each generation some of them are fighters; everybody
plays two games against each fighter and against the boss, who counts double, and who has won most breeds.  Each random
choice follows from the seed and the number of the generation, so the individuals are all that a file has to keep, and
the results are the same for any number of worker processes.  The config in `factors` learns Otage's factors likewise.
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
from awello.evaluate.settings import Heuristic
from awello.folders import write_atomically
from awello.learn.categories import DEFAULT_GAMES, learn_scores
from awello.position import Position
from awello.rules.game import Game, find_game
from awello.search.budget_search import BudgetSearch

try:
    from deap import tools
except ImportError:
    raise ConfigError("the genetic algorithm needs deap: pip install 'awello[learn]'") from None

MANUAL_WEIGHTS = {  # a person's choice
    "h1": (10, -10),
    "h2": (10, -10, -1, 1, -1, 1),
    "h3": (10, -10, -1, 1, -1, 1, 1, -1),
    "h4": (10, -10, -2, 2, 0, 0, 2, -2),
    "h5": (10, -10, -1, 1, -1, 1, 1, -1),
    "h6": (1, -1, 1, -1, 1, -1, 2, -2, 10, -10, -1, 1),
    "travers": (10, -10, -1, 1, -1, 1, 3, -3),
}
FIXED_WEIGHTS = {"travers": 2}  # how many weights, the first ones, are not learnt
WIN_POINTS, DRAW_POINTS = 200, 100
BOSS_FACTOR = 2  # times the points of another game
ORDERING_NODES = 5000  # nodes for a move of the games that teach the order of moves
MAX_PLIES = 300  # plies of a game: those who do not want seeds would go on for thousands

Genes = tuple[int, ...]
MoveSearch = Callable[[Position], Sequence[int]]  # the moves that are equally good, and the best


class Individual(list[int]):
    """Genes, and how well they did in the present generation."""

    fitness = 0


@dataclass(frozen=True)
class GeneticConfig:
    """What is learnt, and how: unless said, as in the report."""

    heuristic: str
    variant: str = "tournament"
    seed: int = 0
    nodes: int = 1000
    """The budget of an individual for a move."""
    population: int = 42
    fighters: int = 5
    mutation: float = 0.2
    largest: int = 20
    boss_depth: int = 8

    @property
    def game(self) -> Game:
        """The rules played by."""
        return find_game("awale", variant=self.variant)

    @property
    def initial(self) -> Individual:
        """The genes that a person chose."""
        return Individual(MANUAL_WEIGHTS[self.heuristic][FIXED_WEIGHTS.get(self.heuristic, 0) :])

    @property
    def smallest(self) -> int:
        """A gene lies between this and the largest."""
        return -self.largest

    def make_heuristic(self, genes: Sequence[int]) -> Heuristic:
        """The heuristic of genes: its weights are those that are not learnt, then the genes."""
        return Heuristic(
            self.heuristic, weights=(*MANUAL_WEIGHTS[self.heuristic][: FIXED_WEIGHTS.get(self.heuristic, 0)], *genes)
        )

    def weights(self, genes: Sequence[int]) -> tuple[float, ...]:
        """What is learnt if these genes are the best."""
        return self.make_heuristic(genes).weights

    def start_position(self, seed: str) -> Position:
        """Where the two games against a rival begin."""
        return Position.start(self.game)

    def make_search(self, genes: Sequence[int]) -> MoveSearch:
        """How an individual searches: on a budget of nodes."""
        search = BudgetSearch(self.game, self.make_heuristic(genes))
        return lambda position: search.on_budget(position, self.nodes).best_moves

    def make_boss_search(self) -> MoveSearch:
        """How the boss searches: to a depth, counting only the seeds taken."""
        search = BudgetSearch(self.game, Heuristic("diffscore"))
        return lambda position: search.to_depth(position, self.boss_depth).best_moves


@dataclass
class Generation:
    """What is kept of a generation; fitness is that of the best there has been, and the mean of the population."""

    best: int
    mean: float
    weights: list[float]


@dataclass
class Evolution:
    """Where the learning stands: who is to play_game next, the best so far, and what has been."""

    population: list[Individual]
    best: Individual
    history: list[Generation] = field(default_factory=list)
    seconds: float = 0.0


# ---- games ----------------------------------------------------------------------------------------------------------
def play_game(position: Position, searches: Sequence[MoveSearch], seed: str) -> tuple[int, int]:
    """Play a game between two searches; the score at the end.  Chance decides among best moves."""
    rng, ply = random.Random(seed), 0
    while not position.over and ply < MAX_PLIES:
        ply += 1
        position = position.after(rng.choice(searches[position.side](position)))
    return position.score()


def score_game(own: int, opp: int) -> int:
    """What a game is worth: for the result, and the seeds or discs held."""
    return own + (WIN_POINTS if own > opp else DRAW_POINTS if own == opp else 0)


MapFunction = Callable[[Callable[[Genes], int], Iterable[Genes]], Iterable[int]]


def compute_fitness(config: GeneticConfig, generation: int, fighters: Sequence[Genes], genes: Genes) -> int:
    """The points of an individual: a game with either colour against each fighter, and against the boss."""
    own, total = config.make_search(genes), 0
    for number, rival in enumerate((config.make_boss_search(), *map(config.make_search, fighters))):
        seed = f"{config.seed}/{generation}/{number}"  # the same for all individuals
        first = play_game(config.start_position(seed), (own, rival), f"{seed}/first")
        second = play_game(config.start_position(seed), (rival, own), f"{seed}/second")
        total += (1 if number else BOSS_FACTOR) * (score_game(*first) + score_game(*reversed(second)))
    return total


# ---- operators ------------------------------------------------------------------------------------------------------
def mutate(individual: Individual, smallest: int, largest: int) -> None:
    """Give one gene a new value."""
    individual[random.randrange(len(individual))] = random.randint(smallest, largest)


@contextmanager
def seeded_random(*words: object) -> Iterator[None]:
    """Let what deap draws from the shared stream of chance follow from some words."""
    before = random.getstate()
    random.seed("/".join(map(str, words)))
    try:
        yield
    finally:
        random.setstate(before)


def breed(config: GeneticConfig, population: list[Individual]) -> list[Individual]:
    """The children of the best half: random pairs share out their genes, and some children mutate."""
    parents, children = tools.selBest(population, (config.population + 1) // 2), list[Individual]()
    while len(children) < config.population:
        children += tools.cxUniform(*map(Individual, random.sample(parents, 2)), indpb=0.5)
    del children[config.population :]
    for child in children:
        if random.random() < config.mutation:
            mutate(child, config.smallest, config.largest)
    return children


# ---- generations ----------------------------------------------------------------------------------------------------
def start_evolution(config: GeneticConfig) -> Evolution:
    """Population 0: one individual is a person's choice and counts as the best, the others are random."""
    with seeded_random(config.seed, "begin"):
        others = [
            Individual(random.randint(config.smallest, config.largest) for _ in config.initial)
            for _ in range(config.population - 1)
        ]
    return Evolution([config.initial, *others], config.initial)


def run_generation(config: GeneticConfig, evolution: Evolution, map_jobs: MapFunction = map) -> Evolution:
    """Live through one generation."""
    started, number = time.perf_counter(), len(evolution.history)
    population, best = evolution.population, evolution.best
    with seeded_random(config.seed, number):
        # Step 1. The fighters: the best of the last generation is always among them.
        fighters = tuple(map(tuple, (best, *random.sample(population, config.fighters - 1))))
        # Step 2. Everybody is candidates, the last best once more; twins do equally well.
        candidates = list(dict.fromkeys(map(tuple, (best, *population))))
        fitnesses = dict(
            zip(candidates, map_jobs(partial(compute_fitness, config, number, fighters), candidates), strict=True)
        )
        for individual in (best, *population):
            individual.fitness = fitnesses[tuple(individual)]
        # Step 3. The best is replaced only by a better one.
        best = max((best, *population), key=lambda individual: individual.fitness)
        # Step 4. The best half breeds.
        children = breed(config, population)
    mean = sum(individual.fitness for individual in population) / len(population)
    generation = Generation(best.fitness, mean, list(config.weights(best)))
    seconds = evolution.seconds + time.perf_counter() - started
    return Evolution(children, best, [*evolution.history, generation], seconds)


def evolve(
    config: GeneticConfig, evolution: Evolution, seconds: float, map_jobs: MapFunction = map
) -> Iterator[Evolution]:
    """Generation after generation, as long as one more can be expected to end before so many seconds are spent."""
    while evolution.seconds * (1 + 1 / max(1, len(evolution.history))) < seconds:
        evolution = run_generation(config, evolution, map_jobs)
        yield evolution


def learn_ordering(
    config: GeneticConfig,
    evolution: Evolution,
    on_progress: Callable[[int], None],
    games: int = DEFAULT_GAMES,
    nodes: int = ORDERING_NODES,
) -> list[int]:
    """Which kinds of moves to try first with the best weights, from games that are reported one by one."""
    scores = learn_scores(config.make_heuristic(evolution.best), games, nodes, config.seed, on_progress, config.game)
    return [int(score) for score in scores]


# ---- the file -------------------------------------------------------------------------------------------------------
def save_evolution(file: Path, config: GeneticConfig, evolution: Evolution, scores: Sequence[int] = ()) -> None:
    """Write what was learnt, and all that is needed to resume."""
    content = {
        "weights": {config.heuristic: config.weights(evolution.best)},
        "scores": scores,
        "learning": {"awello": __version__, **asdict(config)},
        **asdict(evolution),
    }
    write_atomically(file, json.dumps(content) + "\n")


def resume_evolution(file: Path, config: GeneticConfig) -> Evolution:
    """Where a file stands, or the beginning if there is none; a file of another config is refused."""
    if not file.exists():
        return start_evolution(config)
    try:
        content = json.loads(file.read_text("utf-8"))
        same = content["learning"] == {"awello": __version__, **asdict(config)}
        population = [Individual(genes) for genes in content["population"]]
        history = [Generation(**entry) for entry in content["history"]]
        evolution = Evolution(population, Individual(content["best"]), history, content["seconds"])
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"{file} is no file of 'awello train': choose another --out, or remove it") from None
    if not same:
        raise ConfigError(f"{file} holds another learning: choose another --out, or remove it")
    return evolution
