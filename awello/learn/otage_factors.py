"""Learn the factors of Otage's evaluation with the genetic algorithm (report 4, section I.2.2).

All individuals use the patterns of the same Otage memory; only their factors differ.  A gene is a factor in units of
1/8 of its default, which was chosen by hand, so all genes have the same scale.  The initial best individual has the
genes nearest to the factors of the memory.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from awello.arena.openings import draw_random_opening
from awello.errors import ConfigError
from awello.evaluate.evaluator import Heuristic
from awello.evaluate.otage_memory import DEFAULT_FACTORS, MEMORY_FILE, OtageMemory
from awello.learn.genetic import GeneticConfig, Individual, MoveSearch
from awello.limits import Limit
from awello.position import Position
from awello.record import Record
from awello.rules.game import Game
from awello.search.iterative_deepening import IterativeDeepening
from awello.search.textbook_search import AlphaBetaEvaluator, analyse

FACTOR_STEPS = 8  # the gene of the default factor; kernels represent all multiples of 1/8 of this factor exactly
OPENING_PLIES = 8  # number of random first moves; without them, all games of two individuals would be the same


@dataclass(frozen=True)
class OtageGeneticConfig(GeneticConfig):
    """Settings for learning Otage's factors: few individuals, because they differ little, but many opponents."""

    heuristic: str = "otage"
    variant: str = "othello"
    population_size: int = 16
    opponents: int = 16
    max_gene: int = 40
    reference_depth: int = 6
    memory: str = ""
    """Folder of Otage's memory."""
    games: int = 0
    """Number of games that the memory has learnt from; if it learns from more, the training run cannot be resumed."""

    @property
    def game(self) -> Game:
        return Game.OTHELLO

    @property
    def initial_genes(self) -> Individual:
        """The genes nearest to the factors of the memory."""
        genes = [
            round(FACTOR_STEPS * own / usual)
            for own, usual in zip(load_memory(self).factors, DEFAULT_FACTORS, strict=True)
        ]
        return Individual(min(max(gene, self.min_gene), self.max_gene) for gene in genes)

    @property
    def min_gene(self) -> int:
        return 1  # Otage's learning could not increase a factor of 0

    def weights(self, genes: Sequence[int]) -> tuple[float, ...]:
        """Return the factors of an individual."""
        return tuple(gene * factor / FACTOR_STEPS for gene, factor in zip(genes, DEFAULT_FACTORS, strict=True))

    def start_position(self, seed: str) -> Position:
        return Record(Position.start(), draw_random_opening(self.game, OPENING_PLIES, seed)).final

    def make_search(self, genes: Sequence[int]) -> MoveSearch:
        """Make the search of an individual: Otage's search with the individual's factors."""
        search = IterativeDeepening(replace(load_memory(self), factors=self.weights(genes)))
        limit = Limit(nodes=self.nodes)
        return lambda position: (search.analyse(position, limit).move,)

    def make_reference_search(self) -> MoveSearch:
        """Make the search of the reference opponent: `alphabeta:mixed` to a fixed depth."""
        evaluator = AlphaBetaEvaluator(
            self.game, Heuristic("mixed"), tt_entries=1 << 16, move_ordering=True, skip_mirrors=False
        )
        return lambda position: analyse(position, "alphabeta_tt", self.reference_depth, evaluator).best_moves


@lru_cache(1)
def load_memory(config: OtageGeneticConfig) -> OtageMemory:
    """Return the memory in the folder given by the settings, from a cache if possible."""
    return read_memory(Path(config.memory))


def read_memory(folder: Path) -> OtageMemory:
    """Read the memory in a folder; raise `ConfigError` if it contains none."""
    if not (folder / MEMORY_FILE).exists():
        raise ConfigError(f"no {MEMORY_FILE} in {str(folder)!r}: create it with 'awello autoplay --out {folder}'")
    return OtageMemory.load(folder / MEMORY_FILE)


def make_config(folder: Path, seed: int = 0, nodes: int = 1000) -> OtageGeneticConfig:
    """Make the settings for the memory in a folder."""
    return OtageGeneticConfig(seed=seed, nodes=nodes, memory=str(folder), games=read_memory(folder).games)


def write_factors(folder: Path, factors: Sequence[float]) -> Path:
    """Replace only the factors of the memory in a folder; return the path of its file."""
    replace(read_memory(folder), factors=tuple(factors)).save(folder / MEMORY_FILE)
    return folder / MEMORY_FILE
