"""The textbook players: minimax and negamax, with and without alpha-beta."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from awello.analysis import Analysis
from awello.errors import SpecError
from awello.evaluate.evaluator import Evaluator, Heuristic, list_heuristics, read_trained_numbers
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.rules.game import Game
from awello.search.alphabeta_tt import MAX_DEPTH
from awello.search.textbook_search import AlphaBetaEvaluator, analyse


@register("negamax", "the same search as minimax; its tree diagrams show values from the mover's view")
@register("minimax", "full search to a fixed depth; one side maximises, the other minimises; default @4")
@dataclass
class TextbookPlayer(Player):
    """Searches to a fixed depth and plays one of the best moves at random."""

    heuristic: str | None = None
    limit: Limit = field(default_factory=lambda: Limit(depth=4))
    square_table: str = "1"
    thresholds: str = "30-55"
    corners: int = 0
    weights: str | None = None
    """Weights file written by `awello train`; default: the shipped weights."""

    def begin(self, game: Game, seed: int) -> None:
        super().begin(game, seed)
        self._check_limit()
        self.evaluator = self._make_evaluator(game)

    def _check_limit(self) -> None:
        if self.limit.depth is None or not 1 <= self.limit.depth <= MAX_DEPTH:
            raise SpecError(f"player {self.spec.typed} needs a depth from 1 to {MAX_DEPTH}, such as {self.spec.name}@4")

    def _make_heuristic(self, game: Game) -> Heuristic:
        """Make the heuristic from the settings; default: the first heuristic of the game."""
        early, dash, late = self.thresholds.partition("-")
        if not (early.isdecimal() and dash and late.isdecimal()):
            raise SpecError(f"thresholds {self.thresholds!r} are invalid: write two numbers of discs, such as 30-55")
        name = self.heuristic or list_heuristics(game)[0]
        weights = read_trained_numbers(self.weights, "weights", name) if self.weights else ()
        return Heuristic(name, self.square_table, (int(early), int(late)), self.corners, weights)

    def _make_evaluator(self, game: Game) -> Evaluator:
        return Evaluator(game, self._make_heuristic(game))

    def _algorithm_name(self) -> str:
        return self.spec.name

    def choose(self, position: Position, clock: Clock) -> Choice:
        analysis = self._analyse(position, clock)
        return Choice(self.rng.choice(analysis.best_moves), analysis)

    def _analyse(self, position: Position, clock: Clock) -> Analysis:
        return analyse(position, self._algorithm_name(), self.limit.depth or 1, self.evaluator)


@register("negamax-alphabeta", "the same search as alphabeta; its tree diagrams show values from the mover's view")
@register("alphabeta", "minimax with alpha-beta pruning, a transposition table and move ordering; default @4")
@dataclass
class AlphaBetaPlayer(TextbookPlayer):
    """Alpha-beta with a transposition table and move ordering; `tt_entries=0,move_ordering=false` turns both off."""

    tt_entries: Annotated[int, Field(ge=0, le=1 << 26)] = 1 << 16
    """Number of transposition table entries, 24 bytes each; 0: no table.  The table is kept from move to move."""
    move_ordering: bool = True
    """Whether to search moves in the order of their heuristic values."""
    skip_mirrors: bool = False
    """Whether to skip child nodes whose mirror image has been searched."""
    strict_cutoff: bool = False
    """Whether a cutoff requires a value above beta, as in report 0; by default a value equal to beta is enough."""

    def _make_evaluator(self, game: Game) -> Evaluator:
        evaluator = super()._make_evaluator(game)
        if self._algorithm_name() == "alphabeta_tt":
            evaluator = AlphaBetaEvaluator(
                game, self._make_heuristic(game), self.tt_entries, self.move_ordering, self.skip_mirrors
            )
        evaluator.cutoff_margin = int(self.strict_cutoff)
        return evaluator

    def _algorithm_name(self) -> str:
        return "alphabeta_tt" if self.tt_entries or self.move_ordering or self.skip_mirrors else self.spec.name
