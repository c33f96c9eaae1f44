"""Weights for Awalé's heuristics by a genetic algorithm (report 1, sections 3.6 and 3.7; after Daoud et al. 2004).

An individual is a list of genes, the weights of a heuristic.  In each generation some of them are fighters; everybody
plays two games against each fighter and against the boss, who counts double, and who has won most breeds.  Each random
choice follows from the seed and the number of the generation, so the individuals are all that a file has to keep, and
the results are the same for any number of worker processes.  The plan in `factors` learns Otage's factors likewise.
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
from awello.learn.categories import GAMES, learn_scores
from awello.position import Position
from awello.rules.game import Game, find_game
from awello.search.budget_search import BudgetSearch

try:
    from deap import tools
except ImportError:
    raise ConfigError("the genetic algorithm needs deap: pip install 'awello[learn]'") from None

NAIVE = {  # a person's choice
    "h1": (10, -10),
    "h2": (10, -10, -1, 1, -1, 1),
    "h3": (10, -10, -1, 1, -1, 1, 1, -1),
    "h4": (10, -10, -2, 2, 0, 0, 2, -2),
    "h5": (10, -10, -1, 1, -1, 1, 1, -1),
    "h6": (1, -1, 1, -1, 1, -1, 2, -2, 10, -10, -1, 1),
    "travers": (10, -10, -1, 1, -1, 1, 3, -3),
}
FIXED = {"travers": 2}  # how many weights, the first ones, are not learnt
WIN, DRAW = 200, 100
BOSS = 2  # times the points of another game
ORDERING = 5000  # nodes for a move of the games that teach the order of moves
LONGEST = 300  # plies of a game: those who do not want seeds would go on for thousands

Genes = tuple[int, ...]
Search = Callable[[Position], Sequence[int]]  # the moves that are equally good, and the best


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
    def naive(self) -> Individual:
        """The genes that a person chose."""
        return Individual(NAIVE[self.heuristic][FIXED.get(self.heuristic, 0) :])

    @property
    def smallest(self) -> int:
        """A gene lies between this and the largest."""
        return -self.largest

    def trained(self, genes: Sequence[int]) -> Heuristic:
        """The heuristic of genes: its weights are those that are not learnt, then the genes."""
        return Heuristic(self.heuristic, weights=(*NAIVE[self.heuristic][: FIXED.get(self.heuristic, 0)], *genes))

    def weights(self, genes: Sequence[int]) -> tuple[float, ...]:
        """What is learnt if these genes are the best."""
        return self.trained(genes).weights

    def start(self, seed: str) -> Position:
        """Where the two games against a rival begin."""
        return Position.start(self.game)

    def search_with(self, genes: Sequence[int]) -> Search:
        """How an individual searches: on a budget of nodes."""
        search = BudgetSearch(self.game, self.trained(genes))
        return lambda position: search.search_budget(position, self.nodes).best_moves

    def boss(self) -> Search:
        """How the boss searches: to a depth, counting only the seeds taken."""
        search = BudgetSearch(self.game, Heuristic("diffscore"))
        return lambda position: search.search_depth(position, self.boss_depth).best_moves


@dataclass
class Generation:
    """What is kept of a generation; fitness is that of the best there has been, and the mean of the population."""

    best: int
    mean: float
    weights: list[float]


@dataclass
class Evolution:
    """Where the learning stands: who is to fight next, the best so far, and what has been."""

    population: list[Individual]
    best: Individual
    history: list[Generation] = field(default_factory=list)
    seconds: float = 0.0


# ---- games ----------------------------------------------------------------------------------------------------------
def fight(position: Position, searches: Sequence[Search], seed: str) -> tuple[int, int]:
    """Play a game between two searches; the score at the end.  Chance decides among best moves."""
    chance, ply = random.Random(seed), 0
    while not position.over and ply < LONGEST:
        ply += 1
        position = position.after(chance.choice(searches[position.side](position)))
    return position.score()


def points(own: int, opp: int) -> int:
    """What a game is worth: for the result, and the seeds or discs held."""
    return own + (WIN if own > opp else DRAW if own == opp else 0)


Each = Callable[[Callable[[Genes], int], Iterable[Genes]], Iterable[int]]


def fitness(plan: GeneticConfig, generation: int, fighters: Sequence[Genes], genes: Genes) -> int:
    """The points of an individual: a game with either colour against each fighter, and against the boss."""
    own, total = plan.search_with(genes), 0
    for number, rival in enumerate((plan.boss(), *map(plan.search_with, fighters))):
        seed = f"{plan.seed}/{generation}/{number}"  # the same for all individuals
        first = fight(plan.start(seed), (own, rival), f"{seed}/first")
        second = fight(plan.start(seed), (rival, own), f"{seed}/second")
        total += (1 if number else BOSS) * (points(*first) + points(*reversed(second)))
    return total


# ---- operators ------------------------------------------------------------------------------------------------------
def mutate(individual: Individual, smallest: int, largest: int) -> None:
    """Give one gene a new value."""
    individual[random.randrange(len(individual))] = random.randint(smallest, largest)


@contextmanager
def chance(*words: object) -> Iterator[None]:
    """Let what deap draws from the shared stream of chance follow from some words."""
    before = random.getstate()
    random.seed("/".join(map(str, words)))
    try:
        yield
    finally:
        random.setstate(before)


def breed(plan: GeneticConfig, population: list[Individual]) -> list[Individual]:
    """The children of the best half: random pairs share out their genes, and some children mutate."""
    parents, children = tools.selBest(population, (plan.population + 1) // 2), list[Individual]()
    while len(children) < plan.population:
        children += tools.cxUniform(*map(Individual, random.sample(parents, 2)), indpb=0.5)
    del children[plan.population :]
    for child in children:
        if random.random() < plan.mutation:
            mutate(child, plan.smallest, plan.largest)
    return children


# ---- generations ----------------------------------------------------------------------------------------------------
def begin(plan: GeneticConfig) -> Evolution:
    """Population 0: one individual is a person's choice and counts as the best, the others are random."""
    with chance(plan.seed, "begin"):
        others = [
            Individual(random.randint(plan.smallest, plan.largest) for _ in plan.naive)
            for _ in range(plan.population - 1)
        ]
    return Evolution([plan.naive, *others], plan.naive)


