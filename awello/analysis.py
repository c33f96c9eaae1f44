"""What a search found out about a position."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Analysis:
    """The answer of a search, from the mover's view."""

    move: int
    value: float
    """Discs or seeds if `exact`, else in the units of whatever estimated it."""
    exact: bool
    """Whether the value is the final result under best play, not an estimate."""
    depth: int
    nodes: int
    leaves: int
    seconds: float
    candidates: tuple[tuple[int, float], ...] = ()
    """Each move with its value; those that pruning refuted have a value below the best, not an exact one."""
    pv: tuple[int, ...] = ()
    """The moves expected from here on, best play on both sides."""
    confidence: int = 100
    """How sure the search is that it left nothing out that matters, in percent."""
    exact_moves: tuple[int, ...] = ()
    """The moves among `candidates` whose values the engine proved."""

    @property
    def best_moves(self) -> tuple[int, ...]:
        """All moves that are as good as the best."""
        most = max(value for _, value in self.candidates)
        return tuple(move for move, value in self.candidates if value == most)


def format_value(value: float, exact: bool = False) -> str:
    """A value in discs or seeds for people: `+4`, `-2.5`, and `=+4` if it is exact."""
    return "=" * exact + f"{round(value, 1) + 0.0:+.1f}".removesuffix(".0")
