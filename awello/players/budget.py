"""The players of report 1: alpha-beta with a node budget, and the report's final agent for Awalé."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from awello.analysis import Analysis
from awello.errors import SpecError
from awello.limits import Clock, Limit
from awello.players.montecarlo import MAX_CLOCK_SHARE, OVERHEAD_SECONDS
from awello.players.player import Choice, register
from awello.players.textbook import TextbookPlayer
from awello.position import Position
from awello.rules.game import Game
from awello.search.budget_kernels import MAX_DEPTH
from awello.search.budget_search import DEFAULT_NODES, DEFAULT_SHARE_FACTOR, BudgetSearch, load_scores

RIGHTMOST_PIT = 5


@register(
    "budget", "alpha-beta with a node budget that is divided among the moves; learns move ordering; default @450000n"
)
@dataclass
class BudgetPlayer(TextbookPlayer):
    """Searches with a node budget, a depth limit or a time limit, and plays one of the best moves at random."""

    limit: Limit = field(default_factory=lambda: Limit(nodes=DEFAULT_NODES))
    share_factor: Annotated[float, Field(ge=1, le=1.8)] = DEFAULT_SHARE_FACTOR
    """Budget of a child node, as a multiple of an equal share of its parent's budget."""
    learnt_ordering: Literal["none", "frozen", "live"] = "live"
    """Move ordering by learnt scores: `none`, `frozen`, or `live`, which updates the scores during the search."""

    def _check_limit(self) -> None:
        depth, nodes, seconds = self.limit.depth, self.limit.nodes, self.limit.seconds
        if not (nodes or seconds or (depth and depth <= MAX_DEPTH)):
            advice = f"write {self.spec.name}@450000n or {self.spec.name}@100ms"
            raise SpecError(
                f"player {self.spec.typed} needs a number of nodes, a time or a depth up to {MAX_DEPTH}: {advice}"
            )

    def _make_evaluator(self, game: Game) -> BudgetSearch:
        heuristic = self._make_heuristic(game)
        self.searcher = BudgetSearch(
            game, heuristic, self.learnt_ordering, self.share_factor, load_scores(game, self.weights)
        )
        return self.searcher

    def _analyse(self, position: Position, clock: Clock) -> Analysis:
        if self.limit.seconds is not None:
            return self.searcher.search_time(
                position, min(self.limit.seconds - OVERHEAD_SECONDS, MAX_CLOCK_SHARE * clock.seconds)
            )
        if self.limit.depth is not None:
            return self.searcher.search_depth(position, self.limit.depth)
        return self.searcher.search_budget(position, self.limit.nodes or DEFAULT_NODES)


@register(
    "travers",
    "the final agent of report 1 for Awalé: learnt weights and move ordering; default @450000n",
)
@dataclass
class TraversPlayer(BudgetPlayer):
    """The final agent of report 1: its own heuristic, and a fixed first move, the rightmost pit."""

    heuristic: str | None = "travers"

    def begin(self, game: Game, seed: int) -> None:
        if game.family != "awale":
            raise SpecError(f"player {self.spec} plays only Awalé, not {game}: choose another player")
        super().begin(game, seed)

    def choose(self, position: Position, clock: Clock) -> Choice:
        first = position == Position.start(position.game)
        return Choice(RIGHTMOST_PIT) if first else super().choose(position, clock)
