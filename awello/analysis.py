"""The result of a search."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Analysis:
    """The result of a search, from the mover's view."""

    move: int
    value: float
    """The value of the best move: in discs or seeds if `exact`, otherwise in the units of the evaluation.

    An exact WLD search returns 1 for a win, 0 for a draw and -1 for a loss.
    """
    exact: bool
    """Whether the value is proven to be the result of best play, rather than an estimate."""
    depth: int
    nodes: int
    leaves: int
    seconds: float
    candidates: tuple[tuple[int, float], ...] = ()
    """The searched moves and their values. A pruned move's value is an upper bound, never above the best value."""
    pv: tuple[int, ...] = ()
    """The principal variation: the expected moves, with best play on both sides."""
    confidence: int = 100
    """The probability, in percent, that ProbCut has not changed the value."""
    exact_moves: tuple[int, ...] = ()
    """Those moves of `candidates` whose values are proven rather than estimated."""

    @property
    def best_moves(self) -> tuple[int, ...]:
        """All moves with the best value."""
        best = max(value for _, value in self.candidates)
        return tuple(move for move, value in self.candidates if value == best)


def format_value(value: float, exact: bool = False) -> str:
    """Format a value in discs or seeds: `+4`, `-2.5`, or `=+4` if it is exact."""
    return "=" * exact + f"{round(value, 1) + 0.0:+.1f}".removesuffix(".0")
