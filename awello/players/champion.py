"""The champion: the engine as a player."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from awello.errors import SpecError
from awello.evaluate.settings import Heuristic
from awello.limits import Clock, Limit
from awello.players.player import Choice, Player, register
from awello.position import Position
from awello.rules.game import Game

if TYPE_CHECKING:
    from awello.engine.engine import Engine


@register("champion", "the strongest: learnt patterns, deep search, perfect endgames; @level=0 to @level=30")
@dataclass
class Champion(Player):
    """Plays what the engine finds within its limit or, without one, in the time that its clock allows."""

    heuristic: str | None = None
    """A heuristic of the textbook in place of the learnt patterns."""
    limit: Limit | None = None
    threads: Annotated[int, Field(ge=1, le=64)] = 1
    hash: Annotated[int, Field(ge=1, le=1 << 16)] = 32
    """MiB of the table."""
    ponder: bool = False
    """Whether it thinks on the opponent's time."""

    def __post_init__(self) -> None:
        self.engine: Engine | None = None

    def begin(self, game: Game, seed: int) -> None:
        from awello.engine.engine import Engine
        from awello.engine.levels import level_of

        if game.family != "othello":
            raise SpecError(f"player {self.spec} plays Othello only")
        if self.limit is not None and self.limit.level is not None:
            level_of(self.limit.level)
        self.end()
        if self.engine is None or self.engine.game != game:
            heuristic = Heuristic(self.heuristic) if self.heuristic else None
            self.engine = Engine(game, self.threads, self.hash, heuristic)
        self.engine.clear()

    def choose(self, position: Position, clock: Clock) -> Choice:
        assert self.engine is not None, "begin comes first"
        analysis = self.engine.choose(position, clock, self.limit)
        if self.ponder:
            self.engine.ponder(position.after(analysis.move))
        return Choice(analysis.move, analysis)

    def end(self) -> None:
        if self.engine is not None:
            self.engine.close()
