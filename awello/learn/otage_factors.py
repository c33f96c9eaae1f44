"""The factors of Otage's judgement by the genetic algorithm (report 4, section I.2.2): its clones play each other.

An individual judges by the patterns of a memory and by factors of its own.  A gene is a factor in parts of the one that
a person chose, so that the same number means as much for each of them.  The memory's own factors begin as the best.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from awello.arena.openings import random_opening
from awello.errors import ConfigError
from awello.evaluate.otage_memory import FACTORS, FILE, OtageMemory
from awello.evaluate.settings import Heuristic
from awello.learn.genetic import GeneticConfig, Individual, MoveSearch
from awello.limits import Limit
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game
from awello.search.iterative_deepening import IterativeDeepening
from awello.search.root import AlphaBetaEvaluator, analyse

FACTOR_STEPS = 8  # of a factor: those that the kernels tell apart for the smallest ones
OPENING_PLIES = 8  # random moves before the individuals take over: without them all their games would be the same


@dataclass(frozen=True)
class OtageGeneticConfig(GeneticConfig):
    """How Otage's factors are learnt: clones are close, so there are few and nearly all fight; see `make_config`."""

    heuristic: str = "otage"
    variant: str = "othello"
    population: int = 16
    fighters: int = 16
    largest: int = 40
    boss_depth: int = 6
    memory: str = ""
    """The folder whose patterns count."""
    games: int = 0
    """Those that the memory had learnt from, so that nobody goes on with other patterns."""

    @property
    def game(self) -> Game:
        return Game.OTHELLO

    @property
    def initial(self) -> Individual:
        """The genes nearest to the factors that the memory has."""
        genes = [
            round(FACTOR_STEPS * own / usual) for own, usual in zip(load_memory(self).factors, FACTORS, strict=True)
        ]
        return Individual(min(max(gene, self.smallest), self.largest) for gene in genes)

    @property
    def smallest(self) -> int:
        return 1  # a factor of nothing could not grow again when Otage learns

    def weights(self, genes: Sequence[int]) -> tuple[float, ...]:
        """The factors of genes."""
        return tuple(gene * factor / FACTOR_STEPS for gene, factor in zip(genes, FACTORS, strict=True))

    def start_position(self, seed: str) -> Position:
        return Record(Position.start(), random_opening(self.game, OPENING_PLIES, seed)).final

    def make_search(self, genes: Sequence[int]) -> MoveSearch:
        """How an individual searches: as Otage does, with its own factors."""
        search, limit = (
            IterativeDeepening(replace(load_memory(self), factors=self.weights(genes))),
            Limit(nodes=self.nodes),
        )
        return lambda position: (search.choose(position, limit).move,)

    def make_boss_search(self) -> MoveSearch:
        """How the boss searches: to a depth by squares, mobility and discs, as `alphabeta:mixed` does."""
        evaluator = AlphaBetaEvaluator(self.game, Heuristic("mixed"), memory=1 << 16, sort=True, mirror=False)
        return lambda position: analyse(position, "alphabeta_tt", self.boss_depth, evaluator).best_moves


@lru_cache(1)
def load_memory(config: OtageGeneticConfig) -> OtageMemory:
    """The memory whose patterns count."""
    return read_memory(Path(config.memory))


def read_memory(folder: Path) -> OtageMemory:
    """The memory in a folder; there must be one."""
    if not (folder / FILE).exists():
        raise ConfigError(f"no {FILE} in {str(folder)!r}: 'awello autoplay {folder}' makes it")
    return OtageMemory.read(folder / FILE)


def make_config(folder: Path, seed: int = 0, nodes: int = 1000) -> OtageGeneticConfig:
    """The plan to learn factors for the memory in a folder."""
    return OtageGeneticConfig(seed=seed, nodes=nodes, memory=str(folder), games=read_memory(folder).games)


def write_factors(folder: Path, factors: Sequence[float]) -> Path:
    """Replace the factors of the memory in a folder, and nothing else; the file."""
    replace(read_memory(folder), factors=tuple(factors)).write(folder / FILE)
    return folder / FILE