def advance(plan: GeneticConfig, evolution: Evolution, each: Each = map) -> Evolution:
    """Live through one generation."""
    begun, number = time.perf_counter(), len(evolution.history)
    population, best = evolution.population, evolution.best
    with chance(plan.seed, number):
        # Step 1. The fighters: the best of the last generation is always among them.
        fighters = tuple(map(tuple, (best, *random.sample(population, plan.fighters - 1))))
        # Step 2. Everybody is tried, the last best once more; twins do equally well.
        tried = list(dict.fromkeys(map(tuple, (best, *population))))
        reached = dict(zip(tried, each(partial(fitness, plan, number, fighters), tried), strict=True))
        for individual in (best, *population):
            individual.fitness = reached[tuple(individual)]
        # Step 3. The best is replaced only by a better one.
        best = max((best, *population), key=lambda individual: individual.fitness)
        # Step 4. The best half breeds.
        children = breed(plan, population)
    mean = sum(individual.fitness for individual in population) / len(population)
    lived = Generation(best.fitness, mean, list(plan.weights(best)))
    seconds = evolution.seconds + time.perf_counter() - begun
    return Evolution(children, best, [*evolution.history, lived], seconds)


def evolve(plan: GeneticConfig, evolution: Evolution, seconds: float, each: Each = map) -> Iterator[Evolution]:
    """Generation after generation, as long as one more can be expected to end before so many seconds are spent."""
    while evolution.seconds * (1 + 1 / max(1, len(evolution.history))) < seconds:
        evolution = advance(plan, evolution, each)
        yield evolution


def learn_order(
    plan: GeneticConfig, evolution: Evolution, report: Callable[[int], None], games: int = GAMES, nodes: int = ORDERING
) -> list[int]:
    """Which kinds of moves to try first with the best weights, from games that are reported one by one."""
    scores = learn_scores(plan.trained(evolution.best), games, nodes, plan.seed, report, plan.game)
    return [int(score) for score in scores]


# ---- the file -------------------------------------------------------------------------------------------------------
def save(file: Path, plan: GeneticConfig, evolution: Evolution, scores: Sequence[int] = ()) -> None:
    """Write what was learnt, and all that is needed to resume."""
    content = {
        "weights": {plan.heuristic: plan.weights(evolution.best)},
        "scores": scores,
        "learning": {"awello": __version__, **asdict(plan)},
        **asdict(evolution),
    }
    write_atomically(file, json.dumps(content) + "\n")


def resume(file: Path, plan: GeneticConfig) -> Evolution:
    """Where a file stands, or the beginning if there is none; a file of another plan is refused."""
    if not file.exists():
        return begin(plan)
    try:
        content = json.loads(file.read_text("utf-8"))
        same = content["learning"] == {"awello": __version__, **asdict(plan)}
        population = [Individual(genes) for genes in content["population"]]
        history = [Generation(**entry) for entry in content["history"]]
        evolution = Evolution(population, Individual(content["best"]), history, content["seconds"])
    except (ValueError, KeyError, TypeError):
        raise ConfigError(f"{file} is no file of 'awello train': choose another --out, or remove it") from None
    if not same:
        raise ConfigError(f"{file} holds another learning: choose another --out, or remove it")
    return evolution
