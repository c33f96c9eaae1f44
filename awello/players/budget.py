"""Players of report 1: alpha-beta on a budget of nodes, and its finished agent for Awalé."""

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
from awello.search.budget_kernels import DEEPEST
from awello.search.budget_search import DELTA, NODES, BudgetSearch, learnt_scores

RIGHTMOST_PIT = 5  # pit


@register("budget", "alpha-beta that divides a budget of nodes and learns which moves to try first; @450000n")
@dataclass
class BudgetPlayer(TextbookPlayer):
    """Searches on a budget, to a depth or within a time, and plays any of the best moves."""

    limit: Limit = field(default_factory=lambda: Limit(nodes=NODES))
    share_factor: Annotated[float, Field(ge=1, le=1.8)] = DELTA
    """How many times its even share of the budget a child gets."""
    move_ordering: Literal["none", "frozen", "live"] = "live"
    """Moves as they come, by what was learnt before, or by scores that go on learning."""

    def _check_limit(self) -> None:
        depth, nodes, seconds = self.limit.depth, self.limit.nodes, self.limit.seconds
        if not (nodes or seconds or (depth and depth <= DEEPEST)):
            advice = f"such as {self.spec.name}@450000n or {self.spec.name}@100ms"
            raise SpecError(f"player {self.spec} needs nodes, a time or a depth up to {DEEPEST}, {advice}")

    def _make_evaluator(self, game: Game) -> BudgetSearch:
        heuristic = self._make_heuristic(game)
        self.searcher = BudgetSearch(
            game, heuristic, self.move_ordering, self.share_factor, learnt_scores(game, self.weights)
        )
        return self.searcher

    def _analyse(self, position: Position, clock: Clock) -> Analysis:
        if self.limit.seconds is not None:
            return self.searcher.within(
                position, min(self.limit.seconds - OVERHEAD_SECONDS, MAX_CLOCK_SHARE * clock.seconds)
            )
        if self.limit.depth is not None:
            return self.searcher.to_depth(position, self.limit.depth)
        return self.searcher.on_budget(position, self.limit.nodes or NODES)


@register("travers", "the agent of report 1 for Awalé: learnt weights, learnt order; @450000n unless said, or @100ms")
@dataclass
class TraversPlayer(BudgetPlayer):
    """The finished agent: its own heuristic, and the rightmost pit as first move of a game."""

    heuristic: str | None = "travers"

    def begin(self, game: Game, seed: int) -> None:
        if game.family != "awale":
            raise SpecError(f"player {self.spec} plays Awalé only")
        super().begin(game, seed)

    def choose(self, position: Position, clock: Clock) -> Choice:
        first = position == Position.start(position.game)
        return Choice(RIGHTMOST_PIT) if first else super().choose(position, clock)
